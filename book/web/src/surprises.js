// The review page: of all predict boxes, those where the reader was wrong.
import { made, status } from "./elements.js";
import { verdictOn } from "./predict.js";
import * as store from "./store.js";
import { words } from "./words-predict.js";

export function start(elements) {
  for (const place of elements) startPlace(place);
}

function startPlace(place) {
  const said = status("posenc-surprised");
  const boxes = [...place.children].map((box) => ({ box, verdict: box.appendChild(made("p", "posenc-foretold")) }));
  place.prepend(said);
  store.onChange(fill);
  fill();

  function fill() {
    const known = store.all("prediction");
    let count = 0;
    for (const { box, verdict } of boxes) {
      const record = known[box.dataset.prediction];
      const wrong = record?.text === box.dataset.text && !record.right && !record.shown;
      box.hidden = !wrong;
      count += Number(wrong);
      if (wrong) verdict.textContent = verdictOn(record, box.dataset);
      const options = box.querySelectorAll(".posenc-options > li");
      for (const [index, option] of options.entries())
        option.classList.toggle("posenc-wrong", wrong && record.said === String(index + 1));
    }
    const predicted = Object.values(known).some((record) => !record.shown);
    if (count) said.textContent = words.surprises(count);
    else said.textContent = predicted ? words.noSurprise : words.nonePredicted;
  }
}
