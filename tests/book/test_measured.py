"""What the book says of the stored experiments is what is stored: other results, and its cells fail."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path

import jupytext
import pytest
from matplotlib.figure import Figure

from posenc_lib.experiments import NAMES, results

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "book" / "measured.md"
CHAPTER = ROOT / "book" / "04-extrapolation.md"
LANGUAGE, BYTES = "train-short-test-long", "byte-models"

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def code_of(page: Path) -> list[str]:
    """The cells of a page; of the chapter, without those that train small heads and read nothing stored."""
    cells = [cell.source for cell in jupytext.read(page).cells if cell.cell_type == "code"]
    if page == CHAPTER:
        heads, models = (
            next(n for n, cell in enumerate(cells) if cell.startswith(start))
            for start in ("import torch", "from posenc_lib.experiments.results")
        )
        cells = cells[:heads] + cells[models:]
    return cells


def run_cells(page: Path) -> str:
    """Run all cells of a page in order; what they print."""
    printed, namespace = io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        for cell in code_of(page):
            exec(compile(cell, page.name, "exec"), namespace)
    return printed.getvalue()


@pytest.fixture
def undrawn(monkeypatch):
    """Pictures stay empty: to draw them takes most of the time, and it is not they that fail."""
    empty = '<svg width="1pt" height="1pt"></svg>'
    monkeypatch.setattr(Figure, "savefig", lambda figure, file, **options: file.write(empty))


@pytest.fixture
def changed(tmp_path, monkeypatch, undrawn):
    """A function that stores other results, made from the real ones, for this test alone."""
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    for path in (ROOT / "posenc_lib" / "experiments" / "results").glob("*.json"):
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
    for each in runs:
        names = {one: other, other: one}
        if {one, other} <= {"linear", "yarn"}:  # two ways to read with the same model
            tests = each["result"]["tests"]
            for tuned in ("", ", tuned"):
                if one + tuned in tests:
                    tests[one + tuned], tests[other + tuned] = tests[other + tuned], tests[one + tuned]
        else:
            each["run"]["encoding"] = names.get(each["run"]["encoding"], each["run"]["encoding"])


def lift(runs, encoding, nats):
    """Raise the losses of one seed at lengths that were not trained."""
    for each in runs:
        if each["run"]["encoding"] == encoding and each["run"]["seed"] == 1:
            for losses in each["result"]["tests"].values():
                for what in ("by_length", "by_position", "sampled_whole"):
                    losses[what] = [losses[what][0], *(loss + nats for loss in losses[what][1:])]


@pytest.mark.parametrize(("page", "name"), [(PAGE, LANGUAGE), (CHAPTER, BYTES)])
def test_the_cells_hold_for_what_is_stored(page, name, changed):
    changed(name, lambda runs: None)
    assert run_cells(page)


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


@pytest.mark.parametrize("page", [PAGE], ids=lambda page: page.stem)
@pytest.mark.parametrize(
    "edit",
    [
        lambda runs: exchange(runs, "alibi", "sinusoidal"),
        lambda runs: exchange(runs, "rope", "t5"),
        lambda runs: lift(runs, "alibi", 0.3),
        lambda runs: lift(runs, "sinusoidal", -2.0),
        lambda runs: exchange(runs, "linear", "yarn"),
    ],
    ids=["alibi-is-sinusoidal", "rope-is-t5", "one-seed-of-alibi-breaks", "sinusoidal-holds", "pi-is-yarn"],
)
def test_with_other_losses_the_cells_fail(page, edit, changed):
    changed(LANGUAGE, edit)
    with pytest.raises((AssertionError, ValueError, KeyError)):
        run_cells(page)


def turn_mask(runs):
    for each in runs:
        each["run"]["causal"] = not each["run"]["causal"]


def turn_ratio(runs):
    for each in runs:
        each["run"]["ratio"] = 4 / each["run"]["ratio"]


def spare_the_first_wave(runs):
    for each in runs:
        each["run"]["pairs"] = 5 - each["run"]["pairs"]


def mend_all(runs):
    for each in runs:
        for cases in each["result"]["cases"].values():
            for case in cases:
                case["wrong"] = case["mended"]


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("length-generalisation", lambda runs: exchange(runs, "alibi", "rope")),
        ("does-order-matter", turn_mask),
        ("goldilocks", turn_ratio),
        ("aliasing", spare_the_first_wave),
        ("damage", mend_all),
        ("signals", lambda runs: exchange(runs, "none", "sinusoidal")),
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
        assert path.stem in NAMES
        assert f'"{path.stem}"' in text, f"{path.stem} is stored, and no page shows it"


def test_every_seed_is_printed(undrawn):
    """A row of three numbers for each encoding, and they are those of the three seeds."""
    printed = run_cells(PAGE)
    for encoding in ("sinusoidal", "rope", "t5", "alibi", "none"):
        found = results.runs(LANGUAGE, encoding=encoding, length=64)
        assert len(found) >= 3
        curves = [each["result"]["tests"]["as trained"]["by_length"] for each in found]
        row = " ".join(f"{curve[4] - curve[0]:+.2f}" for curve in curves)
        assert re.search(rf"{encoding} +{re.escape(row)}", printed)
