// The map of the course: its nodes are filled with what the reader has passed.
import { made } from "./elements.js";
import * as store from "./store.js";
import { words } from "./words-progress.js";

const SIGNS = { passed: "✓", tried: "◐", open: "○" };

export function start(elements) {
  for (const element of elements) {
    const map = chart(element);
    store.onChange(map.fill);
    map.fill();
  }
}

/** The rows of a map, and `fill()`, which makes them show what is stored. */
export function chart(map) {
  const exercises = [...map.querySelectorAll("[data-exercise]")]; // those of one step, and steps
  const wholes = [...map.querySelectorAll("[data-steps]")];
  const quizzes = [...map.querySelectorAll("[data-questions]")];
  const predicted = [...map.querySelectorAll("[data-predictions]")];
  const parts = [...map.querySelectorAll(".posenc-door, .posenc-chapter")];
  for (const row of [...exercises, ...wholes, ...quizzes, ...predicted]) row.prepend(made("span", "posenc-state"));
  const inPage = exercises.filter((row) => !("elsewhere" in row.dataset));
  const counted = [...inPage.filter((row) => !row.parentElement.closest("[data-steps]")), ...wholes];

  function fill() {
    const work = store.all("exercise");
    const answers = store.all("quiz");
    const predictions = store.all("prediction");
    for (const row of exercises) mark(row, stateOf(work[row.dataset.exercise]));
    for (const row of wholes)
      markWhole(
        row,
        row.dataset.steps.split(" ").map((id) => stateOf(work[id])),
      );
    for (const row of quizzes) markQuiz(row, answers);
    for (const row of predicted) markPredictions(row, predictions);
    for (const part of parts) {
      const rows = counted.filter((row) => part.contains(row));
      const passed = rows.filter(isPassed).length;
      part.style.setProperty("--share", passed / (rows.length || 1));
      part.querySelector(":scope > summary > .posenc-tally")?.replaceChildren(words.passedOf(passed, rows.length));
    }
    map.classList.add("posenc-filled");
  }

  return { exercises, inPage, counted, quizzes, predicted, fill };
}

export const isPassed = (row) => row.dataset.state === "passed";

/** How far the reader is with an exercise. */
function stateOf(record) {
  if (!record) return "open";
  if (record.passed) return "passed";
  const touched = record.attempts || record.hints || record.solutionShown || record.code !== record.starter;
  return touched ? "tried" : "open";
}

/** What a node says, and how much of it is filled. */
function mark(row, state, text = words[state], share = Number(state === "passed")) {
  const sign = made("span", "", SIGNS[state]);
  sign.setAttribute("aria-hidden", "true");
  for (const each of [row, nodeOf(row)].filter(Boolean)) {
    each.dataset.state = state;
    each.style.setProperty("--share", share);
  }
  row.querySelector(".posenc-state").replaceChildren(sign, ` ${text}`);
}

/** What stands for a row while its chapter is closed; nothing for a step of an exercise. */
function nodeOf(row) {
  const chapter = row.closest(".posenc-chapter");
  if (chapter !== row.parentElement.parentElement) return null;
  return chapter?.querySelectorAll(":scope > summary .posenc-node")[[...row.parentElement.children].indexOf(row)];
}

function markWhole(row, states) {
  const passed = states.filter((state) => state === "passed").length;
  const state = passed === states.length ? "passed" : "tried";
  if (states.every((each) => each === "open")) mark(row, "open");
  else mark(row, state, words.stepsPassed(passed, states.length), passed / states.length);
}

function markQuiz(row, answers) {
  const ids = row.dataset.questions.split(" ");
  const answered = ids.filter((id) => answers[id]);
  const right = ids.filter((id) => answers[id]?.right).length;
  const state = right === ids.length ? "passed" : "tried";
  if (!answered.length) mark(row, "open");
  else mark(row, state, words.questionsRight(right, ids.length), right / ids.length);
}

/** To predict is what counts, right or wrong. */
function markPredictions(row, predictions) {
  const ids = row.dataset.predictions.split(" ");
  const said = ids.filter((id) => predictions[id]?.said);
  const right = said.filter((id) => predictions[id].right).length;
  const state = said.length === ids.length ? "passed" : "tried";
  if (!said.length) mark(row, "open");
  else mark(row, state, words.predicted(said.length, right), said.length / ids.length);
}
