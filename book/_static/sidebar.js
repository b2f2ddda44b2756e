// Goes with book/_ext/sidebar.py: shows the reader's own page in the list of pages where that scrolls by itself (sidebar.css),
// and leaves the list alone where it is in sight. The theme can only scroll the whole sidebar.
addEventListener("DOMContentLoaded", () => {
  const own = [...document.querySelectorAll(".bd-docs-nav .current > a")].at(-1);
  const list = own?.closest(".sidebar-primary-item");
  if (!own || !list) return;
  const hidden = own.getBoundingClientRect().bottom - list.getBoundingClientRect().bottom;
  if (hidden > 0) list.scrollTop = hidden + list.clientHeight / 3; // with pages below it
});
