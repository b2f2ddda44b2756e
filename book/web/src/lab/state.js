// What the lab shows, and the link to it: the text, how much of it, two models, and where one looks.
import { number } from "../words.js";
import { words } from "../words-lab.js";

export const [SHORTEST, MOST, STEP, DEPTH] = [16, 2048, 16, 4]; // bytes to read; layers, and heads in each
const MARK = "#lab?";
const plain = (model) => ({ model, rule: "none", factor: "1" });
const yarn = { model: "rope", rule: "yarn", factor: "4" };

/** How it starts: { text, own, length, a, b, layer, head, at }; `text` is the key of one that is given, or "". */
export const START = {
  text: "python",
  own: "",
  length: 256,
  a: plain("rope"),
  b: plain("alibi"),
  layer: 2,
  head: 3,
  at: 200,
};

/** What else a button puts there. */
export const PRESETS = {
  trained: {},
  longer: { length: MOST },
  yarn: { length: MOST, b: yarn },
  again: { text: "again", length: MOST },
};

/** Of these, the preset that stands there now. */
export const presetOf = (state) => Object.keys(PRESETS).find((name) => what(presented(name)) === what(state));
export const presented = (name) => ({ ...START, ...PRESETS[name] });

const kindOf = ({ model, rule, factor }) => (rule === "none" ? model : [model, rule, factor].join("."));
const what = ({ text, own, length, a, b }) => JSON.stringify([text, text ? "" : own, length, kindOf(a), kindOf(b)]);

export function linkTo({ text, own, length, a, b, layer, head, at }) {
  const told = new URLSearchParams({
    ...(text ? { text } : { own }),
    length: String(length),
    a: kindOf(a),
    b: kindOf(b),
  });
  for (const [name, value] of Object.entries({ layer: layer + 1, head: head + 1, at })) told.set(name, String(value));
  return MARK + told;
}

export class BadLink extends Error {}

export const isLink = (hash) => hash.startsWith(MARK);

/**
 * The state that a link tells; what it leaves out is as at the start.
 *
 * @param {string} hash
 * @param {string[]} texts keys of those that are given
 * @param {Record<string, any>} models what there is, from models.json
 * @throws a BadLink that says in words what the link must not say
 */
export function stateOf(hash, texts, models) {
  const told = new URLSearchParams(hash.slice(MARK.length));

  function chosen(name, value, allowed) {
    if (allowed.includes(value)) return value;
    throw new BadLink(words.badLink(name, value, allowed.join(", ")));
  }

  function counted(name, from, to, step, otherwise) {
    const value = Number(told.get(name) ?? otherwise);
    if (value >= from && value <= to && value % step === 0) return value;
    const allowed =
      step > 1 ? words.multiple(number(step), number(from), number(to)) : words.whole(number(from), number(to));
    throw new BadLink(words.badLink(name, told.get(name), allowed));
  }

  function kind(name) {
    const [model, rule = "none", factor] = (told.get(name) ?? kindOf(START[name])).split(".");
    const { readings = { none: { 1: {} } } } = models[chosen(name, model, Object.keys(models))];
    const factors = Object.keys(readings[chosen(name, rule, Object.keys(readings))]);
    return { model, rule, factor: chosen(name, factor ?? factors[0], factors) };
  }

  const own = told.get("own");
  if (own === "") throw new BadLink(words.badLink("own", own, words.someText));
  const length = counted("length", SHORTEST, MOST, STEP, START.length);
  return {
    text: own === null ? chosen("text", told.get("text") ?? START.text, texts) : "",
    own: own ?? "",
    length,
    a: kind("a"),
    b: kind("b"),
    layer: counted("layer", 1, DEPTH, 1, START.layer + 1) - 1,
    head: counted("head", 1, DEPTH, 1, START.head + 1) - 1,
    at: counted("at", 0, length - 1, 1, Math.min(START.at, length - 1)),
  };
}
