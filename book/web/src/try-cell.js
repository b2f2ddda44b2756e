// Cells of a chapter that the reader runs and changes: "Try it" makes an editor of one (book/_ext/try_cell.py).
import { button, made, withoutScripts } from "./elements.js";
import { machine } from "./machine.js";
import { whenNear } from "./near.js";
import { pythonOf, Runner } from "./runner.js";
import * as store from "./store.js";
import { language } from "./words.js";
import { words as machineWords } from "./words-machine.js";
import { words } from "./words-try-cell.js";
import { Workplace } from "./workplace.js";

const KIND = "cell";
const SAVE_AFTER = 300; // ms without a key pressed
const MACHINE_SECONDS = 600; // a model may be trained there
const DRAWS = /\bmatplotlib\b|\bposenc_course\.figures\b/;

export async function start([page]) {
  const chapter = new Chapter(page, await runnerOfMachine());
  const places = document.querySelectorAll(
    chapter.machine ? ".posenc-tryable, .posenc-elsewhere-cell" : ".posenc-tryable",
  );
  const cells = [...places].map((place) => new Cell(place, chapter));
  chapter.cells = cells;
  // What was changed on an earlier visit comes back as it was left.
  whenNear(
    cells.filter((cell) => cell.changed).map((cell) => ({ element: cell.element, cell })),
    ({ cell }) => cell.open(),
  );
  store.onChange(({ kind, id }) => {
    for (const cell of cells) if (!kind || (kind === KIND && id === cell.id)) cell.takeFromStore();
  });
  addEventListener("pagehide", () => cells.forEach((cell) => cell.saveNow()));
}

/** Runs cells on this machine, where a Python of it is behind the page. */
async function runnerOfMachine() {
  const { api, token } = await machine;
  if (!token) return undefined;
  const { KernelWorker } = await import("./kernel-worker.js");
  return new Runner({ language }, () => new KernelWorker({ api, token }));
}

/** What the cells of a page share: their Python, and what stands above each. */
class Chapter {
  #listed;
  /** @type {Cell[]} */
  cells = [];

  /**
   * @param {HTMLElement} page
   * @param {Runner} [machine]
   */
  constructor({ dataset }, machine) {
    this.dataset = dataset;
    this.runner = pythonOf(dataset);
    this.machine = machine;
    this.name = dataset.chapter;
    this.pictures = dataset.pictures === "yes";
    this.notebook = made("a", "", words.run);
    this.notebook.href = dataset.notebook;
    this.notebook.textContent = dataset.notebook.split("/").at(-1);
    this.notebook.download = "";
    this.address = dataset.cells;
  }

  get seconds() {
    return Number(this.dataset.seconds);
  }

  /** All cells, in order, hidden ones too: {id, whole, plain, drawn, packages}. */
  async listed() {
    this.#listed ??= fetch(this.address).then((answer) => answer.json());
    try {
      return await this.#listed;
    } catch (problem) {
      this.#listed = undefined; // the next one tries again
      throw problem;
    }
  }

  /**
   * What to ask Python for: to run a cell after all above it, as the reader has changed it.
   *
   * @param {Cell} cell
   */
  async request(cell) {
    const listed = await this.listed();
    const place = listed.findIndex(({ id }) => cell.element.id === `cell-${id}`);
    const changed = new Map(
      this.cells.filter((each) => each.changed && each.ran === each.code).map((each) => [each.element.id, each]),
    );
    const draws = !cell.onMachine && (listed[place].packages.includes("matplotlib") || DRAWS.test(cell.code));
    const above = listed.slice(0, place).map(({ id, whole, plain, drawn }) => {
      const mine = changed.get(`cell-${id}`);
      if (mine && (cell.onMachine || (!mine.onMachine && (draws || !DRAWS.test(mine.code))))) return [mine.code, true];
      return [cell.onMachine ? whole : draws ? drawn : plain, false];
    });
    return { do: "cell", above, code: cell.code, ...(draws && { pictures: true }) };
  }
}

class Cell extends Workplace {
  #saving; // the timer of a save to come
  #editor;

  /**
   * @param {HTMLElement} element
   * @param {Chapter} chapter
   */
  constructor(element, chapter) {
    const elsewhere = element.querySelector(".posenc-not-here");
    const draws = element.classList.contains("posenc-draws") && !chapter.pictures;
    const onMachine = Boolean(chapter.machine && (elsewhere || draws));
    super(onMachine ? chapter.machine : chapter.runner, () => (onMachine ? MACHINE_SECONDS : chapter.seconds));
    elsewhere?.remove();
    element.classList.add("posenc-tryable");
    this.onMachine = onMachine;
    this.element = element;
    this.chapter = chapter;
    this.notebook = chapter.notebook;
    this.begins = words.running;
    this.id = `${chapter.name}.${element.id.replace(/^cell-/, "")}`;
    this.still = element.querySelector("div[class*='highlight-']") ?? element.querySelector(":scope > *");
    this.original = element.querySelector("pre").textContent.trimEnd();
    const { code, ran } = store.load(KIND, this.id) ?? {};
    this.code = code ?? this.original;
    this.ran = ran;
    this.again = this.begin = button(words.tryIt, () => this.open(true));
    this.begin.classList.add("posenc-try");
    element.append(made("p", "posenc-trying", this.begin));
  }

