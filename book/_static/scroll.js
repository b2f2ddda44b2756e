// Goes with book/_ext/accessible.py. A figure, a formula or code that is wider than its column scrolls in itself: it
// is named, the keyboard reaches it, and it fades on the side where there is more (accessible.css).
{
  const { figure, formula, table } = document.currentScript.dataset;
  const NAMES = {
    "figure.posenc-figure": figure,
    ".bd-article .math": formula,
    ".bd-article .pst-scrollable-table-container": table,
  };
  const WIDE = Object.keys(NAMES).join();
  const CODE = "pre, .cell_output > .output";
  const BOXES = `${WIDE}, ${CODE}`;

  /** What can be asked of a box while the page is laid out. */
  const measure = (box) => {
    const { scrollLeft, scrollWidth, clientWidth, scrollHeight, clientHeight } = box;
    const right = scrollLeft + clientWidth < scrollWidth - 1;
    return {
      box,
      scrolls: scrollWidth > clientWidth + 1 || (box.matches(CODE) && scrollHeight > clientHeight),
      more: [scrollLeft > 1 && "left", right && "right"].filter(Boolean).join(" "),
    };
  };

  const tell = ({ box, scrolls, more }) => {
    const name = Object.keys(NAMES).find((each) => box.matches(each));
    if (scrolls) {
      box.tabIndex = 0;
      if (!name) return;
      box.role ??= "region";
      box.ariaLabel ??= NAMES[name];
      box.dataset.more = more;
    } else {
      if ("more" in box.dataset) ["role", "aria-label", "data-more"].forEach((each) => box.removeAttribute(each));
      if (box.hasAttribute("tabindex")) box.tabIndex = -1; // it may have the focus
    }
  };

  // First all are measured and then all are told: what is told would have the page laid out anew for the next.
  const look = (boxes) => boxes.map(measure).forEach(tell);

  const drawn = new Set();
  const sizes = new ResizeObserver((entries) => {
    const boxes = entries.map(({ target }) => target);
    for (const box of boxes) drawn.add(box);
    look(boxes);
  });
  /** Measure it when it is drawn, and whenever its size changes; once more, if it was watched before. */
  const watch = (box) => {
    sizes.unobserve(box);
    sizes.observe(box);
  };
  const watchIn = (part) => part.querySelectorAll(BOXES).forEach(watch);

  const article = document.querySelector(".bd-article") ?? document.body;
  watchIn(article);
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes) {
      const around = target instanceof Element && target.closest(BOXES);
      if (around) watch(around);
      for (const added of addedNodes) {
        if (!(added instanceof Element)) continue;
        if (added.matches(BOXES)) watch(added);
        watchIn(added);
      }
    }
  }).observe(article, { childList: true, subtree: true });
  addEventListener("load", () => {
    document.fonts.ready.then(() => look([...drawn].filter((box) => box.isConnected)));
  });
  document.addEventListener(
    "scroll",
    ({ target }) => target instanceof Element && target.matches(WIDE) && tell(measure(target)),
    { capture: true, passive: true },
  );
}
