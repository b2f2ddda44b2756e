// The loss of both models along the text, where the training ended, and where the text comes again.

import { made } from "../elements.js";
import { axes, line, path, picture, text, ticks } from "../figures/svg.js";
import { number } from "../words.js";
import { words } from "../words-lab.js";

const [HEIGHT, POINTS, NEAR] = [220, 300, 24]; // a point is the mean of so many bytes before and after it
const LOOKS = ["blue", "orange dashed"];
const UPPER = 5; // nats; a model that knows nothing has ln(256), 5.5

/** onPlace(place) is called where a pointer shows one. */
export function curve(onPlace) {
  const svg = picture();
  const element = made("div", "posenc-stage posenc-lab-curve", svg);
  let scale; // of the last drawing: { left, right, width, length }
  let shown;
  let frame = 0;

  function at(event) {
    if (!scale) return;
    const { left, width } = svg.getBoundingClientRect();
    const x = ((event.clientX - left) / width) * scale.width;
    const share = (x - scale.left) / (scale.right - scale.left);
    onPlace(Math.round(Math.min(1, Math.max(0, share)) * scale.length));
  }
  svg.addEventListener("pointermove", at);
  svg.addEventListener("pointerdown", at);

  /** Of a text of `length` bytes both have read the first `known`; it comes again from `own` on. */
  function draw(given = shown) {
    shown = given;
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(drawNow);
  }

  function drawNow() {
    const { losses, length, known, own, trained, place, about } = shown;
    const width = Math.max(280, element.clientWidth || 600);
    const box = { left: 58, right: width - 12, top: 26, bottom: HEIGHT - 46 };
    const drawn = axes(
      box,
      { from: 0, to: length, label: words.curve.place, ticks: ticks(0, length, width < 500 ? 4 : 8), show: number },
      { from: 0, to: UPPER, label: words.curve.loss, ticks: ticks(0, UPPER, 5), show: number },
    );
    const mark = (value, look) => line(drawn.x(value), box.top, drawn.x(value), box.bottom, look);
    const named = (value, said) =>
      text(Math.min(Math.max(drawn.x(value), box.left + 40), width - 70), box.top - 9, said);
    const [again, ended] = [own < length, trained <= length];
    const apart = !again || Math.abs(drawn.x(own) - drawn.x(trained)) > 170; // one label would cover the other
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    svg.setAttribute("aria-label", about);
    svg.innerHTML = [
      drawn.drawing,
      ended ? mark(trained, "ink thick dotted") : "",
      ended && apart ? named(trained, words.curve.trained(number(trained))) : "",
      again ? mark(own, "purple dashed") + named(own, words.curve.again) : "",
      ...losses.map((each, side) =>
        known < 2
          ? ""
          : path(
              smooth(each, known).map(([x, y]) => [drawn.x(x), drawn.y(Math.min(y, UPPER))]),
              LOOKS[side],
            ),
      ),
      place ? mark(place, "ink thin") : "",
    ].join("");
    scale = { left: box.left, right: box.right, width, length };
  }
  new ResizeObserver(() => shown && draw()).observe(element);
  return { element, draw };
}

/** [place, mean of the losses around it], about so many as the eye tells apart. */
function smooth(losses, length) {
  const known = losses.subarray(1, length);
  const sums = [0];
  for (const each of known) sums.push(sums.at(-1) + each);
  const count = Math.min(POINTS, known.length);
  return Array.from({ length: count }, (_, point) => {
    const middle = Math.round((point * (known.length - 1)) / Math.max(1, count - 1));
    const [first, last] = [Math.max(0, middle - NEAR), Math.min(known.length, middle + NEAR + 1)];
    return [middle + 1, (sums[last] - sums[first]) / (last - first)];
  });
}
