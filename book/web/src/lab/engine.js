// TensorFlow.js with its WASM backend: benchmarks/results/pages/engines.json says why.

import { setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
import { ready, setBackend } from "@tensorflow/tfjs-core";

let started;

/** Start it, once. Its files lie beside the scripts (book/build.py), so that no other host is asked. */
export function start(folder = new URL("../engine/", import.meta.url).href) {
  if (!started) {
    started = begin(folder);
    started.catch(giveUp);
  }
  return started;
}

/** It cannot be started twice: the worker breaks down, and whoever asks again gets another (client.js). */
function giveUp(problem) {
  setTimeout(() => {
    throw problem;
  });
}

async function begin(folder) {
  setWasmPaths(folder);
  if (!(await setBackend("wasm"))) throw new Error("WebAssembly does not start in this browser");
  await ready();
}
