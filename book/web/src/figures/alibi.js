import { number, powerOfTen, say } from "../words.js";
import { words } from "../words-figures.js";
import { alibiSlopes, powerOfTwoWithin } from "./numbers.js";
import { axes, circle, line, path, powers, scale, square, ticks } from "./svg.js";

const own = words.alibi;
const FARTHEST = 200; // positions
const DISTANCES = { from: 0, to: FARTHEST };
const LOWEST = -30; // a bias below this leaves no weight

export const plays = { setting: "distance", perSecond: 8 };

const boxes = (width) =>
  width < 560
    ? [
        { left: 62, top: 12, right: width - 14, bottom: 200 },
        { left: 62, top: 262, right: width - 14, bottom: 480 },
      ]
    : [
        { left: 62, top: 12, right: width / 2 - 8, bottom: 270 },
        { left: width / 2 + 64, top: 12, right: width - 14, bottom: 270 },
      ];

export function draw({ heads, distance }, width) {
  const [left, right] = boxes(width);
  const slopes = alibiSlopes(heads);
  return { height: right.bottom + 46, drawing: points(left, slopes) + lines(right, slopes, distance) };
}

/** The dotted line of the distance. */
export function handles({ distance }, width) {
  const box = boxes(width)[1];
  const [x, toX] = scale(DISTANCES, box.left, box.right);
  const text = say(own.lineAt, { distance: number(distance) });
  return [{ setting: "distance", way: "across", x: x(distance), y: box.bottom - 24, label: own.line, text, pull: toX }];
}

/** Heads of the plain series are round and solid; those that fill up to other numbers are square and dashed. */
function points(box, slopes) {
  const power = powerOfTwoWithin(slopes.length);
  const { x, y, drawing } = axes(
    box,
    { from: 0, to: slopes.length + 1, ticks: whole(slopes.length), label: own.head },
    { from: 2 ** -9, to: 1, log: true, ticks: powers(2 ** -8, 1, 2, 9), label: own.slope, show: fraction },
  );
  const marks = slopes.map((slope, i) =>
    i < power ? circle(x(i + 1), y(slope), 4, "fill blue") : square(x(i + 1), y(slope), 4, "fill orange"),
  );
  return drawing + marks.join("");
}

function lines(box, slopes, distance) {
  const power = powerOfTwoWithin(slopes.length);
  const { x, y, drawing } = axes(
    box,
    { ...DISTANCES, ticks: ticks(0, FARTHEST, 4), label: own.distance },
    { from: LOWEST, to: 0, ticks: ticks(LOWEST, 0, 6), label: own.bias, show: number },
  );
  const falling = slopes.map((slope, i) => {
    const end = Math.min(FARTHEST, -LOWEST / slope); // where the line leaves the box
    return path(
      [
        [x(0), y(0)],
        [x(end), y(-slope * end)],
      ],
      i < power ? "blue thin" : "orange thin dashed",
    );
  });
  return (
    drawing +
    falling.join("") +
    line(x(distance), y(LOWEST), x(distance), y(0), "ink dotted") +
    circle(x(distance), box.bottom - 24, 6, "fill purple")
  );
}

const whole = (heads) =>
  heads < 8 ? Array.from({ length: heads }, (_, i) => i + 1) : ticks(1, heads, 6).filter((t) => t % 1 === 0);
const fraction = (slope) => (slope === 1 ? "1" : `1/${Math.round(1 / slope)}`);

export function reading({ heads, distance }) {
  const slopes = alibiSlopes(heads);
  const [steepest, gentlest] = [Math.max(...slopes), Math.min(...slopes)];
  return say(own.reading, {
    heads: number(heads),
    distance: number(distance),
    steepest: number(steepest, 3),
    gentlest: number(gentlest, 3),
    lowest: number(-distance * steepest, 3),
    highest: number(-distance * gentlest, 3),
    least: small(Math.exp(-distance * steepest)),
    most: small(Math.exp(-distance * gentlest)),
  });
}

const small = (value) => (value < 1e-6 ? powerOfTen(Math.round(Math.log10(value))) : number(value, 3));
