// The model of posenc_course/experiments/train_live.py: two layers of attention, and the gradients by hand.
import { multiply, normed, normedBack, turn, turned, view } from "./arrays.js";
import { doors, LEARNS } from "./doors.js";
import { reuse, zeros } from "./memory.js";
import { DIM, EPSILON, HEAD_DIM, HEADS, LAYERS, LETTERS } from "./sizes.js";

const PARTS = ["query", "key", "value", "out"];
const SHIFTS = ["query_shift", "key_shift"];
const SCALE = HEAD_DIM ** -0.5;
const HEAD_SCALE = DIM ** -0.5;
const layers = Array.from({ length: LAYERS }, (_, layer) => layer);
const size = (shape) => shape.reduce((product, each) => product * each, 1);
const inLayer = (layer) => (part) => `layers.${layer}.${part}`;

/** Name -> shape and the standard deviation at the start. */
function shapes(encoding) {
  const all = { embedding: { shape: [LETTERS, DIM], std: 1 }, head: { shape: [LETTERS, DIM], std: 0.02 } };
  for (const layer of layers) {
    for (const part of PARTS) all[inLayer(layer)(part)] = { shape: [DIM, DIM], std: DIM ** -0.5 };
    for (const part of SHIFTS) all[inLayer(layer)(part)] = { shape: [DIM], std: 0.5 };
  }
  return { ...all, ...LEARNS[encoding] };
}

/** The names of the layers' matrices, which Muon trains. */
export const matrices = layers.flatMap((layer) => PARTS.map(inLayer(layer)));

/** Weights drawn at random: name -> Float32Array. */
export const drawn = (encoding, random) =>
  Object.fromEntries(
    Object.entries(shapes(encoding)).map(([name, { shape, std }]) => [
      name,
      Float32Array.from({ length: size(shape) }, () => std * random.normal()),
    ]),
  );

/**
 * What a model says to texts, with all that the gradients need: the scores of the next letter, the attention.
 * Its arrays are good until the next call, and so are those of `lossAndGradients`, which calls it.
 */
export function forward(encoding, weights, { read, rows, length }) {
  reuse();
  const its = doors(encoding, length);
  const tokens = rows * length;
  let x = embedded(weights, its, read, length);
  const seen = layers.map((layer) => {
    const of = (part) => weights[inLayer(layer)(part)];
    const y = zeros(tokens * DIM);
    const factors = normed(y, x, DIM, EPSILON);
    const [q, k, v] = PARTS.slice(0, 3).map((part) => through(y, of(part), tokens));
    shift(q, of("query_shift"));
    shift(k, of("key_shift"));
    if (its.angles) for (const each of [q, k]) turn(each, its.angles, length, DIM);
    const bias = biasOf(its, of("table"), length);
    const attention = zeros(rows * HEADS * length * length);
    const found = zeros(tokens * DIM);
    eachHead(rows, length, (at, square, head) => {
      const [query, key, value] = [q, k, v].map((each) => view(each, DIM, at));
      const scores = view(attention, length, square);
      multiply(scores, query, turned(key), length, HEAD_DIM, length, { scale: SCALE });
      softmaxOfEarlier(attention, square, length, bias?.[head]);
      multiply(view(found, DIM, at), scores, value, length, length, HEAD_DIM);
    });
    const next = zeros(x.length);
    next.set(x);
    multiply(view(next, DIM), view(found, DIM), view(of("out"), DIM), tokens, DIM, DIM, { add: true });
    x = next;
    return { y, factors, q, k, v, attention, found };
  });
  const y = zeros(tokens * DIM);
  const factors = normed(y, x, DIM, EPSILON);
  const scores = zeros(tokens * LETTERS);
  multiply(view(scores, LETTERS), view(y, DIM), turned(view(weights.head, DIM)), tokens, DIM, LETTERS, {
    scale: HEAD_SCALE,
  });
  return { its, seen, y, factors, scores };
}

