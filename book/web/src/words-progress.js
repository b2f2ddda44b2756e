// What the progress page and the bar say.
import { _, ngettext } from "./words.js";

export const words = {
  passed: _("Passed"),
  tried: _("Tried"),
  open: _("Open"),
  exercisesPassed: (passed, total) => _("{passed} of {total} exercises passed", { passed, total }),
  passedOf: (passed, total) => _("{passed} of {total} passed", { passed, total }),
  passedHere: (passed, total) => _("{passed} of {total} exercises of this chapter passed.", { passed, total }),
  stepsHere: (passed, total) => _("{passed} of {total} steps of this exercise passed.", { passed, total }),
  stepsPassed: (passed, total) => _("{passed} of {total} steps passed", { passed, total }),
  andSteps: (count) => ngettext(", plus one step", ", plus {count} steps", count),
  points: (points, total) => _("You have {points} of {total} points.", { points, total }),
  questionsRight: (right, total) => _("{right} of {total} right", { right, total }),
  predicted: (made, right) => _("{made} made, {right} right", { made, right }),
  foretold: (said, total, right) =>
    _("You have predicted {said} of {total} results. You were right about {right} of them.", { said, total, right }),
  due: (count) =>
    ngettext(
      "One question of your quizzes is due for review.",
      "{count} questions of your quizzes are due for review.",
      count,
    ),
  notKept: _(
    "Your browser does not let these pages keep your work, perhaps because this is a private window." +
      " What you do on a page is lost when you leave it, and an export does not hold it.",
  ),
  python: _("Python in the pages"),
  early: _("Load Python when the page opens"),
  whenLoaded: _(
    "Python checks your exercises in your browser. It is large, so a page loads it only when you first click or type in an editor." +
      " With this, a page that has exercises loads it at once.",
  ),
  exportAll: _("Export my work"),
  importAll: _("Import a file"),
  clear: _("Delete my work"),
  exported: (name) => _("Your work is in the file {name}, where your browser puts downloads.", { name }),
  taken: (count) =>
    ngettext("One entry of the file was imported.", "{count} entries of the file were imported.", count),
  kept: (count) =>
    ngettext(
      "One entry stayed as it is, because yours is as new or newer.",
      "{count} entries stayed as they are, because yours are as new or newer.",
      count,
    ),
  faulty: (names) => _("These entries of the file could not be read, and were left out: {names}.", { names }),
  refused: {
    unreadable: _("This file is damaged, or was not exported from this page. Nothing was changed."),
    foreign: _("This file was not exported from this page. Nothing was changed."),
    damaged: _("This file is an export of this page, but it is damaged. Nothing was changed."),
    newer: _("This file comes from a newer version of this site. Reload the page, and try again. Nothing was changed."),
  },
  askClear: _(
    "This deletes your answers, your code and your progress from this browser. It cannot be undone." +
      " Export your work first if you may want it back.",
  ),
  confirmClear: _("Delete everything"),
  cancel: _("Cancel"),
  cleared: _("Your work is deleted."),
};
