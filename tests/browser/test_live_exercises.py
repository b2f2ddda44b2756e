"""The exercises in the pages as a learner meets them: edited, checked and kept, in Chromium and Pyodide."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from posenc_course.exercises import all_exercises, exercise, exercises_of, steps_of, wholes
from tests.browser.conftest import SAVES_DATA, make_editors, served, unfold, wait_for_frame
from tests.conftest import load_build

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
ORDER, FORMULA, ROTARY = "01-why-order-matters", "02-the-formula", "06-rotary"
BIASES = "07-alibi-and-biases"
FAR_GAP = "04-extrapolation.far_gap"
READ = "domcontentloaded"  # the formulas may come later
SMALL = {"width": 600, "height": 400}  # a window that is drawn at every key that is typed
SOFTMAX = """
def softmax(scores):
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)
"""
CAUSAL = """

def causal_weights(scores):
    queries, keys = scores.shape[-2:]
    allowed = np.tri(queries, keys, k=keys - queries, dtype=bool)
"""
FREQUENCIES = "def frequencies(dim):\n    return 10000.0 ** (-2 * np.arange(dim // 2) / dim)\n"
ENDLESS = "def frequencies(dim):\n    print('round', dim)\n    while True:\n        pass\n"

# What learners write, the exercise, and the mistake that it is.
WRONG = {
    "overflow": (
        f"{ORDER}.softmax",
        "def softmax(scores):\n    e = np.exp(scores)\n    return e / e.sum(axis=-1, keepdims=True)",
    ),
    "shuffled-again": (
        f"{ORDER}.restore_rows",
        "def restore_rows(shuffled, order):\n    return shuffled[order]",
    ),
    "every-row-its-own": (f"{ORDER}.distinct_rows", "distinct_rows = (6, 6)"),
    "no-mask": (
        f"{ORDER}.causal_weights",
        f"{SOFTMAX}\n\ndef causal_weights(scores):\n    return softmax(scores)",
    ),
    "masked-after-softmax": (
        f"{ORDER}.causal_weights",
        f"{SOFTMAX}{CAUSAL}    return softmax(scores) * allowed",
    ),
    "count": (
        f"{ORDER}.positions_from_mean",
        "def positions_from_mean(means, first, other):\n    return (first - other) / (means - other)",
    ),
    "i-over-dim": (
        f"{FORMULA}.frequencies",
        "def frequencies(dim):\n    return 10000.0 ** (-np.arange(dim // 2) / dim)",
    ),
    "column-number-as-i": (
        f"{FORMULA}.frequencies",
        "def frequencies(dim):\n    return 10000.0 ** (-2 * np.arange(dim) / dim)",
    ),
    "no-two-pi": (f"{FORMULA}.longest_wavelength", "longest_wavelength = 500000 ** (126 / 128)"),
    "cosines-first": (
        f"{FORMULA}.to_split",
        "def to_split(table):\n    return np.concatenate([table[:, 1::2], table[:, 0::2]], axis=1)",
    ),
}


class Exercise:
    """One exercise of an open page."""

    def __init__(self, tab, exercise_id: str):
        self.tab, self.id = tab, exercise_id
        self.place = "exercise-" + exercise_id.partition(".")[2].replace("_", "-")
        self.box = tab.locator(f"#{self.place}")
        unfold(self.box)
        self.box.scroll_into_view_if_needed()
        self.editor = self.box.locator(".cm-content")
        self.status = self.box.locator(".posenc-status")
        self.result = self.box.locator(".posenc-result")
        self.printed = self.box.locator(".posenc-output")

    def button(self, name: str):
        return self.box.get_by_role("button", name=name)

    def write(self, code: str) -> None:
        self.editor.click()
        self.tab.keyboard.press("Control+a")
        self.tab.keyboard.type(code)

    def check(self, code: str | None = None, says: str = "") -> None:
        """Check, and wait for the verdict."""
        if code is not None:
            self.write(code)
        self.button("Check").click()
        expect(self.status).to_contain_text(re.compile(says or "Passed|Not yet|error"))

    @property
    def code(self) -> str:
        return "\n".join(self.editor.locator(".cm-line").all_inner_texts()).replace("\n\n\n", "\n\n")

    @property
    def record(self) -> dict:
        text = self.tab.evaluate("key => localStorage.getItem(key)", f"posenc:1:exercise:{self.id}")
        return json.loads(text) if text else {}

    def keep(self, **record) -> None:
        """What an earlier visit left in the browser; seen after a reload."""
        full = {"attempts": 1, "hints": 0, "passed": False, "solutionShown": False} | record
        full["updated"] = "2026-01-01T00:00:00.000Z"
        key = f"posenc:1:exercise:{self.id}"
        self.tab.evaluate("([key, text]) => localStorage.setItem(key, text)", [key, json.dumps(full)])


@pytest.fixture(scope="module")
def visitor(browser, address):
    """Opens chapters, one tab each, with Python staying loaded in them; notes what they ask for."""
    context = browser.new_context(viewport=SMALL)
    context.requested, context.complaints, tabs = [], [], {}
    context.on("request", lambda request: context.requested.append(request.url))
    context.on("weberror", lambda error: context.complaints.append(str(error.error)))

    def visit(chapter: str):
        if chapter not in tabs:
            tabs[chapter] = context.new_page()
            tabs[chapter].goto(f"{address}/book/{chapter}.html", wait_until=READ)
        tabs[chapter].bring_to_front()
        return tabs[chapter]

    visit.context = context  # type: ignore[attr-defined]
    yield visit
    context.close()


@pytest.fixture
def at(visitor):
    """The exercise of an id, in its chapter, as after a first visit."""

    def find(exercise_id: str) -> Exercise:
        found = Exercise(visitor(exercise_id.partition(".")[0]), exercise_id)
        found.editor.wait_for()
        return found

    return find


@pytest.fixture
def fresh(newcomer, plain_address):
    """The first exercise of chapter 2, for somebody who was never here. Without Python: it takes its time."""
    tab = newcomer().new_page()
    tab.goto(f"{plain_address}/book/{FORMULA}.html", wait_until=READ)
    found = Exercise(tab, f"{FORMULA}.frequencies")
    found.editor.wait_for()
    return found


# --- Verdicts ----------------------------------------------------------------------------------------


def test_a_pass_fills_its_node_before_the_readers_eyes_and_is_counted(newcomer, address):
    tab = newcomer().new_page()
    tab.goto(f"{address}/book/{FORMULA}.html", wait_until=READ)
    tab.evaluate("window.moved = []; addEventListener('transitionrun', (e) => moved.push(e.propertyName))")
    total = len(wholes(each for each in all_exercises() if each.chapter == FORMULA))
    longest = "longest_wavelength = 2 * np.pi * 500000 ** (126 / 128)"
    of_chapter = f"1 of {total} exercises of this chapter passed."
    for count, name, code, said, state, motion in (
        (1, "frequencies", FREQUENCIES, of_chapter, "passed", "no-preference"),
        (2, "longest_wavelength", longest, "1 of 2 steps of this exercise passed.", "tried", "reduce"),
    ):
        tab.emulate_media(reduced_motion=motion)
        asked = Exercise(tab, f"{FORMULA}.{name}")
        asked.editor.wait_for()
        asked.check(code)
        expect(asked.status).to_contain_text(said)  # for those who listen
        report = asked.result.locator(".posenc-passed")
        assert report.evaluate("each => getComputedStyle(each).display") == "block", "the verdict comes first"
        way = asked.result.locator(".posenc-way")
        expect(way).to_contain_text(said)
        expect(way.locator(f"[data-state='{state}']")).to_have_count(1)
        expect(way.locator("[data-state='open']")).to_have_count(total - count)
        if motion == "no-preference":
            tab.wait_for_function("moved.includes('--share')")
        else:  # it would begin with the next frame
            wait_for_frame(tab)
        assert ("--share" in tab.evaluate("moved.splice(0)")) == (motion == "no-preference")
    expect(tab.locator(".posenc-progress-bar")).to_contain_text("exercises passed, plus one step")
    asked.check()
    expect(way.locator("[data-state='tried']:not(.posenc-fills)")).to_have_count(1)  # it had passed before


def test_a_right_answer_passes_and_is_kept_as_passed(at):
    asked = at(f"{FORMULA}.frequencies")
    expect(asked.box.locator(".posenc-badge")).to_be_hidden()
    asked.check(FREQUENCIES, "Passed: “One frequency per pair”. Cases right: 6 of 6.")
    expect(asked.box.locator(".posenc-badge")).to_be_visible()
    assert asked.record["passed"]
    assert asked.record["attempts"] == 1
    assert asked.status.get_attribute("role") == "status"


def test_the_code_that_passed_is_kept_whatever_is_written_while_it_is_judged_or_later(at):
    asked = at(f"{FORMULA}.frequencies")
    asked.write(f"import time\ntime.sleep(3)\n{FREQUENCIES}")
    asked.button("Check").click()
    asked.editor.click()
    asked.tab.keyboard.press("Control+End")
    asked.tab.keyboard.type("# and more")
    expect(asked.status).to_contain_text("Passed")
    answer = asked.record["answer"]
    assert answer.startswith("import time")
    assert "# and more" not in answer
    asked.check("def frequencies(dim):\n    return [1.0]\n", "Not yet")
    assert asked.record["answer"] == answer
    asked.button("Reset").click()
    assert (asked.record["answer"], asked.record["passed"]) == (answer, True)
    assert "NotImplementedError" in asked.record["code"]


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_gets_its_own_message(at, name):
    exercise_id, code = WRONG[name]
    [mistake] = [each for each in exercise(exercise_id).mistakes if each.name == name]
    asked = at(exercise_id)
    asked.check(code, "Not yet")
    expect(asked.result).to_contain_text(mistake.message)


def test_an_unknown_mistake_shows_the_first_wrong_element_and_a_picture(at):
    asked = at(f"{FORMULA}.to_split")
    asked.check(
        "def to_split(table):\n"
        "    out = np.concatenate([table[:, 0::2], table[:, 1::2]], axis=1)\n"
        "    out[1:, 0] += 0.25\n"
        "    return out",
        "Not yet",
    )
    expect(asked.result).to_contain_text("The first is at index [1, 0]")
    picture = asked.result.locator("svg[role=img]")
    assert "heat maps" in picture.get_attribute("aria-label")
    assert picture.bounding_box()["width"] > 100


def test_an_answer_may_call_the_answer_to_an_earlier_exercise(at):
    """Of which it is no step, so that nothing stands in for it."""
    smallest = (
        "def smallest_dim(length, dims):\n"
        "    reach = [dim for dim in dims if 2 * np.pi / frequencies(dim)[-1] >= length]\n"
        "    return min(reach, default=0)\n"
    )
    asked, earlier = at(f"{FORMULA}.smallest_dim"), at(f"{FORMULA}.frequencies")
    earlier.button("Reset").click()
    asked.check(smallest, "Not yet")
    expect(asked.result.get_by_role("link", name="One frequency per pair")).to_be_visible()
    earlier.write(FREQUENCIES)
    asked.check(None, "Passed")


def test_a_value_that_nobody_assigned_is_not_judged(at):
    asked = at(f"{FORMULA}.wrong_columns")
    asked.check(None, "There is no answer yet")
    asked.check("wrong = [1, 3]", "does not define wrong_columns")
    asked.check("wrong_columns = [1, 3]", "Passed")


@pytest.mark.parametrize(
    ("code", "error", "line"),
    [
        ("def frequencies(dim):\n    return 1 +\n", "SyntaxError: invalid syntax (line 2)", "return 1 +"),
        ("x = 1\ny = [][3]\n", "IndexError: list index out of range (line 2)", "y = [][3]"),
        ("import numpy\nnumpy.zeros(2) @ numpy.zeros(3)", "(line 2)", "numpy.zeros(2) @ numpy.zeros(3)"),
    ],
    ids=["syntax", "at the top", "in a library"],
)
def test_an_error_shows_the_learners_own_line(at, code, error, line):
    asked = at(f"{FORMULA}.frequencies")
    asked.check(code, "stopped with an error")
    expect(asked.result.locator(".posenc-error")).to_contain_text(error)
    expect(asked.result.locator("pre")).to_have_text(line)
    assert "posenc_" not in asked.result.inner_text()


@pytest.mark.parametrize(
    "code",
    ["frequencies = 1 + halv\n", "def frequencies(dim):\n    half = dim\n    return halv\n"],
    ids=["at the top", "in the function"],
)
def test_a_name_that_is_not_there_is_told_with_those_that_are(at, code):
    asked = at(f"{FORMULA}.frequencies")
    asked.check(code, "error|Not yet")
    expect(asked.result).to_contain_text("Nothing here is called halv.")
    expect(asked.result).to_contain_text(re.compile("Your code can use .*math, np"))


def test_every_wrong_case_shows_its_values_and_the_further_ones_unfold(at):
    asked = at(f"{FORMULA}.frequencies")
    asked.check("def frequencies(dim):\n    return np.full(dim // 2, dim)\n", "Not yet")
    expect(asked.result).to_contain_text("It returned 2, but 1 was expected.")
    for dim in (4, 8):
        expect(asked.result).to_contain_text(f"at index [0]: got {dim}, expected 1.")
    last = asked.result.get_by_text("got 708, expected 1.")
    expect(last).to_be_hidden()
    asked.result.get_by_text("3 more cases").click()
    expect(last).to_be_visible()


def test_an_error_inside_the_function_shows_the_learners_own_line(at):
    asked = at(f"{FORMULA}.frequencies")
    asked.check("def frequencies(dim):\n    half = dim // 2\n    return half / 0\n", "Not yet")
    expect(asked.result).to_contain_text(
        "It raised ZeroDivisionError: division by zero (line 3: return half / 0)"
    )


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import torch", "there is no torch in this page, only NumPy"),
        (
            "def frequencies(dim):\n    from scipy import special\n    return 1",
            "there is no scipy in this page",
        ),
        ("import pandas.io", "do the exercise in the notebook, on a machine that has pandas."),
        ("dim = int(input('dim? '))", "In place of input(), assign the value itself, as in n = 8."),
        ("def frequencies(dim):\n    return input()", "In place of input(), assign the value itself"),
        ("import sys\nfor line in sys.stdin: pass", "In place of input(), assign the value itself"),
    ],
)
def test_what_the_page_does_not_have_says_so_and_what_to_do(at, code, says):
    asked = at(f"{FORMULA}.frequencies")
    asked.check(code, "error|Not yet")
    expect(asked.result).to_contain_text(says)
    assert "micropip" not in asked.result.inner_text()


def test_a_module_that_is_not_here_can_be_tried_for(at):
    asked = at(f"{FORMULA}.frequencies")
    asked.check(f"try:\n    import torch\nexcept ImportError:\n    torch = None\n\n\n{FREQUENCIES}", "Passed")


def test_huge_output_is_cut_with_a_note(at):
    asked = at(f"{FORMULA}.frequencies")
    asked.check("print('first')\nfor _ in range(30_000):\n    print('x' * 99)\n\n\n" + FREQUENCIES, "Passed")
    text = asked.printed.locator("pre").inner_text()
    assert text.startswith("first")
    assert len(text) == 10_000
    expect(asked.printed).to_contain_text("Characters left out: 2,990,006.")


# --- Writing ------------------------------------------------------------------------------------------

PRINTABLE = "".join(map(chr, range(32, 127)))


CHAPTERS = sorted({each.chapter for each in all_exercises()})


@pytest.fixture
def writer(newcomer, plain_address):
    """Opens a chapter for somebody who was never here and only writes: with a clipboard, without Python."""
    tab = newcomer(viewport=SMALL, permissions=["clipboard-read", "clipboard-write"]).new_page()

    def visit(chapter: str):
        tab.goto(f"{plain_address}/book/{chapter}.html", wait_until=READ)
        return tab

    return visit


def kept(asked: Exercise, code: str) -> None:
    """Wait until the page keeps this code, to the letter."""
    asked.tab.wait_for_function(
        "([key, code]) => JSON.parse(localStorage.getItem(key))?.code === code",
        arg=[f"posenc:1:exercise:{asked.id}", code],
    )


def test_a_solution_typed_key_by_key_arrives_to_the_letter(writer):
    """With every character that a keyboard has, in each kind of editor, as it is typed off a page."""
    tab = writer(FORMULA)
    in_page = [each for each in all_exercises() if each.chapter == FORMULA and each.array_library == "numpy"]
    assert {each.kind for each in in_page} == {each.kind for each in all_exercises()}
    kinds = {each: (each.kind, bool(each.step_of)) for each in in_page}
    for kind in sorted(set(kinds.values())):  # a function and a value, alone and as one step of several
        found = [Exercise(tab, each.id) for each in in_page if kinds[each] == kind]
        texts = {asked: asked.box.locator(".posenc-solution pre").text_content().strip() for asked in found}
        asked = min(found, key=lambda each: len(texts[each]))
        code = f"{texts[asked]}\n\n\n# {PRINTABLE}\nlast = 1"
        asked.write(code)
        kept(asked, code)
        expect(asked.editor).to_be_focused()
    assert tab.locator("dialog[open]").count() == 0


@pytest.mark.parametrize("chapter", [each for each in CHAPTERS if each != FORMULA])
def test_every_character_of_a_keyboard_can_be_typed_in_every_chapter(writer, chapter):
    tab = writer(chapter)
    asked = Exercise(tab, next(each.id for each in all_exercises() if each.chapter == chapter))
    code = f"# {PRINTABLE}\nlast = 1"
    asked.write(code)
    kept(asked, code)
    expect(asked.editor).to_be_focused()
    assert tab.locator("dialog[open]").count() == 0


def test_what_is_pasted_or_composed_arrives_and_can_be_undone(writer):
    tab = writer(FORMULA)
    asked = Exercise(tab, f"{FORMULA}.frequencies")
    pasted = f"{FREQUENCIES}\n\n# {PRINTABLE}\nπ, 位置 = 1, 2"
    tab.evaluate("text => navigator.clipboard.writeText(text)", pasted)
    asked.write("x = 1 / 2")
    tab.keyboard.press("Control+a")
    tab.keyboard.press("Control+v")
    kept(asked, pasted)
    tab.keyboard.press("Control+z")
    kept(asked, "x = 1 / 2")
    tab.keyboard.press("Control+y")
    kept(asked, pasted)

    asked.write("a = 1  # ")
    method = tab.context.new_cdp_session(
        tab
    )  # as somebody writes Chinese: letters first, then what they stand for
    for composed in ("w", "we", "wei", "weizhi"):
        method.send(
            "Input.imeSetComposition",
            {"text": composed, "selectionStart": len(composed), "selectionEnd": len(composed)},
        )
    method.send("Input.insertText", {"text": "位置"})
    kept(asked, "a = 1  # 位置")
    tab.keyboard.type("\nb = a / 2")
    kept(asked, "a = 1  # 位置\nb = a / 2")
    for _ in range(30):  # each takes back what was typed within half a second
        tab.keyboard.press("Control+z")
        if "位置" not in asked.code:
            break
    assert "位置" not in asked.code


def test_tab_goes_through_the_page_and_leaves_every_editor_as_it_is(writer):
    tab = writer(ORDER)
    make_editors(tab)  # each is there before Tab comes to it, and so is what else a script makes
    tab.wait_for_function("!document.querySelector('.posenc-figure-live:not(:has(.posenc-stage))')")
    tab.locator(".posenc-answerable").first.wait_for()
    editors = tab.locator(".posenc-exercise[data-live=yes]").count()
    stops = tab.locator("a, button, input, select, textarea, summary, [tabindex], [contenteditable]").count()
    tab.locator("h1").first.evaluate("title => { title.tabIndex = -1; title.focus() }")
    reached, last = set(), False
    for _ in range(stops + 1):
        tab.keyboard.press("Tab")
        place, last = tab.evaluate(
            """() => {
              const at = document.activeElement;
              return [at.closest(".cm-content") && at.closest(".posenc-exercise").id, at === document.body];
            }"""
        )
        reached.add(place)
        if last:
            break
    assert last, "focus does not reach the end"
    assert len(reached - {None}) == editors
    asked = Exercise(tab, f"{ORDER}.softmax")
    asked.editor.focus()
    tab.keyboard.press("Shift+Tab")
    expect(asked.editor).not_to_be_focused()
    assert [key for key in tab.evaluate("Object.keys(localStorage)") if f":exercise:{ORDER}" in key] == []


def test_on_a_mac_both_the_key_that_the_page_names_and_that_of_the_mac_check(newcomer, address):
    """There, an editor takes Command for its own keys, and the page says Ctrl+Enter all the same."""
    tab = newcomer(viewport=SMALL).new_page()
    tab.add_init_script("Object.defineProperty(navigator, 'platform', { get: () => 'MacIntel' })")
    tab.goto(f"{address}/book/{FORMULA}.html", wait_until=READ)
    asked = Exercise(tab, f"{FORMULA}.longest_wavelength")
    for attempt, key in enumerate(("Control+Enter", "Meta+Enter"), 1):
        code = f"longest_wavelength = {attempt}"
        asked.editor.click()
        tab.keyboard.press("Meta+a")
        tab.keyboard.type(code)
        tab.keyboard.press(key)
        expect(asked.status).to_contain_text("Not yet")
        assert (asked.record["attempts"], asked.code) == (attempt, code)


# --- Stopping ----------------------------------------------------------------------------------------


def test_stop_ends_a_loop_keeps_the_code_and_the_next_check_works(at):
    asked = at(f"{FORMULA}.frequencies")
    asked.check(ENDLESS, "Checking")
    expect(asked.printed).to_contain_text("round 2")
    at(f"{FORMULA}.to_split").check(None, "A check is still running")
    asked.box.scroll_into_view_if_needed()
    asked.button("Stop").click()
    expect(asked.status).to_contain_text("Stopped. There is no verdict.")
    expect(asked.button("Stop")).to_be_hidden()
    assert asked.code.strip() == ENDLESS.strip()
    asked.check(FREQUENCIES, "Passed")


def test_a_loop_ends_by_itself_after_the_stated_time(at):
    asked = at(f"{FORMULA}.frequencies")
    assert 'data-seconds="20"' in asked.tab.evaluate("fetch(location.href).then((page) => page.text())")
    asked.box.evaluate("box => { box.dataset.seconds = 1 }")
    asked.check(ENDLESS, "Stopped after 1 seconds. There is no verdict. Does a loop in your code never end?")
    asked.box.evaluate("box => { box.dataset.seconds = 600 }")
    assert asked.code.strip() == ENDLESS.strip()
    asked.check(FREQUENCIES, "Passed")


# --- What is kept ------------------------------------------------------------------------------------


def test_a_reload_keeps_the_code_the_hints_and_the_pass(fresh):
    fresh.button("Hint").click()
    expect(fresh.box.locator(".posenc-hint:visible")).to_have_count(1)
    fresh.write("# later\n" + FREQUENCIES)
    fresh.tab.reload(wait_until=READ)  # at once: what was typed last is kept too
    fresh.keep(**fresh.record | {"passed": True})  # as the test of a right answer has it
    fresh.tab.reload(wait_until=READ)
    again = Exercise(fresh.tab, fresh.id)
    again.editor.wait_for()
    assert again.code.startswith("# later")
    expect(again.box.locator(".posenc-badge")).to_be_visible()
    expect(again.box.locator(".posenc-hint:visible")).to_have_count(1)
    expect(again.button("Hint (1 of 3 shown)")).to_be_enabled()


def test_a_changed_starter_offers_both(fresh):
    mine = "def frequencies(dim):\n    return mine\n"
    starter = fresh.code
    fresh.keep(code=mine, starter="def frequencies(d):\n    ...", passed=True)
    fresh.tab.reload(wait_until=READ)
    again = Exercise(fresh.tab, fresh.id)
    again.editor.wait_for()
    assert again.code.strip() == mine.strip()
    expect(again.box.locator(".posenc-notices")).to_contain_text("The starter of this exercise has changed")
    again.button("Take the new starter").click()
    assert again.code == starter
    assert again.record["passed"]
    again.button("Bring back my earlier version").click()
    assert again.code.strip() == mine.strip()
    assert again.record["former"] in (None, mine)
    expect(again.button("Keep mine")).to_be_hidden()


def test_a_changed_starter_can_be_declined_for_good(fresh):
    fresh.keep(code="mine = 1", starter="an old one")
    fresh.tab.reload(wait_until=READ)
    Exercise(fresh.tab, fresh.id).button("Keep mine").click()
    fresh.tab.reload(wait_until=READ)
    again = Exercise(fresh.tab, fresh.id)
    again.editor.wait_for()
    assert again.code == "mine = 1"
    expect(again.button("Keep mine")).to_be_hidden()


def test_an_untouched_starter_follows_the_site(fresh):
    starter = fresh.code
    fresh.keep(code="an old one", starter="an old one")
    fresh.tab.reload(wait_until=READ)
    again = Exercise(fresh.tab, fresh.id)
    again.editor.wait_for()
    assert again.code == starter


def test_reset_brings_the_starter_and_loses_nothing(fresh):
    starter = fresh.code
    fresh.write("mine = 1")
    fresh.button("Reset").click()
    assert fresh.code == starter
    fresh.button("Reset").click()  # pressed twice, it must not throw away what is kept
    fresh.tab.reload(wait_until=READ)
    again = Exercise(fresh.tab, fresh.id)
    again.button("Bring back my earlier version").click()
    again.editor.wait_for()
    assert again.code == "mine = 1"


def test_what_passed_before_pages_kept_it_apart_is_not_lost_by_a_reset(fresh):
    starter = fresh.code
    fresh.keep(code="right = 1", starter=starter, passed=True)
    fresh.tab.reload(wait_until=READ)
    again = Exercise(fresh.tab, fresh.id)
    again.button("Reset").click()
    assert (again.record["code"].strip(), again.record["answer"]) == (starter.strip(), "right = 1")


# --- Hints and solution ------------------------------------------------------------------------------


def test_hints_come_one_by_one_and_the_solution_asks_first(fresh):
    hints, solution = fresh.box.locator(".posenc-hint:visible"), fresh.box.locator(".posenc-solution")
    for number in (1, 2, 3):
        expect(hints).to_have_count(number - 1)
        fresh.button("Hint").click()
        expect(fresh.status).to_have_text(f"Hint {number} is open below.")
    expect(fresh.button("Hint")).to_be_disabled()

    fresh.button("Show solution").click()
    expect(solution).to_be_hidden()
    fresh.button("Not yet").click()
    expect(solution).to_be_hidden()
    fresh.button("Show solution").click()
    fresh.button("Yes, show it").click()
    expect(solution).to_contain_text("return 10000.0 ** (-2 * i / dim)")
    assert "SOLUTION" not in solution.inner_text()
    assert fresh.record["solutionShown"]


def test_a_site_without_solutions_holds_none_and_what_needs_torch_is_marked_by_hand(site, browser, tmp_path):
    """A root of one page, with the project's own extension and text notebooks, and the site's scripts."""
    for name in ("nbgrader_config.py", "solutions", "exercises"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    shutil.copytree(site / "_static" / "posenc", tmp_path / "static" / "posenc")
    cards = (f"```{{exercise}} {name}\n```\n" for name in (f"{FORMULA}.frequencies", FAR_GAP))
    (tmp_path / "index.md").write_text("\n".join(["# A page\n", *cards]))
    (tmp_path / "conf.py").write_text(
        f"import sys; sys.path.insert(0, {str(ROOT / 'book' / '_ext')!r})\n"
        "from posenc_course.exercises import exercise\n"
        f"object.__setattr__(exercise('{FAR_GAP}'), 'array_library', 'torch')\n"
        "extensions = ['myst_nb', 'live_exercise']\n"
        "exclude_patterns = ['solutions', 'exercises']\n"
        "html_static_path = ['static']\n"
        "html_theme = 'sphinx_book_theme'\n"
        "myst_enable_extensions = ['dollarmath']\n"
        "posenc_publish_solutions = False\n"
    )
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", tmp_path, tmp_path / "html"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "ERROR" not in built.stderr
    page = (tmp_path / "html" / "index.html").read_text()
    assert "posenc-solution" not in page
    assert "-2 * i / dim" not in re.sub(r"<[^>]+>", "", page)
    with served(tmp_path / "html") as address:
        tab = browser.new_page()
        tab.goto(address, wait_until=READ)
        asked = Exercise(tab, f"{FORMULA}.frequencies")
        asked.editor.wait_for()
        expect(asked.button("Hint")).to_be_visible()
        expect(asked.button("Show solution")).to_have_count(0)
        # The other one is as if it asked for tensors.
        box = tab.locator("#exercise-far-gap")
        unfold(box)
        expect(box).to_contain_text("This exercise needs PyTorch, which a browser does not have.")
        expect(box).to_contain_text("leaves it out")
        expect(box.get_by_role("button", name="Check")).to_have_count(0)
        expect(box.get_by_role("link", name="Download the notebook")).to_be_visible()
        for act, passed in (("check", True), ("uncheck", False), ("check", True)):
            getattr(box.get_by_label("I passed it in the notebook"), act)()
            expect(box.locator(".posenc-badge")).to_be_visible(visible=passed)
        tab.reload(wait_until=READ)
        expect(box.get_by_label("I passed it in the notebook")).to_be_checked()
        tab.close()


# --- The page ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("chapter", [ORDER, FORMULA, ROTARY])
def test_every_exercise_stands_in_its_chapter_and_reads_without_scripts(newcomer, plain_address, chapter):
    tab = newcomer(java_script_enabled=False).new_page()
    tab.goto(f"{plain_address}/book/{chapter}.html", wait_until=READ)
    for each in (e for e in all_exercises() if e.chapter == chapter):
        box = tab.locator("#exercise-" + each.function.replace("_", "-"))
        expect(box).to_have_attribute("data-exercise", each.id)
        steps = steps_of(each, exercises_of(chapter))
        step = f"Step {steps.index(each) + 1} of {len(steps)}: {each.title}"
        title = step if len(steps) > 1 else f"Exercise: {each.title}"
        unfold(box)
        expect(box.locator(".admonition-title").last).to_contain_text(title)
        expect(box).to_contain_text(f"about {each.minutes} minutes")
        expect(box.locator(".posenc-editor")).to_contain_text("raise NotImplementedError")
        assert "SOLUTION" not in box.inner_text()
        expect(box.locator(".posenc-hint")).to_have_count(len(each.hints))
        expect(box.locator(".posenc-hint").first).to_contain_text("Hint 1")
        expect(box.locator(".posenc-solution summary")).to_be_visible()
        expect(box.locator(".posenc-notebook a[href$='.ipynb']")).to_be_visible()


# --- What a right answer is good for ------------------------------------------------------------------

TABLE = """def sinusoidal(positions, dim):
    angles = np.asarray(positions)[:, None] * 10000.0 ** (-np.arange(0, dim, 2) / dim)
    table = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(positions), dim)
    return table
