// The decoder of posenc_course/experiments/decoder.py in TensorFlow.js. It reads bytes, as many at once as one
// likes, and keeps queries, keys and values: to write on is to read one byte more.
import {
  add,
  concat,
  dispose,
  gather,
  matMul,
  mean,
  mul,
  relu,
  reshape,
  rsqrt,
  slice,
  softmax,
  square,
  stack,
  tensor,
  tensor1d,
  tidy,
  transpose,
  unstack,
} from "@tensorflow/tfjs-core";

const EPSILON = 2 ** -23; // of float32; keeps a vector of zeros from being divided by 0
const FEW = 8; // for more places, the engine multiplies matrices one by one faster than a batch of them

/** The weights of a model in the engine's memory, as `Decoder` wants them. */
export function placed({ settings, weights }) {
  const heads = Number(settings.heads);
  const of = ({ shape, numbers }) => tensor(numbers, shape);
  const columns = (name) => transpose(of(weights[name])); // so that y = x @ matrix
  return tidy(() => ({
    embedding: of(weights.embedding),
    norm: of(weights.norm),
    head: columns("head"),
    layers: Array.from({ length: Number(settings.layers) }, (_, number) => {
      const name = (its) => `layers.${number}.${its}`;
      const [q, k] = ["norm_q", "norm_k"].map((its) => of(weights[name(its)]));
      const size = q.shape[0];
      const gains = [mul(q, size ** -0.5), k].flatMap((each) => Array(heads).fill(gather(each, inHalves(size))));
      return {
        norm1: of(weights[name("norm1")]),
        norm2: of(weights[name("norm2")]),
        qkv: gather(columns(name("qkv")), columnsInHalves(heads, size), 1),
        gains: stack(gains),
        ...Object.fromEntries(["out", "widen", "narrow"].map((its) => [its, columns(name(its))])),
      };
    }),
  }));
}

/** The pairs of RoPE, beside each other in a file, here stand in two halves: 0 2 4 ... 1 3 5 ... */
const halves = (size) => Array.from({ length: size }, (_, at) => (at < size / 2 ? 2 * at : 2 * at - size + 1));
const inHalves = (size) => tensor1d(halves(size), "int32");

/** That within each head of the queries and of the keys; the values stay. */
function columnsInHalves(heads, size) {
  const of = (head) => (head < 2 * heads ? halves(size) : [...Array(size).keys()]).map((at) => head * size + at);
  return tensor1d(Array.from({ length: 3 * heads }, (_, head) => of(head)).flat(), "int32");
}

export class Decoder {
  #weights;
  #doors;
  #heads;
  #memory = []; // of each layer: queries, keys, values, each (heads, length, head_dim)
  length = 0;

