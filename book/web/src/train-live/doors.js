// What each encoding does at the three doors, for texts of a length.
import { alibiSlopes, frequencies, sinusoidalTable } from "../figures/numbers.js";
import { DIM, HEAD_DIM, HEADS, LENGTH } from "./sizes.js";

const BASE = 10_000;
const [BUCKETS, EXACT, FARTHEST] = [16, 8, 24];
const STEEP = [1, 1 / 256];

/** What an encoding learns: name -> shape and the standard deviation at the start. */
export const LEARNS = {
  learned: { added: { shape: [LENGTH, DIM], std: 1 } },
  t5: {
    "layers.0.table": { shape: [BUCKETS, HEADS], std: 0.02 },
    "layers.1.table": { shape: [BUCKETS, HEADS], std: 0.02 },
  },
};

/**
 * What goes through the doors: `added` (length, DIM); `row`, the row of a learned table that each position takes;
 * `angles` {cos, sin} of (length, HEAD_DIM / 2); `slopes`, one a head; `bucket` of each distance.
 */
export function doors(encoding, length) {
  const places = Array.from({ length }, (_, place) => place);
  if (encoding === "sinusoidal") return { added: Float32Array.from(sinusoidalTable(length, DIM, BASE)) };
  if (encoding === "learned") return { row: places.map((place) => Math.min(place, LENGTH - 1)) };
  if (encoding === "rope") {
    const angles = places.flatMap((place) => frequencies(HEAD_DIM, BASE).map((rate) => place * rate));
    return { angles: { cos: Float32Array.from(angles, Math.cos), sin: Float32Array.from(angles, Math.sin) } };
  }
  if (encoding === "alibi") return { slopes: alibiSlopes(HEADS) };
  if (encoding === "alibi-steep") return { slopes: STEEP };
  if (encoding === "t5") return { bucket: places.map(bucketOf) };
  return {};
}

/** T5's bucket of a distance: exact for near ones, then ever wider. */
function bucketOf(distance) {
  if (distance < EXACT) return distance;
  const share = Math.log(distance / EXACT) / Math.log(FARTHEST / EXACT);
  return Math.min(BUCKETS - 1, EXACT + Math.floor(share * (BUCKETS - EXACT) + 1e-9));
}
