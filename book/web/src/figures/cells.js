// What a cell of a heat map is: said where a pointer rests, where a thumb taps, and where the arrow keys go.

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
const clip = (value, count) => Math.min(Math.max(value, 0), count - 1);
let made = 0; // on this page, for their ids

/** A field over a part of `element`: `place({left, top, width, height}, {rows, columns, label, tell})`, shares of 1. */
export function cells(element) {
  const field = document.createElement("span");
  field.className = "posenc-cells";
  field.tabIndex = 0;
  field.setAttribute("role", "slider"); // one that goes in two directions, and says where it is
  const mark = Object.assign(document.createElement("span"), { className: "posenc-cell", hidden: true });
  const tip = Object.assign(document.createElement("span"), {
    className: "posenc-tip",
    hidden: true,
    id: `posenc-tip-${++made}`,
  });
  field.append(mark);
  element.append(field, tip);
  let map, box;
  let at = [0, 0];

  function place(share, given) {
    [map, box] = [given, share];
    at = [clip(at[0], map.rows), clip(at[1], map.columns)];
    Object.assign(field.style, percent(share));
    field.setAttribute("aria-label", map.label);
    field.setAttribute("aria-valuemin", "0");
    field.setAttribute("aria-valuemax", String(map.rows * map.columns - 1));
    say();
  }

  function say() {
    const [row, column] = at;
    const text = map.tell(row, column);
    field.setAttribute("aria-valuenow", String(row * map.columns + column));
    field.setAttribute("aria-valuetext", text);
    tip.textContent = text;
    const [width, height] = [1 / map.columns, 1 / map.rows];
    Object.assign(mark.style, percent({ left: column * width, top: row * height, width, height }));
    // On the side of the cell where there is more room, in the window: a wide picture scrolls in its place.
    const [x, y] = [box.left + (column + 0.5) * width * box.width, box.top + (row + 0.5) * height * box.height];
    const seen = field.getBoundingClientRect();
    const isLeft = seen.left + (column + 0.5) * width * seen.width < innerWidth / 2;
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
    at = [
      clip(Math.floor(((clientY - top) / height) * map.rows), map.rows),
      clip(Math.floor(((clientX - left) / width) * map.columns), map.columns),
    ];
    say();
    show(true);
  }
  field.addEventListener("pointermove", point);
  field.addEventListener("pointerdown", point);
  field.addEventListener("pointerleave", ({ pointerType }) =>
    show(pointerType !== "mouse" || field.matches(":focus-visible")),
  );
  field.addEventListener("focus", () => field.matches(":focus-visible") && show(true));
  field.addEventListener("blur", () => show(false));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") show(false);
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !(event.key in STEPS)) return;
    event.preventDefault();
    event.stopPropagation(); // arrows turn pages elsewhere
    const [down, right] = STEPS[event.key];
    at = [clip(at[0] + down, map.rows), clip(at[1] + right, map.columns)];
    say();
    show(true);
  });
  return place;
}

const percent = (share) => Object.fromEntries(Object.entries(share).map(([side, part]) => [side, `${100 * part}%`]));
