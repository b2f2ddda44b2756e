// What a reader types belongs to where it is typed. Sphinx takes "/" for its search, and arrows to turn pages, wherever
// no input element has the focus, which an editor is not; the theme takes Ctrl+K, even before an editor hears of it.
const PLACES = "input, textarea, select, [contenteditable]";
const MAC = /mac/i.test(navigator.platform);
const isIn = (places, target) => target instanceof Element && target.closest(places);

// At the body: after whatever the key does where it is typed, before what listens on the document.
for (const kind of ["keydown", "keypress", "keyup"]) {
  document.body.addEventListener(kind, (event) => {
    if (isIn(PLACES, event.target)) event.stopPropagation();
  });
}

addEventListener(
  "keydown",
  (event) => {
    const search = event.key?.toLowerCase() === "k" && (MAC ? event.metaKey : event.ctrlKey) && !event.shiftKey;
    if (!search || !isIn(".posenc-editor", event.target)) return;
    event.stopImmediatePropagation();
    event.preventDefault();
  },
  true,
);
