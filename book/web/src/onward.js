// From one exercise to the next: a button where one has passed, and a key at any time.
import { button } from "./elements.js";
import { unfold } from "./fold.js";
import { words } from "./words-exercises.js";

/** Alt+Enter in an exercise, its editor too, goes on to the next; on the row of one that is closed it opens that. */
export function listen() {
  addEventListener(
    "keydown",
    (event) => {
      const at = event.target instanceof Element ? event.target : null;
      const closed = /** @type {HTMLDetailsElement} */ (at?.closest(".posenc-fold:not([open])"));
      const here = closed ?? at?.closest(".posenc-exercise");
      if (!here || event.key !== "Enter" || !event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault(); // or the editor would begin a line
      event.stopPropagation();
      if (event.repeat) return;
      if (closed) closed.open = true;
      else goOn(here);
    },
    true, // before an editor hears of it
  );
}

/** The button on an exercise that has passed. */
export function onward(exercise) {
  const next = after(exercise);
  const chapter = document.querySelector(".prev-next-area .right-next");
  const sentence = next
    ? words.next(next.dataset.title)
    : words.nextChapter(chapter?.querySelector(".prev-next-title")?.textContent ?? "");
  const on = button(sentence, () => goOn(exercise));
  on.classList.add("posenc-onward");
  on.hidden = !next && !chapter;
  return on;
}

function after(exercise) {
  const all = [...document.querySelectorAll(".posenc-exercise")];
  return all[all.indexOf(exercise) + 1];
}

/** The next exercise gets the focus, at the top of the window: its name is read, and Tab goes into it. */
function goOn(exercise) {
  const next = after(exercise);
  if (!next) return document.querySelector(".prev-next-area .right-next")?.click();
  unfold(next);
  next.tabIndex = -1;
  next.focus({ preventScroll: true });
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  next.querySelector(".admonition-title").scrollIntoView({ block: "start", behavior: still ? "instant" : "smooth" });
}
