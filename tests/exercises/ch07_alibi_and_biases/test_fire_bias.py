"""`07-alibi-and-biases.fire_bias`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_course.exercises.ch07_alibi_and_biases.fire_bias import FIRE_BIAS
from posenc_course.exercises.ch07_alibi_and_biases.fire_shares import FIRE_SHARES
from tests.exercises.ch07_alibi_and_biases.shared import SEEDS, hidden_by_a_product


@pytest.mark.parametrize("seed", SEEDS)
def test_fire_is_the_papers_network_in_torch(seed):
    """The listing of its appendix: two linear layers on the quotient of two logarithms."""
    for case in FIRE_BIAS.cases(seed):
        w1, b1, w2, b2, queries, keys, c, threshold = case.args
        first = torch.nn.Linear(1, len(w1)).double()
        last = torch.nn.Linear(len(w1), len(w2)).double()
        first.weight.data, first.bias.data = torch.from_numpy(w1)[:, None], torch.from_numpy(b1)
        last.weight.data, last.bias.data = torch.from_numpy(w2), torch.from_numpy(b2)
        at = torch.arange(keys, dtype=torch.float64)
        gone = at[keys - queries :, None] - at
        reach = torch.clamp(at[keys - queries :], min=threshold)[:, None]
        share = torch.log1p(c * gone.clamp(min=0)) / torch.log1p(c * reach)
        shares = FIRE_SHARES.reference(queries, keys, c, threshold)
        np.testing.assert_allclose(shares, share.numpy(), rtol=1e-12)
        bias = (
            last(first(share[..., None]).relu()).detach().permute(2, 0, 1).masked_fill(gone < 0, -torch.inf)
        )
        np.testing.assert_allclose(FIRE_BIAS.reference(*case.args), bias.numpy(), rtol=1e-10, atol=1e-12)


NOT_KNOWN = (
    ("fire_bias", lambda *args: hidden_by_a_product(FIRE_BIAS.reference(*args)), "choose with np.where"),
    (
        "fire_bias",
        lambda w1, b1, w2, b2, queries, keys, *rest: np.zeros((queries, keys)),
        "one matrix for each",
    ),
    ("fire_bias", lambda w1, b1, w2, b2, queries, keys, *rest: np.zeros((len(w2), queries, keys)), None),
)
