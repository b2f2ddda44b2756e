// A text past the trained length: what each pair has seen of its circle, and how far four rules lead it.
import { number, say } from "../words.js";
import { words } from "../words-figures.js";
import { turnFrom } from "./handles.js";
import { frequencies, linearScaling, ntkScaling, yarnScaling } from "./numbers.js";
import { circle, line, scale, sector, text } from "./svg.js";

const own = words.stretched;
const [DIM, BASE] = [128, 10000];
const PAIRS = [20, 46, 55, 63];
const [SHORTEST, LONGEST] = [1024, 2 ** 19];
const STRIP = 64; // where it lies
const TOP = 158; // of the first row of circles
const ROW = 132;
const SHORT_HAND = 0.62; // so that both ends can be grasped where they point the same way

export const plays = { setting: "factor", perSecond: 3 };

/** By rule, of each pair: how far it turned in training, how far in the text, in rad; by what it is slowed. */
export function turns({ trained, factor }) {
  const rates = frequencies(DIM, BASE);
  const rules = {
    plain: rates,
    linear: linearScaling(DIM, BASE, factor),
    ntk: ntkScaling(DIM, BASE, factor),
    yarn: yarnScaling(DIM, BASE, factor, trained),
  };
  const pairs = (rule) =>
    PAIRS.map((pair) => ({
      pair,
      seen: (trained - 1) * rates[pair],
      reached: (trained * factor - 1) * rule[pair],
      slowed: rates[pair] / rule[pair],
    }));
  return Object.fromEntries(Object.entries(rules).map(([name, rule]) => [name, pairs(rule)]));
}

/** The share of the circle that is new, in per cent. */
export function fresh({ seen, reached }) {
  const share = (angle) => Math.min(angle / (2 * Math.PI), 1);
  return Math.max(100 * (share(reached) - share(seen)), 0);
}

function dials(values, width) {
  const cell = width / 4;
  const radius = Math.min(0.34 * cell, 38);
  return Object.entries(turns(values)).flatMap(([rule, pairs], column) =>
    pairs.map((turn, row) => ({ ...turn, rule, radius, x: cell * (column + 0.5), y: TOP + ROW * row + radius })),
  );
}

const onStrip = (width) => scale({ from: SHORTEST, to: LONGEST, log: true }, 40, width - 40);
const tip = ({ x, y, radius }, angle, length) => [
  x + length * radius * Math.sin(angle),
  y - length * radius * Math.cos(angle),
];
/** Of the circles the one that can be dragged: the slowest pair, as nobody slowed it. */
const slowest = (values, width) => dials(values, width)[PAIRS.length - 1];

export function draw(values, width) {
  const all = dials(values, width);
  const heads = all.filter(({ pair }) => pair === PAIRS[0]).map(({ x, rule }) => text(x, TOP - 28, own[rule]));
  return {
    height: TOP + ROW * PAIRS.length - 18,
    drawing: strip(values, width) + heads.join("") + all.map(face).join("") + grasped(slowest(values, width)),
  };
}

/** The length of training and of the text, on an axis of powers. */
function strip({ trained, factor }, width) {
  const [x] = onStrip(width);
  const mark = (at, side, words) =>
    line(x(at), STRIP - 9, x(at), STRIP + 9, "ink") +
    circle(x(at), STRIP + side * 20, 7, side < 0 ? "fill blue" : "fill orange") +
    text(Math.min(Math.max(x(at), 70), width - 70), STRIP + (side < 0 ? -36 : 44), words);
  return [
    line(x(SHORTEST), STRIP, x(LONGEST), STRIP, "grey thin"),
    line(x(SHORTEST), STRIP, x(trained), STRIP, "blue thick"),
    line(x(trained), STRIP, x(trained * factor), STRIP, "orange heavy dashed"),
    mark(trained, -1, say(own.trainedAt, { trained: number(trained) })),
    mark(trained * factor, 1, say(own.lengthAt, { length: number(trained * factor) })),
  ].join("");
}

function face(dial) {
  const { x, y, radius, pair, seen, reached, slowed } = dial;
  return [
    text(x, y - radius - 7, say(own.pair, { pair: number(pair) })),
    circle(x, y, radius, "line grey thin"),
    sector(x, y, radius, 0, seen, "fill blue faint"),
    sector(x, y, radius, 0, seen, "blue thick", false),
    seen < 2 * Math.PI && reached > seen
      ? sector(x, y, radius, seen, Math.min(reached, 2 * Math.PI), "orange heavy dashed", false)
      : "",
    line(x, y, ...tip(dial, reached, SHORT_HAND), "ink"),
    text(x, y + radius + 17, say(own.fresh, { share: number(Math.round(fresh(dial))) })),
    text(x, y + radius + 34, say(own.slowed, { by: number(slowed, 3) })),
  ].join("");
}

const grasped = (dial) =>
  circle(...tip(dial, dial.seen, 1), 6, "fill blue") + circle(...tip(dial, dial.reached, SHORT_HAND), 6, "fill orange");

/** The two lengths, on the strip and as the angles of the slowest pair. */
export function handles(values, width) {
  const { trained, factor } = values;
  const [x, toX] = onStrip(width);
  const dial = slowest(values, width);
  const rate = dial.seen / (trained - 1);
  const told = {
    trained: say(own.trainedAt, { trained: number(trained) }),
    factor: say(own.lengthAt, { length: number(trained * factor) }),
  };
  const end = (setting, at, side, pull) => ({
    setting,
    way: "across",
    x: x(at),
    y: STRIP + side * 20,
    label: own.end[setting],
    text: told[setting],
    pull: (to) => pull(toX(to)),
  });
  const hand = (setting, angle, length, perStep) => {
    const [tipX, tipY] = tip(dial, angle, length);
    return {
      setting,
      way: "turn",
      x: tipX,
      y: tipY,
      label: own.hand[setting],
      text: told[setting],
      pull: (toX, toY) => values[setting] + turnFrom(angle, Math.atan2(toX - dial.x, dial.y - toY)) / perStep,
    };
  };
  return [
    end("trained", trained, -1, (length) => length),
    end("factor", trained * factor, 1, (length) => length / trained),
    hand("trained", dial.seen, 1, rate),
    hand("factor", dial.reached, SHORT_HAND, rate * trained),
  ];
}

export function reading(values) {
  const { trained, factor } = values;
  const found = turns(values);
  const share = (rule) => number(Math.round(Math.max(...found[rule].map(fresh))));
  const slowed = (rule) => number(found[rule][0].slowed, 3);
  return say(own.reading, {
    trained: number(trained),
    length: number(trained * factor),
    plain: share("plain"),
    linear: share("linear"),
    ntk: share("ntk"),
    yarn: share("yarn"),
    slowedLinear: slowed("linear"),
    slowedNtk: slowed("ntk"),
    slowedYarn: slowed("yarn"),
    first: number(PAIRS[0]),
  });
}
