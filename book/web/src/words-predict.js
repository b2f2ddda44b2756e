// What predict boxes say, and the page that gathers them.
import { _, ngettext } from "./words.js";

export const words = {
  predict: _("That is my prediction"),
  show: _("Show me"),
  again: _("Predict it again"),
  number: _("Your number:"),
  noNumber: _("Write a number first, such as 3, 0.25 or 1/64."),
  right: (said) => _("You said {said}, and that is right.", { said }),
  near: (said, right) => _("You said {said}; it is {right}. That is close enough.", { said, right }),
  wrong: (said, right) => _("You said {said}; it is {right}.", { said, right }),
  shown: (right) => _("It is {right}.", { right }),
  surprises: (count) =>
    ngettext("One prediction of yours was wrong.", "{count} predictions of yours were wrong.", count),
  noSurprise: _("None of your predictions has been wrong so far."),
  nonePredicted: _("You have not predicted anything yet."),
};
