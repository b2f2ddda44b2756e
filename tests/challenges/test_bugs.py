"""Every bug changes one line of a real solution, and is a mistake that the judge names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from posenc_course.challenges import bugs
from posenc_course.challenges.draws import Draws
from posenc_course.exercises import all_exercises, exercise
from tests.challenges.test_draws import in_javascript
from tools.find_bugs import ENOUGH, report, slips, solution

ROOT = Path(__file__).resolve().parents[2]
EXERCISES = list(dict.fromkeys(each.exercise for each in bugs.all_bugs()))


def test_there_are_many_in_every_chapter_and_each_is_there_once():
    found = bugs.all_bugs()
    assert len(set(found)) == len(found) >= 300
    chapters = {each.chapter for each in all_exercises()}
    counts = {chapter: sum(each.exercise.startswith(chapter) for each in found) for chapter in chapters}
    few = [chapter for chapter, count in counts.items() if count < ENOUGH]
    assert not few, f"run `python -m tools.find_bugs` for {few}"


def test_the_games_are_offered_once_no_bug_gives_an_exercise_to_come_away():
    (row,) = (
        line for line in (ROOT / "book" / "play.md").read_text().splitlines() if "(challenges.md)" in line
    )
    after = re.search(r"after chapter (\d+)", row)
    assert after
    assert int(after[1]) >= max(int(each[:2]) for each in EXERCISES)


def test_only_what_a_page_can_run_has_bugs():
    for name in EXERCISES:
        assert exercise(name).in_page, name
        assert exercise(name).kind == "function", name


def test_slips_are_small_and_stand_in_one_line():
    source = "def f(a, b):\n    c = np.cos(a - 1)\n    return np.where(c < b, c, 0) / 2\n"
    found = {source.replace(words, instead) for words, instead in slips(source)}
    assert all(source.count(words) == 1 for words, _ in slips(source))
    for line in ("c = np.sin(a - 1)", "c = np.cos(a)", "c = np.cos(b - 1)", "c = a - 1"):
        assert f"def f(a, b):\n    {line}\n    return np.where(c < b, c, 0) / 2\n" in found
    for line in ("np.where(c <= b, c, 0) / 2", "np.where(c < b, 0, c) / 2", "np.where(c < b, c, 0)", "c / 2"):
        assert f"def f(a, b):\n    c = np.cos(a - 1)\n    return {line}\n" in found


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
    with pytest.raises(ValueError, match="occurs 0 times in the solution"):
        bugs.Bug("a.b", "x + 1", "x - 1").planted("return x")
