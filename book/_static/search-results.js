// Goes with book/_ext/search_results.py: what stands below a search result. Sphinx shows 240 characters of the
// page's bare text, cut anywhere, with formulas as TeX, and begins with the page's table of contents.
{
  const NOT_TEXT =
    ".headerlink, script, style, button, nav, .cell details > summary, #jb-print-docs-body, #jb-print-toc, .posenc-open, .prev-next-area, footer";
  const BLOCKS = "p, li, dt, dd, h1, h2, h3, h4, h5, h6, td, th, caption, summary, pre, div";
  const FORMULA = /(\\\(.*?\\\)|\\\[.*?\\\])/s;
  const PIECES = new RegExp(`(?:${FORMULA.source}|\\S)+`, "gs"); // a word or a formula, with what clings to it
  const AROUND = 22; // pieces before and after the word that was sought

  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    page.querySelectorAll(NOT_TEXT).forEach((each) => each.remove());
    page.querySelectorAll(BLOCKS).forEach((each) => each.append(" "));
    const main = page.querySelector('[role="main"]');
    const part = anchor ? main?.querySelector(anchor) : null;
    const meant = part?.matches("dt") ? part.nextElementSibling : null; // a term has its meaning beside it
    return [part ?? main, meant].map((each) => each?.textContent ?? "").join(" ");
  };

  const nodes = (piece) =>
    piece.split(FORMULA).map((text, index) => {
      if (index % 2 === 0) return text;
      const span = document.createElement("span");
      span.className = "math notranslate nohighlight"; // the words that were sought are not marked in it
      span.textContent = `\\(${text.slice(2, -2)}\\)`;
      return span;
    });

  Search.makeSearchSummary = (html, keywords, anchor) => {
    const pieces = Search.htmlToText(html, anchor).match(PIECES);
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
    if (summary.querySelector(".math")) window.MathJax?.startup?.promise.then(() => MathJax.typesetPromise([summary]));
    return summary;
  };
}
