// Asks the worker of the models, and hears what it says.

export class Client {
  #worker;
  #asked = new Map(); // id -> {onPiece, onProgress, resolve, reject}
  #last = 0;

  /** A worker that did not come, or broke down, answers nothing more: the next question gets another. */
  #begin() {
    const worker = new Worker(new URL("./lab-worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }) => this.#hear(data);
    worker.onerror = (event) => {
      worker.terminate();
      this.#worker = undefined;
      for (const { reject } of this.#asked.values()) reject(new Error(event.message || "lab-worker.js"));
      this.#asked.clear();
    };
    return worker;
  }

  /** What the worker has done in the end; pieces and bytes that come before are told. */
  ask(does, given = {}, { onPiece = () => {}, onProgress = () => {} } = {}) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { onPiece, onProgress, resolve, reject });
      this.#worker ??= this.#begin();
      this.#worker.postMessage({ id, does, ...given });
    });
  }

  #hear({ id, progress, piece, done, problem }) {
    const asked = this.#asked.get(id);
    if (!asked) return;
    if (progress) return void asked.onProgress(progress);
    if (piece !== undefined) return void asked.onPiece(piece);
    this.#asked.delete(id);
    if (problem !== undefined) asked.reject(new Error(problem));
    else asked.resolve(done);
  }
}
