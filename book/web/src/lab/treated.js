// What is done to the encoding of a trained model in the challenge "trained": its positions are told wrongly, each time
// in a way in which people's code has gone wrong. Nothing else of the model is touched.

const same = (position) => position;
const way = ({ at = same, asks = at, sign = 1 } = {}) => ({ at, asks, sign });

/**
 * By name { at, asks, sign }: where a key stands, where a query stands (and what is added to the input), and the sign
 * of what comes of it.
 */
export const TREATMENTS = {
  nothing: way(),
  zero: way({ at: () => 0 }),
  late: way({ at: same, asks: (position) => position + 1 }),
  quarter: way({ at: (position) => position / 4 }),
  rounded: way({ at: bfloat16 }),
  against: way({ sign: -1 }),
};

/** A whole number with the eight binary digits that bfloat16 has. */
export function bfloat16(position) {
  const step = 2 ** Math.max(Math.floor(Math.log2(position)) - 7, 0);
  const [low, rest] = [Math.floor(position / step), position % step];
  const up = 2 * rest > step || (2 * rest === step && low % 2 === 1); // to the even one from the middle
  return step * (low + (up ? 1 : 0));
}

/** The same for a text that begins so many positions later. */
export const later = ({ at, asks, sign }, start) =>
  way({ at: (place) => at(place + start), asks: (place) => asks(place + start), sign });

/** Each model with what makes a difference to it: only that can be found out. */
export const CASES = [
  ...of("learned", "nothing", "zero", "late", "quarter", "against"), // bfloat16 holds all that its table has
  ...of("sinusoidal", "nothing", "zero", "late", "quarter", "rounded", "against"),
  ...of("alibi", "nothing", "zero", "quarter", "rounded", "against"), // one more for all keys is nothing to a softmax
  ...of("t5", "nothing", "zero", "late", "quarter", "rounded", "against"),
  ...of("rope", "nothing", "zero", "late", "quarter", "rounded", "against"),
  ...of("rope-and-none", "nothing", "zero", "late", "quarter", "rounded", "against"),
];

function of(model, ...treatments) {
  return treatments.map((treatment) => [model, treatment]);
}
