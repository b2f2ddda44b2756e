// A trained checkpoint: which of the lab's models is it, and what was done to its positions? The engine of the lab
// measures, in the worker of the lab; the models come when they are asked for.
import { investigate } from "./challenge-evidence.js";
import { Draws } from "./draws.js";
import { Client } from "./lab/client.js";
import { CASES } from "./lab/treated.js";
import { number } from "./words.js";
import { words } from "./words-challenges.js";

const own = words.trained;
const QUESTIONS = ["added", "first", "last", "shift", "loss"];
const LEAST_QUESTIONS = 2;
let client;

/** [model, treatment] of a number. */
export const drawn = (seed) => new Draws("trained", seed).choice(CASES);

/** @param {import("./challenges.js").Place} place */
export function open(place, seed, isOpen) {
  const [model, treatment] = drawn(seed);
  client ??= new Client();
  const bytes = [...new TextEncoder().encode(place.data.text)];

  async function measure(question) {
    place.say(words.measuring);
    try {
      return await client.ask(
        "measure",
        { model, treatment, question, bytes },
        { onProgress: (progress) => coming(place, progress) },
      );
    } catch (error) {
      console.error(error);
      if (isOpen()) place.say(own.unreachable);
      return null;
    } finally {
      place.loading.hidden = true;
    }
  }
  const told = () => ({
    title: own.both(own.encodings[model], own.treatments[treatment]),
    why: [own.because[model], own.becauseOf[treatment]],
  });

  investigate(place, seed, isOpen, {
    questions: QUESTIONS.map((name) => ({ name, ...own.questions[name] })),
    least: LEAST_QUESTIONS,
    groups: [
      { legend: words.whichEncoding, missing: words.chooseEncoding, choices: named(own.encodings) },
      { legend: own.whatWasDone, missing: own.chooseTreatment, choices: named(own.treatments) },
    ],
    async ask(question) {
      const found = await measure(question);
      return (
        found && {
          ...found,
          names: own.names,
          x_label: own.across[question],
          y_label: own.up[question],
          sentence: sentence(question, found),
        }
      );
    },
    async name([first, second], questions, wrong) {
      const faults = [first !== model, second !== treatment];
      if (!faults.includes(true))
        return { counts: true, right: true, points: words.pointsFor(questions, wrong), ...told() };
      const [sentence] = [own.wrong.both, own.wrong.encoding, own.wrong.treatment].slice(
        faults[0] ? (faults[1] ? 0 : 1) : 2,
      );
      return { counts: true, right: false, sentence, wrong: [0, 1].filter((group) => faults[group]) };
    },
    async reveal() {
      return { ...told(), sentence: own.given(told().title) };
    },
  });
}

const named = (titles) => Object.entries(titles).map(([name, title]) => ({ name, title }));

/** What the numbers are, in words: of this model, and of the same as it was trained. */
function sentence(question, { x, lines }) {
  const spread = (line) => shown(Math.max(...line) - Math.min(...line));
  const mean = (line) => number(line.reduce((sum, each) => sum + each, 0) / line.length, 3);
  const alike = (line) => number(line.filter((each, i) => i && Math.abs(each - line[i - 1]) < 1e-5).length);
  const [here, before] = lines;
  return own.found[question]({
    spread: spread(here),
    before: spread(before),
    mean: mean(here),
    meanBefore: mean(before),
    alike: alike(here),
    alikeBefore: alike(before),
    steps: number(x.length - 1),
  });
}

const shown = (value) => (value < 1e-4 ? own.nothing : number(value, 3));

function coming(place, { received, total }) {
  place.loading.hidden = false;
  place.loading.lastChild.hidden = true; // asked for again with the same button as before
  if (total) place.meter.value = received / total;
  else place.meter.removeAttribute("value");
}
