"""The site as a reader meets it: every page in Chromium, light and dark, on a desk and on a phone.

A page is opened once on a desk and once on a phone, in one tab each, since that is what takes the time; each
test says how it looks at it. Both save data, so that no page begins to load Python, which no test here needs.
Where nothing of a page has changed since a test of it passed, it is left out (`unchanged.py`).
"""

from __future__ import annotations

import os
import re
from html import unescape
from pathlib import Path
from urllib.parse import quote_plus, unquote, urldefrag, urljoin, urlparse

import pytest
import yaml
from fontTools.ttLib import TTFont
from playwright.sync_api import expect

from posenc_course.colours import BLUE, GREEN, ORANGE, PURPLE
from tests.browser.axe import axe
from tests.browser.conftest import SAVES_DATA, make_editors, uncover
from tests.browser.unchanged import Pages
from tests.present import present

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
EVERY_EDITION = "POSENC_EVERY_EDITION"
"""Set in the weekly run: every page of the other editions is looked at, and not only a few."""
FEW = ("book/index.html", "book/06-rotary.html", "book/glossary.html", "book/progress.html")
MADE_BY_SPHINX = ["genindex.html", "index.html", "search.html"]
MOVED = "book/certificate.html"
"""It leads to where the certificate is made now."""
CHINESE = [f"zh/{page}" for page in (PAGES if EVERY_EDITION in os.environ else FEW)]
CHAPTERS = [page for page in PAGES if re.match(r"book/\d\d-", page)]
EXERCISES = [page for page in PAGES if page.startswith("exercises/")]

COLOUR = "cat.color"
# With a tag, only the rules that have it: a theme changes colours, and no more. Of the words of code that
# look alike, one is looked at: there are thousands, and each takes its time.
SERIOUS_FAULTS = """async tag => {
  const looks = new Set();
  const look = (part) => (part ? `${look(part.parentElement)} ${part.className} ${part.style.cssText}` : "");
  const alike = [...document.querySelectorAll("pre span:not(:has(*))")].filter((word) => {
    const { color, fontSize, fontWeight } = getComputedStyle(word);
    const own = [look(word), color, fontSize, fontWeight].join();
    return looks.has(own) || !looks.add(own);
  });
  const serious = ({ impact }) => impact === "serious" || impact === "critical";
  const left_out = axe._audit.rules.filter((rule) => !serious(rule) || (tag && !rule.tags.includes(tag)));
  const rules = Object.fromEntries(left_out.map(({ id }) => [id, { enabled: false }]));
  alike.forEach((word) => { word.style.visibility = "hidden"; });
  const { violations } = await axe.run(document, { resultTypes: ["violations"], rules });
  alike.forEach((word) => { word.style.visibility = ""; });
  return violations
    .filter(serious)
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}"""
SMALL_TEXT = """least => {
  const scale = ({ a, b }) => Math.hypot(a, b); // of text that is turned, too
  const size = (part) => parseFloat(getComputedStyle(part).fontSize);
  const largest = (text) => Math.max(...(text.childElementCount ? [...text.children] : [text]).map(size));
  return [...document.querySelectorAll("figure.posenc-figure svg text")]
    .filter((text) => text.checkVisibility() && largest(text) * scale(text.getScreenCTM()) < least)
    .map((text) => text.textContent);
}"""
# What is wider than its place: how it can be scrolled, and how one sees that.
OVERFLOWING = """() => [...document.querySelectorAll(
    ".bd-article :is(figure.posenc-figure, .math),"
    + ".bd-article .pst-scrollable-table-container"
  )]
  .filter((box) => box.checkVisibility() && box.scrollWidth > box.clientWidth + 1)
  .map((box) => {
    const seen = getComputedStyle(box).maskImage.includes("gradient");
    box.scrollLeft = 9999;
    const moved = box.scrollLeft;
    box.scrollLeft = 0;
    const named = !!(box.role && box.ariaLabel);
    return { what: box.textContent.slice(0, 40), reached: box.tabIndex === 0, named, seen, moved };
  })"""
