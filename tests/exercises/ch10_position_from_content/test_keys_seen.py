"""`10-position-from-content.keys_seen`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch10_position_from_content.forget_bias import FORGET_BIAS
from posenc_course.exercises.ch10_position_from_content.keys_seen import KEYS_SEEN
from posenc_lib import attention
from tests.exercises.ch10_position_from_content.shared import cases, right


def test_a_head_sees_what_attention_gives_its_weight_to():
    for gates, share in cases(KEYS_SEEN):
        still = np.zeros((1, len(gates), 2))
        _, weights = attention(
            still,
            still,
            still,
            bias=right(FORGET_BIAS, gates[None], len(gates)),
            causal=True,
            return_weights=True,
        )
        held = np.cumsum(weights[0, -1, ::-1])
        n = right(KEYS_SEEN, gates, share)
        assert held[n - 1] >= share - 1e-12
        assert n == 1 or held[n - 2] < share + 1e-12


NOT_KNOWN = (
    ("keys_seen", lambda gates, share: 0, "at least 1 and at most the number of tokens"),
    ("keys_seen", lambda gates, share: right(KEYS_SEEN, gates, share**2), None),
)


WRITTEN_IN_ANOTHER_WAY = (
    ("keys_seen", lambda gates, share: right(KEYS_SEEN, gates, share) + -1, "one-too-few"),
    ("keys_seen", lambda gates, share: right(KEYS_SEEN, gates, 1 - share), "the-other-share"),
)
