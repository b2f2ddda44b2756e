// One engine in a worker, as the lab has it: how long it takes from nothing to a first result, and what it says.
import { read } from "../../book/web/src/lab/model-file.js";
import { doorsOf } from "../../book/web/src/lab/doors.js";
import * as engine from "engine";

const [WARM, WRITTEN] = [8, 64];

onmessage = async ({ data: { model, tables, turns, text } }) => {
  try {
    postMessage(await measured(model, tables, turns, text));
  } catch (error) {
    postMessage({ error: String(error.stack ?? error) });
  }
};

async function measured(address, tables, turns, text) {
  const buffer = await (await fetch(address)).arrayBuffer();
  const file = read(buffer);
  const doors = doorsOf(file, tables, turns);
  const found = {};
  let begun = performance.now();
  const since = () => {
    const took = (performance.now() - begun) / 1000;
    begun = performance.now();
    return took;
  };
  await engine.start();
  const model = await engine.load(file);
  found.start = since();
  for (const length of [256, 1024])
    for (const name of ["first", "again"]) {
      const reading = new engine.Reading(model, doors);
      since();
      const logits = await reading.extend(text.slice(0, length));
      found[`${name} ${length}`] = since();
      found[`logits ${length}`] = [...logits.slice(-256)];
      if (length === 1024 && name === "again") {
        let next = text[length];
        for (let at = 0; at < WARM + WRITTEN; at++) {
          if (at === WARM) since();
          const scores = await reading.extend([next]);
          next = scores.indexOf(Math.max(...scores));
        }
        found.written = WRITTEN / since();
      }
      reading.dispose();
    }
  return found;
}
