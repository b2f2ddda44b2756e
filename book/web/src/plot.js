// A small chart of lines: in the page's own colours, and told apart by more than colour.
const SVG = "http://www.w3.org/2000/svg";
const WIDEST = 480;
const MARGIN = 80; // of a page, so that on a phone its letters keep their size
const MOST_POINTS = 50; // that are marked
const LETTER = 7.2;
const HEIGHT = 240;
const LEFT = 56;
const BOTTOM = 44;
const TOP = 28;
const RIGHT = 12;
const DASHES = ["", "7 4", "2 3"];

export function plot({ names, x, lines, xLabel, yLabel, title }) {
  const width = Math.max(240, Math.min(WIDEST, innerWidth - MARGIN));
  const entry = 34 + LETTER * Math.max(...names.map((name) => name.length)); // of the legend
  const values = lines.flat();
  const [low, high] = spread(Math.min(0, ...values), Math.max(0, ...values));
  const [first, last] = [Math.min(...x), Math.max(...x)];
  const across = (value) => LEFT + ((value - first) / (last - first || 1)) * (width - LEFT - RIGHT);
  const up = (value) => HEIGHT - BOTTOM - ((value - low) / (high - low)) * (HEIGHT - BOTTOM - TOP);
  const parts = [
    element("path", { d: `M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${width - RIGHT}`, class: "posenc-axis" }),
    element("path", { d: `M${LEFT} ${up(0)}H${width - RIGHT}`, class: "posenc-zero" }),
    ...[low, high].map((value) => text(value.toPrecision(3), LEFT - 6, up(value) + 4, "end")),
    text("0", LEFT - 6, up(0) + 4, "end"),
    ...[first, last].map((value) => text(String(value), across(value), HEIGHT - BOTTOM + 16, "middle")),
    text(xLabel, (LEFT + width - RIGHT) / 2, HEIGHT - 8, "middle"),
    text(yLabel, 4, 14, "start"),
  ];
  // 0 is written once.
  if (low === 0) parts.splice(2, 1);
  if (high === 0) parts.splice(3, 1);
  lines.forEach((line, number) => {
    const points = line.map((value, index) => `${across(x[index]).toFixed(1)},${up(value).toFixed(1)}`).join(" ");
    const kind = `posenc-line-${number % DASHES.length}`;
    parts.push(element("polyline", { points, class: kind, "stroke-dasharray": DASHES[number % DASHES.length] }));
    for (const point of x.length > MOST_POINTS ? [] : points.split(" ")) {
      const [cx, cy] = point.split(",");
      parts.push(element("circle", { cx, cy, r: 2.5, class: kind }));
    }
    if (lines.length > 1) {
      const at = width - RIGHT - entry * (lines.length - number);
      parts.push(
        element("path", { d: `M${at} 22h22`, class: kind, "stroke-dasharray": DASHES[number % DASHES.length] }),
      );
      parts.push(text(names[number], at + 26, 26, "start"));
    }
  });
  const svg = element("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", class: "posenc-plot" });
  svg.setAttribute("aria-label", title);
  svg.append(...parts);
  return svg;
}

/** A range that holds both, and is no point. */
function spread(low, high) {
  return high - low > 1e-9 ? [low, high] : [low - 1, high + 1];
}

function text(content, x, y, anchor) {
  const made = element("text", { x, y, "text-anchor": anchor });
  made.textContent = content;
  return made;
}

function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== "") made.setAttribute(key, value);
  return made;
}
