// Break this encoding: the reader types an example, Python judges it.
import { button, intoView, made } from "./elements.js";
import { joined } from "./words.js";
import { words } from "./words-challenges.js";
import { words as code } from "./words-exercises.js";

/** @param {import("./challenges.js").Place} place */
export async function open(place, seed, isOpen) {
  const challenge = { do: "play", challenge: "break", seed };
  const drawn = await place.ask({ ...challenge, act: "draw" });
  if (!drawn || !isOpen()) return;

  let tries = 0;
  const inputs = drawn.fields.map((label) => {
    const input = made("input", "");
    Object.assign(input, { type: "text", inputMode: "numeric", autocomplete: "off" });
    return { input, label: made("label", "", made("span", "", label), input) };
  });
  const form = made("form", "posenc-form", ...inputs.map((each) => each.label));
  form.append(made("button", "posenc-button posenc-check", words.judge));
  const history = made("ol", "posenc-tried");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const typed = inputs.map((each) => each.input.value);
    const found = await place.ask({ ...challenge, act: "judge", typed, tries });
    if (!found || !isOpen()) return;
    const sentences = [found.sentence];
    if (found.broken) {
      sentences.push(words.broken(found.points), found.smallest ? words.smallest : words.smaller);
      place.keep(seed, { points: found.points, tries: tries + 1, size: found.size });
    } else if (found.counts && !found.too_large) {
      tries += 1;
      sentences.push(words.kept);
    }
    place.say(joined(...sentences));
    if (found.counts)
      history.append(made("li", found.broken ? "posenc-good" : "", `${typed.join(", ")}: ${found.sentence}`));
    intoView(place.status);
  });

  const own = scratch(place, drawn.code);
  place.leave = own.leave;
  place.body.replaceChildren(
    made("h3", "", drawn.title),
    shown(drawn.code),
    made("p", "posenc-promise", made("strong", "", words.promise), " ", drawn.promise),
    made("p", "", drawn.asked),
    form,
    history,
    own.element,
  );
  inputs[0].input.focus();
}

export function shown(text) {
  const block = made("pre", "posenc-listing", made("code", "", text.trimEnd()));
  block.tabIndex = 0; // it scrolls
  block.setAttribute("role", "region");
  block.setAttribute("aria-label", words.listing);
  return block;
}

/** An editor whose code may be run as often as one likes. */
function scratch(place, text) {
  const editorPlace = made("div", "posenc-editor");
  const keys = made("p", "posenc-keys", words.keys);
  keys.id = `posenc-keys-${place.kind}`;
  const output = made("div", "posenc-output");
  output.setAttribute("role", "status");
  let editor;
  const run = async () => {
    output.replaceChildren();
    output.setAttribute("aria-busy", "true"); // heard once, at the end
    const printed = made("pre", "");
    const done = await place.ask({ do: "scratch", code: editor.code() }, (piece) => {
      if (!printed.parentNode) output.append(printed);
      printed.append(piece);
    });
    if (done?.kind === "error") {
      output.append(made("p", "posenc-error", done.line ? code.errorAt(done.error, done.line) : done.error));
    } else if (done && !printed.parentNode) output.append(made("p", "", words.printedNothing));
    output.removeAttribute("aria-busy");
  };
  const box = made(
    "details",
    "posenc-scratch",
    made("summary", "", words.scratch),
    keys,
    editorPlace,
    made(
      "div",
      "posenc-row",
      button(words.run, run),
      button(code.stop, () => place.runner.stop()),
    ),
    output,
  );
  box.addEventListener("toggle", async () => {
    if (!box.open || editor) return;
    const { createEditor } = await import("./editor.js");
    if (editor) return;
    const begun = `import numpy as np\nimport posenc_lib\n\n${text.trimEnd()}\n\n# ${words.yours}\n`;
    editor = createEditor(editorPlace, {
      code: begun,
      label: words.scratch,
      describedBy: keys.id,
      onChange: () => {},
      onCheck: run,
    });
  });
  return { element: box, leave: () => editor?.destroy() };
}