# A full stop or the like, alone at the beginning of a line because what it clings to ended the one before.
ALONE = """() => {
  const found = [], range = document.createRange();
  const walk = document.createTreeWalker(
    document.querySelector(".bd-article") ?? document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const before = node.previousSibling ?? node.parentElement.previousSibling;
    if (!/^[.,;:!?)]/.test(node.data) || before?.nodeType !== 1) continue;
    if (node.parentElement.closest("pre, .cm-editor, math")) continue;
    range.setStart(node, 0);
    range.setEnd(node, 1);
    const mark = range.getBoundingClientRect(), rects = [...before.getClientRects()];
    if (mark.width && rects.length && mark.left < rects.at(-1).left)
      found.push(before.textContent.slice(-30) + node.data.slice(0, 20));
  }
  return found;
}"""
# What is wrong with how wide things scroll; a busy page tells of it some frames after they are laid out.
WRONGLY_SCROLLED = f"""async (most) => {{
  const wrong = () => ({OVERFLOWING})().filter((box) => !Object.values(box).every(Boolean));
  const end = performance.now() + most;
  while (wrong().length && performance.now() < end) await new Promise(requestAnimationFrame);
  return wrong();
}}"""
FINISH_FADING = """() => document.getAnimations()
  .filter((each) => each instanceof CSSTransition)
  .forEach((each) => each.finish())"""


class Visit:
    """A tab, and the page that is open in it with everything that it asked for and complained about.

    Pages are opened one after another, each as if the reader had never been here; but what an earlier one has
    fetched is at hand.
    """

    def __init__(self, browser, address: str, page: str = "", *, theme: str = "light", width: int = 1200):
        self.address, self.page = address, ""
        self.tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
        self.tab.on("console", lambda m: self.complaints.append(m.text) if m.type == "error" else None)
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on(
            "response", lambda r: self.complaints.append(f"{r.status} {r.url}") if r.status >= 400 else None
        )
        self.tab.on("request", lambda r: self._note(r.url))
        self.tab.add_init_script("localStorage.clear(); sessionStorage.clear()")
        if page:
            self.open(page)

    def open(self, page: str) -> Visit:
        self.page = ""
        self.complaints: list[str] = []
        self.outside: list[str] = []
        self.tab.goto(f"{self.address}/{page}", wait_until="load")
        if page == "index.html":  # it sends the reader on to the first page
            self.tab.wait_for_url("**/book/index.html", wait_until="load")
        self.page = page
        return self

    def _note(self, url: str) -> None:
        if not url.startswith((self.address, "data:", "blob:")):
            self.outside.append(url)

    def look(self, *, theme: str = "light", width: int = 1200) -> None:
        """Show the page in a theme and a window of some width, with the editors that are made on the way."""
        self.tab.set_viewport_size({"width": width, "height": 900})
        self.tab.emulate_media(color_scheme=theme)
        self.tab.wait_for_function("theme => document.documentElement.dataset.theme === theme", arg=theme)
        uncover(self.tab)  # test_predict.py looks at the covers
        self.tab.evaluate(FINISH_FADING)
        make_editors(self.tab)

    def serious_faults(self, tag: str = "") -> list[str]:
        """What axe-core finds, by all its rules or by those with a tag."""
        if not self.tab.evaluate("'axe' in window"):
            self.tab.add_script_tag(path=axe())
        return self.tab.evaluate(SERIOUS_FAULTS, tag)


@pytest.fixture(scope="module")
def desk(browser, address):
    visit = Visit(browser, address)
    visit.tab.add_init_script(SAVES_DATA % "true")
    yield visit
    visit.tab.close()


@pytest.fixture(scope="module")
def phone(browser, address):
    visit = Visit(browser, address, width=360)
    visit.tab.add_init_script(SAVES_DATA % "true")
    yield visit
    visit.tab.close()


@pytest.fixture(scope="module")
def pages(site, browser):
    return Pages(site, browser.version)


@pytest.fixture(scope="module", params=[*PAGES, *MADE_BY_SPHINX, *CHINESE])
def page(request):
    return request.param


@pytest.fixture
def visit(page, unless_unchanged, desk):
    """The page, opened by the first test of it that has not passed for what is there now."""
    if desk.page != page:
        desk.tab.set_viewport_size({"width": 1200, "height": 900})
        desk.tab.emulate_media(color_scheme="light")
        desk.open(page)
    return desk


