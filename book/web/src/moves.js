// Lets a picture move once, when it is seen, and again when a reader asks. What moves, and how, the picture says itself.
import { button } from "./elements.js";
import { words } from "./words-figures.js";

export function start(pictures) {
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
        observer.unobserve(target);
        target.classList.add("posenc-begun");
      }
    },
    { rootMargin: "-30% 0px" }, // the middle of the window, where a reader looks
  );
  for (const picture of pictures) {
    const moves = picture.getAnimations({ subtree: true }); // they wait; none where a reader asked for less motion
    const again = button(words.again, () => moves.forEach(restart));
    again.classList.add("posenc-again");
    picture.addEventListener("click", () => moves.forEach(restart));
    picture.parentElement.after(again);
    observer.observe(picture);
  }
}

function restart(move) {
  move.currentTime = 0;
  move.play();
}
