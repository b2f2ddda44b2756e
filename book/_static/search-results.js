// Goes with book/_ext/search_results.py: what comes first in a search, and what is said below a result. Sphinx knows
// words, and sorts pages by how many they have of them; it shows 240 characters of the
// page's bare text, cut anywhere, with formulas as letters in a row, and begins with the page's table of contents.
{
  const NOT_TEXT =
    ".bd-header-article, .headerlink, script, style, button, nav, .cell details > summary, #jb-print-docs-body, #jb-print-toc, .posenc-open, .prev-next-area, footer";
  const BLOCKS = "p, li, dt, dd, h1, h2, h3, h4, h5, h6, td, th, caption, summary, pre, div";
  const FORMULA = /[\uE000-\uF8FF]/; // no sign that a page has: one of them stands for each formula
  const AROUND = 22; // pieces before and after the word that was sought

  const terms = JSON.parse(document.currentScript.dataset.terms); // of the glossary: [term, page, anchor]
  const ASKING = ["can", "do", "does", "how", "i", "what", "when", "where", "which", "who", "why", "you"];
  const SAME = { sqrt: "root", rotary: "rope" }; // as code has it, and as headings do
  const MOST = 8; // sections that are named before what Sphinx finds

  /** The words that tell something, without their endings. */
  const telling = (text) => {
    const all = splitQuery(text.toLowerCase()).filter(Boolean);
    const some = all.filter((word) => !stopwords.includes(word) && !ASKING.includes(word));
    const stemmer = new Stemmer();
    return new Set((some.length ? some : all).map((word) => stemmer.stemWord(SAME[word] ?? word)));
  };

  /** A term of the glossary, and before it sections whose headings have all that was asked for: the best comes last. */
  const meant = (query) => {
    const { docnames, filenames, titles, alltitles } = Search._index;
    const sought = telling(query);
    const share = (text) => {
      const has = telling(text);
      return sought.size && [...sought].every((word) => has.has(word)) ? sought.size / has.size : 0;
    };
    const result = (file, title, anchor, score) => {
      const name = titles[file] === title ? title : `${titles[file]} > ${title}`;
      return [docnames[file], name, anchor && `#${anchor}`, null, score, filenames[file]];
    };
    const sections = Object.entries(alltitles).flatMap(([title, places]) =>
      places.map(([file, id]) => {
        const chapter = docnames[file].startsWith("book/") ? 1 : 0.5; // the pages of exercises repeat its headings
        return result(file, title, id ?? "", share(title) * chapter);
      }),
    );
    const found = sections.filter(({ 4: score }) => score).sort((one, other) => one[4] - other[4]);
    const named = terms.filter(([term]) => share(term) === 1);
    return [
      ...found.slice(-MOST),
      ...named.map(([term, page, anchor]) => result(docnames.indexOf(page), term, anchor, 2)),
    ];
  };

  const place = ([page, , anchor]) => page + anchor;
  const perform = Search._performSearch;
  Search._performSearch = (query, ...split) => {
    const first = meant(query);
    const places = new Set(first.map(place));
    return [...perform(query, ...split).filter((each) => !places.has(place(each))), ...first]; // shown from the end
  };

  // A single letter would be marked in every word.
  const parse = Search._parseQuery;
  Search._parseQuery = (query) => {
    const parsed = parse(query);
    const marked = new Set([...parsed[3]].filter((word) => word.length > 1));
    localStorage.setItem("sphinx_highlight_terms", [...marked].join(" ")); // for the page that is opened
    return parsed.with(3, marked);
  };

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
