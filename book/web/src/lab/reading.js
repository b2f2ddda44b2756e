// A text as a model reads it: how surprised it was by each byte, what it looked at, and what it writes on.

import { generator } from "../random.js";
import { Decoder } from "./decoder.js";

const CHUNK = 256; // bytes that are read at once
const SIGNS = 256;

export class Reading {
  #decoder;
  #read = []; // bytes
  #logs = []; // of each byte: the logarithms of the shares that the model gave to every byte to come after it

  /** @param own the weights in the engine's memory, of `placed`. */
  constructor(settings, own, doors) {
    this.#decoder = new Decoder(settings, own, doors);
  }

  /** Read a text. Yields { from, losses } of its bytes, in nats: first of those that it has read before. */
  async *read(bytes) {
    const same = agreeing(this.#read, bytes);
    if (same < bytes.length) this.#keep(same);
    yield { from: 0, losses: this.losses(0, same) };
    for (let from = this.#read.length; from < bytes.length; from += CHUNK) {
      await this.#extend(bytes.slice(from, from + CHUNK));
      yield { from, losses: this.losses(from, Math.min(from + CHUNK, bytes.length)) };
    }
  }

  /** How surprised the model was by these bytes; the first comes without a guess. */
  losses(from, to) {
    return Float32Array.from({ length: to - from }, (_, at) =>
      from + at ? -this.#logs[from + at - 1][this.#read[from + at]] : NaN,
    );
  }

  /**
   * When the model guessed this byte: the attention of a head, and the likeliest bytes with their shares. Null where
   * it has not read so far.
   */
  look(layer, head, place) {
    if (place >= this.#read.length) return null;
    const logs = this.#logs[place - 1];
    const likeliest = [...logs.keys()].sort((a, b) => logs[b] - logs[a]).slice(0, 3);
    return {
      shares: this.#decoder.attention(layer, head, place - 1),
      guesses: likeliest.map((byte) => ({ byte, share: Math.exp(logs[byte]) })),
    };
  }

  /** Bytes that the model writes after these, without an end. The same seed draws the same. */
  async *write(bytes, temperature, seed) {
    for await (const _ of this.read(bytes));
    this.#keep(bytes.length);
    const { uniform } = generator(seed);
    for (;;) {
      const byte = drawn(this.#logs.at(-1), temperature, uniform());
      await this.#extend([byte]);
      yield byte;
    }
  }

  dispose() {
    this.#decoder.dispose();
  }

  async #extend(bytes) {
    const scores = this.#decoder.extend(bytes);
    const numbers = await scores.data();
    scores.dispose();
    this.#read.push(...bytes);
    bytes.forEach((_, row) => this.#logs.push(logShares(numbers.subarray(row * SIGNS, (row + 1) * SIGNS))));
  }

  #keep(length) {
    this.#decoder.rewind(length);
    this.#read.length = Math.min(length, this.#read.length);
    this.#logs.length = this.#read.length;
  }
}

/** How many bytes two texts begin with alike. */
function agreeing(one, other) {
  const differs = other.findIndex((byte, at) => byte !== one[at]);
  return differs < 0 ? other.length : differs;
}

function logShares(scores) {
  const most = Math.max(...scores);
  const total = scores.reduce((sum, each) => sum + Math.exp(each - most), 0);
  return scores.map((each) => each - most - Math.log(total));
}

/** One byte by lot; at temperature 0 the likeliest. */
function drawn(logs, temperature, chance) {
  const likeliest = logs.indexOf(Math.max(...logs));
  if (!temperature) return likeliest;
  const raised = logs.map((each) => Math.exp((each - logs[likeliest]) / temperature));
  let left = chance * raised.reduce((sum, each) => sum + each);
  const found = raised.findIndex((each) => (left -= each) < 0);
  return found < 0 ? likeliest : found; // rounding can leave a little
}
