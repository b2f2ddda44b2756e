// Small pieces of SVG as text. Looks (colour, dash, weight) are classes of figures.css.

/** An empty drawing. */
export const drawing = () => document.createElementNS("http://www.w3.org/2000/svg", "svg");

/** One that a screen reader takes as one picture. */
export function picture() {
  const svg = drawing();
  svg.setAttribute("role", "img");
  return svg;
}

export const round = (value) => Math.round(value * 100) / 100;

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
export const escaped = (words) => String(words).replace(/[&<>"]/g, (sign) => ESCAPES[sign]);

export const line = (x1, y1, x2, y2, look) =>
  `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" class="line ${look}"/>`;

export const path = (points, look) =>
  `<path d="M${points.map(([x, y]) => `${round(x)} ${round(y)}`).join("L")}" class="line ${look}"/>`;

/** The part of a circle between two angles, clockwise from twelve o'clock; closed through its centre if it is a wedge. */
export function sector(x, y, radius, from, to, look, wedge = true) {
  const end = Math.sign(to - from) * Math.min(Math.abs(to - from), 2 * Math.PI); // once round is all
  const steps = Math.max(Math.ceil(Math.abs(end) * 10), 1);
  const rim = Array.from({ length: steps + 1 }, (_, i) => {
    const angle = from + (end * i) / steps;
    return [x + radius * Math.sin(angle), y - radius * Math.cos(angle)];
  });
  return path(wedge ? [[x, y], ...rim] : rim, look);
}

/** Many small dots, as one element: strokes of no length with round ends. */
export const dots = (points, look) =>
  `<path d="${points.map(([x, y]) => `M${round(x)} ${round(y)}h0`).join("")}" class="line dots ${look}"/>`;

export const circle = (x, y, radius, look) =>
  `<circle cx="${round(x)}" cy="${round(y)}" r="${round(radius)}" class="${look}"/>`;

export const square = (x, y, half, look) =>
  `<rect x="${round(x - half)}" y="${round(y - half)}" width="${2 * half}" height="${2 * half}" class="${look}"/>`;

/** Words at a point; anchor is start, middle or end. */
export const text = (x, y, words, anchor = "middle", more = "") =>
  `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" ${more}>${escaped(words)}</text>`;

/** An arrow from a point along (dx, dy). */
export function arrow(x, y, dx, dy, look) {
  const length = Math.hypot(dx, dy);
  if (length < 1e-9) return "";
  const [ux, uy] = [dx / length, dy / length];
  const [tipX, tipY] = [x + dx, y + dy];
  const barb = (side) => `${round(tipX - 11 * ux + side * 5 * uy)} ${round(tipY - 11 * uy - side * 5 * ux)}`;
  const head = `<path d="M${round(tipX)} ${round(tipY)}L${barb(1)}L${barb(-1)}Z" class="fill ${look}"/>`;
  return line(x, y, tipX - 8 * ux, tipY - 8 * uy, look) + head;
}

const LETTER = { wide: 14, narrow: 7.2, line: 16 };

/** How much room names of curves take to the right of them. */
export const roomFor = (names) =>
  24 +
  Math.max(
    ...names.map((name) => [...name].reduce((sum, sign) => sum + (sign > "\u2e80" ? LETTER.wide : LETTER.narrow), 0)),
  );

/** The names of curves, {x, y, name, look} of their ends, from `left` on: apart, and none below `bottom`. */
export function namesOf(curves, left, bottom) {
  const found = [...curves].sort((one, other) => one.y - other.y);
  const places = found.map(({ y }) => y);
  for (let i = 1; i < places.length; i++) places[i] = Math.max(places[i], places[i - 1] + LETTER.line);
  const lowest = (i) => bottom - LETTER.line * (places.length - 1 - i);
  return found
    .map(({ x, y, name, look }, i) => {
      const place = Math.min(places[i], lowest(i));
      return line(x, y, left - 4, place, `${look} leader`) + text(left, place + 4, name, "start");
    })
    .join("");
}

/** Round numbers between two ends, about as many as asked for. */
export function ticks(from, to, about = 5) {
  const rough = (to - from) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((each) => each * power >= rough) * power;
  const first = Math.ceil(from / step - 1e-9);
  const count = Math.floor(to / step + 1e-9) - first + 1;
  // Dividing by 1/step keeps 0.3 from becoming 0.30000000000000004.
  return Array.from({ length: count }, (_, i) => (step < 1 ? (first + i) / Math.round(1 / step) : (first + i) * step));
}

/** Powers of a number between two ends, every second or third where they would crowd. */
export function powers(from, to, base = 10, atMost = 7) {
  const log = (value) => Math.log(value) / Math.log(base);
  const [first, last] = [Math.ceil(log(from) - 1e-9), Math.floor(log(to) + 1e-9)];
  const step = Math.max(1, Math.ceil((last - first + 1) / atMost));
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => base ** (first + i * step));
}

/**
 * A pair of axes in a box {left, top, right, bottom} of the drawing.
 *
 * Each axis: {from, to, label, ticks, log, show}, where `from` is at the left or at the bottom and `show` words a tick.
 * Gives the functions x and y from values to the drawing, toX and toY back from there, and the axes' own drawing.
 */
export function axes(box, x, y) {
  const [across, toX] = scale(x, box.left, box.right);
  const [up, toY] = scale(y, box.bottom, box.top);
  const show = (axis, value) => (axis.show ?? String)(value);
  const middle = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  const drawing = [
    ...x.ticks.map((t) => line(across(t), box.top, across(t), box.bottom, "grid")),
    ...y.ticks.map((t) => line(box.left, up(t), box.right, up(t), "grid")),
    ...x.ticks.map((t) => text(across(t), box.bottom + 17, show(x, t))),
    ...y.ticks.map((t) => text(box.left - 7, up(t) + 4, show(y, t), "end")),
    line(box.left, box.bottom, box.right, box.bottom, "ink"),
    line(box.left, box.top, box.left, box.bottom, "ink"),
    text(middle[0], box.bottom + 38, x.label),
    text(0, 0, y.label, "middle", `transform="translate(${round(box.left - 46)} ${round(middle[1])}) rotate(-90)"`),
  ];
  return { x: across, y: up, toX, toY, drawing: drawing.join("") };
}

/** From the values of an axis {from, to, log} to the points between two ends, and back. */
export function scale({ from, to, log = false }, start, end) {
  const [put, take] = log ? [Math.log, Math.exp] : [(value) => value, (value) => value];
  const [low, high] = [put(from), put(to)];
  return [
    (value) => start + ((put(value) - low) / (high - low)) * (end - start),
    (point) => take(low + ((point - start) / (end - start)) * (high - low)),
  ];
}
