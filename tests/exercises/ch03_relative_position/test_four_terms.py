"""`03-relative-position.four_terms`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_course.exercises.ch03_relative_position.four_terms import FOUR_TERMS, Head
from tests.exercises.ch03_relative_position.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_the_four_terms_add_up_to_what_torch_computes(seed):
    for case in FOUR_TERMS.cases(seed):
        head, words, places = case.args
        w_q, w_k = np.random.default_rng(head.seed).normal(size=(2, head.dim, head.head_dim))
        x = torch.from_numpy(words + places)
        identity = torch.eye(len(x), dtype=x.dtype)
        weights = torch.nn.functional.scaled_dot_product_attention(
            x @ torch.from_numpy(w_q), x @ torch.from_numpy(w_k), identity
        )
        terms = torch.from_numpy(FOUR_TERMS.reference(head, words, places))
        assert torch.allclose(terms.sum(dim=0).softmax(dim=-1), weights)
        assert np.allclose(terms[0], head(words))
        assert np.allclose(terms[3], head(places))


def test_a_closed_head_says_what_rows_it_takes():
    head = Head(4, 2, 0)
    for wrong in (np.zeros(4), np.zeros((2, 5)), [["a"] * 4]):
        with pytest.raises(ValueError, match="give rows of 4 real numbers"):
            head(wrong)


def halves(head, words, places):
    ww, pp = head(words), head(places)
    rest = (head(words + places) - ww - pp) / 2
    return [ww, rest, rest, pp]


NOT_KNOWN = (
    ("four_terms", lambda head, words, places: np.zeros((4, len(words), len(words))), "must add up"),
    (
        "four_terms",
        lambda head, words, places: np.stack(
            [head(words), head(words + places) - head(words) - head(places), 0 * head(words), head(places)]
        ),
        "when a word asks and a place answers",
    ),
    (
        "four_terms",
        lambda head, words, places: np.stack([head(words + places) / 4] * 4),
        "The first term is word",
    ),
    (
        "four_terms",
        lambda head, words, places: np.stack([head(words + places) / 4] * 4),
        "The fourth term is",
    ),
)


WRITTEN_IN_ANOTHER_WAY = (("four_terms", halves, "both-mixed-halved"),)
