// One question: choose, check, read why, try again. What is said stands in the page already.
import { button, made, status } from "./elements.js";
import { reschedule } from "./schedule.js";
import * as store from "./store.js";
import { words } from "./words-quiz.js";

const REMEMBERED = 50; // answers of one question

/** Make a question of the page answerable. With `fresh`, what was answered before is not shown. */
export function startQuestion(fieldset, { fresh = false } = {}) {
  const id = fieldset.dataset.question;
  const several = "several" in fieldset.dataset;
  const options = [...fieldset.querySelectorAll(".posenc-option")].map((element) => ({
    element,
    input: element.querySelector("input"),
    note: element.querySelector("details"),
    right: "right" in element.dataset,
  }));
  const check = button(words.check, answer);
  const again = button(words.again, restart);
  const verdict = status("posenc-verdict");
  const tries = made("p", "posenc-tries");
  fieldset.append(made("div", "posenc-row", check, again), verdict, tries);
  fieldset.classList.add("posenc-answerable");

  // To choose is not yet to answer, with a pointer, a thumb or the keyboard alike.
  let answered = ""; // what was chosen when it was judged last: to ask about the same again is no new answer
  fieldset.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches("input")) return;
    event.preventDefault(); // or the same key would press the button that has the focus then
    answer();
  });
  fieldset.addEventListener("change", () => show([]));
  restore();

  function answer() {
    const chosen = options.flatMap(({ input }, index) => (input.checked ? [index] : []));
    if (!chosen.length) {
      verdict.textContent = words.nothing;
      return;
    }
    const right = isRight(chosen);
    const before = store.load("quiz", id);
    if (String(chosen) === answered) return show(chosen, before?.tries);
    answered = String(chosen);
    const now = new Date();
    const history = [...(before?.history ?? []), { at: now.toISOString(), right }].slice(-REMEMBERED);
    const record = {
      ...before,
      ...reschedule(before, right, now),
      chosen,
      right,
      tries: (before?.tries ?? 0) + 1,
      history,
      text: fieldset.dataset.text,
    };
    store.save("quiz", id, record);
    const focused = fieldset.contains(document.activeElement);
    show(chosen, record.tries);
    if (right && focused) again.focus({ preventScroll: true }); // what had the focus is gone or closed
  }

  function restore() {
    const record = store.load("quiz", id);
    // An answer to an older wording of the question says nothing about this one.
    const shown = !fresh && record?.text === fieldset.dataset.text ? record : undefined;
    const chosen = shown?.chosen ?? [];
    // What a reader chose before this script came stays chosen, where nothing is kept.
    if (shown) for (const [index, { input }] of options.entries()) input.checked = chosen.includes(index);
    answered = String(chosen);
    show(chosen, shown?.tries);
  }

  function restart() {
    for (const { input } of options) input.checked = false;
    answered = "";
    show([]);
    options[0].input.focus();
  }

  function isRight(chosen) {
    return options.every(({ right }, index) => right === chosen.includes(index));
  }

  /** What these answers deserve; with none, the question as if untouched. */
  function show(chosen, count) {
    const solved = isRight(chosen);
    for (const [index, { element, input, note, right }] of options.entries()) {
      const taken = chosen.includes(index);
      element.classList.toggle("posenc-right", taken && right);
      element.classList.toggle("posenc-wrong", taken && !right);
      input.disabled = solved; // looking around afterwards is no answer
      note.hidden = !taken && !solved; // once it is solved, all may be read
      note.open = taken;
    }
    check.hidden = solved;
    again.hidden = !solved;
    verdict.textContent = chosen.length ? verdictOn(chosen, solved) : "";
    tries.textContent = count ? words.tries(count) : "";
    if (count) fieldset.classList.add("posenc-met");
  }

  function verdictOn(chosen, solved) {
    if (solved) return words.right;
    if (!several) return words.wrong;
    return chosen.every((index) => options[index].right) ? words.severalMissing : words.severalWrong;
  }
}

/** A sentence for readers whose answers cannot be kept, put before the element. */
export function warnIfNotKept(element) {
  const warning = status("posenc-not-kept");
  element.before(warning);
  const tell = () => (warning.textContent = store.available ? "" : words.notKept);
  store.onChange(tell);
  tell();
}
