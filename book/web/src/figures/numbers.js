// The numbers behind the figures: what posenc_lib computes, for the few cases that are drawn.
// tests/browser/test_live_figures.py holds each function to its namesake in posenc_lib.

const range = (count) => Array.from({ length: count }, (_, i) => i);
const clip = (value) => Math.min(Math.max(value, 0), 1);

/** Angular frequency of each pair, in rad/position: dim/2 numbers. */
export const frequencies = (dim, base) => range(dim / 2).map((i) => base ** ((-2 * i) / dim));

/** Positions that each frequency takes for one whole turn. */
export const wavelengths = (rates) => rates.map((rate) => (2 * Math.PI) / rate);

/** The table of positions 0 .. length-1, row after row: length * dim numbers. */
export function sinusoidalTable(length, dim, base) {
  const rates = frequencies(dim, base);
  const table = new Float64Array(length * dim);
  let at = 0;
  for (let position = 0; position < length; position++) {
    for (const rate of rates) {
      table[at++] = Math.sin(position * rate);
      table[at++] = Math.cos(position * rate);
    }
  }
  return table;
}

/** Dot product of two encodings that are 0 .. last positions apart: last + 1 numbers. */
export function similarities(last, dim, base) {
  const rates = frequencies(dim, base);
  return range(last + 1).map((offset) => rates.reduce((sum, rate) => sum + Math.cos(offset * rate), 0));
}

/** The first index from which the next value is larger, or undefined where none is. */
export function firstRise(values) {
  const found = values.findIndex((value, i) => values[i + 1] > value);
  return found < 0 ? undefined : found;
}

/** A vector whose pairs (interleaved) are turned by position * rate, counterclockwise, as RoPE does. */
export function rotate(vector, position, rates) {
  return rates.flatMap((rate, i) => {
    const [a, b] = [vector[2 * i], vector[2 * i + 1]];
    const [cos, sin] = [Math.cos(position * rate), Math.sin(position * rate)];
    return [a * cos - b * sin, b * cos + a * sin];
  });
}

export const dot = (one, other) => one.reduce((sum, value, i) => sum + value * other[i], 0);

/** The largest power of two that is not above the number of heads. */
export const powerOfTwoWithin = (heads) => 2 ** Math.floor(Math.log2(heads));

/** ALiBi's slope of each head. */
export function alibiSlopes(heads) {
  const power = powerOfTwoWithin(heads);
  const series = (count) => range(count).map((i) => 2 ** ((-8 * (i + 1)) / count));
  const between = series(2 * power).filter((_, i) => i % 2 === 0);
  return [...series(power), ...between.slice(0, heads - power)];
}

/** Position interpolation: every frequency divided by the factor. */
export const linearScaling = (dim, base, factor) => frequencies(dim, base).map((rate) => rate / factor);

/** NTK-aware scaling: the base grows, so that the slowest pair alone is divided by the whole factor. */
export const ntkScaling = (dim, base, factor) =>
  frequencies(dim, base).map((rate, i) => rate / factor ** ((2 * i) / (dim - 2)));

/** YaRN with the ramp of the released code: fast pairs stay, slow ones are divided by the factor. */
export function yarnScaling(dim, base, factor, originalLength) {
  const pairThatTurns = (times) => (dim * Math.log(originalLength / (times * 2 * Math.PI))) / (2 * Math.log(base));
  const first = Math.max(Math.floor(pairThatTurns(32)), 0);
  const end = Math.min(Math.ceil(pairThatTurns(1)), dim - 1);
  const last = end === first ? end + 0.001 : end;
  return frequencies(dim, base).map((rate, i) => {
    const divided = clip((i - first) / (last - first));
    return (divided * rate) / factor + (1 - divided) * rate;
  });
}

/** What YaRN multiplies cosines and sines by. */
export const yarnAttention = (factor) => (factor > 1 ? 0.1 * Math.log(factor) + 1 : 1);
