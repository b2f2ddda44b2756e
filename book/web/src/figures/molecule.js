// A molecule of the plane that is turned, moved and mirrored, and four ways to say where its atoms are.
import { decimals, number, say } from "../words.js";
import { words } from "../words-figures.js";
import { turnFrom } from "./handles.js";
import { axes, circle, line, path, square, text } from "./svg.js";

const own = words.molecule;
const ATOMS = [
  [-1, -0.5],
  [0.1, -0.7],
  [0.3, 0.4],
  [1.2, 0.6],
];
const REACH = { x: 4.5, y: 1.8 };
const ROW = 28;

export const plays = { setting: "turn", perSecond: 4 };

/** The atoms after a mirror, a turn about the origin, and a shift to the right, in this order. */
export function placed({ turn, across, mirror }) {
  const angle = (turn * Math.PI) / 180;
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  const [flipX, flipY] = [
    [1, 1],
    [-1, 1],
    [1, -1],
  ][mirror]; // 1: left for right, 2: up for down
  return ATOMS.map(([x, y]) => [flipX * x, flipY * y]).map(([x, y]) => [
    cosine * x - sine * y + across,
    sine * x + cosine * y,
  ]);
}

/** Where the first and the last atom are: coordinates, difference, distance, and the area with the second. */
export function told(values) {
  const [first, second, , last] = placed(values);
  const [a, b] = [0, 1].map((axis) => last[axis] - first[axis]);
  const [c, d] = [0, 1].map((axis) => second[axis] - first[axis]);
  return { coordinates: last, difference: [a, b], distance: [Math.hypot(a, b)], area: [(c * b - d * a) / 2] };
}

const START = told({ turn: 0, across: 0, mirror: 0 });
const ROWS = Object.keys(START);
/** Which of the four are what they were before anything moved. */
export const same = (values) =>
  Object.fromEntries(
    Object.entries(told(values)).map(([name, now]) => [
      name,
      now.every((each, i) => Math.abs(each - START[name][i]) < 1e-9),
    ]),
  );

function plane(width) {
  const [left, right] = [60, width - 12];
  const height = ((right - left) * REACH.y) / REACH.x;
  const box = { left, top: 10, right, bottom: 10 + height };
  const ticks = (reach) => Array.from({ length: 2 * Math.floor(reach) + 1 }, (_, i) => i - Math.floor(reach));
  const axis = (reach, label) => ({ from: -reach, to: reach, ticks: ticks(reach), label, show: number });
  return { box, ...axes(box, axis(REACH.x, own.x), axis(REACH.y, own.y)) };
}

const written = (values) =>
  values.length > 1 ? `(${values.map((each) => decimals(each, 2)).join(", ")})` : decimals(values[0], 2);

export function draw(values, width) {
  const { box, x, y, drawing } = plane(width);
  const bonds = (atoms, look) =>
    path(
      atoms.map(([a, b]) => [x(a), y(b)]),
      look,
    );
  const atoms = placed(values);
  const [first, second, , last] = atoms.map(([a, b]) => [x(a), y(b)]);
  const above = box.bottom + 62;
  const now = told(values);
  const kept = same(values);
  const rows = ROWS.flatMap((name, i) => [
    text(12, above + ROW * i, own[name], "start"),
    text(0.62 * width, above + ROW * i, written(now[name]), "middle", 'class="strong"'),
    text(width - 12, above + ROW * i, kept[name] ? own.same : own.changed, "end"),
    kept[name] ? "" : line(12, above + ROW * i + 7, width - 12, above + ROW * i + 7, "orange dashed"),
  ]);
  return {
    height: above + ROW * ROWS.length,
    drawing: [
      drawing,
      bonds(ATOMS, "grey dashed"),
      path([first, second, last, first], "fill blue faint"),
      bonds(atoms, "ink"),
      ...atoms.map(([a, b], i) =>
        i === 0
          ? square(x(a), y(b), 7, "fill orange")
          : circle(x(a), y(b), i === 3 ? 9 : 6, i === 3 ? "fill blue" : "fill grey"),
      ),
      text(first[0], first[1] + 24, own.first),
      text(last[0], last[1] - 16, own.last),
      ...rows,
    ].join(""),
  };
}

/** The last atom turns the molecule, the second moves it. */
export function handles(values, width) {
  const { x, y, toX, toY } = plane(width);
  const { turn, across } = values;
  const [, second, , last] = placed(values);
  const kept = same(values);
  const said = say(own.handleAt, {
    turn: number(turn),
    across: number(across),
    same:
      ROWS.filter((name) => kept[name])
        .map((name) => own[name])
        .join(", ") || own.none,
  });
  const angle = Math.atan2(last[1], last[0] - across);
  return [
    {
      setting: "turn",
      way: "turn",
      x: x(last[0]),
      y: y(last[1]),
      label: own.handle.turn,
      text: said,
      pull: (toHere, toThere) =>
        turn + (180 / Math.PI) * turnFrom(angle, Math.atan2(toY(toThere), toX(toHere) - across)),
    },
    {
      setting: "across",
      way: "across",
      x: x(second[0]),
      y: y(second[1]),
      label: own.handle.across,
      text: said,
      pull: (to) => across + toX(to) - second[0],
    },
  ];
}

export function reading(values) {
  const now = told(values);
  const kept = same(values);
  const list = (wanted) =>
    ROWS.filter((name) => kept[name] === wanted)
      .map((name) => own[name])
      .join(", ") || own.none;
  return say(values.mirror ? own.readingMirrored : own.reading, {
    turn: number(values.turn),
    across: number(values.across),
    coordinates: written(now.coordinates),
    distance: written(now.distance),
    area: written(now.area),
    same: list(true),
    changed: list(false),
  });
}
