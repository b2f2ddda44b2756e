// The lab: two trained models read the same text, and write on.
import { button, made, status } from "./elements.js";
import { Client } from "./lab/client.js";
import { curve } from "./lab/curve.js";
import { choice, labelled, slider } from "./lab/fields.js";
import { Panel } from "./lab/panel.js";
import { lengthened, named } from "./lab/text.js";
import { number } from "./words.js";
import { words } from "./words-lab.js";

const [SHORTEST, MOST, STEP, AT_FIRST] = [16, 2048, 16, 256];
const WRITTEN = 256; // bytes that a model writes at most
const START = { a: { model: "rope", rule: "none", factor: 1 }, b: { model: "alibi", rule: "none", factor: 1 } };
const SETTLED = 300; // ms without a move, after which the reading is told

export function start(places) {
  for (const place of places) wait(place);
}

/** A button that brings the models: nobody loads them who only passes by. */
function wait(place) {
  const meter = made("progress", "");
  Object.assign(meter, { ariaLabel: words.start, hidden: true });
  const said = status("posenc-lab-said");
  const bring = button(words.start, async () => {
    bring.disabled = true;
    meter.hidden = false;
    try {
      await open(place, {
        progress: ({ received, total }) => {
          if (meter.hidden) return; // another file has failed
          if (total) meter.value = received / total;
          const [some, all] = [received, total].map((each) => number(Math.round(each / 1000)));
          said.textContent = total ? words.coming(some, all) : words.comingSoFar(some);
        },
        starting: () => (said.textContent = words.starting),
      });
    } catch (problem) {
      console.error(problem);
      said.textContent = words.problem(problem.message);
      bring.textContent = words.again;
      bring.disabled = false;
      meter.hidden = true;
    }
  });
  place.querySelector(".posenc-lab-start").append(made("div", "posenc-row", bring), meter, said);
}

async function open(place, { progress, starting }) {
  const client = new Client();
  const models = await client.ask("list");
  const got = {};
  const hear = (name) => (each) => {
    got[name] = each;
    const known = Object.values(got);
    const total = known.reduce((sum, { total = NaN }) => sum + total, 0);
    progress({ received: known.reduce((sum, { received }) => sum + received, 0), ...(total && { total }) });
  };
  const names = new Set(Object.values(START).map(({ model }) => model));
  await Promise.all([...names].map((model) => client.ask("load", { model }, { onProgress: hear(model) })));
  starting();
  bench(place, client, models);
}

