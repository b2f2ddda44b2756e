// Goes with book/_ext/accessible.py: marks in the page's contents the section that is being read. The theme marks
// a heading when it comes into sight, and so not the section of what one jumps into, or scrolls back to.
addEventListener("DOMContentLoaded", () => {
  const contents = document.querySelector("#pst-page-toc-nav");
  if (!contents) return;
  /** @type {NodeListOf<HTMLAnchorElement>} */
  const named = contents.querySelectorAll("a[href^='#']");
  const links = [...named].filter((link) => link.hash.length > 1);
  const heading = (link) => document.getElementById(decodeURIComponent(link.hash.slice(1)));
  const top = (link) => heading(link)?.getBoundingClientRect().top ?? Infinity;

  const current = () => {
    const root = document.documentElement;
    const atEnd = root.scrollTop + innerHeight >= root.scrollHeight - 2;
    const asked = links.find((link) => link.hash === location.hash);
    if (atEnd && asked && top(asked) >= 0 && top(asked) < innerHeight) return asked; // it cannot come further up
    return links.findLast((link) => top(link) <= 0.3 * innerHeight);
  };

  const mark = () => {
    const wanted = current();
    for (const link of links) {
      if (link.classList.contains("active") === (link === wanted)) continue;
      link.classList.toggle("active", link === wanted);
      if (link === wanted) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    for (const entry of contents.querySelectorAll(".toc-entry")) {
      const holds = entry.contains(wanted ?? null);
      if (entry.classList.contains("active") !== holds) entry.classList.toggle("active", holds);
    }
  };

  addEventListener("scroll", mark, { passive: true });
  addEventListener("hashchange", mark);
  addEventListener("resize", mark);
  new ResizeObserver(mark).observe(document.body); // formulas and editors come late, and push the text down
  new MutationObserver(mark).observe(contents, { attributes: true, subtree: true, attributeFilter: ["class"] });
  mark();
});
