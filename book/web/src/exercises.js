// The exercises of a page: an editor each, checked by Python in a worker that they share.
import { button, intoView, made, withoutScripts } from "./elements.js";
import { startFolds, whenUnfolded } from "./fold.js";
import { whenNear } from "./near.js";
import { listen, onward } from "./onward.js";
import { NoVerdict, pythonOf } from "./runner.js";
import * as store from "./store.js";
import { saidOfWay, wayThroughChapter } from "./way.js";
import { joined } from "./words.js";
import { words } from "./words-exercises.js";
import { Workplace } from "./workplace.js";

const SAVE_AFTER = 300; // ms without a key pressed

export function start(elements) {
  const live = elements.filter((element) => element.dataset.live === "yes");
  const exercises = elements.filter((each) => !live.includes(each)).map((each) => new NotebookExercise(each));
  if (live.length) exercises.push(...startLive(live));
  for (const element of document.querySelectorAll(".posenc-steps")) startWhole(element);
  startFolds();
  listen();
  store.onChange(({ kind, id }) => {
    for (const each of exercises) if (!kind || (kind === "exercise" && id === each.id)) each.takeFromStore();
  });
  // A page that was out of sight may not have heard of a change.
  const lookAgain = () => document.visibilityState === "visible" && exercises.forEach((each) => each.takeFromStore());
  document.addEventListener("visibilitychange", lookAgain);
}

function startLive(elements) {
  const runner = pythonOf(elements[0].dataset);
  const exercises = [];
  for (const element of elements) exercises.push(new LiveExercise(element, runner, [...exercises]));

  // An editor is made when its exercise is near and open, and Python is loaded when it comes near, to be there for the first check. A reader
  // may ask for it with the page, on the page of progress.
  whenNear(exercises, (exercise) => {
    whenUnfolded(exercise.element, () => exercise.open());
    runner.startAhead();
  });
  if (store.load("setting", "python")?.early) runner.startAhead();
  addEventListener("pagehide", () => exercises.forEach((exercise) => exercise.saveNow()));
  return exercises;
}

/** An exercise of several steps: how many of them have passed stands on its title. */
function startWhole(element) {
  const ids = element.dataset.steps.split(" ");
  const sign = badge(element);
  const fill = () => {
    const passed = ids.filter((id) => store.load("exercise", id)?.passed).length;
    sign.hidden = !passed;
    sign.textContent = passed === ids.length ? words.passedBefore : words.stepsPassed(passed, ids.length);
  };
  store.onChange(fill);
  fill();
}

/** An exercise that a page cannot check: the reader says when it has passed. */
class NotebookExercise {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.id = element.dataset.exercise;
    this.tick = made("input", "");
    this.tick.type = "checkbox";
    this.tick.addEventListener("change", () => {
      store.save("exercise", this.id, { ...store.load("exercise", this.id), passed: this.tick.checked });
      this.takeFromStore();
    });
    this.badge = badge(element);
    const label = made("label", "posenc-tick", this.tick, ` ${words.passedInNotebook}`);
    element.querySelector(".posenc-elsewhere").after(label);
    this.takeFromStore();
  }

  takeFromStore() {
    const passed = Boolean(store.load("exercise", this.id)?.passed);
    this.tick.checked = passed;
    this.badge.hidden = !passed;
  }
}

/** The sign of an exercise that has passed, on its title. */
function badge(element) {
  const sign = made("span", "posenc-badge", words.passedBefore);
  element.querySelector(".admonition-title").append(" ", sign);
  return sign;
}

class LiveExercise extends Workplace {
  #saving; // the timer of a save to come
  #agreed; // the code that this tab read or kept last: another in the store comes from elsewhere
  #elsewhere = false; // other code came from another tab, and is now the former version

