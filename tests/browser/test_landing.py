"""The first page: what it weighs and shows, a sentence of the reader's own, and the map of the course.

A person's hands: keys one by one, a mouse that moves, a thumb that drags.
"""

from __future__ import annotations

import re
import struct
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from playwright.sync_api import expect

from benchmarks.pages import BUDGETS, first_view
from posenc_course.exercises import all_exercises, wholes
from posenc_lib import alibi_bias, apply_rotary, attention, sinusoidal
from tests.browser.conftest import served

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGE = "book/index.html"
SCRIPTS = ROOT / "book" / "web" / "src"
DOORS = {
    "none": "none, all are shut",
    "added": "added to the input",
    "rotated": "rotated into queries and keys",
    "biased": "biased onto the scores",
}
SAME = re.compile("The same map")
OTHER = re.compile("Another map")


@pytest.fixture
def tab(newcomer, plain_address):
    return open_page(newcomer(), plain_address)


def open_page(context, address, page=PAGE):
    tab = context.new_page()
    tab.complaints = []
    tab.on("pageerror", lambda error: tab.complaints.append(str(error)))
    tab.goto(f"{address}/{page}", wait_until="load")
    return tab


# What it weighs, and what a shared link shows.


@pytest.mark.parametrize("page", BUDGETS)
def test_a_first_view_keeps_within_its_budget(browser, site, page):
    with served(site) as address:  # of its own: nothing is at hand yet
        weight = first_view(browser, site, address, page)
    assert weight.bytes(compressed=True) <= BUDGETS[page]
    heavy = r"fontawesome|fa-(solid|regular|brands)|pyodide|searchindex|mathjax|\.whl|\.tar\.gz"
    assert [name for name in weight.names() if re.search(heavy, name, re.IGNORECASE)] == []
    assert {"main.js", "hero.css", "landing.css"} <= weight.names(), "nothing was weighed"


def test_every_icon_of_the_site_is_drawn(site):
    """The theme asks for them by class; without a rule in icons.css, nothing would be seen."""
    drawn = set(re.findall(r"^\.(fa-[a-z-]+) \{", (site / "_static" / "icons.css").read_text(), re.MULTILINE))
    asked = {
        name
        for page in site.rglob("*.html")
        if "_static" not in page.parts
        for classes in re.findall(
            r'class="(fa[srb]? [^"]*|fa-(?:solid|regular|brands) [^"]*)"', page.read_text()
        )
        for name in re.findall(r"fa-[a-z-]+", classes)
    } - {"fa-solid", "fa-lg"}
    assert asked
    assert asked <= drawn


def test_an_icon_is_seen(tab):
    size = tab.locator(".primary-toggle .fa-bars").bounding_box()
    assert min(size["width"], size["height"]) > 12
    mask = "icon => getComputedStyle(icon).maskImage"
    assert tab.locator(".theme-switch:visible").evaluate(mask).startswith('url("data:image/svg+xml')


@pytest.mark.parametrize("page", ["index.html", PAGE, "book/02-the-formula.html", "book/glossary.html"])
def test_a_shared_link_shows_a_sentence_and_a_picture(site, page):
    html = (site / page).read_text()
    found = dict(
        re.findall(r'<meta (?:property|name)="((?:og|twitter):[^"]+|description)" content="([^"]*)">', html)
    )
    assert 40 < len(found["description"]) <= 202
    assert found["og:description"] == found["twitter:description"] == found["description"]
    assert found["og:title"] == found["twitter:title"] != ""
    assert found["twitter:card"] == "summary_large_image"
    assert found["og:image"] == found["twitter:image"]
    picture = (site / page).parent.joinpath(found["og:image"]).resolve().read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert struct.unpack(">II", picture[16:24]) == (1200, 630)


def test_the_picture_has_a_whole_address_where_the_site_has_one():
    sys.path.append(str(ROOT / "book" / "_ext"))
    import lean
    from docutils.utils import new_document

    app = SimpleNamespace(
        config=SimpleNamespace(
            html_baseurl="https://book.example/posenc", root_doc="book/index", html_title="T"
        )
    )
    context = {"title": "A chapter", "pathto": lambda path, resource: f"../{path}"}
    lean._say_what_is_shared(app, "book/x", "page.html", context, new_document("x"))
    assert context["posenc_shared"]["picture"] == "https://book.example/posenc/_static/preview.png"
    app.config.html_baseurl = ""
    lean._say_what_is_shared(app, "book/x", "page.html", context, new_document("x"))
    assert context["posenc_shared"]["picture"] == "../_static/preview.png"


