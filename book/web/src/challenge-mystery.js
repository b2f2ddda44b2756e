// Mystery checkpoint: the reader asks for measurements, and names the encoding.
import { button, made } from "./elements.js";
import { plot } from "./plot.js";
import { words } from "./words-challenges.js";

export async function open(place, seed, isOpen) {
  const challenge = { do: "play", challenge: "mystery", seed };
  const drawn = await place.ask({ ...challenge, act: "draw" });
  if (!drawn || !isOpen()) return;

  const asked = new Set();
  let wrong = 0;
  let over = false;
  const evidence = made("div", "posenc-evidence");
  const questions = made("div", "posenc-questions");
  for (const { name, title, how } of drawn.questions) {
    const ask = button(title, async () => {
      const found = await place.ask({ ...challenge, act: "ask", question: name });
      if (!found || !isOpen()) return;
      asked.add(name);
      ask.disabled = true;
      evidence.append(measured(title, found));
      place.say([found.sentence, over ? "" : words.cost(asked.size, wrong)].join(" "));
    });
    questions.append(made("div", "posenc-question-of-it", ask, made("span", "", how)));
  }

  const choices = drawn.encodings.map(({ name, title }) => {
    const choice = made("input", "");
    Object.assign(choice, { type: "radio", name: `encoding-${seed}`, value: name });
    return made("label", "posenc-choice", choice, made("span", "", title));
  });
  const form = made("form", "posenc-names", made("fieldset", "", made("legend", "", words.whichEncoding), ...choices));
  form.append(
    made("div", "posenc-row", made("button", "posenc-button posenc-check", words.nameIt), button(words.giveUp, () => reveal())),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (over) return;
    const chosen = form.querySelector(":checked");
    if (!chosen) return place.say(words.chooseEncoding);
    const told = await place.ask({ ...challenge, act: "name", name: chosen.value, questions: asked.size, wrong });
    if (!told || !isOpen()) return;
    if (!told.counts) place.say(told.sentence);
    else if (told.right) {
      place.keep(seed, { points: told.points, tries: wrong + 1 });
      end(told, [words.named, words.earned(told.points)].join(" "));
    } else {
      wrong += 1;
      chosen.disabled = true;
      chosen.checked = false;
      place.say(words.notThisEncoding);
    }
  });
  place.body.replaceChildren(made("h3", "", words.measure), questions, evidence, form);

  async function reveal() {
    if (over) return;
    const told = await place.ask({ ...challenge, act: "reveal" });
    if (told && isOpen()) end(told, words.givenEncoding(told.title));
  }

  function end({ title, why }, sentence) {
    over = true;
    place.after.replaceChildren(made("h3", "", title), ...why.map((each) => made("p", "", each)));
    place.say(sentence);
  }
}

function measured(title, { sentence, names, x, lines, x_label, y_label }) {
  const parts = [made("h4", "", title), made("p", "", sentence)];
  if (lines.length) {
    parts.push(plot({ names, x, lines, xLabel: x_label, yLabel: y_label, title: sentence }), table(x, names, lines, x_label));
  }
  return made("section", "posenc-measured", ...parts);
}

/** The numbers, for whoever wants them or cannot see the picture. */
function table(x, names, lines, label) {
  const row = (tag, cells) => made("tr", "", ...cells.map((cell) => made(tag, "", String(cell))));
  const shown = (value) => (Math.abs(value) < 1e-6 ? "0" : value.toPrecision(4));
  const body = x.map((each, index) => row("td", [each, ...lines.map((line) => shown(line[index]))]));
  const box = made("div", "posenc-table", made("table", "", made("thead", "", row("th", [label, ...names])), made("tbody", "", ...body)));
  box.tabIndex = 0; // it scrolls
  return made("details", "", made("summary", "", words.numbers), box);
}
