// The progress page: how far the reader is, and the work as a file.
import { button, made, status } from "./elements.js";
import * as store from "./store.js";
import { isDue } from "./schedule.js";
import { words } from "./words-progress.js";

const SIGNS = { passed: "✓", tried: "◐", open: "○" };

export function start(elements) {
  for (const element of elements) startPage(element);
}

function startPage(page) {
  const exercises = [...page.querySelectorAll("[data-exercise]")]; // those of one step, and steps
  const wholes = [...page.querySelectorAll("[data-steps]")];
  const quizzes = [...page.querySelectorAll("[data-questions]")];
  const predicted = [...page.querySelectorAll("[data-predictions]")];
  for (const row of [...exercises, ...wholes, ...quizzes, ...predicted]) row.prepend(made("span", "posenc-state"));
  const overview = made("div", "posenc-overview");
  page.prepend(overview);
  page.append(settings(), workSection());
  page.classList.add("posenc-filled");

  store.onChange(fill);
  fill();

  function fill() {
    const work = store.all("exercise");
    const answers = store.all("quiz");
    const predictions = store.all("prediction");
    for (const row of exercises) mark(row, stateOf(work[row.dataset.exercise]));
    for (const row of wholes) markWhole(row, row.dataset.steps.split(" ").map((id) => stateOf(work[id])));
    for (const row of quizzes) markQuiz(row, answers);
    for (const row of predicted) markPredictions(row, predictions);

    const inPage = exercises.filter((row) => !("elsewhere" in row.dataset));
    const counted = [...inPage.filter((row) => !row.parentElement.closest("[data-steps]")), ...wholes];
    const isPassed = (row) => row.dataset.state === "passed";
    const passed = counted.filter(isPassed);
    const total = (rows) => rows.reduce((sum, row) => sum + Number(row.dataset.points), 0);
    const asked = new Set(quizzes.flatMap((row) => row.dataset.questions.split(" ")));
    const now = new Date();
    const due = Object.entries(answers).filter(([id, each]) => asked.has(id) && each.due && isDue(each, now));
    overview.replaceChildren(
      meter(passed.length, counted.length),
      made("p", "", words.exercisesPassed(passed.length, counted.length)),
      made("p", "", words.points(total(inPage.filter(isPassed)), total(inPage))),
    );
    if (due.length && page.dataset.review) {
      const link = made("a", "", words.due(due.length));
      link.href = page.dataset.review;
      overview.append(made("p", "", link));
    }
    if (!store.available) overview.append(made("p", "posenc-not-kept", words.notKept));
  }
}

/** How far the reader is with an exercise. */
function stateOf(record) {
  if (!record) return "open";
  if (record.passed) return "passed";
  const touched = record.attempts || record.hints || record.solutionShown || record.code !== record.starter;
  return touched ? "tried" : "open";
}

function mark(row, state, text = words[state]) {
  const sign = made("span", "", SIGNS[state]);
  sign.setAttribute("aria-hidden", "true");
  row.dataset.state = state;
  row.querySelector(".posenc-state").replaceChildren(sign, ` ${text}`);
}

function markWhole(row, states) {
  const passed = states.filter((state) => state === "passed").length;
  if (states.every((state) => state === "open")) mark(row, "open");
  else mark(row, passed === states.length ? "passed" : "tried", words.stepsPassed(passed, states.length));
}

function markQuiz(row, answers) {
  const ids = row.dataset.questions.split(" ");
  const answered = ids.filter((id) => answers[id]);
  const right = ids.filter((id) => answers[id]?.right);
  if (!answered.length) mark(row, "open");
  else mark(row, right.length === ids.length ? "passed" : "tried", words.questionsRight(right.length, ids.length));
}

/** To predict is what counts, right or wrong. */
function markPredictions(row, predictions) {
  const ids = row.dataset.predictions.split(" ");
  const made = ids.filter((id) => predictions[id]?.said);
  const right = made.filter((id) => predictions[id].right);
  if (!made.length) mark(row, "open");
  else mark(row, made.length === ids.length ? "passed" : "tried", words.predicted(made.length, right.length));
}

function meter(value, max) {
  const bar = made("progress", "posenc-meter");
  bar.value = value;
  bar.max = max;
  bar.setAttribute("aria-label", words.exercisesPassed(value, max));
  return bar;
}

/** What the reader has chosen for all pages. */
function settings() {
  const early = made("input", "");
  early.type = "checkbox";
  early.addEventListener("change", () => store.save("setting", "python", { early: early.checked }));
  const fill = () => (early.checked = Boolean(store.load("setting", "python")?.early));
  store.onChange(fill);
  fill();
  const label = made("label", "", early, ` ${words.early}`);
  return made("section", "posenc-work", made("h2", "", words.python), label, made("p", "", words.whenLoaded));
}

/** Export, import and deletion. */
function workSection() {
  const said = status("posenc-said");
  const picker = made("input", "");
  picker.type = "file";
  picker.accept = ".json,application/json";
  picker.hidden = true;
  picker.addEventListener("change", async () => {
    const [file] = picker.files;
    if (file) said.textContent = await takeIn(file);
    picker.value = ""; // so that the same file can be chosen again
  });
  const dialog = clearDialog(() => {
    store.clearAll();
    said.textContent = words.cleared;
  });
  const buttons = made(
    "div",
    "posenc-row",
    button(words.exportAll, () => (said.textContent = words.exported(download()))),
    button(words.importAll, () => picker.click()),
    button(words.clear, () => dialog.showModal()),
  );
  return made("section", "posenc-work", made("h2", "", words.keep), buttons, said, picker, dialog);
}

function download() {
  const name = `positional-encoding-${new Date().toISOString().slice(0, 10)}.json`;
  const link = made("a", "");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(store.exportAll(), null, 1)], { type: "application/json" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return name;
}

/** Import a file; returns what to say about it. */
async function takeIn(file) {
  let exported;
  try {
    exported = JSON.parse(await file.text());
  } catch {
    return words.refused.unreadable;
  }
  try {
    const { taken, kept, faulty } = store.importAll(exported);
    const said = [words.taken(taken)];
    if (kept) said.push(words.kept(kept));
    if (faulty.length) said.push(words.faulty(faulty.join(", ")));
    return said.join(" ");
  } catch (error) {
    if (error instanceof store.ImportProblem) return words.refused[error.reason];
    throw error;
  }
}

function clearDialog(act) {
  const text = made("p", "", words.askClear);
  text.id = "posenc-ask-clear";
  const dialog = made("dialog", "posenc-dialog", text);
  dialog.setAttribute("aria-labelledby", text.id);
  const confirm = button(words.confirmClear, () => {
    dialog.close();
    act();
  });
  const cancel = button(words.cancel, () => dialog.close());
  cancel.autofocus = true;
  dialog.append(made("div", "posenc-row", cancel, confirm));
  return dialog;
}
