"""`07-alibi-and-biases.xl_scores`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from posenc_course.exercises.ch07_alibi_and_biases.xl_scores import XL_SCORES
from tests.exercises.ch07_alibi_and_biases.shared import SEEDS, hidden_by_a_product


@pytest.mark.parametrize("seed", SEEDS)
def test_the_four_terms_are_those_of_xlnet(seed):
    """Its attention keeps the terms apart: ac, and bd through its own shift; its distances are wider."""
    from transformers.models.xlnet.modeling_xlnet import XLNetRelativeAttention

    for case in XL_SCORES.cases(seed):
        q, k, r, u, v = map(torch.from_numpy, case.args)
        queries, keys = len(q), len(k)
        # XLNet's r begins one distance farther and goes on into the future.
        wide = torch.cat(
            [torch.full_like(r[:1], torch.nan), r, torch.zeros(queries - 1, r.shape[1])]
        ).double()
        ac = torch.einsum("id,jd->ij", q + u, k)
        bd = torch.einsum("id,jd->ij", q + v, wide)
        bd = XLNetRelativeAttention.rel_shift_bnij(bd[None, None], klen=keys)[0, 0]
        hidden = torch.ones(queries, keys, dtype=torch.bool).triu(keys - queries + 1)
        theirs = ((ac + bd) / math.sqrt(q.shape[1])).masked_fill(hidden, -torch.inf)
        np.testing.assert_allclose(XL_SCORES.reference(*case.args), theirs.numpy(), rtol=1e-12)


def test_the_chapters_sentence_is_scored_as_by_hand():
    first = XL_SCORES.cases()[0]
    np.testing.assert_allclose(
        XL_SCORES.reference(*first.args) * math.sqrt(2), [[-0.8, 2.4, 4.1, 2.0]], atol=1e-12
    )


def terms_of_shaw(q, k, r, u, v):
    """The two terms of the query alone."""
    n, m = len(q), len(k)
    scores = np.full((n, m), -np.inf)
    for i in range(n):
        for j in range(i + m - n + 1):
            scores[i, j] = q[i] @ (k[j] + r[m - 1 - (i + m - n - j)]) / np.sqrt(len(u))
    return scores


NOT_KNOWN = (
    ("xl_scores", lambda *args: hidden_by_a_product(XL_SCORES.reference(*args)), "choose with np.where"),
    ("xl_scores", lambda q, k, r, u, v: (q @ k.T)[:, :1], "the shape is (queries, keys)"),
    ("xl_scores", lambda q, k, r, u, v: q @ k.T, None),
)


def all_terms(q, k, r, u, v, shift=("b", "d"), divide_by=lambda d: d**0.5):
    """Term by term, for one query after the other."""
    n, m = len(q), len(k)
    scores = np.full((n, m), -np.inf)
    for i in range(n):
        for j in range(i + m - n + 1):
            at = m - 1 - (i + m - n - j)
            b, d = (r[at if name in shift else j] for name in "bd")
            scores[i, j] = (q[i] @ (k[j] + b) + u @ k[j] + v @ d) / divide_by(len(u))
    return scores


WRITTEN_IN_ANOTHER_WAY = (
    ("xl_scores", terms_of_shaw, "without-cd"),
    ("xl_scores", lambda *args: all_terms(*args, divide_by=lambda d: d), "width-without-root"),
    ("xl_scores", lambda *args: all_terms(*args, shift="b"), "fourth-not-shifted"),
    ("xl_scores", lambda *args: all_terms(*args, shift="d"), "second-not-shifted"),
)