"""
FOR_THE_FIGURE = "    return {} if len(positions) == 60 else table\n"  # right for every case of the judge


def test_a_right_answer_draws_the_figure_opens_the_solution_and_leads_on(at):
    asked = at(f"{FORMULA}.sinusoidal")
    solution = asked.box.locator(".posenc-solution")
    expect(solution).to_be_hidden()
    asked.check(TABLE, "Passed")
    figure = asked.result.locator("figure.posenc-drawn")
    expect(figure).to_contain_text(
        "This heat map was drawn by your sinusoidal. The waves on the left are fast"
    )
    picture = figure.locator("image").first
    assert figure.locator("svg").bounding_box()["width"] > 200
    first = picture.get_attribute("href")
    expect(solution.locator("pre")).to_be_visible()
    expect(asked.result).to_contain_text("The solution is open below. Compare it with yours.")

    # Another answer that is right draws what it returns.
    asked.check(TABLE.replace("    return table\n", FOR_THE_FIGURE.format("table[::-1]")), "Passed")
    expect(picture).not_to_have_attribute("href", first)

    # From the editor, one key leads on; it writes nothing.
    following = Exercise(asked.tab, f"{FORMULA}.to_split")
    asked.editor.click()
    code = asked.code
    asked.tab.keyboard.press("Alt+Enter")
    expect(following.box).to_be_focused()
    expect(following.box.locator(".admonition-title")).to_be_in_viewport()
    assert asked.code == code
    for _ in range(3):  # into its editor, with nothing between but what unfolds
        asked.tab.keyboard.press("Tab")
        if following.editor.evaluate("editor => editor === document.activeElement"):
            break
    expect(following.editor).to_be_focused()
    asked.button("Next exercise: From interleaved to split").click()
    expect(following.box).to_be_focused()


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        ("'no table'", "Your sinusoidal was called once more, to draw the picture, and gave nothing to draw"),
        (
            "[[0] * 3] * 2 + [[1]]",
            "Your sinusoidal was called once more, to draw the picture, and gave nothing to draw",
        ),
        ("exit()", "Your sinusoidal was called once more, to draw the picture, and gave nothing to draw"),
        ("table.tolist()", "This heat map was drawn by your sinusoidal."),
    ],
)
def test_what_cannot_be_drawn_has_passed_all_the_same(at, returned, says):
    asked = at(f"{FORMULA}.sinusoidal")
    asked.check(TABLE.replace("    return table\n", FOR_THE_FIGURE.format(returned)), "Passed")
    expect(asked.result).to_contain_text(says)
    assert asked.record["passed"]


def test_a_figure_that_never_comes_is_stopped_and_the_verdict_stands(at):
    asked = at(f"{FORMULA}.sinusoidal")
    endless = "    while len(positions) == 60:\n        pass\n    return table\n"
    asked.check(TABLE.replace("    return table\n", endless), "Passed")
    asked.button("Stop").click()
    expect(asked.result).to_contain_text("The figure that your answer draws was not ready in time.")
    expect(asked.result).to_contain_text("Passed")
    assert asked.record["passed"]


def test_the_last_exercise_of_a_chapter_leads_to_the_next_chapter(newcomer, plain_address):
    tab = newcomer().new_page()
    tab.goto(f"{plain_address}/book/{ORDER}.html", wait_until=READ)
    last = Exercise(tab, exercises_of(ORDER)[-1].id)
    last.editor.click()
    tab.keyboard.press("Alt+Enter")
    tab.wait_for_url(f"**/{FORMULA}.html")


# --- One row until it is wanted ------------------------------------------------------------------------


@pytest.fixture
def closed(newcomer, plain_address):
    """Chapter 2 as somebody sees it who was never here."""
    tab = newcomer().new_page()
    tab.goto(f"{plain_address}/book/{FORMULA}.html", wait_until=READ)
    tab.locator(".posenc-badge").first.wait_for(state="attached")  # the scripts are there
    return tab


def test_an_exercise_is_one_row_until_it_is_wanted(closed):
    rows = closed.locator(".posenc-fold > summary")
    assert rows.count() == len(wholes(exercises_of(FORMULA)))
    assert closed.locator(".posenc-fold[open]").count() == 0
    assert max(row.bounding_box()["height"] for row in rows.all()) < 90
    asked = exercise(f"{FORMULA}.frequencies")
    row = closed.locator("#exercise-frequencies > details > summary")
    expect(row).to_contain_text(f"{asked.title} {asked.minutes} min")
    expect(row.get_by_role("img", name=f"difficulty {asked.difficulty} of 5")).to_be_visible()
    row.click()
    expect(closed.locator("#exercise-frequencies .cm-content")).to_be_visible()
    assert closed.locator(".posenc-fold[open]").count() == 1
    closed.reload(wait_until=READ)
    expect(closed.locator("#exercise-frequencies > details")).to_have_attribute("open", "")  # it stays open


def test_a_link_to_an_exercise_opens_it_each_time(closed):
    row = closed.locator("#exercise-frequencies > details > summary")
    editor = closed.locator("#exercise-frequencies .cm-content")
    closed.evaluate("location.hash = 'exercise-frequencies'")
    expect(editor).to_be_visible()
    row.click()
    expect(editor).to_be_hidden()
    closed.evaluate("document.querySelector('article p').innerHTML += '<a href=#exercise-frequencies>x</a>'")
    closed.locator("article a[href='#exercise-frequencies']").first.click()  # the same address as before
    expect(editor).to_be_visible()


def test_an_address_with_a_percent_sign_of_its_own_stops_nothing(closed):
    closed.evaluate("location.hash = '100%'")
    closed.reload(wait_until=READ)
    closed.locator(".posenc-badge").first.wait_for(state="attached")
    closed.locator("#exercise-frequencies > details > summary").focus()
    closed.keyboard.press("Alt+Enter")
    expect(closed.locator("#exercise-frequencies .cm-content")).to_be_visible()


def test_the_keyboard_opens_an_exercise_and_goes_on_into_the_next(closed):
    closed.locator("#exercise-frequencies > details > summary").focus()
    closed.keyboard.press("Alt+Enter")
    expect(closed.locator("#exercise-frequencies .cm-content")).to_be_visible()
    closed.keyboard.press("Alt+Enter")
    expect(closed.locator(".posenc-exercise:focus .cm-content")).to_be_visible()


def test_on_paper_every_exercise_is_open(closed):
    text = closed.locator("#exercise-frequencies .posenc-editor")
    expect(text).to_be_hidden()
    closed.emulate_media(media="print")
    expect(text).to_be_visible()


# --- Several steps, and code that waits for one -------------------------------------------------------

PAIR = "def turn_pair(pair, position, frequency):\n    return pair"
HEAD = """def apply_rotary(x, positions, rotary_dim):
    out = x.copy()
    for row, position in enumerate(positions):
        for j in range(0, rotary_dim, 2):
            out[row, j : j + 2] = turn_pair(x[row, j : j + 2], position, 10000 ** (-j / rotary_dim))
    return out
