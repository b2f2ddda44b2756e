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
    const parts = exercises.map((steps) => [steps.filter((id) => work[id]?.passed).length, steps.length]);
    const passed = parts.filter(([done, all]) => done === all).length;
    const begun = parts.filter(([done, all]) => done && done < all); // to have passed a step is progress, too
    meter.value = passed + begun.reduce((sum, [done, all]) => sum + done / all, 0);
    const steps = begun.reduce((sum, [done]) => sum + done, 0);
    text.textContent = words.exercisesPassed(passed, exercises.length) + (steps ? words.andSteps(steps) : "");
  }
}
