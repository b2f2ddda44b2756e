"""`03-relative-position.multi_head`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_course.exercises.ch03_relative_position.multi_head import MULTI_HEAD
from tests.exercises.ch03_relative_position.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_several_heads_are_those_of_torch(seed):
    for case in MULTI_HEAD.cases(seed):
        x, w_q, w_k, w_v, w_o, heads = case.args
        layer = torch.nn.MultiheadAttention(
            x.shape[1], heads, bias=False, batch_first=True, dtype=torch.float64
        )
        with torch.no_grad():
            layer.in_proj_weight.copy_(torch.from_numpy(np.concatenate([w_q.T, w_k.T, w_v.T])))
            layer.out_proj.weight.copy_(torch.from_numpy(w_o.T.copy()))
            tokens = torch.from_numpy(x)
            ahead = torch.ones(len(x), len(x), dtype=torch.bool).triu(1)
            out, _ = layer(tokens, tokens, tokens, attn_mask=ahead)
        assert MULTI_HEAD.reference(*case.args) == pytest.approx(out.numpy(), abs=1e-10)


def everybody_sees_everything(x, w_q, w_k, w_v, w_o, heads):
    out, w = [], x.shape[1] // heads
    for h in range(heads):
        q, k, v = (x @ each[:, h * w : h * w + w] for each in (w_q, w_k, w_v))
        e = np.exp(q @ k.T / w**0.5)
        out.append(e / e.sum(1, keepdims=True) @ v)
    return np.hstack(out) @ w_o


NOT_KNOWN = (("multi_head", lambda x, w_q, w_k, w_v, w_o, heads: x, "sees only itself"),)


WRITTEN_IN_ANOTHER_WAY = (("multi_head", everybody_sees_everything, "not-causal"),)
