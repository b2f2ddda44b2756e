import { decimals, number, say } from "../words.js";
import { words } from "../words-figures.js";
import { turnFrom } from "./handles.js";
import { frequencies } from "./numbers.js";
import { circle, line, sector, text } from "./svg.js";

const own = words.clocks;
const CELL = { height: 200, radius: 56, top: 30 };

/** What each clock shows: its angle in rad, and the hand's end (sine, cosine). */
export const hands = (position, dim, base = 10000) =>
  frequencies(dim, base).map((rate) => {
    const angle = position * rate;
    return { angle, sine: Math.sin(angle), cosine: Math.cos(angle) };
  });

export const plays = { setting: "position", perSecond: 4 };

/** Each clock and the middle of its face. */
function dials({ position, dim }, width) {
  const clocks = hands(position, dim);
  const columns = Math.min(clocks.length, width < 520 ? 2 : 4);
  const cell = width / columns;
  const middles = clocks.map((clock, pair) => ({
    ...clock,
    x: cell * ((pair % columns) + 0.5),
    y: CELL.height * Math.floor(pair / columns) + CELL.top + CELL.radius,
  }));
  return { dials: middles, height: CELL.height * Math.ceil(clocks.length / columns) };
}

export function draw(values, width) {
  const { dials: all, height } = dials(values, width);
  return { height, drawing: all.map(face).join("") };
}

function face({ x, y, angle, sine, cosine }, pair) {
  const radius = CELL.radius;
  const turns = angle / (2 * Math.PI);
  return [
    text(x, y - radius - 12, say(own.pair, { pair: number(pair) })),
    sector(x, y, radius, 0, angle % (2 * Math.PI), "fill blue faint"), // the way since its last pass at twelve
    circle(x, y, radius, "line grey"),
    line(x, y - 0.88 * radius, x, y - 1.12 * radius, "grey"),
    line(x, y, x + radius * sine, y - radius * cosine, "blue thick"),
    circle(x + radius * sine, y - radius * cosine, 6, "fill orange"),
    text(x, y + radius + 24, say(own.turns, { turns: number(turns, 3) })),
    text(x, y + radius + 42, `(${decimals(sine, 2)}, ${decimals(cosine, 2)})`),
  ].join("");
}

/** Every hand can be dragged: it takes the position along, and so all other hands. */
export function handles(values, width) {
  const rates = frequencies(values.dim, 10000);
  return dials(values, width).dials.map(({ x, y, angle, sine, cosine }, pair) => ({
    setting: "position",
    way: "turn",
    x: x + CELL.radius * sine,
    y: y - CELL.radius * cosine,
    label: say(own.hand, { pair: number(pair) }),
    text: say(own.handAt, { position: number(values.position), turns: number(angle / (2 * Math.PI), 3) }),
    pull: (toX, toY) => values.position + turnFrom(angle, Math.atan2(toX - x, y - toY)) / rates[pair],
  }));
}

export function reading({ position, dim }) {
  const clocks = hands(position, dim);
  const turns = (clock) => number(clock.angle / (2 * Math.PI), 3);
  return say(own.reading, {
    position: number(position),
    dim: number(dim),
    pairs: number(dim / 2),
    fast: turns(clocks[0]),
    slow: turns(clocks.at(-1)),
    row: row(clocks)
      .map((value) => decimals(value, 2))
      .join(", "),
  });
}

const row = (clocks) => clocks.flatMap(({ sine, cosine }) => [sine, cosine]);
