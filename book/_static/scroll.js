// Goes with book/_ext/accessible.py. A figure or a formula that is wider than its column scrolls in itself: it
// is named, the keyboard reaches it, and it fades on the side where there is more (accessible.css).
{
  const { figure, formula, table } = document.currentScript.dataset;
  const NAMES = {
    "figure.posenc-figure": figure,
    ".bd-article .math": formula,
    ".bd-article .pst-scrollable-table-container": table,
  };
  const WIDE = Object.keys(NAMES).join();

  const more = (box) => {
    const left = box.scrollLeft > 1;
    const right = box.scrollLeft + box.clientWidth < box.scrollWidth - 1;
    box.dataset.more = [left && "left", right && "right"].filter(Boolean).join(" ");
  };

  const look = (box) => {
    if (box.scrollWidth > box.clientWidth + 1) {
      box.tabIndex = 0;
      box.role ??= "region";
      box.ariaLabel ??= NAMES[Object.keys(NAMES).find((each) => box.matches(each))];
      more(box);
    } else if ("more" in box.dataset) {
      ["tabindex", "role", "aria-label", "data-more"].forEach((name) => box.removeAttribute(name));
    }
  };
  // The theme measures code once, before its face is there, and finds no width in what is covered.
  const lookAtCode = (code) => {
    const scrolls = code.scrollWidth > code.clientWidth || code.scrollHeight > code.clientHeight;
    code.tabIndex = scrolls ? 0 : -1;
  };
  const lookAtAll = () => {
    document.querySelectorAll(WIDE).forEach(look);
    document.querySelectorAll("pre[tabindex]").forEach(lookAtCode);
  };

  document.addEventListener(
    "scroll",
    ({ target }) => target instanceof Element && target.matches(WIDE) && more(target),
    {
      capture: true,
      passive: true,
    },
  );
  document.addEventListener("toggle", lookAtAll, true); // what was folded has a width now
  addEventListener("load", () => {
    new ResizeObserver(lookAtAll).observe(document.querySelector(".bd-article") ?? document.body);
    document.fonts.ready.then(lookAtAll);
  });
}
