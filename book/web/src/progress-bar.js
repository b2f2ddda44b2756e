// How many exercises have been passed, as a bar: of all, in the sidebar of every page, and of a chapter, on its card.
import { made } from "./elements.js";
import * as store from "./store.js";
import { words } from "./words-progress.js";

export function start(elements) {
  for (const bar of elements) startBar(bar);
}

function startBar(bar) {
  const exercises = bar.dataset.exercises.split(" ").map((steps) => steps.split("+"));
  const meter = made("progress", "");
  const text = made("span", "");
  meter.max = exercises.length;
  meter.setAttribute("aria-hidden", "true"); // the sentence says the same
  bar.replaceChildren(meter, text);
  bar.hidden = false;
  store.onChange(fill);
  fill();

  function fill() {
    const work = store.all("exercise");
    meter.value = exercises.filter((steps) => steps.every((id) => work[id]?.passed)).length;
    text.textContent = words.exercisesPassed(meter.value, exercises.length);
  }
}
