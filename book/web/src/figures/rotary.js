import { decimals, number, say } from "../words.js";
import { words } from "../words-figures.js";
import { turnFrom } from "./handles.js";
import { dot, rotate } from "./numbers.js";
import { arrow, axes, circle, line, path, square, text, ticks } from "./svg.js";

const own = words.rotary;
const FARTHEST = 40; // difference of the two positions

/** One pair of a query and of a key, before they are turned. */
export const QUERY = [1.2, 0.4];
export const KEY = [0.6, 1.0];

/** The two pairs, turned by the positions at which they stand, and their score. */
export function turned({ query, key, shift, frequency }) {
  const vectors = [rotate(QUERY, query + shift, [frequency]), rotate(KEY, key + shift, [frequency])];
  return { query: vectors[0], key: vectors[1], score: dot(...vectors) };
}

export const plays = { setting: "shift", perSecond: 6 };

/** Where the circle and the axes of the wave stand. */
function layout(width) {
  const narrow = width < 560;
  const side = narrow ? Math.min(width, 300) : 290;
  const left = narrow ? (width - side) / 2 : 0;
  const box = narrow
    ? { left: 58, top: side + 16, right: width - 14, bottom: side + 210 }
    : { left: side + 68, top: 16, right: width - 14, bottom: side - 46 };
  return {
    circle: { left, side, x: left + side / 2, y: side / 2 - 12, scale: (side / 2 - 22) / 1.3 },
    box,
    height: narrow ? side + 258 : side,
  };
}

export function draw(values, width) {
  const { circle: place, box, height } = layout(width);
  return { height, drawing: plane(place, values) + wave(box, values).drawing };
}

function plane({ left, side, x, y, scale }, values) {
  const now = turned(values);
  const vector = (end, look) => arrow(x, y, scale * end[0], -scale * end[1], look);
  const start = (end, look) => line(x, y, x + scale * end[0], y - scale * end[1], `${look} dotted`);
  const name = (row, words, look) =>
    line(left + 8 + row * 90, side - 8, left + 34 + row * 90, side - 8, look) +
    text(left + 40 + row * 90, side - 4, words, "start");
  return [
    circle(x, y, 1.3 * scale, "line grey thin"),
    start(QUERY, "blue"),
    start(KEY, "orange"),
    vector(now.query, "blue thick"),
    vector(now.key, "orange thick dashed"),
    name(0, own.query, "blue thick"),
    name(1, own.key, "orange thick dashed"),
  ].join("");
}

function wave(box, { query, key, frequency }) {
  const score = (offset) => dot(QUERY, rotate(KEY, offset, [frequency]));
  const curve = Array.from({ length: 321 }, (_, i) => (i / 320) * 2 * FARTHEST - FARTHEST);
  const { x, y, toX, drawing } = axes(
    box,
    { from: -FARTHEST, to: FARTHEST, ticks: ticks(-FARTHEST, FARTHEST, 4), label: own.offset, show: number },
    { from: -1.5, to: 1.5, ticks: ticks(-1.5, 1.5, 6), label: own.score, show: number },
  );
  const [here, now] = [key - query, score(key - query)];
  const parts = [
    drawing,
    path(
      curve.map((offset) => [x(offset), y(score(offset))]),
      "green",
    ),
    square(x(here), y(now), 6, "fill purple"),
    text(x(here), y(now) - 12, decimals(now, 3)),
  ];
  return { x: x(here), y: y(now), toX, drawing: parts.join("") };
}

/** The two arrows, and the mark on the wave, which takes the key along. */
export function handles(values, width) {
  const { circle: place, box } = layout(width);
  const now = turned(values);
  const mark = wave(box, values);
  const { query, key, shift, frequency } = values;
  const turning = (setting, [a, b]) => ({
    setting,
    way: "turn",
    x: place.x + place.scale * a,
    y: place.y - place.scale * b,
    label: own.arrow[setting],
    text: say(own.arrowAt, { position: number(values[setting] + shift), score: decimals(now.score, 3) }),
    pull: (x, y) => values[setting] + turnFrom(Math.atan2(b, a), Math.atan2(place.y - y, x - place.x)) / frequency,
  });
  const sliding = {
    setting: "key",
    way: "across",
    x: mark.x,
    y: mark.y,
    label: own.mark,
    text: say(own.markAt, { offset: number(key - query), score: decimals(now.score, 3) }),
    pull: (x) => query + mark.toX(x),
  };
  return [turning("query", now.query), turning("key", now.key), sliding];
}

export function reading(values) {
  const { query, key, shift, frequency } = values;
  return say(own.reading, {
    query: number(query + shift),
    key: number(key + shift),
    queryAngle: number((query + shift) * frequency, 4),
    keyAngle: number((key + shift) * frequency, 4),
    offset: number(key - query),
    score: decimals(turned(values).score, 3),
  });
}
