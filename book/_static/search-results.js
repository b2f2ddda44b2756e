// Goes with book/_ext/search_results.py: what stands below a search result. Sphinx shows 240 characters of the
// page's bare text, cut anywhere, with formulas as letters in a row, and begins with the page's table of contents.
{
  const NOT_TEXT =
    ".headerlink, script, style, button, nav, .cell details > summary, #jb-print-docs-body, #jb-print-toc, .posenc-open, .prev-next-area, footer";
  const BLOCKS = "p, li, dt, dd, h1, h2, h3, h4, h5, h6, td, th, caption, summary, pre, div";
  const FORMULA = /[\uE000-\uF8FF]/; // no sign that a page has: one of them stands for each formula
  const AROUND = 22; // pieces before and after the word that was sought

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
