// A row of letters, none twice, written again and again: `repeated` of posenc_course/experiments/train_live.py.
import { LETTERS } from "./sizes.js";

/** Texts of length + 1 letters, one after another: what is read, what is to be said, and whether it can be told. */
export function repeated(random, rows, length) {
  const [shortest, longest] = [Math.max(4, length >> 3), Math.max(4, length >> 2)];
  const read = new Uint8Array(rows * length);
  const said = new Uint8Array(rows * length);
  const known = new Uint8Array(rows * length);
  for (let row = 0; row < rows; row++) {
    const period = shortest + random.below(longest - shortest + 1);
    const letters = shuffledStart(random, period);
    for (let place = 0; place < length; place++) {
      const at = row * length + place;
      read[at] = letters[place % period];
      said[at] = letters[(place + 1) % period];
      known[at] = Number(place >= period);
    }
  }
  return { read, said, known, rows, length };
}

/** So many letters, none twice. */
function shuffledStart(random, count) {
  const letters = Array.from({ length: LETTERS }, (_, letter) => letter);
  for (let i = 0; i < count; i++) {
    const other = i + random.below(LETTERS - i);
    [letters[i], letters[other]] = [letters[other], letters[i]];
  }
  return letters.slice(0, count);
}
