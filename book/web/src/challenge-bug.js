// Find the bug: a solution with one mistake in it. The reader points at the line, or mends it.
// What is drawn is what posenc_course/challenges/bugs.py draws.

import { Draws } from "./draws.js";
import { button, made, withoutScripts } from "./elements.js";
import * as store from "./store.js";
import { joined } from "./words.js";
import { words } from "./words-challenges.js";
import { words as code } from "./words-exercises.js";

const SECONDS = 180;
const POINTS = 10;
const COST_OF_A_TRY = 2;

/** @param {import("./challenges.js").Place} place */
export function open(place, seed, isOpen) {
  const { bugs, exercises } = place.data;
  const [exercise, right, wrong] = new Draws("bug", seed).choice(bugs);
  const { title, code: solution, setup } = exercises[exercise];
  const faulty = solution.split(right).join(wrong);
  const line = solution.slice(0, solution.indexOf(right)).split("\n").length;
  const earlier = earlierThan(exercise, exercises);
  const check = (answer) => ({ do: "check", exercise, setup, earlier, unwritten: [], code: answer });
  let quiet = Promise.resolve(); // what was asked without a word: Python does one thing at a time
  const judge = async (answer) => {
    await quiet;
    return isOpen() ? place.ask(check(answer)) : null;
  };

  let tries = 0;
  let solved = false;
  const pointedAt = new Set(); // to choose a line once more is no new try
  const clock = new Clock(place);
  place.leave = () => {
    clock.stop();
    mend.leave();
  };

  const listing = lines(faulty, seed);
  const mend = mending(place, faulty, async (answer, report) => {
    if (answer.trim() === faulty.trim()) return place.say(words.unchanged);
    if (place.runner.busy) place.tellWhatItWaitsFor();
    const result = await judge(answer);
    if (!result || !isOpen()) return;
    if (result.kind === "report" && result.passed) return succeed(words.mended);
    if (!solved) tries += 1;
    place.say(result.kind === "report" ? words.notMended : code.failedToRun);
    if (result.kind === "report") report.replaceChildren(withoutScripts(result.html));
    else if (result.error)
      report.append(made("p", "posenc-error", result.line ? code.errorAt(result.error, result.line) : result.error));
  });
  const form = made("form", "posenc-lines", listing);
  form.append(
    made(
      "div",
      "posenc-row",
      made("button", "posenc-button posenc-check", words.thisLine),
      button(words.mend, () => mend.open()),
      button(words.giveUp, () => tell(words.given(line))),
    ),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    /** @type {HTMLInputElement} */
    const field = form.querySelector(":checked");
    const chosen = Number(field?.value);
    if (!field) place.say(words.chooseLine);
    else if (solved) place.say(words.given(line));
    else if (chosen === line) succeed(words.found(line));
    else {
      const isNew = !pointedAt.has(chosen);
      if (isNew) tries += 1;
      pointedAt.add(chosen);
      place.say(words.notThisLine(chosen, tries > 1 && (line > chosen ? "down" : "up")));
      if (isNew && tries === 1) quiet = showSymptom();
    }
  });

  const symptom = made("div", "posenc-result posenc-symptom");
  place.body.replaceChildren(made("h3", "", words.solutionOf(title)), clock.element, form, mend.element);
  place.after.replaceChildren(symptom); // below what is said, which stays beside the buttons
  clock.start();

  async function succeed(sentence) {
    if (solved) return place.say(sentence);
    const seconds = clock.stop();
    const points = Math.max(1, POINTS - COST_OF_A_TRY * tries);
    place.keep(seed, { points, tries: tries + 1, ...(seconds === null ? {} : { seconds }) });
    await tell(joined(sentence, words.earned(points)));
  }

  /** What comes of the mistake, without its name. */
  async function showSymptom() {
    const result = await place.askQuietly(check(faulty));
    if (!isOpen() || result?.kind !== "report") return;
    const cases = withoutScripts(result.html);
    for (const named of cases.querySelectorAll(".posenc-report > p")) named.remove();
    symptom.replaceChildren(made("p", "", words.symptom), cases);
  }

  /** What the mistake was, and a case where it shows. */
  async function tell(sentence) {
    clock.stop();
    solved = true;
    symptom.remove(); // the judge says all of it now
    const of = (text) => text.split("\n")[line - 1].trim();
    const chosen = listing.querySelector(`[value="${line}"]`);
    chosen.closest(".posenc-line").classList.add("posenc-good");
    place.after.replaceChildren(
      made("p", "", made("strong", "", words.was), " ", made("code", "", of(faulty))),
      made("p", "", made("strong", "", words.shouldBe), " ", made("code", "", of(solution))),
    );
    place.say(sentence);
    const result = await judge(faulty);
    if (!isOpen()) return;
    place.say(result ? sentence : joined(sentence, place.status.textContent)); // why there is no report
    if (result?.kind === "report") {
      const report = made("div", "posenc-result");
      report.replaceChildren(withoutScripts(result.html));
      place.after.append(made("p", "", words.judgeSays), report);
    } else if (result) place.after.append(made("p", "posenc-error", result.error ?? code.failedToRun));
  }
}

