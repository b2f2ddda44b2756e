// What the live figures say.
import { _ } from "./words.js";

export const words = {
  play: _("Play"),
  pause: _("Pause"),
  oneOn: _("One step on"), // in place of Play, for who asked for less motion
  again: _("Play again"), // what a still picture did before it came to rest

  // Of heat maps in still pictures: {row} and {column} are what their axes say, as in: position of the query 5.
  cells: _("Cells of the heat map {title}"),
  cell: _("{row}, {column}: {number}"),
  cellOf: _("{row}, {column}: {value} {number}"),
  cellEmpty: _("{row}, {column}: empty"),

  // Of curves in still pictures: {x} and {y} are what their axes say, as in: position 128; {name} is the curve's.
  points: _("Points of the chart {title}"),
  point: _("{x}; {y}"),
  pointOf: _("{name}: {x}; {y}"),

  gates: {
    name: _("Forget gates and their bias"),
    sliders: { word: _("Gate of a word"), stop: _("Gate of a full stop"), query: _("Token that asks") },
    key: _("key (position; dashed: a full stop)"),
    bias: _("bias on the score"),
    weight: _("attention weight"),
    grasp: _("Drag the dotted line to another token, or press Play."),
    line: _("Line of the token that asks"),
    lineAt: _("token {query} asks"),
    same: _(
      "All gates are {word}: this is ALiBi with the slope {slope}. The weight of token 0 is multiplied by {first}, and " +
        "token {query} gives {own}% of its attention to its own sentence.",
    ),
    reading: _(
      "A word lets through {word}, a full stop {stop} of what came before it. The weight of token 0 is multiplied by {first}, and " +
        "token {query} gives {own}% of its attention to its own sentence. ALiBi with the gate of the words has the slope {slope}.",
    ),
  },
  heatmap: {
    name: _("Heat map of the sinusoidal table"),
    sliders: { dim: _("Width (d_model)"), base: _("Base"), length: _("Positions") },
    column: _("column (even: sine, odd: cosine)"),
    position: _("position"),
    value: _("value"),
    grasp: _("Point at a cell, tap it, or go there with the arrow keys: it says what it is."),
    cells: _("Cells of the heat map"),
    sine: _(
      "Position {position}, column {column}: the sine of pair {pair}, which turns {frequency} rad per position. Value: {value}.",
    ),
    cosine: _(
      "Position {position}, column {column}: the cosine of pair {pair}, which turns {frequency} rad per position. Value: {value}.",
    ),
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
    grasp: _("Drag the tip of any hand, or press the arrow keys on it: the other hands follow."),
    hand: _("Hand of pair {pair}"),
    handAt: _("position {position}, {turns} turns"),
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
    reading: _(
      "Width {dim}, base {base}: the dot product is {largest} at offset 0 and {smallest} at its lowest. It rises for the first time after offset {offset}.",
    ),
    readingWithoutRise: _(
      "Width {dim}, base {base}: the dot product is {largest} at offset 0 and {smallest} at its lowest. It does not rise anywhere up to offset {length}.",
    ),
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
    grasp: _("Drag an arrow round, or the mark along the wave. Play moves both tokens on."),
    arrow: { query: _("Arrow of the query"), key: _("Arrow of the key") },
    arrowAt: _("position {position}, score {score}"),
    mark: _("Mark on the wave, which moves the key"),
    markAt: _("difference {offset}, score {score}"),
    offset: _("key position − query position"),
    score: _("score (dot product)"),
    reading: _(
      "The query at position {query} is turned by {queryAngle} rad, the key at position {key} by {keyAngle} rad. " +
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
    grasp: _("Drag the dotted line to another distance."),
    line: _("Line of the distance"),
    lineAt: _("distance {distance}"),
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
    grasp: _("Drag the two level lines up and down by their dots."),
    level: { original_length: _("Level of the trained context"), factor: _("Level of the stretched context") },
    levelAt: _("{length} positions"),
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
  shift: {
    name: _("A step is a turn"),
    sliders: { position: _("Position"), offset: _("Offset"), base: _("Base") },
    grasp: _("Drag a long hand to move the position, a short one to change the offset."),
    pair: _("pair {pair}"),
    at: _("position {position}"),
    hand: { position: _("Long hand of pair {pair}, the position"), offset: _("Short hand of pair {pair}, the offset") },
    handAt: _("position {position}, offset {offset}"),
    reading: _(
      "From position {position} to position {later}, base {base}. The hand of pair 0 turns by {angle} rad, wherever it was: " +
        "cosine {cos}, sine {sin}. The wedges and these numbers depend only on the offset, {offset}.",
    ),
  },
  ruler: {
    name: _("Two tokens on a ruler"),
    sliders: { query: _("Query, in its phrase"), key: _("Key, in its phrase"), shift: _("Where the phrase begins") },
    grasp: _("Drag a token, or drag the phrase by its dot: then both slide together."),
    queryAt: _("query: {position}"),
    keyAt: _("key: {position}"),
    added: _("added: sinusoidal"),
    rotated: _("rotated: RoPE"),
    biased: _("biased: ALiBi"),
    moved: _("where the phrase begins"),
    score: _("score"),
    handle: { query: _("The query"), key: _("The key"), shift: _("The phrase with both tokens") },
    handleAt: _("query at {query}, key at {key}; scores: added {added}, rotated {rotated}, biased {biased}"),
    reading: _(
      "The query is at position {query}, the key at position {key}: their offset is {offset}. " +
        "Their score is {added} with the added encoding, {rotated} with the rotated one, and {biased} with the biased one.",
    ),
  },
  molecule: {
    name: _("A molecule, however it lies"),
    sliders: {
      turn: _("Turned by (degrees)"),
      across: _("Moved by"),
      mirror: _("Mirror (1: sideways, 2: upside down)"),
    },
    grasp: _("Drag the large round atom to turn the molecule, the small one next to A to move it."),
    x: _("x"),
    y: _("y"),
    first: _("A"),
    last: _("D"),
    coordinates: _("coordinates of D"),
    difference: _("difference A to D"),
    distance: _("distance A to D"),
    area: _("area, with its sign"),
    same: _("as it was"),
    changed: _("changed"),
    none: _("nothing"),
    handle: { turn: _("The atom D, which turns the molecule"), across: _("The second atom, which moves the molecule") },
    handleAt: _("turned by {turn} degrees, moved by {across}; as before: {same}"),
    reading: _(
      "The molecule is turned by {turn} degrees and moved by {across}. D is at {coordinates}, {distance} from A; the area is {area}. " +
        "As before: {same}. Changed: {changed}.",
    ),
    readingMirrored: _(
      "In the mirror, the molecule is turned by {turn} degrees and moved by {across}. D is at {coordinates}, {distance} from A; the area is {area}. " +
        "As before: {same}. Changed: {changed}.",
    ),
  },
  seen: {
    name: _("What training has seen"),
    sliders: { trained: _("Positions in training"), length: _("Length of the text"), dim: _("Width (d_model)") },
    grasp: _("Drag the end of the text past the end of the training."),
    trainedAt: _("trained: {trained}"),
    lengthAt: _("text: {length}"),
    pair: _("pair {pair}"),
    round: _("all seen"),
    fresh: _("{share}% new"),
    reading: _(
      "Trained on {trained} positions, and the text has {length}. Clocks that did not go round in training: {slow} of {clocks}. " +
        "Clocks that now point where they have never pointed: {fresh}. Positions for which a learned table has no row: {rows}.",
    ),
  },
  stretched: {
    name: _("Four rules on a longer text"),
    sliders: { trained: _("Positions in training"), factor: _("Times longer") },
    grasp: _("Drag the end of the training or of the text, above or on the circle of the slowest pair."),
    end: { trained: _("End of the training"), factor: _("End of the text") },
    hand: { trained: _("End of the training, on the slowest pair"), factor: _("End of the text, on the slowest pair") },
    trainedAt: _("trained: {trained}"),
    lengthAt: _("text: {length}"),
    plain: _("plain RoPE"),
    linear: _("PI"),
    ntk: _("NTK"),
    yarn: _("YaRN"),
    pair: _("pair {pair}"),
    fresh: _("{share}% new"),
    slowed: _("÷ {by}"), // the frequency, divided by this number
    reading: _(
      "Trained on {trained} positions, and the text has {length}. How much of its circle is new to the pair that meets the most: " +
        "{plain}% with plain RoPE, {linear}% with PI, {ntk}% with NTK, {yarn}% with YaRN. " +
        "Pair {first}, which has seen its whole circle, is slowed by {slowedLinear} with PI, by {slowedNtk} with NTK and by {slowedYarn} with YaRN.",
    ),
  },
};
