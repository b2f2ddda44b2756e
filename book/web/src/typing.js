// What a reader types belongs to where it is typed. Sphinx takes "/" for its search, and arrows to turn pages, wherever
// no input element has the focus, which an editor is not; the theme takes Ctrl+K, even before an editor hears of it.
const PLACES = "input, textarea, select, [contenteditable]";
const MAC = /mac/i.test(navigator.platform);

// At the body: after whatever the key does where it is typed, before what listens on the document.
for (const kind of ["keydown", "keypress", "keyup"]) {
  document.body.addEventListener(kind, (event) => {
    if (event.target.closest(PLACES)) event.stopPropagation();
  });
}

addEventListener(
  "keydown",
  (event) => {
    const search = event.key?.toLowerCase() === "k" && (MAC ? event.metaKey : event.ctrlKey) && !event.shiftKey;
    if (!search || !event.target.closest?.(".posenc-editor")) return;
    event.stopImmediatePropagation();
    event.preventDefault();
  },
  true,
);
