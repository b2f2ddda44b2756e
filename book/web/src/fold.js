// An exercise is one row until it is wanted: a click opens it, and so does a link to it. What was opened stays open.
const EXERCISE = ".posenc-exercise, .posenc-steps";
const KEPT = "posenc:unfolded"; // of this tab, for when the page is loaded again

/**
 * The row of an exercise, or of the exercise that it is a step of.
 * @returns {HTMLDetailsElement}
 */
const foldOf = (exercise) => exercise.closest(".posenc-fold") ?? exercise.querySelector(":scope > .posenc-fold");

export const isFolded = (exercise) => !foldOf(exercise).open;

export function unfold(exercise) {
  foldOf(exercise).open = true;
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
  const folds = document.querySelectorAll(".posenc-fold");
  for (const fold of folds) {
    if (kept().includes(nameOf(fold))) fold.open = true;
    fold.addEventListener("toggle", keep);
  }
  openAsked();
  addEventListener("hashchange", openAsked);
  addEventListener("click", ({ target }) => {
    const link = target instanceof Element ? /** @type {HTMLAnchorElement} */ (target.closest("a")) : null;
    if (link?.hash && link.hash === location.hash) openAsked(); // the address does not change
  });
}

function openAsked() {
  const asked = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const exercise = asked?.closest(EXERCISE);
  if (!exercise || !isFolded(exercise)) return;
  unfold(exercise);
  asked.scrollIntoView({ behavior: "instant" });
}

const nameOf = (fold) => {
  const exercise = fold.closest(EXERCISE);
  return `${location.pathname} ${exercise.id || exercise.dataset.steps}`;
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
