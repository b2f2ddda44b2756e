import { decimals, number, say } from "../words.js";
import { words } from "../words-figures.js";
import { frequencies, sinusoidalTable, wavelengths } from "./numbers.js";
import { axes, text, ticks } from "./svg.js";

const HEIGHT = 340;
const BAR = 14; // width of the colour bar
const own = words.heatmap;

// Matplotlib's "coolwarm", as the book's still pictures have it: red, green and blue at even steps from -1 to 1.
// biome-ignore format: a table of colours reads best in rows
const COOLWARM = [
  [59, 76, 192], [78, 104, 216], [98, 130, 234], [119, 154, 247], [141, 176, 254], [163, 194, 254],
  [185, 208, 249], [204, 217, 237], [221, 220, 220], [236, 211, 197], [245, 196, 172], [247, 176, 147],
  [244, 152, 122], [235, 125, 98], [221, 95, 75], [202, 59, 55], [180, 4, 38],
];
const COLOURS = Uint32Array.from({ length: 256 }, (_, i) => packed(i / 127.5 - 1));

/** The colour of a value in [-1, 1], as three numbers in 0 .. 255. */
export function colour(value) {
  const place = ((value + 1) / 2) * (COOLWARM.length - 1);
  const left = Math.min(Math.floor(place), COOLWARM.length - 2);
  return COOLWARM[left].map((from, i) => Math.round(from + (place - left) * (COOLWARM[left + 1][i] - from)));
}

function packed(value) {
  const [red, green, blue] = colour(value);
  return (255 << 24) | (blue << 16) | (green << 8) | red; // in memory: red, green, blue, opacity
}

const box = (width) => ({ left: 60, top: 12, right: width - 62, bottom: HEIGHT - 46 });

export function draw({ dim, length }, width) {
  const place = box(width);
  const x = { from: 0, to: dim, ticks: ticks(0, dim, width / 90), label: own.column };
  const y = { from: length, to: 0, ticks: ticks(0, length), label: own.position };
  const values = [1, 0, -1].map((value) => {
    const at = place.top + ((1 - value) / 2) * (place.bottom - place.top);
    return text(place.right + 12 + BAR + 5, at + 4, number(value), "start");
  });
  const name = text(place.right + 8, place.bottom + 17, own.value, "start");
  return { height: HEIGHT, drawing: axes(place, x, y).drawing + values.join("") + name };
}

/** What a cell is, wherever a pointer, a thumb or a key asks. */
export function cells({ dim, base, length }, width) {
  const rates = frequencies(dim, base);
  return {
    place: box(width),
    rows: length,
    columns: dim,
    label: own.cells,
    tell: (position, column) => {
      const pair = Math.floor(column / 2);
      const [wave, sentence] = column % 2 ? [Math.cos, own.cosine] : [Math.sin, own.sine];
      return say(sentence, {
        position: number(position),
        column: number(column),
        pair: number(pair),
        frequency: number(rates[pair], 3),
        value: decimals(wave(position * rates[pair]), 3),
      });
    },
  };
}

/** The parts that are too many for SVG: each a box of the drawing, and the pixels that are stretched over it. */
export function paint({ dim, base, length }, width) {
  const place = box(width);
  const table = sinusoidalTable(length, dim, base);
  const bar = { ...place, left: place.right + 12, right: place.right + 12 + BAR };
  return [
    { place, image: pixels(table, dim, length) },
    {
      place: bar,
      image: pixels(
        Float64Array.from({ length: 128 }, (_, i) => 1 - i / 63.5),
        1,
        128,
      ),
    },
  ];
}

function pixels(values, width, height) {
  const image = new ImageData(width, height);
  const dots = new Uint32Array(image.data.buffer);
  for (let i = 0; i < dots.length; i++) dots[i] = COLOURS[Math.round((values[i] + 1) * 127.5)]; // many: no function each
  return image;
}

export function reading({ dim, base, length }) {
  const turns = wavelengths(frequencies(dim, base));
  return say(own.reading, {
    dim: number(dim),
    base: number(base),
    length: number(length),
    pairs: number(dim / 2),
    whole: number(turns.filter((wave) => wave <= length).length),
    slowest: decimalsFor(turns.at(-1)),
  });
}

const decimalsFor = (wave) => number(wave, wave < 100 ? 3 : Math.ceil(Math.log10(wave)));
