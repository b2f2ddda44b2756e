// What the lab says.
import { _, ngettext } from "./words.js";

export const words = {
  start: _("Load the models"),
  coming: (received, total) => _("Loading the models: {received} of {total} kB", { received, total }),
  comingSoFar: (received) => _("Loading the models: {received} kB so far", { received }),
  starting: _("The models are getting ready."),
  ready: _("Both models have read the text."),
  problem: (detail) => _("The models do not run: {detail}. Are you online? Press the button to try again.", { detail }),
  panelProblem: (detail) =>
    _("This model could not be loaded: {detail}. Choose another, or choose it again.", { detail }),
  again: _("Try again"),

  texts: _("A text to read"),
  yours: _("my own"),
  text: _("The text. Change it, or write your own"),
  tooShort: _("Write something for the models to read."),
  repeated: (own) =>
    ngettext(
      "Your text has one byte. It is read again and again, until the length is reached.",
      "Your text has {count} bytes. It is read again from its beginning, until the length is reached.",
      own,
    ),
  whole: _("One byte is one position."),
  length: _("Length to read, in bytes"),
  place: _("A place in it"),
  placeText: (sign, place) => _("“{sign}”, byte {place}", { sign, place }),
  lengthText: (length, trained) => _("{length} bytes, trained on {trained}", { length, trained }),
  layer: _("Layer"),
  head: _("Head"),

  models: { a: _("Model A"), b: _("Model B") },
  encoding: _("Encoding"),
  encodings: {
    rope: _("RoPE"),
    alibi: _("ALiBi"),
    none: _("none"),
    sinusoidal: _("sinusoidal"),
    t5: _("T5 bias"),
    learned: _("learned table"),
    "rope-and-none": _("RoPE, and none in every fourth layer"),
  },
  rule: _("RoPE read by"),
  rules: {
    none: _("as trained"),
    pi: _("position interpolation (PI)"),
    ntk: _("NTK"),
    yarn: _("YaRN"),
  },
  noRule: _("It has no RoPE to stretch."),
  factor: _("Stretched"),
  factors: (factor) => _("{factor} times", { factor }),
  read: _("What it read. The arrow keys go from character to character."),
  means: (near, trained, far) =>
    _("Up to byte {trained}: {near} nats per byte. Beyond: {far}.", { near, trained, far }),
  mean: (near) => _("{near} nats per byte.", { near }),
  reading: _("Reading …"),

  loss: (sign, place, loss) => _("“{sign}” at byte {place} cost {loss} nats.", { sign, place, loss }),
  guess: (sign, share) => _("“{sign}” {share}", { sign, share }),
  guesses: (list) => _("Its best guesses: {list}.", { list }),
  looked: (layer, head, sign, back, share) =>
    _("Layer {layer}, head {head} looked most at “{sign}”, {back} back: {share}.", { layer, head, sign, back, share }),
  itself: (layer, head, sign, share) =>
    _("Layer {layer}, head {head} looked most at “{sign}”, the one before: {share}.", { layer, head, sign, share }),
  first: _("The first byte comes without a guess."),
  point: _("Point at a character, or tap it."),

  temperature: _("Temperature"),
  seed: _("Seed"),
  write: _("Let both keep writing"),
  stop: _("Stop"),
  writing: _("The models are writing."),
  written: (a, b) => _("Model A has written {a} bytes per second, model B {b}.", { a, b }),
  stopped: _("Stopped."),
  wrote: { a: _("What model A writes"), b: _("What model B writes") },

  curve: {
    place: _("position (bytes)"),
    loss: _("loss (nats per byte)"),
    trained: (length) => _("trained on {length}", { length }),
    about: (a, b) => _("Loss along the text, a running mean. Model A, solid: {a} Model B, dashed: {b}", { a, b }),
  },
};
