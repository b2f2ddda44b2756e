"""The site as a reader meets it: every page in Chromium, light and dark, on a desk and on a phone.

A page is opened once on a desk and once on a phone, since that is what takes the time; each test says how
it looks at it.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlparse

import pytest
import yaml

from tests.pyodide.distribution import HERE

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
SLOW = 90_000  # ms

AXE = HERE / "node_modules" / "axe-core" / "axe.min.js"  # the fixture `site` has installed it
SERIOUS_FAULTS = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}"""
FINISH_FADING = """() => document.getAnimations()
  .filter((each) => each instanceof CSSTransition)
  .forEach((each) => each.finish())"""


class Visit:
    """One page, opened, with everything that it asked for and complained about."""

    def __init__(self, browser, address: str, page: str, *, theme: str = "light", width: int = 1200):
        self.page = page
        self.complaints: list[str] = []
        self.outside: list[str] = []
        self.tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
        self.tab.on("console", lambda m: self.complaints.append(m.text) if m.type == "error" else None)
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on(
            "response", lambda r: self.complaints.append(f"{r.status} {r.url}") if r.status >= 400 else None
        )
        self.tab.on("request", lambda r: self._note(r.url, address))
        self.tab.goto(f"{address}/{page}", wait_until="load", timeout=SLOW)
        if page == "index.html":  # it sends the reader on to the first page
            self.tab.wait_for_url("**/book/index.html", wait_until="load")
        if self.tab.locator(".math").count():
            self.tab.wait_for_function("window.MathJax?.startup?.promise?.then(() => true)", timeout=SLOW)

    def _note(self, url: str, address: str) -> None:
        if not url.startswith((address, "data:", "blob:")):
            self.outside.append(url)

    def look(self, *, theme: str = "light", width: int = 1200) -> None:
        """Show the page in a theme and a window of some width, with the editors that are made on the way."""
        self.tab.set_viewport_size({"width": width, "height": 900})
        self.tab.emulate_media(color_scheme=theme)
        self.tab.wait_for_function("theme => document.documentElement.dataset.theme === theme", arg=theme)
        self.tab.evaluate(FINISH_FADING)
        for editor in self.tab.locator(".posenc-editor").all():
            editor.scroll_into_view_if_needed()

    def serious_faults(self) -> list[str]:
        """What axe-core finds."""
        if not self.tab.evaluate("'axe' in window"):
            self.tab.add_script_tag(path=AXE)
        return self.tab.evaluate(SERIOUS_FAULTS)


@pytest.fixture(scope="module", params=[*PAGES, *MADE_BY_SPHINX])
def visit(request, browser, address):
    opened = Visit(browser, address, request.param)
    yield opened
    opened.tab.close()


of_chapters = pytest.mark.parametrize("visit", CHAPTERS, indirect=True)
of_exercises = pytest.mark.parametrize("visit", EXERCISES, indirect=True)
themes = pytest.mark.parametrize("theme", ["light", "dark"])


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


@themes
def test_axe_finds_nothing_serious(visit, theme):
    visit.look(theme=theme)
    assert visit.serious_faults() == []


@themes
def test_axe_would_find_something(browser, address, theme):
    visit = Visit(browser, address, "book/glossary.html", theme=theme)
    visit.tab.evaluate(
        """document.querySelector('main').insertAdjacentHTML(
            'beforeend', '<button></button><p style="color: #888; background: #999">unread</p>')"""
    )
    assert {fault.partition(":")[0] for fault in visit.serious_faults()} == {"button-name", "color-contrast"}
    visit.tab.close()


def test_a_small_phone_shows_a_page_without_sideways_scrolling(visit, browser, address):
    on_phone = Visit(browser, address, visit.page, width=360)
    for each in (on_phone, visit):  # opened so, and a window made narrow
        each.look(width=360)
        assert each.tab.evaluate("document.documentElement.scrollWidth") <= 360
    on_phone.tab.close()


@of_chapters
def test_every_figure_is_seen_and_described(visit):
    visit.look()
    figures = visit.tab.locator("figure.posenc-figure svg[role=img]").all()
    assert len(figures) >= 2
    for figure in figures:
        box = figure.bounding_box()
        assert box["width"] > 200
        assert box["height"] > 80
        assert len(figure.get_attribute("aria-label")) > 40
    for image in visit.tab.locator("main img").all():
        assert image.get_attribute("alt")
        assert image.evaluate("i => i.naturalWidth") > 0


@of_chapters
@themes
def test_figures_take_the_colour_of_the_text_in_either_theme(visit, theme):
    visit.look(theme=theme)
    text, ground = visit.tab.evaluate(
        "[getComputedStyle(document.querySelector('main p')).color,"
        " getComputedStyle(document.body).backgroundColor]"
    )
    inks = visit.tab.eval_on_selector_all(
        "figure.posenc-figure svg text", "all => [...new Set(all.map(t => getComputedStyle(t).fill))]"
    )
    assert text in inks
    assert ground not in inks


@of_exercises
def test_hints_are_folded_and_open_with_the_keyboard(visit):
    visit.look()
    hint = visit.tab.locator("main details").first
    assert not hint.evaluate("d => d.open")
    hint.locator("summary").focus()
    visit.tab.keyboard.press("Enter")
    assert hint.evaluate("d => d.open")


@of_exercises
def test_the_notebook_of_an_exercise_page_can_be_downloaded(visit, site):
    [href] = visit.tab.eval_on_selector_all(
        "a[href*='_sources'][href$='.ipynb']", "links => [...new Set(links.map(a => a.href))]"
    )
    file = site / urlparse(href).path.lstrip("/")
    assert file.read_bytes() == (ROOT / visit.page.replace(".html", ".ipynb")).read_bytes()
