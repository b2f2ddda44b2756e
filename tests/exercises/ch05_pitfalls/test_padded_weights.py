"""`05-pitfalls.padded_weights`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from posenc_course.exercises.ch05_pitfalls.padded_weights import PADDED_WEIGHTS


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_padded_weights_are_those_of_torch(seed):
    for case in PADDED_WEIGHTS.cases(seed):
        scores, mask = (torch.tensor(each) for each in case.args)
        theirs = scores.masked_fill(mask[:, None] == 0, -math.inf).softmax(-1).nan_to_num(0.0)
        np.testing.assert_allclose(PADDED_WEIGHTS.reference(*case.args), theirs, atol=1e-12)


NOT_KNOWN = (
    ("padded_weights", lambda scores, mask: scores * np.nan, "NaN"),
    (
        "padded_weights",
        lambda scores, mask: np.full_like(scores, 1 / scores.shape[-1]),
        "still gets weight",
    ),
)


def softmax(scores):
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


def tokens_hidden(scores, mask):
    with np.errstate(all="ignore"):
        return softmax(np.where(mask[:, None] == 1, -np.inf, scores))


WRITTEN_IN_ANOTHER_WAY = (
    ("padded_weights", tokens_hidden, "inverted-with-infinity"),
    (
        "padded_weights",
        lambda scores, mask: softmax(scores - 1e9 * (1 - mask[:, None])),
        "added-without-tokens",
    ),
    (
        "padded_weights",
        lambda scores, mask: (
            softmax(np.where(mask[:, None] == 1, scores, -100)) * mask.any(axis=1)[:, None, None]
        ),
        "not-low-enough",
    ),
)
