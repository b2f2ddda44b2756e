"""A page shows itself before its scripts run, and is not laid out again and again while they do."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import open_side_trips, uncover, wait_for_frame
from tests.browser.test_site import PAGES

pytestmark = pytest.mark.slow

CHAPTER = "book/02-the-formula.html"
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1366, "height": 900}
BOXES = "pre, .cell_output > .output, figure.posenc-figure, .math, .pst-scrollable-table-container"
# Of what is drawn: whether the keyboard reaches what scrolls, and nothing else.
WRONG = """boxes => boxes.filter((box) => {
  if (!box.checkVisibility() || getComputedStyle(box).overflowX === "visible") return false;
  const code = box.matches("pre, .cell_output > .output");
  const scrolls = box.scrollWidth > box.clientWidth + 1 || (code && box.scrollHeight > box.clientHeight);
  return scrolls !== (box.tabIndex === 0);
}).map((box) => box.outerHTML.slice(0, 200))"""


@pytest.mark.parametrize("page", PAGES)
def test_no_page_waits_for_a_script(site, page):
    tags = re.findall(r"<script\b[^>]*\bsrc=[^>]*>", (site / page).read_text())
    assert len(tags) > 5
    assert [tag for tag in tags if not re.search(r'\bdefer\b|\basync\b|type="module"', tag)] == []


def test_options_are_set_once_they_are_there(newcomer, plain_address):
    tab = newcomer().new_page()
    problems: list[str] = []
    tab.on("pageerror", lambda problem: problems.append(str(problem)))
    tab.goto(f"{plain_address}/{CHAPTER}", wait_until="load")
    assert tab.evaluate("DOCUMENTATION_OPTIONS.pagename") == CHAPTER.removesuffix(".html")
    assert tab.evaluate("DOCUMENTATION_OPTIONS.search_as_you_type") is False
    assert problems == []


def test_the_search_page_has_what_it_needs_at_once(newcomer, plain_address):
    tab = newcomer().new_page()
    problems: list[str] = []
    tab.on("pageerror", lambda problem: problems.append(str(problem)))
    tab.goto(f"{plain_address}/search.html?q=clock", wait_until="load")
    expect(tab.locator("#search-results li").first).to_be_visible()
    assert problems == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_reader_s_colours_are_there_before_any_script_is_fetched(newcomer, plain_address, theme):
    tab = newcomer(color_scheme=theme).new_page()
    tab.route(re.compile(r"\.js(\?|$)"), lambda route: route.abort())
    tab.goto(f"{plain_address}/{CHAPTER}", wait_until="domcontentloaded")
    assert tab.evaluate("document.documentElement.dataset.theme") == theme


def test_colours_that_a_reader_has_chosen_stay(newcomer, plain_address):
    tab = newcomer(color_scheme="light").new_page()
    tab.goto(f"{plain_address}/{CHAPTER}")
    root = tab.locator("html")
    while root.get_attribute("data-mode") != "dark":
        tab.locator(".theme-switch-button:visible").first.click()
    tab.reload()
    expect(root).to_have_attribute("data-theme", "dark")


def wrongly_reached(tab) -> list[str]:
    """What stays so, once what changed has been told; a busy page takes some frames for it."""
    found: list[str] = []
    for _ in range(60):
        wait_for_frame(tab)
        found = tab.locator(f".bd-article :is({BOXES})").evaluate_all(WRONG)
        if not found:
            break
    return found


def test_the_keyboard_reaches_what_scrolls_and_nothing_else(newcomer, plain_address):
    tab = newcomer(viewport=PHONE).new_page()
    tab.goto(f"{plain_address}/{CHAPTER}", wait_until="load")
    scrolling = tab.locator(".bd-article [data-more]")
    scrolling.first.wait_for()
    assert wrongly_reached(tab) == []
    on_a_phone = scrolling.count()
    uncover(tab)
    for row in tab.locator(".posenc-side-trip").all():
        open_side_trips(row.locator(":scope > :nth-child(2)"))
    assert wrongly_reached(tab) == []
    tab.set_viewport_size(DESK)
    assert wrongly_reached(tab) == []
    assert scrolling.count() < on_a_phone


def test_what_comes_later_is_reached_as_well(newcomer, plain_address):
    """As what a cell prints that was run anew."""
    tab = newcomer(viewport=PHONE).new_page()
    tab.goto(f"{plain_address}/{CHAPTER}", wait_until="load")
    tab.evaluate(
        """() => {
          const printed = document.createElement("pre");
          printed.id = "printed";
          printed.style.overflow = "auto";
          document.querySelector(".bd-article section").append(printed);
        }"""
    )
    printed = tab.locator("#printed")
    assert wrongly_reached(tab) == []
    printed.evaluate("box => box.append(document.createElement('b'), 'wide '.repeat(200))")
    expect(printed).to_have_attribute("tabindex", "0")


def test_a_chapter_is_not_laid_out_for_each_block_of_code(newcomer, plain_address):
    """The theme measures and marks one after the other, some hundred times a page; ours all, and then all."""
    tab = newcomer(viewport=PHONE).new_page()
    session = tab.context.new_cdp_session(tab)
    session.send("Performance.enable")
    tab.goto(f"{plain_address}/{CHAPTER}", wait_until="load")
    tab.locator(".bd-article [data-more]").first.wait_for()
    tab.wait_for_timeout(1000)  # the theme waits for 300 ms of rest
    counts = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    assert tab.locator("pre").count() > 60
    assert counts["LayoutCount"] < 60, counts
