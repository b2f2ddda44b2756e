"""For readers with a keyboard or a screen reader: what only shows in use.

All pages as they come are in `test_site`, which runs axe-core on each.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import make_editors, unfold
from tests.browser.test_site import EXERCISES, Visit

pytestmark = pytest.mark.slow

FORMULA = "book/02-the-formula.html"
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


@pytest.fixture(scope="module")
def desk(browser, address):
    return Visit(browser, address)


def test_a_verdict_is_legible_named_and_announced(desk):
    """What is on the page only after Check: the report of a wrong answer, the hints, the solution."""
    tab = desk.open(FORMULA).tab
    box = tab.locator("#exercise-frequencies")
    unfold(box)
    box.locator(".cm-content").click()
    tab.keyboard.press("Control+a")
    tab.keyboard.insert_text("def frequencies(dim):\n    print(dim)\n    return [1.0] * dim")
    status = box.get_by_role("status")
    expect(status).to_have_count(1)  # it is there before it says something, or nobody would hear it
    box.get_by_role("button", name="Check").click()
    expect(status).to_contain_text("Not yet")
    box.get_by_role("button", name="Hint").click()
    box.get_by_role("button", name="Show solution").click()
    box.get_by_role("button", name="Yes, show it").click()
    for theme in ("light", "dark"):
        desk.look(theme=theme)
        assert desk.serious_faults() == [], theme


@pytest.mark.parametrize("page", [FORMULA, EXERCISES[0], "book/progress.html", "book/review.html"])
def test_the_tab_key_reaches_named_and_visible_controls_and_never_sticks(desk, page):
    tab = desk.open(page).tab
    if page == FORMULA:  # its script makes the controls, and on a busy machine later than Tab passes them
        tab.locator(".posenc-check").first.wait_for(state="attached")
        make_editors(tab)
    reached = []
    for _ in range(400):
        tab.keyboard.press("Tab")
        at = tab.evaluate(FOCUSED)
        if at is None:
            break
        if "cm-content" in at["classes"]:
            # This one: the last one may still say that it has the focus.
            tab.wait_for_selector(".cm-editor.cm-focused:focus-within")
            at = tab.evaluate(FOCUSED)
            tab.keyboard.press("Escape")  # as its description says: then Tab leaves
        reached.append(at)
    assert len(reached) < 400, "the tab key does not come to an end"
    assert [at for at in reached if not at["name"]] == []
    assert [at for at in reached if not at["seen"]] == []
    if page == FORMULA:
        names = {at["name"] for at in reached}
        assert {"Check", "Reset", "Show solution"} <= names
        assert len([at for at in reached if "cm-content" in at["classes"]]) >= 2


def test_formulas_are_read_aloud(desk):
    """As the browser tells a screen reader: a formula with what it consists of, and not letters in a row."""
    tab = desk.open(FORMULA).tab
    shown = tab.locator("math").first
    assert tab.locator("math").count() > 100
    described = shown.aria_snapshot()
    assert described, "nothing is read aloud"
    told = tab.context.new_cdp_session(tab).send("Accessibility.getFullAXTree")["nodes"]
    roles = {each["role"]["value"] for each in told if not each.get("ignored")}
    assert {"MathMLMath", "MathMLFraction", "MathMLSquareRoot", "MathMLSub", "MathMLSup"} <= roles
