import { number, say } from "../words.js";
import { words } from "../words-figures.js";
import { firstRise, similarities } from "./numbers.js";
import { axes, dots, line, path, square, text, ticks } from "./svg.js";

const HEIGHT = 320;
const own = words["dot-product"];

export function draw({ dim, base, length }, width) {
  const values = similarities(length, dim, base);
  const rise = firstRise(values);
  const largest = values[0];
  // A whole quarter of the largest below the lowest value, so that the frame does not move with every step.
  const lowest = Math.min(0, (Math.floor((4 * Math.min(...values)) / largest) / 4) * largest);
  const { x, y, drawing } = axes(
    { left: 58, top: 24, right: width - 16, bottom: HEIGHT - 46 },
    { from: 0, to: length, ticks: ticks(0, length, width / 90), label: own.offset },
    { from: lowest, to: largest, ticks: ticks(lowest, largest), label: own.product, show: number },
  );
  const points = values.map((value, offset) => [x(offset), y(value)]);
  const parts = [drawing, path(points, "blue thin"), dots(points, "blue")];
  if (rise !== undefined) {
    const side = x(rise) > width / 2 ? { at: -8, anchor: "end" } : { at: 8, anchor: "start" };
    parts.push(
      line(x(rise), y(lowest), x(rise), y(largest), "orange dotted"),
      square(x(rise), y(values[rise]), 5, "fill orange"),
      text(x(rise) + side.at, y(largest) - 8, say(own.mark, { offset: number(rise) }), side.anchor),
    );
  }
  return { height: HEIGHT, drawing: parts.join("") };
}

export function reading({ dim, base, length }) {
  const values = similarities(length, dim, base);
  const rise = firstRise(values);
  return say(rise === undefined ? own.readingWithoutRise : own.reading, {
    dim: number(dim),
    base: number(base),
    length: number(length),
    largest: number(values[0]),
    smallest: number(Math.min(...values), 3),
    offset: number(rise),
  });
}
