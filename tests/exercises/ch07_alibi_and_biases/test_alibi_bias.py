"""`07-alibi-and-biases.alibi_bias`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_course.exercises.ch07_alibi_and_biases.alibi_bias import ALIBI_BIAS
from posenc_course.exercises.ch07_alibi_and_biases.alibi_slopes import ALIBI_SLOPES
from posenc_course.exercises.ch07_alibi_and_biases.slope_of import SLOPE_OF
from tests.exercises.ch07_alibi_and_biases.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_alibi_gives_the_attention_of_mpts_row_under_its_mask(seed):
    rng = np.random.default_rng(seed)
    for case in ALIBI_BIAS.cases(seed):
        slopes, queries, keys, causal = case.args
        bias = ALIBI_BIAS.reference(*case.args)
        assert bias.shape == (len(slopes), queries, keys)
        if not causal:
            square = ALIBI_BIAS.reference(slopes, keys, keys, False)
            np.testing.assert_allclose(square, square.swapaxes(1, 2))
            np.testing.assert_allclose(bias, square[:, keys - queries :])
            continue
        scores = torch.from_numpy(rng.normal(size=(len(slopes), queries, keys)))
        row = torch.from_numpy(slopes)[:, None, None] * torch.arange(1 - keys, 1)
        hidden = torch.ones(queries, keys, dtype=torch.bool).triu(keys - queries + 1)
        theirs = (scores + row).masked_fill(hidden, -torch.inf).softmax(-1)
        ours = (scores + torch.from_numpy(bias)).softmax(-1)
        torch.testing.assert_close(ours, theirs)


def test_the_slope_comes_back_from_real_attention():
    """One token repeated, through the fused kernel and with the published slopes."""
    tokens = torch.ones(1, 8, 30, 16, dtype=torch.float64)
    for heads_slope, head in zip(ALIBI_SLOPES.reference(8), range(8), strict=True):
        bias = torch.from_numpy(ALIBI_BIAS.reference(np.array([heads_slope]), 30, 30, True))
        weights = torch.nn.functional.scaled_dot_product_attention(
            tokens[:, head], tokens[:, head], torch.eye(30, dtype=torch.float64)[None], attn_mask=bias
        )
        assert SLOPE_OF.reference(weights[0].numpy()) == pytest.approx(heads_slope, rel=1e-9)


def bias_of_a_prefill(slopes, queries, keys, causal):
    """Forgets the cache: query 0 stands at position 0."""
    bias = np.zeros((len(slopes), queries, keys))
    for i in range(queries):
        for j in range(keys):
            bias[:, i, j] = -np.inf if causal and j > i else -slopes * abs(i - j)
    return bias


NOT_KNOWN = (
    (
        "alibi_bias",
        lambda slopes, queries, keys, causal: np.zeros((queries, keys)),
        "one matrix for each",
    ),
    ("alibi_bias", lambda slopes, queries, keys, causal: np.zeros((len(slopes), queries, keys)), None),
)


WRITTEN_IN_ANOTHER_WAY = (("alibi_bias", bias_of_a_prefill, "queries-from-zero"),)
