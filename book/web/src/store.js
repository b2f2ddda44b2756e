// What a reader has done, kept in this browser and nowhere else.
//
// One record an exercise, a quiz question or a predict box, each under a key of its own, so that two tabs
// do not overwrite each other's work. A record is plain JSON:
//   "exercise" {code, answer, starter, mark, attempts, hints, passed, solutionShown}, id "<chapter>.<function>"
//   "quiz"     {chosen, right, tries, box, due, history},               id "<chapter>.<question>"
//   "prediction" {said, right, shown, text},                         id "<chapter>.<box>"
//   "cell"     {code, ran}, of a cell of a chapter that was changed,  id "<chapter>.<its place>"
//   "place"    {section, fragment}, where the chapter was left,         id "<chapter>"
//   "setting"  {early}, whether Python is loaded with the page,         id "python"
//              {on}, whether challenges run a clock,                    id "clock"
//   "challenge" {points, tries, seconds}, the best result,              id "<kind>:<seed>"
//   "certificate" {name, date, answers}, one that was made,             id its code
// `save` adds `updated`, an ISO time. Fields that a page does not know stay as they are.

const VERSION = 1; // of the records' shape, not of the site: a new site finds the old work
const PREFIX = `posenc:${VERSION}:`;
const UNREADABLE = "posenc:unreadable:";
const FORMAT = "posenc-progress";
const FIELDS = {
  exercise: {
    code: "string",
    answer: "string", // the code that passed last
    starter: "string",
    mark: "string", // of the starter, the same in every language
    attempts: "number",
    hints: "number",
    passed: "boolean",
    solutionShown: "boolean",
  },
  quiz: { chosen: "array", right: "boolean", tries: "number", box: "number", due: "date", history: "array" },
  prediction: { said: "string", right: "boolean", shown: "boolean" },
  cell: { code: "string", ran: "string" },
  place: { section: "string", fragment: "string" },
  setting: { early: "boolean", on: "boolean" },
  challenge: { points: "number", tries: "number", seconds: "number" },
  certificate: { name: "string", date: "string", answers: "object" },
};
const NEEDED = { prediction: ["said"], challenge: ["points"] }; // what no page can do without

const memory = new Map(); // what the browser would not store: lost when the page closes
const listeners = new Set();
const storage = openStorage();

/** Whether work outlives the page. It turns false when the browser refuses to store a record. */
export let available = takesMore();

/** The record, or undefined. */
export function load(kind, id) {
  return read(kind, keyOf(kind, id));
}

/** Keep this record in place of the old one; returns it as kept. */
export function save(kind, id, record) {
  const kept = { ...record, updated: new Date().toISOString() };
  write(keyOf(kind, id), kept);
  tell({ kind, id });
  return kept;
}

/** {id: record} of one kind. */
export function all(kind) {
  const start = keyOf(kind, "");
  const found = {};
  for (const key of keys().filter((each) => each.startsWith(start))) {
    const record = read(kind, key);
    if (record) found[key.slice(start.length)] = record;
  }
  return found;
}

/**
 * Call listener({kind, id}) after every change, in this tab or another; with neither when many changed at
 * once. Returns a function that ends it.
 */
export function onChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Everything, as one object to write to a file. */
export function exportAll() {
  const records = Object.fromEntries(Object.keys(FIELDS).map((kind) => [kind, all(kind)]));
  return { format: FORMAT, version: VERSION, exported: new Date().toISOString(), records };
}

/**
 * Add what an export holds. Of two records the one updated last stays, what was passed stays passed, and code that
 * was written here stays within reach; of two results of a challenge, the better one stays.
 * Returns {taken, kept, faulty}: how many records came in, how many here were as new, and the names of
 * those that could not be read. Throws an ImportProblem, and changes nothing, when it is no export at all.
 */
export function importAll(exported) {
  if (!isObject(exported) || exported.format !== FORMAT) throw new ImportProblem("foreign");
  if (!Number.isInteger(exported.version) || exported.version < 1) throw new ImportProblem("foreign");
  if (exported.version > VERSION) throw new ImportProblem("newer");
  if (!isObject(exported.records)) throw new ImportProblem("damaged");

  const result = { taken: 0, kept: 0, faulty: [] };
  for (const [kind, records] of Object.entries(exported.records)) {
    if (!Object.hasOwn(FIELDS, kind) || !isObject(records)) {
      result.faulty.push(kind);
      continue;
    }
    for (const [id, record] of Object.entries(records)) {
      if (isSound(kind, record)) result[takeIn(kind, id, record)] += 1;
      else result.faulty.push(`${kind} ${id}`);
    }
  }
  tell({});
  return result;
}

