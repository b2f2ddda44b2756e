// What can be dragged in a figure: grips over the drawing, for a pointer, a thumb, or the arrow keys.
import { number } from "../words.js";

const KEYS = {
  ArrowRight: 1,
  ArrowUp: 1,
  ArrowLeft: -1,
  ArrowDown: -1,
  PageUp: 10,
  PageDown: -10,
  Home: -Infinity,
  End: Infinity,
};

/** The shortest way round from one angle to another, in rad. */
export function turnFrom(one, other) {
  const way = (other - one) % (2 * Math.PI);
  return way > Math.PI ? way - 2 * Math.PI : way <= -Math.PI ? way + 2 * Math.PI : way;
}

/**
 * Grips on a stage. Each that a figure gives is {setting, x, y, way, label, text, pull}:
 *
 * where it stands in the drawing, how it goes ("turn", "across" or "down"), what it is called, what it says, and
 * which value of its setting would bring it to a point (x, y). The settings' controls take the nearest that they have.
 */
export function grips(element, controls) {
  const all = []; // an element each, which stays while the drawing below it is made anew
  let size = { width: 1, height: 1 };

  function place(handles, width, height) {
    size = { width, height };
    while (all.length > handles.length) all.pop().element.remove();
    handles.forEach((handle, i) => {
      const grip = (all[i] ??= make());
      grip.handle = handle;
      show(grip);
    });
  }

  function make() {
    const grip = { element: document.createElement("span"), handle: undefined };
    grip.element.setAttribute("role", "slider");
    grip.element.tabIndex = 0;
    grip.element.addEventListener("keydown", (event) => byKey(event, grip));
    grip.element.addEventListener("pointerdown", byPointer);
    element.append(grip.element);
    return grip;
  }

  function show({ element: grip, handle }) {
    const { setting, x, y, way, label, text } = handle;
    const list = controls.lists[setting];
    grip.className = `posenc-grip posenc-${way}`;
    grip.style.left = `${(100 * x) / size.width}%`;
    grip.style.top = `${(100 * y) / size.height}%`;
    const told = {
      label,
      valuemin: list[0],
      valuemax: list.at(-1),
      valuenow: controls.values[setting],
      valuetext: text ?? number(controls.values[setting]),
      orientation: way === "down" ? "vertical" : "horizontal",
    };
    for (const [name, value] of Object.entries(told)) grip.setAttribute(`aria-${name}`, value);
  }

  function byKey(event, { handle }) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !(event.key in KEYS)) return;
    event.preventDefault();
    event.stopPropagation(); // arrows turn pages elsewhere
    controls.step(handle.setting, KEYS[event.key]);
  }

  function byPointer(event) {
    if (!event.isPrimary || event.button) return;
    const [startX, startY] = inDrawing(event);
    const away = ({ handle }) => Math.hypot(handle.x - startX, handle.y - startY);
    const grip = all.reduce((best, each) => (away(each) < away(best) ? each : best)); // of those that overlap
    const held = [startX - grip.handle.x, startY - grip.handle.y]; // it does not jump when it is touched beside its middle
    const target = grip.element;
    target.focus({ preventScroll: true });
    target.setPointerCapture(event.pointerId);
    target.classList.add("posenc-held");
    event.preventDefault(); // no text is selected
    const ended = new AbortController();
    const listen = (kind, act) => target.addEventListener(kind, act, { signal: ended.signal });
    listen("pointermove", (moved) => {
      const [x, y] = inDrawing(moved);
      const wished = grip.handle.pull(x - held[0], y - held[1]);
      if (Number.isFinite(wished)) controls.set(grip.handle.setting, wished);
    });
    for (const kind of ["pointerup", "pointercancel", "lostpointercapture"]) {
      listen(kind, () => {
        ended.abort();
        target.classList.remove("posenc-held");
      });
    }
  }

  function inDrawing({ clientX, clientY }) {
    const { left, top, width, height } = element.getBoundingClientRect();
    return [((clientX - left) / width) * size.width, ((clientY - top) / height) * size.height];
  }

  return place;
}
