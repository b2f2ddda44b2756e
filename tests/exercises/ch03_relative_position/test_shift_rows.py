"""`03-relative-position.shift_rows`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.checking import report_on
from posenc_course.exercises.ch03_relative_position.shift_rows import SHIFT_ROWS
from tests.exercises.ch03_relative_position.shared import SEEDS, TEXT, exact_rows
from tests.present import present


@pytest.mark.parametrize("seed", SEEDS)
def test_shifted_rows_are_the_exact_rows_of_the_new_positions(seed):
    """Known positions by the formula; random ones by going there and back."""
    known = {
        "positions 0 to 4, offset 3, dim 4": range(5),
        "positions 7, 2 and 100, offset -2, dim 8": (7, 2, 100),
        "one row, offset 1, dim 2": (5,),
        "offset 0, dim 6": (3, 1),
        "offset 0.5, dim 4": (0, 20, -4),
    }
    for case in SHIFT_ROWS.cases(seed):
        rows, offset = case.args
        if case.label in known:
            expected = exact_rows([p + offset for p in known[case.label]], rows.shape[1])
            assert SHIFT_ROWS.reference(rows, offset) == pytest.approx(expected, abs=1e-12), case.label
        there_and_back = SHIFT_ROWS.reference(SHIFT_ROWS.reference(rows, offset), -offset)
        assert there_and_back == pytest.approx(rows, abs=1e-12)


def test_the_code_that_is_to_be_debugged_is_the_code_in_the_text():
    """The text shows it, and `as-given` says so: both must be the same."""
    code = TEXT.read_text().split("```python\n")[1].split("```")[0]
    namespace = {"np": np}
    exec(code, namespace)
    report = report_on("03-relative-position.shift_rows", namespace["shift_rows"])
    assert not report.passed
    assert present(report.mistake).name == "as-given"


def in_place_with_right_signs(rows, offset):
    a = offset / 10000.0 ** (np.arange(0, rows.shape[1], 2) / rows.shape[1])
    s, c = rows[:, ::2], rows[:, 1::2]
    rows[:, ::2] = s * np.cos(a) + c * np.sin(a)
    rows[:, 1::2] = c * np.cos(a) - s * np.sin(a)
    return rows


NOT_KNOWN = (
    ("shift_rows", lambda rows, offset: -rows, None),
    ("shift_rows", lambda rows, offset: np.roll(rows, int(offset), axis=0), "as np.roll moves them"),
    ("shift_rows", lambda rows, offset: np.roll(rows, -int(offset), axis=0), "as np.roll moves them"),
    ("shift_rows", lambda rows, offset: SHIFT_ROWS.reference(rows, abs(offset)), "its sign was lost"),
    (
        "shift_rows",
        lambda rows, offset: SHIFT_ROWS.reference(rows, int(offset)),
        "the fraction of the offset",
    ),
    (
        "shift_rows",
        lambda rows, offset: SHIFT_ROWS.reference(rows, round(offset)),
        "the fraction of the offset",
    ),
)


WRITTEN_IN_ANOTHER_WAY = (("shift_rows", in_place_with_right_signs, "still-in-place"),)
