"""The first page: what it weighs and shows, a sentence of the reader's own, the way back, and the cards.

A person's hands: keys one by one, a mouse that moves, a thumb that drags.
"""

from __future__ import annotations

import re
import struct
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from benchmarks.pages import BUDGETS, first_view
from posenc_course.checking import report_on
from posenc_course.exercises import all_exercises, wholes
from posenc_lib import alibi_bias, apply_rotary, attention, sinusoidal
from tests.browser.conftest import served, unfold, wait_for_fonts

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGE = "book/index.html"
SCRIPTS = ROOT / "book" / "web" / "src"
CHAPTER = "book/01-why-order-matters.html"
DOORS = ("none", "added", "rotated", "biased")
DESK, PHONE = {"width": 1366, "height": 768}, {"width": 390, "height": 844}
SAME = "Not one number changes."
OTHER = "Now the order counts:"


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
    assert {"main.js", "site.css"} <= weight.names(), "nothing was weighed"


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

    app: Any = SimpleNamespace(
        config=SimpleNamespace(
            html_baseurl="https://book.example/posenc", root_doc="book/index", html_title="T"
        )
    )
    context: dict[str, Any] = {"title": "A chapter", "pathto": lambda path, resource: f"../{path}"}
    lean._say_what_is_shared(app, "book/x", "page.html", context, new_document("x"))
    assert context["posenc_shared"]["picture"] == "https://book.example/posenc/_static/preview.png"
    app.config.html_baseurl = ""
    lean._say_what_is_shared(app, "book/x", "page.html", context, new_document("x"))
    assert context["posenc_shared"]["picture"] == "../_static/preview.png"


# The clocks.


def test_a_hand_that_no_eye_can_follow_is_blurred(browser, plain_address):
    # Of its own, since no other test shall have its clock; and still until it is asked to play.
    tab = browser.new_context(viewport=DESK, reduced_motion="reduce").new_page()
    tab.clock.install()
    tab.goto(f"{plain_address}/{PAGE}", wait_until="load")
    picture = tab.locator(".posenc-hero-picture")
    picture.scroll_into_view_if_needed()
    tab.clock.pause_at(tab.evaluate("Date.now() / 1000") + 600)  # from here on, only the test moves the clock
    picture.get_by_role("button", name="Play the picture").click()
    expect(picture.get_by_role("button")).to_have_text("Pause the picture")
    for milliseconds, blurred in ((2_000, False), (24_000, True)):
        tab.clock.run_for(milliseconds)
        assert bool(picture.locator(".posenc-blurred").count()) == blurred


# The first screen.


def of_a_phone(**settings):
    return {"viewport": PHONE, "has_touch": True, "is_mobile": True} | settings


SIZES = pytest.mark.parametrize("settings", [{"viewport": DESK}, of_a_phone()], ids=["desk", "phone"])


@SIZES
def test_the_first_screen_says_what_it_is_and_has_something_to_touch(newcomer, plain_address, settings):
    tab = open_page(newcomer(**settings), plain_address)
    orders = Orders(tab)
    wait_for_fonts(tab)
    bottom = settings["viewport"]["height"]
    name, said = tab.locator(".posenc-hero > p").all()
    expect(said).to_contain_text("interactive course")
    button = tab.get_by_role("link", name="Start with chapter 1")
    lines = [orders.box.locator(".posenc-order").nth(line) for line in range(2)]
    for part in (
        tab.locator(".bd-article h1"),
        name,
        said,
        button,
        orders.field,
        *lines,
        orders.doors,
        orders.verdict,
    ):
        box = part.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= bottom, part
    assert tab.locator(".posenc-start").count() == 1
    assert tab.evaluate("scrollY") == 0


