/** Random numbers from a seed, the same in every browser: Tommy Ettinger's mulberry32. */
export function generator(seed) {
  let state = Math.imul(seed + 1, 0x9e3779b1);
  const uniform = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    uniform,
    /** A whole number below this one. */
    below: (count) => Math.floor(uniform() * count),
    normal: () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
  };
}
