"""Short asides and sources stand beside the text where there is room, and elsewhere are where they were."""

from __future__ import annotations

from itertools import pairwise

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import uncover

pytestmark = pytest.mark.slow

WIDE, DESK = {"width": 1680, "height": 1000}, {"width": 1366, "height": 900}
CHAPTERS = ("01-why-order-matters", "02-the-formula", "06-rotary")
ASIDE = ".posenc-aside"
NOTES = ":is(.posenc-aside, .posenc-source)"
BOXES = "all => all.map((each) => each.getBoundingClientRect()).filter(({ width }) => width)"


def opened(newcomer, address: str, chapter: str, window: dict[str, int]):
    tab = newcomer(viewport=window).new_page()
    tab.goto(f"{address}/book/{chapter}.html", wait_until="load")
    uncover(tab)
    tab.evaluate("for (const each of document.querySelectorAll('.posenc-side-trip')) each.open = true")
    return tab


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_on_a_wide_screen_notes_have_a_column_of_their_own(newcomer, plain_address, chapter):
    tab = opened(newcomer, plain_address, chapter, WIDE)
    notes = tab.locator(NOTES).evaluate_all(BOXES)
    assert len(notes) > 5
    others = ".bd-article section > :is(p:not(.posenc-source), .cell, .posenc-exercise, .posenc-predict, h2)"
    edge = max(each["right"] for each in tab.locator(others).evaluate_all(BOXES))
    contents = tab.locator(".bd-sidebar-secondary .sidebar-secondary-items").bounding_box()["x"]
    for above, below in pairwise(notes):
        assert above["bottom"] <= below["top"]
    assert all(edge < each["left"] and each["right"] < contents for each in notes)
    assert tab.evaluate("document.documentElement.scrollWidth") <= WIDE["width"]


def test_an_aside_is_read_in_the_margin_and_opens_where_there_is_none(newcomer, plain_address):
    for window in (WIDE, DESK):
        tab = opened(newcomer, plain_address, CHAPTERS[0], window)
        aside = tab.locator(ASIDE, has_text="how to catch yourself")
        inside = aside.locator("p").last
        aside.scroll_into_view_if_needed()
        if window is DESK:
            expect(inside).to_be_hidden()
            aside.locator(".admonition-title").click()
        expect(inside).to_be_visible()
        expect(aside.locator("button")).to_be_visible(visible=window is DESK)


def test_a_source_is_named_once_beside_the_paragraph_that_names_it(newcomer, plain_address):
    tab = opened(newcomer, plain_address, "02-the-formula", WIDE)
    note = tab.locator(".posenc-source", has_text="Attention Is All You Need")
    expect(note).to_have_text("Vaswani et al. 2017. Attention Is All You Need")
    assert note.get_by_role("link").get_attribute("href") == "https://arxiv.org/abs/1706.03762"
    text = note.locator("xpath=following-sibling::*[not(contains(@class, 'posenc-source'))][1]")
    expect(text).to_contain_text("Vaswani")
    assert abs(note.bounding_box()["y"] - text.bounding_box()["y"]) < 60
    tab.set_viewport_size(DESK)
    expect(note).to_be_hidden()
