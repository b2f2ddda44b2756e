// Goes with book/_ext/accessible.py. Paper is white: pages are printed in light colours, whichever the reader has.
addEventListener("beforeprint", () => {
  const { dataset } = document.documentElement;
  const { theme } = dataset;
  if (theme === "light") return; // it is so, or has been made so
  dataset.theme = "light";
  addEventListener("afterprint", () => (dataset.theme = theme), { once: true });
});
