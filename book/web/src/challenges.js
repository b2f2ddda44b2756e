// The challenges of a page. Each kind is a module of its own; what they share stands here: the number that a challenge
// is drawn by, its address, Python, and the results.

import { SEEDS } from "./draws.js";
import { button, made, status, yieldFocus } from "./elements.js";
import { NoVerdict, pythonOf } from "./runner.js";
import * as store from "./store.js";
import { joined } from "./words.js";
import { words } from "./words-challenges.js";

const KINDS = {
  break: () => import("./challenge-break.js"),
  bug: () => import("./challenge-bug.js"),
  mystery: () => import("./challenge-mystery.js"),
  trained: () => import("./challenge-trained.js"),
};

export function start(elements) {
  const runner = pythonOf(elements[0].dataset);
  const places = elements.map((element) => new Place(element, runner));
  const follow = () => places.find((place) => place.follow(location.hash));
  const lead = () => follow()?.element.scrollIntoView();
  addEventListener("hashchange", lead);
  lead();
}

/** Where challenges of one kind are played. */
export class Place {
  #game = 0; // which one is open: what an earlier one still hears is passed over
  #asks = false; // whether the open one waits for Python

  /**
   * @param {HTMLElement} element
   * @param {import("./runner.js").Runner} runner
   */
  constructor(element, runner) {
    this.element = element;
    this.runner = runner;
    this.kind = element.dataset.challenge;
    this.data = JSON.parse(element.querySelector("script")?.textContent ?? "null");
    this.number = made("input", "");
    Object.assign(this.number, {
      type: "number",
      min: 0,
      max: SEEDS - 1,
      step: 1,
      inputMode: "numeric",
      value: anySeed(),
    });
    this.number.addEventListener("change", () => this.seed !== this.shown && this.show(this.seed));
    this.number.addEventListener("keydown", (event) => event.key === "Enter" && this.play());
    this.begin = button("", () => this.play());
    this.begin.classList.add("posenc-check");
    const another = button(words.another, () => {
      this.show(anySeed());
      this.play();
    });
    this.link = made("a", "posenc-share", words.link);
    const label = made("label", "", made("span", "", words.number), this.number);
    this.results = made("p", "posenc-results");
    this.status = status("posenc-status");
    this.meter = made("progress", "");
    this.meter.setAttribute("aria-label", words.python.loading);
    this.retry = button(words.retry, () => {
      yieldFocus(this.retry, this.begin);
      runner.restart();
    });
    this.loading = made("p", "posenc-loading", this.meter, this.retry);
    this.loading.hidden = true;
    this.body = made("div", "posenc-game");
    this.after = made("div", "posenc-after"); // what is told at the end
    this.draw = made("div", "posenc-row posenc-draw", label, this.begin, another, this.link);
    element.append(this.draw, this.results, this.body, this.status, this.loading, this.after);
    this.show(Number(this.number.value));
    store.onChange(() => this.#tellResults());
  }

  /** How long a run may take. */
  get seconds() {
    return Number(this.element.dataset.seconds);
  }

  /** The number in the field, mended where it is none. */
  get seed() {
    const typed = Math.floor(Number(this.number.value));
    return Number.isFinite(typed) ? Math.min(Math.max(typed, 0), SEEDS - 1) : 0;
  }

  /** Show the challenge that an address names; whether it names one of this kind. */
  follow(hash) {
    const [, kind, seed] = hash.match(/^#([a-z]+)-(\d{1,6})$/) ?? [];
    if (kind !== this.kind) return false;
    if (Number(seed) !== this.shown) this.show(Number(seed)); // else it may be under way
    return true;
  }

  /** Make a challenge ready to begin. */
  show(seed) {
    this.#game += 1;
    if (this.#asks) this.runner.stop(); // nobody waits for it any more
    this.#asks = false;
    this.number.value = this.shown = seed;
    this.element.id = `${this.kind}-${seed}`;
    this.link.href = `#${this.element.id}`;
    this.begin.textContent = words.begin;
    this.leave?.();
    this.leave = null;
    this.body.replaceChildren();
    this.after.replaceChildren();
    this.say("");
    this.#tellResults();
  }

  async play() {
    const seed = this.seed;
    this.show(seed);
    const game = this.#game;
    history.replaceState(history.state, "", `#${this.kind}-${seed}`);
    const { open } = await KINDS[this.kind]();
    if (game !== this.#game) return;
    this.begin.textContent = words.again;
    await open(this, seed, () => game === this.#game);
    const title = this.body.querySelector("h3");
    if (game !== this.#game || !title || !this.draw.contains(document.activeElement)) return;
    title.tabIndex = -1;
    title.focus(); // who pressed the button hears that there is something, and goes on from there
  }

  say(sentence) {
    this.status.textContent = sentence;
  }

  /**
   * What Python answers, or null where it has no answer: then the reader has been told why.
   * `onPrint` gets what code prints.
   */
  async ask(request, onPrint = () => {}) {
    if (this.runner.busy) {
      this.say(words.busy);
      return null;
    }
    try {
      const answer = this.#run(request, { onBegin: () => this.say(words.working), onPrint });
      this.tellWhatItWaitsFor();
      const found = await answer;
      if (found) this.say("");
      return found;
    } catch (problem) {
      if (!(problem instanceof NoVerdict)) throw problem;
      const sentences = { stopped: words.stopped, time: words.tooLong(this.seconds), broken: words.pythonBroke };
      this.say(sentences[problem.reason] ?? words.unreachable);
      return null;
    }
  }

  tellWhatItWaitsFor() {
    this.say(this.runner.ready ? words.working : words.python.loading);
    this.runner.tell(this);
  }

  /** What Python answers, or null, without a word: what one can do without. */
  async askQuietly(request) {
    if (this.runner.busy) return null;
    try {
      return await this.#run(request);
    } catch (problem) {
      if (!(problem instanceof NoVerdict)) throw problem;
      return null;
    }
  }

  /** What Python answers to the game that is open; null, whatever comes, where another was opened meanwhile. */
  async #run(request, options = {}) {
    const game = this.#game;
    this.#asks = true;
    try {
      const found = await this.runner.run(request, { seconds: this.seconds, ...options });
      return game === this.#game ? found : null;
    } catch (problem) {
      if (game === this.#game) throw problem;
      return null;
    } finally {
      if (game === this.#game) this.#asks = false;
    }
  }

  /** How Python comes. */
  hear({ kind, received, total }) {
    this.loading.hidden = kind !== "loading" && kind !== "stalled";
    this.retry.hidden = kind !== "stalled";
    if (kind === "loading" && total) this.meter.value = received / total;
    else this.meter.removeAttribute("value");
    // What is said to somebody who does not wait for Python stays: why the last run was stopped, say.
    if (this.#asks && (kind === "stalled" || kind === "starting")) this.say(words.python[kind]);
  }

  /** Keep a result, if it is the best of this number. */
  keep(seed, result) {
    const id = `${this.kind}:${seed}`;
    const best = store.load("challenge", id); // now: another tab may have kept one
    if (!best || store.isBetter(result, best)) store.save("challenge", id, result);
    this.#tellResults();
  }

  #tellResults() {
    const found = Object.entries(store.all("challenge")).filter(([id]) => id.startsWith(`${this.kind}:`));
    const points = found.reduce((sum, [, result]) => sum + result.points, 0);
    const here = store.load("challenge", `${this.kind}:${this.seed}`);
    const sentences = [];
    if (found.length) sentences.push(words.solved(found.length), words.points(points));
    if (here) sentences.push(words.best(here.points, here.seconds));
    if (!store.available) sentences.push(words.notKept);
    this.results.textContent = joined(...sentences);
  }
}

const anySeed = () => Math.floor(Math.random() * SEEDS);
