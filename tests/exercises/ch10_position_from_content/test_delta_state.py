"""`10-position-from-content.delta_state`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch10_position_from_content.delta_state import DELTA_STATE
from posenc_course.exercises.ch10_position_from_content.fading_state import FADING_STATE
from tests.exercises.ch10_position_from_content.shared import right


def test_a_state_that_corrects_itself_solves_what_it_was_told():
    """With beta 1 and keys at right angles nothing is lost; a key that comes again has its last value."""
    rng = np.random.default_rng(0)
    keys, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    k, v = np.vstack([keys, keys[:2]]), rng.normal(size=(6, 3))
    _, state = right(DELTA_STATE, k, k, v, np.ones(6), rng.normal(size=(3, 4)))
    assert keys @ state.T == pytest.approx(v[[4, 5, 2, 3]])


NOT_KNOWN = (
    ("delta_state", lambda q, k, v, beta, state: right(DELTA_STATE, q, k, v, beta / 2, state), None),
)


WRITTEN_IN_ANOTHER_WAY = (
    (
        "delta_state",
        lambda q, k, v, beta, state: right(FADING_STATE, q, k, v * beta[:, None], np.ones(len(q)), state),
        "nothing-erased",
    ),
)
