"""Every page for readers with a keyboard, a screen reader or a phone: axe-core, and what it cannot see.

JupyterLite's own pages are not of our making, and are left out.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.test_site import CHAPTERS, EXERCISES, MADE_BY_SPHINX, PAGES
from tests.pyodide.distribution import HERE

pytestmark = pytest.mark.slow

AXE = HERE / "node_modules" / "axe-core" / "axe.min.js"  # the fixture `site` has installed it
FORMULA = "book/02-the-formula.html"
SLOW = 90_000  # ms
FAULTS = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}"""
# What the tab key reaches, in its order: the name of each, and whether one can see that it has the focus.
FOCUSED = """() => {
  const at = document.activeElement;
  if (at === document.body) return null;
  const around = [at, ...at.querySelectorAll("*"), at.closest(".cm-editor") ?? at]; // it may be drawn there
  const styles = around.map((each) => getComputedStyle(each));
  const outlined = (s) => s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0;
  const seen = styles.some((style) => outlined(style) || style.boxShadow !== "none");
  const labels = [...(at.labels ?? [])].map((label) => label.textContent).join(" ");
  const name = at.ariaLabel || at.textContent.trim() || labels || at.title || at.placeholder || "";
  return { name, tag: at.tagName, classes: at.className.toString(), seen };
}"""


def open_page(context, address: str, page: str):
    tab = context.new_page()
    tab.goto(f"{address}/{page}", wait_until="load", timeout=SLOW)
    if tab.locator(".math").count():
        tab.wait_for_function("window.MathJax?.startup?.promise?.then(() => true)", timeout=SLOW)
    return tab


@pytest.fixture(scope="module", params=["light", "dark"])
def reader(request, browser):
    context = browser.new_context(color_scheme=request.param, viewport={"width": 1200, "height": 900})
    yield context
    context.close()


# index.html leads to the first page at once, and there is nothing to read on it.
@pytest.mark.parametrize("page", [page for page in [*PAGES, *MADE_BY_SPHINX] if page != "index.html"])
def test_axe_finds_nothing_serious(reader, address, page):
    tab = open_page(reader, address, page)
    for editor in tab.locator(".posenc-editor").all():
        editor.scroll_into_view_if_needed()  # it is made when it comes near
    tab.add_script_tag(path=AXE)
    assert tab.evaluate(FAULTS) == []
    tab.close()


def test_axe_would_find_something(reader, address):
    tab = open_page(reader, address, "book/glossary.html")
    tab.evaluate("document.querySelector('main').insertAdjacentHTML('beforeend', '<button></button>')")
    tab.add_script_tag(path=AXE)
    assert any(fault.startswith("button-name") for fault in tab.evaluate(FAULTS))
    tab.close()


def test_a_verdict_is_legible_named_and_announced(reader, address):
    """What is on the page only after Check: the report of a wrong answer, the hints, the solution."""
    tab = open_page(reader, address, FORMULA)
    box = tab.locator("#exercise-frequencies")
    box.scroll_into_view_if_needed()
    box.locator(".cm-content").click()
    tab.keyboard.press("Control+a")
    tab.keyboard.insert_text("def frequencies(dim):\n    print(dim)\n    return [1.0] * dim")
    status = box.get_by_role("status")
    expect(status).to_have_count(1)  # it is there before it says something, or nobody would hear it
    box.get_by_role("button", name="Check").click()
    expect(status).to_contain_text("Not yet", timeout=SLOW)
    box.get_by_role("button", name="Hint").click()
    box.get_by_role("button", name="Show solution").click()
    box.get_by_role("button", name="Yes, show it").click()
    tab.add_script_tag(path=AXE)
    assert tab.evaluate(FAULTS) == []
    tab.close()


@pytest.mark.parametrize("page", [FORMULA, EXERCISES[0], "book/progress.html", "book/review.html"])
def test_the_tab_key_reaches_named_and_visible_controls_and_never_sticks(browser, address, page):
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    tab = open_page(context, address, page)
    if page == FORMULA:  # its script makes the controls, and on a busy machine it comes late
        tab.get_by_role("button", name="Check", exact=True).first.wait_for(timeout=SLOW)
    reached = []
    for _ in range(400):
        tab.keyboard.press("Tab")
        at = tab.evaluate(FOCUSED)
        if at is None:
            break
        if "cm-content" in at["classes"]:
            tab.wait_for_selector(".cm-editor.cm-focused")
            at = tab.evaluate(FOCUSED)
            tab.keyboard.press("Escape")  # as its description says: then Tab leaves
        reached.append(at)
    assert len(reached) < 400, "the tab key does not come to an end"
    assert [at for at in reached if not at["name"]] == []
    assert [at for at in reached if not at["seen"]] == []
    assert not [at for at in reached if at["tag"].startswith("MJX")]
    if page == FORMULA:
        names = {at["name"] for at in reached}
        assert {"Check", "Reset", "Show solution"} <= names
        assert len([at for at in reached if "cm-content" in at["classes"]]) >= 2
    context.close()


def test_formulas_are_read_aloud(browser, address):
    context = browser.new_context()
    tab = open_page(context, address, FORMULA)
    formulas = tab.locator("mjx-container")
    assert formulas.count() > 10
    assert tab.locator("mjx-container mjx-assistive-mml math").count() == formulas.count()
    context.close()


@pytest.mark.parametrize("page", PAGES)
def test_a_small_phone_shows_every_page_without_sideways_scrolling(browser, address, page):
    context = browser.new_context(viewport={"width": 360, "height": 740})
    tab = open_page(context, address, page)
    if page in CHAPTERS:
        for editor in tab.locator(".posenc-editor").all():
            editor.scroll_into_view_if_needed()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    context.close()
