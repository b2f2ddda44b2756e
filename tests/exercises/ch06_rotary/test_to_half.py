"""`06-rotary.to_half`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_course.exercises.ch06_rotary.to_half import TO_HALF
from posenc_lib import convert_layout


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_conversion_against_that_of_the_llama_checkpoints(seed):
    for case in TO_HALF.cases(seed):
        weight, heads = case.args
        rows, width = weight.shape
        # transformers, convert_llama_weights_to_hf.py
        permuted = torch.from_numpy(weight).view(heads, rows // heads // 2, 2, width).transpose(1, 2)
        expected = permuted.reshape(rows, width).numpy()
        assert np.array_equal(TO_HALF.reference(weight, heads), expected)
        assert np.array_equal(
            convert_layout(weight, heads=heads, source="interleaved", target="half"), expected
        )


def even_rows_first(weight, heads):
    rows = np.arange(len(weight))
    return weight[np.lexsort((rows, rows % 2))]


def with_the_minus_of_a_turn(weight, heads):
    first, second = np.split(
        np.stack(np.split(weight, heads)).reshape(heads, -1, 2, weight.shape[1]), 2, axis=2
    )
    return np.concatenate([-second, first], axis=1).reshape(weight.shape)


NOT_KNOWN = (
    ("to_half", lambda weight, heads: weight[::-1], "never moves from one head to another"),
    ("to_half", with_the_minus_of_a_turn, "have a minus"),
)


WRITTEN_IN_ANOTHER_WAY = (("to_half", even_rows_first, "whole-matrix"),)
