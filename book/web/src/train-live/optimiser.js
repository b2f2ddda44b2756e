// Muon for the layers' matrices, Adam for all the rest, as posenc_course/experiments has them.
import { multiply, turned, view } from "./arrays.js";
import { matrices } from "./model.js";
import { DIM, RATE } from "./sizes.js";

const FALLING = 0.6; // share of the steps in which the rate falls
const MOMENTUM = 0.95;
const [FIRST, SECOND] = [0.9, 0.95];
const LONGEST = 1; // of all gradients together
const ours = new Set(matrices);

export class Optimiser {
  #means = {};
  #squares = {};
  #done = 0;

  constructor(weights, steps) {
    this.steps = steps;
    for (const [name, each] of Object.entries(weights)) {
      this.#means[name] = new Float32Array(each.length);
      if (!ours.has(name)) this.#squares[name] = new Float32Array(each.length);
    }
  }

  /** Changes the weights by one step. */
  step(weights, gradients) {
    const rate = RATE * Math.min(1, (1 - this.#done / this.steps) / FALLING);
    this.#done++;
    shorten(Object.values(gradients));
    for (const [name, weight] of Object.entries(weights))
      if (ours.has(name)) this.#muon(weight, gradients[name], this.#means[name], rate);
      else this.#adam(weight, gradients[name], this.#means[name], this.#squares[name], rate);
  }

  #muon(weight, gradient, mean, rate) {
    const ahead = new Float32Array(weight.length);
    for (let i = 0; i < weight.length; i++) {
      mean[i] += (1 - MOMENTUM) * (gradient[i] - mean[i]);
      ahead[i] = gradient[i] + MOMENTUM * (mean[i] - gradient[i]);
    }
    const straight = orthogonal(ahead);
    for (let i = 0; i < weight.length; i++) weight[i] -= rate * straight[i];
  }

  #adam(weight, gradient, mean, square, rate) {
    const [own, its] = [1 - FIRST ** this.#done, 1 - SECOND ** this.#done];
    for (let i = 0; i < weight.length; i++) {
      mean[i] += (1 - FIRST) * (gradient[i] - mean[i]);
      square[i] += (1 - SECOND) * (gradient[i] ** 2 - square[i]);
      weight[i] -= (rate * mean[i]) / own / (Math.sqrt(square[i] / its) + 1e-8);
    }
  }
}

/** All gradients by one factor, so that together they are no longer than LONGEST. */
function shorten(gradients) {
  let squares = 0;
  for (const each of gradients) for (let i = 0; i < each.length; i++) squares += each[i] * each[i];
  const factor = LONGEST / (Math.sqrt(squares) + 1e-6);
  if (factor < 1) for (const each of gradients) for (let i = 0; i < each.length; i++) each[i] *= factor;
}

/** About U V^T for U S V^T: five steps of Newton and Schulz. */
function orthogonal(matrix) {
  let x = matrix.slice();
  const length = Math.sqrt(x.reduce((sum, each) => sum + each * each, 0)) + 1e-7;
  for (let i = 0; i < x.length; i++) x[i] /= length;
  for (let round = 0; round < 5; round++) {
    const square = times(x, turned(view(x, DIM)));
    const mixed = times(square, view(square, DIM));
    for (let i = 0; i < x.length; i++) mixed[i] = 2.0315 * mixed[i] - 4.775 * square[i];
    const next = times(mixed, view(x, DIM));
    for (let i = 0; i < x.length; i++) next[i] += 3.4445 * x[i];
    x = next;
  }
  return x;
}

function times(a, b) {
  const out = new Float32Array(DIM * DIM);
  multiply(view(out, DIM), view(a, DIM), b, DIM, DIM, DIM);
  return out;
}
