"""`03-relative-position.possible_distances`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.checking import report_on
from posenc_course.exercises.ch03_relative_position.possible_distances import POSSIBLE_DISTANCES
from posenc_lib.added.sinusoidal import similarity
from tests.exercises.ch03_relative_position.shared import SEEDS, exact_rows


@pytest.mark.parametrize("seed", SEEDS)
def test_the_true_distance_is_among_those_that_fit(seed):
    true = {"width 64, no doubt": 3, "the same place": 0, "the farthest distance": 40}
    for case in POSSIBLE_DISTANCES.cases(seed):
        product, dim, base, reach, tolerance = case.args
        fit = POSSIBLE_DISTANCES.reference(*case.args).tolist()
        rows = exact_rows(range(reach + 1), dim, base)
        expected = [k for k in range(reach + 1) if abs(rows[0] @ rows[k] - product) <= tolerance]
        assert fit == expected
        assert true.get(case.label, expected[0]) in fit
    asked = {
        case.label: len(POSSIBLE_DISTANCES.reference(*case.args)) for case in POSSIBLE_DISTANCES.cases(seed)
    }
    assert asked["width 64, no doubt"] == 1
    assert asked["width 64, two candidates or more"] > 1


def one_candidate(product, dim, base, reach, tolerance):
    angles = np.outer(np.arange(reach + 1), base ** (-2 * np.arange(dim // 2) / dim))
    return [int(np.argmin(abs(np.cos(angles).sum(1) - product)))]


def one_sided(lowest, highest):
    """Allows the dot product to differ by so many tolerances, downwards and upwards."""

    def answer(product, dim, base, reach, tolerance):
        above = (similarity(np.arange(reach + 1), dim, base=base) - product) / tolerance
        return np.flatnonzero((above >= lowest) & (above <= highest))

    return answer


def test_who_takes_the_absolute_difference_is_not_told_to_take_it():
    report = str(report_on(POSSIBLE_DISTANCES.id, one_sided(-2, 2)))
    assert "You list a distance whose dot product is more than the tolerance away." in report
    assert "so take the absolute difference" not in report


NOT_KNOWN = (
    ("possible_distances", lambda product, dim, base, reach, tolerance: [3], None),
    *(
        ("possible_distances", one_sided(lowest, highest), words)
        for lowest, highest, words in (
            (-1, 0, "Your list lacks a distance whose dot product is larger"),
            (0, 1, "Your list lacks a distance whose dot product is smaller"),
            (-np.inf, 1, "more than the tolerance away"),
            (-1, np.inf, "more than the tolerance away"),
        )
    ),
    (
        "possible_distances",
        lambda *args: POSSIBLE_DISTANCES.reference(*args)[::-1],
        "the smallest distance first",
    ),
    (
        "possible_distances",
        lambda *args: POSSIBLE_DISTANCES.reference(*args) / 2,
        "whole numbers from 0 to reach",
    ),
)


WRITTEN_IN_ANOTHER_WAY = (("possible_distances", one_candidate, "nearest-alone"),)
