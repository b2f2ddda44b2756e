"""The one style sheet of all pages: they link no other, and nothing that they show has lost its style.

A page is looked at with the sheet that it links, and with all those that this was made of (`sheets.css`).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import SAVES_DATA, uncover, unfold, wait_for_fonts
from tests.browser.test_site import MADE_BY_SPHINX, PAGES

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = "book/02-the-formula.html"
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1366, "height": 768}
# The computed style of elements, and of what is drawn before and after them. One is looked at of those
# that have the same names, and whose parents have.
DIFFERENT = """async () => {
  const linked = document.querySelector("link[href*='site.css']");
  const all = linked.cloneNode();
  all.href = linked.href.replace(/site.css.*/, "sheets.css");
  await new Promise((resolve, reject) => {
    all.onload = resolve;
    all.onerror = reject;
    linked.before(all);
  });
  const still = document.createElement("style");
  still.textContent = "*, *::before, *::after { animation: none !important; transition: none !important; }";
  document.head.append(still);
  // What is folded asks for its faces.
  for (const part of document.querySelectorAll("body *")) part.getBoundingClientRect();
  await document.fonts.ready;
  const known = new Map();
  const name = (part) => part && `${part.localName}.${part.className}#${part.role}`;
  for (const part of document.querySelectorAll("html, body, body *:not(script)"))
    known.set([part, part.parentElement, part.parentElement?.parentElement].map(name).join(" "), part);
  const parts = [...known.values()];
  const names = [...getComputedStyle(document.body)].filter((name) => !name.startsWith("--"));
  const look = (part) => {
    part.getBoundingClientRect(); // in a row that is closed, nothing else lays it out
    return [null, "::before", "::after"]
      .map((pseudo) => getComputedStyle(part, pseudo))
      .filter((style, place) => !place || style.content !== "none")
      .flatMap((style) => names.map((name) => style.getPropertyValue(name)));
  };
  all.sheet.disabled = true;
  const before = parts.map(look);
  all.sheet.disabled = false; // nothing else of the page can change meanwhile
  linked.sheet.disabled = true;
  const told = parts.flatMap((part, place) => {
    const other = look(part).findIndex((value, number) => value !== before[place][number]);
    return other < 0 ? [] : [`${part.cloneNode().outerHTML.slice(0, 100)} ${names[other % names.length]}`];
  });
  linked.sheet.disabled = false;
  all.remove();
  still.remove();
  return [parts.length, told];
}"""


def test_every_page_links_the_one_sheet(site):
    pages = [site / page for page in (*PAGES, *MADE_BY_SPHINX)] + list((site / "zh").rglob("*.html"))
    linked = {
        tuple(re.findall(r'<link rel="stylesheet"[^>]*href="(?:\.\./)*([^"]*)"', page.read_text()))
        for page in pages
        if page.name != "index.html" or page.parent.name == "book"  # a root leads on at once
        if page.name != "certificate.html"  # and so does this address
        if "_static" not in page.parts
    }
    [(name,)] = linked
    assert re.fullmatch(r"_static/site\.css\?v=[0-9a-f]{12}", name)


def test_every_sheet_of_ours_is_in_it(site):
    imported = re.findall(r'@import "([^"]+)"', (site / "_static" / "sheets.css").read_text())
    ours = {sheet.name for sheet in (site / "_static").glob("*.css")} - {
        "sheets.css",
        "site.css",
        "basic.css",
    }
    assert ours <= set(imported)


@pytest.fixture
def tab(browser, plain_address):
    tab = browser.new_page(viewport=DESK)
    tab.add_init_script(SAVES_DATA % "true")
    tab.address = plain_address
    yield tab
    tab.close()


def assert_nothing_lost_its_style(tab):
    looked_at, different = tab.evaluate(DIFFERENT)
    assert looked_at > 100
    assert different == []


def test_a_chapter_in_which_one_works_looks_as_with_all_sheets(tab):
    tab.goto(f"{tab.address}/{CHAPTER}", wait_until="load")
    unfold(tab.locator(".posenc-exercise").first)
    tab.locator(".posenc-exercise .cm-content").first.wait_for()
    tab.locator(".posenc-predict :is(input, button)").first.click()
    assert_nothing_lost_its_style(tab)


@pytest.mark.parametrize("page", ["index", "lab", "progress", "07-alibi-and-biases", "reference/rotated"])
def test_a_page_looks_as_with_all_sheets_in_either_theme(tab, page):
    tab.goto(f"{tab.address}/book/{page}.html", wait_until="networkidle")
    wait_for_fonts(tab)
    assert_nothing_lost_its_style(tab)
    while tab.evaluate("document.documentElement.dataset.theme") != "dark":
        tab.locator(".theme-switch-button").first.click()
    assert_nothing_lost_its_style(tab)


def test_dialogs_look_as_with_all_sheets(tab):
    tab.set_viewport_size(PHONE)
    tab.goto(f"{tab.address}/{CHAPTER}", wait_until="load")
    tab.keyboard.press("Control+k")
    expect(tab.locator("#pst-search-dialog")).to_be_visible()
    assert_nothing_lost_its_style(tab)
    tab.keyboard.press("Escape")
    for side in ("primary", "secondary"):
        tab.locator(f".{side}-toggle").first.click()
        expect(tab.locator(f"#pst-{side}-sidebar-modal")).to_be_visible()
        assert_nothing_lost_its_style(tab)
        tab.keyboard.press("Escape")


def test_a_rule_that_is_missing_would_be_seen(tab):
    tab.goto(f"{tab.address}/book/lab.html", wait_until="load")
    tab.evaluate("""() => {
      const [sheet] = [...document.styleSheets].filter(({ href }) => href?.includes("site.css"));
      const rules = [...sheet.cssRules];
      sheet.deleteRule(rules.findIndex(({ selectorText }) => selectorText === ".bd-main"));
    }""")
    assert tab.evaluate(DIFFERENT)[1] != []


@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
def test_pictures_are_where_they_are_in_either_theme(browser, plain_address, viewport):
    places = {}
    for theme in ("light", "dark"):
        tab = browser.new_page(viewport=viewport, color_scheme=theme, java_script_enabled=False)
        tab.goto(f"{plain_address}/{CHAPTER}", wait_until="load")
        wait_for_fonts(tab)
        places[theme] = tab.locator("figure.posenc-figure svg").evaluate_all(
            "all => all.map((each) => Object.values(each.getBoundingClientRect().toJSON()))"
        )
        tab.close()
    assert len(places["light"]) > 5
    assert places["dark"] == places["light"]


def test_the_picture_that_opens_a_chapter_is_in_the_middle_of_the_text(tab):
    tab.goto(f"{tab.address}/{CHAPTER}", wait_until="load")
    middle = "each => each.getBoundingClientRect().x + each.getBoundingClientRect().width / 2"
    [text, picture] = [
        tab.locator(each).first.evaluate(middle) for each in (".bd-article section > p", "svg.posenc-moving")
    ]
    assert picture == pytest.approx(text, abs=1)
    again = tab.locator(".posenc-again")
    again.first.wait_for(state="attached")
    if again.first.is_visible():
        assert again.first.evaluate(middle) == pytest.approx(text, abs=1)


@pytest.mark.parametrize("page", ["01-why-order-matters", "08-long-context"])
def test_lines_of_text_have_one_length_also_behind_a_prediction(tab, page):
    tab.goto(f"{tab.address}/book/{page}.html", wait_until="load")
    uncover(tab)
    boxes = (".admonition", ".cell", ".posenc-exercise", ".posenc-predict", ".posenc-caption")
    texts = tab.locator(f".bd-article p:not({', '.join(f'{box} p' for box in boxes)})")
    widths = texts.evaluate_all(
        "all => all.filter((each) => each.checkVisibility() && each.getClientRects()[0]?.height > 60)"
        ".map((each) => each.getBoundingClientRect().width)"
    )
    assert len(widths) > 20
    assert max(widths) < 37 * 16 + 1


def test_an_exercise_that_is_closed_is_filled_to_its_edge(tab):
    tab.goto(f"{tab.address}/{CHAPTER}", wait_until="load")
    box = tab.locator("#exercise-frequencies")
    box.locator("> .posenc-fold > summary").wait_for()
    gap = "box => box.querySelector('summary').getBoundingClientRect().top - box.getBoundingClientRect().top"
    assert box.evaluate(gap) == pytest.approx(0, abs=1)  # at one moment: what is above may still grow


@pytest.mark.parametrize("page", ["06-rotary", "lab", "playground"])
def test_the_list_of_pages_shows_ones_own_below_title_and_search(tab, page):
    tab.goto(f"{tab.address}/book/{page}.html", wait_until="load")
    tab.locator(".posenc-progress-bar").first.wait_for()
    sidebar = tab.locator(".bd-sidebar-primary")
    for always in (".navbar-brand", ".search-button-field"):
        assert sidebar.locator(always).first.bounding_box()["y"] > 0
    [own] = sidebar.locator(".current > a").all()[-1:]
    assert own.bounding_box()["y"] + own.bounding_box()["height"] <= DESK["height"]


def test_a_list_of_pages_that_has_room_is_not_scrolled(tab):
    tab.set_viewport_size({"width": 1366, "height": 900})
    tab.goto(f"{tab.address}/book/10-position-from-content.html", wait_until="load")
    tab.locator(".posenc-progress-bar").first.wait_for()
    lists = tab.locator(".bd-sidebar-primary, .bd-sidebar-primary .sidebar-primary-item")
    assert set(lists.evaluate_all("all => all.map((each) => each.scrollTop)")) == {0}
    assert tab.locator(".posenc-part > summary").last.bounding_box()["y"] < 870
