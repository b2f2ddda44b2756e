"""The site as a reader meets it: every page in Chromium, light and dark."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlparse

import pytest
import yaml

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def _toc_pages() -> list[str]:
    """Every page that _toc.yml names, as the site spells it."""
    found: list[str] = []

    def walk(entry: object) -> None:
        if isinstance(entry, dict):
            found.extend(f"{entry[key]}.html" for key in ("root", "file") if key in entry)
            for value in entry.values():
                walk(value)
        elif isinstance(entry, list):
            for each in entry:
                walk(each)

    walk(yaml.safe_load((ROOT / "_toc.yml").read_text()))
    return found


PAGES = _toc_pages()
MADE_BY_SPHINX = ["genindex.html", "index.html", "search.html"]
CHAPTERS = [page for page in PAGES if page.startswith("book/0")]
EXERCISES = [page for page in PAGES if page.startswith("exercises/")]


class Visit:
    """One page, opened, with everything that it asked for and complained about."""

    def __init__(self, browser, address: str, page: str, **options):
        self.complaints: list[str] = []
        self.outside: list[str] = []
        self.tab = browser.new_page(viewport={"width": 1200, "height": 900}, **options)
        self.tab.on("console", lambda m: self.complaints.append(m.text) if m.type == "error" else None)
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on(
            "response", lambda r: self.complaints.append(f"{r.status} {r.url}") if r.status >= 400 else None
        )
        self.tab.on("request", lambda r: self._note(r.url, address))
        self.tab.goto(f"{address}/{page}", wait_until="load", timeout=60_000)
        if page == "index.html":  # it sends the reader on to the first page
            self.tab.wait_for_url("**/book/index.html", wait_until="load")
        if self.tab.locator(".math").count():
            self.tab.wait_for_function(
                "window.MathJax && MathJax.startup && MathJax.startup.promise", timeout=60_000
            )
            self.tab.evaluate("MathJax.startup.promise")

    def _note(self, url: str, address: str) -> None:
        if not url.startswith((address, "data:", "blob:")):
            self.outside.append(url)


@pytest.fixture(scope="module", params=[*PAGES, *MADE_BY_SPHINX])
def visit(request, browser, address):
    opened = Visit(browser, address, request.param)
    yield opened
    opened.tab.close()


def test_the_site_has_the_pages_of_the_toc_and_no_others(site):
    built = {str(p.relative_to(site)) for p in site.rglob("*.html") if "_static" not in p.parts}
    assert built == {*PAGES, *MADE_BY_SPHINX}
    assert len(PAGES) >= 50


def test_every_page_names_its_icon(site):
    # A browser asks a page that names none for /favicon.ico, which is not there.
    pages = [site / page for page in [*PAGES, *MADE_BY_SPHINX]]
    assert [p.name for p in pages if 'rel="icon"' not in p.read_text()] == []


def test_a_page_asks_for_nothing_outside_and_has_no_error(visit):
    assert visit.outside == []
    assert visit.complaints == []


def test_every_formula_is_typeset(visit):
    formulas = visit.tab.locator(".math").count()
    assert visit.tab.locator("mjx-container").count() >= formulas
    assert visit.tab.locator("mjx-merror").count() == 0


def test_every_link_inside_leads_somewhere(visit, site):
    here = visit.tab.url
    hrefs = visit.tab.eval_on_selector_all("a[href]", "links => links.map(a => a.getAttribute('href'))")
    dead = []
    for href in set(hrefs):
        target, fragment = urldefrag(urljoin(here, href))
        if urlparse(target).netloc != urlparse(here).netloc:
            continue
        file = site / unquote(urlparse(target).path).lstrip("/")
        file = file / "index.html" if file.is_dir() else file
        if not file.exists() or (fragment and f'id="{unquote(fragment)}"' not in file.read_text()):
            dead.append(href)
    assert dead == []


@pytest.mark.parametrize("page", CHAPTERS)
def test_every_figure_is_seen_and_described(browser, address, page):
    tab = Visit(browser, address, page).tab
    figures = tab.locator("figure.posenc-figure svg[role=img]").all()
    assert len(figures) >= 2
    for figure in figures:
        box = figure.bounding_box()
        assert box["width"] > 200
        assert box["height"] > 80
        assert len(figure.get_attribute("aria-label")) > 40
    for image in tab.locator("main img").all():
        assert image.get_attribute("alt")
        assert image.evaluate("i => i.naturalWidth") > 0
    tab.close()


@pytest.mark.parametrize("page", CHAPTERS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figures_take_the_colour_of_the_text_in_either_theme(browser, address, page, theme):
    tab = Visit(browser, address, page, color_scheme=theme).tab
    assert tab.evaluate("document.documentElement.dataset.theme") == theme
    text, ground = tab.evaluate(
        "[getComputedStyle(document.querySelector('main p')).color,"
        " getComputedStyle(document.body).backgroundColor]"
    )
    inks = tab.eval_on_selector_all(
        "figure.posenc-figure svg text", "all => [...new Set(all.map(t => getComputedStyle(t).fill))]"
    )
    assert text in inks
    assert ground not in inks
    tab.close()


@pytest.mark.parametrize("page", CHAPTERS)
def test_a_phone_shows_a_chapter_without_sideways_scrolling(browser, address, page):
    opened = Visit(browser, address, page)
    opened.tab.set_viewport_size({"width": 390, "height": 844})
    assert opened.tab.evaluate("document.documentElement.scrollWidth") <= 390
    opened.tab.close()


@pytest.mark.parametrize("page", EXERCISES)
def test_hints_are_folded_and_open_with_the_keyboard(browser, address, page):
    tab = Visit(browser, address, page).tab
    hint = tab.locator("main details").first
    assert not hint.evaluate("d => d.open")
    hint.locator("summary").focus()
    tab.keyboard.press("Enter")
    assert hint.evaluate("d => d.open")
    tab.close()


@pytest.mark.parametrize("page", EXERCISES)
def test_the_notebook_of_an_exercise_page_can_be_downloaded(browser, address, site, page):
    tab = Visit(browser, address, page).tab
    [href] = tab.eval_on_selector_all(
        "a[href*='_sources'][href$='.ipynb']", "links => [...new Set(links.map(a => a.href))]"
    )
    file = site / urlparse(href).path.lstrip("/")
    assert file.read_bytes() == (ROOT / page.replace(".html", ".ipynb")).read_bytes()
    tab.close()
