// What an exercise says to its reader.
import { _, decimals } from "./words.js";

const megabytes = (bytes) => decimals(bytes / 1e6, 1);

export const words = {
  check: _("Check"),
  stop: _("Stop"),
  hint: (shown, all) => _("Hint ({shown} of {all} shown)", { shown, all }),
  reset: _("Reset"),
  former: _("Bring back my earlier version"),
  solution: _("Show solution"),

  answerTo: (title) => _("Your answer to: {title}", { title }),
  keys: _(
    "Tab indents once you have typed or clicked in the editor. To leave the editor with the keyboard, press Escape, then Tab. " +
      "Ctrl+Enter checks. Alt+Enter goes on to the next exercise.",
  ),
  keyRow: _("Keys for code"),
  typeKey: (key) => _("Type {key}", { key }),
  indent: _("Tab: indent the line"),
  undo: _("Undo"),

  passedBefore: _("✓ passed"),
  stepsPassed: (passed, total) => _("{passed} of {total} steps passed", { passed, total }),

  passedInNotebook: _("I passed it in the notebook"),

  python: {
    none: "",
    loading: _("Python is being loaded into this page. You can start writing meanwhile."),
    stalled: _(
      "The download of Python has stalled: nothing has arrived for several seconds. Your connection may be slow or lost. " +
        "It continues by itself when it can; or press “Try again”.",
    ),
    starting: _("Python is starting. This takes a few seconds."),
    ready: _("Python is ready."),
  },
  bytes: (received, total) =>
    total
      ? _("{received} of {total} MB", { received: megabytes(received), total: megabytes(total) })
      : _("{received} MB so far", { received: megabytes(received) }),
  retry: _("Try again"),

  checking: _("Checking."),
  busy: _("A check is still running. Wait until it has finished, or stop it."),
  stopped: _("Stopped. There is no verdict. Your code is as you left it."),
  tooLong: (seconds) =>
    _(
      "Stopped after {seconds} seconds. There is no verdict. Does a loop in your code never end? Your code is as you left it.",
      { seconds },
    ),
  broken: _(
    "Python crashed while running your code, perhaps because it ran out of memory. It has been restarted. Your code is as you left it.",
  ),
  unreachable: _(
    "Python could not be loaded into this page. Perhaps you are offline, or something blocks it. Your code is kept. " +
      "Press Check to try again, or do the exercise in a notebook:",
  ),

  unwritten: _("There is no answer yet. Replace the line that raises NotImplementedError with your own code."),
  missing: (name) =>
    _("Your code ran, but it does not define {name}. That is the name that is checked, so keep it.", { name }),
  uncallable: (name) => _("Your code ran, but {name} is not a function. Define it with def {name}(...).", { name }),
  failedToRun: _("Your code stopped with an error."),
  errorAt: (error, line) => _("{error} (line {line})", { error, line }),
  needs: (name) =>
    _("Your code uses {name}, which is the answer to an earlier exercise of this chapter. Write that one first:", {
      name,
    }),

  compare: _("The solution is open below. Compare it with yours."),
  next: (title) => _("Next exercise: {title} (Alt+Enter)", { title }),
  nextChapter: (title) => _("Next chapter: {title} (Alt+Enter)", { title }),
  notDrawn: _("The figure that your answer draws was not ready in time. Your answer has passed all the same."),

  printed: _("What your code printed"),
  cut: (characters) =>
    _("The output is cut here. Characters left out: {characters}.", { characters: decimals(characters, 0) }),
  cutUnfinished: _("There may be more output: the run was stopped."),

  hintShown: (number) => _("Hint {number} is open below.", { number }),
  wasReset: _("The starter is back. Your earlier version is kept."),
  formerBack: _("Your earlier version is back."),
  askSolution: _("Show the solution? You learn more if you try first, and take the hints one by one."),
  yes: _("Yes, show it"),
  no: _("Not yet"),
  solutionShown: _("The solution is open below."),

  starterChanged: _("The starter of this exercise has changed since you began. Your own code is still here."),
  elsewhere: _(
    "You have different code for this exercise in another tab. This version is kept, and so is the other one.",
  ),
  fromElsewhere: _("Your code was changed in another tab. This is the new version."),
  takeOther: _("Take the other version"),
  keepMine: _("Keep mine"),
  takeNew: _("Take the new starter"),
  notKept: _("This browser does not let the page store anything: your work is lost when you close the page."),
};