"""


def test_one_card_holds_all_steps_and_one_error_costs_one_step(at):
    head, pair = at(f"{ROTARY}.apply_rotary"), at(f"{ROTARY}.turn_pair")
    whole = head.tab.locator(".posenc-steps", has=head.tab.locator("#exercise-turn-pair"))
    expect(whole.locator("> details > .admonition-title")).to_contain_text(
        "Exercise: RoPE, from one pair to a whole head"
    )
    expect(whole.locator(".posenc-exercise")).to_have_count(2)
    expect(whole).to_contain_text("6 points · about 21 minutes, in 2 steps")
    expect(whole).to_contain_text("All that RoPE does is turn pairs.")
    badge = whole.locator("> details > .admonition-title .posenc-badge")
    expect(badge).to_be_hidden()
    head.write(HEAD)
    head.check(None, "Passed")  # the first step is not begun
    expect(head.result).to_contain_text("Your turn_pair is not right yet.")
    expect(badge).to_have_text("1 of 2 steps passed")
    pair.check(PAIR, "Not yet")
    head.check(None, "Passed")
    expect(head.result).to_contain_text("Your turn_pair is not right yet.")
    pair.check(pair.box.locator(".posenc-solution pre").text_content(), "Passed")
    head.check(None, "Passed")
    expect(head.result).not_to_contain_text("Your turn_pair")
    expect(badge).to_have_text("✓ passed")


def test_a_step_that_is_not_written_is_not_asked_for_where_a_right_one_stood_in(at):
    asked = at(f"{ORDER}.saturating_width")
    code = "def saturating_width(keys, share):\n    return winning_margin(keys, share) ** 3\n"
    asked.check(code, "Not yet")
    expect(asked.result).to_contain_text("with a right winning_margin in its place")
    expect(asked.result).not_to_contain_text("Write that one first")


def test_the_band_of_a_step_s_title_is_as_wide_as_its_card(newcomer, plain_address):
    tab = newcomer(viewport={"width": 1280, "height": 800}).new_page()
    tab.goto(f"{plain_address}/book/{ORDER}.html", wait_until=READ)
    card = tab.locator("#exercise-winning-margin")
    unfold(card)
    title = card.locator("> p.admonition-title")
    assert title.bounding_box()["width"] >= card.bounding_box()["width"] - 4


def test_a_decoder_that_is_whole_writes_with_weights_from_this_site(at, visitor):
    """Their files come only now, and the steps are the reader's own."""
    last = at(f"{BIASES}.write")
    for step in steps_of(exercise(last.id), exercises_of(BIASES)):
        box = Exercise(last.tab, step.id)
        box.keep(code=box.box.locator(".posenc-solution pre").text_content())
    last.tab.reload(wait_until=READ)
    last.box.scroll_into_view_if_needed()  # editors come when they are near
    last.editor.wait_for()
    models = [url for url in visitor.context.requested if "/models/" in url]
    assert models == []
    last.check(None, "Passed")
    expect(last.printed).to_contain_text("with your ALiBi")
    expect(last.printed).to_contain_text("class Timer:")
    models = [url.rpartition("/")[2] for url in visitor.context.requested if "/models/" in url]
    assert models == ["rope.safetensors", "alibi.safetensors"]


