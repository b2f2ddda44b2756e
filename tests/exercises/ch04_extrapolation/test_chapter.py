"""What the exercises of `04-extrapolation` hold together."""

from __future__ import annotations

import pytest


@pytest.mark.slow
def test_the_models_of_forgets_answer_from_outside_the_walls():
    """In grading the learner's process holds no model: what it is given asks back."""
    from posenc_course.grading.judging.grader import Grader
    from posenc_course.grading.limits import Limits
    from posenc_course.grading.verdicts import Verdict
    from tests.grading.conftest import model_answers

    cut_off = """
    def forgets(predict, tokens, window):
        return bool(abs(predict(tokens)[-1] - predict(tokens[-window:])[-1]) <= 1e-9)
    """
    limits = Limits(wall_seconds=120, memory_bytes=192 * 2**20)
    with Grader() as grader:
        for changed, verdict, mistake in (
            ({}, Verdict.RIGHT, None),
            ({"forgets": cut_off}, Verdict.WRONG, "cut-off"),
        ):
            answers = model_answers("04-extrapolation", **changed)
            grade = grader.grade(answers, student="ada", assignment="04-extrapolation", seed=7, limits=limits)
            for each in grade.exercises:
                asked_for = each.exercise_id.endswith(".forgets")
                assert each.verdict == (verdict if asked_for else Verdict.RIGHT)
                assert each.mistake == (mistake if asked_for else None)
