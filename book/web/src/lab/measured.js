// What can be measured of a trained model whose positions may be told wrongly: { x, lines }, the line of the model and
// beside it that of the same model as it was trained.
import { Decoder } from "./decoder.js";
import { doorsOf } from "./doors.js";
import { Reading } from "./reading.js";
import { later, TREATMENTS } from "./treated.js";

const COLUMN = 24; // of what is added: a wave of some 35 positions, where it is a wave
const SHOWN = 320;
const HEAD = 1;
const ASKS = 400; // where the query stands: past 256, so that bfloat16 shows
const BACK = 40;
const WORD = "e".charCodeAt(0); // again and again: then a score hangs on the positions alone
const STARTS = [0, 1, 2, 5, 10, 20, 50, 100, 150];
const [PART, BLOCK] = [64, 32]; // bytes

const range = (count) => Array.from({ length: count }, (_, i) => i);
const mean = (numbers) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

/** Of a model with its `settings` and `weights`; `own` are those in the engine's memory, `bytes` a text to read. */
export async function measure(question, { own, settings, weights }, tables, treatment, bytes) {
  const { x, line } = MEASURED[question];
  const doors = (done) => doorsOf({ settings, weights }, tables, tables.readings?.none[1], done);
  const given = { settings, weights, own, doors, bytes };
  return { x, lines: [await line(given, TREATMENTS[treatment]), await line(given, TREATMENTS.nothing)] };
}

export const MEASURED = {
  added: {
    x: range(SHOWN),
    line({ settings, doors }, done) {
      const [dim, added] = [Number(settings.dim), doors(done).add(0, SHOWN)];
      return range(SHOWN).map((position) => added?.[position * dim + COLUMN] ?? 0);
    },
  },
  first: { x: range(BACK + 1), line: (given, done) => byDistance(given, done, 0) },
  last: { x: range(BACK + 1), line: (given, done) => byDistance(given, done, Number(given.settings.layers) - 1) },
  shift: {
    x: STARTS,
    async line({ settings, own, doors, bytes }, done) {
      const losses = (start) => lossesOf({ settings, own }, doors(later(done, start)), bytes.slice(0, PART));
      const found = [];
      for (const start of STARTS) found.push(mean((await losses(start)).slice(1)));
      return found;
    },
  },
  loss: {
    x: range(16).map((block) => block * BLOCK + BLOCK / 2),
    async line({ settings, own, doors, bytes }, done) {
      const found = await lossesOf({ settings, own }, doors(done), bytes);
      return range(16).map((block) => mean(found.slice(Math.max(block * BLOCK, 1), (block + 1) * BLOCK)));
    },
  },
};

/** Of a text that is one byte again and again: the score of keys so far back, in one head of a layer. */
function byDistance({ settings, own, doors }, done, layer) {
  const decoder = new Decoder(settings, own, doors(done));
  decoder.extend(Array(ASKS + 1).fill(WORD)).dispose();
  const scores = decoder.scores(layer, HEAD, ASKS);
  decoder.dispose();
  return range(BACK + 1).map((back) => scores[ASKS - back]);
}

/** In nats, of each byte; that of the first is no number. */
async function lossesOf({ settings, own }, doors, bytes) {
  const reading = new Reading(settings, own, doors);
  const found = [];
  for await (const piece of reading.read(bytes)) found.push(...piece.losses);
  reading.dispose();
  return found;
}
