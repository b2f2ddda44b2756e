// The same model in plain JavaScript over typed arrays.
const EPSILON = 2 ** -23;

export async function start() {}

export function load({ settings, weights }) {
  return { settings, weights };
}

export class Reading {
  constructor({ settings, weights }, doors) {
    this.w = (name) => weights[name].numbers;
    this.doors = doors;
    [this.dim, this.heads, this.layers] = ["dim", "heads", "layers"].map((name) => Number(settings[name]));
    this.size = this.dim / this.heads;
    this.memory = Array.from({ length: this.layers }, () => ({ keys: new Float32Array(0), values: new Float32Array(0) }));
    this.length = 0;
  }

  async extend(bytes) {
    const { dim, heads, size, w } = this;
    const [from, count] = [this.length, bytes.length];
    const x = new Float32Array(count * dim);
    bytes.forEach((byte, row) => x.set(w("embedding").subarray(byte * dim, (byte + 1) * dim), row * dim));
    const added = this.doors.add(from, count);
    if (added) addTo(x, added);
    const biases = this.doors.bias(from, count);
    for (let layer = 0; layer < this.layers; layer++) {
      const its = (name) => w(`layers.${layer}.${name}`);
      const qkv = product(normed(x, its("norm1"), dim), its("qkv"), count, dim, 3 * dim);
      const part = (number) => {
        const found = new Float32Array(count * dim);
        for (let row = 0; row < count; row++) found.set(qkv.subarray((row * 3 + number) * dim, (row * 3 + number + 1) * dim), row * dim);
        return found;
      };
      const turns = this.doors.turns(layer, from, count);
      const q = turn(normed(part(0), its("norm_q"), size), turns, heads, size);
      const memory = this.memory[layer];
      memory.keys = joined(memory.keys, turn(normed(part(1), its("norm_k"), size), turns, heads, size));
      memory.values = joined(memory.values, part(2));
      const found = attend(q, memory, biases, { from, count, heads, size });
      addTo(x, product(found, its("out"), count, dim, dim));
      const wide = product(normed(x, its("norm2"), dim), its("widen"), count, dim, 4 * dim);
      for (let at = 0; at < wide.length; at++) wide[at] = wide[at] > 0 ? wide[at] * wide[at] : 0;
      addTo(x, product(wide, its("narrow"), count, 4 * dim, dim));
    }
    this.length += count;
    return product(normed(x, w("norm"), dim), w("head"), count, dim, 256);
  }

  dispose() {}
}

function attend(q, { keys, values }, biases, { from, count, heads, size }) {
  const dim = heads * size;
  const found = new Float32Array(count * dim);
  const scores = new Float32Array(from + count);
  for (let head = 0; head < heads; head++)
    for (let row = 0; row < count; row++) {
      const seen = from + row + 1;
      let most = -Infinity;
      for (let key = 0; key < seen; key++) {
        let score = 0;
        for (let i = 0; i < size; i++) score += q[row * dim + head * size + i] * keys[key * dim + head * size + i];
        scores[key] = score / Math.sqrt(size) + biases[(head * count + row) * (from + count) + key];
        if (scores[key] > most) most = scores[key];
      }
      let total = 0;
      for (let key = 0; key < seen; key++) total += scores[key] = Math.exp(scores[key] - most);
      for (let key = 0; key < seen; key++) {
        const share = scores[key] / total;
        for (let i = 0; i < size; i++) found[row * dim + head * size + i] += share * values[key * dim + head * size + i];
      }
    }
  return found;
}

/** x (rows, inner) times the transpose of matrix (columns, inner); four columns at once. */
function product(x, matrix, rows, inner, columns) {
  const found = new Float32Array(rows * columns);
  for (let column = 0; column < columns; column += 4) {
    const [a, b, c, d] = [0, 1, 2, 3].map((more) => (column + more) * inner);
    for (let row = 0; row < rows; row++) {
      let [p, q, r, s] = [0, 0, 0, 0];
      const at = row * inner;
      for (let i = 0; i < inner; i++) {
        const value = x[at + i];
        p += value * matrix[a + i];
        q += value * matrix[b + i];
        r += value * matrix[c + i];
        s += value * matrix[d + i];
      }
      const to = row * columns + column;
      found[to] = p;
      found[to + 1] = q;
      found[to + 2] = r;
      found[to + 3] = s;
    }
  }
  return found;
}

function normed(x, gain, size) {
  const found = new Float32Array(x.length);
  for (let at = 0; at < x.length; at += size) {
    let squares = 0;
    for (let i = 0; i < size; i++) squares += x[at + i] ** 2;
    const factor = 1 / Math.sqrt(squares / size + EPSILON);
    for (let i = 0; i < size; i++) found[at + i] = x[at + i] * factor * gain[i];
  }
  return found;
}

function turn(x, turns, heads, size) {
  if (!turns) return x;
  for (let at = 0; at < x.length; at += 2) {
    const pair = (at % size) / 2;
    const angle = Math.floor(at / (heads * size)) * size + size / 2 + pair;
    const [a, b, c, s] = [x[at], x[at + 1], turns.cos[angle], turns.sin[angle]];
    x[at] = a * c - b * s;
    x[at + 1] = a * s + b * c;
  }
  return x;
}

function addTo(x, other) {
  for (let at = 0; at < x.length; at++) x[at] += other[at];
}

function joined(before, now) {
  const found = new Float32Array(before.length + now.length);
  found.set(before);
  found.set(now, before.length);
  return found;
}
