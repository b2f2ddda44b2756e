// One model beside the other: which it is, what it read, where it looked, and what it writes on.
import { made, status } from "../elements.js";
import { decimals, number } from "../words.js";
import { words } from "../words-lab.js";
import { choice, fill } from "./fields.js";
import { named, namedByte } from "./text.js";

const SHADES = 6; // nats at which the colour is full
const SEEN = 0.01; // a share of attention below this is not drawn
const FAR = 32; // characters that a page key goes

export class Panel {
  losses = new Float32Array(0);
  count = 0; // bytes that it has read of the text that is shown
  #spans = [];
  #cells = [];
  #lit = []; // spans that attention underlines
  #job; // the last thing that was asked
  #place; // { cell, layer, head }

  /** `start` is {model, rule, factor}; a place is the number of a cell. */
  constructor({ client, side, models, start, onPlace, onRead, onChoice }) {
    this.client = client;
    this.side = side;
    this.models = models;
    this.onPlace = onPlace;
    this.onRead = onRead;
    this.onChoice = onChoice;
    const changed = () => {
      this.#offer();
      this.onChoice();
    };
    this.model = choice(
      words.encoding,
      Object.keys(models).map((name) => [name, words.encodings[name] ?? name]),
      start.model,
      changed,
    );
    this.rule = choice(words.rule, Object.entries(words.rules), start.rule, changed);
    this.factor = choice(words.factor, [], "", changed);
    this.noRule = made("p", "posenc-lab-no-rule", words.noRule);
    this.text = made("div", "posenc-lab-text");
    Object.assign(this.text, { tabIndex: 0, role: "group", ariaLabel: `${words.models[side]}: ${words.read}` });
    for (const kind of ["pointerover", "click"]) this.text.addEventListener(kind, (event) => this.#point(event));
    this.text.addEventListener("keydown", (event) => this.#step(event));
    this.mean = made("p", "posenc-lab-mean");
    this.told = status("posenc-lab-told");
    this.written = made("pre", "posenc-lab-written");
    Object.assign(this.written, { tabIndex: 0, role: "group", ariaLabel: words.wrote[side], hidden: true });
    const head = made("h3", "", words.models[side]);
    const choices = made(
      "div",
      "posenc-lab-choices",
      this.model.element,
      this.rule.element,
      this.factor.element,
      this.noRule,
    );
    this.element = made("section", "posenc-lab-panel", head, choices, this.mean, this.text, this.told, this.written);
    this.element.dataset.side = side;
    this.element.ariaLabel = words.models[side];
    this.#offer(String(start.factor));
  }

  /** The rules and factors that the model can be read by. */
  #offer(factor = this.factor.field.value) {
    const readings = this.models[this.model.field.value].readings;
    for (const each of [this.rule, this.factor]) each.element.hidden = !readings;
    this.noRule.hidden = Boolean(readings);
    const factors = Object.keys(readings?.[this.rule.field.value] ?? { 1: null });
    this.factor.element.hidden ||= factors.length === 1;
    fill(
      this.factor.field,
      factors.map((each) => [each, words.factors(each)]),
      factors.includes(factor) ? factor : (factors.at(-2) ?? factors[0]),
    );
  }

  get kind() {
    const model = this.model.field.value;
    const rule = this.models[model].readings ? this.rule.field.value : "none";
    return { model, rule, factor: rule === "none" ? "1" : this.factor.field.value };
  }

  get trained() {
    return this.models[this.kind.model].length;
  }

  /** Show these characters, and mark where the training ended. */
  show(cells) {
    this.#cells = cells;
    this.#spans = cells.map(({ sign, from }, at) => {
      const span = made("span", "", sign === "\n" ? "↵\n" : sign);
      span.dataset.at = String(at);
      if (from <= this.trained && this.trained < cells[at].to) span.dataset.end = "";
      return span;
    });
    this.text.replaceChildren(...this.#spans);
    this.#lit = [];
    this.#colour();
  }

