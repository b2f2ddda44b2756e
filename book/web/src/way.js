// Where an exercise has passed: the exercises of the chapter as nodes, of which the one that has passed fills.
import { made } from "./elements.js";
import * as store from "./store.js";
import { words } from "./words-progress.js";

const WHOLE = ".posenc-steps, .posenc-exercise:not(.posenc-steps *)"; // an exercise with all its steps

/** How many exercises of this chapter have passed; where this one has more steps, how many of them. */
export function saidOfWay(exercise) {
  const [passed, all] = stepsOf(wholeOf(exercise));
  if (passed < all) return words.stepsHere(passed, all);
  const counts = wholes().map((each) => stepsOf(each));
  return words.passedHere(counts.filter(([passed, all]) => passed === all).length, counts.length);
}

/**
 * The same as a picture.
 *
 * @param {Element} exercise that has passed
 * @param {boolean} before whether it had passed before: if not, its node fills before the reader's eyes
 */
export function wayThroughChapter(exercise, before) {
  const here = wholeOf(exercise);
  const nodes = wholes().map((each, index) => {
    const node = made("span", "posenc-node", String(index + 1));
    const [passed, all] = stepsOf(each);
    const fills = each === here && !before;
    show(node, (fills ? passed - 1 : passed) / all);
    if (fills) fillSoon(node, passed / all);
    return node;
  });
  const row = made("div", "posenc-nodes", ...nodes);
  row.setAttribute("aria-hidden", "true"); // the sentence says the same
  return made("div", "posenc-way", row, made("p", "", saidOfWay(exercise)));
}

const wholes = () => [...document.querySelectorAll(WHOLE)];
const wholeOf = (exercise) => exercise.closest(".posenc-steps") ?? exercise;

/** How many of its steps have passed, and how many there are. */
function stepsOf(whole) {
  const steps = whole.matches(".posenc-steps") ? [...whole.querySelectorAll(".posenc-exercise")] : [whole];
  return [steps.filter((step) => store.load("exercise", step.dataset.exercise)?.passed).length, steps.length];
}

/** Once it has been painted as it was. */
function fillSoon(node, share) {
  const fill = () => {
    node.classList.add("posenc-fills");
    show(node, share);
  };
  requestAnimationFrame(() => requestAnimationFrame(fill));
}

/** @param {HTMLElement} node */
function show(node, share) {
  node.dataset.state = share === 1 ? "passed" : share ? "tried" : "open";
  node.style.setProperty("--share", share);
}
