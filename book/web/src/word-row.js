// Words in a row that a pointer, a thumb or the arrow keys move to other places.
import { button, made, yieldFocus } from "./elements.js";
import { words } from "./words-landing.js";

/**
 * `fill(texts, order)` shows them; onMove(from, to) is called when a word is to go elsewhere, onChoose(word) when one is
 * chosen. The buttons of a `short` row are signs.
 */
export function wordRow({ label, onMove, onChoose = (_word) => {}, short = false }) {
  const list = made("ol", "posenc-words");
  const title = made("p", "posenc-words-title", label);
  const keys = made("p", "posenc-keys", words.keys);
  keys.id = "posenc-words-keys";
  title.id = "posenc-words-title";
  list.setAttribute("aria-labelledby", title.id);
  const earlier = button(words.earlier, () => step(-1));
  const later = button(words.later, () => step(+1));
  if (short) {
    for (const [each, sign] of /** @type {const} */ ([
      [earlier, "←"],
      [later, "→"],
    ])) {
      each.setAttribute("aria-label", each.textContent);
      each.textContent = sign;
    }
  }
  let chosen; // the word, whatever its place
  let chips = []; // by place

  function fill(texts, order) {
    const known = new Map(chips.map((chip) => [chip.dataset.word, chip]));
    chips = order.map((word) => {
      const old = known.get(String(word));
      const chip = old?.textContent === texts[word] ? old : makeChip(word, texts[word]);
      return chip;
    });
    if (!chips.includes(chosen)) chosen = undefined;
    const focused = chips.find((chip) => chip === document.activeElement);
    const standing = [...list.children].map((item) => item.firstElementChild);
    if (standing.length !== chips.length || standing.some((chip, at) => chip !== chips[at])) {
      list.replaceChildren(...chips.map((chip) => made("li", "", chip)));
    }
    focused?.focus({ preventScroll: true }); // to be put elsewhere takes the focus away
    showChosen();
  }

  function makeChip(word, text) {
    const chip = button(text, () => choose(chip));
    chip.className = "posenc-word";
    chip.dataset.word = word;
    chip.setAttribute("aria-describedby", keys.id);
    chip.addEventListener("focus", () => choose(chip));
    chip.addEventListener("keydown", byKey);
    chip.addEventListener("pointerdown", byPointer);
    return chip;
  }

  function choose(chip) {
    chosen = chip;
    showChosen();
    onChoose(Number(chip.dataset.word));
  }

  function chooseWord(word) {
    choose(chips.find((chip) => chip.dataset.word === String(word)));
  }

  function showChosen() {
    for (const chip of chips) chip.setAttribute("aria-pressed", String(chip === chosen));
    const at = chips.indexOf(chosen);
    const ends = { first: at <= 0, last: at < 0 || at === chips.length - 1 };
    if (chosen && ends.first) yieldFocus(earlier, chosen);
    if (chosen && ends.last) yieldFocus(later, chosen);
    [earlier.disabled, later.disabled] = [ends.first, ends.last];
  }

  function put(chip, to) {
    const from = chips.indexOf(chip);
    if (from < 0 || to < 0 || to >= chips.length || to === from) return;
    onMove(from, to);
  }

  function step(by) {
    if (chosen) put(chosen, chips.indexOf(chosen) + by);
  }

  function byKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const at = chips.indexOf(event.currentTarget);
    const to = {
      ArrowLeft: at - 1,
      ArrowUp: at - 1,
      ArrowRight: at + 1,
      ArrowDown: at + 1,
      Home: 0,
      End: chips.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation(); // arrows turn pages elsewhere
    put(event.currentTarget, to);
  }

  /** Drag: while the pointer is down, the word stands where the pointer is. */
  function byPointer(event) {
    if (!event.isPrimary || event.button) return;
    const chip = event.currentTarget;
    const ended = new AbortController();
    const listen = (kind, act) => addEventListener(kind, act, { signal: ended.signal });
    chip.releasePointerCapture?.(event.pointerId); // a thumb's: what is moved elsewhere would lose it
    chip.classList.add("posenc-dragged");
    choose(chip);
    listen("pointermove", ({ pointerId, clientX, clientY }) => {
      if (pointerId === event.pointerId) put(chip, placeAt(chip, clientX, clientY));
    });
    for (const kind of ["pointerup", "pointercancel", "blur"]) {
      listen(kind, () => {
        ended.abort();
        chip.classList.remove("posenc-dragged");
      });
    }
  }

  /** Where a chip would stand if it were dropped here: before or after the word that is there. */
  function placeAt(chip, x, y) {
    const others = chips.filter((each) => each !== chip);
    const over = others.findIndex((each) => {
      const { left, right, top, bottom } = each.getBoundingClientRect();
      return x >= left && x <= right && y >= top && y <= bottom;
    });
    if (over < 0) return chips.indexOf(chip);
    const { left, right } = others[over].getBoundingClientRect();
    return x < (left + right) / 2 ? over : over + 1;
  }

  return { element: made("div", "", title, list, keys), list, buttons: [earlier, later], fill, chooseWord };
}