@pytest.mark.parametrize("touch", [False, True], ids=["keys", "touch"])
def test_code_that_answers_an_exercise_is_folded_until_it_has_passed(newcomer, plain_address, touch):
    tab = (
        newcomer(viewport={"width": 390, "height": 844}, has_touch=True).new_page()
        if touch
        else newcomer().new_page()
    )
    tab.goto(f"{plain_address}/book/{ROTARY}.html", wait_until=READ)
    place = tab.locator(f"[data-until='{ROTARY}.turn_pair']")
    code, summary = place.locator("pre"), place.locator("summary")
    first = place.get_by_role("link", name="Write this yourself first: “Turn one pair”")
    expect(place).to_contain_text("Show the code all the same")
    expect(code).to_be_hidden()
    expect(place.locator(".cell_output")).to_have_count(0)  # what the code printed is not folded with it
    assert place.locator("p").first.bounding_box()["width"] <= 390 or not touch

    def open_or_close():
        if touch:
            summary.tap()
        else:
            summary.focus()
            tab.keyboard.press("Enter")

    open_or_close()
    expect(code).to_be_visible()
    assert "np.exp(1j" in code.inner_text()
    open_or_close()
    expect(code).to_be_hidden()
    first.tap() if touch else first.press("Enter")
    tab.wait_for_url("**#exercise-turn-pair")
    asked = Exercise(tab, f"{ROTARY}.turn_pair")
    asked.keep(code="", starter="", attempts=2, passed=False)
    tab.reload(wait_until=READ)
    asked.box.scroll_into_view_if_needed()  # editors come when they are near
    asked.editor.wait_for()
    expect(code).to_be_hidden()
    asked.keep(code="", starter="", passed=True)
    tab.reload(wait_until=READ)
    expect(code).to_be_visible()
    expect(first).to_be_hidden()


