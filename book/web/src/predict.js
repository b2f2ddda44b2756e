// Predict boxes: the reader says what comes out, and then sees it. What shows it is covered until then.
import { button, made, status } from "./elements.js";
import { warnIfNotKept } from "./question.js";
import { readNumber } from "./read-number.js";
import * as store from "./store.js";
import { words } from "./words-predict.js";

const KIND = "prediction";

export function start(elements) {
  // Boxes that stand together share what follows them.
  const groups = [];
  for (const element of elements) {
    const last = groups.at(-1);
    if (element.matches(".posenc-outcome")) last.outcomes.push(element);
    else if (last && !last.outcomes.length) last.boxes.push(element);
    else groups.push({ boxes: [element], outcomes: [] });
  }
  warnIfNotKept(elements[0]);
  for (const { boxes, outcomes } of groups) startGroup(boxes, outcomes);
}

function startGroup(elements, outcomes) {
  const boxes = elements.map((element) => startBox(element, cover));
  cover();

  function cover() {
    const open = boxes.every((box) => box.isTold());
    for (const outcome of outcomes) outcome.classList.toggle("posenc-told", open);
  }
}

function startBox(box, changed) {
  const { prediction: id, text, right, value, within } = box.dataset;
  const answer = value === undefined ? choice(box, right, commit) : number({ value, within });
  const show = button(words.show, () => keep({ said: "", right: false, shown: true }));
  const asked = made("div", "posenc-row", ...(value === undefined ? [] : [button(words.predict, commit)]), show);
  const verdict = status("posenc-foretold");
  verdict.tabIndex = -1;
  const again = button(words.again, restart);
  const told = made("div", "posenc-row posenc-predicted", verdict, again);
  const hint = status("posenc-task");

  const [title, question] = box.children;
  question.id ||= `${box.id}-question`;
  const form = made("fieldset", "posenc-guess", answer.element, made("div", "posenc-stack", asked, told), hint);
  form.setAttribute("aria-labelledby", question.id);
  title.id = `${box.id}-title`;
  box.append(form);

  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement) || event.isComposing) return;
    event.preventDefault(); // or the same key would press the button that has the focus then
    commit();
  });
  form.addEventListener("input", () => (hint.textContent = ""));

  let record = known();
  store.onChange((change) => {
    if (change.kind && (change.kind !== KIND || change.id !== id)) return;
    const before = record;
    record = known();
    if (before || record) fill(); // what is chosen and not yet said stays
    changed();
  });
  fill();
  return { isTold: () => Boolean(record) };

  /** What was said of the box as it stands now. */
  function known() {
    const found = store.load(KIND, id);
    return found?.text === text ? found : undefined;
  }

  function commit() {
    const said = answer.said();
    if (said) keep({ said, right: answer.isRight(said) });
    else hint.textContent = answer.missing;
  }

  function keep(what) {
    const focused = box.contains(document.activeElement);
    store.save(KIND, id, { ...what, text });
    if (focused) verdict.focus({ preventScroll: true }); // what had the focus is gone; what was covered follows
  }

  /** Cover it once more. What was said stays kept until something else is said. */
  function restart() {
    record = undefined;
    fill();
    changed();
    answer.first.focus({ preventScroll: true });
  }

  function fill() {
    answer.fill(record);
    hint.textContent = "";
    form.classList.toggle("posenc-answered", Boolean(record));
    verdict.textContent = record ? verdictOn(record, box.dataset) : "";
  }
}

/** What a prediction deserves, in a sentence. */
export function verdictOn({ said, right: isRight, shown }, { right, value }) {
  if (shown) return words.shown(right);
  if (!isRight) return words.wrong(said, right);
  const exact = value === undefined || readNumber(said).includes(Number(value));
  return exact ? words.right(said) : words.near(said, right);
}

/** The options of a box as buttons: to choose is to say it. */
function choice(box, right, commit) {
  const list = box.querySelector(".posenc-options");
  let chosen;
  const rows = [...list.children].map((row, index) => {
    const number = String(index + 1);
    const option = button("", () => {
      chosen = number;
      commit();
    });
    option.className = "posenc-option";
    const text = row.querySelector("p:not(.posenc-why)");
    option.append(...text.childNodes);
    text.replaceWith(option);
    return { row, number, option };
  });
  return {
    element: list,
    first: rows[0].option,
    said: () => chosen,
    isRight: (said) => said === right,
    fill(record) {
      for (const { row, number, option } of rows) {
        option.disabled = Boolean(record);
        option.ariaPressed = String(number === record?.said);
        row.classList.toggle("posenc-right", Boolean(record) && number === right);
        row.classList.toggle("posenc-wrong", record?.said === number && number !== right);
      }
    },
  };
}

/** A field for a number. */
function number({ value, within }) {
  const input = made("input", "posenc-number");
  Object.assign(input, { type: "text", autocomplete: "off", spellcheck: false });
  const distance = (read) => Math.abs(read - Number(value));
  return {
    element: made("label", "posenc-number-label", words.number, input),
    first: input,
    missing: words.noNumber,
    said: () => (readNumber(input.value).length ? input.value.trim() : ""),
    // The last digits of both are rounded.
    isRight: (said) => readNumber(said).some((read) => distance(read) <= Number(within) * (1 + 1e-9)),
    fill(record) {
      input.value = record?.said ?? "";
      input.disabled = Boolean(record);
    },
  };
}
