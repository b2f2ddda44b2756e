"""Predict boxes: what shows the answer is covered until the reader has said it, and no box moves then.

A book of two pages of its own: one to read, and one in which every box is wrong.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.axe import axe
from tests.browser.conftest import served, wait_for_fonts
from tests.browser.test_site import SERIOUS_FAULTS
from tests.conftest import load_build
from tests.present import present

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
CONFIG = f"""
import sys
sys.path.insert(0, {str(ROOT / "book" / "_ext")!r})
extensions = ["myst_nb", "live_exercise", "predict", "progress", "challenges"]
html_theme = "sphinx_book_theme"
html_static_path = [{str(ROOT / "book" / "_static")!r}, "_build/web"]
html_css_files = ["posenc.css"]
nb_execution_mode = "force"
nb_execution_raise_on_error = True
exclude_patterns = ["html", "jupyter_execute", "book/web"]
"""
HEAD = (
    "---\njupytext:\n  text_representation:\n    extension: .md\n    format_name: myst\n"
    "kernelspec:\n  display_name: Python 3\n  language: python\n  name: python3\n---\n\n"
)
PAGE = """# Relative position

## Several ways

```{predict} moved-rows
What becomes of the 3 rows?

- [ ] They stay.
  > The *vectors* do. Look at
  > their places.
- [x] They *move*.
- [ ] They are `lost`.
```

Between the box and its cell.

```{code-cell}
for row in range(30):
    print("first", "output", row)
```

```{code-cell}
:tags: [remove-input]
from IPython.display import HTML

HTML(
    "<table><tr><td style='visibility: visible'>second output</td></tr></table>"
    "<a href='#x' style='color: inherit'>a link</a>"
)
```

```{code-cell}
:tags: [remove-cell]
from posenc_course.checking.predictions import outcome

moved, turns = 1, 23.2
outcome("moved-rows", [moved == each for each in (0, 1, 2)])
```

What tells it:

* in a list.

What follows.

## A number

```{predict} how-many
How many?

= 23 ± 3
```

```{predict} how-many-more
And are there more?

- [x] Some.
- [ ] None.
```

```{live-figure} clocks
Look at the hands.
```

It is told here.

```{code-cell}
:tags: [remove-cell]
outcome("how-many", turns)
outcome("how-many-more", [turns > 23, turns <= 23])
```
"""
FAULTS = {
    "wrong-mark": ("- [x] One.\n- [ ] Two.", "option 1 is marked, and true are [2]"),
    "wrong-number": ("= 25 ± 3", "25 is written, and 23.2 came out"),
    "not-computed": ("= 3", "no cell of this page computes it; write outcome('not-computed', ...) in one"),
    "wrong-kind": ("= 3", "it asks for a number, and the cell says [False, True]"),
    "two-paragraphs": ("- [ ] One.\n- [x] Two.\n\n  Three.", "an option is one paragraph"),
    "reason-of-the-right-one": ("- [ ] One.\n- [x] Two.\n  > No.", "the right option has a reason"),
    "Not-an-id": ("= 3", "the id is 'Not-an-id'; write small letters, digits and hyphens"),
    "nothing-to-cover": ("- [ ] One.\n- [x] Two.", "no cell with an output follows in this section"),
}
FAULTY = "# Pitfalls\n\n{boxes}\n\n```{{code-cell}}\n{code}\n```\n".format(
    boxes="\n\n".join(
        f"## {number}\n\n```{{predict}} {name}\nWhat?\n\n{body}\n```"
        for number, (name, (body, _)) in enumerate(FAULTS.items())
    ),
    code="from posenc_course.checking.predictions import outcome\n\noutcome('wrong-number', 23.2)\n"
    + "\n".join(
        f"outcome({name!r}, [False, True])"
        for name in (
            "wrong-mark",
            "wrong-kind",
            "reason-of-the-right-one",
            "two-paragraphs",
            "nothing-to-cover",
        )
    ),
)
READ, NUMBER, OTHER = (f"03-relative-position.{box}" for box in ("moved-rows", "how-many", "how-many-more"))


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """The book as Sphinx made it, and what Sphinx complained of."""
    root = tmp_path_factory.mktemp("predict")
    ignored = shutil.ignore_patterns("node_modules")
    shutil.copytree(ROOT / "book" / "web", root / "book" / "web", ignore=ignored)
    (root / "conf.py").write_text(CONFIG)
    pages = {"03-relative-position": HEAD + PAGE, "05-pitfalls": HEAD + FAULTY}
    pages |= {name: (ROOT / "book" / f"{name}.md").read_text() for name in ("progress", "review")}
    pages |= {"instructors/index": "# For instructors\n"}  # to which one of those leads
    (root / "book" / "instructors").mkdir()
    for name, text in pages.items():
        (root / "book" / f"{name}.md").write_text(text)
    contents = "".join(f"book/{name}\n" for name in pages)
    (root / "index.md").write_text(f"# A book\n\n```{{toctree}}\n{contents}```\n")
    load_build().bundle_scripts(root)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "--quiet", str(root), str(root / "html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    return root / "html", done.stderr


@pytest.fixture(scope="module")
def place(book):
    with served(book[0]) as address:
        yield f"{address}/book"


@pytest.fixture
def context(browser):
    opened = browser.new_context(viewport={"width": 1100, "height": 700})
    yield opened
    opened.close()


@pytest.fixture
def tab(context, place):
    return open_ready(context, place)


def open_page(context, place: str, page: str = "03-relative-position"):
    opened = context.new_page()
    opened.goto(f"{place}/{page}.html", wait_until="load")
    return opened


def open_ready(context, place: str):
    """The chapter, its questions answerable: until its script ran, who clicks an option has said nothing."""
    opened = open_page(context, place)
    expect(opened.locator(".posenc-predict:not(:has(.posenc-guess))")).to_have_count(0)
    return opened


def box(tab, name: str = READ):
    return tab.locator(f".posenc-predict[data-prediction='{name}']")


def option(tab, text: str, name: str = READ):
    return box(tab, name).get_by_role("button", name=text)


def verdict(tab, name: str = READ):
    return box(tab, name).locator(".posenc-foretold")


def readable(tab) -> str:
    """What can be read, searched and heard of the article."""
    return tab.locator("article").inner_text()


def found(tab, text: str) -> bool:
    """Whether the browser's own search finds it."""
    return tab.evaluate("text => { getSelection().removeAllRanges(); return find(text) }", text)