# The hero.

HANDS = """() => [...document.querySelectorAll('.posenc-hand')]
  .map((hand) => hand.getAttribute('transform')).join()"""


def test_the_picture_moves_until_it_is_paused(tab):
    before = tab.evaluate(HANDS)
    tab.wait_for_function(f"before => ({HANDS})() !== before", arg=before)
    pause = tab.get_by_role("button", name="Pause the picture")
    pause.focus()
    tab.keyboard.press("Enter")
    play = tab.get_by_role("button", name="Play the picture")
    expect(play).to_be_focused()
    still = tab.evaluate(HANDS)
    tab.evaluate("() => new Promise((done) => setTimeout(done, 150))")
    assert tab.evaluate(HANDS) == still
    play.click()
    tab.wait_for_function(f"still => ({HANDS})() !== still", arg=still)
    assert tab.complaints == []


def test_the_picture_stands_still_for_whoever_asks_for_that(newcomer, plain_address):
    tab = open_page(newcomer(reduced_motion="reduce"), plain_address)
    play = tab.get_by_role("button", name="Play the picture")
    expect(play).to_be_visible()
    still = tab.evaluate(HANDS)
    tab.evaluate("() => new Promise((done) => setTimeout(done, 150))")
    assert tab.evaluate(HANDS) == still
    assert tab.locator(".posenc-counter").inner_text() == "Token 12,345"
    moves = "name => getComputedStyle(document.querySelector(name)).transitionDuration"
    assert tab.evaluate(moves, ".posenc-attention g") == "0s"


# The reader's own sentence.


def _in_one(script: str, other: str) -> str:
    """A script with another that it imports in the place of the import."""
    code = (SCRIPTS / script).read_text()
    line = next(each for each in code.splitlines() if each.startswith("import") and f'"{other}"' in each)
    return code.replace(line, (SCRIPTS / other).read_text())


class Sentence:
    """What stands there, and the map of it."""

    def __init__(self, tab):
        self.tab = tab
        tab.locator(".posenc-word").first.wait_for()
        self.box = tab.locator(".posenc-sentence")
        self.field = tab.get_by_label("Your sentence")
        self.verdict = self.box.locator(".posenc-verdict")

    @property
    def words(self) -> list[str]:
        return self.box.locator(".posenc-word").all_inner_texts()

    def word(self, text: str):
        return self.box.get_by_role("button", name=text, exact=True)

    def type(self, text: str) -> None:
        self.field.click()
        self.tab.keyboard.press("Control+a")
        self.tab.keyboard.type(text)

    def open(self, door: str) -> None:
        self.box.get_by_label(DOORS[door], exact=True).click()

    def weights(self) -> np.ndarray:
        """As the cells say them, in the order in which the words were typed."""
        cells = self.box.locator("[data-weight]").evaluate_all(
            "all => all.map(({ dataset }) => [dataset.from, dataset.to, dataset.weight].map(Number))"
        )
        count = len(self.words)
        found = np.full((count, count), np.nan)
        for row, column, weight in cells:
            found[int(row), int(column)] = weight
        return found

    def expected(self, door: str) -> np.ndarray:
        """What posenc_lib makes of the same words in the order in which they stand now, in that order."""
        if not self.tab.evaluate("'attention' in window"):
            self.tab.evaluate(
                "code => import(`data:text/javascript,${encodeURIComponent(code)}`)"
                ".then((found) => { window.attention = found })",
                _in_one("attention.js", "./random.js"),
            )
        x, query, key = (
            np.array(self.tab.evaluate(f"words => {code}", self.words))
            for code in (
                "words.map(attention.vectorOf)",
                "attention.MATRICES.query",
                "attention.MATRICES.key",
            )
        )
        at = np.arange(len(x))
        if door == "added":
            x = x + sinusoidal(at, x.shape[1])
        rotate = (lambda vectors: apply_rotary(vectors, at)) if door == "rotated" else None
        bias = None
        if door == "biased":
            bias = alibi_bias(1, at, at, causal=False, slopes=[1 / 2], slopes_after=[1 / 4])[0]
        q, k = x @ query.T, x @ key.T
        return np.asarray(attention(q, k, x, rotate=rotate, bias=bias, return_weights=True)[1])

    def standing(self) -> list[int]:
        """Which typed word stands at each place."""
        chips = self.box.locator(".posenc-word")
        return [int(word) for word in chips.evaluate_all("all => all.map((chip) => chip.dataset.word)")]


@pytest.fixture
def sentence(tab):
    return Sentence(tab)


