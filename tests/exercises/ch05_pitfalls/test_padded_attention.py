"""`05-pitfalls.padded_attention`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_course.exercises.ch05_pitfalls.padded_attention import PADDED_ATTENTION


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_padded_batch_is_each_sentence_alone(seed):
    for case in PADDED_ATTENTION.cases(seed):
        q, k, v, mask = case.args
        out = PADDED_ATTENTION.reference(*case.args)
        for sentence, real in enumerate(mask == 1):
            alone_q, alone_k, alone_v = (torch.tensor(each[sentence][:, real]) for each in (q, k, v))
            if real.any():
                theirs = torch.nn.functional.scaled_dot_product_attention(
                    alone_q, alone_k, alone_v, is_causal=True
                )
                np.testing.assert_allclose(out[sentence][:, real], theirs, atol=1e-12)
            assert not out[sentence][:, ~real].any()


def divided_by_head_dim(q, k, v, mask):
    """The root is taken twice by what is called, which divides by it once more."""
    return PADDED_ATTENTION.reference(q * q.shape[-1] ** -0.5, k, v, mask)


NOT_KNOWN = (("padded_attention", lambda q, k, v, mask: v * 2, "zeros"),)


WRITTEN_IN_ANOTHER_WAY = (("padded_attention", divided_by_head_dim, "divided-by-the-width"),)