of_chapters = pytest.mark.parametrize("page", CHAPTERS, indirect=True)
of_exercises = pytest.mark.parametrize("page", EXERCISES, indirect=True)
themes = pytest.mark.parametrize("theme", ["light", "dark"])


def test_the_site_has_the_pages_of_the_toc_and_no_others(site):
    built = {str(p.relative_to(site)) for p in site.rglob("*.html") if "_static" not in p.parts}
    english = {*PAGES, *MADE_BY_SPHINX, MOVED}
    assert built == english | {f"zh/{page}" for page in (*english, "book/translation.html")}
    assert len(PAGES) >= 50


def test_every_page_names_its_icon(site):
    # A browser asks a page that names none for /favicon.ico, which is not there.
    pages = [site / page for page in [*PAGES, *MADE_BY_SPHINX]]
    assert [p.name for p in pages if 'rel="icon"' not in p.read_text()] == []


def test_a_page_asks_for_nothing_outside_and_has_no_error(visit):
    assert visit.outside == []
    assert visit.complaints == []


# The face has one root, of one height (book/_ext/formulas.py).
TOO_TALL = """() => [...document.querySelectorAll("msqrt > *")].filter((under) => {
  const { height } = under.getBoundingClientRect();
  return under.checkVisibility() && height > 1.1 * parseFloat(getComputedStyle(under).fontSize);
}).map((under) => under.textContent)"""


def test_every_formula_is_set_when_the_page_is_built(visit):
    formulas = visit.tab.locator(".math")
    counts = "all => all.map((each) => each.querySelectorAll(':scope > math').length)"
    assert set(formulas.evaluate_all(counts)) <= {1}
    assert [text for text in formulas.all_text_contents() if "\\" in text or not text.strip()] == []
    assert visit.tab.evaluate(TOO_TALL) == []


def test_the_face_of_formulas_has_every_sign_of_every_page(site):
    face = TTFont(site / "_static" / "fonts" / "stix-two-math.woff")
    pages = [p.read_text() for p in site.rglob("*.html") if "_static" not in p.parts]
    formulas = [each for page in pages for each in re.findall(r"<math.*?</math>", page, re.DOTALL)]
    signs = set(unescape(re.sub("<[^>]*>", "", "".join(formulas))))
    assert len(formulas) > 500
    assert {sign for sign in signs if ord(sign) not in face.getBestCmap()} - {"\n"} == set()


def test_every_link_inside_leads_somewhere(visit, site):
    here = visit.tab.url
    # The address of a challenge is drawn, and read by the page's own script.
    links = "a[href]:not(.posenc-share)"
    hrefs = visit.tab.eval_on_selector_all(links, "links => links.map(a => a.getAttribute('href'))")
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
    assert visit.serious_faults(tag="" if theme == "light" else COLOUR) == []


def test_axe_would_find_something(browser, address):
    visit = Visit(browser, address, "book/glossary.html")
    visit.tab.evaluate(
        """document.querySelector('main').insertAdjacentHTML('beforeend', `<button></button>
            <style>.faint { color: #888; background: #999 }</style><p class="faint">unread</p>
            <pre><span>read</span> <span class="faint">unread</span> <span class="faint">too</span></pre>`)"""
    )
    for theme in ("light", "dark"):
        visit.look(theme=theme)
        for tag, rules in (
            (COLOUR, ["color-contrast"] * 2),
            ("", ["button-name", "color-contrast", "color-contrast"]),
        ):
            found = visit.serious_faults(tag)
            assert sorted(fault.partition(":")[0] for fault in found) == rules
            assert "unread</span>" in "".join(found)
    visit.tab.close()


