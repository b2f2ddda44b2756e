// TensorFlow.js with its WASM backend: benchmarks/results/pages/engines.json says why.

import { setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
import { ready, setBackend } from "@tensorflow/tfjs-core";

let started;

/** Start it, once. Its files lie beside the scripts (book/build.py), so that no other host is asked. */
export function start(folder = new URL("../engine/", import.meta.url).href) {
  started ??= begin(folder);
  return started;
}

async function begin(folder) {
  setWasmPaths(folder);
  if (!(await setBackend("wasm"))) throw new Error("WebAssembly does not start in this browser");
  await ready();
}
