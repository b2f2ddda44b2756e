"""Cells of a chapter, tried as a reader tries them: run, changed, broken, stopped, kept and set back."""

from __future__ import annotations

import json
import re
import string

import pytest
from playwright.sync_api import expect

from book.browser_python import NETWORK
from tests.browser.conftest import open_side_trips, served

pytestmark = pytest.mark.slow

FORMULA, RELATIVE = "02-the-formula", "03-relative-position"
READ = "domcontentloaded"
PRINTABLE = string.printable.strip()
COLUMNS = "wave = "  # in a cell that prints one line for each column, and needs what stands above
SETTINGS = "set_printoptions"


class Cell:
    """One cell of an open page, which has this in its code."""

    def __init__(self, tab, text: str):
        self.tab = tab
        self.place = tab.locator(".posenc-tryable", has_text=text).first
        self.whole = tab.locator(".cell", has=self.place)
        self.editor = self.place.locator(".cm-content")
        self.status = self.place.locator(".posenc-status")
        self.result = self.place.locator(".posenc-result")
        self.printed = self.place.locator(".posenc-output pre")
        self.by_the_book = self.whole.locator(".cell_output").first

    def button(self, name: str):
        return self.place.get_by_role("button", name=name, exact=True)

    def open(self) -> Cell:
        if self.editor.count():
            return self
        open_side_trips(self.place)
        self.button("Try it").scroll_into_view_if_needed()
        self.button("Try it").click()
        expect(self.editor).to_be_focused()
        return self

    def write(self, code: str) -> None:
        self.editor.click()
        self.tab.keyboard.press("Control+a")
        self.tab.keyboard.type(code)

    def run(self, code: str | None = None, says: str = "It ran") -> None:
        if code is not None:
            self.write(code)
        self.button("Run").click()
        expect(self.status).to_contain_text(re.compile(says))

    @property
    def code(self) -> str:
        return "\n".join(self.editor.locator(".cm-line").all_inner_texts())

    def kept(self, code: str) -> None:
        """Wait until the browser keeps this code, to the letter."""
        identity = self.place.get_attribute("id").removeprefix("cell-")
        self.tab.wait_for_function(
            "([key, code]) => JSON.parse(localStorage.getItem(key))?.code === code",
            arg=[f"posenc:1:cell:{FORMULA}.{identity}", code],
        )


@pytest.fixture(scope="module")
def chapter(browser, address):
    """Chapter 2, in which Python stays loaded; notes what it asks for."""
    context = browser.new_context(viewport={"width": 900, "height": 700})
    context.requested, context.complaints = [], []
    context.on("request", lambda request: context.requested.append(request.url))
    context.on("weberror", lambda error: context.complaints.append(str(error.error)))
    tab = context.new_page()
    tab.goto(f"{address}/book/{FORMULA}.html", wait_until=READ)
    tab.locator(".posenc-try").first.wait_for(state="attached")
    tell_all(tab)
    yield tab
    assert context.complaints == []
    outside = [url for url in context.requested if not url.startswith((address, "data:", "blob:"))]
    assert [url for url in outside if not url.startswith(NETWORK)] == []  # for what draws, if it is there
    context.close()


def tell_all(tab) -> None:
    """Say what every prediction asks: what a box covers can be tried only then."""
    tab.get_by_role("button", name="Show me").first.wait_for()
    for box in tab.get_by_role("button", name="Show me").all():
        if box.is_visible():
            box.click()


def test_a_cell_is_changed_and_shows_another_output_and_the_book_s_comes_back(chapter):
    cell = Cell(chapter, COLUMNS)
    expect(cell.by_the_book).to_be_visible()
    cell.open()
    book = cell.by_the_book.inner_text()
    before = cell.code
    cell.run()
    expect(cell.by_the_book).to_be_hidden()
    assert cell.printed.inner_text().strip() == book.strip()
    cell.editor.press("Control+Home")
    cell.tab.keyboard.press("End")  # "d = 8"
    cell.tab.keyboard.press("Backspace")
    cell.tab.keyboard.type("4")
    cell.tab.keyboard.press("Control+Enter")
    expect(cell.printed).not_to_contain_text("column 4")
    expect(cell.printed).to_contain_text("column 3: pair i = 1, cosine of pos * 0.010")
    cell.button("Reset").click()
    expect(cell.by_the_book).to_be_visible()
    expect(cell.printed).to_have_count(0)
    assert cell.code == before


def test_the_last_line_is_shown_and_so_is_a_picture_that_the_numbers_change(chapter):
    cell = Cell(chapter, COLUMNS)
    cell.run("worked[1] * 2")  # of a cell above
    expect(cell.result.locator("pre")).to_contain_text("1.6829")
    picture = cell.result.locator("svg[role=img]")
    draw = (
        "from posenc_course.exercises.drawing import heat_map\n"
        "heat_map(sinusoidal({}, 8), rows='', columns='')"
    )
    cell.run(draw.format(20))
    expect(picture).to_have_attribute("aria-label", re.compile("20 rows"))
    assert picture.bounding_box()["width"] > 200
    first = picture.locator("image").first.get_attribute("href")
    cell.run(draw.format(30))
    expect(picture).to_have_attribute("aria-label", re.compile("30 rows"))
    assert picture.locator("image").first.get_attribute("href") != first
    cell.run("silent = 1", "It ran, and shows nothing")


