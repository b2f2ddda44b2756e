"""The evidence of every drawn checkpoint decides, and no answer is right without it."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.challenges import mystery
from posenc_course.challenges.draws import Draws
from posenc_course.challenges.mystery import FAR, SEEN, Model, OutOfRange
from posenc_course.challenges.page import answer


def deduced(model: Model) -> str:
    """The encoding, from what the measurements show, as the explanations say it."""
    if mystery.reorder_change(model) < SEEN:
        return "none"
    try:
        far = mystery.falls(model, FAR)
    except OutOfRange:
        return "learned"
    if max(mystery.shift_change(model)) > SEEN:
        return "sinusoidal"
    flat = np.ptp(far[:, FAR.index(128) :], axis=1).max() < SEEN
    if mystery.content_difference(model) > SEEN:
        return "shaw" if flat else "rope"
    if flat:
        return "t5"
    slopes = np.diff(far, axis=1) / np.diff(FAR)
    return "alibi" if np.ptp(slopes, axis=1).max() < SEEN else "kerple"


@pytest.mark.parametrize("seed", range(200))
def test_the_measurements_give_the_encoding_away(seed):
    drawn = mystery.draw(seed)
    assert deduced(drawn.model) == drawn.encoding.name
    told = answer("mystery", "name", seed, name=drawn.encoding.name, questions=3, wrong=1)
    assert (told["right"], told["points"], told["title"]) == (True, 4, drawn.encoding.title)
    assert len(told["why"]) == 1 + len(drawn.encoding.decisive)
    others = [each.name for each in mystery.ENCODINGS if each is not drawn.encoding]
    for other in [*others, "", "ALIBI"]:
        told = answer("mystery", "name", seed, name=other, questions=3, wrong=0)
        assert not told["right"]
        assert "why" not in told


def test_no_name_is_taken_without_evidence():
    right = mystery.draw(0).encoding.name
    for questions in range(mystery.LEAST_QUESTIONS):
        told = answer("mystery", "name", 0, name=right, questions=questions, wrong=0)
        assert (told["right"], told["counts"]) == (False, False)
    assert answer("mystery", "name", 0, name=right, questions=2, wrong=0)["points"] == 8


def test_points_fall_with_questions_and_wrong_names_and_never_below_one():
    assert [mystery.points(2, 0), mystery.points(5, 0), mystery.points(2, 1), mystery.points(5, 7)] == [
        8,
        5,
        5,
        1,
    ]


def test_what_decides_is_measured_on_this_very_model():
    one, other = (mystery.draw(seed) for seed in (9, 30))
    assert one.encoding.name == other.encoding.name == "rope"
    assert one.why()[0] == other.why()[0]
    assert one.why()[1:] != other.why()[1:]


@pytest.mark.parametrize("question", [each.name for each in mystery.QUESTIONS])
def test_a_measurement_is_drawn_with_all_its_names(question):
    for seed in range(12):
        found = answer("mystery", "ask", seed, question=question)
        assert found["sentence"].endswith(".")
        assert len(found["names"]) == len(found["lines"])
        assert all(len(line) == len(found["x"]) for line in found["lines"])
        assert bool(found["lines"]) == bool(found["x_label"]) == bool(found["y_label"])


def test_the_last_bucket_begins_where_the_explanation_says():
    [t5] = [each for each in mystery.ENCODINGS if each.name == "t5"]
    curves = mystery.falls(Model("t5", Draws("weights", 0)), range(300))
    begins = 1 + np.flatnonzero((curves != curves[:, -1:]).any(axis=0))[-1]
    assert f"flat from distance {begins} on" in t5.because
