"""`07-alibi-and-biases.without_bias`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_course.exercises.ch07_alibi_and_biases.alibi_bias import ALIBI_BIAS
from posenc_course.exercises.ch07_alibi_and_biases.without_bias import WITHOUT_BIAS
from tests.exercises.ch07_alibi_and_biases.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_the_kernel_without_a_bias_gives_pytorchs_attention_with_one(seed):
    for case in WITHOUT_BIAS.cases(seed):
        q, k, v, slopes, kernel = case.args
        n = q.shape[1]
        bias = torch.from_numpy(ALIBI_BIAS.reference(slopes, n, n, True))
        queries, keys, values = (torch.from_numpy(x)[None] for x in (q, k, v))
        theirs = torch.nn.functional.scaled_dot_product_attention(
            queries, keys, values, attn_mask=bias[None]
        )[0]
        np.testing.assert_allclose(WITHOUT_BIAS.reference(*case.args), theirs.numpy(), atol=1e-10)
        plain = torch.nn.functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)[0]
        np.testing.assert_allclose(kernel(q, k, v), plain.numpy(), atol=1e-10)


def kernel_with_plain_slopes(q, k, v, slopes, kernel):
    heads, n, _ = q.shape
    column = np.ones((heads, n, 1))
    return kernel(
        np.concatenate([q, column * slopes[:, None, None]], 2), np.concatenate([k, column.cumsum(1)], 2), v
    )


NOT_KNOWN = (
    ("without_bias", lambda q, k, v, slopes, kernel: np.zeros_like(v), "its own value"),
    ("without_bias", lambda q, k, v, slopes, kernel: v, None),
    ("without_bias", lambda q, k, v, slopes, kernel: v[..., :-1], "leave v as wide"),
)


WRITTEN_IN_ANOTHER_WAY = (("without_bias", kernel_with_plain_slopes, "root-forgotten"),)