@SIZES
def test_what_scripts_fill_moves_nothing(newcomer, plain_address, settings):
    tab = newcomer(**settings).new_page()
    tab.add_init_script(
        """window.shifted = 0;
        new PerformanceObserver((list) => {
          for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifted += each.value;
        }).observe({ type: "layout-shift", buffered: true });"""
    )
    tab.goto(f"{plain_address}/{PAGE}", wait_until="networkidle")
    keep(tab, "place", "03-relative-position", section="", fragment="")
    for _ in range(2):  # a newcomer, and somebody who comes back
        Orders(tab)
        tab.locator(".posenc-passed progress").first.wait_for()
        assert tab.evaluate("shifted") < 0.05
        tab.reload(wait_until="networkidle")


def test_nothing_is_wider_than_the_smallest_phone(newcomer, plain_address):
    tab = open_page(newcomer(**of_a_phone(viewport={"width": 320, "height": 640})), plain_address)
    Orders(tab).type("Donaudampfschifffahrtsgesellschaft schläft heute besonders lange")
    assert tab.evaluate("document.documentElement.scrollWidth") == 320


# The picture of hands.

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
    assert tab.evaluate(moves, ".posenc-orders .posenc-word") == "0s"


# The reader's own sentence.


def _in_one(script: str, other: str) -> str:
    """A script with another that it imports in the place of the import."""
    code = (SCRIPTS / script).read_text()
    line = next(each for each in code.splitlines() if each.startswith("import") and f'"{other}"' in each)
    return code.replace(line, (SCRIPTS / other).read_text())


def vectors(tab, words: list[str]) -> np.ndarray:
    """Of the words, and with them the scripts' attention at hand as `attention`."""
    if not tab.evaluate("'attention' in window"):
        tab.evaluate(
            "code => import(`data:text/javascript,${encodeURIComponent(code)}`)"
            ".then((found) => { window.attention = found })",
            _in_one("attention.js", "./random.js"),
        )
    return np.array(tab.evaluate("words => words.map(attention.vectorOf)", words))


def expected(tab, words: list[str], door: str) -> np.ndarray:
    """What posenc_lib makes of the words in this order."""
    x = vectors(tab, words)
    query, key = (np.array(tab.evaluate(f"attention.MATRICES.{name}")) for name in ("query", "key"))
    at = np.arange(len(x))
    if door == "added":
        x = x + sinusoidal(at, x.shape[1])
    rotate = (lambda vectors: apply_rotary(vectors, at)) if door == "rotated" else None
    bias = None
    if door == "biased":
        bias = alibi_bias(1, at, at, causal=False, slopes=[1 / 2], slopes_after=[1 / 4])[0]
    q, k = x @ query.T, x @ key.T
    return np.asarray(attention(q, k, x, rotate=rotate, bias=bias, return_weights=True)[1])


class Typed:
    """A sentence that is typed, and the row of its words that can be moved."""

    place: str

    def __init__(self, tab):
        self.tab = tab
        self.box = tab.locator(self.place)
        self.row = self.box.locator(".posenc-words").last
        self.row.locator(".posenc-word").first.wait_for()
        self.field = tab.get_by_label("Your sentence")
        self.verdict = self.box.locator(".posenc-verdict")

    @property
    def words(self) -> list[str]:
        return self.row.locator(".posenc-word").all_inner_texts()

    def word(self, text: str):
        return self.row.get_by_role("button", name=text, exact=True)

    def type(self, text: str) -> None:
        self.field.click()
        self.tab.keyboard.press("Control+a")
        self.tab.keyboard.type(text)

    def order(self) -> list[int]:
        """Which typed word is at each place."""
        chips = self.row.locator(".posenc-word")
        return [int(word) for word in chips.evaluate_all("all => all.map((chip) => chip.dataset.word)")]


class Sentence(Typed):
    """With its map, in chapter 1."""

    place = ".posenc-sentence"

    def weights(self) -> np.ndarray:
        """As the cells say them, in the order in which the words were typed."""
        cells = self.box.locator("[data-from]").evaluate_all(
            "all => all.map(({ dataset }) => [dataset.from, dataset.to, dataset.weight].map(Number))"
        )
        count = len(self.words)
        found = np.full((count, count), np.nan)
        for row, column, weight in cells:
            found[int(row), int(column)] = weight
        return found


