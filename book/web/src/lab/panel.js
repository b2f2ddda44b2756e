// One model next to the other: which it is, what it read, where it looked, and what it writes on.
import { made, status } from "../elements.js";
import { decimals, number } from "../words.js";
import { words } from "../words-lab.js";
import { choice, fill } from "./fields.js";
import { Lines } from "./lines.js";
import { named, namedByte } from "./text.js";

const SHADES = 6; // nats at which the colour is full

export class Panel {
  losses = new Float32Array(0);
  count = 0; // bytes that it has read of the text that is shown
  trained = 256; // bytes, until the list of models says it
  client; // of the models, once they are there
  #models = {};
  #cells = [];
  #job; // the last thing that was asked
  #place; // { cell, layer, head }
  #read; // the name of the model that has read so far

  /** `kind` is {model, rule, factor}; a place is the number of a cell. */
  constructor({ side, kind, onPlace, onRead, onChoice }) {
    this.side = side;
    this.onRead = onRead;
    const changed = () => {
      this.#offer(this.kind);
      onChoice();
    };
    this.model = choice(words.encoding, [], "", changed);
    this.rule = choice(words.rule, Object.entries(words.rules), "none", changed);
    this.factor = choice(words.factor, [], "", changed);
    this.lines = new Lines({
      label: `${words.models[side]}: ${words.read}`,
      shade: (cell) => (this.#knows(cell) ? Math.min(1, this.cost(cell) / SHADES) : 0),
      onPlace: (cell, how) => onPlace(cell, { ...how, heard: how.keys ? [this] : [] }),
    });
    this.mean = made("p", "posenc-lab-mean");
    this.told = status("posenc-lab-told");
    this.written = made("pre", "posenc-lab-written");
    Object.assign(this.written, { tabIndex: 0, role: "group", ariaLabel: words.wrote[side], hidden: true });
    const head = made("h3", "", words.models[side]);
    const choices = made("div", "posenc-lab-choices", head, this.model.element, this.rule.element, this.factor.element);
    this.element = made("section", "posenc-lab-panel", choices, this.mean, this.lines.element, this.told, this.written);
    this.element.dataset.side = side;
    this.element.ariaLabel = words.models[side];
    this.take(kind);
  }

  /** These models are there. */
  open(client, models) {
    this.client = client;
    this.#models = models;
    this.take(this.kind);
  }

  take(kind) {
    const names = Object.keys({ [kind.model]: true, ...this.#models });
    fill(
      this.model.field,
      names.map((name) => [name, words.encodings[name] ?? name]),
      kind.model,
    );
    this.rule.field.value = kind.rule;
    this.#offer(kind);
  }

  /** The rules and factors that the model can be read by. */
  #offer({ model, rule, factor }) {
    const { readings, length = this.trained } = this.#models[model] ?? {};
    const factors = Object.keys(readings?.[rule] ?? { [factor]: null });
    this.trained = length;
    this.rule.element.hidden = this.client ? !readings : rule === "none";
    this.factor.element.hidden = factors.length === 1;
    fill(
      this.factor.field,
      factors.map((each) => [each, words.factors(each)]),
      factors.includes(factor) ? factor : (factors.at(-2) ?? factors[0]),
    );
  }

  get kind() {
    const model = this.model.field.value;
    const rule = this.rule.element.hidden ? "none" : this.rule.field.value;
    return { model, rule, factor: rule === "none" ? "1" : this.factor.field.value };
  }

  /** What the model is called in a sentence. */
  get name() {
    const { model, rule, factor } = this.kind;
    const encoding = words.inSentence[model] ?? model;
    return rule === "none" ? encoding : words.stretched(encoding, words.ruleInSentence[rule], factor);
  }

  /** Show these characters; of those that are new, nothing is known yet. */
  show(cells) {
    if (this.#read !== this.name) [this.count, this.losses] = [0, new Float32Array(0)];
    const differs = cells.findIndex(({ sign }, at) => sign !== this.#cells[at]?.sign);
    this.count = Math.min(this.count, cells[differs]?.from ?? cells.at(-1).to);
    this.#cells = cells;
    this.#tellMean();
    if (this.#read !== this.name) this.lines.paint(0, Infinity);
    return this.lines.show(cells, this.trained);
  }

  /** Read these bytes; whether it has read them all. */
  async read(bytes) {
    const job = (this.#job = {});
    const longer = new Float32Array(bytes.length);
    longer.set(this.losses.subarray(0, Math.min(this.losses.length, bytes.length)));
    [this.losses, this.#read] = [longer, this.name];
    const { side, kind } = this;
    const done = await this.client.ask(
      "read",
      { side, ...kind, bytes },
      {
        onPiece: ({ from, losses }) => {
          if (job !== this.#job) return;
          this.losses.set(losses, from);
          this.count = from + losses.length;
          this.lines.paint(from, this.count);
          this.#tellMean();
          this.onRead();
        },
      },
    );
    return job === this.#job && !done?.ended;
  }

  /** Leave what it is at: somebody is typing. */
  rest() {
    this.#job = undefined;
    this.lines.stop();
    this.client?.ask("stop", { side: this.side });
  }

  failed(problem) {
    this.told.textContent = words.panelProblem(problem.message);
  }

  /** Nats per byte of those that it has read: up to the trained length, and beyond. The first comes without a guess. */
  get means() {
    const mean = (from, to) => this.meanOf(Math.min(from, this.count), Math.min(to, this.count));
    return { near: mean(1, this.trained), far: mean(this.trained, Infinity) };
  }

  /** Of these bytes; undefined where there are none. */
  meanOf(from, to) {
    const some = this.losses.subarray(from, to);
    return some.length ? some.reduce((sum, each) => sum + each, 0) / some.length : undefined;
  }

  #tellMean() {
    const { near, far } = this.means;
    const shown = (nats) => decimals(nats, 2);
    this.mean.textContent =
      near === undefined
        ? ""
        : far === undefined
          ? words.mean(shown(near))
          : words.means(shown(near), this.trained, shown(far));
  }

  #knows({ from, to }) {
    return from > 0 && to <= this.count;
  }

  /** Nats of all bytes of a character. */
  cost({ from, to }) {
    return this.losses.subarray(from, to).reduce((sum, each) => sum + (each || 0), 0);
  }

  /** Say and show what the model looked at when it guessed this character. */
  async look(place = this.#place) {
    this.#place = place;
    const cell = this.#cells[place.cell];
    if (!cell || !this.#knows(cell)) {
      this.lines.attend(place.cell, []);
      this.told.textContent = cell?.from === 0 ? words.noGuess : words.reading;
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
      .slice(0, place.cell)
      .map(({ from, to }) => found.shares.subarray(from, to).reduce((sum, each) => sum + each, 0));
    this.lines.attend(place.cell, shares);
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

  /** Write on from these bytes; how many, and how many a second. */
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
