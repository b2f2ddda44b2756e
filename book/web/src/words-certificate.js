// What the page of the certificate says.
import { _, longDate, ngettext } from "./words.js";

export const words = {
  name: _("Your name, as it should appear on the certificate"),
  make: _("Make the certificate"),
  passed: (passed, all) => _("You have passed {passed} of {all} exercises in these pages.", { passed, all }),
  nothingPassed: _("There is nothing to certify yet: pass an exercise in a chapter, and come back."),
  noName: _("Type your name first."),
  made: _("The certificate is below. Print it, or save it as a PDF, and save the progress file that goes with it."),
  notKept: _(
    "The certificate is below. This browser keeps nothing, so save the progress file before you close the page.",
  ),
  print: _("Print, or save as PDF"),
  save: _("Save the progress file"),
  saved: (name) =>
    _("Your work is in the file {name}, where your browser puts downloads. Keep it with the certificate.", { name }),

  title: _("Certificate of practice"),
  hasPassed: (count) =>
    ngettext("has passed one exercise of the course", "has passed {count} exercises of the course", count),
  on: (day) => _("on {date}", { date: longDate(new Date(`${day}T12:00`)) }),
  code: _("Code"),
  smallPrint: (code) =>
    _(
      "This proves practice, not identity. The code is a checksum of the name, the date and the answers; it is not a signature. " +
        "With the progress file, anyone can check it: posenc verify FILE {code}",
      { code },
    ),
};
