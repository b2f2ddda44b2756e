// What an exercise says to its reader: whole sentences, here and nowhere else.
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

export const words = {
  check: "Check",
  stop: "Stop",
  hint: (shown, all) => `Hint (${shown} of ${all} shown)`,
  reset: "Reset",
  former: "Bring back my earlier version",
  solution: "Show solution",

  answerTo: (title) => `Your answer to: ${title}`,
  keys:
    "Tab indents once you have typed or clicked in the editor. To leave it then with the keyboard, press Escape, then Tab. " +
    "Ctrl+Enter checks.",
  passedBefore: "✓ passed",

  passedInNotebook: "I passed it in the notebook",

  python: {
    none: "",
    loading: "Python is being loaded into this page. You can write meanwhile.",
    stalled:
      "The download of Python has come to a halt: for some seconds, nothing has arrived. Your connection may be slow or lost. " +
      "It goes on by itself when it can; or press “Try again”.",
    starting: "Python is starting in your browser. This takes some seconds.",
    ready: "Python is ready.",
  },
  bytes: (received, total) =>
    total ? `${megabytes(received)} of ${megabytes(total)} MB` : `${megabytes(received)} MB so far`,
  retry: "Try again",

  checking: "Checking.",
  busy: "A check is still running. Wait for its end, or stop it.",
  stopped: "Stopped. There is no verdict. Your code is as you left it.",
  tooLong: (seconds) =>
    `Stopped after ${seconds} seconds. There is no verdict. Does a loop in your code never end? Your code is as you left it.`,
  broken:
    "Python broke down while it ran your code, for want of memory perhaps. It has been started anew. Your code is as you left it.",
  unreachable:
    "Python could not be loaded into this page. Perhaps you are offline, or something blocks it. Your code is kept. " +
    "Press Check to try again, or do the exercise in a notebook:",

  unwritten: "There is no answer yet. Replace the line that raises NotImplementedError with yours.",
  missing: (name) => `Your code ran, but it defines no ${name}. That is the name that is checked: keep it.`,
  uncallable: (name) => `Your code ran, but ${name} is no function in it. Define it with def ${name}(...).`,
  failedToRun: "Your code stopped with an error.",
  errorAt: (error, line) => `${error} (line ${line})`,
  needs: (name) => `Your code uses ${name}, which is the answer to an earlier exercise of this chapter. Write that one first:`,

  printed: "What your code printed",
  cut: (characters) => `The output is cut here. Characters left out: ${characters.toLocaleString()}.`,
  cutUnfinished: "The output may go on: the run was stopped.",

  hintShown: (number) => `Hint ${number} is open below.`,
  wasReset: "The starter is back. Your earlier version is kept.",
  formerBack: "Your earlier version is back.",
  askSolution: "Show the solution? You learn more if you try first, and take the hints one by one.",
  yes: "Yes, show it",
  no: "Not yet",
  solutionShown: "The solution is open below.",

  starterChanged: "The starter of this exercise has changed since you began. Your own code is still here.",
  keepMine: "Keep mine",
  takeNew: "Take the new starter",
  notKept: "This browser does not let the page store anything: your work is lost when you close the page.",
};