def test_what_a_cell_changes_is_as_it_was_when_it_runs_again(chapter):
    cell = Cell(chapter, COLUMNS)
    for _ in range(2):
        cell.run("worked[0, 0] += 5\ndel np\nprint(worked[0, 0])")
        expect(cell.printed).to_have_text("5.0\n", use_inner_text=False)


def test_a_change_above_is_a_change_below(chapter):
    above, below = Cell(chapter, SETTINGS).open(), Cell(chapter, COLUMNS)
    above.run("import math\nimport numpy as np\nfrom posenc_lib import frequencies, sinusoidal\nmine = 77")
    below.run("mine + 1")
    expect(below.result.locator("pre")).to_have_text("78")
    above.run("mine = 1 / 0", "stopped with an error")
    above.button("Reset").click()
    below.run("mine + 1", "stopped with an error")
    expect(below.result.locator(".posenc-error")).to_contain_text("NameError")


@pytest.mark.parametrize(
    ("code", "error", "line"),
    [
        ("x = 1\ny = [][3]", "IndexError: list index out of range (line 2)", "y = [][3]"),
        ("1 +", "SyntaxError: invalid syntax (line 1)", "1 +"),
        ("import torch", "there is no torch in this page, only NumPy", "import torch"),
        ("input()", "In place of input(), assign the value itself", "input()"),
        ("raise SystemExit", "SystemExit", "raise SystemExit"),
    ],
)
def test_an_error_shows_its_line(chapter, code, error, line):
    cell = Cell(chapter, COLUMNS)
    cell.run(code, "stopped with an error")
    expect(cell.result.locator(".posenc-error")).to_contain_text(error)
    expect(cell.result.locator("pre")).to_have_text(line)


def test_an_endless_loop_is_stopped_and_the_next_run_works(chapter):
    cell = Cell(chapter, COLUMNS)
    cell.write("print('round')\nwhile True:\n    pass")
    cell.tab.keyboard.press("Control+Enter")
    expect(cell.printed).to_contain_text("round")
    cell.button("Stop").click()
    expect(cell.status).to_contain_text("Stopped.")
    cell.run("d = 3\nprint(d)", "It ran")
    expect(cell.printed).to_have_text("3\n", use_inner_text=False)


def test_a_cell_that_is_closed_while_it_runs_ends_and_the_page_is_as_the_book_has_it(chapter):
    """Its Stop goes with it: nobody could end it any more, and every other cell would wait."""
    cell, other = Cell(chapter, COLUMNS).open(), Cell(chapter, SETTINGS).open()
    cell.write("print('round')\nwhile True:\n    pass")
    cell.tab.keyboard.press("Control+Enter")
    expect(cell.printed).to_contain_text("round")
    cell.button("Close").click()
    expect(cell.button("Try it")).to_be_focused()
    expect(cell.by_the_book).to_be_visible()
    other.run("print(6 * 7)")
    expect(other.printed).to_have_text("42\n", use_inner_text=False)
    expect(cell.by_the_book).to_be_visible()
    other.button("Reset").click()
    cell.open().button("Reset").click()


def test_every_character_typed_arrives_and_survives_a_reload(newcomer, plain_address):
    tab = newcomer().new_page()
    tab.goto(f"{plain_address}/book/{FORMULA}.html", wait_until=READ)
    tell_all(tab)
    cell = Cell(tab, COLUMNS).open()
    original = cell.code
    code = f"for n in range(3):\n    print(n)\n\n\n# {PRINTABLE}\nlast = 1"
    cell.write(code)
    cell.kept(code)
    expect(cell.editor).to_be_focused()
    place = cell.place.get_attribute("id")
    tab.reload(wait_until=READ)
    tab.locator(f"#{place}").scroll_into_view_if_needed()  # its editor comes when it is near
    again = Cell(tab, COLUMNS)
    again.place.scroll_into_view_if_needed()
    expect(again.editor).to_be_visible()
    again.kept(code)
    again.editor.press("Control+End")
    tab.keyboard.type("0")
    again.kept(f"{code}0")
    again.button("Close").click()
    expect(again.editor).to_have_count(0)
    again.open()
    again.button("Reset").click()
    assert again.code == original
    tab.reload(wait_until=READ)
    again.button("Try it").wait_for(state="attached")
    expect(again.editor).to_have_count(0)