  /**
   * @param {HTMLElement} element
   * @param {import("./runner.js").Runner} runner
   * @param {LiveExercise[]} earlier
   */
  constructor(element, runner, earlier) {
    super(runner, () => Number(element.dataset.seconds));
    this.element = element;
    this.earlier = earlier;
    this.begins = words.checking;
    this.notebook = element.querySelector(".posenc-notebook a");
    this.id = element.dataset.exercise;
    this.place = element.querySelector(".posenc-editor");
    this.still = this.place.querySelector("pre"); // what is there until the editor is
    this.starter = this.still.textContent.trimEnd();
    this.given = { starter: this.starter, mark: element.dataset.starter }; // the mark is the same in every language
    /** @type {HTMLDetailsElement[]} */
    this.hints = Array.from(element.querySelectorAll(".posenc-hint"));
    /** @type {HTMLDetailsElement} */
    this.solution = element.querySelector(".posenc-solution");
    this.record = this.#begin(store.load("exercise", this.id));
    this.#agreed = this.code;
    this.#build();
    this.#refresh();
    const written = this.draft?.value ?? this.starter;
    if (written === this.starter) this.#setCode(this.code);
    else this.#replace(written, "");
    this.place.addEventListener("click", () => this.touch());
    this.place.addEventListener("input", () => this.draft && this.#edited(this.draft.value));
  }

  /**
   * What the reader writes in until the editor is there (draft.js).
   * @returns {HTMLTextAreaElement | null}
   */
  get draft() {
    return this.place.querySelector(".posenc-draft");
  }

  get code() {
    return this.record.code;
  }

  get begun() {
    return this.code !== this.starter;
  }

  get name() {
    return this.id.split(".")[1];
  }

  /** Make the editor. */
  async open() {
    const { createEditor } = await import("./editor.js");
    const before = [...this.place.children];
    const { draft } = this;
    this.editor = createEditor(this.place, {
      code: this.code,
      label: words.answerTo(this.element.dataset.title),
      describedBy: this.keys.id,
      onChange: (code) => this.#edited(code),
      onCheck: () => this.check(),
    });
    if (draft && draft === document.activeElement) this.editor.goOnFrom(draft);
    else if (before.some((each) => each.contains(document.activeElement))) this.editor.focus();
    for (const each of before) each.remove();
    this.keys.hidden = false;
  }

  check() {
    const request = this.#request();
    return this.ask({ do: "check", ...request }, (result) => this.#show(result, request.code));
  }

  saveNow() {
    if (this.#saving) this.#save({});
  }

  /** Another tab, or an import, may have changed the record. What is being written here stays. */
  takeFromStore() {
    if (this.#saving || this.place.contains(document.activeElement)) return;
    const record = this.#begin(store.load("exercise", this.id));
    if (JSON.stringify(record) === JSON.stringify(this.record)) return;
    const changed = record.code !== this.code;
    this.record = record;
    this.#agreed = this.code;
    if (changed) this.#setCode(record.code);
    this.#refresh();
    if (changed && this.editor) this.say(words.fromElsewhere);
  }

  #begin(record) {
    const fresh = {
      code: this.starter,
      ...this.given,
      attempts: 0,
      hints: 0,
      passed: false,
      solutionShown: false,
    };
    if (!record) return fresh;
    const found = { ...fresh, starter: undefined, mark: undefined, ...record };
    if (found.passed) found.answer = store.answerOf(found); // of an older record, before anything else is written
    if (found.starter === this.starter) found.mark = this.given.mark; // a record from before there were marks
    const untouched = found.code === found.starter;
    return untouched ? { ...found, code: this.starter, ...this.given } : found;
  }

  #build() {
    this.controls = {
      check: button(words.check, () => this.check()),
      stop: this.stop,
      hint: button("", () => this.#nextHint()),
      reset: button(words.reset, () => this.#reset()),
      former: button(words.former, () => this.#bringBack()),
      retry: this.retry,
    };
    if (this.solution) this.controls.solution = button(words.solution, () => this.#askForSolution());
    this.controls.check.classList.add("posenc-check");
    this.again = this.controls.check;
    this.keys = made("p", "posenc-keys", words.keys);
    this.keys.id = `${this.element.id}-keys`;
    this.keys.hidden = true;
    this.notices = made("div", "posenc-notices");
    this.badge = badge(this.element);
    this.place.after(
      this.keys,
      made("div", "posenc-controls", ...Object.values(this.controls)),
      this.notices,
      this.status,
      this.loading,
      this.result,
      this.output,
    );
  }

  /** Make the page show what the record says. */
  #refresh() {
    const { hints, passed, solutionShown, former, starter, mark } = this.record;
    const { hint, solution } = this.controls;
    this.badge.hidden = !passed;
    this.hints.forEach((each, index) => (each.hidden = index >= hints));
    hint.hidden = !this.hints.length;
    hint.textContent = words.hint(Math.min(hints, this.hints.length), this.hints.length);
    hint.disabled = hints >= this.hints.length;
    this.controls.former.hidden = former === undefined || former === this.code;
    if (solution) {
      this.solution.hidden = !solutionShown && !passed; // a right answer has nothing to lose by it
      solution.hidden = !this.solution.hidden;
      if (solution.hidden) this.#withdraw(this.controls.check);
    }
    this.#showNotices(this.begun && (mark ? mark !== this.given.mark : starter !== this.starter));
  }

  #showNotices(starterChanged) {
    const shown = [];
    if (this.#elsewhere) {
      shown.push(
        made("p", "", words.elsewhere),
        button(words.takeOther, () => this.#bringBack()),
        button(words.keepMine, () => this.#keepMine()),
      );
    }
    if (!store.available) shown.push(made("p", "", words.notKept));
    if (starterChanged) {
      shown.push(
        made("p", "", words.starterChanged),
        button(words.keepMine, () => this.#keepMine()),
        button(words.takeNew, () => {
          this.#replace(this.starter, words.wasReset);
          this.editor?.focus();
        }),
      );
    }
    this.notices.replaceChildren(...shown);
  }

  #request() {
    const begun = this.earlier.filter((each) => each.begun);
    const unwritten = this.earlier.filter((each) => !each.begun);
    return {
      exercise: this.id,
      setup: this.element.dataset.setup,
      earlier: begun.map((each) => each.code),
      unwritten: unwritten.map((each) => each.name),
      code: this.code,
    };
  }

  async #show(result, code) {
    const passed = result.kind === "report" && result.passed;
    const before = this.record.passed;
    this.#save({ attempts: this.record.attempts + 1, ...(passed && { passed, answer: code }) });
    this.#refresh();
    if (result.kind === "report") {
      this.say(joined(result.headline, passed && saidOfWay(this.element)));
      this.status.classList.add("posenc-unseen"); // the report says it too
      this.result.replaceChildren(withoutScripts(result.html)); // an answer can change what makes the report, too
    } else if (result.kind === "error") {
      this.showError(result);
    } else if (result.kind === "unwritten") {
      this.say(words.unwritten);
    } else {
      this.say(words[result.kind](result.function));
    }
    for (const name of passed ? [] : (result.needs ?? [])) this.#pointTo(name);
    if (passed) await this.#showWhatItIsGoodFor(result, before);
  }

  /** How far the reader is, the chapter's figure by this answer, the solution to compare with, and the way on. */
  async #showWhatItIsGoodFor({ draws }, before) {
    const way = wayThroughChapter(this.element, before);
    this.result.append(way); // right below the verdict, where the reader looks
    if (this.solution) {
      this.solution.open = true;
      this.result.append(made("p", "posenc-after", words.compare));
    }
    this.result.append(onward(this.element));
    if (!draws) return;
    const place = made("div", "posenc-figure-of-yours");
    way.after(place);
    try {
      const { html } = await this.runner.run({ do: "draw" }, { seconds: this.seconds });
      place.replaceChildren(withoutScripts(html));
    } catch (problem) {
      if (!(problem instanceof NoVerdict)) throw problem;
      place.append(made("p", "", words.notDrawn));
    }
  }

  #pointTo(name) {
    const earlier = this.earlier.find((each) => each.name === name);
    const link = made("a", "", earlier.element.dataset.title);
    link.href = `#${earlier.element.id}`;
    this.result.append(made("p", "", words.needs(name), " ", link));
  }

  #nextHint() {
    const next = this.hints[this.record.hints];
    this.#save({ hints: this.record.hints + 1 });
    this.#refresh();
    next.open = true;
    intoView(next);
    if (this.controls.hint.disabled) next.querySelector("summary").focus();
    this.say(words.hintShown(this.record.hints));
  }

  #reset() {
    if (this.begun) this.#replace(this.starter, words.wasReset);
  }

  #bringBack() {
    this.#elsewhere = false;
    this.#replace(this.record.former, words.formerBack);
    this.editor?.focus();
  }

