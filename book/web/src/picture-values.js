// What still pictures show, in numbers: the cells of their heat maps and the points of their curves, as
// posenc_course/figures/picture.py wrote them beside the picture.
import { made } from "./elements.js";
import { cells } from "./figures/cells.js";
import { curves } from "./figures/curves.js";
import { whenNear } from "./near.js";
import { number, say } from "./words.js";
import { words } from "./words-figures.js";

export function start(pictures) {
  whenNear(
    pictures.map((element) => ({ element })),
    ({ element }) => tellValues(element),
  );
}

function tellValues(svg) {
  const holder = made("span", "posenc-mapped");
  for (const side of ["minWidth", "maxWidth"]) {
    holder.style[side] = svg.style[side];
    svg.style[side] = "none";
  }
  svg.style.minWidth = 0;
  svg.replaceWith(holder);
  holder.append(svg);
  for (const map of JSON.parse(svg.dataset.cells ?? "[]")) cells(holder)(placeOf(map), cellsOf(map));
  for (const chart of JSON.parse(svg.dataset.curves ?? "[]")) curves(holder)(placeOf(chart), curvesOf(chart));
}

const placeOf = ({ place: [left, top, width, height] }) => ({ left, top, width, height });

function cellsOf(map) {
  const [rows, columns] = [map.numbers.length, map.numbers[0].length];
  const tell = (row, column) => {
    const value = map.numbers[row][column];
    const names = { row: cellName(map.down, row), column: cellName(map.across, column) };
    if (value === null) return say(words.cellEmpty, names);
    names.number = number(value, 3);
    return map.value ? say(words.cellOf, { ...names, value: map.value }) : say(words.cell, names);
  };
  return { rows, columns, label: say(words.cells, { title: map.title }), tell };
}

/** What an axis calls one of its cells: its label, and the word or the number that stands there. */
const cellName = ([label, ...ticks], index) => [label, ticks[index] ?? number(index)].filter(Boolean).join(" ");

function curvesOf({ title, across, down, curves }) {
  const tell = (curve, index) => {
    const values = { x: pointName(across, curve.x[index]), y: pointName(down, curve.y[index]) };
    const told = curve.name ? say(words.pointOf, { name: curve.name, ...values }) : say(words.point, values);
    return told.replaceAll("\n", " "); // as a picture breaks its lines
  };
  const share = ({ ends, log }) => {
    const on = log ? Math.log : Number;
    return (value) => (on(value) - on(ends[0])) / (on(ends[1]) - on(ends[0]));
  };
  const [right, up] = [share(across), share(down)];
  const drawn = curves.map((curve) => ({ ...curve, points: curve.x.map((x, i) => [right(x), 1 - up(curve.y[i])]) }));
  return { label: say(words.points, { title }), curves: drawn, tell };
}

/** What an axis calls a value: its label, and the number or the nearest of the words at its ticks. */
function pointName({ label, ticks }, value) {
  const places = Object.keys(ticks ?? {});
  if (!places.length) return `${label} ${number(value, Number.isInteger(value) ? 6 : 4)}`;
  return `${label} ${ticks[places.reduce((best, each) => (away(each, value) < away(best, value) ? each : best))]}`;
}

const away = (place, value) => Math.abs(Number(place) - value);
