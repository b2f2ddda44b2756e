"""A page that its reader prints: nothing dark, nothing cut off, and what an exercise asks about is there."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from pypdfium2 import PdfDocument

from tests.browser.test_progress import open_page

pytestmark = pytest.mark.slow

FORMULA = "book/02-the-formula.html"
A4 = {"width": 718, "height": 1000}
"""What the margins leave of a sheet, in pixels of the screen."""


def test_paper_is_light_and_the_dark_comes_back(newcomer, plain_address):
    tab = open_page(newcomer(color_scheme="dark"), plain_address, FORMULA)
    root = tab.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    page = PdfDocument(tab.pdf(print_background=True))[0].render(scale=0.3).to_numpy()
    assert page.mean() > 200
    expect(root).to_have_attribute("data-theme", "dark")


def test_the_dark_comes_back_after_two_announcements_of_one_printing(newcomer, plain_address):
    tab = open_page(newcomer(color_scheme="dark"), plain_address, FORMULA)
    for kind, theme in (("beforeprint", "light"), ("beforeprint", "light"), ("afterprint", "dark")):
        tab.evaluate("kind => dispatchEvent(new Event(kind))", kind)
        expect(tab.locator("html")).to_have_attribute("data-theme", theme)


@pytest.mark.parametrize("page", [FORMULA, "book/06-rotary.html"])
def test_no_line_of_code_is_cut_off(newcomer, plain_address, page):
    tab = open_page(newcomer(viewport=A4), plain_address, page)
    tab.emulate_media(media="print")
    cut = tab.locator(".bd-article pre").evaluate_all(
        "all => all.filter((it) => it.checkVisibility() && it.scrollWidth > it.clientWidth + 1).length"
    )
    assert cut == 0


@pytest.mark.parametrize("chapter", ["01-why-order-matters", "02-the-formula", "06-rotary"])
def test_an_exercise_is_printed_with_its_listings_and_without_its_solution(newcomer, plain_address, chapter):
    tab = open_page(newcomer(viewport=A4), plain_address, f"book/{chapter}.html")
    tab.emulate_media(media="print")
    for code in tab.locator(".posenc-exercise details:not([class]) pre").all():
        expect(code).to_be_visible()
    assert tab.locator(".posenc-exercise details:not([class]) pre").count() >= 4
    assert tab.locator(":is(.posenc-hint, .posenc-solution) :is(p, pre):visible").count() == 0
