// Goes with book/_ext/search_results.py: what comes first in a search, and what is said below a result. Sphinx knows
// words, and sorts pages by how many they have of them; it shows 240 characters of the
// page's bare text, cut anywhere, with formulas as letters in a row, and begins with the page's table of contents.
{
  const NOT_TEXT =
    ".bd-header-article, .headerlink, script, style, button, nav, .cell details > summary, #jb-print-docs-body, #jb-print-toc, .posenc-open, .prev-next-area, footer";
  const BLOCKS = "p, li, dt, dd, h1, h2, h3, h4, h5, h6, td, th, caption, summary, pre, div";
  const FORMULA = /[\uE000-\uF8FF]/; // no sign that a page has: one of them stands for each formula
  const AROUND = 22; // pieces before and after the word that was sought

  const { none, ...data } = document.currentScript.dataset; // what is said where nothing is found
  const terms = JSON.parse(data.terms); // of the glossary: [term, page, anchor]
  const ASKING = ["can", "do", "does", "how", "i", "what", "when", "where", "which", "who", "why", "you"];
  const SAME = { sqrt: "root", rotary: "rope" }; // as code has it, and as headings do
  const MOST = 8; // sections that are named before what Sphinx finds
  const LEAST = 0.25; // of what was asked for, by how rare its words are in headings

  /** The words that tell something, without their endings. */
  const telling = (text) => {
    const all = splitQuery(text.toLowerCase()).filter(Boolean);
    const some = all.filter((word) => !stopwords.includes(word) && !ASKING.includes(word));
    const stemmer = new Stemmer();
    return new Set((some.length ? some : all).map((word) => stemmer.stemWord(SAME[word] ?? word)));
  };

  /** Whether one word becomes the other by a letter more, less or changed, or by two that change places. */
  const alike = (one, other) => {
    let same = 0;
    while (same < one.length && one[same] === other[same]) same++;
    const [a, b] = [one.slice(same), other.slice(same)];
    const swapped = a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2);
    return swapped || a.slice(1) === b.slice(1) || a.slice(1) === b || a === b.slice(1);
  };

  /** Each word that no page has, as a heading spells it. If none has one like it, it is left out. */
  const spelt = (query) => {
    const { terms: words, titleterms, alltitles } = Search._index;
    const stems = Object.keys({ ...words, ...titleterms });
    const isFound = (word) => {
      if (stopwords.includes(word) || ASKING.includes(word) || word in SAME) return true;
      const stem = new Stemmer().stemWord(word);
      return stems.some((each) => each.includes(stem)) || Search.performObjectSearch(word, new Set([word])).length > 0;
    };
    const all = splitQuery(query.toLowerCase()).filter(Boolean);
    if (all.every(isFound)) return query;
    const spellings = [...Object.keys(alltitles), ...terms.map(([term]) => term), ...Object.keys(SAME)];
    const vocabulary = splitQuery(spellings.join(" ").toLowerCase());
    const mended = (word) => (word.length > 3 ? vocabulary.find((each) => alike(word, each)) : null);
    return (
      all
        .map((word) => (isFound(word) ? word : mended(word)))
        .filter(Boolean)
        .join(" ") || query
    );
  };

  /** Terms of the glossary, and before them sections whose headings have what was asked for, or most of it: the best last. */
  const meant = (query) => {
    const { docnames, filenames, titles, alltitles } = Search._index;
    const sought = [...telling(query)];
    if (!sought.length) return [];
    const headings = Object.keys(alltitles).map(telling);
    const rarity = (word) => Math.log(headings.length / (1 + headings.filter((has) => has.has(word)).length));
    const rarities = new Map(sought.map((word) => [word, rarity(word)]));
    const sum = (words) => words.reduce((all, word) => all + rarities.get(word), 0);
    const share = (text, page = "") => {
      const [has, around] = [telling(text), telling(page)];
      const met = sought.filter((word) => has.has(word));
      if (met.length === sought.length) return 1 + met.length / has.size;
      const near = sought.filter((word) => !has.has(word) && around.has(word));
      const part = (sum(met) + sum(near) / 2) / sum(sought);
      return met.length && part > LEAST ? part : 0;
    };
    const result = (file, title, anchor, score) => {
      const name = titles[file] === title ? title : `${titles[file]} > ${title}`;
      return [docnames[file], name, anchor && `#${anchor}`, null, score, filenames[file]];
    };
    const sections = Object.entries(alltitles).flatMap(([title, places]) =>
      places.map(([file, id]) => {
        const isForLearners = /^book\/(?!instructors)/.test(docnames[file]); // exercises' pages repeat a chapter's headings
        return result(file, title, id ?? "", share(title, titles[file]) * (isForLearners ? 1 : 0.5));
      }),
    );
    const named = terms.map(([term, page, anchor]) => {
      const score = share(term);
      return result(docnames.indexOf(page), term, anchor, score === 2 ? 3 : score);
    });
    const found = [...sections, ...named].filter(({ 4: score }) => score).sort((one, other) => one[4] - other[4]);
    return found.slice(-MOST);
  };

  const place = ([page, , anchor]) => page + anchor;
  const perform = Search._performSearch;
  Search._performSearch = (query, ...split) => {
    const first = meant(query);
    const places = new Set(first.map(place));
    return [...perform(query, ...split).filter((each) => !places.has(place(each))), ...first]; // shown from the end
  };

  let [sought, marked] = [new Set(), new Set()];

  /** Whatever act() would keep in this browser is not kept: one that is full or keeps nothing would end it. */
  const withoutKeeping = (act) => {
    const own = Object.getOwnPropertyDescriptor(window, "localStorage");
    Object.defineProperty(window, "localStorage", { configurable: true, value: { setItem: () => {} } });
    try {
      return act();
    } finally {
      if (own) Object.defineProperty(window, "localStorage", own);
      else delete window.localStorage; // it is the prototype's
    }
  };

  // A single letter would be marked in every word.
  const parse = Search._parseQuery;
  Search._parseQuery = (query) => {
    const parsed = withoutKeeping(() => parse(spelt(query)));
    sought = parsed[1];
    marked = new Set([...parsed[3]].filter((word) => word.length > 1));
    try {
      localStorage.setItem("sphinx_highlight_terms", [...marked].join(" ")); // for the page that is opened
    } catch {
      // that page marks nothing
    }
    return parsed.with(3, marked);
  };

  // Sphinx fetches the page of each result for its summary. Here those are fetched that come near the window, each once.
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  const pages = new Map();
  const textOf = async (address) => (await fetch(address)).text();
  const summarise = async (result) => {
    near.unobserve(result);
    const { pathname, hash } = result.querySelector("a");
    if (!pages.has(pathname)) pages.set(pathname, textOf(pathname));
    const summary = Search.makeSearchSummary(await pages.get(pathname), sought, decodeURIComponent(hash));
    if (summary) result.append(summary);
    result.classList.remove("posenc-awaited");
    for (const word of marked) _highlightText(result, word, "highlighted");
  };
  const near = new IntersectionObserver((results) =>
    results.filter(({ isIntersecting }) => isIntersecting).forEach(({ target }) => summarise(target)),
  );
  /** Once a search has ended with nothing: Sphinx would have the reader select categories, and there are none. */
  const tellOfNone = ({ status, output }) => {
    if (status.textContent && !output.firstChild && status.textContent !== none) status.textContent = none;
  };

  new MutationObserver(() => {
    tellOfNone(Search);
    for (const result of document.querySelectorAll("ul.search > li:not([class], :has(> span))")) {
      result.className = "posenc-awaited";
      near.observe(result);
    }
  }).observe(document.getElementById("search-results"), { childList: true, subtree: true });

  let formulas = [];

  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    page.querySelectorAll(NOT_TEXT).forEach((each) => each.remove());
    page.querySelectorAll(BLOCKS).forEach((each) => each.append(" "));
    formulas = [...page.querySelectorAll("math")];
    formulas.forEach((each, index) => each.replaceWith(String.fromCharCode(0xe000 + index)));
    const main = page.querySelector('[role="main"]');
    const part = anchor ? main?.querySelector(anchor) : null;
    const meant = part?.matches("dt") ? part.nextElementSibling : null; // a term has its meaning beside it
    return [part ?? main, meant].map((each) => each?.textContent ?? "").join(" ");
  };

  // The words that were sought are not marked in a formula.
  const formula = (sign) => {
    const span = document.createElement("span");
    span.className = "math notranslate nohighlight";
    span.append(document.importNode(formulas[sign.charCodeAt(0) - 0xe000], true));
    return span;
  };

  const nodes = (piece) => [...piece].map((sign) => (FORMULA.test(sign) ? formula(sign) : sign));

  Search.makeSearchSummary = (html, keywords, anchor) => {
    const pieces = Search.htmlToText(html, anchor).match(/\S+/g); // a word or a formula, with what clings to it
    if (!pieces) return null;
    const sought = [...keywords].map((each) => each.toLowerCase());
    const found = pieces.findIndex((each) => sought.some((word) => each.toLowerCase().includes(word)));
    const from = Math.max(found - AROUND, 0);
    const to = Math.max(found, 0) + AROUND;
    const summary = document.createElement("p");
    summary.className = "context";
    if (from > 0) summary.append("… ");
    pieces.slice(from, to).forEach((each, index) => summary.append(index ? " " : "", ...nodes(each)));
    if (to < pieces.length) summary.append(" …");
    summary.normalize();
    return summary;
  };
}