  /** @param weights of `placed`, @param doors of `doorsOf`. */
  constructor({ heads }, weights, doors) {
    [this.#weights, this.#doors, this.#heads] = [weights, doors, Number(heads)];
  }

  /** What speaks for each byte to come after each of these, which come after all before: (count, 256). */
  extend(bytes) {
    const [from, count] = [this.length, bytes.length];
    const { logits, memory } = tidy(() => {
      let x = gather(this.#weights.embedding, tensor1d([...bytes], "int32"));
      const added = this.#doors.add(from, count);
      if (added) x = add(x, tensor(added, x.shape)); // the first door
      const bias = tensor(this.#doors.bias(from, count), [this.#heads, count, from + count]);
      const memory = [];
      this.#weights.layers.forEach((its, layer) => {
        const now = this.#projected(layer, mul(even(x), its.norm1), from);
        memory.push(now.map((each, kind) => (from ? concat([this.#memory[layer][kind], each], 1) : each)));
        const [, keys, values] = memory.at(-1);
        const found = transpose(attention(now[0], keys, values, bias), [1, 0, 2]);
        x = add(x, matMul(reshape(found, x.shape), its.out));
        const wide = square(relu(matMul(mul(even(x), its.norm2), its.widen)));
        x = add(x, matMul(wide, its.narrow));
      });
      return { logits: matMul(mul(even(x), this.#weights.norm), this.#weights.head), memory };
    });
    dispose(this.#memory);
    this.#memory = memory;
    this.length += count;
    return logits;
  }

  /** Queries, keys and values of what is read now, each (heads, count, head_dim). */
  #projected(layer, x, from) {
    const its = this.#weights.layers[layer];
    const [count, size] = [x.shape[0], its.gains.shape[1]];
    const projected = reshape(matMul(x, its.qkv), [count, 3 * this.#heads, size]);
    const both = [count, 2 * this.#heads, size];
    let turning = mul(even(slice(projected, 0, both)), its.gains);
    const turns = this.#doors.turns(layer, from, count);
    if (turns) turning = turns.keys ? separately(turning, turns, this.#heads) : turned(turning, turns); // the second door
    const inOrder = transpose(turning, [1, 0, 2]);
    const each = [this.#heads, count, size];
    const values = slice(projected, [0, 2 * this.#heads, 0], [count, this.#heads, size]);
    return [slice(inOrder, 0, each), slice(inOrder, [this.#heads, 0, 0], each), transpose(values, [1, 0, 2])];
  }

  /** Forget all but the first bytes. */
  rewind(length) {
    if (length >= this.length) return;
    const short = tidy(() =>
      this.#memory.map((kinds) => kinds.map((each) => slice(each, 0, [each.shape[0], length, each.shape[2]]))),
    );
    dispose(this.#memory);
    [this.#memory, this.length] = [length ? short : [], length];
    if (!length) dispose(short);
  }

  /** How a head shares out the attention of the byte at this place: a number for it and each before it. */
  attention(layer, head, place) {
    return tidy(() => softmax(this.#scored(layer, head, place)).dataSync());
  }

  /** The scores that these shares are made of. */
  scores(layer, head, place) {
    return tidy(() => this.#scored(layer, head, place).dataSync());
  }

  #scored(layer, head, place) {
    const [queries, keys] = this.#memory[layer];
    const size = keys.shape[2];
    const bias = tensor(this.#doors.bias(place, 1), [this.#heads, 1, place + 1]);
    const [query, past] = [
      slice(queries, [head, place, 0], [1, 1, size]),
      slice(keys, [head, 0, 0], [1, place + 1, size]),
    ];
    return scored(query, past, slice(bias, [head, 0, 0], [1, 1, place + 1]));
  }

  dispose() {
    dispose(this.#memory);
    this.#memory = [];
  }
}

/** Each head's mixture of the values. */
function attention(queries, keys, values, bias) {
  if (queries.shape[1] <= FEW) return matMul(shares(queries, keys, bias), values);
  const [q, k, v, b] = [queries, keys, values, bias].map((each) => unstack(each));
  return stack(q.map((each, head) => matMul(shares(each, k[head], b[head]), v[head])));
}

/** Of the attention of each query, what each key gets. */
const shares = (queries, keys, bias) => softmax(scored(queries, keys, bias));

/** The score of each key; the third door. */
function scored(queries, keys, bias) {
  const last = keys.rank - 1;
  const upright = transpose(keys, last === 2 ? [0, 2, 1] : [1, 0]);
  return add(matMul(queries, upright), bias);
}

/** Each vector at a root mean square of 1. */
const even = (x) => mul(x, rsqrt(add(mean(square(x), -1, true), EPSILON)));

/** Queries by one set of angles, keys by another. */
function separately(x, { cos, sin, keys }, heads) {
  const [count, , size] = x.shape;
  const half = (begin) => slice(x, [0, begin, 0], [count, heads, size]);
  return concat([turned(half(0), { cos, sin }), turned(half(heads), keys)], 1);
}

/** (count, heads, size), each pair by the angles of its place. */
function turned(x, { cos, sin }) {
  const [count, heads, size] = x.shape;
  const half = [count, heads, size / 2];
  const twice = (each) => tensor(each, [count, 1, size]);
  const swapped = concat([slice(x, [0, 0, size / 2], half), slice(x, 0, half)], 2);
  return add(mul(x, twice(cos)), mul(swapped, twice(sin)));
}