@of_chapters
def test_every_figure_is_seen_and_described(visit):
    visit.look()
    # At once: some of them come to life.
    figures = visit.tab.locator("figure.posenc-figure svg[role=img]").evaluate_all(
        """all => all.map((each) => {
          const { width, height } = each.getBoundingClientRect();
          return [width, height, each.ariaLabel];
        })"""
    )
    assert len(figures) >= 2
    for wide, high, label in figures:
        assert wide > 200
        assert high > 80
        assert len(label) > 40
    for image in visit.tab.locator("main img").all():
        assert image.get_attribute("alt")
        expect(image).to_have_js_property("complete", True)
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
def test_the_notebook_of_an_exercise_page_can_be_downloaded(page, site):
    [href] = set(re.findall(r'<a [^>]*href="([^"]*_sources[^"]*\.ipynb)"', (site / page).read_text()))
    file = (site / page).parent / href
    assert file.read_bytes() == (ROOT / page.replace(".html", ".ipynb")).read_bytes()


def test_no_full_stop_stands_alone_on_a_line(visit):
    for width in (1200, 820):
        visit.look(width=width)
        assert visit.tab.evaluate(ALONE) == []


def test_a_small_phone_shows_a_page_without_sideways_scrolling(visit, phone):
    for each in (phone.open(visit.page), visit):  # opened so, and a window made narrow
        each.look(width=360)
        assert each.tab.evaluate("document.documentElement.scrollWidth") <= 360
        assert each.tab.evaluate(SMALL_TEXT, 8.95) == []
        assert each.tab.evaluate(WRONGLY_SCROLLED, 20_000) == []
        assert each.tab.evaluate(ALONE) == []


def test_next_leads_from_the_landing_page_through_the_chapters(site):
    """And no page sends the reader on to one of the notebooks' pages, which can only be read."""
    page, passed = "book/index.html", []
    for _ in CHAPTERS:
        following = present(re.search(r'class="right-next"\s+href="([^"]+)"', (site / page).read_text()))[1]
        page = str((site / page).parent.joinpath(following).resolve().relative_to(site.resolve()))
        passed.append(page)
    assert passed == CHAPTERS
    ways = re.compile(r'class="(?:left-prev|right-next)"\s+href="([^"]+)"')
    assert not [
        href for each in PAGES for href in ways.findall((site / each).read_text()) if "exercises/" in href
    ]


def test_the_landing_page_starts_chapter_1_and_chapters_have_their_numbers(browser, address):
    tab = Visit(browser, address, "book/index.html").tab
    chapters = tab.locator(".bd-sidebar-primary").get_by_role("link", name=re.compile(r"^\d+\. "))
    assert [name.split(".")[0] for name in chapters.all_inner_texts()] == [
        str(n + 1) for n in range(len(CHAPTERS))
    ]
    tab.get_by_role("link", name="Start with chapter 1").click()
    tab.wait_for_url(f"**/{CHAPTERS[0]}")
    assert tab.locator(".bd-article h1").first.inner_text().startswith("1. ")
    tab.close()


@of_chapters
def test_code_in_hints_is_code(visit):
    hints = visit.tab.locator(".posenc-hint").evaluate_all(
        "all => all.map(h => [h.textContent, !!h.querySelector('code')])"
    )
    assert any(code for _, code in hints)
    assert [text for text, _ in hints if "`" in text] == []


def test_search_results_show_whole_words_and_typeset_formulas(browser, address):
    visit = Visit(browser, address, "search.html?q=wavelength")
    summaries = visit.tab.locator("#search-results li p.context")
    visit.tab.set_viewport_size({"width": 1200, "height": 6000})  # those come that are near the window
    summaries.nth(9).wait_for()
    visit.tab.locator("#search-results math").first.wait_for()
    found = summaries.evaluate_all(  # at once: more of them may be on their way
        """all => all.map((p) => {
          const copy = p.cloneNode(true);
          copy.querySelectorAll("math").forEach((each) => each.replaceWith("¤"));
          return [copy.textContent, p.closest("li").querySelector("a").href];
        })"""
    )
    texts = [text for text, _ in found]
    cut = [text for text in texts if text.startswith("...") or text.endswith("...")]  # as the theme does it
    assert cut + [text for text in texts if "\\(" in text] == []
    assert not any("A counter made of waves The formula" in text for text in texts)  # the page's own contents
    for text, href in found:
        first = re.match(r"… ([\w-]+) ", text)
        if first:
            words = set(re.findall(r"[\w-]+", visit.tab.request.get(href).text()))
            assert first[1] in words
    assert visit.complaints == []
    visit.tab.close()