  get unreachable() {
    return this.onMachine ? machineWords.gone : words.unreachable;
  }

  get changed() {
    return this.code !== this.original;
  }

  /** What the book shows for the cell. */
  get shownByTheBook() {
    return this.element.closest(".cell").querySelectorAll(":scope > .cell_output, :scope > details .cell_output");
  }

  /** Make an editor of it. */
  async open(asked = false) {
    if (this.panel) return undefined;
    this.panel = made("div", "posenc-trial");
    const found = await import("./editor.js").catch(() => null);
    if (!found) {
      this.panel = undefined;
      this.element.append(this.status);
      return this.hear({ kind: "unreachable" });
    }
    const { createEditor } = found;
    const keys = made("p", "posenc-keys", words.keys);
    keys.id = `${this.element.id}-keys`;
    const place = made("div", "posenc-editor");
    const run = button(words.run, () => this.run());
    run.classList.add("posenc-check");
    this.reset = button(words.reset, () => this.#reset());
    this.again = run;
    const close = button(words.close, () => this.#close());
    const controls = made("div", "posenc-controls", run, this.stop, this.reset, close, this.retry);
    this.panel.append(place, keys, controls, this.status, this.loading, this.result, this.output);
    this.#editor = createEditor(place, {
      code: this.code,
      label: words.code(1 + this.chapter.cells.indexOf(this)),
      describedBy: keys.id,
      onChange: (code) => this.#edited(code),
      onCheck: () => this.run(),
    });
    place.addEventListener("click", () => this.touch());
    this.element.append(this.panel);
    this.still.hidden = this.begin.parentElement.hidden = true;
    if (!store.available) this.say(words.notKept);
    else if (asked) this.say(words.fresh);
    if (!asked) return undefined;
    this.#editor.focus();
    return this.touch();
  }

  async run() {
    if (this.runner.busy) return this.say(words.busy);
    let request;
    try {
      request = await this.chapter.request(this);
    } catch {
      return this.hear({ kind: "unreachable" });
    }
    const { code } = this;
    return this.ask(request, (result) => this.#show(result, code));
  }

  saveNow() {
    if (this.#saving) this.#save();
  }

  /** Another tab, or an import, may have changed it. What is being written here stays. */
  takeFromStore() {
    if (this.#saving || this.#editor?.focused()) return;
    const { code = this.original, ran } = store.load(KIND, this.id) ?? {};
    this.ran = ran;
    if (code === this.code) return;
    this.code = code;
    this.#editor?.setCode(code);
    if (this.#editor) this.say(words.fromElsewhere);
    else if (this.changed) this.open();
  }

  #show(result, code) {
    if (!this.panel) return undefined; // closed meanwhile: the page is as the book has it
    for (const each of this.shownByTheBook) each.hidden = true;
    if (result.kind === "above") return this.say(words.above(result.error));
    for (const { html, text } of result.shown ?? []) {
      const piece = made("div", "posenc-shown");
      if (html) piece.append(withoutScripts(html));
      else piece.append(this.#text(text));
      this.result.append(piece);
    }
    if (result.kind === "error") this.showError(result);
    else {
      this.ran = code;
      this.#save();
      this.say(
        this.result.firstChild
          ? words.ran
          : this.output.firstChild
            ? words.printed
            : result.undrawn
              ? words.ranUndrawn
              : words.silent,
      );
    }
    if (result.undrawn)
      this.result.append(made("p", "posenc-undrawn", `${words.undrawn} `, this.notebook.cloneNode(true)));
    const by = this.onMachine ? machineWords.ranOnMachine : machineWords.ranInPage;
    this.result.append(made("p", "posenc-ran-by", by(result.python)));
  }

  #text(text) {
    const pre = made("pre", "", text);
    pre.tabIndex = 0; // it scrolls, and must with the keyboard too
    pre.setAttribute("role", "region");
    pre.setAttribute("aria-label", words.ran);
    return pre;
  }

  #edited(code) {
    if (code === this.code) return; // set by this page, not typed
    this.touch();
    this.code = code;
    clearTimeout(this.#saving);
    this.#saving = setTimeout(() => this.#save(), SAVE_AFTER);
  }

  #save() {
    clearTimeout(this.#saving);
    this.#saving = undefined;
    const { code, ran } = this;
    if (this.changed || store.load(KIND, this.id))
      store.save(KIND, this.id, { code, ...(ran !== undefined && { ran }) });
  }

  #reset() {
    this.code = this.original;
    this.#editor.setCode(this.code);
    this.#save();
    this.result.replaceChildren();
    this.output.replaceChildren();
    for (const each of this.shownByTheBook) each.hidden = false;
    this.say(words.wasReset);
  }

  /** The page as the book has it. What was written stays, and comes back with "Try it". */
  #close() {
    this.saveNow();
    if (!this.stop.hidden) this.runner.stop(); // its Stop goes with the panel
    this.#editor.destroy();
    this.panel.remove();
    this.panel = this.#editor = undefined;
    for (const each of this.shownByTheBook) each.hidden = false;
    this.still.hidden = this.begin.parentElement.hidden = false;
    this.again = this.begin;
    this.begin.focus();
  }
}
