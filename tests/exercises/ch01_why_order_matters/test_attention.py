"""`01-why-order-matters.attention`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_course.exercises.ch01_why_order_matters.attention import ATTENTION
from posenc_course.exercises.ch01_why_order_matters.softmax import SOFTMAX
from tests.exercises.ch01_why_order_matters.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_attention_and_its_weights_against_torch(seed):
    for case in ATTENTION.cases(seed):
        q, k, v = (torch.from_numpy(each) for each in case.args[:3])
        queries, keys = q.shape[-2], k.shape[-2]
        allowed = torch.ones(queries, keys, dtype=torch.bool)
        if case.args[3]:
            allowed = allowed.tril(keys - queries)
        want = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        np.testing.assert_allclose(
            ATTENTION.reference(*case.args), want.numpy(), rtol=1e-9, atol=1e-12, err_msg=case.label
        )


def with_a_triangle(of):
    """Attention whose causal mask is `of(q, k)`."""

    def answer(q, k, v, causal):
        scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
        return SOFTMAX.reference(np.where(of(q, k), scores, -np.inf) if causal else scores) @ v

    return answer


def keys_less_queries_by_len(q, k):
    """Of several heads, len() is their number."""
    return np.tri(q.shape[-2], k.shape[-2], k=len(k) - len(q), dtype=bool)


def square_where_there_are_heads(q, k):
    return np.tri(q.shape[-2], dtype=bool) if q.ndim > 2 else keys_less_queries_by_len(q, k)


NOT_KNOWN = (
    ("attention", with_a_triangle(keys_less_queries_by_len), "the three newest of five tokens ask"),
    ("attention", with_a_triangle(square_where_there_are_heads), "the three newest of five tokens ask"),
    ("attention", lambda q, k, v, causal: np.maximum(q @ np.swapaxes(k, -1, -2), 0) @ v, "weighted average"),
    ("attention", lambda q, k, v, causal: v, "one row per query"),
)
