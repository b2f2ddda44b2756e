// The main button of the first page, and of the page of progress: for a newcomer the first chapter, for all others
// where they were.
import { made } from "./elements.js";
import * as store from "./store.js";
import { words } from "./words-landing.js";

const KINDS = ["place", "exercise", "prediction", "quiz", "cell"]; // whose ids begin with the chapter
const FRAGMENTS = { exercise: "exercise-", prediction: "predict-" };

export function start(places) {
  for (const place of places) {
    const button = place.querySelector("a");
    const newcomer = { href: button.href, said: [...button.childNodes] };
    const fill = () => show(button, newcomer);
    store.onChange(fill);
    fill();
  }
}

function show(button, newcomer) {
  const last = lastOf();
  button.replaceChildren(...newcomer.said);
  button.href = newcomer.href;
  if (!last) return;
  const chapter = placeOf(last.chapter);
  const title = chapter.querySelector("h3, h4").textContent.trim();
  const place = last.kind === "place" ? last.record : undefined;
  button.replaceChildren(
    made("strong", "", words.goOn),
    made("span", "", place?.section ? words.place(title, place.section) : title),
  );
  button.href = chapter.querySelector("a").href;
  button.hash = place?.fragment ?? fragmentOf(last);
}

/** What was done last, of all that happens in chapters. */
function lastOf() {
  return KINDS.flatMap((kind) => Object.entries(store.all(kind)).map(([id, record]) => ({ kind, id, record })))
    .map((each) => ({ ...each, chapter: each.id.split(".")[0], when: Date.parse(each.record.updated) }))
    .filter(({ chapter }) => placeOf(chapter))
    .reduce((best, each) => (best && best.when >= each.when ? best : each), undefined);
}

/** A chapter on this page: its card, or its row on the map. It has its title, and first of all a link to it. */
const placeOf = (chapter) => document.querySelector(`[data-chapter="${CSS.escape(chapter)}"]`);

/** Its place in the chapter, as book/_ext names it. */
const fragmentOf = ({ kind, id }) =>
  kind in FRAGMENTS ? FRAGMENTS[kind] + (id.split(".")[1] ?? "").replaceAll("_", "-") : "";