/** The solutions that stand before this one in its chapter, whose functions it may call. */
function earlierThan(exercise, exercises) {
  const chapter = exercise.split(".")[0];
  const ids = Object.keys(exercises).filter((id) => id.startsWith(`${chapter}.`));
  return ids.slice(0, ids.indexOf(exercise)).map((id) => exercises[id].code);
}

/** The code, each line of which can be chosen. */
function lines(text, seed) {
  const box = made("fieldset", "posenc-listing", made("legend", "posenc-unseen", words.whichLine));
  text.split("\n").forEach((line, index) => {
    const choice = made("input", "");
    Object.assign(choice, { type: "radio", name: `line-${seed}`, value: index + 1 });
    if (!line.trim()) choice.disabled = true;
    const number = made("span", "posenc-place", String(index + 1));
    box.append(made("label", "posenc-line", choice, number, made("code", "", line || " ")));
  });
  return box;
}

/** An editor with the faulty code; `check(code, report)` is called with what stands in it. */
function mending(place, text, check) {
  const report = made("div", "posenc-result");
  const keys = made("p", "posenc-keys", words.keys);
  keys.id = `posenc-keys-${place.kind}`;
  const editorPlace = made("div", "posenc-editor");
  let editor;
  const run = () => {
    report.replaceChildren();
    check(editor.code(), report);
  };
  const element = made(
    "div",
    "posenc-mend",
    keys,
    editorPlace,
    made("div", "posenc-row", button(words.check, run)),
    report,
  );
  element.hidden = true;
  const open = async () => {
    element.hidden = false;
    const { createEditor } = await import("./editor.js");
    editor ??= createEditor(editorPlace, {
      code: text,
      label: words.mend,
      describedBy: keys.id,
      onChange: () => {},
      onCheck: run,
    });
    editor.focus();
  };
  return { element, open, leave: () => editor?.destroy() };
}

/** Three minutes, if the reader likes; nothing ends when they are over. */
class Clock {
  #ticking;
  #begun;
  #ended;

  constructor(place) {
    this.place = place;
    this.shown = made("span", "posenc-clock");
    this.shown.setAttribute("role", "timer");
    this.choice = made("input", "");
    this.choice.type = "checkbox";
    this.choice.checked = store.load("setting", "clock")?.on ?? true;
    this.choice.addEventListener("change", () => {
      store.save("setting", "clock", { on: this.choice.checked });
      this.#show();
    });
    this.element = made("p", "posenc-timed", this.shown, made("label", "", this.choice, ` ${words.withClock}`));
  }

  start() {
    this.#begun = Date.now();
    this.#ticking = setInterval(() => this.#show(), 250);
    this.#show();
  }

  /** The seconds it took, or null where no clock was wanted. */
  stop() {
    clearInterval(this.#ticking);
    this.#ended ??= Date.now();
    return this.choice.checked ? this.#seconds() : null;
  }

  #seconds() {
    return Math.round(((this.#ended ?? Date.now()) - this.#begun) / 1000);
  }

  #show() {
    const left = SECONDS - this.#seconds();
    this.shown.hidden = !this.choice.checked;
    this.shown.textContent = words.clock(Math.max(left, 0));
    if (left <= 0) {
      clearInterval(this.#ticking);
      if (this.choice.checked && !this.#ended) this.place.say(words.timeIsUp);
    }
  }
}
