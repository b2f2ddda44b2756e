// Trains up to three small models while the reader watches, and tests them on longer and longer texts.
import { button, made, status, yieldFocus } from "./elements.js";
import { sliders } from "./figures/sliders.js";
import { stage } from "./figures/stage.js";
import { LOOKS, lossChart, shareChart } from "./train-live/charts.js";
import { LEAST, LENGTH, OTHER_STEPS, STEPS, TEST_LENGTHS } from "./train-live/sizes.js";
import { Trainee } from "./train-live/trainee.js";
import { decimals } from "./words.js";
import { words } from "./words-train-live.js";

const START = ["sinusoidal", "rope", "t5"];
const MOST_SEED = 9999;
const SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
const SETTLED = 150; // ms without a move of the slider, after which the models are asked
const percent = (share, count = 1) => `${decimals(100 * share, count)}%`;
const nameOf = (trainee) => words.encoding[trainee.encoding];

export function start(places) {
  for (const place of places) startPlace(place);
}

function startPlace(place) {
  let trainees = [];
  let begun = 0;
  let held = false;
  let asking;
  let heard = ""; // what a screen reader has heard of the models
  let estimated = false; // whether it has been said how long it will take

  const chosen = START.map(choice);
  const steps = made(
    "select",
    "",
    ...OTHER_STEPS.map((count) => {
      const name = count < STEPS ? words.fewSteps(count) : String(count);
      return new Option(name, String(count), false, count === STEPS);
    }),
  );
  steps.autocomplete = "off";
  const seed = made("input", "");
  Object.assign(seed, { type: "number", min: 0, max: MOST_SEED, step: 1, value: 0, autocomplete: "off" });
  const train = button(words.train, begin);
  const another = button(words.another, () => {
    seed.value = String((Number(seed.value) + 1) % (MOST_SEED + 1));
    begin();
  });
  const pause = button(words.pause, hold);
  const stop = button(words.stop, end);
  const said = status("posenc-verdict");
  const left = made("p", "posenc-left"); // not announced: it changes every second
  const list = made("ul", "posenc-trainees");
  const lossPlace = made("figure", "posenc-figure");
  const sharePlace = made("figure", "posenc-figure");
  const losses = stage(lossPlace, { draw: lossChart });
  const shares = stage(sharePlace, { draw: shareChart });
  const setting = [{ name: "length", values: TEST_LENGTHS, start: LENGTH }];
  const { values, rows } = sliders(setting, { length: words.length }, moved);
  const reading = made("ul", "posenc-trainees posenc-reading");
  reading.setAttribute("aria-live", "polite");
  const examples = made("div", "posenc-examples");
  const results = made(
    "section",
    "posenc-results",
    sharePlace,
    made("div", "posenc-sliders", ...rows),
    reading,
    examples,
  );
  results.setAttribute("aria-label", words.results);
  results.hidden = true;

  const legend = made("legend", "", words.settings);
  const numbers = [made("label", "", words.steps, steps), made("label", "", words.seed, seed)];
  const settings = made("fieldset", "", legend, ...chosen.map((each) => each.label), ...numbers);
  place.replaceChildren(
    settings,
    made("div", "posenc-row", train, pause, stop, another),
    said,
    left,
    list,
    lossPlace,
    results,
  );
  losses.tell(words.lossFigure);
  shares.tell(words.shareFigure);
  show();
  new ResizeObserver(draw).observe(place);

  function begin() {
    const number = Number(seed.value);
    if (seed.value.trim() === "" || !Number.isInteger(number) || number < 0 || number > MOST_SEED) {
      said.textContent = words.wrongSeed;
      seed.focus();
      return;
    }
    forget();
    begun = performance.now();
    const names = [...new Set(chosen.map((each) => each.select.value).filter(Boolean))];
    try {
      trainees = names.map((name) => {
        const trainee = new Trainee(name, number, Number(steps.value), (what) => came(trainee, what));
        return trainee;
      });
    } catch (error) {
      forget();
      said.textContent = words.noWorker(error.message);
      return show();
    }
    estimated = false;
    said.textContent = words.measuresTime;
    show();
  }

  function forget() {
    for (const each of trainees) each.end();
    trainees = [];
    held = false;
    results.hidden = true;
    examples.replaceChildren();
  }

  function hold() {
    held = !held;
    for (const each of trainees) each.pause(held);
    said.textContent = held ? words.paused : words.wentOn;
    show();
  }

  function end() {
    forget();
    said.textContent = words.stopped;
    show();
  }

  /** What a model has to tell. Only the end of all is announced: a screen reader would stumble over the steps. */
  function came(trainee, what) {
    if (!trainees.includes(trainee)) return;
    if (what === "tested") results.hidden = false;
    if (what === "tested" && trainees.every(({ state }) => state !== "trains") && training())
      said.textContent = words.tests;
    if (what === "error") said.textContent = words.failed(nameOf(trainee), trainee.problem);
    if (what === "done") {
      ask();
      if (!training() && !broken()) said.textContent = words.done(decimals((performance.now() - begun) / 1000, 0));
    }
    if (what === "shown") return showExamples();
    show();
  }

  function training() {
    return trainees.some(({ busy }) => busy);
  }

  function broken() {
    return trainees.some(({ state }) => state === "broken");
  }

  /** How long it will take, as soon as that is measured, and how much of it is left. */
  function tellTime() {
    const each = trainees.map((trainee) => trainee.left());
    const known = training() && !held && !each.includes(undefined);
    const seconds = known ? Math.max(...each) / 1000 : undefined;
    left.textContent = known ? words.left(rounded(seconds)) : "";
    if (!known || estimated) return;
    estimated = true;
    said.textContent = words.willTake(rounded(seconds + (performance.now() - begun) / 1000));
  }

  function show() {
    tellTime();
    if (!training()) for (const each of [pause, stop]) yieldFocus(each, train);
    pause.disabled = stop.disabled = !training();
    pause.textContent = held ? words.goOn : words.pause;
    list.replaceChildren(...trainees.map((each, model) => item(model, standing(each))));
    tell(trainees.map((each) => atLength(each, values.length)));
    draw();
  }

  /** What each model does at this length; a screen reader hears it when it changes, and not at every step. */
  function tell(each) {
    if (each.join("\n") !== heard) reading.replaceChildren(...each.map((text, model) => item(model, text)));
    heard = each.join("\n");
  }

  function draw() {
    losses.draw({ losses: trainees.map((each) => each.losses), steps: trainees[0]?.steps ?? STEPS });
    if (!results.hidden) shares.draw({ tested: trainees.map((each) => each.tested), length: values.length });
  }

  function moved() {
    show();
    clearTimeout(asking);
    asking = setTimeout(ask, SETTLED);
  }

  /** What each admitted model does with one text of this length; of the others, at the trained length at most. */
  function ask() {
    for (const each of trainees) {
      if (each.state === "tested" || (each.state === "refused" && values.length <= LENGTH)) each.show(values.length);
      else each.shown = undefined;
    }
    showExamples();
  }

  function showExamples() {
    const ready = trainees.filter(({ shown }) => shown?.length === values.length);
    if (!ready.length) return examples.replaceChildren();
    examples.replaceChildren(
      made("h3", "", words.example),
      made("p", "posenc-task", words.key),
      ...ready.map((each) => example(each, trainees.indexOf(each))),
    );
  }
}

