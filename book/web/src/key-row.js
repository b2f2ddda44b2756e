// The keys of Python that a phone's keyboard hides, in a row above it, while an editor has the focus.
import { indentMore, undo } from "@codemirror/commands";
import { EditorView } from "@codemirror/view";
import { made } from "./elements.js";
import { words } from "./words-exercises.js";

const TYPED = ["(", ")", "[", "]", ":", "="];

let row; // one for all editors of the page
let view; // the editor that has the focus

export const keyRow = [
  EditorView.domEventHandlers({
    focus: (_, focused) => show(focused),
    blur: ({ relatedTarget }) => !row.contains(relatedTarget) && hide(),
  }),
  // The line of the cursor is not to hide behind it.
  EditorView.scrollMargins.of((each) => (each === view ? { bottom: row.offsetHeight } : null)),
];

function show(focused) {
  view = focused;
  row ??= build();
  row.hidden = false;
  place();
}

function hide() {
  view = undefined;
  row.hidden = true;
}

function build() {
  const keys = TYPED.map((text) => key(text, words.typeKey(text), () => type(text)));
  keys.push(
    key("Tab", words.indent, () => indentMore(view)),
    key(words.undo, words.undo, () => undo(view)),
  );
  const bar = made("div", "posenc-key-row", ...keys);
  bar.setAttribute("role", "toolbar");
  bar.setAttribute("aria-label", words.keyRow);
  bar.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays in the editor
  for (const kind of ["resize", "scroll"]) visualViewport.addEventListener(kind, place);
  document.body.append(bar);
  return bar;
}

function key(text, label, act) {
  const each = made("button", "", text);
  each.type = "button";
  each.setAttribute("aria-label", label);
  each.addEventListener("click", () => {
    act();
    view.focus();
  });
  return each;
}

/** As a keyboard types it: a closing bracket moves to where it belongs. */
function type(text) {
  const { from, to } = view.state.selection.main;
  const insert = () =>
    view.state.update(view.state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true });
  const taken = view.state.facet(EditorView.inputHandler).some((take) => take(view, from, to, text, insert));
  if (!taken) view.dispatch(insert());
}

/** At the lower edge of what the keyboard leaves of the window. */
function place() {
  if (row.hidden) return;
  const { offsetTop, offsetLeft, width, height } = visualViewport;
  Object.assign(row.style, {
    left: `${offsetLeft}px`,
    top: `${offsetTop + height - row.offsetHeight}px`,
    width: `${width}px`,
  });
}
