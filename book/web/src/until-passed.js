// Code that stays folded until the reader has passed the exercises that ask for it.
import * as store from "./store.js";

export function start(elements) {
  for (const element of elements) startFold(element);
}

function startFold(element) {
  const ids = element.dataset.until.split(" ");
  const code = element.querySelector("details");
  let passed = false; // what a reader opens or closes by hand stays so until this changes
  store.onChange(fill);
  fill();

  function fill() {
    const now = ids.every((id) => store.load("exercise", id)?.passed);
    if (now !== passed) code.open = now;
    passed = now;
    for (const text of element.querySelectorAll(":scope > p")) text.hidden = now;
  }
}