REFUSES = {
    "no more": "Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError') }",
    "nothing": "Object.defineProperty(window, 'localStorage', { configurable: true, "
    "get() { throw new DOMException('no', 'SecurityError') } })",
}


@pytest.mark.parametrize("keeps", REFUSES)
def test_a_browser_that_keeps_nothing_has_its_menu_its_search_and_its_colours(browser, plain_address, keeps):
    tab = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
    tab.add_init_script(REFUSES[keeps])
    tab.goto(f"{plain_address}/book/progress.html", wait_until="load")
    expect(tab.locator(".posenc-not-kept")).to_be_attached()
    expect(tab.locator("html")).to_have_attribute("data-theme", "dark")
    tab.locator(".theme-switch-button:visible").first.click()
    expect(tab.locator("html")).to_have_attribute("data-theme", "light")
    tab.locator(".primary-toggle").first.click()
    expect(tab.locator("#pst-primary-sidebar-modal")).to_have_attribute("open", "")
    tab.keyboard.press("Escape")
    tab.locator(".search-button:visible").first.click()
    expect(tab.locator("#pst-search-dialog")).to_have_attribute("open", "")
    tab.close()


@pytest.mark.parametrize("keeps", REFUSES)
def test_a_browser_that_keeps_nothing_searches_all_the_same(browser, address, keeps):
    tab = browser.new_page()
    tab.add_init_script(REFUSES[keeps])
    tab.goto(f"{address}/search.html?q=wavelength")
    expect(tab.locator("#search-results li a").nth(5)).to_be_attached()
    tab.close()


def test_a_search_fetches_pages_for_the_results_that_are_near_and_each_once(browser, address):
    visit = Visit(browser, address)
    fetched: list[str] = []
    visit.tab.on("request", lambda r: fetched.append(r.url) if r.resource_type == "fetch" else None)
    visit.open("search.html?q=position")
    results = visit.tab.locator("#search-results li")
    results.nth(30).wait_for()
    results.locator("p.context").first.wait_for()
    visit.tab.wait_for_timeout(1000)
    assert 0 < len(fetched) < 8
    last = results.last
    expect(last.locator("p.context")).to_have_count(0)
    last.scroll_into_view_if_needed()
    last.locator("p.context").wait_for()
    assert len(set(fetched)) == len(fetched)
    visit.tab.close()


def test_a_search_finds_terms_and_sections_by_what_their_headings_mean(browser, address):
    visit = Visit(browser, address, "search.html")
    field = visit.tab.locator(".bd-search-container input[type=search]")
    results = visit.tab.locator("#search-results li")
    for query, first in {
        "why sqrt d": "book/01-why-order-matters.html#why-the-root-of-d",
        "how do I read the heatmap": "book/02-the-formula.html#reading-the-heatmap",
        "ALiBi": "book/glossary.html#term-ALiBi",
    }.items():
        field.fill("")
        field.press_sequentially(query)
        field.press("Enter")
        visit.tab.wait_for_url(re.compile(re.escape(f"?q={quote_plus(query)}")), wait_until="load")
        found = results.first.locator("a").get_attribute("href")
        assert first in urljoin(visit.tab.url, found), query
        marked = visit.tab.locator("#search-results .highlighted").all_text_contents()
        assert [text for text in marked if len(text) < 2] == []
        results.locator("p.context").first.wait_for()
        said = results.locator("p.context").all_text_contents()
        assert [text for text in said if text.startswith((".md", ".ipynb"))] == []
    inside = "i => parseFloat(getComputedStyle(i).paddingLeft) + i.getBoundingClientRect().left"
    sign = visit.tab.locator(".bd-search-container form i").bounding_box()
    assert field.evaluate(inside) > sign["x"] + sign["width"]
    assert visit.complaints == []
    visit.tab.close()


