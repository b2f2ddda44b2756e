"""`06-rotary.yarn_frequencies`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math
from typing import Any

import jupytext
import numpy as np
import pytest

from posenc_course.exercises.ch06_rotary.yarn_frequencies import YARN_FREQUENCIES
from posenc_lib import NTKScaling, frequencies
from tests.exercises.ch06_rotary.shared import SOLUTIONS, of_transformers


def test_the_answers_in_the_text_are_yarn_as_well():
    """The solution that learners see, against transformers and not against our own rule."""
    names: dict[str, Any] = {"np": np, "math": math}
    for function in ("pair_that_turns", "yarn_frequencies"):
        exec(solution_of(function), names)
    for case in YARN_FREQUENCIES.cases():
        assert names["yarn_frequencies"](*case.args) == pytest.approx(
            of_transformers(*case.args)[0], rel=1e-5, abs=0
        )


def solution_of(function):
    cells = jupytext.read(SOLUTIONS).cells
    [found] = [
        cell.source for cell in cells if cell.cell_type == "code" and f"def {function}(" in cell.source
    ]
    return found


NOT_KNOWN = (
    ("yarn_frequencies", lambda dim, base, factor, length: base ** (-np.arange(0, dim, 2) / dim / 2), None),
    ("yarn_frequencies", lambda dim, base, factor, length: np.full(dim // 2, 2.0), "must lie between"),
)


WRITTEN_IN_ANOTHER_WAY = (
    (
        "yarn_frequencies",
        lambda dim, base, factor, length: NTKScaling(factor).scale(
            frequencies(dim, base=base), dim=dim, base=base
        ),
        "ntk",
    ),
)
