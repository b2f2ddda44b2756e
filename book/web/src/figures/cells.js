// What a cell of a heat map is.
import { clip, pointed } from "./pointed.js";

/** A field over a heat map: `place({left, top, width, height}, {rows, columns, label, tell})`, shares of 1. */
export function cells(element) {
  const place = pointed(element, "posenc-cell");
  return (share, { rows, columns, label, tell }) => {
    const hold = ([row, column]) => [clip(row, rows), clip(column, columns)];
    place(share, {
      label,
      count: rows * columns,
      hold,
      near: (x, y) => hold([Math.floor(y * rows), Math.floor(x * columns)]),
      go: ([row, column], [down, right]) => hold([row + down, column + right]),
      tell: ([row, column]) => ({
        text: tell(row, column),
        number: row * columns + column,
        left: column / columns,
        top: row / rows,
        width: 1 / columns,
        height: 1 / rows,
      }),
    });
  };
}
