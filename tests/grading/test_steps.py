"""An exercise of several steps: one error costs one step, and what stands in for it opens no way around."""

from __future__ import annotations

import pytest

from posenc_course.exercises import Mistake
from posenc_course.grading.verdicts import Verdict
from tests.grading.conftest import submission
from tests.grading.test_judging import _toy_cases, graded, one, toy, use

TWICE = (
    toy("double", lambda x: 2 * x, _toy_cases, step_of="Twice", points=1),
    toy(
        "quadruple",
        lambda x: 4 * x,
        _toy_cases,
        step_of="Twice",
        points=2,
        mistakes=(Mistake("eight", lambda x: 8 * x, "That is three times, not twice."),),
    ),
    toy("negate", lambda x: -x, _toy_cases, points=4),
)
QUADRUPLE = "def quadruple(x): return double(double(x))"
NEGATE = "def negate(x): return -x"
STOOD_IN = "Your double is not right yet."


@pytest.fixture
def steps(grader, monkeypatch):
    return use(TWICE, grader, monkeypatch)


def verdicts(grade) -> list[Verdict]:
    return [one(grade, name).verdict for name in ("double", "quadruple", "negate")]


@pytest.mark.parametrize(
    ("double", "verdict"),
    [
        ("def double(x): return x + 2", Verdict.WRONG),
        ("def double(x):\n    raise NotImplementedError", Verdict.UNWRITTEN),
        ("", Verdict.UNWRITTEN),
        ("double = 2", Verdict.ERROR),
        ("def double(x):\n    import os; os._exit(0)", Verdict.CRASHED),
        ("import posenc_lib\ndef double(x): return posenc_lib.attention(x, x, x)", Verdict.TAMPERED),
    ],
)
def test_an_error_costs_its_own_step_and_no_later_one(steps, double, verdict):
    grade = graded(steps, submission("import numpy as np", double, QUADRUPLE, NEGATE))
    assert verdicts(grade) == [verdict, Verdict.RIGHT, Verdict.RIGHT]
    assert grade.points == 6
    assert one(grade, "quadruple").feedback.startswith("Passed")
    assert STOOD_IN in one(grade, "quadruple").feedback
    assert STOOD_IN in one(grade, "quadruple").feedback_html


def test_a_right_step_is_the_learners_own(steps):
    grade = graded(steps, submission("def double(x): return x + x", QUADRUPLE, NEGATE))
    assert verdicts(grade) == [Verdict.RIGHT] * 3
    assert STOOD_IN not in one(grade, "quadruple").feedback


def test_the_later_steps_own_mistake_is_named_beside_an_earlier_one(steps):
    eight = "def quadruple(x): return double(double(double(x)))"
    grade = graded(steps, submission("def double(x): return x", eight, NEGATE))
    found = one(grade, "quadruple")
    assert (found.verdict, found.mistake) == (Verdict.WRONG, "eight")
    assert STOOD_IN in found.feedback


def test_a_later_step_that_is_right_with_a_function_of_another_form_keeps_its_points(steps):
    other = "def double(x, factor): return factor * x", "def quadruple(x): return double(x, 4)"
    assert verdicts(graded(steps, submission(*other, NEGATE))) == [
        Verdict.ERROR,
        Verdict.RIGHT,
        Verdict.RIGHT,
    ]


KEEPS = """
import sys
stash = {}
def quadruple(x):
    sys.table = stash
    for each in (x, double(x)):
        stash[str(each)] = double(each)
    stash["double"] = double
    return double(double(x))
"""


@pytest.mark.parametrize(
    "double",
    [
        "def double(x): return sys.table[str(x)]",
        "def double(x): return stash['double'](x)",
        "def double(x): return quadruple(x) / 2 if 'double' in stash else x",
    ],
)
def test_what_stood_in_answers_for_no_step_and_no_other_exercise(steps, double):
    """The step itself earns nothing by it; what it told, and it itself, are of no use elsewhere."""
    for negate in ("-stash[str(x)] / 2", "-stash['double'](x) / 2"):
        grade = graded(steps, submission(double, KEEPS, f"def negate(x): return {negate}"))
        assert one(grade, "quadruple").verdict is Verdict.RIGHT
        assert one(grade, "double").points == one(grade, "negate").points == 0


ASKS = """
import sys
def quadruple(x):
    frame = sys._getframe()
    while type(frame.f_locals.get("self")).__name__ != "Learner":
        frame = frame.f_back
    return frame.f_locals["self"]._ask({{"step": "{step}"}}, (x,), {{}}) * {factor}
"""


@pytest.mark.parametrize(
    ("double", "step", "factor"),
    [
        ("def double(x): return x + x", "double", 2),  # it is right: nothing stands in for it
        ("def double(x): return x", "quadruple", 1),  # the very step that is judged
        ("def double(x): return x", "toy.quadruple", 1),
        ("def double(x): return x", "negate", -4),  # no step of this exercise
    ],
)
def test_no_other_step_can_be_asked_for(steps, double, step, factor):
    grade = graded(steps, submission(double, ASKS.format(step=step, factor=factor), NEGATE))
    found = one(grade, "quadruple")
    assert (found.verdict, found.points) == (Verdict.TAMPERED, 0)
    assert one(grade, "negate").verdict is Verdict.RIGHT
