// What the live figures say, as whole sentences: {names} stand for numbers. Add a language beside `en`.
const WORDS = {
  en: {
    heatmap: {
      name: "Heat map of the sinusoidal table",
      sliders: { dim: "Width (d_model)", base: "Base", length: "Positions" },
      column: "column (even: sine, odd: cosine)",
      position: "position",
      value: "value",
      reading:
        "Width {dim}, base {base}, {length} positions. Pairs that make a whole turn in that length: {whole} of {pairs}. " +
        "The slowest pair needs {slowest} positions for one turn.",
    },
    clocks: {
      name: "The clocks of one position",
      sliders: { position: "Position", dim: "Width (d_model)" },
      pair: "pair {pair}",
      turns: "{turns} turns",
      reading:
        "Position {position}, width {dim}: {pairs} clocks. Pair 0 has made {fast} turns, the last pair {slow} turns. " +
        "The row of the table: {row}.",
    },
    "dot-product": {
      name: "Dot product of two encodings against their offset",
      sliders: { dim: "Width (d_model)", base: "Base", length: "Offsets shown" },
      offset: "offset (positions)",
      product: "dot product",
      mark: "first rise: after offset {offset}",
      reading: "Width {dim}, base {base}: the dot product is {largest} at offset 0 and {smallest} at its lowest. It rises for the first time after offset {offset}.",
      readingWithoutRise: "Width {dim}, base {base}: the dot product is {largest} at offset 0 and {smallest} at its lowest. It does not rise anywhere up to offset {length}.",
    },
    rotary: {
      name: "RoPE turns a query and a key",
      sliders: {
        query: "Position of the query",
        key: "Position of the key",
        shift: "Move both by",
        frequency: "Frequency (rad per position)",
      },
      query: "query",
      key: "key",
      offset: "key position − query position",
      score: "score (dot product)",
      reading:
        "The query stands at position {query} and is turned by {queryAngle} rad, the key at position {key} by {keyAngle} rad. " +
        "The difference is {offset}, and the score is {score}.",
    },
    alibi: {
      name: "ALiBi: slopes and biases",
      sliders: { heads: "Heads", distance: "Distance" },
      head: "head",
      slope: "slope (per position)",
      distance: "distance back to the key (positions)",
      bias: "bias on the score",
      reading:
        "Heads: {heads}. Slopes run from {steepest} down to {gentlest}. At distance {distance} the biases run from {lowest} to {highest}: " +
        "before the softmax is normalised, they multiply a weight by {least} in the steepest head and by {most} in the gentlest.",
    },
    wavelengths: {
      name: "Wavelengths and the context length",
      sliders: {
        head_dim: "Head width",
        base: "Base",
        original_length: "Trained context (positions)",
        factor: "Times longer",
      },
      pair: "pair",
      wavelength: "wavelength (positions)",
      plain: "plain RoPE",
      linear: "PI",
      ntk: "NTK",
      yarn: "YaRN",
      trained: "trained context: {length}",
      stretched: "stretched context: {length}",
      reading:
        "Trained on {trained} positions, stretched to {stretched}. Pairs that never made a whole turn in training: {unseen} of {pairs}. " +
        "The slowest pair's wavelength is {plain} plain, {linear} with PI, {ntk} with NTK, {yarn} with YaRN; " +
        "pair 0 has {fastest} plain and {fastestLinear} with PI. YaRN also multiplies cosines and sines by {attention}.",
    },
  },
};

const language = document.documentElement.lang;
export const words = WORDS[language] ?? WORDS.en;

/** A sentence with its numbers in place. */
export const say = (sentence, numbers) => sentence.replace(/\{(\w+)\}/g, (whole, name) => numbers[name] ?? whole);

/** A number as a reader writes it, with so many significant digits. */
export const number = (value, digits = 6) =>
  new Intl.NumberFormat(language || "en", { maximumSignificantDigits: digits }).format(value).replace("-", "−");

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** A power of ten, such as 10⁻⁶. */
export const powerOfTen = (exponent) =>
  `10${exponent < 0 ? "⁻" : ""}${[...String(Math.abs(exponent))].map((digit) => RAISED[digit]).join("")}`;

/** A number with so many decimals. */
export const decimals = (value, count) =>
  new Intl.NumberFormat(language || "en", { minimumFractionDigits: count, maximumFractionDigits: count })
    .format(value)
    .replace("-", "−");
