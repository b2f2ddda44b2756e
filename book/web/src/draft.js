// An editor is hundreds of kilobytes, and takes its time to come. Whoever clicks where it will be writes at once, in a
// plain field; the editor takes its text over (exercises.js). This is part of what every page loads first.
const CODE = ".posenc-exercise[data-live=yes] .posenc-editor pre";

document.addEventListener("click", ({ target, clientX, clientY }) => {
  const code = target instanceof Element && target.closest(CODE);
  if (!code || getSelection().type === "Range") return; // somebody copies from it
  const place = /** @type {HTMLElement} */ (code.closest(".posenc-editor"));
  const at = offsetIn(code, clientX, clientY);
  const field = document.createElement("textarea");
  field.className = "posenc-draft";
  field.value = code.textContent.trimEnd();
  field.rows = field.value.split("\n").length;
  field.spellcheck = false;
  field.autocapitalize = "off";
  field.ariaLabel = /** @type {HTMLElement} */ (place.closest(".posenc-exercise")).dataset.title;
  for (const each of place.children) /** @type {HTMLElement} */ (each).hidden = true;
  place.append(field);
  field.setSelectionRange(at, at);
  field.focus();
});

/** How many characters of the text stand before a point of the window. */
function offsetIn(element, x, y) {
  const { offsetNode: node, offset } = document.caretPositionFromPoint?.(x, y) ?? {};
  if (!node || !element.contains(node)) return 0;
  const before = document.createRange();
  before.setStart(element, 0);
  before.setEnd(node, offset);
  return before.toString().length;
}
