// The first thing that a visitor touches: a sentence, and the same words in another order. A head of attention reads
// both, and the arcs show what one of the words gives to the others. Only where a position comes in do they differ.
import { between } from "./attention.js";
import { button, made, status, tellOnce } from "./elements.js";
import { picture, round } from "./figures/svg.js";
import { sentenceField, wordsOf } from "./sentence-field.js";
import { wordRow } from "./word-row.js";
import { joined } from "./words.js";
import { words } from "./words-landing.js";

const DOORS = ["none", "added", "rotated", "biased"];
const [LOWEST, THICKEST] = [14, 14]; // px of the arc between neighbours, and of one that carries all attention

export function start(places) {
  for (const place of places) startPlace(place);
}

function startPlace(place) {
  let texts = []; // the words as they were typed
  let order = []; // of places in the second line: which word is there
  let asking = 1; // the word whose attention is shown
  let door = "none";
  let shares = []; // of each line, what the asking word gives to each word

  const field = sentenceField(place.dataset.words, (found) => {
    if (found.length !== texts.length) order = found.map((_, index) => index).reverse();
    texts = found;
    asking = Math.min(asking, texts.length - 1);
    typed.fill(texts);
    moved.fill(texts, order);
    moved.chooseWord(asking);
  });
  const typed = fixedRow((word) => moved.chooseWord(word));
  const moved = wordRow({ label: words.other, onMove: move, onChoose: ask, short: true });
  const above = arcs(typed.list);
  const below = arcs(moved.list);
  const verdict = status("posenc-verdict");

  place.replaceChildren(
    field.element,
    made("div", "posenc-order", typed.title, above.svg, typed.list),
    made(
      "div",
      "posenc-order posenc-order-moved",
      moved.element,
      made("div", "posenc-moves", ...moved.buttons),
      below.svg,
    ),
    doors(),
    verdict,
  );
  begin();
  new ResizeObserver(() => draw()).observe(place);

  function begin() {
    texts = wordsOf(place.dataset.words);
    order = wordsOf(place.dataset.other).map((word) => texts.indexOf(word));
    field.read();
  }

  function ask(word) {
    asking = word;
    typed.title.textContent = words.looksAt(texts[asking]);
    for (const chip of typed.list.querySelectorAll("button")) {
      chip.setAttribute("aria-pressed", String(Number(chip.dataset.word) === asking));
    }
    show();
  }

  function move(from, to) {
    const word = order[from];
    order = order.toSpliced(from, 1).toSpliced(to, 0, word);
    moved.fill(texts, order);
    show(words.moved(texts[word], to + 1, texts.length));
  }

  function show(said = "") {
    const asTyped = texts.map((_, index) => index);
    shares = [asTyped, order].map((each) => between(texts, each, door)[asking]);
    draw();
    tellOnce(verdict, joined(said, judged()));
    verdict.dataset.told = String(isTold());
  }

  function draw() {
    if (!shares.length) return;
    const [here, there] = shares;
    mark(typed.list, here, here);
    mark(moved.list, there, here);
    above.draw(asking, here, here);
    below.draw(asking, there, here);
  }

  /** What each word gets, written below it and seen in its colour. */
  function mark(list, now, before) {
    for (const chip of list.querySelectorAll("[data-word]")) {
      const word = Number(chip.dataset.word);
      const [share, was] = [now[word], before[word]].map((each) => Math.round(100 * each));
      const item = chip.parentElement;
      item.dataset.share = `${share === was ? "" : share > was ? "▲ " : "▼ "}${share}%`;
      item.dataset.weight = String(now[word]);
      item.classList.toggle("posenc-changed", share !== was);
      item.style.setProperty("--share", String(now[word]));
    }
  }

  function isTold() {
    return shares[0].some((share, word) => Math.abs(share - shares[1][word]) > 0.005);
  }

  function judged() {
    const [here, there] = shares;
    if (order.every((word, at) => texts[word].toLowerCase() === texts[at].toLowerCase())) return words.sameOrder;
    if (door === "none") return words.notTold;
    if (!isTold()) return words.hardlyTold(texts[asking]);
    const gaps = here.map((share, word) => Math.abs(share - there[word]));
    const to = gaps.indexOf(Math.max(...gaps));
    return words.told(texts[asking], texts[to], percent(there[to]), percent(here[to]));
  }

  function doors() {
    const options = DOORS.map((name) => {
      const input = made("input", "");
      Object.assign(input, { type: "radio", name: "posenc-door", value: name, checked: name === door });
      input.autocomplete = "off";
      input.addEventListener("change", () => {
        door = name;
        show();
      });
      return made("label", "posenc-open-door", input, made("span", "", words.door[name]));
    });
    return made("fieldset", "posenc-doors", made("legend", "", words.positions), ...options);
  }
}

const percent = (share) => `${Math.round(100 * share)}%`;

/** The words as they were typed: they can be chosen, and stay where they are. */
function fixedRow(onChoose) {
  const title = made("p", "posenc-words-title");
  const list = made("ol", "posenc-words");
  title.id = "posenc-words-typed";
  list.setAttribute("aria-labelledby", title.id);

  function fill(texts) {
    const chips = texts.map((text, word) => {
      const chip = button(text, () => onChoose(word));
      chip.className = "posenc-word posenc-fixed";
      chip.dataset.word = word;
      return made("li", "", chip);
    });
    list.replaceChildren(...chips);
  }
  return { title, list, fill };
}

/** Arcs from one word of a row to the others, as thick as what each gets; none where the row needs two lines. */
function arcs(list) {
  const svg = picture();
  svg.setAttribute("class", "posenc-arcs");
  svg.setAttribute("aria-hidden", "true"); // the numbers below the words say the same

  function draw(asking, now, before) {
    const chips = new Map([...list.querySelectorAll("[data-word]")].map((chip) => [Number(chip.dataset.word), chip]));
    const [first] = chips.values();
    const isOneLine = [...chips.values()].every((chip) => chip.offsetTop === first.offsetTop);
    const { left, height } = svg.getBoundingClientRect();
    const middle = (word) => {
      const box = chips.get(word).getBoundingClientRect();
      return box.left + box.width / 2 - left;
    };
    const widest = Math.max(...[...chips.keys()].map((word) => Math.abs(middle(word) - middle(asking))), 1);
    svg.innerHTML = isOneLine
      ? [...chips.keys()]
          .filter((word) => word !== asking)
          .map((word) => {
            const [from, to] = [middle(asking), middle(word)];
            const rise = LOWEST + (height - LOWEST - THICKEST / 2) * (Math.abs(to - from) / widest);
            const changed = Math.round(100 * now[word]) !== Math.round(100 * before[word]);
            return (
              `<path d="M${round(from)} 0C${round(from)} ${round(rise * 1.3)} ${round(to)} ${round(rise * 1.3)} ${round(to)} 0"` +
              ` class="${changed ? "posenc-changed" : ""}" stroke-width="${round(Math.max(THICKEST * now[word], 0.75))}"/>`
            );
          })
          .join("")
      : "";
    svg.toggleAttribute("data-empty", !isOneLine);
  }
  return { svg, draw };
}
