// What a cell of a chapter says that is run and changed in the page.
import { _ } from "./words.js";

export const words = {
  tryIt: _("Try it"),
  run: _("Run"),
  reset: _("Reset"),
  close: _("Close"),
  code: (number) => _("The code of cell {number}", { number }),
  keys: _(
    "Tab indents once you have typed or clicked in the editor. To leave it then with the keyboard, press Escape, then Tab. " +
      "Ctrl+Enter runs the code, after all that stands above it.",
  ),
  busy: _("Something else is still running in this page. Wait for its end, or stop it."),
  running: _("Running, after all that stands above it."),
  ran: _("It ran. This is what came out:"),
  silent: _(
    "It ran, and shows nothing. Write print(...) around what you want to see, or the name of it as the last line.",
  ),
  printed: _("It ran. What it printed stands below."),
  above: (error) =>
    _(
      "A cell above that you changed stopped with an error, so this one did not run. Reset that cell, or mend it. It says: {error}",
      {
        error,
      },
    ),
  ranUndrawn: _("It ran."),
  undrawn: _(
    "It also draws a picture. Matplotlib could not be loaded into this page, so there is none here; the chapter's notebook draws it:",
  ),
  wasReset: _("The code of the book is back, and what it showed."),
  fromElsewhere: _("This cell was changed in another tab. This is how it stands now."),
  notKept: _("This browser does not let the page store anything: your work is lost when you close the page."),
  fresh: _("Run it as it is, or change something first."),
};