def record(tab, name: str = READ) -> dict | None:
    return json.loads(
        tab.evaluate("name => localStorage.getItem(`posenc:1:prediction:${name}`)", name) or "null"
    )


WHY = "The vectors do. Look at their places."
ANSWERS = ("first output", "second output", "What tells it", "in a list")
REST = ("Between the box and its cell", "for row in range(30)", "What follows")


# What the book is made of.


@pytest.mark.parametrize("name", FAULTS)
def test_a_faulty_box_stops_the_build_and_is_named(book, name):
    said = FAULTS[name][1]
    of_boxes = [line for line in book[1].splitlines() if "predict" in line]
    [line] = [line for line in of_boxes if said in line]
    assert re.search(r"05-pitfalls\.md:\d+: ERROR: ", line)
    assert len(of_boxes) == len(FAULTS), "and the other page has none"


def test_without_scripts_a_box_is_a_question_with_numbered_options_and_all_can_be_read(browser, place):
    tab = open_page(browser.new_context(java_script_enabled=False), place)
    text = readable(tab)
    for part in (*ANSWERS, *REST, "Look at the hands", "It is told here", "How many?"):
        assert part in text
    assert box(tab).locator(".admonition-title").inner_text() == "Predict"
    assert box(tab).locator("ol > li").all_inner_texts() == ["They stay.", "They move.", "They are lost."]
    assert box(tab).get_by_role("button").count() == 0
    assert "Covered" not in text
    assert "23" not in box(tab, NUMBER).inner_text()
    tab.context.close()


def test_where_the_scripts_do_not_come_all_can_be_read(context, book):
    for missing in ("posenc/main.js", "posenc/predict-"):
        with served(book[0], without=(missing,)) as address:
            tab = open_page(context, f"{address}/book")
            tab.wait_for_function("!document.documentElement.classList.contains('posenc-covers')")
            for part in ANSWERS:
                assert part in readable(tab)


def test_on_paper_all_can_be_read_and_nothing_is_given_away(tab):
    option(tab, "They stay.").click()
    tab.emulate_media(media="print")
    text = readable(tab)
    for part in (*ANSWERS, *REST):
        assert part in text
    assert "Show me" not in text
    assert "Covered" not in text
    assert WHY not in text


# To predict.


