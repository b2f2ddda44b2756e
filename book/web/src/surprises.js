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
      count += wrong;
      if (wrong) verdict.textContent = verdictOn(record, box.dataset);
    }
    said.textContent = count ? words.surprises(count) : words.noSurprise;
  }
}
