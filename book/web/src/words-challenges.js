// What the challenges say.
import { _, clock, ngettext } from "./words.js";
import { words as exercises } from "./words-exercises.js";

export const words = {
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
      : _("Your best result with this number: {points} of 10 points, in {time} minutes.", { points, time: clock(seconds) }),
  earned: (points) => _("That gives {points} of 10 points.", { points }),
  notKept: _("This browser does not let the page store anything: your results are lost when you close the page."),
  giveUp: _("Tell me"),
  check: _("Check what I mended"),
  keys: _("Tab indents once you have typed or clicked in the editor. To leave it then with the keyboard, press Escape, then Tab."),
  listing: _("The code"),

  python: exercises.python,
  retry: exercises.retry,
  working: _("Python is at work."),
  busy: _("Python is still at work on what you asked before. Wait for its end."),
  stopped: _("Stopped."),
  tooLong: (seconds) => _("Stopped after {seconds} seconds. Does a loop in your code never end?", { seconds }),
  pythonBroke: _("Python broke down, for want of memory perhaps. It has been started anew. Try again."),
  broken: (points) => _("The promise is broken. That gives {points} of 10 points.", { points }),
  unreachable: _("Python could not be loaded into this page. Perhaps you are offline, or something blocks it. Try again later."),

  promise: _("The promise:"),
  judge: _("Does this break it?"),
  kept: _("The promise is kept here, so try another example."),
  smallest: _("There is no smaller example."),
  smaller: _("There is a smaller example. Find it, and you get more."),
  scratch: _("Run code of your own"),
  yours: _("write your own lines here, and print what you want to see"),
  run: _("Run"),
  printedNothing: _("The code ran, and printed nothing. Print what you want to see."),

  solutionOf: (title) => _("One line of this solution is wrong: {title}", { title }),
  whichLine: _("Which line is wrong?"),
  thisLine: _("It is this line"),
  mend: _("Mend it instead"),
  withClock: _("with a clock"),
  clock: (seconds) => _("{time} left", { time: clock(seconds) }),
  timeIsUp: _("The three minutes are over. Go on as long as you like: nothing is lost."),
  chooseLine: _("Choose a line first."),
  notThisLine: (line) => _("Line {line} is right. Look on.", { line }),
  found: (line) => _("Yes, it is line {line}.", { line }),
  given: (line) => _("It is line {line}.", { line }),
  mended: _("Mended: the judge finds no fault."),
  unchanged: _("This is the code as it was. Change the line that is wrong."),
  notMended: _("Not yet. The judge says what is wrong, below."),
  was: _("It said:"),
  shouldBe: _("Right is:"),
  judgeSays: _("With the mistake in it, the judge says of this code:"),

  measure: _("What do you want to measure?"),
  cost: (questions, wrong) =>
    _("If you name it now, and rightly, you get {points} of 10 points.", { points: Math.max(1, 10 - questions - 3 * wrong) }),
  whichEncoding: _("Which encoding does the model have?"),
  nameIt: _("Name it"),
  chooseEncoding: _("Choose an encoding first."),
  notThisEncoding: _("No, it is another one."),
  named: _("Right."),
  givenEncoding: (title) => _("It is this one: {title}", { title }),
  numbers: _("The numbers"),
};
