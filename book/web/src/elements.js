// Elements of a page, made in one line.

/**
 * An element of a class, with these children: elements or text.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} [className]
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
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

/** Say it, unless it says so already: what is set anew is read aloud anew. */
export function tellOnce(status, sentence) {
  if (status.textContent !== sentence) status.textContent = sentence;
}

/** What has the focus gives it to another, before it is disabled or goes. */
export function yieldFocus(from, to) {
  if (from === document.activeElement) to.focus({ preventScroll: true });
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

/**
 * What HTML shows, without what it would do. A reader runs code that somebody else may have written, in a file of progress
 * say: what it gives back must not reach the page, nor the Python of this machine behind it.
 */
export function withoutScripts(html) {
  const template = document.createElement("template"); // inert: nothing in it runs or is loaded
  template.innerHTML = html;
  for (const each of template.content.querySelectorAll(
    "script, iframe, object, embed, link, meta, base, form, animate, set",
  ))
    each.remove();
  for (const each of template.content.querySelectorAll("*"))
    for (const { name, value } of [...each.attributes])
      if (/^on|^srcdoc$/i.test(name) || /^javascript:/i.test(asAddress(value))) each.removeAttribute(name);
  return template.content;
}

/** As a browser reads an address: it overlooks line breaks and tabs anywhere, and other such characters in front. */
const asAddress = (text) => text.replace(/[\0-\x20]/g, "");