function bench(place, client, models) {
  const texts = JSON.parse(place.dataset.texts);
  let [whole, length, frame, pause, layer, head, at] = [
    lengthened(texts[0].text, MOST),
    AT_FIRST,
    0,
    0,
    0,
    0,
    undefined,
  ];

  const field = made("textarea", "");
  Object.assign(field, { rows: 6, spellcheck: false, value: texts[0].text });
  field.addEventListener("input", () => {
    which.field.value = "";
    change();
  });
  const which = choice(
    words.texts,
    [...texts.map(({ name }) => [name, name]), ["", words.yours]],
    texts[0].name,
    (name) => {
      const found = texts.find((each) => each.name === name);
      if (found) field.value = found.text;
      change();
    },
  );
  const hint = status("posenc-lab-hint");
  const trained = () => panels[0].trained;
  const told = (value) => (panels ? words.lengthText(number(value), number(trained())) : "");
  let panels;
  const long = slider(words.length, { min: SHORTEST, max: MOST, step: STEP, value: AT_FIRST }, told, (value) => {
    length = value;
    later();
  });
  const where = slider(
    words.place,
    { min: 0, max: AT_FIRST - 1, value: 0 },
    (byte) => saidAt(byte),
    (byte) => point(cellOf(byte)),
  );
  const numbers = (name, count) =>
    choice(
      words[name],
      Array.from({ length: count }, (_, each) => [String(each), number(each + 1)]),
      "0",
      (value) => {
        if (name === "layer") layer = Number(value);
        else head = Number(value);
        point(at);
      },
    );
  const layers = numbers("layer", 4);
  const heads = numbers("head", 4);
  const loss = curve((byte) => point(cellOf(Math.min(byte, shown() - 1))));

  panels = ["a", "b"].map(
    (side) =>
      new Panel({
        client,
        side,
        models,
        start: START[side],
        onPlace: point,
        onRead: draw,
        onChoice: () => change(side),
      }),
  );
  const [a, b] = panels;
  for (const [one, other] of [
    [a, b],
    [b, a],
  ])
    one.text.addEventListener("scroll", () => (other.text.scrollTop = one.text.scrollTop));

  const temperature = slider(
    words.temperature,
    { min: 0, max: 1.5, step: 0.1, value: 0.8 },
    (value) => number(value, 2),
    () => {},
  );
  const seed = labelled(
    words.seed,
    Object.assign(made("input", ""), { type: "number", min: 0, max: 999999, step: 1, value: 0 }),
  );
  const writing = status("posenc-lab-said");
  const go = button(words.write, write);
  const stop = button(words.stop, () => {
    for (const { side } of panels) client.ask("stop", { side });
    writing.textContent = words.stopped;
  });
  stop.disabled = true;

  place.replaceChildren(
    made("div", "posenc-lab-ask", which.element, labelled(words.text, field).element, hint, long.element),
    loss.element,
    made("div", "posenc-lab-look", where.element, layers.element, heads.element),
    made("div", "posenc-lab-panels", a.element, b.element),
    made("div", "posenc-lab-write", temperature.element, seed.element, made("div", "posenc-row", go, stop), writing),
  );
  place.dataset.open = "";
  change();

  function shown() {
    return Math.min(length, whole.bytes.length);
  }

  /** The text, a model or the length is another. */
  function change(side) {
    whole = lengthened(field.value, MOST);
    const enough = whole.cells.length >= 2;
    hint.textContent = !enough ? words.tooShort : whole.own < MOST ? words.repeated(whole.own) : words.whole;
    if (enough) show(side && panels.filter((each) => each.side === side));
  }

  function later() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => show());
  }

  /** Show the text, and let these models read it. */
  function show(those = panels) {
    const bytes = whole.bytes.slice(0, shown());
    const cells = whole.cells.filter(({ to }) => to <= bytes.length);
    where.field.max = bytes.length - 1;
    where.show();
    long.show();
    if (at >= cells.length) at = cells.length - 1;
    for (const panel of those) {
      panel.show(cells);
      if (at !== undefined) panel.look({ cell: at, layer, head });
      panel.read(bytes).catch((problem) => panel.failed(problem));
    }
    draw();
  }

  function draw() {
    const known = Math.min(a.count, b.count, shown());
    if (known < 2) return;
    const about = words.curve.about(...panels.map(({ mean }) => mean.textContent));
    loss.draw({
      losses: panels.map((panel) => panel.losses),
      length: known,
      trained: trained(),
      place: whole.cells[at]?.from,
      about,
    });
  }

  function cellOf(byte) {
    return Math.max(
      0,
      whole.cells.findLastIndex(({ from }) => from <= byte),
    );
  }

  function saidAt(byte) {
    const cell = whole.cells[cellOf(byte)];
    return cell ? words.placeText(named(cell.sign), number(cell.from)) : "";
  }

  /** Both models show what they looked at when they guessed this character. */
  function point(cell, reveals = true) {
    if (cell === undefined) return;
    at = cell;
    where.field.value = whole.cells[cell].from;
    where.show();
    clearTimeout(pause);
    for (const panel of panels) {
      panel.told.setAttribute("aria-busy", "true");
      panel.look({ cell, layer, head });
      if (reveals) panel.reveal(cell);
    }
    pause = setTimeout(() => panels.forEach((panel) => panel.told.removeAttribute("aria-busy")), SETTLED);
    draw();
  }

  async function write() {
    const given = { temperature: Number(temperature.field.value), seed: Number(seed.field.value) || 0, count: WRITTEN };
    const bytes = whole.bytes.slice(0, shown());
    [go.disabled, stop.disabled] = [true, false];
    writing.textContent = words.writing;
    try {
      const done = await Promise.all(panels.map((panel) => panel.write(bytes, given)));
      const [first, second] = done.map(({ rate }) => number(Math.round(rate)));
      writing.textContent = [
        done.some(({ written }) => written < WRITTEN) ? words.stopped : "",
        words.written(first, second),
      ]
        .filter(Boolean)
        .join(" ");
    } catch (problem) {
      writing.textContent = words.panelProblem(problem.message);
    }
    [go.disabled, stop.disabled] = [false, true];
  }
}
