// The same model as a graph of ONNX, in onnxruntime-web. benchmarks/engines.py makes the graph, whose weights
// are those of one model; what the doors give goes in as numbers.
import * as ort from "onnxruntime-web/wasm";

export async function start() {
  ort.env.wasm.wasmPaths = "/ort/";
  ort.env.wasm.numThreads = 1; // a page without cross-origin isolation has one
}

export async function load({ settings }) {
  const { encoding } = settings;
  return { settings, session: await ort.InferenceSession.create(`/onnx/${encoding}.onnx`) };
}

export class Reading {
  constructor({ settings, session }, doors) {
    Object.assign(this, { session, doors, length: 0 });
    [this.dim, this.heads, this.layers] = ["dim", "heads", "layers"].map((name) => Number(settings[name]));
    const size = this.dim / this.heads;
    const empty = () => new ort.Tensor("float32", new Float32Array(0), [this.layers, this.heads, 0, size]);
    this.memory = { keys: empty(), values: empty() };
  }

  async extend(bytes) {
    const [from, count, size] = [this.length, bytes.length, this.dim / this.heads];
    const floats = (numbers, shape) => new ort.Tensor("float32", numbers, shape);
    const turns = this.doors.turns(0, from, count);
    const still = new Float32Array((count * size) / 2);
    const half = (each) => Float32Array.from({ length: (count * size) / 2 }, (_, at) => each[2 * at - (at % (size / 2)) + size / 2]);
    const found = await this.session.run({
      tokens: new ort.Tensor("int64", BigInt64Array.from(bytes, BigInt), [count]),
      added: floats(this.doors.add(from, count) ?? new Float32Array(count * this.dim), [count, this.dim]),
      cos: floats(turns ? half(turns.cos) : still.map(() => 1), [count, size / 2]),
      sin: floats(turns ? half(turns.sin) : still, [count, size / 2]),
      bias: floats(this.doors.bias(from, count), [this.heads, count, from + count]),
      keys: this.memory.keys,
      values: this.memory.values,
    });
    this.memory = { keys: found.all_keys, values: found.all_values };
    this.length += count;
    return found.logits.data;
  }

  dispose() {}
}