@pytest.mark.parametrize(
    ("query", "place", "first"),
    [
        ("why does padding change my output", "05-pitfalls.html#an-answer-that-changes-with-padding", 1),
        ("does attention decay with distance", "06-rotary.html#does-attention-fade-with-distance", 1),
        ("shift matrix rotation proof", "glossary.html#term-shift-matrix", 1),
        ("sinusodial", "glossary.html#term-sinusoidal-encoding", 3),  # two letters have changed places
        ("perplexety", "glossary.html#term-perplexity", 1),
        ("needle in a haystack", "measured.html#needles", 1),  # no page has the other word
    ],
)
def test_a_search_forgives_words_too_many_and_slips_of_the_hand(browser, address, query, place, first):
    visit = Visit(browser, address, f"search.html?q={quote_plus(query)}")
    links = visit.tab.locator("#search-results li > a:first-child")
    links.nth(first - 1).wait_for()
    found = links.evaluate_all("all => all.map((a) => a.href)")[:first]
    assert any(link.endswith(place) for link in found), found
    assert visit.complaints == []
    visit.tab.close()


def test_a_search_without_a_result_says_what_to_try(browser, address):
    visit = Visit(browser, address, "search.html?q=xqzzyv")
    expect(visit.tab.locator("#search-results h2")).to_have_text("Search Results")
    expect(visit.tab.locator(".search-summary")).to_have_text(
        "No page has these words. Check the spelling, or try fewer words."
    )
    visit.open("search.html?q=wavelength")
    expect(visit.tab.locator(".search-summary")).to_contain_text("Search finished, found")
    assert visit.complaints == []
    visit.tab.close()


def test_the_contents_show_where_one_is_after_a_jump(browser, address):
    tab = Visit(browser, address, "book/02-the-formula.html").tab
    marked = tab.locator("#pst-page-toc-nav a[aria-current]")
    jump = "id => { location.hash = id; }"
    for target, section in (
        ("exercise-to-split", "Reading the heatmap"),  # into a section, past its heading
        ("frequencies-and-wavelengths", "Frequencies and wavelengths"),
        ("exercise-frequencies", "The formula"),  # and back
        ("further-reading", "Further reading"),  # as far down as the page goes
    ):
        tab.evaluate(jump, target)
        expect(marked).to_have_text(section)
    tab.close()


def test_tables_of_speed_have_rules_and_whole_numbers_below_each_other(browser, address):
    tab = Visit(browser, address, "book/reference/speed.html").tab
    cells = tab.locator(".posenc-speed tbody td")
    looks = cells.evaluate_all(
        """all => all.map((cell) => {
          const style = getComputedStyle(cell);
          const lines = cell.innerText.split("\\n").filter(Boolean).length || 1;
          const range = document.createRange();
          range.selectNodeContents(cell);
          const rows = new Set([...range.getClientRects()].map((rect) => Math.round(rect.top))).size || 1;
          return [style.textAlign, style.fontVariantNumeric, style.borderBottomStyle, rows <= lines];
        })"""
    )
    assert len(looks) > 50
    assert {tuple(each) for each in looks} == {("right", "tabular-nums", "solid", True)}
    # A table that is too wide takes no other along: it scrolls by itself, and alone says so.
    boxes = tab.locator(".posenc-speed .pst-scrollable-table-container")
    assert boxes.count() > 3
    tab.wait_for_function(
        """() => [...document.querySelectorAll(".posenc-speed .pst-scrollable-table-container")]
          .every((box) => "more" in box.dataset === box.scrollWidth > box.clientWidth + 1)"""
    )
    assert not tab.locator("figure.posenc-speed[data-more]").count()
    tab.close()


def test_a_chapter_has_the_colour_of_its_door_and_a_line_shows_how_far_one_has_read(browser, address):
    visit = Visit(browser, address)
    doors = {0: BLUE, 5: PURPLE, 6: GREEN, 9: ORANGE}
    door = "() => getComputedStyle(document.documentElement).getPropertyValue('--door').trim()"
    assert {place: visit.open(CHAPTERS[place]).tab.evaluate(door) for place in doors} == doors
    read = "() => new DOMMatrix(getComputedStyle(document.body, '::before').transform).a"
    assert visit.tab.evaluate(read) == 0
    visit.tab.keyboard.press("End")
    visit.tab.wait_for_function(f"({read})() > 0.98")
    visit.tab.close()