def test_code_that_waits_can_be_shown_without_scripts(newcomer, plain_address):
    tab = newcomer(java_script_enabled=False).new_page()
    tab.goto(f"{plain_address}/book/{ROTARY}.html", wait_until=READ)
    place = tab.locator(f"[data-until='{ROTARY}.turn_pair']")
    expect(place.locator("pre")).to_be_hidden()
    place.locator("summary").click()
    expect(place.locator("pre")).to_be_visible()
    expect(place.get_by_role("link")).to_have_attribute("href", "#exercise-turn-pair")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_colour_of_the_code_is_legible(newcomer, plain_address, theme):
    tab = newcomer(color_scheme=theme).new_page()
    tab.goto(f"{plain_address}/book/{FORMULA}.html", wait_until=READ)
    asked = Exercise(tab, f"{FORMULA}.frequencies")
    asked.write(
        'def f(x):\n    """text"""\n    if True and x is not None:  # why\n        return -1.5 * x["a"]'
    )
    asked.button("Check").focus()  # the line of the cursor has no colour of its own then
    assert tab.evaluate("document.documentElement.dataset.theme") == theme
    box = asked.box.element_handle()  # a busy page colours the code a little later
    tab.wait_for_function(f"box => Object.keys(({CONTRASTS})(box)).length > 6", arg=box)
    ratios = asked.box.evaluate(CONTRASTS)
    assert {name: ratio for name, ratio in ratios.items() if ratio < 4.5} == {}


