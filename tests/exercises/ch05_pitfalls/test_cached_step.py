"""`05-pitfalls.cached_step`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch05_pitfalls.cached_step import CACHED_STEP
from posenc_lib import attention, sinusoidal


@pytest.mark.parametrize("chunks", [(7,), (3, 4), (1,) * 7, (4, 1, 2)])
def test_a_text_in_steps_is_the_text_at_once(chunks):
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(7, 8)), rng.normal(size=(3, 2, 8, 4))
    q, k, v = ((x + sinusoidal(7, 8)) @ w for w in weights)
    at_once = attention(q, k, v, causal=True)
    keys = values = np.zeros((2, 0, 4))
    rows, past = [], 0
    for size in chunks:
        output, keys, values = CACHED_STEP.reference(x[past : past + size], *weights, keys, values)
        rows.append(output)
        past += size
    np.testing.assert_allclose(np.concatenate(rows, axis=1), at_once, atol=1e-12)
    np.testing.assert_allclose(keys, k, atol=1e-12)
    np.testing.assert_allclose(values, v, atol=1e-12)


def one_late(x, w_q, w_k, w_v, keys, values):
    """As somebody writes it who counts the new token before it is placed."""
    rows = []
    for row in x:
        count = keys.shape[1] + 1
        h = row + sinusoidal(np.array([count]), len(row))
        keys = np.concatenate([keys, h @ w_k], axis=1)
        values = np.concatenate([values, h @ w_v], axis=1)
        rows.append(attention(h @ w_q, keys, values))
    return np.concatenate(rows, axis=1), keys, values


NOT_KNOWN = (("cached_step", lambda x, w_q, w_k, w_v, keys, values: (x @ w_q, keys, values), "Number 1"),)


WRITTEN_IN_ANOTHER_WAY = (("cached_step", one_late, "one-late"),)
