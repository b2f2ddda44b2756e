// Form fields with their words.
import { made } from "../elements.js";

let count = 0;

/** A field under its words: { element, field }. */
export function labelled(words, field, ...more) {
  field.id ||= `posenc-lab-${++count}`;
  field.autocomplete = "off"; // a reload starts where the page says
  const label = made("label", "", words);
  label.htmlFor = field.id;
  return { element: made("div", "posenc-lab-field", label, field, ...more), field };
}

/** A choice among [value, words]. */
export function choice(words, options, value, changed) {
  const field = made("select", "");
  fill(field, options, value);
  field.addEventListener("change", () => changed(field.value));
  return labelled(words, field);
}

export function fill(select, options, value) {
  select.replaceChildren(...options.map(([each, shown]) => new Option(shown, each, false, each === value)));
}

/** A slider {min, max, step, value}; its output shows what `told(value)` says. */
export function slider(words, range, told, changed) {
  const field = Object.assign(made("input", ""), {
    type: "range",
    min: range.min,
    max: range.max,
    step: range.step ?? 1,
  });
  field.value = range.value;
  const output = made("output", "");
  const { element } = labelled(words, field, output);
  const show = () => {
    output.textContent = told(Number(field.value));
    field.setAttribute("aria-valuetext", output.textContent);
  };
  field.addEventListener("input", () => {
    show();
    changed(Number(field.value));
  });
  show();
  return { element, field, show };
}
