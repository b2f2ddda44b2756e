// A link to what the reader did last, of all that the map of the page knows.
import * as store from "./store.js";
import { words } from "./words-landing.js";

const ROWS = [
  ["exercise", "[data-exercise]", "exercise"],
  ["prediction", "[data-predictions]", "predictions"],
  ["quiz", "[data-questions]", "questions"],
];

export function start(links) {
  for (const link of links) {
    const fill = () => show(link, lastOf(document.querySelector(".posenc-map")));
    store.onChange(fill);
    fill();
  }
}

/** The row of the map that was worked on last. */
function lastOf(map) {
  const found = ROWS.flatMap(([kind, selector, name]) => {
    const records = store.all(kind);
    return [...map.querySelectorAll(selector)].flatMap((row) =>
      row.dataset[name]
        .split(" ")
        .flatMap((id) => (records[id] ? { row, kind, id, when: Date.parse(records[id].updated) } : [])),
    );
  });
  return found.reduce((best, each) => (best && best.when >= each.when ? best : each), undefined);
}

function show(link, last) {
  link.hidden = !last;
  if (!last) return;
  const { row, kind, id } = last;
  const place = row.querySelector("a");
  const chapter = row.closest(".posenc-chapter").querySelector("a").textContent.trim();
  link.textContent = kind === "exercise" ? words.goOnWith(chapter, place.textContent) : words.goOn(chapter);
  link.href = place.href;
  if (kind === "prediction") link.hash = `predict-${id.split(".")[1]}`;
}
