// The certificate: what the reader has passed, with a name, a date and a code, to be printed or saved as a PDF.

import { codeOf, fingerprint } from "./certificate-code.js";
import { button, made, status } from "./elements.js";
import { downloadWork } from "./export-file.js";
import * as store from "./store.js";
import { words } from "./words-certificate.js";

const LONGEST_NAME = 120;

export function start(elements) {
  for (const element of elements) startMaker(element);
}

function startMaker(place) {
  const { course, chapters } = JSON.parse(place.querySelector("script").textContent);
  const said = status("posenc-said");
  const input = made("input", "");
  Object.assign(input, { type: "text", maxLength: LONGEST_NAME, autocomplete: "name", dir: "auto", spellcheck: false });
  const form = made("form", "posenc-form", made("label", "", made("span", "", words.name), input));
  const make = made("button", "posenc-button posenc-check", words.make);
  form.append(make);
  form.noValidate = true;
  const paper = made("div", "posenc-paper");
  const count = made("p", "posenc-count");
  place.append(count, form, said, paper);

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const passed = passedOf(chapters);
    const name = input.value.trim().replace(/\s+/gu, " ");
    if (!passed.length) said.textContent = words.nothingPassed;
    else if (!name) {
      said.textContent = words.noName;
      input.focus();
    } else {
      const record = { name, date: today(), answers: answersOf(passed) };
      const code = codeOf(record);
      store.save("certificate", code, record);
      paper.replaceChildren(...drawn(course, record, code, passed), actions(said));
      said.textContent = store.available ? words.made : words.notKept;
      paper.querySelector("h3").focus();
    }
  });
  store.onChange(fill);
  fill();

  function fill() {
    const all = chapters.reduce((sum, chapter) => sum + chapter.exercises.length, 0);
    const passed = passedOf(chapters).reduce((sum, chapter) => sum + chapter.exercises.length, 0);
    count.textContent = words.passed(passed, all);
  }
}

/** The chapters with those of their exercises all of whose steps have passed in a page. */
function passedOf(chapters) {
  const work = store.all("exercise");
  const isPassed = ({ ids }) => ids.every((id) => work[id]?.passed && typeof store.answerOf(work[id]) === "string");
  return chapters
    .map(({ title, exercises }) => ({ title, exercises: exercises.filter(isPassed) }))
    .filter(({ exercises }) => exercises.length);
}

function answersOf(passed) {
  const ids = passed.flatMap(({ exercises }) => exercises.flatMap((each) => each.ids));
  return Object.fromEntries(ids.map((id) => [id, fingerprint(store.answerOf(store.load("exercise", id)))]));
}

/** Of the reader's own day. */
function today() {
  const now = new Date();
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((each) => String(each).padStart(2, "0")).join("-");
}

function drawn(course, { name, date }, code, passed) {
  const title = made("h3", "", words.title);
  title.tabIndex = -1;
  const person = made("p", "posenc-name-on-it", made("bdi", "", name));
  const total = passed.reduce((sum, { exercises }) => sum + exercises.length, 0);
  const lists = passed.map(({ title, exercises }) =>
    made("li", "", made("strong", "", title), made("ul", "", ...exercises.map((each) => made("li", "", each.title)))),
  );
  const sheet = made(
    "section",
    "posenc-certificate",
    title,
    person,
    made("p", "", words.hasPassed(total)),
    made("p", "posenc-course", course),
    made("p", "", words.on(date)),
    made("ul", "posenc-listed", ...lists),
    made("p", "posenc-code", made("span", "", words.code), " ", made("code", "", code)),
    made("p", "posenc-small-print", words.smallPrint(code)),
  );
  sheet.setAttribute("aria-label", words.title);
  return [sheet];
}

function actions(said) {
  return made(
    "div",
    "posenc-row",
    button(words.print, () => window.print()),
    button(words.save, () => (said.textContent = words.saved(downloadWork()))),
  );
}
