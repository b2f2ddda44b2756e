// Arithmetic on plain typed arrays, for matrices whose rows and columns come in fours.

/**
 * A matrix inside an array: where it begins, and how far apart its rows and its columns lie.
 * So a head's columns, a row's tokens and a transposed matrix are all the same numbers, seen otherwise.
 */
export const view = (numbers, columns, at = 0) => ({ numbers, at, row: columns, column: 1 });
export const turned = ({ numbers, at, row, column }) => ({ numbers, at, row: column, column: row });

/**
 * out = scale * a b, or out += scale * a b.
 *
 * Two rows by four columns at a time, so that eight sums stay in registers: three times as fast as the
 * plain three loops, and faster than the libraries with gradients on matrices as small as these
 * (benchmarks/results/pages/engines.json).
 */
export function multiply(out, a, b, rows, inner, columns, { scale = 1, add = false } = {}) {
  const o = out.numbers,
    p = a.numbers,
    q = b.numbers;
  const aRow = a.row,
    aColumn = a.column,
    bRow = b.row,
    bColumn = b.column;
  const keep = add ? 1 : 0;
  for (let i = 0; i < rows; i += 2) {
    for (let j = 0; j < columns; j += 4) {
      let s0 = 0,
        s1 = 0,
        s2 = 0,
        s3 = 0,
        t0 = 0,
        t1 = 0,
        t2 = 0,
        t3 = 0;
      let x = a.at + i * aRow;
      let y = b.at + j * bColumn;
      for (let k = 0; k < inner; k++) {
        const u = p[x],
          v = p[x + aRow];
        const b0 = q[y],
          b1 = q[y + bColumn],
          b2 = q[y + 2 * bColumn],
          b3 = q[y + 3 * bColumn];
        s0 += u * b0;
        s1 += u * b1;
        s2 += u * b2;
        s3 += u * b3;
        t0 += v * b0;
        t1 += v * b1;
        t2 += v * b2;
        t3 += v * b3;
        x += aColumn;
        y += bRow;
      }
      const first = out.at + i * out.row + j * out.column;
      const second = first + out.row;
      const step = out.column;
      o[first] = keep * o[first] + scale * s0;
      o[first + step] = keep * o[first + step] + scale * s1;
      o[first + 2 * step] = keep * o[first + 2 * step] + scale * s2;
      o[first + 3 * step] = keep * o[first + 3 * step] + scale * s3;
      o[second] = keep * o[second] + scale * t0;
      o[second + step] = keep * o[second + step] + scale * t1;
      o[second + 2 * step] = keep * o[second + 2 * step] + scale * t2;
      o[second + 3 * step] = keep * o[second + 3 * step] + scale * t3;
    }
  }
}

/** Each row of `out` is that of `x` at a mean square of one; gives what each was multiplied by. */
export function normed(out, x, width, epsilon) {
  const factors = new Float32Array(x.length / width);
  for (let row = 0; row < factors.length; row++) {
    let squares = 0;
    for (let i = row * width; i < (row + 1) * width; i++) squares += x[i] * x[i];
    const factor = 1 / Math.sqrt(squares / width + epsilon);
    factors[row] = factor;
    for (let i = row * width; i < (row + 1) * width; i++) out[i] = x[i] * factor;
  }
  return factors;
}

/** Adds to `into` the gradient of what was normed, given that of the outcome `y`. */
export function normedBack(into, gradient, y, factors, width) {
  for (let row = 0; row < factors.length; row++) {
    let along = 0;
    for (let i = row * width; i < (row + 1) * width; i++) along += gradient[i] * y[i];
    along /= width;
    for (let i = row * width; i < (row + 1) * width; i++) into[i] += factors[row] * (gradient[i] - y[i] * along);
  }
}

/** Turns the pairs (interleaved) of each row by its position's angles; sign -1 turns back. */
export function turn(x, { cos, sin }, length, width, sign = 1) {
  const pairs = width / 2;
  const all = cos.length / length;
  for (let row = 0; row < x.length / width; row++) {
    const angles = (row % length) * all;
    for (let pair = 0; pair < pairs; pair++) {
      const at = row * width + 2 * pair;
      const c = cos[angles + (pair % all)],
        s = sign * sin[angles + (pair % all)];
      const a = x[at],
        b = x[at + 1];
      x[at] = a * c - b * s;
      x[at + 1] = b * c + a * s;
    }
  }
}
