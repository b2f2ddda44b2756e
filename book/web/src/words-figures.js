// What the live figures say.
import { _ } from "./words.js";

export const words = {
  heatmap: {
    name: _("Heat map of the sinusoidal table"),
    sliders: { dim: _("Width (d_model)"), base: _("Base"), length: _("Positions") },
    column: _("column (even: sine, odd: cosine)"),
    position: _("position"),
    value: _("value"),
    reading: _(
      "Width {dim}, base {base}, {length} positions. Pairs that make a whole turn in that length: {whole} of {pairs}. " +
      "The slowest pair needs {slowest} positions for one turn.",
    ),
  },
  clocks: {
    name: _("The clocks of one position"),
    sliders: { position: _("Position"), dim: _("Width (d_model)") },
    pair: _("pair {pair}"),
    turns: _("{turns} turns"),
    reading: _(
      "Position {position}, width {dim}: {pairs} clocks. Pair 0 has made {fast} turns, the last pair {slow} turns. " +
      "The row of the table: {row}.",
    ),
  },
  "dot-product": {
    name: _("Dot product of two encodings against their offset"),
    sliders: { dim: _("Width (d_model)"), base: _("Base"), length: _("Offsets shown") },
    offset: _("offset (positions)"),
    product: _("dot product"),
    mark: _("first rise: after offset {offset}"),
    reading: _("Width {dim}, base {base}: the dot product is {largest} at offset 0 and {smallest} at its lowest. It rises for the first time after offset {offset}."),
    readingWithoutRise: _("Width {dim}, base {base}: the dot product is {largest} at offset 0 and {smallest} at its lowest. It does not rise anywhere up to offset {length}."),
  },
  rotary: {
    name: _("RoPE turns a query and a key"),
    sliders: {
      query: _("Position of the query"),
      key: _("Position of the key"),
      shift: _("Move both by"),
      frequency: _("Frequency (rad per position)"),
    },
    query: _("query"),
    key: _("key"),
    offset: _("key position − query position"),
    score: _("score (dot product)"),
    reading: _(
      "The query stands at position {query} and is turned by {queryAngle} rad, the key at position {key} by {keyAngle} rad. " +
      "The difference is {offset}, and the score is {score}.",
    ),
  },
  alibi: {
    name: _("ALiBi: slopes and biases"),
    sliders: { heads: _("Heads"), distance: _("Distance") },
    head: _("head"),
    slope: _("slope (per position)"),
    distance: _("distance back to the key (positions)"),
    bias: _("bias on the score"),
    reading: _(
      "Heads: {heads}. Slopes run from {steepest} down to {gentlest}. At distance {distance} the biases run from {lowest} to {highest}: " +
      "before the softmax is normalised, they multiply a weight by {least} in the steepest head and by {most} in the gentlest.",
    ),
  },
  wavelengths: {
    name: _("Wavelengths and the context length"),
    sliders: {
      head_dim: _("Head width"),
      base: _("Base"),
      original_length: _("Trained context (positions)"),
      factor: _("Times longer"),
    },
    pair: _("pair"),
    wavelength: _("wavelength (positions)"),
    plain: _("plain RoPE"),
    linear: _("PI"),
    ntk: _("NTK"),
    yarn: _("YaRN"),
    trained: _("trained context: {length}"),
    stretched: _("stretched context: {length}"),
    reading: _(
      "Trained on {trained} positions, stretched to {stretched}. Pairs that never made a whole turn in training: {unseen} of {pairs}. " +
      "The slowest pair's wavelength is {plain} plain, {linear} with PI, {ntk} with NTK, {yarn} with YaRN; " +
      "pair 0 has {fastest} plain and {fastestLinear} with PI. YaRN also multiplies cosines and sines by {attention}.",
    ),
  },
};
