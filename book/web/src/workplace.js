// A place in a page where Python runs what the reader wrote: it says how Python comes, what is printed, what came out.
import { button, intoView, isInView, made, status } from "./elements.js";
import { NoVerdict } from "./runner.js";
import { words } from "./words-exercises.js";

export class Workplace {
  #touched = false;
  #toldOfPython = false; // by what the status says now

  #seconds;
  // What a kind of workplace has:
  /** @type {HTMLElement} */
  element;
  /** @type {HTMLElement} a link to it */
  notebook;
  begins = ""; // what is said as a run begins
  /** @type {HTMLButtonElement} what begins one */
  again;

  /**
   * @param {import("./runner.js").Runner} runner
   * @param {() => number} seconds how long a run may take
   */
  constructor(runner, seconds) {
    this.runner = runner;
    this.#seconds = seconds;
    this.status = status("posenc-status");
    this.output = made("div", "posenc-output");
    this.result = made("div", "posenc-result");
    this.stop = button(words.stop, () => runner.stop());
    this.retry = button(words.retry, () => {
      runner.restart();
      this.again.focus();
    });
    this.stop.hidden = this.retry.hidden = true;
    this.meter = made("progress", "");
    this.meter.setAttribute("aria-label", words.python.loading);
    this.bytes = made("span", "");
    this.loading = made("p", "posenc-loading", this.meter, this.bytes);
    this.loading.hidden = true;
  }

  get unreachable() {
    return words.unreachable;
  }

  get seconds() {
    return this.#seconds();
  }

  /**
   * How Python comes, for the eye. The status has it in sentences.
   *
   * @param {{ kind: string, received?: number, total?: number }} state
   */
  hear({ kind, received, total }) {
    this.loading.hidden = kind !== "loading" && kind !== "stalled";
    this.retry.hidden = kind !== "stalled";
    if (kind === "loading") {
      if (total) this.meter.value = received / total;
      else this.meter.removeAttribute("value");
      this.bytes.textContent = words.bytes(received, total);
    }
    if (kind === "unreachable") this.#sayUnreachable();
    else if (kind !== "ready") this.#tellOfPython(words.python[kind]);
    else if (this.#toldOfPython) this.#tellOfPython(words.python.ready);
  }

  /** Run a request, and show({...}) its result; a run that ends without one is told. */
  async ask(request, show) {
    if (this.runner.busy) return this.say(words.busy);
    this.#touched = true;
    this.result.replaceChildren();
    this.output.replaceChildren();
    this.say(this.runner.ready ? this.begins : "");
    this.#showRunning(true);
    try {
      const asked = this.runner.run(request, {
        seconds: this.seconds,
        onBegin: () => this.say(this.begins),
        onPrint: (text) => this.#print(text),
      });
      this.runner.tell(this);
      intoView(this.status);
      const result = await asked;
      await show(result);
      if (result.cut) this.#printNote(words.cut(result.cut));
    } catch (problem) {
      if (!(problem instanceof NoVerdict)) throw problem;
      this.#showNoVerdict(problem);
    }
    this.#showRunning(false);
    // A reader who went on reading meanwhile is left in peace.
    const verdict = this.result.querySelector(".posenc-report > *") ?? this.result.firstElementChild;
    if (isInView(this.element)) intoView(verdict ?? this.status);
  }

  say(sentence) {
    this.status.textContent = sentence;
    this.status.classList.remove("posenc-unseen");
    this.#toldOfPython = false;
  }

  /** The error that the code stopped with, the line, and which names there are where one is missing. */
  showError({ error, line, source, known }) {
    this.say(words.failedToRun);
    this.result.append(made("p", "posenc-error", line ? words.errorAt(error, line) : error));
    if (source) this.result.append(made("pre", "", source));
    if (known) this.result.append(made("p", "", known));
  }

  /** The first touch of an editor is the moment to load Python. */
  touch() {
    if (this.#touched) return;
    this.#touched = true;
    this.runner.start();
    this.runner.tell(this);
  }

  #showNoVerdict({ reason }) {
    const sentences = { stopped: words.stopped, time: words.tooLong(this.seconds), broken: words.broken };
    if (reason === "unreachable") this.#sayUnreachable();
    else this.say(sentences[reason]);
    if (this.output.firstChild) this.#printNote(words.cutUnfinished);
  }

  /** Unless something else is said, which the reader may not have read yet. */
  #tellOfPython(sentence) {
    if (this.status.textContent === sentence || (this.status.textContent && !this.#toldOfPython)) return;
    this.say(sentence);
    this.#toldOfPython = true;
  }

  #sayUnreachable() {
    this.say(this.unreachable);
    this.status.append(" ", this.notebook.cloneNode(true));
  }

  #print(text) {
    if (!this.output.firstChild) {
      const printed = made("pre");
      printed.tabIndex = 0; // it scrolls, and must with the keyboard too
      printed.setAttribute("role", "region");
      printed.setAttribute("aria-label", words.printed);
      this.output.append(made("p", "", words.printed), printed);
    }
    this.output.querySelector("pre").append(text);
  }

  #printNote(note) {
    this.output.append(made("p", "posenc-cut", note));
  }

  #showRunning(running) {
    if (!running && document.activeElement === this.stop) this.again.focus();
    this.stop.hidden = !running;
  }
}
