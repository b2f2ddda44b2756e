"""What the book says of the stored experiments is what is stored: other results, and its cells fail."""

from __future__ import annotations

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any

import jupytext
import numpy as np
import pytest
from matplotlib.figure import Figure

from posenc_course.experiments import LONG, NAMES, results, source_text
from posenc_course.figures import moves

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "book" / "measured.md"
CHAPTER = ROOT / "book" / "04-extrapolation.md"
BYTES = "byte-models"

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def code_of(page: Path) -> list[str]:
    """The cells of a page; of the chapter, without those that train small heads and read nothing stored."""
    cells = [cell.source for cell in jupytext.read(page).cells if cell.cell_type == "code"]
    if page == CHAPTER:
        heads, models = (
            next(n for n, cell in enumerate(cells) if cell.startswith(start))
            for start in ("import torch", "from posenc_course.experiments.results")
        )
        cells = cells[:heads] + cells[models:]
    return cells


def run_cells(page: Path) -> str:
    """Run all cells of a page in order; what they print and show."""
    printed = io.StringIO()
    namespace: dict[str, Any] = {}
    with contextlib.redirect_stdout(printed):
        for cell in code_of(page):
            tree = ast.parse(cell)
            last = tree.body[-1] if tree.body else None
            shown = last.value if isinstance(last, ast.Expr) else None
            if shown is not None:
                tree.body.pop()
            exec(compile(tree, page.name, "exec"), namespace)
            if shown is not None:
                print(eval(compile(ast.Expression(shown), page.name, "eval"), namespace))
    return printed.getvalue()


@pytest.fixture
def undrawn(monkeypatch):
    """Pictures stay empty: to draw them takes most of the time, and it is not they that fail."""
    empty = '<svg width="1pt" height="1pt"></svg>'
    monkeypatch.setattr(Figure, "savefig", lambda figure, file, **options: file.write(empty))
    monkeypatch.setattr(moves, "sheet", lambda moves, svg, prefix: ("", 0.0))  # nothing is there to move


