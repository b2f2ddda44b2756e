// What a cell of a chapter says that is run and changed in the page.
import { _ } from "./words.js";

export const words = {
  tryIt: _("Try it"),
  run: _("Run"),
  reset: _("Reset"),
  close: _("Close"),
  code: (number) => _("The code of cell {number}", { number }),
  keys: _(
    "Tab indents once you have typed or clicked in the editor. To leave the editor with the keyboard, press Escape, then Tab. " +
      "Ctrl+Enter runs the code, after everything above it.",
  ),
  busy: _("Something else is still running in this page. Wait until it has finished, or stop it."),
  unreachable: _(
    "Python could not be loaded into this page. Perhaps you are offline, or something blocks it. Your code is kept. " +
      "Try again, or run the cell in the chapter's notebook:",
  ),
  running: _("Running, after everything above it."),
  ran: _("It ran. This is what came out:"),
  silent: _(
    "It ran, and shows nothing. Write print(...) around what you want to see, or put its name on the last line.",
  ),
  printed: _("It ran. What it printed is below."),
  above: (error) =>
    _(
      "A cell above that you changed stopped with an error, so this one did not run. Reset that cell, or fix it. It says: {error}",
      {
        error,
      },
    ),
  ranUndrawn: _("It ran."),
  undrawn: _(
    "It also draws a picture. Matplotlib could not be loaded into this page, so there is none here; the chapter's notebook draws it:",
  ),
  wasReset: _("The book's code is back, and so is its output."),
  fromElsewhere: _("This cell was changed in another tab. This is the new version."),
  notKept: _("This browser does not let the page store anything: your work is lost when you close the page."),
  fresh: _("Run it as it is, or change something first."),
};
