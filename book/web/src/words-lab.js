// What the lab says.
import { _, ngettext } from "./words.js";

export const words = {
  start: _("Load the models"),
  coming: (received, total) => _("Loading the models: {received} of {total} kB", { received, total }),
  comingSoFar: (received) => _("Loading the models: {received} kB so far", { received }),
  starting: _("The models are getting ready."),
  problem: (detail) => _("The models do not run: {detail}. Are you online? Press the button to try again.", { detail }),
  panelProblem: (detail) =>
    _("This model could not be loaded: {detail}. Choose another, or choose it again.", { detail }),
  tryAgain: _("Try again"),

  experiments: _("Experiments"),
  presets: {
    trained: _("At the trained length"),
    longer: _("Eight times longer"),
    yarn: _("Stretch with YaRN"),
    again: _("One line, again and again"),
  },
  copy: _("Copy link"),
  copied: _("The link to what you see is copied."),
  notCopied: _("This browser does not let the page copy. The link is in the address bar."),
  badLink: (name, value, allowed) =>
    _("The link says “{name}={value}”, but it can only be: {allowed}. So the lab starts as it always does.", {
      name,
      value,
      allowed,
    }),
  whole: (from, to) => _("a whole number from {from} to {to}", { from, to }),
  multiple: (step, from, to) => _("a multiple of {step} from {from} to {to}", { step, from, to }),
  someText: _("a text of one character or more"),

  texts: _("A text to read"),
  yours: _("my own"),
  text: _("The text. Change it, or write your own"),
  tooShort: _("Write something for the models to read."),
  bytes: (own) => ngettext("One byte, which is one position.", "{count} bytes, one position each.", own),
  first: (most) => _("Its first {most} bytes can be read, one position each.", { most }),
  repeated: (own, length, [a, aAgain, b, bAgain]) =>
    _(
      "The text ends at byte {own} and is read again and again, to fill {length}: the first time through it cost model A {a} nats per byte, and after that {aAgain}; model B went from {b} to {bAgain}.",
      { own, length, a, aAgain, b, bAgain },
    ),
  length: _("Length to read"),
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
  inSentence: {
    rope: _("RoPE"),
    alibi: _("ALiBi"),
    none: _("the model without an encoding"),
    sinusoidal: _("the sinusoidal encoding"),
    t5: _("T5’s bias"),
    learned: _("the learned table"),
    "rope-and-none": _("RoPE in three layers of four"),
  },
  ruleInSentence: { pi: _("PI"), ntk: _("NTK"), yarn: _("YaRN") },
  stretched: (encoding, rule, factor) => _("{encoding} stretched {factor} times by {rule}", { encoding, rule, factor }),
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
  noGuess: _("The first byte comes without a guess."),

  difference: {
    same: (name) => _("You are comparing {name} with itself: give one of the two another encoding.", { name }),
    short: (given) => _("On this text {better} does better than {worse}: {low} nats per byte against {high}.", given),
    tie: (given) => _("On this text {better} and {worse} do equally well: {low} nats per byte.", given),
    throughout: (given) =>
      _(
        "On this text {better} does better than {worse} throughout: {low} nats per byte against {high} up to byte {trained}, and {farLow} against {farHigh} beyond.",
        given,
      ),
    changes: (given) =>
      _(
        "Up to byte {trained}, {better} does better than {worse}, with {low} nats per byte against {high}; beyond it, {far} does, with {farLow} against {farHigh}.",
        given,
      ),
    ties: (given) =>
      _(
        "On this text {better} and {worse} do equally well: {low} nats per byte up to byte {trained}, and {beyond} beyond.",
        given,
      ),
    tieThen: (given) =>
      _(
        "Up to byte {trained}, {better} and {worse} do equally well, with {low} nats per byte; beyond it, {far} does better, with {farLow} against {farHigh}.",
        given,
      ),
    thenTie: (given) =>
      _(
        "Up to byte {trained}, {better} does better than {worse}, with {low} nats per byte against {high}; beyond it, both cost {beyond}.",
        given,
      ),
  },

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
    again: _("the text again"),
    key: (model, name) => _("{model}: {name}", { model, name }),
    about: (a, b) => _("Loss along the text, a running mean. Model A, solid: {a} Model B, dashed: {b}", { a, b }),
  },
};
