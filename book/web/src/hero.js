// The picture of the hero: hands that turn from token to token, slowly first, up to a million. book/_ext/hero.py says what it is made of.
import { button } from "./elements.js";
import { number } from "./words.js";
import { words } from "./words-landing.js";

const [FIRST, LAST] = [1, 1_000_000];
const SECONDS = 40; // from the first token to the last
const BLURRED = 2; // radians from one frame to the next: an eye sees no hand there

export function start(figures) {
  for (const figure of figures) startFigure(figure);
}

function startFigure(figure) {
  const counter = figure.querySelector(".posenc-counter");
  const hands = [...figure.querySelectorAll(".posenc-hand")].map((hand) => {
    const [, x, y] = hand.getAttribute("transform").match(/[\d.]+/g);
    return { hand, x, y, turn: Number(hand.dataset.turn) };
  });
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let time = 0; // s, of the picture
  let [running, seen, last, frame] = [false, true, undefined, 0];
  const toggle = button("", () => play(!running));
  counter.after(toggle);
  new IntersectionObserver(([entry]) => {
    seen = entry.isIntersecting;
    if (running && seen) go();
  }).observe(figure);
  play(!still);

  function play(on) {
    running = on;
    toggle.textContent = on ? words.pause : words.play;
    if (on) go();
  }

  function go() {
    last = undefined;
    cancelAnimationFrame(frame); // two steps in one frame would see no hand move
    frame = requestAnimationFrame(step);
  }

  function step(now) {
    if (!running || !seen) return;
    const before = position();
    time = (time + Math.min((now - (last ?? now)) / 1000, 0.1)) % SECONDS;
    last = now;
    show(position(), Math.abs(position() - before));
    frame = requestAnimationFrame(step);
  }

  function position() {
    return FIRST * (LAST / FIRST) ** (time / SECONDS);
  }

  function show(at, moved) {
    counter.textContent = words.token(number(Math.floor(at), 7));
    for (const { hand, x, y, turn } of hands) {
      hand.setAttribute("transform", `rotate(${(((at * turn * 180) / Math.PI) % 360).toFixed(2)} ${x} ${y})`);
      hand.classList.toggle("posenc-blurred", moved * turn > BLURRED);
    }
  }
}
