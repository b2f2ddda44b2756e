// The lab: two trained models read the same text, and write on.
import { button, made, status, yieldFocus } from "./elements.js";
import { Client } from "./lab/client.js";
import { curve } from "./lab/curve.js";
import { choice, labelled, slider } from "./lab/fields.js";
import { Panel } from "./lab/panel.js";
import {
  BadLink,
  DEPTH,
  isLink,
  linkTo,
  MOST,
  PRESETS,
  presented,
  presetOf,
  SHORTEST,
  START,
  STEP,
  stateOf,
} from "./lab/state.js";
import { lengthened, named } from "./lab/text.js";
import { difference } from "./lab/verdict.js";
import { decimals, joined, number } from "./words.js";
import { words } from "./words-lab.js";

const WRITTEN = 256; // bytes that a model writes at most
const SETTLED = 300; // ms without a move, after which the reading is told
const PAUSE = 250; // ms without a key, after which the text is read

export function start(places) {
  for (const place of places) bench(place);
}

function bench(place) {
  const texts = JSON.parse(place.dataset.texts);
  const keys = texts.map(({ key }) => key);
  const textOf = (key) => texts.find((each) => each.key === key)?.text;
  let client; // of the models; nobody loads them who only passes by
  let open = false;
  let whole = lengthened(textOf(START.text), MOST);
  let { layer, head } = START;
  let at = cellOf(START.at);
  let [frame, settling, keeping, pause, asked] = [0, 0, 0, 0, 0];
  let panels;

  const presets = Object.fromEntries(
    Object.keys(PRESETS).map((name) => [
      name,
      button(words.presets[name], () => {
        take({ ...presented(name), layer, head });
        if (!open) begin();
      }),
    ]),
  );
  const copy = button(words.copy, copyLink);
  const copied = status("posenc-lab-copied");

  const which = choice(
    words.texts,
    [...texts.map(({ key, name }) => [key, name]), ["", words.yours]],
    START.text,
    (key) => {
      field.value = textOf(key) ?? field.value;
      change();
    },
  );
  const length = slider(
    words.length,
    { min: SHORTEST, max: MOST, step: STEP, value: START.length },
    (value) => words.lengthText(number(value), number(panels?.[0].trained ?? START.length)),
    later,
  );
  const where = slider(
    words.place,
    { min: 0, max: START.length - 1, value: START.at },
    (byte) => saidAt(byte),
    (byte) => point(cellOf(byte)),
  );
  const [layers, heads] = ["layer", "head"].map((name) =>
    choice(
      words[name],
      Array.from({ length: DEPTH }, (_, each) => [String(each), number(each + 1)]),
      String(START[name]),
      () => {
        [layer, head] = [layers, heads].map((each) => Number(each.field.value));
        point(at);
      },
    ),
  );
  const field = made("textarea", "");
  Object.assign(field, { rows: 2, spellcheck: false, value: textOf(START.text) });
  field.addEventListener("input", () => {
    which.field.value = "";
    for (const panel of panels) panel.rest();
    clearTimeout(pause);
    pause = setTimeout(change, PAUSE);
  });
  const hint = status("posenc-lab-hint");

  const verdict = status("posenc-lab-verdict");
  panels = ["a", "b"].map(
    (side) => new Panel({ side, kind: START[side], onPlace: point, onRead: draw, onChoice: change }),
  );
  const [a, b] = panels;
  for (const [one, other] of [panels, panels.toReversed()])
    one.lines.element.addEventListener("scroll", () => {
      other.lines.element.scrollTop = one.lines.element.scrollTop;
    });
  const loss = curve((byte) => point(cellOf(Math.min(byte, shown() - 1)), { heard: [] }));
  const names = panels.map(() => made("span", ""));
  const again = made("p", "posenc-lab-again");

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

  const { element: waiting, begin, load, said } = starter(place.querySelector(".posenc-lab-start"), opened);
  const buttons = made("div", "posenc-lab-presets", ...Object.values(presets));
  Object.assign(buttons, { role: "group", ariaLabel: words.experiments });
  const controls = [
    made("div", "posenc-lab-bar", which.element, length.element, where.element, layers.element, heads.element),
    made("div", "posenc-lab-own", labelled(words.text, field).element, hint),
    made("div", "posenc-lab-panels", a.element, b.element),
    made("div", "posenc-lab-along", made("p", "posenc-lab-key", ...names), loss.element, again),
    made("div", "posenc-lab-write", temperature.element, seed.element, made("div", "posenc-row", go, stop), writing),
  ];
  const [bar, own, ...results] = controls;
  for (const each of controls) each.inert = true; // until there are models
  const told = made("div", "posenc-lab-difference", waiting, verdict);
  place.replaceChildren(made("div", "posenc-lab-top", buttons, copied, copy), bar, own, told, ...results);
  show();
  addEventListener("hashchange", follow);
  follow();

  /** The models of these names come, and whatever else there is to choose from. */
  async function opened(progress) {
    client ??= new Client();
    const models = await client.ask("list");
    const wanted = new Set(panels.map(({ kind }) => kind.model));
    await load(wanted, (name, onProgress) => client.ask("load", { model: name }, { onProgress }), progress);
    for (const panel of panels) panel.open(client, models);
    for (const each of controls) each.inert = false;
    if (waiting.contains(document.activeElement)) which.field.focus({ preventScroll: true });
    waiting.remove();
    open = true;
    place.dataset.open = "";
    change();
  }

  /** Show what the address asks for: a link to a state of the lab, if it is one. */
  async function follow() {
    if (!isLink(location.hash)) return;
    const { hash } = location;
    try {
      client ??= new Client();
      const state = stateOf(hash, keys, await client.ask("list"));
      if (hash === location.hash) take(state);
    } catch (problem) {
      const told = problem instanceof BadLink ? problem.message : words.problem(problem.message);
      (open ? copied : said).textContent = told;
      return;
    }
    if (!open) begin();
  }

  function state() {
    return {
      text: which.field.value,
      own: new TextDecoder().decode(Uint8Array.from(whole.bytes.slice(0, whole.own))),
      length: Number(length.field.value),
      ...{ a: a.kind, b: b.kind, layer, head },
      at: whole.cells[at]?.from ?? 0,
    };
  }

  function take({ text, own, length: bytes, layer: ofLayer, head: ofHead, at: byte, ...kinds }) {
    which.field.value = text;
    field.value = textOf(text) ?? own;
    length.field.value = bytes;
    [layer, head] = [ofLayer, ofHead];
    [layers.field.value, heads.field.value] = [String(layer), String(head)];
    for (const panel of panels) panel.take(kinds[panel.side]);
    whole = lengthened(field.value, MOST);
    at = cellOf(byte);
    change();
  }

  async function copyLink() {
    try {
      await navigator.clipboard.writeText(new URL(linkTo(state()), location.href).href);
      copied.textContent = words.copied;
    } catch {
      copied.textContent = words.notCopied;
    }
    keep();
  }

  /** The address is that of what is shown. */
  function keep() {
    history.replaceState(history.state, "", linkTo(state()));
  }

  function shown() {
    return Math.min(Number(length.field.value), whole.bytes.length);
  }

  /** The text or a model is another. Where there is no text, the last one stays. */
  function change() {
    clearTimeout(pause);
    const next = lengthened(field.value, MOST);
    const enough = next.cells.length >= 2;
    hint.setAttribute("aria-live", enough ? "off" : "polite");
    hint.textContent = !enough ? words.tooShort : next.own < MOST ? words.bytes(next.own) : words.first(number(MOST));
    if (enough) whole = next;
    show();
  }

  function later() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => show());
  }

  /** Show the text, and let both models read it: what one has read already costs it nothing. */
  async function show() {
    const now = ++asked;
    const bytes = whole.bytes.slice(0, shown());
    const cells = whole.cells.filter(({ to }) => to <= bytes.length);
    at = Math.min(at, cells.length - 1);
    Object.assign(where.field, { max: bytes.length - 1, value: cells[at].from });
    for (const each of [where, length]) each.show();
    const preset = presetOf(state());
    for (const [name, each] of Object.entries(presets)) each.setAttribute("aria-pressed", String(name === preset));
    for (const [row, { side, name }] of panels.entries())
      names[row].textContent = words.curve.key(words.models[side], name);
    copied.textContent = "";
    verdict.classList.add("posenc-lab-stale");
    const there = panels.map((panel) => panel.show(cells));
    draw();
    if (!open) return;
    const done = await Promise.all(
      panels.map((panel, which) =>
        Promise.all([panel.read(bytes), there[which]]).catch((problem) => panel.failed(problem)),
      ),
    );
    if (now !== asked || !done.every((each) => each?.[0])) return;
    point(at, { reveals: false, heard: [] });
    tell();
  }

  /** The difference between the two, and what a text that comes again makes of the curve. */
  function tell() {
    const [trained, bytes] = [number(a.trained), shown()];
    verdict.classList.remove("posenc-lab-stale");
    verdict.textContent = difference(...panels.map(({ name, means }) => ({ name, ...means })), trained);
    const parts = panels.flatMap((each) => [each.meanOf(1, whole.own), each.meanOf(whole.own, bytes)]);
    again.textContent =
      whole.own < bytes && whole.own > 1
        ? words.repeated(
            number(whole.own),
            number(bytes),
            parts.map((nats) => decimals(nats, 2)),
          )
        : "";
    clearTimeout(keeping); // browsers refuse a flood of addresses
    if (isLink(location.hash) || presetOf(state()) !== "trained") keeping = setTimeout(keep, SETTLED);
  }

  function draw() {
    const known = Math.min(a.count, b.count, shown());
    const about = words.curve.about(...panels.map(({ mean }) => mean.textContent));
    loss.draw({
      losses: panels.map((panel) => panel.losses),
      ...{ length: shown(), known, own: whole.own, trained: a.trained, about },
      place: whole.cells[at]?.from,
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

  /** Both models show what they looked at when they guessed this character; a screen reader hears of these. */
  function point(cell, { reveals = true, heard = panels } = {}) {
    at = cell;
    where.field.value = whole.cells[cell].from;
    where.show();
    clearTimeout(settling);
    for (const panel of panels) {
      panel.told.setAttribute("aria-live", heard.includes(panel) ? "polite" : "off");
      panel.told.setAttribute("aria-busy", "true");
      panel.look({ cell, layer, head });
      if (reveals) panel.lines.reveal(cell);
    }
    settling = setTimeout(() => panels.forEach((panel) => panel.told.removeAttribute("aria-busy")), SETTLED);
    draw();
  }

  async function write() {
    const given = { temperature: Number(temperature.field.value), seed: Number(seed.field.value) || 0, count: WRITTEN };
    const bytes = whole.bytes.slice(0, shown());
    stop.disabled = false;
    yieldFocus(go, stop);
    go.disabled = true;
    writing.textContent = words.writing;
    try {
      const done = await Promise.all(panels.map((panel) => panel.write(bytes, given)));
      const [first, second] = done.map(({ rate }) => number(Math.round(rate)));
      const stopped = done.some(({ written }) => written < WRITTEN);
      writing.textContent = joined(stopped ? words.stopped : "", words.written(first, second));
    } catch (problem) {
      writing.textContent = words.panelProblem(problem.message);
    }
    go.disabled = false;
    yieldFocus(stop, go);
    stop.disabled = true;
  }
}

/** What stands there until somebody asks for the models: opened(progress) brings them. */
function starter(element, opened) {
  const meter = made("progress", "");
  Object.assign(meter, { ariaLabel: words.start, hidden: true });
  const said = status("posenc-lab-said");
  const bring = button(words.start, begin);
  const bytes = made("span", ""); // not read aloud: it changes with every piece
  element.append(made("div", "posenc-row", bring, meter, bytes), said);

  async function begin() {
    if (bring.ariaDisabled === "true") return;
    bring.ariaDisabled = "true"; // and not disabled: it keeps the focus until there is something to go on to
    meter.hidden = false;
    try {
      await opened(({ received, total }) => {
        if (meter.hidden) return; // another file has failed
        if (total) meter.value = received / total;
        const [some, all] = [received, total].map((each) => number(Math.round(each / 1000)));
        bytes.textContent = received === total ? "" : total ? words.coming(some, all) : words.comingSoFar(some);
        if (received === total) said.textContent = words.starting;
      });
    } catch (problem) {
      console.error(problem);
      bytes.textContent = "";
      said.textContent = words.problem(problem.message);
      bring.textContent = words.tryAgain;
      bring.ariaDisabled = "false";
      meter.hidden = true;
    }
  }

  /** Bring what has these names, each by ask(name, onProgress), and tell how much of all has come. */
  async function load(names, ask, progress) {
    const got = {};
    const hear = (name) => (each) => {
      got[name] = each;
      const known = Object.values(got);
      const total = known.reduce((sum, { total = NaN }) => sum + total, 0);
      progress({ received: known.reduce((sum, { received }) => sum + received, 0), ...(total && { total }) });
    };
    await Promise.all([...names].map((name) => ask(name, hear(name))));
  }

  return { element, begin, load, said };
}
