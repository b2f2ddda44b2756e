// Puts sliders under each figure, lets it be dragged and played, and draws it anew, without Python, as they move.
import { made } from "./elements.js";
import * as numbers from "./figures/numbers.js";
import { playButton } from "./figures/play.js";
import { sliders } from "./figures/sliders.js";
import { stage } from "./figures/stage.js";
import { whenNear } from "./near.js";
import { words } from "./words-figures.js";

const FIGURES = {
  alibi: () => import("./figures/alibi.js"),
  clocks: () => import("./figures/clocks.js"),
  "dot-product": () => import("./figures/dot-product.js"),
  gates: () => import("./figures/gates.js"),
  heatmap: () => import("./figures/heatmap.js"),
  molecule: () => import("./figures/molecule.js"),
  rotary: () => import("./figures/rotary.js"),
  ruler: () => import("./figures/ruler.js"),
  seen: () => import("./figures/seen.js"),
  shift: () => import("./figures/shift.js"),
  stretched: () => import("./figures/stretched.js"),
  wavelengths: () => import("./figures/wavelengths.js"),
};
const SETTLED = 300; // ms without a move, after which the reading is told: a screen reader would stumble over more

// For tests, and for the curious: the numbers that the figures draw.
window.posencFigures = { ...numbers, figures: {} };

export function start(elements) {
  whenNear(
    elements.map((element) => ({ element })),
    ({ element }) =>
      come(element).catch((error) =>
        console.error(`the figure ${element.dataset.figure} stays a still picture:`, error),
      ),
  );
}

/** Replace the still picture by one that moves; it stays if anything fails before. */
async function come(element) {
  const name = element.dataset.figure;
  const own = words[name];
  const figure = await FIGURES[name]();
  window.posencFigures.figures[name] = figure;
  const controls = sliders(JSON.parse(element.dataset.sliders), own.sliders, ask);
  const { values, rows } = controls;
  figure.draw(values, 600);

  const panel = made("div", "posenc-sliders", ...rows);
  panel.setAttribute("role", "group");
  panel.setAttribute("aria-label", own.name);
  const reading = made("p", "posenc-reading");
  reading.setAttribute("aria-live", "polite");
  const place = element.querySelector("figure");
  const view = stage(place, figure, controls);
  const player = figure.plays && playButton(figure.plays, controls, place);
  const tools = made("div", "posenc-tools", ...(player ? [player.toggle] : []));
  tools.setAttribute("role", "group");
  tools.setAttribute("aria-label", own.name);
  if (own.grasp) tools.append(made("span", "posenc-grasp", own.grasp));

  let asked = false; // for the next frame
  let pause;
  function ask() {
    if (!asked) {
      requestAnimationFrame(() => {
        asked = false;
        view.draw(values);
      });
    }
    asked = true;
    reading.setAttribute("aria-busy", "true");
    clearTimeout(pause);
    pause = setTimeout(tell, SETTLED);
  }
  function tell() {
    if (player?.isRunning()) return void (pause = setTimeout(tell, SETTLED));
    reading.textContent = figure.reading(values);
    reading.removeAttribute("aria-busy");
    view.tell(`${own.name}. ${reading.textContent}`);
  }
  // Whoever takes hold of something does not want it to run away.
  for (const kind of ["pointerdown", "keydown"]) {
    element.addEventListener(kind, ({ target, key }) => {
      if (key !== "Tab" && !tools.contains(target)) player?.pause();
    });
  }
  view.draw(values);
  tell(); // with its words in place, so that nothing is announced as the page opens
  place.after(...(tools.childElementCount ? [tools] : []), panel, reading);
  new ResizeObserver(() => view.draw(values)).observe(place);
}