/** Why an import was refused: "foreign", "newer" or "damaged". */
export class ImportProblem extends Error {
  constructor(reason) {
    super(`the import was refused: ${reason}`);
    this.reason = reason;
  }
}

/** The code that passed: what was written since need not be right. An older record does not tell them apart. */
export const answerOf = (record) => record.answer ?? record.code;

/** Forget everything. */
export function clearAll() {
  for (const key of keys().filter((each) => each.startsWith(PREFIX) || each.startsWith(UNREADABLE))) {
    memory.delete(key);
    storage?.removeItem(key);
  }
  available = takesMore();
  tell({});
}

function takeIn(kind, id, record) {
  const here = load(kind, id);
  const [stays, goes] = here && !replaces(kind, record, here) ? [here, record] : [record, here];
  const passes = goes?.passed && !stays.passed;
  if (stays === here && !passes) return "kept";
  const mine = kind === "exercise" && stays === record ? writtenHere(here, record) : {};
  const won = passes && { passed: true, answer: answerOf(goes) };
  write(keyOf(kind, id), { ...stays, ...mine, ...won });
  return "taken";
}

/** What stays of the code of this exercise that gives way to a newer record: all of it, if nothing was written there. */
function writtenHere(here, record) {
  if (!isWritten(here) || here.code === record.code) return {};
  const { code, starter, mark } = here;
  return isWritten(record) ? { former: code } : { code, starter, ...(mark && { mark }) };
}

const isWritten = (each) => typeof each?.code === "string" && each.code !== each.starter;

/** The better result stays, of other records the newer one. */
function replaces(kind, record, here) {
  if (kind === "challenge") return isBetter(record, here);
  return Date.parse(record.updated) > Date.parse(here.updated);
}

/** Of two results of one challenge: more points, or as many in less time. */
export function isBetter(result, other) {
  if (result.points !== other.points) return result.points > other.points;
  return (result.seconds ?? Infinity) < (other.seconds ?? Infinity);
}

function isSound(kind, record) {
  return isReadable(kind, record) && hasType(record.updated, "date");
}

/** Whether pages can use it: a field of another type would stop them. */
function isReadable(kind, record) {
  if (!isObject(record)) return false;
  return Object.entries(FIELDS[kind]).every(([field, type]) =>
    record[field] == null ? !NEEDED[kind]?.includes(field) : hasType(record[field], type),
  );
}

function hasType(value, type) {
  if (type === "date") return typeof value === "string" && !Number.isNaN(Date.parse(value));
  return typeOf(value) === type;
}

function keyOf(kind, id) {
  if (!Object.hasOwn(FIELDS, kind)) {
    throw new TypeError(`kind is ${JSON.stringify(kind)}, and must be one of ${Object.keys(FIELDS).join(", ")}`);
  }
  return `${PREFIX}${kind}:${id}`;
}

function read(kind, key) {
  const text = memory.get(key) ?? storage?.getItem(key);
  if (text == null) return undefined;
  try {
    const record = JSON.parse(text);
    if (isReadable(kind, record)) return record;
  } catch {
    // no JSON: set aside below
  }
  setAside(key, text);
  return undefined;
}

function write(key, record) {
  const text = JSON.stringify(record);
  try {
    if (storage) {
      storage.setItem(key, text);
      memory.delete(key);
      return;
    }
  } catch {
    available = false; // the storage is full
  }
  memory.set(key, text);
}

function setAside(key, text) {
  try {
    storage.setItem(UNREADABLE + key, text);
    storage.removeItem(key);
    console.warn(`${key} could not be read, and was set aside as ${UNREADABLE + key}`);
  } catch {
    console.warn(`${key} could not be read`); // no room to set it aside
  }
}

function keys() {
  return [...new Set([...Object.keys(storage ?? {}), ...memory.keys()])];
}

function tell(change) {
  for (const listener of [...listeners]) listener(change);
}

function openStorage() {
  try {
    return window.localStorage;
  } catch {
    return null; // a private window, or a browser told to keep nothing
  }
}

/** What is full cannot take more, and can be read all the same. */
function takesMore() {
  try {
    storage.setItem("posenc:probe", "");
    storage.removeItem("posenc:probe");
    return true;
  } catch {
    return false;
  }
}

function isObject(value) {
  return typeOf(value) === "object";
}

function typeOf(value) {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

window.addEventListener("storage", (event) => {
  if (event.storageArea !== storage || (event.key !== null && !event.key.startsWith(PREFIX))) return;
  const [kind, ...id] = event.key?.slice(PREFIX.length).split(":") ?? [];
  tell(kind && id.length ? { kind, id: id.join(":") } : {});
});

// A page that comes back from the browser's memory has not heard of what changed meanwhile.
window.addEventListener("pageshow", ({ persisted }) => persisted && tell({}));
