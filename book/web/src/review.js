// The review page: of all questions, those that the reader has answered and that are due.
import { status } from "./elements.js";
import { startQuestion } from "./question.js";
import { isDue } from "./schedule.js";
import * as store from "./store.js";
import { longDate } from "./words.js";
import { words } from "./words-quiz.js";

export function startReview(place) {
  const cards = [...place.querySelectorAll(".posenc-card")].map((card) => ({
    card,
    id: card.querySelector(".posenc-question").dataset.question,
  }));
  const said = status("posenc-due");
  place.prepend(said);

  const now = new Date();
  const records = store.all("quiz");
  const due = cards
    .filter(({ id }) => records[id]?.due && isDue(records[id], now))
    .sort((one, other) => Date.parse(records[one.id].due) - Date.parse(records[other.id].due));
  for (const { card } of cards) card.remove();
  for (const { card } of due) {
    place.append(card); // the one that has waited longest comes first
    startQuestion(card.querySelector(".posenc-question"), { fresh: true });
  }
  tell();
  store.onChange(tell);
  document.addEventListener("visibilitychange", () => {
    // A page that was left open over night knows yesterday's questions only.
    if (!document.hidden && new Date().toDateString() !== now.toDateString()) location.reload();
  });

  function tell() {
    const known = store.all("quiz");
    const dates = cards.flatMap(({ id }) => (known[id]?.due ? [new Date(known[id].due)] : []));
    const today = new Date();
    const waiting = dates.filter((date) => isDue({ due: date.toISOString() }, today)).length;
    if (!dates.length) said.textContent = words.none;
    else if (waiting) said.textContent = words.due(waiting);
    else said.textContent = words.done(longDate(new Date(Math.min(...dates.map(Number)))));
  }
}
