"""Every chapter is an assignment: right, wrong, blank and empty submissions each get what they are worth."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from posenc_course.exercises import Exercise, all_exercises, exercises_of
from tests.grading.class_fixtures import Class, release_to

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted({each.chapter for each in all_exercises()})


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    return release_to(tmp_path_factory.mktemp("course"), CHAPTERS)


def wrong(asked: Exercise) -> str:
    """An answer of the right form that is never right."""
    if asked.kind == "value":
        return f'{asked.function} = "no"'
    return textwrap.dedent(f"""
        def {asked.function}(*args):
            return "no"
    """)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_right_wrong_blank_and_empty_submissions_of_every_assignment(course, chapter):
    work = Class(course, chapter)
    exercises = exercises_of(chapter)
    one_wrong = exercises[-1]
    work.hand_in("right", work.solved())
    work.hand_in("wrong", work.solved(**{each.function: wrong(each) for each in exercises}))
    work.hand_in("one-wrong", work.solved(**{one_wrong.function: wrong(one_wrong)}))
    work.hand_in("blank", work.blank())
    work.hand_in("empty", work.solved(**dict.fromkeys((each.function for each in exercises), "")))
    work.posenc("grade", chapter)
    total = sum(each.points for each in exercises)
    assert work.marks() == {
        "right": total,
        "wrong": 0.0,
        "one-wrong": total - one_wrong.points,
        "blank": 0.0,
        "empty": 0.0,
    }
