// What quizzes and the review say.
import { _, ngettext } from "./words.js";

export const words = {
  check: _("Check my answer"),
  again: _("Answer it again"),
  all: _("Show all questions"),
  nothing: _("Choose an answer first."),
  right: _("That is right."),
  wrong: _("That is not right. The note below your answer says why. Choose another answer, and check it."),
  severalWrong: _("That is not right yet: something that you chose is wrong. The notes below your answers say what."),
  severalMissing: _("What you chose is right, but it is not all. Find what is missing."),
  tries: (count) => ngettext("You have answered this once.", "You have answered this {count} times.", count),
  notKept: _("Your browser does not let this page keep your answers. They are lost when you close it."),
  due: (count) => ngettext("One question is due today.", "{count} questions are due today.", count),
  done: (day) => _("Nothing more is due today. The next question comes back on {day}.", { day }),
  none: _("You have not answered any question yet. There is a quiz at the end of each chapter."),
};
