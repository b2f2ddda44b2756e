// A field over a part of a picture: it says what is where a pointer rests, where a thumb taps, and where the arrow
// keys go.

const STEPS = {
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  PageDown: [10, 0],
  PageUp: [-10, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
};
let made = 0; // on this page, for their ids

/** The nearest number that is the place of one of so many. */
export const clip = (value, count) => Math.min(Math.max(value, 0), count - 1);

/**
 * A field over a part of `element`, whose mark has a class: `place({left, top, width, height}, spots)`, shares of 1.
 * Of its spots the field asks `label`; `count`; `near(x, y, ratio)`, the one next to a point (shares of the field,
 * which is so many times as wide as high); `go(spot, [down, right])`; `hold(spot)`, one that is there; and
 * `tell(spot)`: {text, number, left, top, width, height}, with the spot's own box in shares of the field.
 */
export function pointed(element, markClass) {
  const field = document.createElement("span");
  field.className = "posenc-field";
  field.tabIndex = 0;
  field.setAttribute("role", "slider"); // one that goes in two directions, and says where it is
  const mark = Object.assign(document.createElement("span"), { className: markClass, hidden: true });
  const tip = Object.assign(document.createElement("span"), {
    className: "posenc-tip",
    hidden: true,
    id: `posenc-tip-${++made}`,
  });
  field.append(mark);
  element.append(field, tip);
  let spots, box;
  let spot = [0, 0];

  function place(share, given) {
    [spots, box] = [given, share];
    spot = spots.hold(spot);
    Object.assign(field.style, percent(share));
    field.setAttribute("aria-label", spots.label);
    field.setAttribute("aria-valuemin", "0");
    field.setAttribute("aria-valuemax", String(spots.count - 1));
    say();
  }

  function say() {
    const { text, number, ...own } = spots.tell(spot);
    field.setAttribute("aria-valuenow", String(number));
    field.setAttribute("aria-valuetext", text);
    tip.textContent = text;
    Object.assign(mark.style, percent(own));
    // On the side of the spot where there is more room, in the window: a wide picture scrolls in its place.
    const [across, down] = [own.left + own.width / 2, own.top + own.height / 2];
    const [x, y] = [box.left + across * box.width, box.top + down * box.height];
    const seen = field.getBoundingClientRect();
    const isLeft = seen.left + across * seen.width < innerWidth / 2;
    const aside = (share, room) => `calc(${100 * share}% + ${room}px)`;
    Object.assign(tip.style, {
      left: isLeft ? aside(x, 10) : "auto",
      right: isLeft ? "auto" : aside(1 - x, 10),
      top: y < 0.5 ? aside(y, 12) : "auto",
      bottom: y < 0.5 ? "auto" : aside(1 - y, 12),
    });
  }

  const show = (on) => (mark.hidden = tip.hidden = !on);
  function point({ clientX, clientY }) {
    const { left, top, width, height } = field.getBoundingClientRect();
    spot = spots.near((clientX - left) / width, (clientY - top) / height, width / height);
    say();
    show(true);
  }
  field.addEventListener("pointermove", point);
  field.addEventListener("pointerdown", point);
  field.addEventListener("pointercancel", () => show(false)); // the thumb scrolls the page
  field.addEventListener("pointerleave", ({ pointerType }) => {
    if (pointerType !== "touch") show(field.matches(":focus-visible")); // what a thumb tapped stays until it goes elsewhere
  });
  field.addEventListener("focus", () => field.matches(":focus-visible") && show(true));
  field.addEventListener("blur", () => show(false));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") show(false);
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !(event.key in STEPS)) return;
    event.preventDefault();
    event.stopPropagation(); // arrows turn pages elsewhere
    spot = spots.go(spot, STEPS[event.key]);
    say();
    show(true);
  });
  return place;
}

const percent = (share) => Object.fromEntries(Object.entries(share).map(([side, part]) => [side, `${100 * part}%`]));