class Orders(Typed):
    """In two orders, on the first page."""

    place = ".posenc-orders"

    def __init__(self, tab):
        super().__init__(tab)
        self.first = self.box.locator(".posenc-words").first
        self.doors = self.box.get_by_role("group", name="Positions")

    def open(self, door: str) -> None:
        self.doors.get_by_role("radio", name=door).click()

    def shares(self) -> list[np.ndarray]:
        """Of both lines what each word gets, in the order in which the words are there."""
        return [
            np.array(
                [
                    float(w)
                    for w in line.locator("li").evaluate_all("all => all.map((li) => li.dataset.weight)")
                ]
            )
            for line in (self.first, self.row)
        ]

    def arcs(self) -> list[str]:
        return self.box.locator(".posenc-arcs").evaluate_all("all => all.map((each) => each.innerHTML)")

    def says_told(self) -> bool:
        return self.verdict.get_attribute("data-told") == "true"


@pytest.fixture
def orders(tab):
    return Orders(tab)


@pytest.fixture
def sentence(newcomer, plain_address):
    return Sentence(open_page(newcomer(), plain_address, CHAPTER))


def middle(place) -> tuple[float, float]:
    box = place.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_both_lines_show_the_numbers_of_the_library(orders):
    for typed in ("one two", "Zwölf Boxer jagen Viktor quer"):
        orders.type(typed)
        words = typed.split()
        assert orders.words == words[::-1]
        orders.word(words[-1]).press("ArrowRight")
        for door in DOORS:
            orders.open(door)
            for asking in words:
                orders.first.get_by_role("button", name=asking, exact=True).click()
                lines = zip((words, orders.words), orders.shares(), strict=True)
                for line, shown in lines:
                    wanted = expected(orders.tab, line, door)[line.index(asking)]
                    np.testing.assert_allclose(shown, wanted, rtol=0, atol=1e-9)
    assert orders.tab.complaints == []


def test_only_a_position_tells_one_order_from_another(orders):
    orders.type("dog chases cat")
    orders.word("dog").press("Home")
    orders.word("chases").press("ArrowLeft")
    orders.word("dog").press("Home")
    assert orders.words == ["dog", "chases", "cat"]
    expect(orders.verdict).to_contain_text("Both lines read the same now.")
    seen = set()
    for word in ("dog", "dog", "chases", "chases", "cat"):  # one place to the right each: all other orders
        orders.open("none")
        orders.word(word).press("ArrowRight")
        seen.add(tuple(orders.words))
        expect(orders.verdict).to_contain_text(SAME)
        orders.first.get_by_role("button", name="dog", exact=True).click()
        for door in DOORS[1:]:
            orders.open(door)
            if orders.says_told():
                expect(orders.verdict).to_contain_text(OTHER)
            else:
                expect(orders.verdict).to_contain_text("happen to look the same")
    assert len(seen) == 5


def test_a_sentence_is_typed_key_by_key_and_the_picture_follows(newcomer, plain_address):
    tab = open_page(newcomer(viewport=DESK), plain_address)
    orders = Orders(tab)
    before = orders.arcs()
    assert before[0].count("<path") == before[1].count("<path") == 4
    orders.field.click()
    tab.keyboard.press("Control+a")
    pictures = []
    for key in "Kim sees Ann":
        tab.keyboard.press("Space" if key == " " else key)
        pictures.append(tuple(orders.arcs()))
    assert orders.first.locator(".posenc-word").all_inner_texts() == ["Kim", "sees", "Ann"]
    assert orders.words == ["Ann", "sees", "Kim"]
    assert pictures[0] == tuple(before)  # one word is no sentence yet
    assert len(set(pictures[4:])) == len("sees Ann") - 1  # the second space adds nothing
    expect(orders.verdict).to_have_text(re.compile(SAME))
    tab.keyboard.press("Tab")  # and on, by keyboard alone, to the positions
    while tab.evaluate("document.activeElement.type") != "radio":
        tab.keyboard.press("Tab")
    tab.keyboard.press("ArrowRight")
    expect(orders.verdict).to_contain_text(OTHER)
    assert orders.says_told()
    assert tab.evaluate("scrollY") == 0
    assert tab.complaints == []


