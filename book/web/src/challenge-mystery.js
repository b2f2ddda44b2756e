// Mystery checkpoint: the reader asks for measurements, and names the encoding. Python answers.
import { investigate } from "./challenge-evidence.js";
import { words } from "./words-challenges.js";

/** @param {import("./challenges.js").Place} place */
export async function open(place, seed, isOpen) {
  const challenge = { do: "play", challenge: "mystery", seed };
  const drawn = await place.ask({ ...challenge, act: "draw" });
  if (!drawn || !isOpen()) return;

  const told = (act, more) => place.ask({ ...challenge, act, ...more });
  investigate(place, seed, isOpen, {
    questions: drawn.questions,
    least: drawn.least,
    groups: [{ legend: words.whichEncoding, missing: words.chooseEncoding, choices: drawn.encodings }],
    ask: (question) => told("ask", { question }),
    async name([name], questions, wrong) {
      const found = await told("name", { name, questions, wrong });
      return found && { sentence: words.notThisEncoding, wrong: [0], ...found };
    },
    async reveal() {
      const found = await told("reveal");
      return found && { ...found, sentence: words.givenEncoding(found.title) };
    },
  });
}
