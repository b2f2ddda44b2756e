import { number, powerOfTen, say } from "../words.js";
import { words } from "../words-figures.js";
import { frequencies, linearScaling, ntkScaling, wavelengths, yarnAttention, yarnScaling } from "./numbers.js";
import { axes, circle, line, namesOf, path, powers, roomFor, text, ticks } from "./svg.js";

const HEIGHT = 360;
const own = words.wavelengths;

const LOOKS = { plain: "grey heavy", linear: "blue dashed", ntk: "orange dashdot", yarn: "green dotted thick" };

/** The wavelengths of each pair, by rule. */
const curves = ({ head_dim: dim, base, original_length: length, factor }) => ({
  plain: wavelengths(frequencies(dim, base)),
  linear: wavelengths(linearScaling(dim, base, factor)),
  ntk: wavelengths(ntkScaling(dim, base, factor)),
  yarn: wavelengths(yarnScaling(dim, base, factor, length)),
});

const room = () => roomFor(Object.keys(LOOKS).map((rule) => own[rule]));

function frame(values, waves, width) {
  const pairs = waves.plain.length;
  const longest = 10 ** Math.ceil(Math.log10(Math.max(values.original_length * values.factor * 1.5, ...waves.linear)));
  return axes(
    { left: 62, top: 12, right: width - room(), bottom: HEIGHT - 50 },
    { from: 0, to: pairs - 1, ticks: ticks(0, pairs - 1, width / 90), label: own.pair },
    { from: 1, to: longest, log: true, ticks: powers(1, longest), label: own.wavelength, show: power },
  );
}

/** The two level lines, by their right ends. */
export function handles(values, width) {
  const waves = curves(values);
  const { x, y, toY } = frame(values, waves, width);
  const { original_length: trained, factor } = values;
  const level = (setting, length, near, pull) => ({
    setting,
    way: "down",
    x: x(waves.plain.length - 1) - near, // beside each other: their lines may be one
    y: y(length),
    label: own.level[setting],
    text: say(own.levelAt, { length: number(length) }),
    pull: (_, to) => pull(toY(to)),
  });
  return [
    level("original_length", trained, 30, (length) => length),
    level("factor", trained * factor, 90, (length) => length / trained),
  ];
}

export function draw(values, width) {
  const waves = curves(values);
  const pairs = waves.plain.length;
  const trained = values.original_length;
  const stretched = trained * values.factor;
  const { x, y, drawing } = frame(values, waves, width);
  const level = (length, sentence, above) =>
    line(x(0), y(length), x(pairs - 1), y(length), "purple dashed thin") +
    text(x(0) + 6, y(length) + (above ? -5 : 14), say(sentence, { length: number(length) }), "start");
  const rules = Object.entries(waves);
  const names = rules.map(([rule, wave]) => ({
    x: x(pairs - 1),
    y: y(wave.at(-1)),
    name: own[rule],
    look: LOOKS[rule],
  }));
  return {
    height: HEIGHT,
    drawing: [
      drawing,
      level(trained, own.trained, false),
      level(stretched, own.stretched, true),
      ...handles(values, width).map((handle) => circle(handle.x, handle.y, 6, "fill purple")),
      ...rules.map(([rule, wave]) =>
        path(
          wave.map((value, pair) => [x(pair), y(value)]),
          LOOKS[rule],
        ),
      ),
      namesOf(names, width - room() + 20, HEIGHT - 50),
    ].join(""),
  };
}

const power = (value) => (value === 1 ? "1" : value === 10 ? "10" : powerOfTen(Math.round(Math.log10(value))));

export function reading(values) {
  const waves = curves(values);
  const slowest = (rule) => number(waves[rule].at(-1), 4);
  return say(own.reading, {
    trained: number(values.original_length),
    stretched: number(values.original_length * values.factor),
    pairs: number(waves.plain.length),
    unseen: number(waves.plain.filter((wave) => wave > values.original_length).length),
    plain: slowest("plain"),
    linear: slowest("linear"),
    ntk: slowest("ntk"),
    yarn: slowest("yarn"),
    fastest: number(waves.plain[0], 3),
    fastestLinear: number(waves.linear[0], 3),
    attention: number(yarnAttention(values.factor), 4),
  });
}
