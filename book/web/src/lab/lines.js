// A text of the lab on the page, character by character. What is long is put there in pieces: a key that is pressed
// meanwhile does not have to wait for the end.
import { made } from "../elements.js";
import { arcs } from "./arcs.js";

const PIECE = 64; // characters that are put there at once
const SEEN = 0.01; // a share of attention below this is not drawn
const FAR = 32; // characters that a page key goes

export class Lines {
  #cells = [];
  #spans = [];
  #trained;
  #lit = []; // spans that attention underlines
  #here; // the span that is pointed at
  #job; // the text that is being put there
  #shade;
  #draw;

  /** shade(cell) is how red a character is, from 0 to 1; onPlace(at, how) hears which one is pointed at. */
  constructor({ label, shade, onPlace }) {
    this.#shade = shade;
    this.element = made("div", "posenc-lab-text");
    Object.assign(this.element, { tabIndex: 0, role: "group", ariaLabel: label });
    this.#draw = arcs(this.element);
    for (const kind of ["pointerover", "click"])
      this.element.addEventListener(kind, (event) => {
        const target = /** @type {Element} */ (event.target);
        const at = /** @type {HTMLElement} */ (target.closest("[data-at]"))?.dataset.at;
        if (at) onPlace(Number(at), { reveals: false }); // it is in view: a pointer is on it
      });
    this.element.addEventListener("keydown", (event) => {
      const to = this.#step(event);
      if (to === undefined) return;
      event.preventDefault();
      onPlace(to, { keys: true });
    });
    new ResizeObserver(() => this.#arch()).observe(this.element);
  }

  /** Put this text there, from where it differs from the one before; `trained` is where the training ended. */
  async show(cells, trained) {
    const job = (this.#job = {});
    const same = trained === this.#trained ? alike(this.#cells.slice(0, this.#spans.length), cells) : 0;
    this.#cut(same);
    [this.#cells, this.#trained] = [cells, trained];
    for (let from = same; from < cells.length; from += PIECE) {
      if (from > same) await breath();
      if (job !== this.#job) return;
      this.#append(cells.slice(from, from + PIECE));
    }
    this.#arch();
  }

  /** Put no more of it there. */
  stop() {
    this.#job = undefined;
  }

  #cut(length) {
    for (const span of this.#spans.splice(length)) span.remove();
    for (const line of [...this.element.querySelectorAll("div:empty")]) line.remove();
    this.attend(undefined, []);
  }

  #append(cells) {
    let line = this.element.lastElementChild;
    for (const cell of cells) {
      const before = this.#cells[this.#spans.length - 1];
      if (!this.#spans.length || before.sign === "\n") this.element.append((line = made("div", "")));
      const span = made("span", "", cell.sign === "\n" ? "↵" : cell.sign);
      span.dataset.at = String(this.#spans.length);
      if (cell.from <= this.#trained && this.#trained < cell.to) span.dataset.end = "";
      this.#colour(span, cell);
      line.append(span);
      this.#spans.push(span);
    }
  }

  #colour(span, cell) {
    span.style.setProperty("--loss", this.#shade(cell).toFixed(3));
  }

  /** Colour what has one of these bytes. */
  paint(from, to) {
    this.#spans.forEach((span, at) => {
      const cell = this.#cells[at];
      if (cell.to > from && cell.from < to) this.#colour(span, cell);
    });
  }

  /** Point at a character, and show how attention is shared out among those before it. */
  attend(at, shares) {
    this.#here?.classList.remove("posenc-lab-here");
    this.#here = this.#spans[at];
    this.#here?.classList.add("posenc-lab-here");
    for (const [span] of this.#lit) span.style.removeProperty("--share");
    const most = Math.max(...shares);
    this.#lit = this.#spans
      .slice(0, shares.length)
      .flatMap((span, of) => (shares[of] > SEEN ? [[span, shares[of]]] : []));
    for (const [span, share] of this.#lit) span.style.setProperty("--share", Math.sqrt(share / most).toFixed(3));
    this.#arch();
  }

  #arch() {
    this.#draw(this.#here, this.#lit);
  }

  /** Bring a character into the box, not into the window. */
  reveal(at) {
    const [box, span] = [this.element, this.#spans[at]];
    if (!span) return;
    const [top, bottom] = [span.offsetTop, span.offsetTop + span.offsetHeight];
    if (top < box.scrollTop) box.scrollTop = top - 8;
    if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight + 8;
  }

  /** The character that a key goes to. */
  #step({ key, ctrlKey, altKey, metaKey }) {
    const last = this.#spans.length - 1;
    const here = Number(this.#here?.dataset.at ?? 0);
    const to = {
      ArrowLeft: here - 1,
      ArrowRight: here + 1,
      Home: 0,
      End: last,
      PageUp: here - FAR,
      PageDown: here + FAR,
    }[key];
    return to === undefined || ctrlKey || altKey || metaKey ? undefined : Math.min(last, Math.max(0, to));
  }
}

/** How many characters two texts begin with alike. */
function alike(one, other) {
  const differs = one.findIndex((cell, at) => cell.sign !== other[at]?.sign);
  return differs < 0 ? one.length : differs;
}

/** Lets the page hear what was pressed meanwhile. */
const breath = () => new Promise((resolve) => setTimeout(resolve));
