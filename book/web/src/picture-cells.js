// The heat maps of still pictures: what each cell is, as posenc_course/figures/picture.py wrote it beside the picture.
import { made } from "./elements.js";
import { cells } from "./figures/cells.js";
import { number, say } from "./words.js";
import { words } from "./words-figures.js";

export function start(pictures) {
  for (const svg of pictures) {
    const holder = made("span", "posenc-mapped");
    for (const side of ["minWidth", "maxWidth"]) {
      holder.style[side] = svg.style[side];
      svg.style[side] = "none";
    }
    svg.style.minWidth = 0;
    svg.replaceWith(holder);
    holder.append(svg);
    for (const map of JSON.parse(svg.dataset.cells)) {
      const [left, top, width, height] = map.place;
      const [rows, columns] = [map.numbers.length, map.numbers[0].length];
      const tell = (row, column) => {
        const value = map.numbers[row][column];
        const names = { row: name(map.down, row), column: name(map.across, column) };
        if (value === null) return say(words.cellEmpty, names);
        names.number = number(value, 3);
        return map.value ? say(words.cellOf, { ...names, value: map.value }) : say(words.cell, names);
      };
      cells(holder)(
        { left, top, width, height },
        { rows, columns, label: say(words.cells, { title: map.title }), tell },
      );
    }
  }
}

/** What an axis calls one of its cells: its label, and the word or the number that stands there. */
const name = ([label, ...ticks], index) => [label, ticks[index] ?? number(index)].filter(Boolean).join(" ");
