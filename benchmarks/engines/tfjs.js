// As the lab runs it.
import { setBackend, ready } from "@tensorflow/tfjs-core";
import { setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
import { Decoder, placed } from "../../book/web/src/lab/decoder.js";

export async function start() {
  setWasmPaths("/tfjs/");
  await setBackend("wasm");
  await ready();
}

export const load = ({ settings, weights }) => ({ settings, weights: placed({ settings, weights }) });

export class Reading {
  constructor({ settings, weights }, doors) {
    this.decoder = new Decoder(settings, weights, doors);
  }

  async extend(bytes) {
    const logits = this.decoder.extend(bytes);
    const found = await logits.data();
    logits.dispose();
    return found;
  }

  dispose() {
    this.decoder.dispose();
  }
}
