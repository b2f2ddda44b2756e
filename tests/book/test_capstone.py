"""The pages of the capstone: every number that they state is one of the stored runs, or of the rubric."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

import jupytext
import numpy as np
import pytest

from posenc_course.exercises import capstone
from posenc_course.experiments.capstone import COMPARED, ENCODINGS, REPORTED
from posenc_course.experiments.results import runs

ROOT = Path(__file__).resolve().parents[2]
FOR_TEACHERS = (ROOT / "book" / "instructors" / "rubric.md").read_text()
NOTEBOOK = (ROOT / "solutions" / "capstone.md").read_text()


def percent(encoding: str, length: str, seeds: Collection[int] = capstone.SEEDS) -> np.ndarray:
    found = [each for each in runs("capstone", encoding=encoding) if each["run"]["seed"] in seeds]
    return np.array([100 * each["result"][length] for each in found])


def section(title: str) -> str:
    return re.split(r"^#+ ", FOR_TEACHERS.split(f"# {title}")[1], maxsplit=1, flags=re.MULTILINE)[0]


def numbers(text: str) -> list[float]:
    return [float(each) for each in re.findall(r"\d+\.\d", text)]


def test_the_page_computes_what_it_states():
    names: dict[str, object] = {}
    for cell in jupytext.read(ROOT / "book" / "capstone.md").cells:
        if cell.cell_type == "code":
            exec(cell.source, names)


def test_the_table_for_teachers_holds_every_encoding_that_was_run():
    rows = re.findall(
        r"^\|.*\| (\d+\.\d) \| (\d+\.\d) \| (\d+\.\d) to (\d+\.\d) \| (\d+) \|$", FOR_TEACHERS, re.M
    )
    stated = [tuple(map(float, row)) for row in rows]  # the worst first
    found = []
    for name in ENCODINGS:
        home, far = percent(name, "trained"), percent(name, "tested")
        passed = [{32: home, 128: far}[each.steps].mean() >= 100 * each.least for each in capstone.LEVELS]
        share = sum(each.share for each, ok in zip(capstone.LEVELS, passed, strict=True) if ok and passed[0])
        found.append((home.mean(), far.mean(), far.min(), far.max(), 10 * share))
    np.testing.assert_allclose(stated, sorted(found, key=lambda row: row[1]), atol=0.0501)


@pytest.mark.parametrize("steps", [(128, "tested"), (32, "trained")])
def test_the_example_report_holds_the_runs_that_were_made(steps):
    for letter, name in zip("AB", COMPARED, strict=True):
        [row] = re.findall(rf"^\| {letter}, after {steps[0]} steps \|(.*)\|$", NOTEBOOK, re.M)
        found = percent(name, steps[1], REPORTED)
        np.testing.assert_allclose(numbers(row), [*found, found.mean()], atol=0.0501)


def test_the_example_report_computes_rightly():
    a, b = (percent(name, "tested", REPORTED) for name in COMPARED)
    error = np.hypot(a.std(ddof=1), b.std(ddof=1)) / len(a) ** 0.5
    told = "A is ahead by {:.1f} points after 128 steps, with a standard error of {:.1f}."
    assert told.format(a.mean() - b.mean(), error) in NOTEBOOK
    assert (a.mean() - b.mean()) / error > 25
    assert percent(COMPARED[1], "trained", REPORTED).mean() < 90  # its own condition is not met


def test_the_middling_example_quotes_real_runs():
    rope, alibi = (percent(name, "tested") for name in ("rope", "alibi"))
    [stated] = re.findall(r"RoPE: (.*)\. ALiBi: (.*?)\.$", section("A middling one: 8 of 15"), re.M)
    for text, found in zip(stated, (rope, alibi), strict=True):
        np.testing.assert_allclose(numbers(text), [*found, found.mean()], atol=0.0501)
    assert sum(alibi < rope.max()) == 3
    poor = numbers(section("A poor one: 3 of 15"))
    assert poor == [round(alibi.max(), 1), round(percent("sinusoidal", "tested").max(), 1)]


@pytest.mark.parametrize(("title", "total"), [("A middling one", 8), ("A poor one", 3)])
def test_the_marks_of_an_example_add_up(title, total):
    """Each line of the rubric is given or not given, once."""
    lines = {
        name: given
        for names, given in re.findall(
            r"^\| ([PR][^|]*?) \| (yes|no) \|", section(f"{title}: {total} of 15"), re.M
        )
        for name in names.split(", ")
    }
    assert list(lines) == [f"P{n}" for n in range(1, 6)] + [f"R{n}" for n in range(1, 11)]
    assert sum(given == "yes" for given in lines.values()) == total


def test_the_points_of_the_cells_are_those_of_the_rubric():
    assert re.findall(r"<!-- by hand: (\w+), (\d+) -->", NOTEBOOK) == [("plan", "5"), ("report", "10")]
    for letter, count in (("P", 5), ("R", 10)):
        assert len(re.findall(rf"^\| {letter}\d+ \| ", section("The rubric"), re.M)) == count
