// Where a figure is drawn: an SVG as wide as its place, canvases below it for what is too much for SVG, and above
// it what can be grasped.
import { cells } from "./cells.js";
import { grips } from "./handles.js";
import { picture } from "./svg.js";

const [NARROWEST, WIDEST] = [280, 720];

/** Draws `figure` into `element` with settings; `draw(values)` again for others, `tell(words)` for its text form. */
export function stage(element, figure, controls) {
  const svg = picture();
  const canvases = [];
  element.classList.add("posenc-stage");
  element.replaceChildren(svg);
  const placeGrips = figure.handles && grips(element, controls);
  const placeCells = figure.cells && cells(element);

  function draw(values) {
    const width = Math.round(Math.min(Math.max(element.clientWidth, NARROWEST), WIDEST));
    const { height, drawing } = figure.draw(values, width);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.innerHTML = drawing;
    const painted = figure.paint?.(values, width) ?? [];
    painted.forEach(({ place, image }, i) => lay((canvases[i] ??= addCanvas()), place, image, width, height));
    // Pulled twice before the next drawing, a grip still tells from where it stands: `values` has moved on by then.
    placeGrips?.(figure.handles({ ...values }, width), width, height);
    if (placeCells) {
      const { place, ...map } = figure.cells(values, width);
      placeCells(shares(place, width, height), map);
    }
  }

  function addCanvas() {
    const canvas = document.createElement("canvas");
    canvas.setAttribute("aria-hidden", "true");
    element.prepend(canvas);
    return canvas;
  }

  return { draw, tell: (words) => svg.setAttribute("aria-label", words) };
}

const shares = ({ left, top, right, bottom }, width, height) => ({
  left: left / width,
  top: top / height,
  width: (right - left) / width,
  height: (bottom - top) / height,
});

function lay(canvas, place, image, width, height) {
  Object.assign(canvas, { width: image.width, height: image.height });
  for (const [side, share] of Object.entries(shares(place, width, height))) canvas.style[side] = `${100 * share}%`;
  canvas.getContext("2d").putImageData(image, 0, 0);
}
