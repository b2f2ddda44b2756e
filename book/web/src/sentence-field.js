// The field for a sentence of the reader's own, and the words in it.
import { made, status } from "./elements.js";
import { language } from "./words.js";
import { words } from "./words-landing.js";

const [FEWEST, MOST] = [2, 9];

/** onWords(texts) is called at each key that leaves enough of them; until then the last sentence stays. */
export function sentenceField(sentence, onWords) {
  const field = made("input", "");
  Object.assign(field, {
    type: "text",
    value: sentence,
    autocomplete: "off",
    spellcheck: false,
    maxLength: 120,
  });
  const hint = status("posenc-task");
  const read = () => {
    const found = wordsOf(field.value);
    hint.textContent = found.length < FEWEST ? words.tooFew : found.length > MOST ? words.tooMany(MOST) : "";
    if (found.length >= FEWEST) onWords(found.slice(0, MOST));
  };
  field.addEventListener("input", (event) => (event instanceof InputEvent && event.isComposing) || read());
  field.addEventListener("compositionend", read); // until then it holds letters, and no words
  return {
    element: made("div", "posenc-typed", made("label", "", made("span", "", words.sentence), field), hint),
    read,
  };
}

const segmenter = new Intl.Segmenter(language, { granularity: "word" });
export const wordsOf = (text) =>
  [...segmenter.segment(text)].filter((each) => each.isWordLike).map((each) => each.segment);
