// The models of the lab in a worker: the page stays quick while they read.
//   in:  {id, does: "list"}, {id, does: "load", model},
//        {id, does: "read", side, model, rule, factor, bytes},
//        {id, does: "look", side, layer, head, place}, done is null where that was not read yet,
//        {id, does: "measure", model, treatment, question, bytes}, of lab/measured.js,
//        {id, does: "write", side, bytes, temperature, seed, count}, {id, does: "stop", side}
//   out: {id, progress: {received, total}}, {id, piece}, and last {id, done} or {id, problem}
// A side does one thing at a time: what it is asked next ends what it reads or writes; that is done then, with
// `ended`. What it has read already stays.
import { Downloads } from "./download.js";
import { placed } from "./lab/decoder.js";
import { doorsOf } from "./lab/doors.js";
import { start } from "./lab/engine.js";
import { measure } from "./lab/measured.js";
import { read as readFile } from "./lab/model-file.js";
import { Reading } from "./lab/reading.js";

const FOLDER = new URL("../models/", import.meta.url);
const models = new Map(); // name -> a promise of {settings, weights, own}
const sides = new Map(); // name -> {key, reading, job, done}
let list; // a promise of models.json

self.onmessage = async ({ data: { id, does, ...given } }) => {
  const say = (more) => self.postMessage({ id, ...more });
  try {
    say({ done: (await DOES[does](given, say)) ?? null });
  } catch (error) {
    say({ problem: String(error?.message ?? error) });
  }
};

const DOES = {
  list: tables,
  load: ({ model }, say) => load(model, say).then(() => ({})),

  read({ side, model, rule, factor, bytes }, say) {
    return inTurn(side, async (its, goesOn) => {
      const { own, ...file } = await load(model, say);
      const key = [model, rule, factor].join();
      if (its.key !== key) {
        its.reading?.dispose();
        const told = (await tables())[model];
        const reading = new Reading(file.settings, own, doorsOf(file, told, told.readings?.[rule][factor]));
        Object.assign(its, { key, reading });
      }
      return tell(its.reading.read(bytes), say, goesOn);
    });
  },

  async measure({ model, treatment, question, bytes }, say) {
    const [file, told] = [await load(model, say), (await tables())[model]];
    return measure(question, file, told, treatment, bytes);
  },

  look: ({ side, layer, head, place }) => sides.get(side)?.reading?.look(layer, head, place),

  write({ side, bytes, temperature, seed, count }, say) {
    return inTurn(side, (its, goesOn) => tell(its.reading.write(bytes, temperature, seed), say, goesOn, count));
  },

  stop: ({ side }) => inTurn(side, () => ({})),
};

/** Work of a side, when what it is at has ended: which it does after its next piece. */
function inTurn(side, work) {
  const its = sides.get(side) ?? {};
  sides.set(side, its);
  const job = (its.job = Symbol(side));
  const goesOn = () => its.job === job;
  const done = Promise.resolve(its.done).then(() => (goesOn() ? work(its, goesOn) : { ended: true }));
  its.done = done.catch(() => {}); // who asked hears of it
  return done;
}

const HEARS_EVERY = 30; // ms: a timer for each byte would cost as much as the byte

/** Tell piece after piece, as long as nobody asks for something else. */
async function tell(pieces, say, goesOn, atMost = Infinity) {
  let told = 0;
  let heard = performance.now();
  for await (const piece of pieces) {
    if (!goesOn()) return { ended: true };
    say({ piece });
    if (++told >= atMost) break;
    if (performance.now() - heard < HEARS_EVERY) continue;
    await new Promise((resolve) => setTimeout(resolve)); // lets the page say something else
    heard = performance.now();
    if (!goesOn()) return { ended: true };
  }
  return { ended: false };
}

/** The list is asked for again where it did not come; so are the models. */
function tables() {
  list ??= new Downloads().get(new URL("models.json", FOLDER).href).then(async (file) => JSON.parse(await file.text()));
  list.catch(() => (list = undefined));
  return list;
}

function load(model, say) {
  if (!models.has(model)) {
    const coming = fetched(model, say);
    coming.catch(() => models.delete(model));
    models.set(model, coming);
  }
  return models.get(model);
}

async function fetched(model, say) {
  const name = `${model}.safetensors`;
  const sizes = { [name]: (await tables())[model].bytes };
  const downloads = new Downloads(sizes, (progress) => say({ progress }));
  const [file] = await Promise.all([downloads.get(new URL(name, FOLDER).href), start()]);
  const { settings, weights } = readFile(await file.arrayBuffer());
  return { settings, weights, own: placed({ settings, weights }) };
}
