// How long a training will take on this machine: measured in its first steps, and again as it goes on.
import { DIM, LAYERS, LENGTH, LETTERS, ROWS, TEST_LENGTHS, TEST_TEXTS } from "./sizes.js";

/** Multiplications of a model that reads so many texts of this length. */
const pass = (texts, length) => texts * length * (LAYERS * (4 * DIM ** 2 + 2 * DIM * length) + LETTERS * DIM);

/** A step reads its texts, and goes back through the model twice: for the weights, and for what came in. */
const STEP = 3 * pass(ROWS, LENGTH);
const test = (length) => pass(TEST_TEXTS, length);
const TESTS = TEST_LENGTHS.reduce((sum, length) => sum + test(length), 0);

const KEPT = 4000; // ms that the pace is measured over: models that have ended leave the others more of the machine
const ENOUGH = 1000; // ms after which something can be said

/** Of what a model has to do, how much is done: { done, all }. */
export function work({ steps, losses, tested, state }) {
  const all = steps * STEP + TESTS;
  if (state !== "trains" && state !== "tests") return { done: all, all };
  const lengths = Object.keys(tested).map(Number);
  return { done: losses.length * STEP + lengths.reduce((sum, length) => sum + test(length), 0), all };
}

/** The pace of one model, from what it had done when: left(done, all, now) is in ms, undefined before it is known. */
export class Pace {
  #seen = [];

  /** What was measured before a pause says nothing of what comes after it. */
  forget() {
    this.#seen = [];
  }

  left({ done, all }, now = performance.now()) {
    if (done === all) return 0;
    if (!done) return undefined; // the script may still be on its way
    if (this.#seen.at(-1)?.done !== done) this.#seen.push({ done, now });
    while (this.#seen.length > 2 && now - this.#seen[1].now > KEPT) this.#seen.shift();
    const [first, last] = [this.#seen[0], this.#seen.at(-1)];
    const took = last.now - first.now;
    return took < ENOUGH
      ? undefined
      : Math.max(0, ((all - last.done) * took) / (last.done - first.done) - (now - last.now));
  }
}