def middle(place) -> tuple[float, float]:
    box = place.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_the_map_shows_the_numbers_of_the_library(sentence):
    for typed in ("one two", "Zwölf Boxer jagen Viktor quer"):
        sentence.type(typed)
        sentence.box.get_by_role("button", name="Turn the sentence round").click()
        sentence.word(sentence.words[-1]).press("Home")
        order = sentence.standing()
        for door in DOORS:
            sentence.open(door)
            shown = sentence.weights()[np.ix_(order, order)]
            np.testing.assert_allclose(shown, sentence.expected(door), rtol=0, atol=1e-6)
    assert sentence.tab.complaints == []


def test_only_an_open_door_tells_one_order_from_another(sentence):
    sentence.type("dog chases cat")
    typed = sentence.weights()
    seen = set()
    for word in ("dog", "dog", "chases", "chases", "cat"):  # one place to the right each: all other orders
        sentence.word(word).press("ArrowRight")
        seen.add(tuple(sentence.words))
        for door in DOORS:
            sentence.open(door)
            expect(sentence.verdict).to_contain_text(SAME if door == "none" else OTHER)
        sentence.open("none")
        np.testing.assert_allclose(sentence.weights(), typed, rtol=0, atol=1e-12)
    assert len(seen) == 5


def test_a_mouse_drags_a_word_to_another_place_and_the_map_keeps_its_numbers(sentence):
    before = sentence.weights()
    sentence.field.scroll_into_view_if_needed()
    for word, beside, order in (
        ("dog", "cat", ["The", "chases", "the", "dog", "cat"]),
        ("cat", "The", ["cat", "The", "chases", "the", "dog"]),
    ):
        sentence.tab.mouse.move(*middle(sentence.word(word)))
        sentence.tab.mouse.down()
        x, y = middle(sentence.word(beside))
        sentence.tab.mouse.move(x - 8, y, steps=12)
        sentence.tab.mouse.up()
        assert sentence.words == order
        sentence.tab.mouse.move(x - 8, y + 300, steps=3)  # let go, it stays
        assert sentence.words == order
    np.testing.assert_allclose(sentence.weights(), before, rtol=0, atol=1e-12)
    expect(sentence.verdict).to_contain_text(SAME)
    sentence.box.get_by_role("button", name="As I typed it").click()
    assert sentence.words == ["The", "dog", "chases", "the", "cat"]
    assert sentence.tab.complaints == []


def test_a_thumb_drags_a_word_and_not_the_page(newcomer, plain_address):
    tab = open_page(
        newcomer(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True), plain_address
    )
    sentence = Sentence(tab)
    sentence.word("dog").scroll_into_view_if_needed()
    scrolled = tab.evaluate("scrollY")
    thumb = tab.context.new_cdp_session(tab)
    (x, y), (to_x, to_y) = middle(sentence.word("dog")), middle(sentence.word("the"))

    def touch(kind: str, *points: tuple[float, float]) -> None:
        at = [{"x": across, "y": down} for across, down in points]
        thumb.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})

    touch("touchStart", (x, y))
    for step in range(1, 11):
        touch("touchMove", (x + (to_x + 8 - x) * step / 10, y + (to_y - y) * step / 10))
    touch("touchEnd")
    expect(sentence.box.locator(".posenc-word")).to_have_text(["The", "chases", "the", "dog", "cat"])
    assert tab.evaluate("scrollY") == scrolled
    sentence.word("cat").tap()
    tab.get_by_role("button", name="Move it left").tap()
    expect(sentence.box.locator(".posenc-word")).to_have_text(["The", "chases", "the", "cat", "dog"])
    assert tab.complaints == []


def test_the_arrow_keys_move_the_word_that_has_the_focus(sentence):
    sentence.field.focus()
    for _ in range(2):
        sentence.tab.keyboard.press("Tab")
    dog = sentence.word("dog")
    expect(dog).to_be_focused()
    for key, order in (
        ("ArrowRight", "The chases dog the cat"),
        ("End", "The chases the cat dog"),
        ("ArrowRight", "The chases the cat dog"),
        ("ArrowLeft", "The chases the dog cat"),
        ("Home", "dog The chases the cat"),
    ):
        sentence.tab.keyboard.press(key)
        assert sentence.words == order.split()
        expect(dog).to_be_focused()
    expect(sentence.verdict).to_contain_text("“dog” is now word 1 of 5.")
    expect(sentence.verdict).to_have_attribute("role", "status")
    sentence.tab.keyboard.press("Tab")
    expect(sentence.word("The")).to_be_focused()


