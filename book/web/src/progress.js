// The progress page: how far the reader is, and the work as a file.
import { button, made, status } from "./elements.js";
import { downloadWork } from "./export-file.js";
import { chart, isPassed } from "./map.js";
import { isDue } from "./schedule.js";
import * as store from "./store.js";
import { joined } from "./words.js";
import { words } from "./words-progress.js";

export function start(elements) {
  for (const element of elements) startPage(element);
}

function startPage(page) {
  const map = chart(page);
  const overview = page.querySelector(".posenc-said-of-all");
  document.querySelector(".posenc-work")?.append(...work(), settings());
  const asked = idsOf(map.quizzes, "questions");
  const boxes = idsOf(map.predicted, "predictions");

  store.onChange(fill);
  fill();

  function fill() {
    map.fill();
    const passed = map.counted.filter(isPassed);
    const total = (rows) => rows.reduce((sum, row) => sum + Number(row.dataset.points), 0);
    const now = new Date();
    const answers = Object.entries(store.all("quiz"));
    const due = answers.filter(([id, each]) => asked.has(id) && each.due && isDue(each, now));
    const said = Object.entries(store.all("prediction")).filter(([id, each]) => boxes.has(id) && each.said);
    const right = said.filter(([, each]) => each.right);
    overview.replaceChildren(
      meter(passed.length, map.counted.length),
      made("p", "posenc-of-all", words.exercisesPassed(passed.length, map.counted.length)),
      made("p", "", words.points(total(map.inPage.filter(isPassed)), total(map.inPage))),
    );
    if (said.length)
      overview.append(made("p", "posenc-foretold", words.foretold(said.length, boxes.size, right.length)));
    if (due.length && page.dataset.review) {
      const link = made("a", "", words.due(due.length));
      link.href = page.dataset.review;
      overview.append(made("p", "", link));
    }
    if (!store.available) overview.append(made("p", "posenc-not-kept", words.notKept));
  }
}

const idsOf = (rows, name) => new Set(rows.flatMap((row) => row.dataset[name].split(" ")));

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
  return made("section", "", made("h3", "", words.python), label, made("p", "", words.whenLoaded));
}

/** Export, import and deletion. */
function work() {
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
    button(words.exportAll, () => (said.textContent = words.exported(downloadWork()))),
    button(words.importAll, () => picker.click()),
    button(words.clear, () => dialog.showModal()),
  );
  return [buttons, said, picker, dialog];
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
    return joined(...said);
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
