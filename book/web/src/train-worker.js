// Trains one model, tests it, and shows what it does with one text: a worker of the page "train-live".

import { generator } from "./random.js";
import { drawn, forward, lossAndGradients, right } from "./train-live/model.js";
import { Optimiser } from "./train-live/optimiser.js";
import { HEADS, LEAST, LENGTH, ROWS, STEPS, TEST_LENGTHS, TEST_TEXTS } from "./train-live/sizes.js";
import { repeated } from "./train-live/task.js";

const TELL_EVERY = 5; // steps
const LOOK_EVERY = 25;
const AT_ONCE = 2048; // letters
const [INITIAL, TRAINING, LOOKING, TESTING, SHOWING] = [0, 1, 2, 3, 4]; // what a seed draws, one stream each
const streams = (seed, what) => generator(10 * seed + what);

let model;
let paused = false;
let goOn = () => {};

const ACTS = { train, pause, show, gradients };

self.onmessage = async ({ data: { act, ...given } }) => {
  try {
    await ACTS[act](given);
  } catch (error) {
    postMessage({ kind: "error", message: String(error?.message ?? error) });
  }
};

async function train({ encoding, seed, steps = STEPS }) {
  const weights = drawn(encoding, streams(seed, INITIAL));
  const [optimiser, random] = [new Optimiser(weights, steps), streams(seed, TRAINING)];
  model = { encoding, weights, seed };
  let losses = [];
  for (let step = 1; step <= steps; step++) {
    const { loss, gradients } = lossAndGradients(encoding, weights, repeated(random, ROWS, LENGTH));
    if (!Number.isFinite(loss)) throw new Error(`the loss of step ${step} is ${loss}`);
    optimiser.step(weights, gradients);
    losses.push(loss);
    if (step % TELL_EVERY && step < steps) continue;
    const looks = step % LOOK_EVERY === 0 || step === steps;
    postMessage({ kind: "step", step, losses, share: looks ? test(LENGTH, streams(seed, LOOKING)).share : undefined });
    losses = [];
    await turnOfOthers();
  }
  const random2 = streams(seed, TESTING);
  const first = test(LENGTH, random2);
  const admitted = first.share >= LEAST;
  postMessage({ kind: "tested", length: LENGTH, ...first });
  for (const length of admitted ? TEST_LENGTHS : []) {
    if (length === LENGTH) continue;
    postMessage({ kind: "tested", length, ...test(length, random2) });
    await turnOfOthers();
  }
  postMessage({ kind: "done", admitted });
}

function pause({ on }) {
  paused = on;
  if (!on) goOn();
}

/** Lets messages in; while the reader pauses, not before the reader goes on. */
async function turnOfOthers() {
  await new Promise((resolve) => setTimeout(resolve));
  if (paused) await new Promise((resolve) => (goOn = () => resolve(null)));
}

/** Of TEST_TEXTS fresh texts, the share of letters right that can be told, and its standard error. */
function test(length, random) {
  const shares = [];
  while (shares.length < TEST_TEXTS) {
    const rows = Math.min(TEST_TEXTS - shares.length, Math.max(1, Math.floor(AT_ONCE / length)));
    const texts = repeated(random, rows, length);
    const hits = right(forward(model.encoding, model.weights, texts).scores, texts);
    for (let row = 0; row < rows; row++) {
      const of = (numbers) => numbers.subarray(row * length, (row + 1) * length).reduce((sum, each) => sum + each, 0);
      shares.push(of(hits) / of(texts.known));
    }
  }
  const share = shares.reduce((sum, each) => sum + each, 0) / shares.length;
  const spread = shares.reduce((sum, each) => sum + (each - share) ** 2, 0) / (shares.length - 1);
  return { share, error: Math.sqrt(spread / shares.length), texts: shares.length };
}

/** One text of this length: its letters, which the model told, and where the last letter looks. */
function show({ length }) {
  const texts = repeated(streams(model.seed, SHOWING), 1, length);
  const { scores, seen } = forward(model.encoding, model.weights, texts);
  const looks = Array.from({ length: HEADS }, (_, head) => {
    const end = (head + 1) * length * length;
    return seen.at(-1).attention.slice(end - length, end);
  });
  postMessage({ kind: "shown", length, letters: texts.read, known: texts.known, right: right(scores, texts), looks });
}

/** Loss, scores and gradients at given weights and texts: what tests hold beside PyTorch's. */
function gradients({ encoding, weights, texts }) {
  const scores = forward(encoding, weights, texts).scores.slice();
  postMessage({ kind: "gradients", scores, ...lossAndGradients(encoding, weights, texts) });
}
