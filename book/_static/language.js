// The way from one language to another: it leads to the same place of the page. What a reader has chosen is kept;
// whoever has not chosen yet, and whose browser speaks a language that the page is also in, is asked in it, once.
{
  const KEY = "posenc:language";
  const here = document.documentElement.lang || "en";
  const ways = /** @type {HTMLAnchorElement[]} */ ([...document.querySelectorAll("a.posenc-language")]);
  const offers = { zh: ["本课程有简体中文版。", "阅读中文版", "不用了"] };

  const read = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // a browser that keeps nothing asks again
    }
  };
  const keep = (language) => {
    try {
      localStorage.setItem(KEY, language);
    } catch {
      // then it is asked again
    }
  };

  /** The section that is being read: the last one whose heading has gone by. */
  const place = () => {
    const seen = [...document.querySelectorAll("main section[id]")].filter(
      (each) => each.getBoundingClientRect().top < 160,
    );
    const last = seen.at(-1);
    return last && window.scrollY > 200 ? `#${last.id}` : location.hash;
  };

  for (const way of ways) {
    way.addEventListener("click", () => {
      way.hash = place();
      keep(way.hreflang);
    });
  }

  const offer = () => {
    if (read()) return;
    const spoken = (navigator.languages ?? [navigator.language]).map((each) => each.split("-")[0]);
    const mine = here.split("-")[0];
    const wanted = spoken.find((each) => each === mine || offers[each]);
    const way = ways.find((each) => each.hreflang.split("-")[0] === wanted);
    if (!way || wanted === mine) return;
    const [said, yes, no] = offers[wanted];
    const box = document.createElement("p");
    box.className = "posenc-offer";
    box.lang = way.hreflang;
    const accept = /** @type {HTMLAnchorElement} */ (way.cloneNode());
    accept.className = "btn btn-sm btn-primary";
    accept.textContent = yes;
    accept.addEventListener("click", () => {
      accept.hash = place();
      keep(way.hreflang);
    });
    const decline = document.createElement("button");
    decline.type = "button";
    decline.className = "btn btn-sm btn-outline-secondary";
    decline.textContent = no;
    decline.addEventListener("click", () => {
      keep(here);
      ways.find((each) => each.hreflang === way.hreflang && each.checkVisibility())?.focus({ preventScroll: true });
      box.remove();
    });
    box.append(said, " ", accept, " ", decline);
    document.querySelector("main article, main")?.prepend(box);
  };
  offer();
}
