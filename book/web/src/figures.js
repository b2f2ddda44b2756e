// Puts sliders under each figure, and draws it anew, without Python, as they move.
import * as alibi from "./figures/alibi.js";
import * as clocks from "./figures/clocks.js";
import * as dotProduct from "./figures/dot-product.js";
import * as heatmap from "./figures/heatmap.js";
import * as numbers from "./figures/numbers.js";
import * as rotary from "./figures/rotary.js";
import { sliders } from "./figures/sliders.js";
import { stage } from "./figures/stage.js";
import * as wavelengths from "./figures/wavelengths.js";
import { words } from "./words-figures.js";

const FIGURES = { alibi, clocks, "dot-product": dotProduct, heatmap, rotary, wavelengths };
const SETTLED = 300; // ms without a move, after which the reading is told: a screen reader would stumble over more

// For tests, and for the curious: the numbers that the figures draw.
window.posencFigures = { ...numbers, figures: FIGURES };

export function start(elements) {
  for (const element of elements) {
    try {
      come(element);
    } catch (error) {
      console.error(`the figure ${element.dataset.figure} stays a still picture:`, error);
    }
  }
}

/** Replace the still picture by one that moves; it stays if anything fails before. */
function come(element) {
  const figure = FIGURES[element.dataset.figure];
  const own = words[element.dataset.figure];
  const { values, rows } = sliders(JSON.parse(element.dataset.sliders), own.sliders, () => ask());
  figure.draw(values, 600);

  const panel = Object.assign(document.createElement("div"), { className: "posenc-sliders" });
  panel.setAttribute("role", "group");
  panel.setAttribute("aria-label", own.name);
  panel.append(...rows);
  const reading = Object.assign(document.createElement("p"), { className: "posenc-reading" });
  reading.setAttribute("aria-live", "polite");
  const place = element.querySelector("figure");
  const view = stage(place, figure);

  let frame, pause;
  function ask() {
    frame ??= requestAnimationFrame(() => {
      frame = undefined;
      view.draw(values);
    });
    reading.setAttribute("aria-busy", "true");
    clearTimeout(pause);
    pause = setTimeout(tell, SETTLED);
  }
  function tell() {
    reading.textContent = figure.reading(values);
    reading.removeAttribute("aria-busy");
    view.tell(`${own.name}. ${reading.textContent}`);
  }
  view.draw(values);
  tell();
  place.after(panel, reading); // with its words in place, so that nothing is announced as the page opens
  new ResizeObserver(() => view.draw(values)).observe(place);
}