def test_what_was_typed_keeps_its_order_while_a_word_grows(orders):
    assert orders.words == ["The", "cat", "chases", "the", "dog"]
    orders.field.click()
    orders.tab.keyboard.press("End")
    orders.tab.keyboard.type("s")
    assert orders.words == ["The", "cats", "chases", "the", "dog"]
    orders.tab.keyboard.type(" now")
    assert orders.words == ["now", "cats", "the", "chases", "dog", "The"]


def test_a_tap_on_a_word_asks_it(newcomer, plain_address):
    tab = open_page(newcomer(**of_a_phone()), plain_address)
    orders = Orders(tab)
    before = orders.shares()
    orders.first.get_by_role("button", name="cat", exact=True).tap()
    expect(orders.box.locator(".posenc-words-title").first).to_contain_text("where “cat” looks")
    for shown, line in zip(
        orders.shares(), (["The", "dog", "chases", "the", "cat"], orders.words), strict=True
    ):
        np.testing.assert_allclose(shown, expected(tab, line, "none")[line.index("cat")], atol=1e-9)
    assert not np.allclose(orders.shares()[0], before[0])
    orders.open("rotated")
    expect(orders.verdict).to_contain_text(OTHER)
    numbers = orders.row.locator("li").evaluate_all("all => all.map((li) => li.dataset.share)")
    assert any(each.startswith(("▲", "▼")) for each in numbers)
    assert tab.complaints == []


def test_a_mouse_drags_a_word_to_another_place_and_no_number_changes(orders):
    before = dict(zip(orders.order(), orders.shares()[1], strict=True))
    for word, beside, order in (
        ("cat", "the", ["The", "chases", "cat", "the", "dog"]),
        ("dog", "The", ["dog", "The", "chases", "cat", "the"]),
    ):
        orders.tab.mouse.move(*middle(orders.word(word)))
        orders.tab.mouse.down()
        x, y = middle(orders.word(beside))
        orders.tab.mouse.move(x - 8, y, steps=12)
        orders.tab.mouse.up()
        assert orders.words == order
        orders.tab.mouse.move(x - 8, y + 300, steps=3)  # let go, it stays
        assert orders.words == order
    after = dict(zip(orders.order(), orders.shares()[1], strict=True))
    orders.word("cat").click()
    orders.word("dog").click()  # the one that was asked at first
    after = dict(zip(orders.order(), orders.shares()[1], strict=True))
    assert after == pytest.approx(before, abs=1e-12)
    expect(orders.verdict).to_contain_text(SAME)
    assert orders.tab.complaints == []


def test_a_thumb_drags_a_word_and_not_the_page(newcomer, plain_address):
    tab = open_page(newcomer(**of_a_phone()), plain_address)
    orders = Orders(tab)
    thumb = tab.context.new_cdp_session(tab)
    (x, y), (to_x, to_y) = middle(orders.word("cat")), middle(orders.word("the"))

    def touch(kind: str, *points: tuple[float, float]) -> None:
        at = [{"x": across, "y": down} for across, down in points]
        thumb.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})

    touch("touchStart", (x, y))
    for step in range(1, 11):
        touch("touchMove", (x + (to_x + 8 - x) * step / 10, y + (to_y - y) * step / 10))
    touch("touchEnd")
    expect(orders.row.locator(".posenc-word")).to_have_text(["The", "chases", "the", "cat", "dog"])
    assert tab.evaluate("scrollY") == 0
    orders.word("dog").tap()
    tab.get_by_role("button", name="Move it left").tap()
    expect(orders.row.locator(".posenc-word")).to_have_text(["The", "chases", "the", "dog", "cat"])
    assert tab.complaints == []


