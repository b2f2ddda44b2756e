// What the challenges say.
import { _, clock, ngettext } from "./words.js";
import { words as exercises } from "./words-exercises.js";

const pointsFor = (questions, wrong) => Math.max(1, 10 - questions - 3 * wrong);

export const words = {
  pointsFor,
  number: _("Number of the challenge"),
  begin: _("Begin"),
  again: _("Begin again"),
  another: _("Another one"),
  link: _("Address of this challenge"),
  solved: (count) => ngettext("You have solved one.", "You have solved {count}.", count),
  points: (points) => ngettext("They gave you one point.", "They gave you {count} points.", points),
  best: (points, seconds) =>
    seconds === undefined
      ? _("Your best result with this number: {points} of 10 points.", { points })
      : _("Your best result with this number: {points} of 10 points, in {time} minutes.", {
          points,
          time: clock(seconds),
        }),
  earned: (points) => _("That gives {points} of 10 points.", { points }),
  notKept: _("This browser does not let the page store anything: your results are lost when you close the page."),
  giveUp: _("Tell me"),
  check: _("Check my fix"),
  keys: _(
    "Tab indents once you have typed or clicked in the editor. To leave the editor with the keyboard, press Escape, then Tab.",
  ),
  listing: _("The code"),

  python: exercises.python,
  retry: exercises.retry,
  working: _("Python is working."),
  busy: _("Python is still working on your last request. Wait until it has finished."),
  stopped: _("Stopped."),
  tooLong: (seconds) => _("Stopped after {seconds} seconds. Does a loop in your code never end?", { seconds }),
  pythonBroke: _("Python crashed, perhaps because it ran out of memory. It has been restarted. Try again."),
  broken: (points) => _("The promise is broken. That gives {points} of 10 points.", { points }),
  unreachable: _(
    "Python could not be loaded into this page. Perhaps you are offline, or something blocks it. Try again later.",
  ),

  promise: _("The promise:"),
  judge: _("Does this break it?"),
  kept: _("The promise is kept here, so try another example."),
  smallest: _("There is no smaller example."),
  smaller: _("There is a smaller example. Find it to get more points."),
  scratch: _("Run your own code"),
  yours: _("write your own lines here, and print what you want to see"),
  run: _("Run"),
  printedNothing: _("The code ran, and printed nothing. Print what you want to see."),

  solutionOf: (title) => _("One line of this solution is wrong: {title}", { title }),
  whichLine: _("Which line is wrong?"),
  thisLine: _("It is this line"),
  mend: _("Fix it instead"),
  withClock: _("with a clock"),
  clock: (seconds) => _("{time} left", { time: clock(seconds) }),
  timeIsUp: _("Your three minutes are up. Take as long as you like: nothing is lost."),
  chooseLine: _("Choose a line first."),
  notThisLine: (line, way) =>
    way === "down"
      ? _("Line {line} is right. Keep looking further down.", { line })
      : way === "up"
        ? _("Line {line} is right. Keep looking further up.", { line })
        : _("Line {line} is right. Keep looking.", { line }),
  symptom: _("This is what the solution returns, with the mistake still in it:"),
  found: (line) => _("Yes, it is line {line}.", { line }),
  given: (line) => _("It is line {line}.", { line }),
  mended: _("Fixed: the judge finds no mistake."),
  unchanged: _("This is the code as it was. Change the line that is wrong."),
  notMended: _("Not yet. See below what the judge says."),
  was: _("It said:"),
  shouldBe: _("It should be:"),
  judgeSays: _("With the mistake in it, the judge says of this code:"),

  measure: _("What do you want to measure?"),
  cost: (questions, wrong) =>
    _("If you name it correctly now, you get {points} of 10 points.", { points: pointsFor(questions, wrong) }),
  whichEncoding: _("Which encoding does the model use?"),
  nameIt: _("Name it"),
  measureFirst: _("Measure first: ask at least two questions."),
  chooseEncoding: _("Choose an encoding first."),
  notThisEncoding: _("No, it is a different one."),
  named: _("Right."),
  givenEncoding: (title) => _("It is this one: {title}", { title }),
  numbers: _("The numbers"),
  measuring: _("The model is at work."),

  trained: {
    encodings: {
      learned: _("Learned table, added to the input"),
      sinusoidal: _("Sinusoidal, added to the input"),
      alibi: _("ALiBi, a bias on the scores"),
      t5: _("T5's buckets, a bias on the scores"),
      rope: _("RoPE in every layer"),
      "rope-and-none": _("RoPE in three layers of four, and nothing in the fourth"),
    },
    treatments: {
      nothing: _("Nothing: it is as trained"),
      zero: _("Every position is 0"),
      late: _("Off by one: each query is one position too far along, and so is what is added to the input"),
      quarter: _("All positions are divided by 4"),
      rounded: _("Positions are rounded to bfloat16"),
      against: _("The sign is flipped: of what is added, of the bias, or of the turn of the keys"),
    },
    whatWasDone: _("What was done to its positions?"),
    chooseTreatment: _("First choose what was done. It may be nothing."),
    wrong: {
      both: _("Neither is right: it has a different encoding, and something else was done to it."),
      encoding: _("The encoding is wrong. What was done to it is right."),
      treatment: _("The encoding is right. Something else was done to it."),
    },
    both: (encoding, done) => _("{encoding}. What was done: {done}.", { encoding, done }),
    given: (title) => _("This is the answer: {title}", { title }),
    unreachable: _("The model could not be loaded. Perhaps you are offline. Ask again when you are not."),
    names: [_("this model"), _("as trained")],
    nothing: _("0, up to rounding"),
    questions: {
      added: {
        title: _("What is added to the input"),
        how: _("One column of what the model adds to a word, for positions 0 to 319. It was trained on 256."),
      },
      first: {
        title: _("Score by distance, first layer"),
        how: _(
          "The same letter again and again: how does a head score it, by how far back it is? The query is at position 400.",
        ),
      },
      last: {
        title: _("Score by distance, last layer"),
        how: _("The same in the fourth layer."),
      },
      shift: {
        title: _("Shift the text"),
        how: _("The same 64 bytes, placed later: does the model's loss on them change?"),
      },
      loss: {
        title: _("Loss by position"),
        how: _("A text of 512 bytes: how much does each stretch of 32 cost? Past 256 the model was never trained."),
      },
    },
    across: {
      added: _("position"),
      first: _("distance back"),
      last: _("distance back"),
      shift: _("position at which the text begins"),
      loss: _("position"),
    },
    up: {
      added: _("what is added"),
      first: _("score"),
      last: _("score"),
      shift: _("loss (nats a byte)"),
      loss: _("loss (nats a byte)"),
    },
    found: {
      added: (told) =>
        _(
          "What is added spreads over {spread}; as it was trained, over {before}. Of {steps} steps to the next position, {alike} change nothing; as it was trained, {alikeBefore}.",
          told,
        ),
      first: (told) =>
        _(
          "The score spreads over {spread}; as it was trained, over {before}. Of {steps} steps further back, {alike} change nothing; as it was trained, {alikeBefore}.",
          told,
        ),
      last: (told) =>
        _(
          "The score spreads over {spread}; as it was trained, over {before}. Of {steps} steps further back, {alike} change nothing; as it was trained, {alikeBefore}.",
          told,
        ),
      shift: (told) => _("In nats, the loss moves by {spread}; as it was trained, by {before}.", told),
      loss: (told) => _("On average it loses {mean} nats a byte; as it was trained, {meanBefore}.", told),
    },
    because: {
      learned: _(
        "As it was trained, it adds something to the input, without a pattern, and the same from position 255 on: its table has ended.",
      ),
      sinusoidal: _("As it was trained, it adds a wave to the input, which continues past the trained length."),
      alibi: _(
        "As it was trained, it adds nothing to the input, and its scores fall on a straight line with the distance.",
      ),
      t5: _(
        "As it was trained, it adds nothing to the input, and its scores change in steps: far keys share a bucket.",
      ),
      rope: _(
        "As it was trained, it adds nothing to the input, and its scores go up and down in waves with the distance, in the last layer too.",
      ),
      "rope-and-none": _(
        "As it was trained, its scores go up and down in waves in the first layer, and in the last layer they do not know the distance at all.",
      ),
    },
    becauseOf: {
      nothing: _("The two lines are the same: nothing was done."),
      zero: _("Its line is flat everywhere, which it was not before: no position gets through any more."),
      late: _("Its line is the old one, moved by one step."),
      quarter: _("Its line is the old one, stretched to four times its width."),
      rounded: _(
        "Its line is the old one up to position 256. Past that it moves in steps: only every second whole number can be written with eight binary digits.",
      ),
      against: _(
        "What was added or biased is mirrored. Where keys turn against queries, the score no longer depends on the distance alone, and a shift of the text changes the loss.",
      ),
    },
  },
};
