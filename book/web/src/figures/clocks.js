import { decimals, number, say } from "../words.js";
import { words } from "../words-figures.js";
import { frequencies } from "./numbers.js";
import { circle, line, path, text } from "./svg.js";

const own = words.clocks;
const CELL = { height: 200, radius: 56, top: 30 };

/** What each clock shows: its angle in rad, and the hand's end (sine, cosine). */
export const hands = (position, dim, base = 10000) =>
  frequencies(dim, base).map((rate) => {
    const angle = position * rate;
    return { angle, sine: Math.sin(angle), cosine: Math.cos(angle) };
  });

export function draw({ position, dim }, width) {
  const clocks = hands(position, dim);
  const columns = Math.min(clocks.length, width < 520 ? 2 : 4);
  const cell = width / columns;
  const drawing = clocks.map((clock, pair) => {
    const x = cell * ((pair % columns) + 0.5);
    const y = CELL.height * Math.floor(pair / columns) + CELL.top + CELL.radius;
    return face(x, y, pair, clock);
  });
  return { height: CELL.height * Math.ceil(clocks.length / columns), drawing: drawing.join("") };
}

function face(x, y, pair, { angle, sine, cosine }) {
  const radius = CELL.radius;
  const turns = angle / (2 * Math.PI);
  return [
    text(x, y - radius - 12, say(own.pair, { pair: number(pair) })),
    swept(x, y, radius, turns % 1),
    circle(x, y, radius, "line grey"),
    line(x, y - 0.88 * radius, x, y - 1.12 * radius, "grey"),
    line(x, y, x + radius * sine, y - radius * cosine, "blue thick"),
    circle(x + radius * sine, y - radius * cosine, 5, "fill orange"),
    text(x, y + radius + 24, say(own.turns, { turns: number(turns, 3) })),
    text(x, y + radius + 42, `(${decimals(sine, 2)}, ${decimals(cosine, 2)})`),
  ].join("");
}

/** The way that the hand has come since its last pass at twelve. */
function swept(x, y, radius, part) {
  const steps = Math.max(Math.ceil(part * 60), 1);
  const rim = Array.from({ length: steps + 1 }, (_, i) => {
    const angle = (2 * Math.PI * part * i) / steps;
    return [x + radius * Math.sin(angle), y - radius * Math.cos(angle)];
  });
  return path([[x, y], ...rim], "fill blue faint");
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
    row: row(clocks).map((value) => decimals(value, 2)).join(", "),
  });
}

const row = (clocks) => clocks.flatMap(({ sine, cosine }) => [sine, cosine]);
