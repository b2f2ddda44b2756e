// One model of the page: its worker, and what is known of it by now.
import { Pace, work } from "./pace.js";
import { LENGTH } from "./sizes.js";

export class Trainee {
  state = "trains"; // then "tests", and "tested", "refused" or "broken"
  encoding;
  steps;
  losses = [];
  share = undefined; // of letters right at the trained length, at the latest look
  tested = {}; // length -> {share, error, texts}
  shown = undefined;
  pace = new Pace();
  #worker;

  /** `changed` is called with what came: "step", "tested", "done", "shown" or "error". */
  constructor(encoding, seed, steps, changed) {
    Object.assign(this, { encoding, steps });
    this.#worker = new Worker(new URL("./train-worker.js", import.meta.url), { type: "module" });
    this.#worker.onmessage = ({ data }) => changed(this.#take(data));
    this.#worker.onerror = ({ message }) => changed(this.#take({ kind: "error", message: message ?? "" }));
    this.#worker.postMessage({ act: "train", encoding, seed, steps });
  }

  pause = (on) => {
    this.pace.forget();
    this.#worker.postMessage({ act: "pause", on });
  };
  show = (length) => this.#worker.postMessage({ act: "show", length });
  end = () => this.#worker.terminate();

  get busy() {
    return this.state === "trains" || this.state === "tests";
  }

  /** ms that it will still need; undefined before that is known. */
  left = () => this.pace.left(work(this));

  #take({ kind, ...its }) {
    if (kind === "step") {
      this.losses.push(...its.losses);
      this.share = its.share ?? this.share;
      if (this.losses.length >= this.steps) this.state = "tests";
    } else if (kind === "tested") {
      this.tested[its.length] = its;
      if (its.length === LENGTH) this.share = its.share;
    } else if (kind === "done") this.state = its.admitted ? "tested" : "refused";
    else if (kind === "shown") this.shown = its;
    else if (kind === "error") Object.assign(this, { state: "broken", problem: its.message });
    return kind;
  }
}
