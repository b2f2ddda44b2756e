// An exercise is one row until it is wanted, and so is a side trip: a click opens it, and so does a link into it.
// What was opened stays open.
const EXERCISE = ".posenc-exercise, .posenc-steps";
const ROW = ".posenc-fold, .posenc-side-trip";
const KEPT = "posenc:unfolded"; // of this tab, for when the page is loaded again

/**
 * The row of an exercise, or of the exercise that it is a step of.
 * @returns {HTMLDetailsElement}
 */
const foldOf = (exercise) => exercise.closest(".posenc-fold") ?? exercise.querySelector(":scope > .posenc-fold");

/** Open an element's own row, and each that it is in; say whether one was closed. */
export function unfold(element) {
  const rows = [...element.querySelectorAll(`:scope > :is(${ROW})`)];
  for (let row = element.closest(ROW); row; row = row.parentElement.closest(ROW)) rows.push(row);
  const closed = rows.filter((row) => !row.open);
  for (const row of closed) row.open = true;
  return closed.length > 0;
}

/** Call act() once, when it is open. */
export function whenUnfolded(exercise, act) {
  const fold = foldOf(exercise);
  if (fold.open) return act();
  fold.addEventListener("toggle", act, { once: true });
}

/** Open what the address asks for, and what was open before; keep what is opened from now on. */
export function startFolds() {
  /** @type {NodeListOf<HTMLDetailsElement>} */
  const rows = document.querySelectorAll(ROW);
  for (const row of rows) {
    if (kept().includes(nameOf(row))) row.open = true;
    row.addEventListener("toggle", keep);
  }
  openAsked();
  addEventListener("hashchange", openAsked);
  addEventListener("click", ({ target }) => {
    const link = target instanceof Element ? /** @type {HTMLAnchorElement} */ (target.closest("a")) : null;
    if (link?.hash && link.hash === location.hash) openAsked(); // the address does not change
  });
}

function openAsked() {
  const asked = document.getElementById(fragment());
  if (asked && unfold(asked)) asked.scrollIntoView({ behavior: "instant" });
}

/** What the address asks for: nothing, where its % is no code of a letter. */
function fragment() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
}

const nameOf = (row) => {
  const whole = row.closest(EXERCISE) ?? row.parentElement;
  return `${location.pathname} ${whole.id || whole.dataset.steps}`;
};

function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");
  } catch {
    return []; // a browser that keeps nothing
  }
}

function keep({ target }) {
  const others = kept().filter((name) => name !== nameOf(target));
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(target.open ? [...others, nameOf(target)] : others));
  } catch {} // the same
}
