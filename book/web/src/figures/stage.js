// Where a figure is drawn: an SVG as wide as its place, and canvases below it for what is too much for SVG.

const SVG = "http://www.w3.org/2000/svg";
const [NARROWEST, WIDEST] = [280, 720];

/** Draws `figure` into `element` with settings; `draw(values)` again for others, `tell(words)` for its text form. */
export function stage(element, figure) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("role", "img");
  const canvases = [];

  function draw(values) {
    const width = Math.round(Math.min(Math.max(element.clientWidth, NARROWEST), WIDEST));
    const { height, drawing } = figure.draw(values, width);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.innerHTML = drawing;
    const painted = figure.paint?.(values, width) ?? [];
    painted.forEach(({ place, image }, i) => lay((canvases[i] ??= addCanvas()), place, image, width, height));
  }

  function addCanvas() {
    const canvas = document.createElement("canvas");
    canvas.setAttribute("aria-hidden", "true");
    element.prepend(canvas);
    return canvas;
  }

  element.classList.add("posenc-stage");
  element.replaceChildren(svg);
  return { draw, tell: (words) => svg.setAttribute("aria-label", words) };
}

function lay(canvas, place, image, width, height) {
  const share = (part, whole) => `${(100 * part) / whole}%`;
  Object.assign(canvas, { width: image.width, height: image.height });
  Object.assign(canvas.style, {
    left: share(place.left, width),
    top: share(place.top, height),
    width: share(place.right - place.left, width),
    height: share(place.bottom - place.top, height),
  });
  canvas.getContext("2d").putImageData(image, 0, 0);
}