  /** Read these bytes; told(progress) hears of a model that comes. */
  async read(bytes, told = () => {}) {
    const job = (this.#job = {});
    if (this.losses.length < bytes.length) {
      const longer = new Float32Array(bytes.length);
      longer.set(this.losses);
      this.losses = longer;
    }
    this.told.textContent = words.reading;
    const { side, kind } = this;
    const done = await this.client.ask(
      "read",
      { side, ...kind, bytes },
      {
        onProgress: told,
        onPiece: ({ from, losses }) => {
          if (job !== this.#job) return;
          this.losses.set(losses, from);
          this.count = from + losses.length;
          this.#colour();
          this.onRead();
        },
      },
    );
    if (job === this.#job && !done?.ended) await this.look();
  }

  failed(problem) {
    this.told.textContent = words.panelProblem(problem.message);
  }

  #colour() {
    const [near, far] = [[], []];
    this.#spans.forEach((span, at) => {
      const { from, to } = this.#cells[at];
      const known = to <= this.count && from > 0;
      const cost = known ? this.cost(this.#cells[at]) : 0;
      span.style.setProperty("--loss", Math.min(1, cost / SHADES).toFixed(3));
      if (known) (from < this.trained ? near : far).push(...this.losses.subarray(from, to));
    });
    const mean = (some) => decimals(some.reduce((sum, each) => sum + each, 0) / some.length, 2);
    this.told.removeAttribute("aria-busy");
    this.mean.textContent = !near.length
      ? ""
      : far.length
        ? words.means(mean(near), this.trained, mean(far))
        : words.mean(mean(near));
  }

  /** Nats of all bytes of a character. */
  cost({ from, to }) {
    return this.losses.subarray(from, to).reduce((sum, each) => sum + (each || 0), 0);
  }

  /** Say and show what the model looked at when it guessed this character. */
  async look(place = this.#place) {
    this.#place = place;
    const cell = place && this.#cells[place.cell];
    for (const span of this.#spans) span.classList.toggle("posenc-lab-here", span === this.#spans[place?.cell]);
    if (!cell || cell.to > this.count) {
      this.#light([]);
      this.told.textContent = cell ? words.reading : words.point;
      return;
    }
    if (cell.from === 0) {
      this.#light([]);
      this.told.textContent = words.first;
      return;
    }
    const found = await this.client.ask("look", {
      side: this.side,
      layer: place.layer,
      head: place.head,
      place: cell.from,
    });
    if (place !== this.#place || cell !== this.#cells[place.cell] || !found) return;
    const shares = this.#cells
      .filter(({ from }) => from < cell.from)
      .map(({ from, to }) => found.shares.subarray(from, to).reduce((sum, each) => sum + each, 0));
    this.#light(shares);
    const most = shares.indexOf(Math.max(...shares));
    const guesses = found.guesses.map(({ byte, share }) => words.guess(namedByte(byte), percent(share)));
    const [layer, head] = [place.layer + 1, place.head + 1];
    const [sign, share] = [named(this.#cells[most].sign), percent(shares[most])];
    const back = number(cell.from - this.#cells[most].from);
    this.told.textContent = [
      words.loss(named(cell.sign), number(cell.from), decimals(this.cost(cell), 2)),
      words.guesses(guesses.join(", ")),
      most === place.cell - 1 ? words.itself(layer, head, sign, share) : words.looked(layer, head, sign, back, share),
    ].join(" ");
  }

  #light(shares) {
    for (const span of this.#lit) span.style.removeProperty("--share");
    const most = Math.max(...shares);
    this.#lit = this.#spans.filter(
      (span, at) =>
        shares[at] > SEEN && span.style.setProperty("--share", Math.sqrt(shares[at] / most).toFixed(3)) === undefined,
    );
  }

  /** Bring a character into the box, not into the window. */
  reveal(cell) {
    const [box, span] = [this.text, this.#spans[cell]];
    if (!span) return;
    const [top, bottom] = [span.offsetTop - box.offsetTop, span.offsetTop - box.offsetTop + span.offsetHeight];
    if (top < box.scrollTop) box.scrollTop = top - 8;
    if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight + 8;
  }

  #point(event) {
    const span = event.target.closest("[data-at]");
    if (span) this.onPlace(Number(span.dataset.at), false); // it is in view: a pointer is on it
  }

  #step(event) {
    const last = this.#cells.length - 1;
    const here = this.#place?.cell ?? 0;
    const to = {
      ArrowLeft: here - 1,
      ArrowRight: here + 1,
      Home: 0,
      End: last,
      PageUp: here - FAR,
      PageDown: here + FAR,
    }[event.key];
    if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.onPlace(Math.min(last, Math.max(0, to)));
  }

  /** Write on from these bytes; the bytes a second in the end. */
  async write(bytes, { temperature, seed, count }) {
    const [decoder, begun] = [new TextDecoder(), performance.now()];
    let written = 0;
    this.written.hidden = false;
    this.written.textContent = "";
    const rate = () => (1000 * written) / (performance.now() - begun);
    await this.client.ask(
      "write",
      { side: this.side, bytes, temperature, seed, count },
      {
        onPiece: (byte) => {
          written += 1;
          this.written.append(decoder.decode(Uint8Array.of(byte), { stream: true }));
          this.written.scrollTop = this.written.scrollHeight;
        },
      },
    );
    return { written, rate: rate() };
  }
}

const percent = (share) => `${number(Math.round(1000 * share) / 10, 3)}%`;