def test_the_arrow_keys_move_the_word_that_has_the_focus(orders):
    orders.first.get_by_role("button").last.focus()
    while not orders.word("cat").evaluate("chip => chip === document.activeElement"):
        orders.tab.keyboard.press("Tab")
    cat = orders.word("cat")
    for key, order in (
        ("ArrowRight", "The chases cat the dog"),
        ("End", "The chases the dog cat"),
        ("ArrowRight", "The chases the dog cat"),
        ("ArrowLeft", "The chases the cat dog"),
        ("Home", "cat The chases the dog"),
    ):
        orders.tab.keyboard.press(key)
        assert orders.words == order.split()
        expect(cat).to_be_focused()
    expect(orders.verdict).to_contain_text("“cat” is now word 1 of 5.")
    expect(orders.verdict).to_have_attribute("role", "status")
    orders.tab.keyboard.press("Tab")
    expect(orders.word("The")).to_be_focused()


def test_any_sentence_can_be_typed(orders):
    every = "".join(map(chr, range(32, 127)))
    orders.type(every)
    assert orders.field.input_value() == every
    assert not orders.tab.locator("#pst-search-dialog").evaluate("dialog => dialog.open")
    orders.type("x")
    expect(orders.box.locator(".posenc-task")).to_have_text("Write at least two words.")
    orders.type("<b>bold</b> a&b")
    assert orders.words == ["b", "a", "b", "bold", "b"]
    orders.type("a b c d e f g h i j k")
    assert len(orders.words) == 9
    expect(orders.box.locator(".posenc-task")).to_contain_text("room for 9 words")
    orders.type("Donaudampfschifffahrt schläft")
    assert orders.tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    orders.type("狗追猫")
    assert "".join(reversed(orders.words)) == "狗追猫"
    assert orders.tab.complaints == []


# With its map, in chapter 1.


def test_rows_of_numbers_go_with_their_words_and_their_mean_stays(sentence):
    tab = sentence.tab
    assert sentence.words == ["dog", "chases", "cat"]

    def outputs():
        found = sentence.box.locator("[data-output]").evaluate_all(
            "all => all.map(({ dataset }) => dataset.numbers.split(' ').map(Number))"
        )
        heights = sentence.box.locator("[data-output] > rect:first-child").evaluate_all(
            "all => all.map((each) => each.getBoundingClientRect().top)"
        )
        return np.array(found), np.subtract(heights, heights[-1])  # above the mean, which stays

    x = vectors(tab, sentence.words)
    before, at = outputs()
    weights = sentence.weights()
    np.testing.assert_allclose(weights, expected(tab, sentence.words, "none"), atol=1e-6)
    np.testing.assert_allclose(before, [*weights @ x, (weights @ x).mean(axis=0)], atol=1e-6)
    assert at[0] < at[1] < at[2] < 0
    drag_word(sentence, "dog", "cat", +8)
    assert sentence.words == ["chases", "cat", "dog"]
    tab.wait_for_function(  # they are on their way
        "!document.querySelector('.posenc-attention svg').getAnimations({ subtree: true }).length"
    )
    after, now = outputs()
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-12)
    np.testing.assert_allclose(now, [at[2], at[0], at[1], at[3]], atol=1)
    expect(sentence.verdict).to_contain_text("The same rows in other places")
    sentence.box.get_by_role("button", name="As I typed it").click()
    assert sentence.words == ["dog", "chases", "cat"]
    sentence.box.get_by_role("button", name="Turn the sentence round").click()
    assert sentence.words == ["cat", "chases", "dog"]
    assert tab.complaints == []


def drag_word(sentence, word: str, beside: str, by: float) -> None:
    sentence.word(word).scroll_into_view_if_needed()
    sentence.tab.mouse.move(*middle(sentence.word(word)))
    sentence.tab.mouse.down()
    x, y = middle(sentence.word(beside))
    sentence.tab.mouse.move(x + by, y, steps=12)
    sentence.tab.mouse.up()


