// The two charts: the loss while models train, and the share of letters right by length.
import { axes, circle, line, path, text, ticks } from "../figures/svg.js";
import { number } from "../words.js";
import { words } from "../words-train-live.js";
import { LENGTH, LETTERS, TEST_LENGTHS } from "./sizes.js";

/** How the first, second and third model are drawn. */
export const LOOKS = ["blue", "orange dashed", "green dashdot"];
const HEIGHT = 250;
const WINDOW = 10; // steps that a point of the loss is the mean of
const box = (width) => ({ left: 62, top: 12, right: width - 14, bottom: HEIGHT - 46 });
const percent = (share) => `${Math.round(100 * share)}%`;

/** `losses`: those of each model so far; `steps`: how many there will be. */
export function lossChart({ losses, steps }, width) {
  const highest = 1.1 * Math.log(LETTERS);
  const { x, y, drawing } = axes(
    box(width),
    { from: 0, to: steps, ticks: ticks(0, steps, 4), label: words.step },
    { from: 0, to: highest, ticks: [0, 1, 2, 3, 4], label: words.loss },
  );
  const curves = losses.map((each, model) => {
    const points = smoothed(each).map(([step, loss]) => [x(step), y(Math.min(loss, highest))]);
    return points.length > 1 ? path(points, LOOKS[model]) : "";
  });
  return { height: HEIGHT, drawing: drawing + curves.join("") };
}

function smoothed(losses) {
  const points = [];
  for (let from = 0; from + WINDOW <= losses.length; from += WINDOW) {
    const some = losses.slice(from, from + WINDOW);
    points.push([from + WINDOW / 2, some.reduce((sum, each) => sum + each, 0) / WINDOW]);
  }
  return points;
}

/** `tested`: of each model, length -> {share, error}; `length`: the one that the slider shows. */
export function shareChart({ tested, length }, width) {
  const { x, y, drawing } = axes(
    box(width),
    {
      from: 0,
      to: TEST_LENGTHS.at(-1),
      ticks: [...(width < 480 ? [] : [16]), 32, 64, 128, 192, 256],
      label: words.length,
    },
    { from: 0, to: 1, ticks: [0, 0.25, 0.5, 0.75, 1], label: words.right, show: percent },
  );
  const guess = TEST_LENGTHS.map((each) => [x(each), y(guessing(each))]);
  const curves = tested.map((its, model) => {
    const known = Object.entries(its).map(([at, { share, error }]) => [x(Number(at)), share, error]);
    const whiskers = known.map(([at, share, error]) =>
      line(
        at,
        y(Math.max(0, share - 2 * error)),
        at,
        y(Math.min(1, share + 2 * error)),
        `${LOOKS[model].split(" ")[0]} thin`,
      ),
    );
    const points = known.map(([at, share]) => [at, y(share)]);
    const marks = points.map(([at, up]) => circle(at, up, 2.5, `fill ${LOOKS[model].split(" ")[0]}`));
    return whiskers.join("") + (points.length > 1 ? path(points, LOOKS[model]) : "") + marks.join("");
  });
  const { top, bottom } = box(width);
  return {
    height: HEIGHT,
    drawing: [
      drawing,
      line(x(LENGTH), top, x(LENGTH), bottom, "ink dotted"),
      text(x(LENGTH) + 5, y(0.3), words.trainedAt(number(LENGTH)), "start"),
      path(guess, "grey dotted"),
      text(x(256), guess.at(-1)[1] - 6, words.guess, "end"),
      ...curves,
      line(x(length), top, x(length), bottom, "ink thin"),
    ].join(""),
  };
}

/** How often one is right who names any letter of the row that is repeated. */
function guessing(length) {
  const [shortest, longest] = [Math.max(4, length >> 3), Math.max(4, length >> 2)];
  const periods = Array.from({ length: longest - shortest + 1 }, (_, i) => shortest + i);
  return periods.reduce((sum, period) => sum + 1 / period, 0) / periods.length;
}