def test_in_chapter_1_rows_of_numbers_go_with_their_words_and_their_mean_stays(newcomer, plain_address):
    tab = open_page(newcomer(), plain_address, "book/01-why-order-matters.html")
    sentence = Sentence(tab)
    assert sentence.words == ["dog", "chases", "cat"]
    assert sentence.box.get_by_role("radio").count() == 0

    def outputs():
        found = sentence.box.locator("[data-output]").evaluate_all(
            "all => all.map(({ dataset }) => dataset.numbers.split(' ').map(Number))"
        )
        heights = sentence.box.locator("[data-output] > rect:first-child").evaluate_all(
            "all => all.map((each) => each.getBoundingClientRect().top)"
        )
        return np.array(found), np.subtract(heights, heights[-1])  # above the mean, which stays

    sentence.expected("none")  # it loads the words' vectors
    x = np.array(tab.evaluate("words => words.map(attention.vectorOf)", sentence.words))
    before, at = outputs()
    weights = sentence.weights()
    np.testing.assert_allclose(weights, sentence.expected("none"), atol=1e-6)
    np.testing.assert_allclose(before, [*weights @ x, (weights @ x).mean(axis=0)], atol=1e-6)
    assert at[0] < at[1] < at[2] < 0
    drag_word(sentence, "dog", "cat", +8)
    assert sentence.words == ["chases", "cat", "dog"]
    tab.wait_for_timeout(700)  # they are on their way
    after, now = outputs()
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-12)
    np.testing.assert_allclose(now, [at[2], at[0], at[1], at[3]], atol=1)
    expect(sentence.verdict).to_contain_text("The same rows in other places")
    assert tab.complaints == []


def drag_word(sentence, word: str, beside: str, by: float) -> None:
    sentence.word(word).scroll_into_view_if_needed()
    sentence.tab.mouse.move(*middle(sentence.word(word)))
    sentence.tab.mouse.down()
    x, y = middle(sentence.word(beside))
    sentence.tab.mouse.move(x + by, y, steps=12)
    sentence.tab.mouse.up()


def test_any_sentence_can_be_typed(sentence):
    every = "".join(map(chr, range(32, 127)))
    sentence.type(every)
    assert sentence.field.input_value() == every
    assert not sentence.tab.locator("#pst-search-dialog").evaluate("dialog => dialog.open")
    sentence.type("x")
    expect(sentence.box.locator(".posenc-task")).to_have_text("Write at least two words.")
    sentence.type("<b>bold</b> a&b")
    assert sentence.words == ["b", "bold", "b", "a", "b"]
    sentence.type("a b c d e f g h i j k")
    assert len(sentence.words) == 9
    expect(sentence.box.locator(".posenc-task")).to_contain_text("room for 9 words")
    sentence.type("Donaudampfschifffahrt schläft")
    assert sentence.tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    sentence.type("狗追猫")
    assert "".join(sentence.words) == "狗追猫"
    assert sentence.tab.complaints == []


def test_a_cell_says_what_it_shows(sentence):
    cell = sentence.box.locator("[data-from='4'][data-to='1']")
    cell.scroll_into_view_if_needed()
    sentence.tab.mouse.move(*middle(cell))
    share = f"{100 * sentence.weights()[4, 1]:.3g}"
    expect(sentence.box.locator(".posenc-reading")).to_have_text(
        f"“cat” gives “dog” {share}% of its attention."
    )


def test_the_arrow_keys_go_from_cell_to_cell_of_the_map(sentence):
    field = sentence.box.locator(".posenc-cells")
    field.focus()
    sentence.tab.keyboard.press("End")
    sentence.tab.keyboard.press("ArrowDown")
    share = f"{100 * sentence.weights()[1, 4]:.3g}"
    told = f"“dog” gives “cat” {share}% of its attention."
    expect(sentence.box.locator(".posenc-tip")).to_have_text(told)
    expect(sentence.box.locator(".posenc-tip")).to_be_visible()
    assert field.get_attribute("aria-valuetext") == told


# Where the reader was, and the map.


def keep(tab, kind: str, name: str, **record) -> None:
    record |= {"updated": tab.evaluate("new Date().toISOString()")}
    tab.evaluate(
        "([key, record]) => localStorage.setItem(key, JSON.stringify(record))",
        [f"posenc:1:{kind}:{name}", record],
    )


WRITTEN = {"code": "x", "starter": "y", "attempts": 1, "hints": 0, "passed": False, "solutionShown": False}