def test_a_cell_says_what_it_shows(sentence):
    cell = sentence.box.locator("[data-from='2'][data-to='0']")
    cell.hover()
    share = f"{round(100 * sentence.weights()[2, 0], 1):.3g}"
    expect(sentence.box.locator(".posenc-reading")).to_have_text(
        f"“cat” gives “dog” {share}% of its attention."
    )


def test_the_arrow_keys_go_from_cell_to_cell_of_the_map(sentence):
    field = sentence.box.locator(".posenc-field")
    field.focus()
    sentence.tab.keyboard.press("End")
    sentence.tab.keyboard.press("ArrowDown")
    share = f"{round(100 * sentence.weights()[1, 2], 1):.3g}"
    told = f"“chases” gives “cat” {share}% of its attention."
    expect(sentence.box.locator(".posenc-tip")).to_have_text(told)
    expect(sentence.box.locator(".posenc-tip")).to_be_visible()
    assert field.get_attribute("aria-valuetext") == told


# Where the reader was, and the chapters.


def keep(tab, kind: str, name: str, **record) -> None:
    record |= {"updated": tab.evaluate("new Date().toISOString()")}
    tab.evaluate(
        "([key, record]) => localStorage.setItem(key, JSON.stringify(record))",
        [f"posenc:1:{kind}:{name}", record],
    )


WRITTEN = {"code": "x", "starter": "y", "attempts": 1, "hints": 0, "passed": False, "solutionShown": False}


def test_the_main_button_leads_back_to_the_section_that_was_left(newcomer, plain_address):
    context = newcomer(viewport=DESK)
    tab = open_page(context, plain_address)
    button = tab.locator(".posenc-start")
    expect(button).to_have_text("Start with chapter 1" + "1. Why order matters")
    tab.get_by_role("link", name="3. Relative position").last.click()
    tab.wait_for_url("**/03-relative-position.html")
    heading = tab.locator(".bd-article section section > h2").nth(2)
    title = heading.evaluate("heading => heading.firstChild.textContent")
    section = heading.locator("xpath=..").get_attribute("id")
    tab.wait_for_load_state("networkidle")  # the script that notes the place is there
    heading.evaluate("heading => heading.scrollIntoView({ block: 'start', behavior: 'instant' })")
    tab.goto(f"{plain_address}/{PAGE}")
    expect(button).to_have_text(f"Continue where you were3. Relative position: {title}")
    assert tab.locator(".posenc-start").count() == 1
    expect(tab.get_by_text("Start with chapter 1")).to_have_count(0)
    button.click()
    tab.wait_for_url(f"**/03-relative-position.html#{section}")
    expect(heading).to_be_in_viewport()
    assert tab.complaints == []


def test_a_chapter_left_at_an_exercise_is_left_in_the_section_around_it(newcomer, plain_address):
    """An exercise is a section without a heading: it has no title to tell."""
    tab = open_page(newcomer(viewport=DESK), plain_address, "book/02-the-formula.html")
    exercise = tab.locator("#exercise-to-split")
    unfold(exercise)
    around = exercise.locator("xpath=ancestor::section[@id][h2 or h3][1]")
    title = around.locator("h2, h3").first.evaluate("heading => heading.firstChild.textContent")
    section = around.get_attribute("id")
    tab.wait_for_load_state("networkidle")  # the script that notes the place is there
    exercise.evaluate("box => box.scrollIntoView({ block: 'start', behavior: 'instant' })")
    tab.goto(f"{plain_address}/{PAGE}")
    button = tab.locator(".posenc-start")
    expect(button).to_have_text(f"Continue where you were2. The formula: {title}")
    assert button.evaluate("link => link.hash") == f"#{section}"
    assert tab.complaints == []


