// What the server of `make serve` gives its own pages: a Python and a JupyterLab of this machine (book/server.py).
import { made } from "./elements.js";
import { words } from "./words-machine.js";

/**
 * Of a site that is only files, {}.
 *
 * @type {Promise<{ token?: string, api?: string, lab?: string }>}
 */
export const machine = fetch(
  new URL("../local-python.json", import.meta.url), // beside the folder of the scripts
)
  .then((answer) => (answer.ok ? answer.json() : {}))
  .catch(() => ({}));

/** Where a page names a notebook of exercises, lead to it in JupyterLab too. */
export async function start(places) {
  const { lab, token } = await machine;
  if (!lab) return;
  for (const place of places) {
    const file = place.querySelector("a[href*='.ipynb']").href.match(/([\w-]+)\.ipynb/)[1];
    const link = made("a", "posenc-lab-link", words.openInLab);
    link.href = `${lab}${file}/${file}.ipynb?token=${token}`;
    link.target = "_blank";
    link.rel = "noopener";
    place.append(place.matches(".posenc-open") ? " " : " · ", link); // among buttons, or after a link
  }
}
