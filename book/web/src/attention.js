// One head of attention with three doors, small enough for a sentence. tests/browser/test_landing.py holds it against
// posenc_lib. The words' vectors and the two matrices are drawn by lot: no model has learned them.
import { generator } from "./random.js";

export const DIM = 8;
const BASE = 10000;
const SLOPES = { before: 1 / 2, after: 1 / 4 }; // points of the score that each step of distance costs

const FREQUENCIES = Array.from({ length: DIM / 2 }, (_, pair) => BASE ** ((-2 * pair) / DIM));

/** Sines in even columns, cosines in odd ones. */
export const sinusoidal = (position) =>
  FREQUENCIES.flatMap((turn) => [Math.sin(position * turn), Math.cos(position * turn)]);

/** Each pair of columns turned by its own angle. */
export const rotated = (vector, position) =>
  FREQUENCIES.flatMap((turn, pair) => {
    const [x, y] = [vector[2 * pair], vector[2 * pair + 1]];
    const [sin, cos] = [Math.sin(position * turn), Math.cos(position * turn)];
    return [x * cos - y * sin, x * sin + y * cos];
  });

/** ALiBi with another slope on each side, so that it knows before from after. */
export const bias = (query, key) => (key > query ? SLOPES.after * (query - key) : SLOPES.before * (key - query));

/** How much of its attention each row's word gives to each column's; `door` is "none", "added", "rotated" or "biased". */
export function weights(vectors, door) {
  const inputs = door === "added" ? vectors.map((each, at) => sum(each, sinusoidal(at))) : vectors;
  const turned = (projected) => (door === "rotated" ? projected.map(rotated) : projected);
  const queries = turned(inputs.map((each) => times(MATRICES.query, each)));
  const keys = turned(inputs.map((each) => times(MATRICES.key, each)));
  return queries.map((query, t) =>
    softmax(keys.map((key, u) => dot(query, key) / Math.sqrt(DIM) + (door === "biased" ? bias(t, u) : 0))),
  );
}

/** [from][to]: what each word gives to each, by their places in what was typed, when they stand in this order. */
export function between(texts, order, door = "none") {
  const found = weights(
    order.map((word) => vectorOf(texts[word])),
    door,
  );
  const at = texts.map((_, word) => order.indexOf(word));
  return at.map((row) => at.map((column) => found[row][column]));
}

/** What each word gets: the mean of all vectors, by its weights. */
export const mixed = (shares, vectors) =>
  shares.map((row) =>
    vectors[0].map((_, i) => row.reduce((total, share, from) => total + share * vectors[from][i], 0)),
  );

/** The same word, the same vector, always. */
export const vectorOf = (word) => normals(hash(word.toLowerCase()), DIM);

export const MATRICES = { query: matrix(7), key: matrix(42) };

const dot = (a, b) => a.reduce((total, each, i) => total + each * b[i], 0);
const sum = (a, b) => a.map((each, i) => each + b[i]);
const times = (rows, vector) => rows.map((row) => dot(row, vector));

function softmax(scores) {
  const most = Math.max(...scores);
  const raised = scores.map((each) => Math.exp(each - most));
  const total = raised.reduce((a, b) => a + b);
  return raised.map((each) => each / total);
}

function matrix(seed) {
  const drawn = normals(seed, DIM * DIM);
  return Array.from({ length: DIM }, (_, row) =>
    drawn.slice(row * DIM, (row + 1) * DIM).map((each) => each / Math.sqrt(DIM)),
  );
}

function normals(seed, count) {
  return Array.from({ length: count }, generator(seed).normal);
}

/** A number for a text (FNV-1a). */
function hash(text) {
  let found = 0x811c9dc5;
  for (const sign of text) found = Math.imul(found ^ sign.codePointAt(0), 0x01000193);
  return found >>> 0;
}
