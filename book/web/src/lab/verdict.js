// The difference between the two models on this text, in one sentence.
import { decimals } from "../words.js";
import { words } from "../words-lab.js";

const shown = (nats) => decimals(nats, 2);

/**
 * Of each model { name, near, far }: nats per byte up to the trained length and beyond it, where there is a beyond.
 * Whoever reads "1.70" twice reads of no difference: as many decimals are compared as are shown.
 */
export function difference(a, b, trained) {
  if (a.name === b.name) return words.difference.same(a.name);
  const [near, far] = ["near", "far"].map((part) => compared(part, a, b));
  const say = words.difference;
  if (!far) return near.tie ? say.tie(near) : say.short(near);
  if (near.tie && far.tie) return say.ties({ trained, ...near, beyond: far.low });
  const beyond = { trained, far: far.better, farLow: far.low, farHigh: far.high };
  if (near.tie) return say.tieThen({ ...near, ...beyond });
  if (far.tie) return say.thenTie({ ...near, trained, beyond: far.low });
  return far.better === near.better ? say.throughout({ ...near, ...beyond }) : say.changes({ ...near, ...beyond });
}

function compared(part, ...both) {
  if (both.some((each) => each[part] === undefined)) return undefined;
  const [first, second] = both[0][part] <= both[1][part] ? both : both.toReversed();
  const [low, high] = [shown(first[part]), shown(second[part])];
  return { tie: low === high, better: first.name, worse: second.name, low, high };
}