@pytest.fixture
def changed(tmp_path, monkeypatch, undrawn):
    """A function that stores other results, made from the real ones, for this test alone."""
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    for path in (ROOT / "posenc_course" / "experiments" / "results").glob("*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())

    def change(name, edit):
        path = tmp_path / f"{name}.json"
        result = json.loads(path.read_text())
        edit(result["runs"])
        path.write_text(json.dumps(result))
        results.stored.cache_clear()

    yield change
    results.stored.cache_clear()


def exchange(runs, one, other):
    """Let two encodings change places."""
    names = {one: other, other: one}
    for each in runs:
        each["run"]["encoding"] = names.get(each["run"]["encoding"], each["run"]["encoding"])


@pytest.mark.parametrize("page", [PAGE, CHAPTER], ids=lambda page: page.stem)
def test_the_cells_hold_for_what_is_stored(page, changed):
    changed(BYTES, lambda runs: None)
    run_cells(page)


@pytest.mark.parametrize("page", [PAGE, CHAPTER], ids=lambda page: page.stem)
def test_the_page_can_be_built_with_another_python_than_that_of_the_runs(page, undrawn, monkeypatch):
    def refuse_it(wanted):
        raise ValueError("this is the text of another Python")

    monkeypatch.setattr(source_text, "require", refuse_it)
    run_cells(page)


def of(runs, encoding):
    return [each for each in runs if each["run"]["encoding"] == encoding]


def hold(runs):
    """One sinusoidal seed keeps its loss at all lengths."""
    longer = of(runs, "sinusoidal")[1]["result"]["longer"]
    longer["by_length"] = [longer["by_length"][0]] * len(longer["by_length"])


def gain(runs):
    """One sinusoidal seed reads the whole text better than its end."""
    longer = of(runs, "sinusoidal")[2]["result"]["longer"]
    longer["whole"], longer["sliding"] = longer["sliding"], longer["whole"]


def admit(runs):
    for each in of(runs, "learned"):
        each["verdict"] = "admitted"


def refuse(runs):
    of(runs, "sinusoidal")[0] |= {"verdict": "not admitted", "reason": "below counting"}


@pytest.mark.parametrize(
    "edit", [hold, gain, admit, refuse, lambda runs: exchange(runs, "alibi", "sinusoidal")]
)
def test_with_other_byte_models_the_cells_of_the_chapter_fail(edit, changed):
    changed(BYTES, edit)
    with pytest.raises(AssertionError):
        run_cells(CHAPTER)


def break_one(runs):
    """One ALiBi seed loses its footing."""
    longer = of(runs, "alibi")[1]["result"]["longer"]
    first, *others = longer["by_length"]
    longer["by_length"] = [first, *([loss + 0.3 for loss in by_file] for by_file in others)]


def admit_none(runs):
    for each in of(runs, "none"):
        each["verdict"] = "admitted"


@pytest.mark.parametrize(
    "edit",
    [
        hold,
        gain,
        refuse,
        break_one,
        admit_none,
        lambda runs: exchange(runs, "alibi", "sinusoidal"),
        lambda runs: exchange(runs, "rope", "t5"),
    ],
)
def test_with_other_byte_models_the_page_fails(edit, changed):
    changed(BYTES, edit)
    with pytest.raises((AssertionError, ValueError, KeyError)):
        run_cells(PAGE)


def turn_mask(runs):
    for each in runs:
        each["run"]["causal"] = not each["run"]["causal"]


def scale_down(runs):
    for each in runs:
        each["run"]["ratio"] /= 16


def more_waves(runs):
    for each in runs:
        each["run"]["pairs"] = {1: 32, 2: 8, 8: 2, 32: 1}[each["run"]["pairs"]]


def cost_nothing(runs):
    for each in runs:
        for case in each["result"]["cases"]:
            case["wrong"] = case["mended"]


def know_nothing(runs):
    for each in runs:
        each["result"]["squares"] = [0.0] * len(each["result"]["squares"])


def hide_nothing(runs):
    for each in runs:
        read = each["result"]["read"]
        read |= {way: read["as it is"] for way in read if way == "far keys hidden"}


def exchange_rates(runs):
    for each in runs:
        each["run"]["rate"] = {0.001: 0.01, 0.01: 0.001}[each["run"]["rate"]]


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("bags", turn_mask),
        ("sizes", scale_down),
        ("confusions", more_waves),
        ("mistakes", cost_nothing),
        ("untrained", know_nothing),
        ("beyond-text", lambda runs: exchange(runs, "axial", "distances")),
        ("beyond-text-rates", exchange_rates),
        ("causes", hide_nothing),
        ("position-tasks", lambda runs: exchange(runs, "rope", "alibi")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_with_another_result_of_the_other_experiments_the_page_fails(name, edit, changed):
    changed(name, edit)
    with pytest.raises((AssertionError, ValueError, KeyError)):
        run_cells(PAGE)


def test_every_stored_experiment_is_in_the_book():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGE.parent.glob("*.md"))
    for path in results.FOLDER.glob("*.json"):
        assert path.stem in NAMES | LONG
        assert f'"{path.stem}"' in text, f"{path.stem} is stored, and no page shows it"


def test_make_says_how_long_the_experiments_take():
    every = [results.stored(name) for name in NAMES]
    hours = sum(each.get("processor_seconds", each["seconds"]) for each in every) / 2 / 3600
    words = dict(
        enumerate(["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"])
    )
    assert f"(some {words[round(hours)]} hours on two cores)" in (ROOT / "Makefile").read_text()


def test_every_seed_is_in_the_table(undrawn):
    """Three numbers for each encoding, and they are those of the three seeds."""
    shown = run_cells(PAGE)
    for encoding in ("sinusoidal", "rope", "t5", "alibi"):
        found = results.runs(BYTES, encoding=encoding)
        assert len(found) == 3
        ends = [np.mean(each["result"]["longer"]["by_length"], axis=1)[[0, -1]] for each in found]
        assert ", ".join(f"{last - first:+.2f}" for first, last in ends) in shown
