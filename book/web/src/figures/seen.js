// Past the trained length: which rows of a learned table were learned, and which angles of each clock were seen.
import { number, say } from "../words.js";
import { words } from "../words-figures.js";
import { frequencies } from "./numbers.js";
import { circle, line, path, scale, sector, text, ticks } from "./svg.js";

const own = words.seen;
const FARTHEST = 256;
const TOP = { height: 128, middle: 66, bar: 13 };
const CELL = 112; // height of a clock with its words

export const plays = { setting: "length", perSecond: 6 };

/** Of each clock: the turns that training made, at most one, and the part of the circle that is new, in turns. */
export const arcs = ({ trained, length, dim }) =>
  frequencies(dim, 10000).map((rate) => {
    const upTo = (count) => Math.min(((count - 1) * rate) / (2 * Math.PI), 1);
    return { seen: upTo(trained), fresh: Math.max(upTo(length) - upTo(trained), 0) };
  });

const onStrip = (width) => scale({ from: 0, to: FARTHEST }, 26, width - 26);

export function draw(values, width) {
  const clocks = arcs(values);
  const columns = Math.min(clocks.length, width < 520 ? 4 : 8);
  const cell = width / columns;
  const radius = Math.min(cell * 0.36, 28);
  const faces = clocks.map((clock, pair) =>
    face(
      cell * ((pair % columns) + 0.5),
      TOP.height + 44 + radius + CELL * Math.floor(pair / columns),
      radius,
      pair,
      clock,
    ),
  );
  const rows = Math.ceil(clocks.length / columns);
  return { height: TOP.height + 24 + CELL * rows, drawing: strip(values, width) + faces.join("") };
}

/** The rows of a learned table, side by side, up to the length of the text. */
function strip({ trained, length }, width) {
  const [x] = onStrip(width);
  const { middle, bar } = TOP;
  const box = (from, to, look) =>
    path(
      [
        [x(from), middle - bar],
        [x(to), middle - bar],
        [x(to), middle + bar],
        [x(from), middle + bar],
        [x(from), middle - bar],
      ],
      look,
    );
  const mark = (at, side, words) =>
    line(x(at), middle - bar - 6, x(at), middle + bar + 6, "ink") +
    circle(x(at), middle + side * 26, 7, side < 0 ? "fill blue" : "fill orange") +
    text(Math.min(Math.max(x(at), 64), width - 64), middle + (side < 0 ? -40 : 50), words);
  return [
    box(0, FARTHEST, "grey thin"),
    box(0, trained, "fill blue"),
    length > trained ? box(trained, length, "orange dashed") : "",
    ...ticks(0, FARTHEST, width / 90).map((t) => text(x(t), middle + 4, number(t))),
    mark(trained, -1, say(own.trainedAt, { trained: number(trained) })),
    mark(length, 1, say(own.lengthAt, { length: number(length) })),
  ].join("");
}

function face(x, y, radius, pair, { seen, fresh }) {
  const [from, to] = [2 * Math.PI * seen, 2 * Math.PI * (seen + fresh)];
  const share = fresh < 0.01 ? number(100 * fresh, 1) : number(Math.round(100 * fresh));
  return [
    text(x, y - radius - 9, say(own.pair, { pair: number(pair) })),
    circle(x, y, radius, "line grey thin"),
    sector(x, y, radius, 0, from, "fill blue faint"),
    sector(x, y, radius, 0, from, "blue thick", false),
    fresh > 0
      ? sector(x, y, radius, from, to, "fill orange faint") + sector(x, y, radius, from, to, "orange heavy", false)
      : "",
    text(x, y + radius + 17, seen >= 1 ? own.round : say(own.fresh, { share })),
  ].join("");
}

/** The ends of the training and of the text. */
export function handles({ trained, length }, width) {
  const [x, toX] = onStrip(width);
  const grip = (setting, at, side) => ({
    setting,
    way: "across",
    x: x(at),
    y: TOP.middle + side * 26,
    label: own.sliders[setting],
    text: number(at),
    pull: toX,
  });
  return [grip("trained", trained, -1), grip("length", length, 1)];
}

export function reading(values) {
  const { trained, length } = values;
  const clocks = arcs(values);
  return say(own.reading, {
    trained: number(trained),
    length: number(length),
    clocks: number(clocks.length),
    slow: number(clocks.filter(({ seen }) => seen < 1).length),
    fresh: number(clocks.filter(({ fresh }) => fresh > 0).length),
    rows: number(Math.max(length - trained, 0)),
  });
}