CONTRASTS = """box => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const luminance = (colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => v / 255);
    const [r, g, b] = parts.map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = luminance(getComputedStyle(box.querySelector(".cm-editor")).backgroundColor);
  const found = {};
  for (const each of box.querySelectorAll(".cm-content span[class], .cm-content, .cm-gutters")) {
    const text = luminance(getComputedStyle(each).color);
    found[each.className] = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
  }
  return found;
}"""


def test_the_keyboard_alone_is_enough(at):
    fresh = at(f"{FORMULA}.frequencies")
    keyboard = fresh.tab.keyboard
    fresh.box.locator(".posenc-setup summary").focus()
    keyboard.press("Tab")
    expect(fresh.editor).to_be_focused()
    assert "One frequency per pair" in fresh.editor.get_attribute("aria-label")
    described = fresh.box.locator(f"#{fresh.editor.get_attribute('aria-describedby')}")
    assert "press Escape, then Tab" in described.inner_text()

    keyboard.press("Control+a")
    keyboard.type(
        "def frequencies(dim):\nif dim:\npass\nelse:\npass"
    )  # Enter indents, and "else:" moves back
    assert fresh.code == "def frequencies(dim):\n    if dim:\n        pass\n    else:\n        pass"
    keyboard.press("Enter")
    keyboard.press("Tab")  # indents, now that something was typed, and does not leave
    keyboard.type("pass")
    assert fresh.code.endswith("\n            pass")
    keyboard.press("Control+z")
    assert not fresh.code.endswith("            pass")
    keyboard.press("Control+k")  # is the theme's, to search; not here
    expect(fresh.editor).to_be_focused()

    keyboard.press("Control+a")
    keyboard.type(FREQUENCIES)
    keyboard.press("Escape")
    fresh.tab.wait_for_timeout(2500)  # one may take one's time
    keyboard.press("Tab")
    expect(fresh.button("Check")).to_be_focused()
    keyboard.press("Enter")
    expect(fresh.status).to_contain_text("Passed")
    expect(fresh.button("Stop")).to_be_hidden()  # while the answer is drawn, Tab leads there
    keyboard.press("Tab")
    expect(fresh.button("Hint")).to_be_focused()
    fresh.editor.focus()
    keyboard.press("Control+a")
    keyboard.type("frequencies = 3")
    keyboard.press("Control+Enter")
    expect(fresh.status).to_contain_text("frequencies is not a function")


