"""`06-rotary.rotary_attention`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_course.exercises.ch06_rotary.rotary_attention import ROTARY_ATTENTION
from posenc_lib import apply_rotary
from tests.exercises.ch06_rotary.shared import exact_row


@pytest.mark.parametrize("seed", [0, 1])
def test_writing_with_a_cache_is_reading_everything_at_once(seed):
    """Against rows turned with fifty digits, and PyTorch's own attention."""
    for case in ROTARY_ATTENTION.cases(seed):
        q, k, v, cached_k, cached_v, base = case.args
        past, head_dim = cached_k.shape[1:]
        if past > 100:
            continue
        output, keys, values = ROTARY_ATTENTION.reference(*case.args)
        assert np.array_equal(values, np.concatenate([cached_v, v], axis=1))
        assert np.array_equal(keys[:, :past], cached_k)
        turned = [
            [
                [exact_row(row, past + r, head_dim, base) for r, row in enumerate(head)]
                for head in each.tolist()
            ]
            for each in (q, k)
        ]
        assert keys[:, past:] == pytest.approx(np.array(turned[1]))
        mask = torch.ones(q.shape[1], past + q.shape[1], dtype=torch.bool).tril(past)
        queries, all_keys, all_values = (
            torch.from_numpy(np.array(each)) for each in (turned[0], keys, values)
        )
        expected = torch.nn.functional.scaled_dot_product_attention(
            queries, all_keys, all_values, attn_mask=mask
        )
        assert output == pytest.approx(expected.numpy())


def cache_as_if_empty(q, k, v, cached_k, cached_v, base):
    """With PyTorch, and its own mask of the lower right corner."""
    at = torch.arange(q.shape[1])[:, None]
    turns = torch.polar(
        torch.ones(1).double(), at * base ** (-torch.arange(0, q.shape[2], 2).double() / q.shape[2])
    )
    q, k = (
        torch.view_as_real(torch.view_as_complex(torch.tensor(each).unflatten(-1, (-1, 2))) * turns).flatten(
            -2
        )
        for each in (q, k)
    )
    keys = torch.cat([torch.from_numpy(cached_k), k], dim=1)
    values = torch.from_numpy(np.concatenate([cached_v, v], axis=1))
    mask = torch.ones(q.shape[1], keys.shape[1], dtype=torch.bool).tril(cached_k.shape[1])
    output = torch.nn.functional.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
    return output, keys, values


def all_keys_turned_together(q, k, v, cached_k, cached_v, base, scale=lambda d: d**0.5):
    """The natural bug of a cache: join first, then turn everything, and keep what was turned."""
    past, new = cached_k.shape[1], k.shape[1]
    keys = apply_rotary(np.concatenate([cached_k, k], axis=1), past + new, base=base)
    values = np.concatenate([cached_v, v], axis=1)
    scores = apply_rotary(q, np.arange(past, past + new), base=base) @ keys.swapaxes(1, 2)
    scores = np.where(np.tri(new, past + new, past) > 0, scores / scale(q.shape[2]), -np.inf)
    raised = np.exp(scores)
    return raised / raised.sum(axis=2, keepdims=True) @ values, keys, values


def all_keys_turned_and_kept_raw(q, k, v, cached_k, cached_v, base):
    output, _, values = all_keys_turned_together(q, k, v, cached_k, cached_v, base)
    return output, np.concatenate([cached_k, k], axis=1), values


def turned_together_without_the_root(*args):
    return all_keys_turned_together(*args, scale=lambda d: d)


def hidden_by_a_product(q, k, v, cached_k, cached_v, base):
    """A mask of zeros and ones times minus infinity: NaN wherever it is 0."""
    past, new = cached_k.shape[1], k.shape[1]
    q, k = (apply_rotary(each, np.arange(past, past + new), base=base) for each in (q, k))
    keys, values = np.concatenate([cached_k, k], axis=1), np.concatenate([cached_v, v], axis=1)
    scores = q @ keys.swapaxes(1, 2) / q.shape[2] ** 0.5
    scores = scores + (1 - np.tri(new, past + new, past)) * -np.inf
    raised = np.exp(scores - scores.max(axis=2, keepdims=True))
    return raised / raised.sum(axis=2, keepdims=True) @ values, keys, values


NOT_KNOWN = (
    ("rotary_attention", hidden_by_a_product, "choose with np.where"),
    ("rotary_attention", lambda q, k, v, old_k, old_v, base: (v, old_k, old_v), None),
    ("rotary_attention", turned_together_without_the_root, "they have been turned already"),
)


WRITTEN_IN_ANOTHER_WAY = (
    ("rotary_attention", cache_as_if_empty, "positions-from-0"),
    ("rotary_attention", all_keys_turned_together, "all-keys-turned-again"),
    ("rotary_attention", all_keys_turned_and_kept_raw, "all-keys-turned-at-use"),
)
