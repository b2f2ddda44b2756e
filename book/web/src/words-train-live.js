// What the page "Train short, test long, live" says.
import { _ } from "./words.js";

export const words = {
  settings: _("What is trained"),
  encodings: [_("First encoding"), _("Second encoding"), _("Third encoding")],
  nothing: _("none other"),
  encoding: {
    none: _("No encoding"),
    sinusoidal: _("Sinusoidal"),
    learned: _("Learned"),
    rope: _("RoPE"),
    alibi: _("ALiBi"),
    "alibi-steep": _("ALiBi, one steep slope"),
    t5: _("T5"),
  },
  steps: _("Training steps"),
  fewSteps: (count) => _("{count} (may be too few)", { count }),
  seed: _("Seed"),
  train: _("Train"),
  another: _("Again with another seed"),
  pause: _("Pause"),
  goOn: _("Go on"),
  stop: _("Stop"),

  wrongSeed: _("The seed is a whole number from 0 to 9999. Write one, and press Train."),
  failed: (encoding, message) =>
    _("{encoding}: the training stopped ({message}). Press Train to try again, or reload the page.", {
      encoding,
      message,
    }),
  noWorker: (message) =>
    _("This browser could not start the training ({message}). Reload the page, or try another browser.", { message }),

  waits: (encoding) => _("{encoding}: not trained yet.", { encoding }),
  trains: (encoding, step, steps, loss, share) =>
    _("{encoding}: step {step} of {steps}, loss {loss}, {share} of the letters right.", {
      encoding,
      step,
      steps,
      loss,
      share,
    }),
  isTested: (encoding, done, all) =>
    _("{encoding}: trained; {done} of {all} test lengths are measured.", { encoding, done, all }),
  admitted: (encoding, share) => _("{encoding}: trained, {share} right at the trained length.", { encoding, share }),
  refused: (encoding, share, least) =>
    _(
      "{encoding}: {share} right at the trained length; {least} is required. So there is no verdict on longer texts: a model that cannot do the task at 32 shows nothing at 256.",
      { encoding, share, least },
    ),

  measuresTime: _("The first steps show how fast this machine is."),
  willTake: (seconds) => _("On this machine, training and tests will take about {seconds} seconds.", { seconds }),
  left: (seconds) => _("About {seconds} seconds are left.", { seconds }),
  tests: _("The training is over. The tests on longer texts are under way."),
  paused: _("The training is paused."),
  wentOn: _("The training continues."),
  stopped: _("Stopped. What was trained so far is lost."),
  done: (seconds) => _("Trained and tested, after {seconds} seconds. Now drag the test length.", { seconds }),

  lossFigure: _("Loss of each model by training step"),
  step: _("training step"),
  loss: _("loss, nats a letter"),
  results: _("The test"),
  shareFigure: _("Letters right by the length of the text"),
  length: _("Test length, in letters"),
  right: _("letters right"),
  trainedAt: (length) => _("trained at {length}", { length }),
  guess: _("a guess"),
  at: (encoding, share, error, texts, length) =>
    _("{encoding}: {share} ± {error} of the letters right, on {texts} fresh texts of {length} letters.", {
      encoding,
      share,
      error,
      texts,
      length,
    }),
  noVerdict: (encoding) => _("{encoding}: no verdict, since it has not learned the task.", { encoding }),
  measuring: (encoding) => _("{encoding}: this length is being measured.", { encoding }),

  example: _("One text of this length"),
  key: _(
    "Letters that a model got wrong are struck through; those that could not be known yet are pale. The darker the background, the more the last letter looks there, in the head of the second layer that looks hardest.",
  ),
  oneText: (encoding, right, known, back, weight) =>
    _(
      "{encoding} gets {right} of {known} letters right. The last letter looks most at the one {back} before it, with {weight} of its attention.",
      { encoding, right, known, back, weight },
    ),
};
