// Asking for measurements, and naming what they give away: what both kinds of mystery share.
import { button, intoView, made, yieldFocus } from "./elements.js";
import { plot } from "./plot.js";
import { joined } from "./words.js";
import { words } from "./words-challenges.js";

/**
 * A game of evidence: { questions: [{name, title, how}], least: how many of them are asked before a name is taken,
 *   groups: [{legend, choices: [{name, title}]}], and what answers:
 *   ask(question) -> {sentence, names, x, lines, x_label, y_label},
 *   name(chosen, questions, wrong) -> {counts, right, sentence, wrong: [group], points, title, why},
 *   reveal() -> {sentence, title, why} }. Each gives a promise, of null where no answer came and the reader was told.
 *
 * @param {import("./challenges.js").Place} place
 */
export function investigate(place, seed, isOpen, game) {
  const asked = new Set();
  let wrong = 0;
  let over = false;
  const evidence = made("div", "posenc-evidence");
  const questions = made("div", "posenc-questions");
  for (const { name, title, how } of game.questions) {
    const ask = button(title, async () => {
      if (asked.has(name)) return;
      const found = await game.ask(name);
      if (!found || !isOpen() || asked.has(name)) return; // it may have been asked twice meanwhile
      asked.add(name);
      ask.ariaDisabled = "true"; // and not disabled: it keeps the focus
      const section = measured(title, found);
      evidence.append(section);
      const namable = !over && asked.size >= game.least;
      place.say(joined(found.sentence, namable ? words.cost(asked.size, wrong) : ""));
      intoView(section);
    });
    questions.append(made("div", "posenc-question-of-it", ask, made("span", "", how)));
  }

  const form = made(
    "form",
    "posenc-names",
    ...game.groups.map(({ legend, choices }, group) =>
      choice(legend, choices, `choice-${place.kind}-${group}-${seed}`),
    ),
  );
  form.append(
    made(
      "div",
      "posenc-row",
      made("button", "posenc-button posenc-check", words.nameIt),
      button(words.giveUp, () => reveal()),
    ),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (over) return;
    /** @type {HTMLInputElement[]} */
    const chosen = [...form.querySelectorAll("fieldset")].map((group) => group.querySelector(":checked"));
    const missing = chosen.indexOf(null);
    if (missing >= 0) return place.say(game.groups[missing].missing);
    if (asked.size < game.least) return place.say(words.measureFirst);
    const told = await game.name(
      chosen.map(({ value }) => value),
      asked.size,
      wrong,
    );
    if (!told || !isOpen()) return;
    if (!told.counts) place.say(told.sentence);
    else if (told.right) {
      place.keep(seed, { points: told.points, tries: wrong + 1 });
      end(told, joined(words.named, words.earned(told.points)));
    } else {
      wrong += 1;
      for (const group of told.wrong) {
        const left = form.querySelectorAll("fieldset")[group].querySelector("input:enabled:not(:checked)");
        yieldFocus(chosen[group], left ?? form.querySelector("button"));
        chosen[group].disabled = true;
        chosen[group].checked = false;
      }
      place.say(told.sentence);
    }
  });
  place.body.replaceChildren(made("h3", "", words.measure), questions, evidence, form);

  async function reveal() {
    if (over) return;
    const told = await game.reveal();
    if (told && isOpen()) end(told, told.sentence);
  }

  function end({ title, why }, sentence) {
    over = true;
    place.after.replaceChildren(made("h3", "", title), ...why.map((each) => made("p", "", each)));
    place.say(sentence);
  }
}

function choice(legend, choices, group) {
  const all = choices.map(({ name, title }) => {
    const field = made("input", "");
    Object.assign(field, { type: "radio", name: group, value: name });
    return made("label", "posenc-choice", field, made("span", "", title));
  });
  return made("fieldset", "", made("legend", "", legend), ...all);
}

function measured(title, { sentence, names, x, lines, x_label, y_label }) {
  const section = made("section", "posenc-measured", made("h4", "", title), made("p", "", sentence));
  if (lines.length) {
    section.append(
      plot({ names, x, lines, xLabel: x_label, yLabel: y_label, title: sentence }),
      table(x, names, lines, x_label),
    );
  }
  return section;
}

/** The numbers, for whoever wants them or cannot see the picture. */
function table(x, names, lines, label) {
  const row = (tag, cells) => made("tr", "", ...cells.map((cell) => made(tag, "", String(cell))));
  const shown = (value) => (Math.abs(value) < 1e-6 ? "0" : value.toPrecision(4));
  const body = x.map((each, index) => row("td", [each, ...lines.map((line) => shown(line[index]))]));
  const box = made(
    "div",
    "posenc-table",
    made("table", "", made("thead", "", row("th", [label, ...names])), made("tbody", "", ...body)),
  );
  box.tabIndex = 0; // it scrolls
  return made("details", "", made("summary", "", words.numbers), box);
}