/** The mean loss of the letters that can be told, in nats, and its gradients: name -> Float32Array. */
export function lossAndGradients(encoding, weights, texts) {
  const { rows, length } = texts;
  const tokens = rows * length;
  const { its, seen, y, factors, scores } = forward(encoding, weights, texts);
  const gradients = Object.fromEntries(Object.entries(weights).map(([name, each]) => [name, zeros(each.length)]));
  const loss = crossEntropy(scores, texts); // the scores become their gradient
  multiply(view(gradients.head, DIM), turned(view(scores, LETTERS)), view(y, DIM), LETTERS, tokens, DIM, {
    scale: HEAD_SCALE,
  });
  const dy = zeros(tokens * DIM);
  multiply(view(dy, DIM), view(scores, LETTERS), view(weights.head, DIM), tokens, LETTERS, DIM, { scale: HEAD_SCALE });
  const dx = zeros(tokens * DIM);
  normedBack(dx, dy, y, factors, DIM);
  for (const layer of layers.toReversed())
    layerBack(dx, layer, { its, weights, gradients, rows, length, ...seen[layer] });
  for (let token = 0; token < tokens; token++) {
    add(gradients.embedding, texts.read[token] * DIM, dx, token * DIM);
    if (its.row) add(gradients.added, its.row[token % length] * DIM, dx, token * DIM);
  }
  return { loss, gradients };
}

/** The gradient of a layer's outcome becomes that of what came in. */
function layerBack(dx, layer, { its, weights, gradients, rows, length, y, factors, q, k, v, attention, found }) {
  const tokens = rows * length;
  const name = inLayer(layer);
  const back = through(dx, weights[name("out")], tokens, true);
  multiply(view(gradients[name("out")], DIM), turned(view(found, DIM)), view(dx, DIM), DIM, tokens, DIM);
  const [dq, dk, dv] = [q, k, v].map((each) => zeros(each.length));
  const dScores = zeros(length * length);
  eachHead(rows, length, (at, square, head) => {
    const [query, key, value, outcome] = [q, k, v, back].map((each) => view(each, DIM, at));
    const weight = view(attention, length, square);
    multiply(view(dv, DIM, at), turned(weight), outcome, length, length, HEAD_DIM);
    multiply(view(dScores, length), outcome, turned(value), length, HEAD_DIM, length);
    softmaxBack(dScores, attention, square, length);
    if (its.bucket) gather(gradients[name("table")], dScores, its.bucket, length, head);
    multiply(view(dq, DIM, at), view(dScores, length), key, length, length, HEAD_DIM, { scale: SCALE });
    multiply(view(dk, DIM, at), turned(view(dScores, length)), query, length, length, HEAD_DIM, { scale: SCALE });
  });
  if (its.angles) for (const each of [dq, dk]) turn(each, its.angles, length, DIM, -1);
  const dy = zeros(tokens * DIM);
  [dq, dk, dv].forEach((each, part) => {
    const matrix = name(PARTS[part]);
    multiply(view(gradients[matrix], DIM), turned(view(y, DIM)), view(each, DIM), DIM, tokens, DIM);
    multiply(view(dy, DIM), view(each, DIM), turned(view(weights[matrix], DIM)), tokens, DIM, DIM, { add: true });
    if (SHIFTS[part]) for (let at = 0; at < each.length; at += DIM) add(gradients[name(SHIFTS[part])], 0, each, at);
  });
  normedBack(dx, dy, y, factors, DIM);
}

function embedded(weights, its, read, length) {
  const { added, row } = its;
  const x = zeros(read.length * DIM);
  for (let token = 0; token < read.length; token++) {
    const place = token % length;
    add(x, token * DIM, weights.embedding, read[token] * DIM);
    if (added) add(x, token * DIM, added, place * DIM);
    if (row) add(x, token * DIM, weights.added, row[place] * DIM);
  }
  return x;
}

