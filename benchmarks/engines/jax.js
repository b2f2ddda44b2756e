// The same model in jax-js. It compiles a program for each shape: so what was read before lies in a place of
// a fixed length, and the bias hides what is not filled yet.
import { defaultDevice, init, jit, nn, numpy as np, tree } from "@jax-js/jax";

const EPSILON = 2 ** -23;
const ROOM = 1280; // keys of a reading that goes on
const HIDDEN = -1e9;

export async function start() {
  await init("wasm");
  defaultDevice("wasm");
}

export function load({ settings, weights }) {
  const array = ({ shape, numbers }) => np.array(numbers).reshape(shape);
  const layers = Array.from({ length: Number(settings.layers) }, () => ({}));
  const own = {};
  for (const [name, its] of Object.entries(weights)) {
    const [, layer, part] = name.match(/^layers\.(\d+)\.(.+)$/) ?? [];
    if (part) layers[layer][part] = array(its);
    else if (["embedding", "norm", "head"].includes(name)) own[name] = array(its);
  }
  const heads = Number(settings.heads);
  const size = Number(settings.dim) / heads;
  return { settings, weights: { ...own, layers }, run: jit((...given) => forward(heads, size, ...given)) };
}

function forward(heads, size, weights, tokens, { added, turns, bias, memory, place }) {
  const count = tokens.shape[0];
  let x = np.take(weights.embedding, tokens, 0).add(added);
  const kept = [];
  weights.layers.forEach((its, layer) => {
    const qkv = np.matmul(normed(x.ref, its.norm1), np.matrixTranspose(its.qkv));
    const [q, k, v] = np.split(qkv, 3, 1).map((each) => np.swapaxes(each.reshape([count, heads, size]), 0, 1));
    const query = turned(normed(q, its.norm_q), turns[layer]);
    let keys = turned(normed(k, its.norm_k), turns[layer]);
    let values = v;
    if (place) {
      const write = (before, now) => np.where(place.ref, now, before);
      keys = write(memory[layer].keys, keys);
      values = write(memory[layer].values, values);
    }
    const scores = np.matmul(query, np.matrixTranspose(keys.ref)).mul(size ** -0.5).add(bias.ref);
    const found = np.swapaxes(np.matmul(nn.softmax(scores, -1), values.ref), 0, 1).reshape([count, heads * size]);
    kept.push({ keys, values });
    x = x.add(np.matmul(found, np.matrixTranspose(its.out)));
    const wide = np.square(nn.relu(np.matmul(normed(x.ref, its.norm2), np.matrixTranspose(its.widen))));
    x = x.add(np.matmul(wide, np.matrixTranspose(its.narrow)));
  });
  bias.dispose();
  place?.dispose();
  tree.dispose(turns);
  return { logits: np.matmul(normed(x, weights.norm), np.matrixTranspose(weights.head)), kept };
}

function normed(x, gain) {
  const squares = np.mean(np.square(x.ref), -1, { keepdims: true }).add(EPSILON);
  return x.div(np.sqrt(squares)).mul(gain);
}

/** (heads, count, size): pairs beside each other. */
function turned(x, turn) {
  if (!turn.cos) return x;
  const [heads, count, size] = x.shape;
  const pairs = x.reshape([heads, count, size / 2, 2]);
  const [a, b] = [pairs.ref.slice([], [], [], 0), pairs.slice([], [], [], 1)];
  const first = a.ref.mul(turn.cos.ref).sub(b.ref.mul(turn.sin.ref));
  const second = a.mul(turn.sin.ref).add(b.mul(turn.cos.ref));
  return np.stack([first, second], -1).reshape([heads, count, size]);
}

export class Reading {
  constructor(model, doors) {
    Object.assign(this, model, { doors, length: 0, memory: null });
  }

  /** All at once from the beginning, then byte by byte. */
  async extend(bytes) {
    const [from, count] = [this.length, bytes.length];
    const dim = Number(this.settings.dim);
    const heads = Number(this.settings.heads);
    const added = this.doors.add(from, count) ?? new Float32Array(count * dim);
    const turns = this.weights.layers.map((_, layer) => {
      const its = this.doors.turns(layer, from, count);
      const half = (each) => np.array(each).reshape([count, 2, -1]).slice([], 1);
      return its ? { cos: half(its.cos), sin: half(its.sin) } : {};
    });
    const room = from ? ROOM : count;
    const bias = new Float32Array(heads * count * room).fill(HIDDEN);
    const told = this.doors.bias(from, count);
    for (let row = 0; row < heads * count; row++)
      bias.set(told.subarray(row * (from + count), (row + 1) * (from + count)), row * room);
    const given = {
      added: np.array(added).reshape([count, dim]),
      turns,
      bias: np.array(bias).reshape([heads, count, room]),
    };
    if (from) {
      given.memory = this.memory;
      given.place = np.arange(ROOM).reshape([ROOM, 1]).equal(from);
    }
    const { logits, kept } = this.run(tree.ref(this.weights), np.array([...bytes], { dtype: np.int32 }), given);
    this.memory = from ? kept : tree.map((each) => np.pad(each, [[0, 0], [0, ROOM - count], [0, 0]]), kept);
    this.length += count;
    return logits.data();
  }

  dispose() {
    tree.dispose(this.memory);
  }
}
