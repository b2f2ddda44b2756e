// Arrays of zeros that are used again: each step of a training asks for the same ones. Taken anew every time,
// three workers of one page wait for each other's memory.

let free = new Map(); // length -> arrays
let taken = [];

/** So many zeros, good until `reuse` is called. */
export function zeros(length) {
  const array = free.get(length)?.pop()?.fill(0) ?? new Float32Array(length);
  taken.push(array);
  return array;
}

/** What `zeros` gave since the last call may be given again; what nobody asked for since then is let go. */
export function reuse() {
  free = new Map();
  for (const array of taken) free.set(array.length, [...(free.get(array.length) ?? []), array]);
  taken = [];
}
