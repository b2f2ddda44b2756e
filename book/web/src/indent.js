// Indentation that helps whoever counts on it, and is not in the way of whoever types it.
//
// Enter indents as Python's syntax has it. That indentation is an offer: a space typed on it begins the reader's own in
// its place, so that code that is typed off a page, spaces and all, arrives as it stands there. While the indentation is
// the editor's, "else:" or a closing bracket moves to where it belongs; the reader's own stays as it is.
import { insertNewlineAndIndent } from "@codemirror/commands";
import { indentRange } from "@codemirror/language";
import { StateEffect, StateField } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";

const offer = StateEffect.define(); // of the start of a line, or null

const offered = StateField.define({
  create: () => null,
  update(at, transaction) {
    for (const effect of transaction.effects) if (effect.is(offer)) return effect.value;
    if (at === null || (transaction.docChanged && !transaction.isUserEvent("input.type"))) return null;
    return lineOf(transaction.state).from === at ? at : null;
  },
});

export const indentation = [offered, keymap.of([{ key: "Enter", run: newLine }]), EditorView.inputHandler.of(typed)];

function lineOf(state, position = state.selection.main.head) {
  return state.doc.lineAt(position);
}

function newLine(view) {
  if (!view.state.selection.main.empty || !afterTwoBlankLines(view.state)) insertNewlineAndIndent(view);
  else {
    const { from, to } = lineOf(view.state);
    const changes = { from, to, insert: "\n" };
    view.dispatch({ changes, selection: { anchor: from + 1 }, scrollIntoView: true, userEvent: "input" });
  }
  view.dispatch({ effects: offer.of(lineOf(view.state).from) });
  return true;
}

/** What follows two blank lines stands at the margin, as the next function does. */
function afterTwoBlankLines(state) {
  const { number } = lineOf(state);
  return number > 1 && [number - 1, number].every((each) => !state.doc.line(each).text.trim());
}

function typed(view, from, to, text, insert) {
  const line = lineOf(view.state, from);
  if (view.composing || from !== to || view.state.field(offered) !== line.from) return false;
  if (text === " " && from === line.to && !line.text.trim()) {
    const changes = { from: line.from, to: from, insert: text };
    const selection = { anchor: line.from + text.length };
    view.dispatch({ changes, selection, effects: offer.of(null), userEvent: "input.type" });
    return true;
  }
  const start = line.text.slice(0, from - line.from) + text;
  if (!view.state.languageDataAt("indentOnInput", from).some((rule) => rule.test(start))) return false;
  view.dispatch(insert());
  view.dispatch({ changes: indentRange(view.state, line.from, line.from) });
  return true;
}