def test_the_page_leads_back_to_what_was_done_last(newcomer, plain_address):
    context = newcomer()
    tab = open_page(context, plain_address)
    go_on = tab.get_by_role("link", name="Continue where you were")
    expect(tab.get_by_role("link", name="Start with chapter 1")).to_be_visible()
    expect(go_on).to_be_hidden()
    keep(tab, "exercise", "02-the-formula.to_split", **WRITTEN)
    tab.reload()
    expect(go_on).to_have_text(re.compile("^Continue where you were: 2. The formula, “.+”$"))
    chapter = open_page(context, plain_address, "book/01-why-order-matters.html")
    box = chapter.locator(".posenc-predict").first
    box.get_by_role("button", name="Show me").click()
    expect(go_on).to_have_text("Continue where you were: 1. Why order matters")  # another tab heard of it
    place = box.get_attribute("id")
    go_on.click()
    tab.wait_for_url(f"**/01-why-order-matters.html#{place}")
    assert tab.complaints == []


def test_the_map_numbers_the_exercises_under_their_doors_and_fills_them(tab):
    doors = tab.locator(".posenc-map .posenc-door")
    assert doors.evaluate_all("all => all.map((door) => door.dataset.door)")[:3] == [
        "added",
        "rotated",
        "biased",
    ]
    chapters = {each.chapter for each in all_exercises()}
    nodes = tab.locator(".posenc-map [data-number]")
    numbers = nodes.evaluate_all("all => all.map((node) => node.dataset.number)")
    assert len(set(numbers)) == len(numbers) == len(wholes(all_exercises()))
    assert {number.partition(".")[0] for number in numbers} == {str(int(name[:2])) for name in chapters}
    colours = "node => getComputedStyle(node, '::before').backgroundColor"
    first = tab.locator("[data-exercise='01-why-order-matters.same_bag']")
    open_colour = first.evaluate(colours)
    keep(tab, "exercise", "01-why-order-matters.same_bag", **WRITTEN | {"passed": True})
    keep(tab, "exercise", "06-rotary.turn_pair", **WRITTEN | {"passed": True})
    tab.reload()
    expect(first).to_have_attribute("data-state", "passed")
    tab.wait_for_function(
        "([node, before]) => getComputedStyle(node, '::before').backgroundColor !== before",
        arg=[first.element_handle(), open_colour],
    )
    half = tab.locator("[data-steps^='06-rotary.turn_pair ']")
    assert half.evaluate("node => node.style.getPropertyValue('--share')") == "0.5"
    assert half.evaluate("node => node.dataset.state") == "tried"
    assert doors.nth(1).evaluate("door => door.style.getPropertyValue('--share')") == "0"
    assert float(doors.nth(0).evaluate("door => door.style.getPropertyValue('--share')")) > 0


def test_a_node_says_its_name_and_leads_to_its_exercise(tab):
    node = tab.locator("[data-exercise='02-the-formula.frequencies'] a")
    name = node.locator(".posenc-name")
    assert name.bounding_box()["width"] < 5
    node.hover()
    assert name.bounding_box()["width"] > 100
    tab.mouse.move(0, 0)
    node.focus()
    assert name.bounding_box()["width"] > 100
    assert name.inner_text() == "One frequency per pair"
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/02-the-formula.html#exercise-frequencies")


def test_the_page_of_a_notebook_shows_how_far_one_is(newcomer, plain_address):
    tab = open_page(newcomer(), plain_address, "exercises/06-rotary/06-rotary.html")
    nodes = tab.locator(".posenc-map [data-number]")
    expect(nodes).to_have_count(len(wholes(each for each in all_exercises() if each.chapter == "06-rotary")))
    keep(tab, "exercise", "06-rotary.is_relative", **WRITTEN | {"passed": True})
    tab.reload()
    node = tab.locator("[data-exercise='06-rotary.is_relative']")
    expect(node).to_have_attribute("data-state", "passed")
    node.locator("a").click()
    tab.wait_for_url("**/book/06-rotary.html#exercise-is-relative")


def test_without_scripts_the_page_can_be_read(newcomer, plain_address):
    tab = newcomer(java_script_enabled=False).new_page()
    tab.goto(f"{plain_address}/{PAGE}")
    expect(tab.locator(".posenc-hand")).to_have_count(8)
    expect(tab.get_by_role("link", name="Start with chapter 1")).to_be_visible()
    expect(tab.get_by_role("link", name="Continue where")).to_be_hidden()
    assert "The dog chases the cat" in tab.locator("main noscript").inner_text()
    assert tab.locator(".posenc-map a").count() > 50
