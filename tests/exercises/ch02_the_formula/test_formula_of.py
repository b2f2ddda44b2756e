"""`02-the-formula.formula_of`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.checking import report_on
from posenc_course.exercises.ch02_the_formula.formula_of import FORMULA_OF, _formula_of, _turns_of_row_1


def paper_if_round_within(room):
    """Of wide tables, the two formulas are nearly one."""

    def answer(rows):
        rates = _turns_of_row_1(rows)
        exponent = -np.log10(rates[1]) * len(rates)
        if abs(exponent - round(exponent)) < room:
            return "paper", 10.0 ** round(exponent)
        return "tensor2tensor", 10.0 ** round(-np.log10(rates[1]) * (len(rates) - 1))

    return answer


@pytest.mark.parametrize("seed", range(20))
def test_an_exponent_that_was_rounded_is_not_told_as_cut(seed):
    """Under the other formula the exponent of a narrow table may be one less."""
    always = paper_if_round_within(0)
    report = report_on(FORMULA_OF.id, always, seed=seed)
    assert not report.passed
    assert "ten times too small" not in str(report)


NOT_KNOWN = (
    *(
        ("formula_of", paper_if_round_within(room), "three rows of width 1024")
        for room in (0.05, 0.01, 0.005)
    ),
    ("formula_of", lambda rows: ("paper", 10000.0), "Test your answer"),
    ("formula_of", lambda rows: (_formula_of(rows)[0], _formula_of(rows)[1] / 10), "ten times too small"),
)
