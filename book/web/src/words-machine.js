// What a page says of the Python and the JupyterLab of this machine.
import { _ } from "./words.js";

export const words = {
  openInLab: _("Open it in JupyterLab on this machine"),
  ranInPage: (version) => _("Run by the Python {version} in this page.", { version }),
  ranOnMachine: (version) => _("Run by the Python {version} on this machine.", { version }),
  gone: _(
    "Python on this machine is not answering. Is make serve still running? Your code is kept. Press Run to try again, or use the notebook:",
  ),
};
