// The reader's own sentence: its words can be moved, a door can be opened, and a map shows who attends to whom.
import { DIM, mixed, vectorOf, weights } from "./attention.js";
import { attentionMap, percent } from "./attention-map.js";
import { button, made, status } from "./elements.js";
import { wordRow } from "./word-row.js";
import { language } from "./words.js";
import { words } from "./words-landing.js";

const [FEWEST, MOST] = [2, 9];
const SAME = 1e-9; // weights that differ by less differ by rounding alone
const DOORS = ["none", "added", "rotated", "biased"];

export function start(places) {
  for (const place of places) startPlace(place);
}

function startPlace(place) {
  let texts = []; // the words as they were typed
  let order = []; // of places: which word stands there
  let door = "none";
  const shut = "shut" in place.dataset; // no door can be opened, and what each word gets is shown instead

  const field = made("input", "");
  Object.assign(field, {
    type: "text",
    value: place.dataset.words,
    autocomplete: "off",
    spellcheck: false,
    maxLength: 120,
  });
  field.addEventListener("input", read);
  const hint = status("posenc-task");
  const row = wordRow({ label: words.row, onMove: move });
  const turnRound = button(words.turnRound, () => reorder([...order].reverse()));
  const asTyped = button(words.asTyped, () => reorder([...order].sort((a, b) => a - b)));
  const about = made("p", "posenc-about");
  const map = attentionMap(shut ? DIM : 0);
  const verdict = status("posenc-verdict");

  place.replaceChildren(
    made("div", "posenc-typed", made("label", "", made("span", "", words.sentence), field), hint),
    made("div", "posenc-moved", row.element, made("div", "posenc-row", ...row.buttons, turnRound, asTyped)),
    ...(shut ? [] : [made("div", "posenc-opened", doors(), about)]),
    made("div", "posenc-seen", map.element),
    verdict,
  );
  read();

  function read() {
    const found = wordsOf(field.value);
    hint.textContent = found.length < FEWEST ? words.tooFew : found.length > MOST ? words.tooMany(MOST) : "";
    if (found.length < FEWEST) return; // the last sentence stays, until there is another
    texts = found.slice(0, MOST);
    order = texts.map((_, index) => index);
    row.fill(texts, order);
    show();
  }

  function move(from, to) {
    const word = order[from];
    const next = order.toSpliced(from, 1).toSpliced(to, 0, word);
    reorder(next, words.moved(texts[word], to + 1, texts.length));
  }

  function reorder(next, said = "") {
    order = next;
    row.fill(texts, order);
    show(said);
  }

  function show(said = "") {
    const now = between(order);
    const typed = between(texts.map((_, index) => index));
    const outputs = mixed(now, texts.map(vectorOf));
    about.textContent = words.aboutDoor[door];
    map.draw({ texts, order, weights: now, outputs });
    verdict.textContent = [said, judged(now, typed)].filter(Boolean).join(" ");
    verdict.dataset.map = isSame(now, typed) ? "same" : "other";
    asTyped.disabled = isAsTyped();
  }

  /** [from][to]: what each word gives to each, by their places in what was typed, when they stand in this order. */
  function between(standing) {
    const found = weights(
      standing.map((word) => vectorOf(texts[word])),
      door,
    );
    const at = texts.map((_, word) => standing.indexOf(word));
    return at.map((row) => at.map((column) => found[row][column]));
  }

  function judged(now, typed) {
    if (isAsTyped()) return words.asItWas;
    if (isSame(now, typed)) return shut ? words.sameRows : words.same;
    const [from, to] = largest(now, typed);
    return words.other(texts[from], texts[to], percent(now[from][to]), percent(typed[from][to]));
  }

  function isAsTyped() {
    return order.every((word, at) => word === at);
  }

  function doors() {
    const options = DOORS.map((name) => {
      const input = made("input", "");
      Object.assign(input, {
        type: "radio",
        name: "posenc-door",
        value: name,
        checked: name === door,
        autocomplete: "off",
      });
      input.addEventListener("change", () => {
        door = name;
        show();
      });
      return made("label", "posenc-open-door", input, made("span", "", words.door[name]));
    });
    return made("fieldset", "posenc-doors", made("legend", "", words.doors), made("div", "", ...options));
  }
}

const segmenter = new Intl.Segmenter(language, { granularity: "word" });
const wordsOf = (text) => [...segmenter.segment(text)].filter((each) => each.isWordLike).map((each) => each.segment);

const differences = (now, typed) => now.map((row, from) => row.map((share, to) => Math.abs(share - typed[from][to])));
const isSame = (now, typed) =>
  differences(now, typed)
    .flat()
    .every((each) => each < SAME);

/** [from, to] of the share that changed most. */
function largest(now, typed) {
  const flat = differences(now, typed).flat();
  const place = flat.indexOf(Math.max(...flat));
  return [Math.floor(place / now.length), place % now.length];
}
