// Elements of a page, made in one line.

/** An element of a class, with these children: elements or text. */
export function made(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

/** A button that says this and does that. */
export function button(text, act) {
  const element = made("button", "posenc-button", text);
  element.type = "button";
  element.addEventListener("click", act);
  return element;
}

/** A paragraph whose changes a screen reader reads aloud. */
export function status(className) {
  const element = made("p", className);
  element.setAttribute("role", "status");
  return element;
}

/** Scroll as little as it takes to see it; not at all if it is in view. */
export function intoView(element) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  element.scrollIntoView({ block: "nearest", behavior: still ? "instant" : "smooth" });
}

/** Whether some of it is in the window. */
export function isInView(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return top < innerHeight && bottom > 0;
}
