// Loads what a page has, and nothing else: each part of a page is a module of its own.
import "./draft.js";
import "./typing.js";

document.documentElement.dataset.scripts = ""; // they run: what is covered will be uncovered

/** @type {[string, () => Promise<{ start(found: HTMLElement[]): unknown }>][]} */
const PARTS = [
  [".posenc-predict, .posenc-outcome", () => import("./predict.js")],
  [".posenc-surprises", () => import("./surprises.js")],
  [".posenc-exercise", () => import("./exercises.js")],
  [".posenc-trials", () => import("./try-cell.js")],
  [".posenc-notebook, .posenc-open", () => import("./machine.js")],
  [".posenc-until-passed", () => import("./until-passed.js")],
  [".posenc-figure-live", () => import("./figures.js")],
  [".tag_remove-input .posenc-moving", () => import("./moves.js")],
  [".posenc-figure svg:is([data-cells], [data-curves])", () => import("./picture-values.js")],
  [".posenc-quiz, .posenc-review", () => import("./quiz.js")],
  [".posenc-small", () => import("./map.js")],
  [".posenc-progress", () => import("./progress.js")],
  [".posenc-progress-bar, .posenc-passed", () => import("./progress-bar.js")],
  [".posenc-hero-picture", () => import("./hero.js")],
  [".posenc-ways-in", () => import("./go-on.js")],
  [".posenc-predict, .posenc-exercise", () => import("./place.js")],
  [".posenc-challenge", () => import("./challenges.js")],
  [".posenc-certificate-maker", () => import("./certificate.js")],
  [".posenc-sentence", () => import("./sentence.js")],
  [".posenc-orders", () => import("./two-orders.js")],
  [".posenc-train-live", () => import("./train-live.js")],
  [".posenc-lab", () => import("./lab.js")],
];

for (const [selector, load] of PARTS) {
  const found = [...document.querySelectorAll(selector)];
  if (found.length) load().then((part) => part.start(found), uncover);
}

/** A page that could not fetch a part is read as one without scripts. */
function uncover(problem) {
  document.documentElement.classList.remove("posenc-covers");
  throw problem;
}
