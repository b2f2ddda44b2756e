"""`10-position-from-content.gated_attention`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch10_position_from_content.forget_bias import FORGET_BIAS
from posenc_course.exercises.ch10_position_from_content.gated_attention import GATED_ATTENTION
from posenc_course.exercises.ch10_position_from_content.log_gates import LOG_GATES
from posenc_lib import attention
from posenc_lib.biased import fox_bias
from tests.exercises.ch10_position_from_content.shared import right


def test_what_is_left_of_each_key_is_the_librarys_bias_and_attention():
    rng = np.random.default_rng(0)
    logits, (q, k, v) = rng.normal(size=(3, 7)), rng.normal(size=(3, 3, 7, 4))
    bias = fox_bias(logits, 5)
    gates = right(LOG_GATES, logits)
    assert right(FORGET_BIAS, gates, 5) == pytest.approx(bias)
    ours = right(GATED_ATTENTION, q[:, 2:], k, v, gates)
    assert ours == pytest.approx(attention(q[:, 2:], k, v, bias=bias, causal=True))


NOT_KNOWN = (
    (
        "gated_attention",
        lambda q, k, v, gates: right(GATED_ATTENTION, q, k, 3 * v, gates),
        "no result can leave the range of the values",
    ),
    ("gated_attention", lambda q, k, v, gates: right(GATED_ATTENTION, q, k, v[:, ::-1], gates), None),
)
