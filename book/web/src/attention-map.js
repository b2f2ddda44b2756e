// A small map of who attends to whom. A cell belongs to two words, and goes with them when they move. So does
// the row of numbers that a word gets; their mean stays below.
import { made } from "./elements.js";
import { cells } from "./figures/cells.js";
import { escaped, picture } from "./figures/svg.js";
import { joined, number } from "./words.js";
import { words } from "./words-landing.js";

const [MARGIN, SIZE, LONGEST, DEEPEST] = [92, 360, 10, 0.75];
const OUTPUT = { gap: 22, cell: 17, height: 22 }; // the rows beside the map

const percent = (share) => `${number(Math.round(1000 * share) / 10, 3)}%`;

/** With `width` numbers in what each word gets. */
export function attentionMap(width) {
  const size = [SIZE + OUTPUT.gap + width * OUTPUT.cell, SIZE + OUTPUT.height + 18];
  const svg = picture();
  svg.setAttribute("viewBox", `0 0 ${size.join(" ")}`);
  const holder = made("span", "posenc-mapped", svg);
  const byKeys = cells(holder);
  const reading = made("p", "posenc-reading");
  let drawn = ""; // the words whose cells are there
  let said = (_from, _to) => "";

  /** order[place] is the word that stands there; weights[from][to] and outputs[from] are by word. */
  function draw({ texts, order, weights, outputs }) {
    const step = (SIZE - MARGIN) / texts.length;
    if (drawn !== texts.join(" ")) svg.innerHTML = elements(texts, step) + rows(texts, width);
    drawn = texts.join(" ");
    const at = (word) => MARGIN + order.indexOf(word) * step;
    for (const label of svg.querySelectorAll("[data-label]")) {
      const place = at(Number(label.dataset.label)) + step / 2;
      label.style.transform =
        label.dataset.axis === "row"
          ? `translate(${MARGIN - 8}px, ${place}px)`
          : `translate(${place}px, ${MARGIN - 8}px)`;
    }
    for (const cell of svg.querySelectorAll("[data-from]")) {
      const [from, to] = [Number(cell.dataset.from), Number(cell.dataset.to)];
      const share = weights[from][to];
      cell.dataset.weight = String(share);
      cell.style.transform = `translate(${at(to)}px, ${at(from)}px)`;
      cell.querySelector("rect").style.fillOpacity = String(DEEPEST * share ** 0.7);
      cell.querySelector("text").textContent = String(Math.round(100 * share));
    }
    fillRows(outputs, at, step);
    said = (from, to) => words.cell(texts[from], texts[to], percent(weights[from][to]));
    const [left, top] = size.map((each) => MARGIN / each);
    const [wide, high] = size.map((each) => (SIZE - MARGIN) / each);
    const count = texts.length;
    byKeys(
      { left, top, width: wide, height: high },
      { rows: count, columns: count, label: words.cells, tell: (row, column) => said(order[row], order[column]) },
    );
    const most = order.map((from) => {
      const to = weights[from].indexOf(Math.max(...weights[from]));
      return words.most(texts[from], texts[to], percent(weights[from][to]));
    });
    svg.setAttribute("aria-label", joined(words.map(texts.length), ...most));
    reading.textContent = most[0];
  }

  function fillRows(outputs, at, step) {
    const mean = outputs[0].map((_, i) => outputs.reduce((sum, row) => sum + row[i], 0) / outputs.length);
    for (const row of svg.querySelectorAll("[data-output]")) {
      const word = row.dataset.output;
      const numbers = word === "mean" ? mean : outputs[Number(word)];
      row.dataset.numbers = numbers.join(" ");
      if (word !== "mean")
        row.style.transform = `translate(${SIZE + OUTPUT.gap}px, ${at(Number(word)) + (step - OUTPUT.height) / 2}px)`;
      [...row.querySelectorAll("rect")].forEach((rect, i) => {
        rect.setAttribute("class", numbers[i] < 0 ? "posenc-below" : "posenc-above");
        rect.style.fillOpacity = String(Math.min(Math.abs(numbers[i]) / 2, 1));
      });
    }
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

  return { element: made("figure", "posenc-attention", holder, reading), draw };
}

/** Beside each row of the map what its word gets, and the mean of all below. */
function rows(texts, width) {
  const strip = Array.from(
    { length: width },
    (_, i) => `<rect x="${i * OUTPUT.cell}" width="${OUTPUT.cell}" height="${OUTPUT.height}"/>`,
  ).join("");
  const left = SIZE + OUTPUT.gap;
  return (
    `<text x="${left}" y="${MARGIN - 10}">${escaped(words.gets)}</text>` +
    texts.map((_, word) => `<g data-output="${word}">${strip}</g>`).join("") +
    `<text x="${left - 8}" y="${SIZE + 15 + OUTPUT.height / 2}" dy="0.35em" text-anchor="end">${escaped(words.mean)}</text>` +
    `<g data-output="mean" transform="translate(${left} ${SIZE + 15})">${strip}</g>`
  );
}

function elements(texts, step) {
  const short = (text) => ([...text].length > LONGEST ? `${[...text].slice(0, LONGEST - 1).join("")}…` : text);
  const label = (axis) => (text, word) =>
    `<g data-label="${word}" data-axis="${axis}"><text ${axis === "row" ? 'text-anchor="end" dy="0.35em"' : 'text-anchor="start" transform="rotate(-55)" dy="0.3em"'}>${escaped(short(text))}</text></g>`;
  const cells = texts.flatMap((_, from) =>
    texts.map(
      (_, to) =>
        `<g data-from="${from}" data-to="${to}"><rect width="${step - 2}" height="${step - 2}" rx="3"/>` +
        `<text x="${step / 2 - 1}" y="${step / 2}" dy="0.35em" text-anchor="middle"></text></g>`,
    ),
  );
  return [...texts.map(label("row")), ...texts.map(label("column")), ...cells].join("");
}
