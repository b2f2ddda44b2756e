"""Every bug changes one line of a real solution, and is a mistake that the judge names."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import jupytext
import pytest

from posenc_lib.challenges import bugs
from posenc_lib.challenges.draws import Draws
from posenc_lib.checking import judge, run
from posenc_lib.exercises import all_exercises, exercise
from tests.challenges.test_draws import in_javascript
from tests.exercises.mutants import defines

ROOT = Path(__file__).resolve().parents[2]
EXERCISES = list(dict.fromkeys(each.exercise for each in bugs.all_bugs()))


@cache
def cells(chapter: str) -> list[str]:
    notebook = jupytext.read(ROOT / "solutions" / f"{chapter}.md")
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return [each for each in code if not each.startswith("check(")]


@cache
def solution(exercise_id: str) -> tuple[str, int]:
    """The cell with the answer, without nbgrader's marks, and its place."""
    asked = exercise(exercise_id)
    place, cell = next((n, c) for n, c in enumerate(cells(asked.chapter)) if defines(c, asked.function))
    return "\n".join(line for line in cell.split("\n") if "### " not in line), place


@cache
def names_before(exercise_id: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells(exercise(exercise_id).chapter)[: solution(exercise_id)[1]]:
        exec(cell, names)
    return names


def report(exercise_id: str, code: str) -> Any:
    asked, names = exercise(exercise_id), dict(names_before(exercise_id))
    exec(code, names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return judge(asked, run(names[asked.function], asked.cases(0), asked.array_library), seed=0)


def test_there_are_many_in_every_chapter_and_each_is_there_once():
    found = bugs.all_bugs()
    assert len(set(found)) == len(found) >= 300
    chapters = {each.chapter for each in all_exercises()} - {"08-long-context"}  # which has none yet
    counts = {chapter: sum(each.exercise.startswith(chapter) for each in found) for chapter in chapters}
    assert min(counts.values()) >= 20, counts


def test_a_bug_changes_one_line():
    for bug in bugs.all_bugs():
        right, _ = solution(bug.exercise)
        lines = zip(right.split("\n"), bug.planted(right).split("\n"), strict=True)
        changed = [number for number, (one, other) in enumerate(lines, start=1) if one != other]
        assert changed == [bug.line(right)], bug


@pytest.mark.parametrize("name", EXERCISES)
def test_the_judge_rejects_each_bug_and_names_the_mistake(name):
    right, _ = solution(name)
    for bug in (each for each in bugs.all_bugs() if each.exercise == name):
        found = report(name, bug.planted(right))
        assert not found.passed, bug
        assert found.mistake is not None, bug


def test_a_mended_bug_passes():
    for seed in range(0, 200, 10):
        bug = bugs.draw(seed)
        right, _ = solution(bug.exercise)
        assert report(bug.exercise, right).passed


def test_the_page_draws_the_same_bug():
    count = len(bugs.all_bugs())
    found = in_javascript(
        "import { Draws } from 'SRC/draws.js';"
        f"const all = Array.from({{ length: {count} }}, (_, i) => i);"
        "const seeds = Array.from({ length: 200 }, (_, seed) => seed);"
        "console.log(JSON.stringify(seeds.map((seed) => new Draws('bug', seed).choice(all))))"
    )
    assert found == [Draws("bug", seed).below(count) for seed in range(200)]
    assert [bugs.all_bugs()[number] for number in found] == [bugs.draw(seed) for seed in range(200)]


def test_words_that_are_not_there_are_told():
    with pytest.raises(ValueError, match="stands 0 times in the solution"):
        bugs.Bug("a.b", "x + 1", "x - 1").planted("return x")
