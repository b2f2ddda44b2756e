import { number } from "../words.js";

let made = 0; // sliders on this page, for their ids

/**
 * A labelled slider for each setting {name, values, start}, and the settings as they stand.
 *
 * A slider moves along the list of its values; `set` takes the nearest of them, `step` goes so many on.
 * `moved` is called after every change.
 */
export function sliders(settings, labels, moved) {
  const values = Object.fromEntries(settings.map(({ name, start }) => [name, start]));
  const lists = Object.fromEntries(settings.map((setting) => [setting.name, setting.values]));
  const shown = {};
  const rows = settings.map((setting) => {
    const { box, show } = row(setting, labels[setting.name], (value) => put(setting.name, value));
    shown[setting.name] = show;
    return box;
  });

  function put(name, value) {
    if (value === values[name]) return;
    values[name] = value;
    shown[name](lists[name].indexOf(value));
    moved(name);
  }

  const set = (name, wished) => put(name, nearest(lists[name], wished));
  const step = (name, by) => {
    const list = lists[name];
    put(name, list[Math.min(Math.max(list.indexOf(values[name]) + by, 0), list.length - 1)]);
  };
  return { values, lists, rows, set, step };
}

const nearest = (list, wished) =>
  list.reduce((best, value) => (Math.abs(value - wished) < Math.abs(best - wished) ? value : best));

function row({ values, start }, words, changed) {
  const id = `posenc-slider-${++made}`;
  const label = Object.assign(document.createElement("label"), { htmlFor: id, textContent: words });
  const last = values.length - 1;
  const input = Object.assign(document.createElement("input"), { type: "range", id, min: 0, max: last, step: 1 });
  input.autocomplete = "off"; // a reload starts where the page says
  const output = document.createElement("output");
  output.htmlFor.add(id);
  const show = (index) => {
    const shown = number(values[index]);
    input.value = index;
    output.textContent = shown;
    input.setAttribute("aria-valuetext", shown);
  };
  show(values.indexOf(start));
  input.addEventListener("input", () => changed(values[input.value]));
  const box = Object.assign(document.createElement("div"), { className: "posenc-slider" });
  box.append(label, input, output);
  return { box, show };
}