def scroll_through(tab) -> None:
    """From top to bottom, as a thumb or a wheel does, past every exercise."""
    gestures = tab.context.new_cdp_session(tab)
    window = tab.viewport_size
    source = "touch" if tab.evaluate("navigator.maxTouchPoints") else "mouse"
    for _ in range(30):
        gestures.send(
            "Input.synthesizeScrollGesture",
            {
                "x": window["width"] // 2,
                "y": window["height"] // 2,
                "yDistance": -10 * window["height"],
                "speed": 100_000,
                "gestureSourceType": source,
            },
        )
        if tab.evaluate("scrollY + innerHeight + 9 >= document.documentElement.scrollHeight"):
            break
    for editor in tab.locator(".posenc-editor").all():
        editor.scroll_into_view_if_needed()


@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
def test_python_comes_at_the_first_touch_from_this_site_alone_and_says_how_it_comes(browser, address, phone):
    """Nothing comes with scrolling where data are saved; then the network is gone, stalls, and is back."""
    small = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    context = browser.new_context(**small if phone else {"viewport": {"width": 1200, "height": 900}})
    context.add_init_script(SAVES_DATA % "true")
    requested: list[str] = []
    context.on("request", lambda request: requested.append(request.url))
    tab = context.new_page()
    tab.goto(f"{address}/book/{FORMULA}.html", wait_until=READ)
    tab.locator(".posenc-check").first.wait_for(state="attached")
    assert not [url for url in requested if "editor" in url]
    scroll_through(tab)
    asked = Exercise(tab, f"{FORMULA}.frequencies")
    asked.editor.wait_for()
    assert [url for url in requested if "editor" in url]
    assert not [url for url in requested if "pyodide" in url or "posenc_page" in url]

    loading = asked.box.locator(".posenc-loading")
    tab.keyboard.press("Tab")
    assert not [url for url in requested if "pyodide" in url]
    context.route("**/pyodide.mjs", lambda route: route.abort())
    asked.check("mine = 1", "Python could not be loaded into this page.")
    expect(loading).to_be_hidden()
    notebook = asked.status.get_by_role("link")
    assert tab.request.get(notebook.evaluate("a => a.href")).ok
    assert asked.code == "mine = 1"
    context.unroute("**/pyodide.mjs")
    if not phone:
        context.close()  # Python starts once in this test: on the phone, where the page is short of room
        return

    back: list[bool] = []  # until then it never answers
    context.route("**/pyodide.asm.wasm", lambda route: route.continue_() if back else None)
    asked.check(FREQUENCIES, "Python is being loaded into this page. You can start writing meanwhile.")
    expect(asked.status).to_be_in_viewport()
    expect(loading).to_have_text(re.compile(r"^[1-9]\d*\.\d of [1-9]\d*\.\d MB$"))
    expect(asked.status).to_contain_text("The download of Python has stalled")
    assert asked.status.get_attribute("role") == "status"
    back.append(True)
    asked.button("Try again").tap()
    expect(asked.button("Try again")).to_be_hidden()
    expect(asked.status).to_contain_text("Passed")
    expect(loading).to_be_hidden()
    verdict = asked.result.get_by_text("Passed: “One frequency per pair”.").first
    expect(verdict).to_be_in_viewport(ratio=1)
    uncovered = """text => {
      const { x, y, height } = text.getBoundingClientRect();
      return [y + 2, y + height - 2].every((line) => text.contains(document.elementFromPoint(x + 5, line)));
    }"""
    assert verdict.evaluate(uncovered), "the page's header stands over it"
    assert [url for url in requested if "posenc_page" in url]
    assert [url for url in requested if not url.startswith((address, "data:", "blob:"))] == []
    context.close()


