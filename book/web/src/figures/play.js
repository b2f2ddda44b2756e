// A button that lets a setting advance. Who asked for less motion gets one that goes a single step.
import { button } from "../elements.js";
import { words } from "../words-figures.js";

/** Advance `setting` so many values a second, until its end, a pause, or until `place` is out of sight. */
export function playButton({ setting, perSecond }, controls, place) {
  const list = controls.lists[setting];
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const atEnd = () => controls.values[setting] === list.at(-1);
  const toggle = button("", () => (still.matches ? advance() : play(!running)));
  let [running, last] = [false, 0];
  still.addEventListener("change", () => play(false));
  new IntersectionObserver(([{ isIntersecting }]) => isIntersecting || play(false)).observe(place);
  play(false);

  function play(on) {
    running = on;
    toggle.textContent = still.matches ? words.oneOn : on ? words.pause : words.play;
    if (!on) return;
    last = performance.now();
    if (atEnd()) controls.set(setting, list[0]);
    requestAnimationFrame(step);
  }

  function advance() {
    if (atEnd()) controls.set(setting, list[0]);
    else controls.step(setting, 1);
  }

  function step(now) {
    if (!running) return;
    if (now - last >= 1000 / perSecond) {
      last = Math.max(last + 1000 / perSecond, now - 1000 / perSecond); // what was slept through is not made up for
      controls.step(setting, 1);
    }
    if (atEnd()) play(false);
    else requestAnimationFrame(step);
  }

  return { toggle, pause: () => play(false), isRunning: () => running };
}
