// Arcs from a character to those that a head looked at, over the text.
import { drawing, round } from "../figures/svg.js";

const MOST = 16; // arcs

/** Draws into `box`, whose children the characters are: draw(from, [[to, share], ...]). */
export function arcs(box) {
  const svg = drawing();
  svg.classList.add("posenc-lab-arcs");
  svg.setAttribute("aria-hidden", "true"); // the sentence below the text says it
  box.append(svg);

  return function draw(from, looked) {
    const strong = looked.toSorted(([, one], [, other]) => other - one).slice(0, MOST);
    const most = strong[0]?.[1];
    const end = from && top(from);
    svg.style.height = `${end ? end.y + from.offsetHeight : 0}px`; // earlier characters only: no more than the text has
    svg.innerHTML = strong.map(([to, share]) => arc(end, top(to), share / most)).join("");
  };
}

const top = ({ offsetLeft, offsetTop, offsetWidth }) => ({ x: offsetLeft + offsetWidth / 2, y: offsetTop + 3 });

/** `strength` is 1 for the one that it looked at most. */
function arc(from, to, strength) {
  const [across, up] = [Math.abs(from.x - to.x), Math.abs(from.y - to.y)];
  const lift = 10 + 0.12 * across + 0.05 * up;
  const over = `${round((from.x + to.x) / 2)} ${round(Math.min(from.y, to.y) - lift)}`;
  const look = `stroke-width="${round(1 + 2 * strength)}" stroke-opacity="${round(0.2 + 0.7 * strength)}"`;
  return `<path d="M${round(from.x)} ${round(from.y)}Q${over} ${round(to.x)} ${round(to.y)}" ${look}/>`;
}
