"""`10-position-from-content.log_gates`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch10_position_from_content.log_gates import LOG_GATES
from tests.exercises.ch10_position_from_content.shared import right


def test_log_gates_are_exact_however_far_a_gate_is_shut():
    mpmath = pytest.importorskip("mpmath")
    logits = np.array([-1e5, -750.0, -3.0, 0.0, 0.25, 36.0, 700.0])
    with mpmath.workdps(400):
        exact = [float(-mpmath.log(1 + mpmath.exp(-mpmath.mpf(x)))) for x in logits]
    assert right(LOG_GATES, logits) == pytest.approx(exact, rel=1e-14, abs=0)


NOT_KNOWN = (
    ("log_gates", lambda x: np.log(1 / (1 + np.exp(-x))), "Do not compute the gate first"),
    ("log_gates", lambda x: np.log(1 / (1 + np.exp(-x)) + 1e-9), "did the gate become 0 on the way"),
    ("log_gates", lambda x: -np.log1p(np.exp(-np.clip(x, -30, 30))), "or is it cut"),
    ("log_gates", lambda x: np.log1p(1 / (1 + np.exp(-x))), "A gate is at most 1"),
)


WRITTEN_IN_ANOTHER_WAY = (
    ("log_gates", lambda x: np.where(x < 0, x, 0.0), "corner"),
    (
        "log_gates",
        lambda x: np.log(1 + np.exp(-x)) if abs(x).max() < 30 else np.logaddexp(-x, 0),
        "minus-left-out",
    ),
)