def test_the_keyboard_alone_is_enough(newcomer, plain_address):
    """Tab goes through, indents once something was typed, and leaves after Escape, as in an exercise."""
    tab = newcomer().new_page()
    tab.goto(f"{plain_address}/book/{FORMULA}.html", wait_until=READ)
    tell_all(tab)
    cell = Cell(tab, COLUMNS)
    cell.button("Try it").focus()
    tab.keyboard.press("Enter")
    expect(cell.editor).to_be_focused()
    described = cell.place.locator(f"#{cell.editor.get_attribute('aria-describedby')}")
    assert "press Escape, then Tab" in described.inner_text()
    tab.keyboard.press("Tab")
    expect(cell.button("Run")).to_be_focused()
    tab.keyboard.press("Shift+Tab")
    expect(cell.editor).to_be_focused()
    tab.keyboard.press("Control+a")
    tab.keyboard.type("if d:\n")
    tab.keyboard.press("Tab")
    tab.keyboard.type("pass")
    assert cell.code == "if d:\n        pass"
    tab.keyboard.press("Escape")
    tab.keyboard.press("Tab")
    expect(cell.button("Run")).to_be_focused()


def test_what_a_prediction_covers_cannot_be_tried_before(newcomer, plain_address):
    tab = newcomer().new_page()
    tab.goto(f"{plain_address}/book/{FORMULA}.html", wait_until=READ)
    cell = Cell(tab, COLUMNS)
    cell.place.scroll_into_view_if_needed()
    expect(cell.button("Try it")).to_be_hidden()
    tell_all(tab)
    expect(cell.button("Try it")).to_be_visible()


def test_a_cell_that_needs_pytorch_says_so_and_offers_the_notebook(newcomer, plain_address):
    tab = newcomer(viewport={"width": 390, "height": 844}, has_touch=True).new_page()
    tab.goto(f"{plain_address}/book/{RELATIVE}.html", wait_until=READ)
    tab.locator(".posenc-try").first.wait_for(state="attached")
    cell = tab.locator(".cell_input", has_text="import torch").first
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    note = cell.locator(".posenc-not-here")
    assert "This cell needs PyTorch, which a browser does not have." in note.text_content()
    assert cell.get_by_role("button", name="Try it").count() == 0
    uri = note.locator("a").evaluate("a => a.href")
    notebook = json.loads(tab.request.get(uri).text())
    sources = ["".join(each["source"]) for each in notebook["cells"] if each["cell_type"] == "code"]
    assert any("import torch" in each for each in sources)
    assert not [each for each in notebook["cells"] if each.get("outputs")]


def test_without_python_the_cell_says_so_and_offers_the_notebook(newcomer, plain_address):
    tab = newcomer().new_page()
    tab.goto(f"{plain_address}/book/{FORMULA}.html", wait_until=READ)
    tell_all(tab)
    cell = Cell(tab, COLUMNS).open()
    expect(cell.status).to_contain_text("Python could not be loaded into this page")
    expect(cell.status).to_contain_text("run the cell in the chapter's notebook:")
    expect(cell.status).not_to_contain_text("Check")  # of exercises
    expect(cell.status.get_by_role("link")).to_have_attribute("href", re.compile(r"\.ipynb$"))


def test_a_page_whose_list_of_cells_is_missing_says_so(browser, site):
    with served(site, without=("/cells/",)) as address:
        tab = browser.new_page()
        tab.goto(f"{address}/book/{FORMULA}.html", wait_until=READ)
        tell_all(tab)
        cell = Cell(tab, COLUMNS).open()
        cell.button("Run").click()
        expect(cell.status).to_contain_text("Python could not be loaded into this page")


def test_a_cell_that_draws_runs_without_matplotlib_and_says_where_the_picture_is(chapter):
    cell = Cell(chapter, COLUMNS).open()
    cell.run(
        "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nprint(6 * 7)\nplt.show()",
    )
    expect(cell.printed).to_have_text("42\n", use_inner_text=False)
    assert [url for url in chapter.context.requested if url.startswith(NETWORK)]
    note = cell.result.locator(".posenc-undrawn")
    expect(note).to_contain_text("Matplotlib could not be loaded into this page")
    expect(note.get_by_role("link")).to_have_attribute("href", re.compile(r"\.ipynb$"))
    cell.run("import matplotlib.pyplot as plt\nx = plt.gca()\nx.plot([1])\n1 / 0", "stopped with an error")
    expect(cell.result.locator(".posenc-error")).to_have_text("ZeroDivisionError: division by zero (line 4)")


def test_the_page_says_which_python_ran_a_cell(chapter):
    cell = Cell(chapter, COLUMNS).open()
    cell.run("1 + 1")
    expect(cell.result.locator(".posenc-ran-by")).to_have_text("Run by the Python 3.13 in this page.")


def test_the_browser_of_these_tests_reaches_no_other_site(newcomer, plain_address):
    """So whatever passes in them needs none."""
    tab = newcomer().new_page()
    tab.goto(f"{plain_address}/book/index.html", wait_until=READ)
    reached = "fetch(address, { mode: 'no-cors' }).then(() => true, () => false)"
    assert not tab.evaluate(f"address => {reached}", NETWORK)
    assert tab.evaluate(f"address => {reached}", plain_address)
