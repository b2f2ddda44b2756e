// A small chart of lines: in the page's own colours, and told apart by more than colour (challenges.css).
import { circle, line, namesOf, path, picture, roomFor, scale, text } from "./figures/svg.js";

const WIDEST = 480;
const MARGIN = 80; // of a page, so that on a phone its letters keep their size
const MOST_POINTS = 50; // that are marked
const HEIGHT = 240;
const LOOKS = 3;

export function plot({ names, x, lines, xLabel, yLabel, title }) {
  const width = Math.max(240, Math.min(WIDEST, innerWidth - MARGIN));
  const several = lines.length > 1;
  const box = { left: 56, right: width - (several ? roomFor(names) : 12), top: 28, bottom: HEIGHT - 44 };
  const values = lines.flat();
  const [low, high] = spread(Math.min(0, ...values), Math.max(0, ...values));
  const [first, last] = [Math.min(...x), Math.max(...x)];
  const [across] = scale({ from: first, to: last > first ? last : first + 1 }, box.left, box.right);
  const [up] = scale({ from: low, to: high }, box.bottom, box.top);
  const level = (value, words) => text(box.left - 6, up(value) + 4, words, "end");
  const ends = lines.map((each, i) => ({
    x: across(x[each.length - 1]),
    y: up(each.at(-1)),
    name: names[i],
    look: look(i),
  }));
  const axis = [
    [box.left, box.top],
    [box.left, box.bottom],
    [box.right, box.bottom],
  ];

  const svg = picture();
  svg.classList.add("posenc-plot");
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  svg.setAttribute("aria-label", title);
  svg.innerHTML = [
    path(axis, "posenc-axis"),
    line(box.left, up(0), box.right, up(0), "posenc-zero"),
    ...[low, high].filter((value) => value !== 0).map((value) => level(value, value.toPrecision(3))),
    level(0, "0"),
    ...[first, last].map((value) => text(across(value), box.bottom + 16, value)),
    text((box.left + box.right) / 2, HEIGHT - 8, xLabel),
    text(4, 14, yLabel, "start"),
    ...lines.map((each, i) =>
      curve(
        each.map((value, at) => [across(x[at]), up(value)]),
        look(i),
      ),
    ),
    several ? namesOf(ends, box.right + 16, box.bottom) : "",
  ].join("");
  return svg;
}

const look = (number) => `posenc-line-${number % LOOKS}`;

const curve = (points, look) =>
  path(points, look) + (points.length > MOST_POINTS ? [] : points).map(([x, y]) => circle(x, y, 2.5, look)).join("");

/** A range that holds both, and is no point. */
function spread(low, high) {
  return high - low > 1e-9 ? [low, high] : [low - 1, high + 1];
}