def test_what_shows_the_answer_is_covered_and_nothing_else(tab):
    covers = tab.get_by_text("Covered until you have predicted it.").filter(visible=True)
    expect(covers).to_have_count(2)  # one for each place, also where two boxes share it
    assert all(cover.bounding_box()["height"] < 50 for cover in covers.all())  # it takes a line
    text, heard = readable(tab), tab.locator("article").aria_snapshot()
    for part in (*ANSWERS, "Look at the hands", "It is told here"):
        assert part not in text
        assert part not in heard
        assert not found(tab, part)
    for part in REST:
        assert part in text
        assert found(tab, part)
    assert text.count("Covered until you have predicted it.") == 2
    # The tab key does not stray below the cover.
    reached = []
    box(tab).get_by_role("button").first.focus()
    for _ in range(12):
        tab.keyboard.press("Tab")
        reached.append(tab.evaluate("document.activeElement.textContent"))
    assert "a link" not in reached


@pytest.mark.parametrize("width", [1100, 390])
def test_one_click_says_it_and_what_was_clicked_stays_where_it_is(browser, place, width):
    context = browser.new_context(viewport={"width": width, "height": 700}, has_touch=width == 390)
    tab = open_ready(context, place)
    press = (lambda it: it.tap()) if width == 390 else (lambda it: it.click())
    chosen = option(tab, "They stay.")
    wait_for_fonts(tab)
    chosen.scroll_into_view_if_needed()
    assert WHY not in readable(tab)
    where = chosen.bounding_box()
    press(chosen)  # to choose is to say it
    expect(verdict(tab)).to_have_text("You said 1; it is 2.")
    assert WHY in box(tab).inner_text()  # why that was tempting
    for part in ANSWERS:
        assert part in readable(tab)
    assert "It is told here" not in readable(tab)  # that is another box's
    assert chosen.bounding_box() == where
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    kept = record(tab)
    assert (present(kept)["said"], present(kept)["right"]) == ("1", False)
    assert not box(tab).get_by_role("button", name="Show me").is_visible()
    assert chosen.is_disabled()
    context.close()


def test_the_keyboard_alone_predicts_a_number(tab):
    field = box(tab, NUMBER).get_by_role("textbox", name="Your number")
    field.focus()
    for typed, said in (("abc", "Write a number first"), ("", "Write a number first")):
        field.press("Control+a")
        field.press("Delete")
        field.press_sequentially(typed)
        field.press("Enter")
        assert said in box(tab, NUMBER).inner_text()
        assert record(tab, NUMBER) is None
    field.press("Control+a")
    field.press_sequentially("2,1")
    field.press("Backspace")
    field.press("Backspace")
    field.press_sequentially("4")
    field.press("Enter")
    assert verdict(tab, NUMBER).inner_text() == "You said 24; it is 23. That is close enough."
    assert present(record(tab, NUMBER))["right"]
    assert tab.evaluate("document.activeElement.textContent") == verdict(tab, NUMBER).inner_text()
    # Two boxes share what follows: it stays covered until both are answered.
    assert "Look at the hands" not in readable(tab)
    option(tab, "None.", OTHER).focus()
    tab.keyboard.press("Shift+Tab")
    assert record(tab, OTHER) is None
    tab.keyboard.press("Enter")
    assert verdict(tab, OTHER).inner_text() == "You said 1, and that is right."
    assert "Look at the hands" in readable(tab)
    assert "It is told here" in readable(tab)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("23", "You said 23, and that is right."),
        ("46/2", "You said 46/2, and that is right."),
        ("26.0", "You said 26.0; it is 23. That is close enough."),
        ("26.1", "You said 26.1; it is 23."),
        ("-23", "You said -23; it is 23."),
    ],
)
def test_a_number_is_judged_within_its_tolerance(tab, typed, said):
    field = box(tab, NUMBER).get_by_role("textbox")
    field.fill(typed)
    field.press("Enter")
    assert verdict(tab, NUMBER).inner_text() == said


def test_show_me_shows_it_and_is_no_prediction(tab):
    box(tab).get_by_role("button", name="Show me").click()
    assert verdict(tab).inner_text() == "It is 2."
    assert "first output" in readable(tab)
    assert present(record(tab))["shown"]
    assert not present(record(tab))["right"]


def test_it_is_still_said_tomorrow_and_can_be_said_again(tab):
    option(tab, "They stay.").click()
    tab.reload()
    expect(verdict(tab)).to_have_text("You said 1; it is 2.")
    assert WHY in box(tab).inner_text()
    assert option(tab, "They stay.").get_attribute("aria-pressed") == "true"
    assert "first output" in readable(tab)
    again = box(tab).get_by_role("button", name="Predict it again")
    again.focus()
    again.press("Enter")
    assert "first output" not in readable(tab)
    assert WHY not in box(tab).inner_text()
    assert tab.evaluate("document.activeElement.textContent") == "They stay."
    assert option(tab, "They stay.").get_attribute("aria-pressed") == "false"
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    assert verdict(tab).inner_text() == "You said 2, and that is right."
    assert present(record(tab))["right"]