/** Seconds as exact as they are known: to 5, and above a minute to 10. */
function rounded(seconds) {
  const step = seconds > 60 ? 10 : 5;
  return decimals(Math.max(step, step * Math.round(seconds / step)), 0);
}

/** A list of encodings, with its label. */
function choice(start, place) {
  const select = made("select", "");
  select.autocomplete = "off";
  if (place > 0) select.append(new Option(words.nothing, ""));
  for (const [name, told] of Object.entries(words.encoding))
    select.append(new Option(told, name, false, name === start));
  return { select, label: made("label", "", words.encodings[place], select) };
}

/** A line of a list, with a piece of the model's curve before it. */
function item(model, told) {
  const sample = made("span", "posenc-stage posenc-sample");
  sample.setAttribute("aria-hidden", "true");
  sample.innerHTML = `<svg viewBox="0 0 28 10"><path d="M0 5H28" class="line ${LOOKS[model]}"/></svg>`;
  return made("li", "", sample, told);
}

function standing(trainee) {
  const { state, share, losses, problem } = trainee;
  const name = nameOf(trainee);
  if (state === "broken") return words.failed(name, problem);
  if (state === "tested") return words.admitted(name, percent(share));
  if (state === "refused") return words.refused(name, percent(share), percent(LEAST, 0));
  if (state === "tests") return words.isTested(name, Object.keys(trainee.tested).length, TEST_LENGTHS.length);
  if (!losses.length) return words.waits(name);
  const shareNow = share === undefined ? "…" : percent(share);
  return words.trains(name, losses.length, trainee.steps, decimals(losses.at(-1), 2), shareNow);
}

function atLength(trainee, length) {
  const name = nameOf(trainee);
  const found = trainee.tested[length];
  if (found) return words.at(name, percent(found.share), percent(2 * found.error), found.texts, length);
  return trainee.busy ? words.measuring(name) : words.noVerdict(name);
}

/** The text, letter by letter. */
function example(trainee, model) {
  const { letters, known, right, looks, length } = trainee.shown;
  const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);
  const top = (shares) => Math.max(...shares);
  const hardest = looks.reduce((one, other) => (top(other) > top(one) ? other : one));
  const most = hardest.indexOf(top(hardest));
  const text = made("p", "posenc-text");
  letters.forEach((letter, place) => {
    // Whether a letter was told stands with the one before it, which the model read last.
    const told = place === 0 || !known[place - 1] ? "posenc-pale" : right[place - 1] ? "" : "posenc-wrong";
    const sign = made("span", told, SIGNS[letter]);
    sign.style.setProperty("--weight", hardest[place].toFixed(3));
    text.append(sign);
  });
  const [told, all] = [sum(right.subarray(0, length - 1)), sum(known.subarray(0, length - 1))];
  const caption = words.oneText(nameOf(trainee), told, all, length - 1 - most, percent(hardest[most], 0));
  text.setAttribute("role", "img");
  text.setAttribute("aria-label", caption);
  const row = made("ul", "posenc-trainees", item(model, caption));
  return made("div", "posenc-example", row, text);
}
