// Two tokens on a ruler, and what an added, a rotated and a biased encoding make of their score.
import { decimals, number, say } from "../words.js";
import { words } from "../words-figures.js";
import { dot, frequencies, rotate, sinusoidalTable } from "./numbers.js";
import { axes, circle, line, path, scale, square, text, ticks } from "./svg.js";

const own = words.ruler;
const DIM = 8;
const SLOPE = 1 / 16;
const REACH = 40; // positions within the phrase that both belong to
const FARTHEST = 100; // how far the phrase can be moved
const TOP = { height: 136, middle: 70, away: 34 };
const SCORES = { from: -4, to: 4 };
const LOOKS = { added: "blue", rotated: "orange", biased: "green" };

export const plays = { setting: "shift", perSecond: 8 };

/** Numbers that no model has learned: of size 1, and without a pattern that one would see. */
export const drawn = (seed, count) =>
  Array.from({ length: count }, (_, i) => Math.SQRT2 * Math.sin(seed + (i + 1) ** 2));

const matrix = (seed) => {
  const numbers = drawn(seed, DIM * DIM).map((value) => value / Math.sqrt(DIM));
  return Array.from({ length: DIM }, (_, row) => numbers.slice(DIM * row, DIM * (row + 1)));
};
const times = (rows, vector) => rows.map((row) => dot(row, vector));
const [W_Q, W_K] = [matrix(1), matrix(2)];
/** The vectors of the two words. */
const [ASKS, ASKED] = [drawn(3, DIM), drawn(4, DIM)];
const RATES = frequencies(DIM, 10000);
const TABLE = sinusoidalTable(FARTHEST + REACH + 1, DIM, 10000);
const row = (position) => TABLE.subarray(position * DIM, (position + 1) * DIM);
const plus = (vector, other) => vector.map((value, i) => value + other[i]);
const [PLAIN_QUERY, PLAIN_KEY] = [times(W_Q, ASKS), times(W_K, ASKED)];

const SCORE = {
  added: (i, j) => dot(times(W_Q, plus(ASKS, row(i))), times(W_K, plus(ASKED, row(j)))) / Math.sqrt(DIM),
  rotated: (i, j) => dot(rotate(PLAIN_QUERY, i, RATES), rotate(PLAIN_KEY, j, RATES)) / Math.sqrt(DIM),
  biased: (i, j) => dot(PLAIN_QUERY, PLAIN_KEY) / Math.sqrt(DIM) - SLOPE * Math.abs(i - j),
};
const DOORS = Object.keys(SCORE);

/** The score of the two words through each door. */
export const scores = ({ query, key, shift }) =>
  Object.fromEntries(DOORS.map((door) => [door, SCORE[door](query + shift, key + shift)]));

const onRuler = (width) => scale({ from: 0, to: FARTHEST + REACH }, 20, width - 20);

function boxes(width) {
  const top = TOP.height + 56;
  if (width < 560) {
    return DOORS.map((_, i) => ({ left: 58, top: top + 162 * i, right: width - 14, bottom: top + 90 + 162 * i }));
  }
  const each = (width - 62) / 3;
  return DOORS.map((_, i) => ({ left: 58 + each * i, top, right: 58 + each * (i + 1) - 22, bottom: top + 150 }));
}

export function draw(values, width) {
  const places = boxes(width);
  const narrow = width < 560; // one below the other
  const panels = DOORS.map((door, i) =>
    panel(places[i], door, values, { score: narrow || i === 0, moved: !narrow || i === 2 }),
  );
  return { height: places[2].bottom + 46, drawing: ruler(values, width) + panels.join("") };
}

function ruler({ query, key, shift }, width) {
  const [x] = onRuler(width);
  const { middle, away } = TOP;
  const [left, right] = [x(shift), x(shift + REACH)];
  const [at, other] = [x(query + shift), x(key + shift)];
  const inside = (point) => Math.min(Math.max(point, 34), width - 34); // room for the words
  return [
    path(
      [
        [left, middle - 12],
        [right, middle - 12],
        [right, middle + 12],
        [left, middle + 12],
      ],
      "fill purple faint",
    ),
    line(x(0), middle, x(FARTHEST + REACH), middle, "ink"),
    ...ticks(0, FARTHEST + REACH, width / 70).flatMap((t) => [
      line(x(t), middle - 4, x(t), middle + 4, "ink"),
      text(x(t), middle + 24, number(t)),
    ]),
    circle((left + right) / 2, middle, 6, "fill purple"),
    line(at, middle, at, middle - away, "blue"),
    circle(at, middle - away, 8, "fill blue"),
    text(inside(at), middle - away - 15, say(own.queryAt, { position: number(query + shift) })),
    line(other, middle, other, middle + away + 6, "orange dashed"),
    square(other, middle + away + 6, 8, "fill orange"),
    text(inside(other), middle + away + 30, say(own.keyAt, { position: number(key + shift) })),
  ].join("");
}

/** The score, as far as both can be moved together, and where it stands. */
function panel(box, door, values, label) {
  const { x, y, drawing } = axes(
    box,
    { from: 0, to: FARTHEST, ticks: ticks(0, FARTHEST, 4), label: label.moved ? own.moved : "" },
    {
      ...SCORES,
      ticks: ticks(SCORES.from, SCORES.to, 4),
      label: label.score ? own.score : "",
      show: label.score ? number : () => "",
    },
  );
  const curve = Array.from({ length: FARTHEST + 1 }, (_, shift) => [x(shift), y(scores({ ...values, shift })[door])]);
  const now = scores(values)[door];
  return [
    drawing,
    text(box.left, box.top - 26, own[door], "start"),
    text(box.left, box.top - 8, decimals(now, 3), "start", 'class="strong"'),
    path(curve, LOOKS[door]),
    square(x(values.shift), y(now), 6, "fill purple"),
  ].join("");
}

/** Each token moves alone, and the phrase with both. */
export function handles(values, width) {
  const [x, toX] = onRuler(width);
  const { query, key, shift } = values;
  const said = scores(values);
  const text = say(own.handleAt, {
    query: number(query + shift),
    key: number(key + shift),
    ...Object.fromEntries(DOORS.map((door) => [door, decimals(said[door], 3)])),
  });
  const grip = (setting, at, y, pull) => ({
    setting,
    way: "across",
    x: x(at),
    y,
    label: own.handle[setting],
    text,
    pull,
  });
  return [
    grip("query", query + shift, TOP.middle - TOP.away, (to) => toX(to) - shift),
    grip("key", key + shift, TOP.middle + TOP.away + 6, (to) => toX(to) - shift),
    grip("shift", shift + REACH / 2, TOP.middle, (to) => toX(to) - REACH / 2),
  ];
}

export function reading(values) {
  const said = scores(values);
  return say(own.reading, {
    query: number(values.query + values.shift),
    key: number(values.key + values.shift),
    offset: number(values.key - values.query),
    ...Object.fromEntries(DOORS.map((door) => [door, decimals(said[door], 3)])),
  });
}