  /** Other code in place of this; this stays within reach. */
  #replace(code, sentence) {
    const former = this.begun ? this.code : this.record.former;
    this.#save({ former, code, ...this.given });
    this.#setCode(code);
    this.#refresh();
    this.result.replaceChildren();
    this.output.replaceChildren();
    this.say(sentence);
  }

  #keepMine() {
    this.#elsewhere = false;
    this.#save(this.given);
    this.#refresh();
    this.editor?.focus();
  }

  #askForSolution() {
    const { solution } = this.controls;
    const no = button(words.no, () => this.#withdraw(solution));
    const yes = button(words.yes, () => this.#showSolution());
    const question = made("div", "posenc-ask", made("p", "", words.askSolution), yes, no);
    question.setAttribute("role", "group");
    question.setAttribute("aria-label", words.askSolution);
    solution.disabled = true;
    this.notices.after(question);
    no.focus();
  }

  /** The question is answered, or has none to ask for any more. */
  #withdraw(next) {
    const question = this.element.querySelector(".posenc-ask");
    const focused = question?.contains(document.activeElement);
    question?.remove();
    this.controls.solution.disabled = false;
    if (focused) next.focus({ preventScroll: true });
  }

  #showSolution() {
    this.#save({ solutionShown: true });
    this.#refresh();
    this.solution.open = true;
    this.solution.querySelector("summary").focus();
    this.say(words.solutionShown);
  }

  #edited(code) {
    if (code === this.code) return; // set by this page, not typed
    this.touch();
    const begun = this.record.starter === undefined ? this.given : {};
    this.record = { ...this.record, code, ...begun };
    clearTimeout(this.#saving);
    this.#saving = setTimeout(() => this.#save({}), SAVE_AFTER);
  }

  #save(changes) {
    clearTimeout(this.#saving);
    this.#saving = undefined;
    this.#join();
    this.record = { ...this.record, ...changes };
    const before = store.available;
    this.record = store.save("exercise", this.id, this.record);
    this.#agreed = this.code;
    if (this.#elsewhere || before !== store.available) this.#refresh();
  }

  /** What another tab has kept meanwhile is not lost: it counts, and its code stays within reach. */
  #join() {
    const there = store.load("exercise", this.id);
    if (!there || there.updated === this.record.updated) return;
    const { answer, attempts, hints, passed, solutionShown } = this.record;
    Object.assign(this.record, {
      attempts: Math.max(attempts, there.attempts ?? 0),
      hints: Math.max(hints, there.hints ?? 0),
      passed: passed || Boolean(there.passed),
      answer: there.answer ?? answer,
      solutionShown: solutionShown || Boolean(there.solutionShown),
    });
    if ([this.#agreed, this.code, this.starter].includes(there.code) || typeof there.code !== "string") return;
    this.record.former = there.code;
    if (!this.#elsewhere) {
      this.say(words.elsewhere);
      this.status.classList.add("posenc-unseen"); // the notice says it too
    }
    this.#elsewhere = true;
  }

  #setCode(code) {
    if (this.editor) return this.editor.setCode(code);
    if (code !== this.still.textContent.trimEnd()) this.still.textContent = code;
    if (this.draft) this.draft.value = code;
  }
}
