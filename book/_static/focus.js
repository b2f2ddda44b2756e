// Goes with book/_ext/accessible.py. Who presses a button with a key goes on from there. The theme takes the focus off the
// buttons of the head, or their tooltips would stay after a click; to copy code leaves it behind the end of the page.
{
  const HEAD = ".theme-switch-button, .search-button, .primary-toggle, .secondary-toggle";
  /** @type {NodeListOf<HTMLElement>} */
  const buttons = document.querySelectorAll(HEAD);
  for (const each of buttons) each.blur = () => each.matches(":focus-visible") || HTMLElement.prototype.blur.call(each);
  document.addEventListener("click", ({ target, detail }) => {
    const copy = target instanceof Element && !detail && /** @type {HTMLElement} */ (target.closest(".copybtn"));
    if (copy) copy.focus({ preventScroll: true });
  });
}
