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
 * @param tables of the model, @param reading one of its `readings`, if it has any, @param done one of treated.js:
 * then `turns` has `keys` too, { cos, sin }, where they turn otherwise than queries.
 */
export function doorsOf({ settings, weights }, tables, reading, done) {
  const { encoding } = settings;
  const [dim, heads] = [Number(settings.dim), Number(settings.heads)];
  const byDistance = FAR[encoding]?.(tables, weights.buckets) ?? (() => 0);
  return {
    add: (from, count) =>
      ADDED[encoding]?.(stood(from, count, done?.asks), dim, weights.positions, done?.sign ?? 1) ?? null,
    turns: (layer, from, count) => (turnsIn(encoding, layer) ? bothTurned(reading, from, count, done) : null),
    bias: (from, count) =>
      done ? biasedBy(byDistance, heads, from, count, done) : biased(byDistance, heads, from, count),
  };
}

const turnsIn = (encoding, layer) => encoding === "rope" || (encoding === "rope-and-none" && layer % 4 !== 3);

const ADDED = { sinusoidal, learned };

/** The positions of `count` places from `from` on, as they are told. */
const stood = (from, count, told = (place) => place) => Array.from({ length: count }, (_, row) => told(from + row));

function sinusoidal(positions, dim, _, sign) {
  const found = new Float32Array(positions.length * dim);
  positions.forEach((position, row) => {
    for (let pair = 0; pair < dim / 2; pair++) {
      const angle = position * 10000 ** ((-2 * pair) / dim);
      found[row * dim + 2 * pair] = sign * Math.sin(angle);
      found[row * dim + 2 * pair + 1] = sign * Math.cos(angle);
    }
  });
  return found;
}

/** The vector of each position, mixed between two of them; beyond the last, that last one. */
function learned(positions, dim, { shape: [length], numbers }, sign) {
  const found = new Float32Array(positions.length * dim);
  positions.forEach((position, row) => {
    const at = Math.min(position, length - 1);
    const [low, share] = [Math.floor(at), at % 1];
    const high = Math.min(low + 1, length - 1);
    for (let column = 0; column < dim; column++) {
      const [one, next] = [numbers[low * dim + column], numbers[high * dim + column]];
      found[row * dim + column] = sign * (share ? (1 - share) * one + share * next : one);
    }
  });
  return found;
}

function bothTurned(reading, from, count, done) {
  const queries = turned(reading, stood(from, count, done?.asks));
  if (!done) return queries;
  return {
    ...queries,
    keys: turned(
      reading,
      stood(from, count, done.at).map((position) => done.sign * position),
    ),
  };
}

/** Cosines and sines of RoPE's angles, so that x turned is x cos + (x with its halves swapped) sin. */
function turned({ turns, longer }, positions) {
  const half = turns.length;
  const [cos, sin] = [new Float32Array(2 * half * positions.length), new Float32Array(2 * half * positions.length)];
  positions.forEach((position, row) =>
    turns.forEach((turn, pair) => {
      const at = 2 * half * row + pair;
      cos[at] = cos[at + half] = longer * Math.cos(position * turn);
      sin[at + half] = longer * Math.sin(position * turn);
      sin[at] = -sin[at + half];
    }),
  );
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

/** The same for positions that are told otherwise, of queries and of keys. */
function biasedBy(byDistance, heads, from, count, { asks, at, sign }) {
  const keys = from + count;
  const found = new Float32Array(heads * count * keys).fill(HIDDEN);
  for (let head = 0; head < heads; head++)
    for (let row = 0; row < count; row++)
      for (let key = 0; key <= from + row; key++)
        found[(head * count + row) * keys + key] = sign * byDistance(head, asks(from + row) - at(key));
  return found;
}

const FAR = {
  alibi:
    ({ slopes }) =>
    (head, back) =>
      -slopes[head] * back,
  t5:
    ({ buckets }, { numbers, shape: [, heads] }) =>
    (head, back) =>
      numbers[buckets[Math.min(Math.floor(back), buckets.length - 1)] * heads + head],
};
