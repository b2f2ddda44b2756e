// Runs checks in a worker, one at a time. The worker is ended and replaced when a check must be stopped.

/** A check that ended without a verdict. `reason`: "stopped", "time", "broken" or "unreachable". */
export class NoVerdict extends Error {
  constructor(reason, detail = "") {
    super(detail || reason);
    this.reason = reason;
  }
}

export class Runner {
  #worker = null;
  #running = null; // {request, seconds, onBegin, onPrint, resolve, reject, clock}

  /** Addresses of Pyodide's folder and of posenc_lib's wheel, and an exercise of the chapter to make ready. */
  constructor({ pyodide, library, exercise }) {
    this.needs = { pyodide, library, exercise };
    this.ready = false;
  }

  /** Load Python, unless it is here or on its way. */
  start() {
    if (this.#worker) return;
    try {
      this.#worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    } catch (error) {
      this.#fail(String(error));
      return;
    }
    this.#worker.onmessage = ({ data }) => this.#hear(data);
    this.#worker.onerror = (event) => this.#fail(event.message ?? "the worker could not be loaded");
    this.#worker.postMessage({ kind: "start", ...this.needs });
  }

  /** Whether a check runs, or waits for Python. There is one at a time. */
  get busy() {
    return this.#running !== null;
  }

  /** The result of in_page.py's `run`. Rejects with NoVerdict. The time counts from when Python is there. */
  check(request, { seconds, onBegin, onPrint }) {
    return new Promise((resolve, reject) => {
      this.#running = { request, seconds, onBegin, onPrint, resolve, reject };
      if (this.ready) this.#send();
      else this.start();
    });
  }

  /** End the running check. The next one finds a new worker. */
  stop(reason = "stopped") {
    const ended = this.#end();
    this.#replaceWorker();
    ended?.reject(new NoVerdict(reason));
  }

  #send() {
    this.#worker.postMessage({ kind: "check", request: this.#running.request });
  }

  #hear(message) {
    if (message.kind === "ready") {
      this.ready = true;
      if (this.#running) this.#send();
    } else if (message.kind === "begun") {
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
    this.#end()?.reject(new NoVerdict(begun ? "broken" : "unreachable", reason));
  }

  #end() {
    const ended = this.#running;
    clearTimeout(ended?.clock);
    this.#running = null;
    return ended;
  }

  #replaceWorker() {
    this.#dropWorker();
    this.start();
  }

  #dropWorker() {
    this.#worker?.terminate();
    this.#worker = null;
    this.ready = false;
  }
}
