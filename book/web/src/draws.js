// Numbers drawn by a seed, the same as posenc_course/challenges/draws.py draws.
import { sha256 } from "./sha256.js";

export const SEEDS = 1_000_000;
const BYTES = 6; // of one draw: JavaScript's numbers hold 53 bits

export class Draws {
  #count = 0;

  constructor(name, seed) {
    this.name = name;
    this.seed = seed;
  }

  /** A whole number from 0 to count - 1. */
  below(count) {
    this.#count += 1;
    const digest = sha256(`${this.name}:${this.seed}:${this.#count}`);
    return digest.slice(0, BYTES).reduce((sum, byte) => sum * 256 + byte, 0) % count;
  }

  choice(things) {
    return things[this.below(things.length)];
  }
}
