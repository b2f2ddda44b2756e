// Runs code in a worker, one run at a time. The worker is ended and replaced when a run must be stopped.
import { language } from "./words.js";

const STALLED_AFTER = 8000; // ms without a byte

let shared;

/**
 * The one Python of a page. `data` says where it comes from, as attributes of an element (book/_ext/live_exercise.py).
 *
 * @param {DOMStringMap} data
 */
export function pythonOf({ pyodide, library, words, sizes, exercise }) {
  const site = new URL("../../", import.meta.url); // the scripts are in _static/posenc/, of all languages
  const address = (path) => new URL(path, site).href; // of a file of this site, or of another one
  const ours = [library, words].filter(Boolean).map(address); // the library, and what it says in another language
  const needs = { pyodide: address(pyodide), ours, sizes: JSON.parse(sizes), exercise, language };
  return (shared ??= new Runner(needs));
}

/** A run that ended without a result. `reason`: "stopped", "time", "broken" or "unreachable". */
export class NoVerdict extends Error {
  constructor(reason, detail = "") {
    super(detail || reason);
    this.reason = reason;
  }
}

export class Runner {
  #worker = null;
  #running = null; // {request, seconds, onBegin, onPrint, resolve, reject, clock, sent}
  #waiting; // the timer that runs while bytes are waited for

  /**
   * `needs`: addresses of Pyodide's folder and of our archives, sizes of files, by name, an exercise of the
   * chapter to make ready, and the language. `makeWorker` gives the worker, or what can be spoken to like one.
   * `listener` is what tells the reader how Python comes: its hear({kind, received, total}) gets "loading",
   * "stalled", "starting", "ready", "unreachable", or "none" when another one listens now.
   *
   * @param {object} needs
   * @param {() => any} [makeWorker]
   */
  constructor(needs, makeWorker = () => new Worker(new URL("./worker.js", import.meta.url), { type: "module" })) {
    this.needs = needs;
    this.makeWorker = makeWorker;
    this.listener = null;
    this.state = { kind: "none" };
  }

  tell(listener) {
    if (this.listener !== listener) this.listener?.hear({ kind: "none" });
    this.listener = listener;
    listener.hear(this.state);
  }

  get ready() {
    return this.state.kind === "ready";
  }

  /** Load Python before it is asked for, unless the browser is to save data. */
  startAhead() {
    if (!navigator.connection?.saveData) this.start();
  }

  /** Load Python, unless it is here or on its way. */
  start() {
    if (this.#worker) return;
    this.#enter({ kind: "loading", received: 0 });
    try {
      this.#worker = this.makeWorker();
    } catch (error) {
      this.#fail(String(error));
      return;
    }
    this.#worker.onmessage = ({ data }) => this.#hear(data);
    this.#worker.onerror = (event) => this.#fail(event.message ?? "the worker could not be loaded");
    this.#worker.postMessage({ kind: "start", ...this.needs });
  }

  /** Whether something runs, or waits for Python. There is one at a time. */
  get busy() {
    return this.#running !== null;
  }

  /**
   * The result of in_page.py's `run`. Rejects with NoVerdict. The time counts from when all is there that it needs.
   */
  run(request, { seconds, onBegin = () => {}, onPrint = (_text) => {} }) {
    return new Promise((resolve, reject) => {
      this.#running = { request, seconds, onBegin, onPrint, resolve, reject };
      if (this.ready) this.#send();
      else this.start();
    });
  }

  /** End what runs. The next one finds a new worker; what is still on its way here goes on coming. */
  stop(reason = "stopped") {
    const ended = this.#end();
    if (ended?.sent) this.restart();
    ended?.reject(new NoVerdict(reason));
  }

  /** Load Python anew. A run that waits for it goes on waiting. */
  restart() {
    this.#dropWorker();
    this.start();
  }

  #send() {
    const { request } = this.#running;
    this.#running.sent = true;
    this.#worker.postMessage({ kind: "run", request });
  }

  #hear(message) {
    if (["loading", "starting", "ready"].includes(message.kind)) {
      this.#enter(message);
      if (this.ready && this.#running) this.#send();
    } else if (message.kind === "begun") {
      if (!this.ready) this.#enter({ kind: "ready" }); // what it needed besides has come
      this.#running.clock = setTimeout(() => this.stop("time"), this.#running.seconds * 1000);
      this.#running.onBegin();
    } else if (message.kind === "printed") {
      this.#running?.onPrint(message.text);
    } else if (message.kind === "result") {
      this.#end().resolve(message.result);
    } else {
      this.#fail(message.reason);
    }
  }

  #fail(reason) {
    const begun = this.ready;
    this.#dropWorker();
    // Python itself broke down, for want of memory say: the next check needs a new one.
    if (begun) this.start();
    else this.#enter({ kind: "unreachable" });
    this.#end()?.reject(new NoVerdict(begun ? "broken" : "unreachable", reason));
  }

  #end() {
    const ended = this.#running;
    clearTimeout(ended?.clock);
    this.#running = null;
    return ended;
  }

  #enter(state) {
    clearTimeout(this.#waiting);
    if (state.kind === "loading") {
      this.#waiting = setTimeout(() => this.#enter({ ...state, kind: "stalled" }), STALLED_AFTER);
    }
    this.state = state;
    this.listener?.hear(state);
  }

  #dropWorker() {
    this.#worker?.terminate();
    this.#worker = null;
    clearTimeout(this.#waiting);
    this.state = { kind: "none" };
  }
}
