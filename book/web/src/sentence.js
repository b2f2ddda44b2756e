// The reader's own sentence: its words can be moved, and a map shows who attends to whom while no position comes in.
import { between, DIM, mixed, vectorOf } from "./attention.js";
import { attentionMap } from "./attention-map.js";
import { button, made, status, tellOnce, yieldFocus } from "./elements.js";
import { sentenceField } from "./sentence-field.js";
import { wordRow } from "./word-row.js";
import { joined } from "./words.js";
import { words } from "./words-landing.js";

export function start(places) {
  for (const place of places) startPlace(place);
}

function startPlace(place) {
  let texts = []; // the words as they were typed
  let order = []; // of places: which word stands there

  const field = sentenceField(place.dataset.words, (found) => {
    texts = found;
    order = texts.map((_, index) => index);
    row.fill(texts, order);
    show();
  });
  const row = wordRow({ label: words.row, onMove: move });
  const turnRound = button(words.turnRound, () => reorder([...order].reverse()));
  const asTyped = button(words.asTyped, () => reorder([...order].sort((a, b) => a - b)));
  const map = attentionMap(DIM);
  const verdict = status("posenc-verdict");

  place.replaceChildren(
    field.element,
    made("div", "posenc-moved", row.element, made("div", "posenc-row", ...row.buttons, turnRound, asTyped)),
    made("div", "posenc-seen", map.element),
    verdict,
  );
  field.read();

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
    const shares = between(texts, order);
    const isAsTyped = order.every((word, at) => word === at);
    map.draw({ texts, order, weights: shares, outputs: mixed(shares, texts.map(vectorOf)) });
    tellOnce(verdict, joined(said, isAsTyped ? words.asItWas : words.sameRows));
    if (isAsTyped) yieldFocus(asTyped, turnRound);
    asTyped.disabled = isAsTyped;
  }
}