def test_work_of_an_earlier_site_is_found_again_and_forgotten_when_it_is_deleted(newcomer, plain_address):
    context = newcomer()
    tab = open_page(context, plain_address)
    button = tab.locator(".posenc-start")
    keep(tab, "exercise", "02-the-formula.to_split", **WRITTEN)
    tab.reload()
    expect(button).to_have_text("Continue where you were2. The formula")
    assert button.evaluate("link => link.hash") == "#exercise-to-split"
    other = open_page(context, plain_address, "book/progress.html")
    other.get_by_role("button", name="Delete my work").click()
    other.get_by_role("button", name="Delete everything").click()
    expect(button).to_contain_text("Start with chapter 1")
    assert button.evaluate("link => link.hash") == ""


def test_a_chapter_left_in_another_tab_is_the_way_back(newcomer, plain_address):
    context = newcomer()
    tab = open_page(context, plain_address)
    chapter = open_page(context, plain_address, CHAPTER)
    chapter.wait_for_load_state("networkidle")
    chapter.goto(f"{plain_address}/book/glossary.html")
    expect(tab.locator(".posenc-start")).to_have_text("Continue where you were1. Why order matters")


CARDS = ".posenc-chapter-card"


def test_a_card_counts_what_was_passed(newcomer, plain_address):
    context = newcomer()
    tab = open_page(context, plain_address)
    passed = tab.locator(f"{CARDS}[data-chapter='01-why-order-matters'] .posenc-passed")
    total = len([each for each in wholes(all_exercises()) if each[0].chapter == "01-why-order-matters"])
    expect(passed).to_have_text(f"0 of {total} exercises passed")
    other = open_page(context, plain_address, "book/glossary.html")
    keep(other, "exercise", "01-why-order-matters.same_bag", **WRITTEN | {"passed": True})
    keep(other, "exercise", "06-rotary.turn_pair", **WRITTEN | {"passed": True})  # the first of two steps
    expect(passed).to_have_text(f"1 of {total} exercises passed")
    assert passed.locator("progress").evaluate("bar => bar.value") == 1
    assert passed.locator("progress").bounding_box()["height"] <= 6
    expect(tab.locator(f"{CARDS}[data-chapter='06-rotary'] .posenc-passed")).to_contain_text("0 of")


