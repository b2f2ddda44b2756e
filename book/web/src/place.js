// Where the reader leaves a chapter: the section at the top of the window. The first page leads back to it (go-on.js).
import * as store from "./store.js";

const CHAPTER = /\/book\/(\d\d-[\w-]+)\.html$/;

export function start() {
  const chapter = location.pathname.match(CHAPTER)?.[1];
  if (!chapter) return;
  const keep = () => {
    const section = current();
    store.save("place", chapter, { section: section ? titleOf(section) : "", fragment: section?.id ?? "" });
  };
  addEventListener("pagehide", keep);
  document.addEventListener("visibilitychange", () => document.hidden && keep()); // a phone may say no more than this
}

/** The section that is being read; none at the opening of the chapter. */
function current() {
  const sections = [...document.querySelectorAll(".bd-article section section[id]:has(> :is(h2, h3, h4))")];
  return sections.findLast((each) => each.getBoundingClientRect().top <= 0.3 * innerHeight);
}

function titleOf(section) {
  const heading = section.querySelector("h2, h3, h4");
  const parts = [...heading.childNodes].filter((part) => !(part instanceof Element && part.matches(".headerlink")));
  return parts
    .map((part) => part.textContent)
    .join("")
    .trim();
}
