// A small map of who attends to whom. A cell belongs to two words, and goes with them when they move.
import { made } from "./elements.js";
import { escape } from "./figures/svg.js";
import { number } from "./words.js";
import { words } from "./words-landing.js";

const SVG = "http://www.w3.org/2000/svg";
const [MARGIN, SIZE, LONGEST, DEEPEST] = [92, 360, 10, 0.75];

export const percent = (share) => `${number(Math.round(1000 * share) / 10, 3)}%`;

export function attentionMap() {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${SIZE} ${SIZE}`);
  svg.setAttribute("role", "img");
  const reading = made("p", "posenc-reading");
  let drawn = ""; // the words whose cells are there
  let said = () => "";

  /** order[place] is the word that stands there; weights[from][to] are by word. */
  function draw({ texts, order, weights }) {
    const step = (SIZE - MARGIN) / texts.length;
    if (drawn !== texts.join(" ")) svg.innerHTML = elements(texts, step);
    drawn = texts.join(" ");
    const at = (word) => MARGIN + order.indexOf(word) * step;
    for (const label of svg.querySelectorAll("[data-label]")) {
      const place = at(Number(label.dataset.label)) + step / 2;
      label.style.transform = label.dataset.axis === "row"
        ? `translate(${MARGIN - 8}px, ${place}px)`
        : `translate(${place}px, ${MARGIN - 8}px)`;
    }
    for (const cell of svg.querySelectorAll("[data-from]")) {
      const [from, to] = [Number(cell.dataset.from), Number(cell.dataset.to)];
      const share = weights[from][to];
      cell.dataset.weight = share;
      cell.style.transform = `translate(${at(to)}px, ${at(from)}px)`;
      cell.firstElementChild.style.fillOpacity = DEEPEST * share ** 0.7;
      cell.lastElementChild.textContent = Math.round(100 * share);
    }
    said = (from, to) => words.cell(texts[from], texts[to], percent(weights[from][to]));
    const most = order.map((from) => {
      const to = weights[from].indexOf(Math.max(...weights[from]));
      return words.most(texts[from], texts[to], percent(weights[from][to]));
    });
    svg.setAttribute("aria-label", [words.map(texts.length), ...most].join(" "));
    reading.textContent = most[0];
  }

  // A pointer or a thumb on a cell: what it says.
  const read = ({ target }) => {
    const cell = target.closest("[data-from]");
    if (!cell) return;
    svg.querySelector(".posenc-read")?.classList.remove("posenc-read");
    cell.classList.add("posenc-read");
    reading.textContent = said(Number(cell.dataset.from), Number(cell.dataset.to));
  };
  svg.addEventListener("pointerover", read);
  svg.addEventListener("pointerdown", read);

  return { element: made("figure", "posenc-attention", svg, reading), draw };
}

function elements(texts, step) {
  const short = (text) => ([...text].length > LONGEST ? `${[...text].slice(0, LONGEST - 1).join("")}…` : text);
  const label = (axis) => (text, word) =>
    `<g data-label="${word}" data-axis="${axis}"><text ${axis === "row" ? 'text-anchor="end" dy="0.35em"' : 'text-anchor="start" transform="rotate(-55)" dy="0.3em"'}>${escape(short(text))}</text></g>`;
  const cells = texts.flatMap((_, from) =>
    texts.map(
      (_, to) =>
        `<g data-from="${from}" data-to="${to}"><rect width="${step - 2}" height="${step - 2}" rx="3"/>` +
        `<text x="${step / 2 - 1}" y="${step / 2}" dy="0.35em" text-anchor="middle"></text></g>`,
    ),
  );
  return [...texts.map(label("row")), ...texts.map(label("column")), ...cells].join("");
}
