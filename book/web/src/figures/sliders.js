import { number } from "../words.js";

let made = 0; // sliders on this page, for their ids

/**
 * A labelled slider for each setting {name, values, start}, and the settings as they stand.
 *
 * A slider moves along the list of its values. `moved` is called after every step.
 */
export function sliders(settings, labels, moved) {
  const values = Object.fromEntries(settings.map(({ name, start }) => [name, start]));
  const rows = settings.map((setting) =>
    row(setting, labels[setting.name], (value) => {
      values[setting.name] = value;
      moved();
    }),
  );
  return { values, rows };
}

function row({ values, start }, words, changed) {
  const id = `posenc-slider-${++made}`;
  const label = Object.assign(document.createElement("label"), { htmlFor: id, textContent: words });
  const last = values.length - 1;
  const input = Object.assign(document.createElement("input"), { type: "range", id, min: 0, max: last, step: 1 });
  input.autocomplete = "off"; // a reload starts where the page says
  input.value = values.indexOf(start);
  const output = document.createElement("output");
  output.htmlFor.add(id);
  const show = () => {
    const shown = number(values[input.value]);
    output.textContent = shown;
    input.setAttribute("aria-valuetext", shown);
  };
  show();
  input.addEventListener("input", () => {
    show();
    changed(values[input.value]);
  });
  const box = Object.assign(document.createElement("div"), { className: "posenc-slider" });
  box.append(label, input, output);
  return box;
}