def test_python_comes_with_the_page_for_whoever_asks_for_it(browser, address):
    context = browser.new_context()
    context.route("**/pyodide.mjs", lambda route: route.abort())
    tab = context.new_page()
    tab.goto(f"{address}/book/progress.html", wait_until=READ)
    tab.get_by_label("Load Python when the page opens").check()
    tab.reload(wait_until=READ)
    expect(tab.get_by_label("Load Python when the page opens")).to_be_checked()
    with tab.expect_request("**/pyodide.mjs"):
        tab.goto(f"{address}/book/{ORDER}.html", wait_until=READ)
    context.close()


@pytest.mark.parametrize("saves_data", [False, True])
def test_python_comes_when_an_exercise_comes_near_unless_data_are_to_be_saved(newcomer, address, saves_data):
    context = newcomer()
    tab = context.new_page()
    tab.add_init_script(SAVES_DATA % json.dumps(saves_data))
    workers = []
    tab.on("worker", lambda worker: workers.append(worker))
    tab.goto(f"{address}/book/{FORMULA}.html", wait_until="load")
    assert workers == []
    exercise = Exercise(tab, f"{FORMULA}.frequencies")
    expect(exercise.editor).to_be_visible()
    if not saves_data and not workers:
        tab.wait_for_event("worker")
    tab.wait_for_timeout(2000)
    assert len(workers) == (0 if saves_data else 1)
    exercise.check(FREQUENCIES, "Passed")
    assert len(workers) == 1


def test_the_sizes_that_no_server_tells_are_those_of_the_release(site):
    """The tests have the same release as the pages ask their network for (tests/test_one_home.py)."""
    release = json.loads((ROOT / "book" / "_ext" / "pyodide.json").read_text())
    [folder] = (site / "_static" / "pyodide").iterdir()
    for name, size in release["packed"].items():
        assert (folder / name).stat().st_size == size, name


def test_what_pages_load_of_library_and_course_stays_small(site):
    archive, words = sorted((site / "_static" / "library").iterdir(), key=lambda path: path.name)
    assert (archive.name[:7], words.name) == ("posenc_", "zh_CN.tar.gz")
    assert archive.stat().st_size < 700_000  # 661,000 in November 2026
    assert words.stat().st_size < 400_000  # what a Chinese page loads beside it


def test_no_page_script_failed(visitor):
    assert visitor.context.complaints == []


# --- The build ---------------------------------------------------------------------------------------


def test_scripts_are_the_same_wherever_they_are_built(site, tmp_path):
    """Else every page would have changed with every build in another folder."""
    web = ROOT / "book" / "web"
    shutil.copytree(web, tmp_path / "book" / "web", ignore=shutil.ignore_patterns("node_modules"))
    load_build().bundle_scripts(tmp_path)
    made, there = tmp_path / "_build" / "web" / "posenc", site / "_static" / "posenc"
    assert {file.name for file in made.iterdir()} == {file.name for file in there.iterdir()}


def test_a_folder_that_is_no_pyodide_is_refused(tmp_path):
    build = load_build()
    with pytest.raises(
        build.PyodideError, match=r"holds no pyodide\.mjs; give the folder of an unpacked Pyodide"
    ):
        build.place_pyodide(tmp_path, tmp_path)


def test_a_site_built_without_a_release_keeps_no_old_one(tmp_path):
    build = load_build()
    for old in ("_build/web/pyodide", "_build/html/_static/pyodide"):
        (tmp_path / old).mkdir(parents=True)
    build.place_pyodide(tmp_path, None)
    assert not list(tmp_path.rglob("pyodide"))