def test_what_was_said_of_an_older_box_says_nothing_about_the_new_one(tab):
    box(tab).get_by_role("button", name="Show me").click()
    older = {**present(record(tab)), "text": "another"}
    tab.evaluate("args => localStorage.setItem(...args)", [f"posenc:1:prediction:{READ}", json.dumps(older)])
    tab.reload()
    expect(box(tab).get_by_role("button", name="Show me")).to_be_visible()
    assert "first output" not in readable(tab)


def test_two_tabs_know_what_was_said_in_one(context, place):
    one, other = open_ready(context, place), open_ready(context, place)
    field = box(other, NUMBER).get_by_role("textbox")
    field.press_sequentially("2")  # typed, not said: it stays
    option(one, "They move.").click()
    expect(verdict(other)).to_have_text("You said 2, and that is right.")
    assert "first output" in readable(other)
    assert field.input_value() == "2"
    assert other.evaluate("document.activeElement.value") == "2"  # and the focus where it was


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_box_is_named_heard_and_legible(browser, place, theme):
    context = browser.new_context(color_scheme=theme, viewport={"width": 1100, "height": 900})
    tab = open_ready(context, place)
    group = box(tab).get_by_role("group", name="What becomes of the 3 rows?")
    expect(group.get_by_role("button", name="They move.")).to_have_count(1)
    expect(group.get_by_role("status")).to_have_count(2)
    tab.add_script_tag(path=axe())
    assert tab.evaluate(SERIOUS_FAULTS, "") == []
    option(tab, "They stay.").click()
    assert tab.evaluate(SERIOUS_FAULTS, "") == []
    sign = "row => getComputedStyle(row.querySelector('button'), '::after').content"
    rows = box(tab).locator("ol > li")
    assert "✗" in rows.nth(0).evaluate(sign)  # right and wrong differ by more than colour
    assert "✓" in rows.nth(1).evaluate(sign)
    context.close()


# Where it is kept.


def test_progress_and_review_know_of_it(tab, context, place):
    option(tab, "They stay.").click()
    box(tab, NUMBER).get_by_role("textbox").fill("23")
    box(tab, NUMBER).get_by_role("textbox").press("Enter")
    box(tab, OTHER).get_by_role("button", name="Show me").click()
    progress = open_page(context, place, "progress")
    row = progress.locator(f"[data-predictions*='{READ}']")
    expect(row.locator(".posenc-state")).to_have_text("◐ 2 made, 1 right")
    review = open_page(context, place, "review")
    surprises = review.locator(".posenc-surprise:visible")
    expect(surprises).to_have_count(1)
    assert "One prediction of yours was wrong." in readable(review)
    assert "You said 1; it is 2." in surprises.inner_text()
    assert WHY in surprises.inner_text()
    assert "They move." in surprises.inner_text()
    surprises.get_by_role("link", name="From the chapter “Relative position”").click()
    review.wait_for_url("**/03-relative-position.html#predict-moved-rows")
    box(review).get_by_role("button", name="Predict it again").click()
    option(review, "They move.").click()
    review.go_back()
    expect(review.get_by_text("None of your predictions has been wrong so far.")).to_be_visible()


def test_a_reader_who_predicted_nothing_is_not_told_that_nothing_was_wrong(context, place):
    review = open_page(context, place, "review")
    expect(review.get_by_text("You have not predicted anything yet.")).to_be_visible()
    assert "wrong so far" not in readable(review)


def test_it_goes_into_the_export_comes_back_and_can_be_deleted(tab, context, place, tmp_path):
    option(tab, "They move.").click()
    progress = open_page(context, place, "progress")
    with progress.expect_download() as download:
        progress.get_by_role("button", name="Export my work").click()
    file = tmp_path / "work.json"
    download.value.save_as(file)
    assert json.loads(file.read_text())["records"]["prediction"][READ]["said"] == "2"
    progress.get_by_role("button", name="Delete my work").click()
    progress.get_by_role("button", name="Delete everything").click()
    expect(verdict(tab)).to_have_text("")
    assert "first output" not in readable(tab)  # the other tab covers it again
    with progress.expect_file_chooser() as chooser:
        progress.get_by_role("button", name="Import a file").click()
    chooser.value.set_files(file)
    expect(progress.get_by_text("One entry of the file was imported.")).to_be_visible()
    expect(verdict(tab)).to_have_text("You said 2, and that is right.")
