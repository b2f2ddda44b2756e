"""`07-alibi-and-biases.cope_bias`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from posenc_course.exercises.ch07_alibi_and_biases.cope_bias import COPE_BIAS
from posenc_course.exercises.ch07_alibi_and_biases.cope_counts import COPE_COUNTS
from tests.exercises.ch07_alibi_and_biases.shared import SEEDS, hidden_by_a_product


@pytest.mark.parametrize("seed", SEEDS)
def test_cope_is_the_papers_listing_in_torch(seed):
    """Its steps: gates, turned round and added up, cut off, and a share of the two rows next to it."""
    for case in COPE_BIAS.cases(seed):
        q, k, table = map(torch.from_numpy, case.args)
        past = torch.ones(len(q), len(q), dtype=torch.bool).tril()
        gates = (q @ k.T / math.sqrt(q.shape[1])).masked_fill(~past, -torch.inf).sigmoid()
        counts = gates.flip(-1).cumsum(-1).flip(-1)
        np.testing.assert_allclose(
            COPE_COUNTS.reference(*case.args[:2]), (counts * past).numpy(), rtol=1e-10, atol=1e-12
        )
        counts = counts.clamp(max=len(table) - 1)
        rows = q @ table.T / math.sqrt(q.shape[1])
        above, below = (rows.gather(-1, each.long()) for each in (counts.ceil(), counts.floor()))
        part = counts - counts.floor()
        bias = (above * part + below * (1 - part)).masked_fill(~past, -torch.inf)
        np.testing.assert_allclose(COPE_BIAS.reference(*case.args), bias.numpy(), rtol=1e-9, atol=1e-10)


def cope_by_the_nearest_row(q, k, table):
    counts = np.minimum(np.round(COPE_COUNTS.reference(q, k)), len(table) - 1).astype(int)
    bias = np.einsum("id,ijd->ij", q, table[counts]) / np.sqrt(q.shape[1])
    return np.where(np.tri(len(q)) > 0, bias, -np.inf)


def cope_by_rounding(q, k, table):
    counts = np.minimum(COPE_COUNTS.reference(q, k), len(table) - 1).astype(int)
    bias = np.array([[q[i] @ table[counts[i, j]] for j in range(len(q))] for i in range(len(q))])
    return np.where(np.tri(len(q)) > 0, bias / np.sqrt(q.shape[1]), -np.inf)


NOT_KNOWN = (
    ("cope_bias", lambda *args: hidden_by_a_product(COPE_BIAS.reference(*args)), "choose with np.where"),
    ("cope_bias", lambda q, k, table: q @ table.T, None),
    ("cope_bias", lambda q, k, table: np.zeros((len(q), len(q))), None),
)


WRITTEN_IN_ANOTHER_WAY = (
    ("cope_bias", cope_by_rounding, "rounded-down"),
    ("cope_bias", cope_by_the_nearest_row, "rounded-to-a-row"),
)