def test_a_card_is_one_link_all_over_and_shows_the_focus(tab):
    card = tab.locator(f"{CARDS}[data-chapter='04-extrapolation']")
    outline = "card => getComputedStyle(card).outlineStyle"
    assert card.evaluate(outline) == "none"
    tab.locator(f"{CARDS}[data-chapter='03-relative-position'] a").focus()
    tab.keyboard.press("Tab")
    expect(card.get_by_role("link")).to_be_focused()
    assert card.evaluate(outline) == "solid"
    card.locator("svg").scroll_into_view_if_needed()
    tab.mouse.click(*middle(card.locator("svg")))  # its drawing, far from the title
    tab.wait_for_url("**/04-extrapolation.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_drawing_is_seen_in_its_colours(newcomer, plain_address, scheme):
    tab = open_page(newcomer(color_scheme=scheme), plain_address)
    drawings = tab.locator(f"{CARDS} svg")
    expect(drawings).to_have_count(11)
    strokes = drawings.evaluate_all(
        """all => all.map((svg) => [...svg.querySelectorAll("*")].map((part) => {
          const { stroke, fill } = getComputedStyle(part);
          return stroke !== "none" || fill !== "none";
        }))"""
    )
    assert all(strokes)
    assert all(all(parts) for parts in strokes)
    inks = drawings.evaluate_all(
        "all => all.map((svg) => getComputedStyle(svg.querySelector('.ink')).stroke)"
    )
    assert len(set(inks)) == 1


def test_on_a_phone_cards_are_short_and_one_below_the_other(newcomer, plain_address):
    tab = open_page(newcomer(**of_a_phone()), plain_address)
    boxes = [card.bounding_box() for card in tab.locator(CARDS).all()]
    assert len({box["x"] for box in boxes}) == 1
    assert all(above["y"] + above["height"] <= below["y"] for above, below in pairwise(boxes))
    assert max(box["height"] for box in boxes) < 170


def test_the_named_mistake_is_in_the_judges_own_words(tab):
    proof = tab.locator(".posenc-proof", has_text="A mistake that has a name")
    written = {"np": np}
    exec(proof.locator("pre").inner_text(), written)
    report = report_on("02-the-formula.frequencies", written["frequencies"])
    assert report.mistake is not None
    said = proof.locator(".posenc-judge").inner_text()
    for sentence in (report.headline, *report.explanation):
        assert sentence in said
    proof.get_by_role("link", name="Try the exercise").click()
    tab.wait_for_url("**/02-the-formula.html#exercise-frequencies")


def test_the_map_numbers_the_exercises_under_their_doors_and_fills_them(newcomer, plain_address):
    tab = open_page(newcomer(), plain_address, "book/progress.html")
    doors = tab.locator(".posenc-map .posenc-door")
    titles = doors.evaluate_all("all => all.map((door) => door.firstElementChild.innerText.trim())")
    assert titles == [
        "Added to the input",
        "Rotated into queries and keys",
        "Biased at the scores",
        "All three doors",
    ]
    assert (
        doors.evaluate_all("all => new Set(all.map((door) => door.style.getPropertyValue('--door'))).size")
        == 4
    )
    chapters = {each.chapter for each in all_exercises()}
    nodes = tab.locator(".posenc-map [data-number]")
    numbers = nodes.evaluate_all("all => all.map((node) => node.dataset.number)")
    assert len(set(numbers)) == len(numbers) == len(wholes(all_exercises()))
    assert {number.partition(".")[0] for number in numbers} == {str(int(name[:2])) for name in chapters}
    row = tab.locator("[data-exercise='01-why-order-matters.same_bag']")
    first = tab.locator("[data-chapter='01-why-order-matters'] .posenc-node").get_by_text(
        row.get_attribute("data-number").partition(".")[2], exact=True
    )
    open_colour = first.evaluate("node => getComputedStyle(node).color")
    keep(tab, "exercise", "01-why-order-matters.same_bag", **WRITTEN | {"passed": True})
    keep(tab, "exercise", "06-rotary.turn_pair", **WRITTEN | {"passed": True})
    tab.reload()
    expect(first).to_have_attribute("data-state", "passed")
    tab.wait_for_function(
        "([node, before]) => getComputedStyle(node).color !== before",
        arg=[first.element_handle(), open_colour],
    )
    half = tab.locator("[data-steps^='06-rotary.turn_pair ']")
    assert half.evaluate("node => node.style.getPropertyValue('--share')") == "0.5"
    assert half.evaluate("node => node.dataset.state") == "tried"
    assert doors.nth(1).evaluate("door => door.style.getPropertyValue('--share')") == "0"
    assert float(doors.nth(0).evaluate("door => door.style.getPropertyValue('--share')")) > 0


def test_a_node_says_its_name_and_leads_to_its_exercise(newcomer, plain_address):
    tab = open_page(newcomer(), plain_address, "exercises/02-the-formula/02-the-formula.html")
    node = tab.locator("[data-exercise='02-the-formula.frequencies'] a")
    name = node.locator(".posenc-name")
    seen = "name => name.getBoundingClientRect().width > 100"
    assert name.bounding_box()["width"] < 5
    node.hover()
    tab.wait_for_function(seen, arg=name.element_handle())
    tab.mouse.move(0, 0)
    node.focus()
    tab.wait_for_function(seen, arg=name.element_handle())
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
    expect(tab.locator(CARDS)).to_have_count(11)
    assert re.search(r"^\d+ exercises$", tab.locator(".posenc-passed").first.inner_text())
    assert "The dog chases the cat" in tab.locator("main noscript").inner_text()
    tab.goto(f"{plain_address}/book/progress.html")
    assert tab.locator(".posenc-map a").count() > 50
