// What each encoding gives a model, by the door through which it goes in: plain arrays of numbers.
// What needs a formula of the library comes as `tables`, from book/_ext/lab.py.

const HIDDEN = -1e9; // added to the score of a key that lies ahead: nothing is left of it after the softmax

/**
 * Of a model as it is read: { add, turns, bias }, each for `count` positions from `from` on.
 *
 * add(from, count): (count, dim), added to the input; null where nothing is.
 * turns(layer, from, count): { cos, sin }, each (count, head_dim), for queries and keys; null where none turn.
 * bias(from, count): (heads, count, from + count), added to the scores; it hides what lies ahead.
 *
 * @param tables of the model, @param reading one of its `readings`, if it has any.
 */
export function doorsOf({ settings, weights }, tables, reading) {
  const { encoding } = settings;
  const [dim, heads] = [Number(settings.dim), Number(settings.heads)];
  const byDistance = FAR[encoding]?.(tables, weights.buckets) ?? (() => 0);
  return {
    add: (from, count) => ADDED[encoding]?.(from, count, dim, weights.positions) ?? null,
    turns: (layer, from, count) => (turnsIn(encoding, layer) ? turned(reading, from, count) : null),
    bias: (from, count) => biased(byDistance, heads, from, count),
  };
}

const turnsIn = (encoding, layer) => encoding === "rope" || (encoding === "rope-and-none" && layer % 4 !== 3);

const ADDED = { sinusoidal, learned };

function sinusoidal(from, count, dim) {
  const found = new Float32Array(count * dim);
  for (let row = 0; row < count; row++)
    for (let pair = 0; pair < dim / 2; pair++) {
      const angle = (from + row) * 10000 ** ((-2 * pair) / dim);
      found[row * dim + 2 * pair] = Math.sin(angle);
      found[row * dim + 2 * pair + 1] = Math.cos(angle);
    }
  return found;
}

/** The vector of each position; beyond the last, that last one. */
function learned(from, count, dim, { shape: [length], numbers }) {
  const found = new Float32Array(count * dim);
  for (let row = 0; row < count; row++) {
    const at = Math.min(from + row, length - 1) * dim;
    found.set(numbers.subarray(at, at + dim), row * dim);
  }
  return found;
}

/** Cosines and sines of RoPE's angles, so that x turned is x cos + (x with its halves swapped) sin. */
function turned({ turns, longer }, from, count) {
  const half = turns.length;
  const [cos, sin] = [new Float32Array(2 * half * count), new Float32Array(2 * half * count)];
  for (let row = 0; row < count; row++)
    turns.forEach((turn, pair) => {
      const at = 2 * half * row + pair;
      cos[at] = cos[at + half] = longer * Math.cos((from + row) * turn);
      sin[at + half] = longer * Math.sin((from + row) * turn);
      sin[at] = -sin[at + half];
    });
  return { cos, sin };
}

/** What is added to the scores, (heads, count, from + count): by how far back a key lies. */
function biased(byDistance, heads, from, count) {
  const keys = from + count;
  const found = new Float32Array(heads * count * keys).fill(HIDDEN);
  for (let head = 0; head < heads; head++) {
    const byBack = Float32Array.from({ length: keys }, (_, back) => byDistance(head, back)).reverse();
    for (let row = 0; row < count; row++) found.set(byBack.subarray(count - 1 - row), (head * count + row) * keys);
  }
  return found;
}

const FAR = {
  alibi: ({ slopes }) => (head, back) => -slopes[head] * back,
  t5: ({ buckets }, { numbers, shape: [, heads] }) => (head, back) => numbers[buckets[Math.min(back, buckets.length - 1)] * heads + head],
};
