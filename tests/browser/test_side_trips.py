"""A section beside the main line is one row: a click opens it, a key does, and a link into it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tools.claims import chapters

pytestmark = pytest.mark.slow

READ = "domcontentloaded"
DESK = {"width": 1366, "height": 900}
TALLEST = 20 * DESK["height"]
CHAPTER = "03-relative-position"
TRIP = "#an-arrow-that-turns-as-one-number"


@pytest.fixture
def tab(newcomer, plain_address):
    """Chapter 3 as somebody sees it who was never here."""
    opened = newcomer(viewport=DESK).new_page()
    opened.goto(f"{plain_address}/book/{CHAPTER}.html", wait_until=READ)
    opened.locator(".posenc-badge").first.wait_for(state="attached")  # the scripts are there
    return opened


def test_it_is_a_row_that_a_click_and_a_key_open_and_that_stays_open(tab):
    section = tab.locator(TRIP)
    row, text = section.locator("> details > summary"), section.locator("> details > p").first
    expect(section.locator("h2")).to_be_visible()
    expect(row).to_contain_text("Side trip, ")
    expect(text).to_be_hidden()
    row.click()
    expect(text).to_be_visible()
    row.press("Enter")
    expect(text).to_be_hidden()
    row.press("Space")
    expect(text).to_be_visible()
    tab.reload(wait_until=READ)
    expect(text).to_be_visible()


def test_a_link_to_what_is_in_it_opens_it(tab):
    exercise = tab.locator(f"{TRIP} .posenc-exercise[id]").first
    expect(exercise).to_be_hidden()
    tab.evaluate("id => (location.hash = id)", exercise.get_attribute("id"))
    expect(exercise.locator(".cm-content")).to_be_visible()
    expect(exercise).to_be_in_viewport()


def test_the_list_of_contents_opens_it(tab):
    text = tab.locator(f"{TRIP} > details > p").first
    tab.locator(f".bd-sidebar-secondary a[href='{TRIP}']").click()
    expect(text).to_be_visible()
    expect(tab.locator(TRIP)).to_be_in_viewport()


def test_on_paper_it_is_open(tab):
    text = tab.locator(f"{TRIP} > details > p").first
    tab.emulate_media(media="print")
    expect(text).to_be_visible()


@pytest.mark.parametrize("chapter", [path.stem for path in chapters()])
def test_a_chapter_as_first_shown_is_at_most_twenty_screens(newcomer, plain_address, chapter):
    opened = newcomer(viewport=DESK).new_page()
    opened.goto(f"{plain_address}/book/{chapter}.html", wait_until=READ)
    opened.locator(".posenc-answerable").first.wait_for(state="attached")  # the scripts are there
    opened.locator(".posenc-badge").first.wait_for(state="attached")
    assert opened.evaluate("document.querySelector('.bd-article').scrollHeight") <= TALLEST
