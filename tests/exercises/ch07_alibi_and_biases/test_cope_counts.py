"""`07-alibi-and-biases.cope_counts`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np


def counts_before_the_mask(q, k):
    gates = 1 / (1 + np.exp(-np.clip(q @ k.T / np.sqrt(q.shape[1]), -500, 500)))
    return np.array([[gates[i, j:].sum() if j <= i else 0.0 for j in range(len(q))] for i in range(len(q))])


def with_infinity_over_infinity(q, k):
    raised = np.exp(q @ k.T / np.sqrt(q.shape[1]))
    gates = np.tril(raised / (1 + raised))
    return np.tril(np.cumsum(gates[:, ::-1], axis=1)[:, ::-1])


NOT_KNOWN = (
    ("cope_counts", with_infinity_over_infinity, "e to the x for a gate that is wide open"),
    ("cope_counts", lambda q, k: np.tri(len(q)) * 2, "that count is 1 at most"),
    ("cope_counts", lambda q, k: np.ones((len(q), len(q))), "Keys after the query are not counted"),
    ("cope_counts", lambda q, k: np.tri(len(q)) * -1.0, "never below 0"),
)


WRITTEN_IN_ANOTHER_WAY = (("cope_counts", counts_before_the_mask, "future-hidden-too-late"),)
