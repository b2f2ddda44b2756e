// What the progress page and the bar say. Whole sentences, to be translated.
export const words = {
  passed: "Passed",
  tried: "Tried",
  open: "Open",
  exercisesPassed: (passed, total) => `${passed} of ${total} exercises passed`,
  points: (points, total) => `You have ${points} of ${total} points.`,
  questionsRight: (right, total) => `${right} of ${total} right`,
  due: (count) =>
    count === 1
      ? "One question of your quizzes is due for review."
      : `${count} questions of your quizzes are due for review.`,
  notKept:
    "Your browser does not let this page keep your work, perhaps because this is a private window." +
    " It is lost when you close the page, unless you export it.",
  python: "Python in the pages",
  early: "Load Python when the page opens",
  whenLoaded:
    "Python checks your exercises in your browser. It is large, so a page loads it only when you first click or type in an editor." +
    " With this, a page that has exercises loads it at once.",
  keep: "Keep, move or delete your work",
  exportAll: "Export my work",
  importAll: "Import a file",
  clear: "Delete my work",
  exported: (name) => `Your work is in the file ${name}, where your browser puts downloads.`,
  taken: (count) =>
    count === 1 ? "One entry of the file was taken in." : `${count} entries of the file were taken in.`,
  kept: (count) =>
    count === 1
      ? "One entry stayed as it is, because yours is as new or newer."
      : `${count} entries stayed as they are, because yours are as new or newer.`,
  faulty: (names) => `These entries of the file could not be read, and were left out: ${names}.`,
  refused: {
    unreadable: "This file is damaged, or no export of this page. Nothing was changed.",
    foreign: "This file is no export of this page. Nothing was changed.",
    damaged: "This file is an export of this page, but it is damaged. Nothing was changed.",
    newer: "This file comes from a newer version of this site. Reload the page, and try again. Nothing was changed.",
  },
  askClear:
    "This deletes your answers, your code and your progress from this browser. It cannot be undone." +
    " Export your work first if you may want it back.",
  confirmClear: "Delete everything",
  cancel: "Cancel",
  cleared: "Your work is deleted.",
};
