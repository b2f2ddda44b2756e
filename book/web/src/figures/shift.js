// A step is a turn: each clock at a position, and the same clock some positions on.
import { decimals, number, say } from "../words.js";
import { words } from "../words-figures.js";
import { turnFrom } from "./handles.js";
import { frequencies } from "./numbers.js";
import { circle, line, sector, text } from "./svg.js";

const own = words.shift;
const DIM = 8;
const CELL = { height: 206, radius: 58, top: 30 };
const LATER = 0.72; // how long the hand of the later position is, so that both can be grasped

export const plays = { setting: "position", perSecond: 4 };

/** Of each clock: where its two hands stand, and the turn between them, by what the offset alone says. */
export const turns = ({ position, offset, base }) =>
  frequencies(DIM, base).map((rate) => ({
    rate,
    from: position * rate,
    to: (position + offset) * rate,
    cos: Math.cos(offset * rate),
    sin: Math.sin(offset * rate),
  }));

function dials(values, width) {
  const columns = width < 520 ? 2 : 4;
  const cell = width / columns;
  return turns(values).map((turn, pair) => ({
    ...turn,
    x: cell * ((pair % columns) + 0.5),
    y: CELL.height * Math.floor(pair / columns) + CELL.top + CELL.radius,
  }));
}

const tip = (x, y, angle, length) => [
  x + length * CELL.radius * Math.sin(angle),
  y - length * CELL.radius * Math.cos(angle),
];

export function draw(values, width) {
  const rows = width < 520 ? 2 : 1;
  return {
    height: CELL.height * rows + 24,
    drawing: dials(values, width).map(face).join("") + legend(CELL.height * rows + 14, values),
  };
}

function face({ x, y, from, to, cos, sin }, pair) {
  const radius = CELL.radius;
  const hand = (angle, length, look) => line(x, y, ...tip(x, y, angle, length), look);
  return [
    text(x, y - radius - 12, say(own.pair, { pair: number(pair) })),
    sector(x, y, LATER * radius, from, to, "fill orange faint"),
    circle(x, y, radius, "line grey"),
    line(x, y - 0.88 * radius, x, y - 1.12 * radius, "grey"),
    hand(from, 1, "blue thick"),
    hand(to, LATER, "orange thick dashed"),
    circle(...tip(x, y, from, 1), 6, "fill blue"),
    circle(...tip(x, y, to, LATER), 6, "fill orange"),
    text(x, y + radius + 26, `cos ${decimals(cos, 3)}`),
    text(x, y + radius + 44, `sin ${decimals(sin, 3)}`),
  ].join("");
}

const legend = (y, { position, offset }) =>
  line(8, y - 4, 34, y - 4, "blue thick") +
  text(40, y, say(own.at, { position: number(position) }), "start") +
  line(148, y - 4, 174, y - 4, "orange thick dashed") +
  text(180, y, say(own.at, { position: number(position + offset) }), "start");

/** A hand of the position moves both; a hand of the later one moves the offset. */
export function handles(values, width) {
  return dials(values, width).flatMap(({ x, y, rate, from, to }, pair) => {
    const grip = (setting, angle, length) => {
      const [tipX, tipY] = tip(x, y, angle, length);
      return {
        setting,
        way: "turn",
        x: tipX,
        y: tipY,
        label: say(own.hand[setting], { pair: number(pair) }),
        text: say(own.handAt, { position: number(values.position), offset: number(values.offset) }),
        pull: (toX, toY) => values[setting] + turnFrom(angle, Math.atan2(toX - x, y - toY)) / rate,
      };
    };
    return [grip("position", from, 1), grip("offset", to, LATER)];
  });
}

export function reading(values) {
  const { position, offset, base } = values;
  const [fast] = turns(values);
  return say(own.reading, {
    base: number(base),
    position: number(position),
    later: number(position + offset),
    offset: number(offset),
    angle: number(offset * fast.rate, 4),
    cos: decimals(fast.cos, 3),
    sin: decimals(fast.sin, 3),
  });
}
