// The editor of an exercise: CodeMirror, with what a short Python answer needs.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { indentation } from "./indent.js";
import { keyRow } from "./key-row.js";

// Tab goes on to the next control, until the reader types or clicks in the editor, and again after Escape.
const tabPasses = [
  keymap.of([
    {
      key: "Escape",
      run(view) {
        view.setTabFocusMode(true);
        return false;
      },
    },
  ]),
  EditorView.domEventHandlers({
    mousedown: (_, view) => view.setTabFocusMode(false),
    blur: (_, view) => document.hasFocus() && view.setTabFocusMode(true), // not when the window is left for a while
  }),
  EditorView.updateListener.of(({ docChanged, view }) => docChanged && view.hasFocus && view.setTabFocusMode(false)),
];

/**
 * An editor in `parent`. `describedBy` is the id of the text that tells how to leave it with the keyboard.
 * Returns {code(), setCode(text), focused(), focus(), destroy(), goOnFrom(field)}, the last to write on where a field has the cursor.
 */
export function createEditor(parent, { code, label, describedBy, onChange, onCheck }) {
  const check = () => {
    onCheck();
    return true;
  };
  const view = new EditorView({
    parent,
    doc: code,
    extensions: [
      lineNumbers(),
      history(),
      python(),
      indentUnit.of("    "),
      EditorState.tabSize.of(4),
      indentation,
      tabPasses,
      keyRow,
      bracketMatching(),
      highlightActiveLine(),
      EditorView.lineWrapping,
      syntaxHighlighting(classHighlighter), // colours stand in exercises.css
      keymap.of([
        ...["Mod-Enter", "Ctrl-Enter"].map((key) => ({ key, run: check })), // a Mac's own, and the one that the page names
        ...defaultKeymap,
        ...historyKeymap,
        indentWithTab,
      ]),
      EditorView.contentAttributes.of({ "aria-label": label, "aria-describedby": describedBy }),
      EditorView.updateListener.of((update) => update.docChanged && onChange(update.state.doc.toString())),
    ],
  });
  view.setTabFocusMode(true);
  return {
    code: () => view.state.doc.toString(),
    setCode: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    focused: () => view.hasFocus,
    focus: () => view.focus(),
    destroy: () => view.destroy(),
    goOnFrom({ selectionStart: anchor, selectionEnd: head }) {
      view.focus();
      view.dispatch({ selection: { anchor, head } });
      view.setTabFocusMode(false);
    },
  };
}