/** One row of numbers onto another. */
function add(to, at, from, first) {
  for (let i = 0; i < DIM; i++) to[at + i] += from[first + i];
}

function through(x, matrix, tokens, transposed = false) {
  const out = zeros(tokens * DIM);
  const by = view(matrix, DIM);
  multiply(view(out, DIM), view(x, DIM), transposed ? turned(by) : by, tokens, DIM, DIM);
  return out;
}

function shift(x, by) {
  for (let at = 0; at < x.length; at += DIM) add(x, at, by, 0);
}

/** For each head of each text: where its first number stands, where its attention begins, and which head it is. */
function eachHead(rows, length, act) {
  for (let row = 0; row < rows; row++)
    for (let head = 0; head < HEADS; head++)
      act(row * length * DIM + head * HEAD_DIM, (row * HEADS + head) * length * length, head);
}

/** Of each head, the bias of each distance; undefined where there is none. */
function biasOf(its, table, length) {
  const { slopes, bucket } = its;
  if (slopes) return slopes.map((slope) => Float32Array.from({ length }, (_, distance) => -slope * distance));
  if (!bucket) return undefined;
  return Array.from({ length: HEADS }, (_, head) => Float32Array.from(bucket, (each) => table[each * HEADS + head]));
}

/** Scores, in place, become shares of each letter itself and those before it. */
function softmaxOfEarlier(scores, first, length, bias) {
  for (let asks = 0; asks < length; asks++) {
    const at = first + asks * length;
    let most = -Infinity;
    for (let key = 0; key <= asks; key++) {
      if (bias) scores[at + key] += bias[asks - key];
      if (scores[at + key] > most) most = scores[at + key];
    }
    let sum = 0;
    for (let key = 0; key <= asks; key++) sum += scores[at + key] = Math.exp(scores[at + key] - most);
    for (let key = 0; key <= asks; key++) scores[at + key] /= sum;
    scores.fill(0, at + asks + 1, at + length);
  }
}

/** The gradient of shares, in place, becomes that of the scores. */
function softmaxBack(gradient, shares, first, length) {
  for (let asks = 0; asks < length; asks++) {
    const [from, at] = [asks * length, first + asks * length];
    let mean = 0;
    for (let key = 0; key <= asks; key++) mean += gradient[from + key] * shares[at + key];
    for (let key = 0; key < length; key++) gradient[from + key] = shares[at + key] * (gradient[from + key] - mean);
  }
}

function gather(table, dScores, bucket, length, head) {
  for (let asks = 0; asks < length; asks++)
    for (let key = 0; key <= asks; key++) table[bucket[asks - key] * HEADS + head] += dScores[asks * length + key];
}

/** The loss; the scores, in place, become its gradient. */
function crossEntropy(scores, { said, known }) {
  const count = known.reduce((sum, each) => sum + each, 0);
  let loss = 0;
  known.forEach((told, token) => {
    const at = token * LETTERS;
    const own = scores.subarray(at, at + LETTERS);
    if (!told) return own.fill(0);
    let most = -Infinity;
    for (let letter = 0; letter < LETTERS; letter++) if (own[letter] > most) most = own[letter];
    let sum = 0;
    for (let letter = 0; letter < LETTERS; letter++) sum += Math.exp(own[letter] - most);
    loss += Math.log(sum) + most - own[said[token]];
    for (let letter = 0; letter < LETTERS; letter++) own[letter] = Math.exp(own[letter] - most) / sum / count;
    own[said[token]] -= 1 / count;
  });
  return loss / count;
}

/** Of each letter, whether the likeliest was right; 0 too where it cannot be told. */
export function right(scores, { said, known }) {
  return known.map((told, token) => {
    if (!told) return 0;
    let best = 0;
    for (let letter = 1; letter < LETTERS; letter++)
      if (scores[token * LETTERS + letter] > scores[token * LETTERS + best]) best = letter;
    return Number(best === said[token]);
  });
}
