// FoX's bias under two gates, one for words and one for full stops, and ALiBi where they are the same.
import { number, powerOfTen, say } from "../words.js";
import { words } from "../words-figures.js";
import { axes, circle, dots, line, path, scale, ticks } from "./svg.js";

const own = words.gates;
const TOKENS = 24;
const SENTENCE = 6; // every so manieth token is a full stop
const LOWEST = -10; // a bias below this leaves no weight
const PLACES = { from: 0, to: TOKENS - 1 };

export const plays = { setting: "query", perSecond: 3 };

const range = (count) => Array.from({ length: count }, (_, i) => i);
const isStop = (token) => token % SENTENCE === SENTENCE - 1;

/** What is taken off each key up to the query, and the weights that are left where all contents are alike. */
export function forgotten({ word, stop, query }) {
  const bias = [0];
  for (let token = query; token > 0; token--) bias.unshift(bias[0] + Math.log(isStop(token) ? stop : word));
  const raised = bias.map(Math.exp);
  const sum = raised.reduce((a, b) => a + b);
  return { bias, weights: raised.map((each) => each / sum) };
}

const boxes = (width) =>
  width < 560
    ? [
        { left: 62, top: 12, right: width - 14, bottom: 200 },
        { left: 62, top: 262, right: width - 14, bottom: 450 },
      ]
    : [
        { left: 62, top: 12, right: width / 2 - 8, bottom: 240 },
        { left: width / 2 + 64, top: 12, right: width - 14, bottom: 240 },
      ];

export function draw(values, width) {
  const [left, right] = boxes(width);
  const { bias, weights } = forgotten(values);
  return { height: right.bottom + 46, drawing: fading(left, bias, values) + shares(right, weights, values) };
}

const across = { ...PLACES, ticks: ticks(0, TOKENS - 1, 5), label: own.key };

function fading(box, bias, { word, query }) {
  const { x, y, drawing } = axes(box, across, {
    from: LOWEST,
    to: 0,
    ticks: ticks(LOWEST, 0, 5),
    label: own.bias,
    show: number,
  });
  const slope = -Math.log(word);
  const reach = slope > 0 ? Math.min(query, -LOWEST / slope) : query;
  const seen = range(query + 1).filter((key) => bias[key] >= LOWEST);
  return [
    drawing,
    stops(x, box),
    path(
      [
        [x(query - reach), y(-slope * reach)],
        [x(query), y(0)],
      ],
      "purple dotted",
    ),
    path(
      seen.map((key) => [x(key), y(bias[key])]),
      "orange",
    ),
    dots(
      seen.map((key) => [x(key), y(bias[key])]),
      "orange",
    ),
    asks(x, query, box),
    circle(x(query), box.bottom - 24, 6, "fill purple"),
  ].join("");
}

function shares(box, weights, { query }) {
  const { x, y, drawing } = axes(box, across, {
    from: 0,
    to: 1,
    ticks: ticks(0, 1, 5),
    label: own.weight,
    show: number,
  });
  const bars = weights.map((weight, key) => line(x(key), y(0), x(key), y(weight), "blue heavy"));
  return drawing + stops(x, box) + bars.join("") + asks(x, query, box);
}

const stops = (x, box) =>
  range(TOKENS)
    .filter(isStop)
    .map((token) => line(x(token), box.top, x(token), box.bottom, "green thin dashed"))
    .join("");
const asks = (x, query, box) => line(x(query), box.top, x(query), box.bottom, "ink dotted");

/** The dotted line of the token that asks. */
export function handles({ query }, width) {
  const [box] = boxes(width);
  const [x, toX] = scale(PLACES, box.left, box.right);
  return [
    {
      setting: "query",
      way: "across",
      x: x(query),
      y: box.bottom - 24,
      label: own.line,
      text: say(own.lineAt, { query: number(query) }),
      pull: toX,
    },
  ];
}

export function reading(values) {
  const { word, stop, query } = values;
  const { bias, weights } = forgotten(values);
  const sentence = weights.filter((_, key) => Math.floor(key / SENTENCE) === Math.floor(query / SENTENCE));
  const told = word === stop ? own.same : own.reading;
  return say(told, {
    query: number(query),
    word: number(word),
    stop: number(stop),
    slope: number(Math.abs(Math.log(word)), 3), // of no gate at all: 0, and not −0
    first: small(Math.exp(bias[0])),
    own: number(100 * sentence.reduce((a, b) => a + b), 3),
  });
}

const small = (value) => (value < 1e-6 ? powerOfTen(Math.round(Math.log10(value))) : number(value, 3));
