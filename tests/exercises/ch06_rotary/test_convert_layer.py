"""`06-rotary.convert_layer`: its reference, and answers that no list foresaw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from posenc_course.exercises.ch06_rotary.convert_layer import CONVERT_LAYER
from posenc_lib import apply_rotary
from posenc_lib.rotated.tables import Layout


@pytest.mark.parametrize("seed", [0, 1])
def test_a_converted_layer_has_the_scores_of_the_old_one(seed):
    """With each query head beside the head of keys that it shares, in the layout of the weights."""
    for case in CONVERT_LAYER.cases(seed):
        *layer, heads, kv_heads = case.args
        turned = CONVERT_LAYER.reference(*layer, heads, kv_heads)
        assert np.array_equal(turned[2], layer[2])
        x = np.random.default_rng(seed).normal(size=(5, layer[0].shape[1])) / 100
        found = []
        layouts: tuple[tuple[Any, Layout], ...] = ((layer, "interleaved"), (turned, "half"))
        for (w_q, w_k, _, b_q, b_k), layout in layouts:
            q, k = (
                apply_rotary((x @ w.T + b).reshape(5, count, -1).swapaxes(0, 1), 5, layout=layout)
                for w, b, count in ((w_q, b_q, heads), (w_k, b_k, kv_heads))
            )
            found.append(q @ np.repeat(k, heads // kv_heads, axis=0).swapaxes(1, 2))
        assert found[0] == pytest.approx(found[1])


def with_biases_of_the_other_sign(*layer):
    *weights, b_q, b_k = CONVERT_LAYER.reference(*layer)
    return *weights, -b_q, -b_k


NOT_KNOWN = (
    ("convert_layer", lambda *layer: (*layer[:2], -layer[2], *layer[3:5]), None),
    ("convert_layer", with_biases_of_the_other_sign, "signs included"),
)
