"""Each score_mod in FlexAttention, against attention with the materialised bias.

FlexAttention runs here without torch.compile, which needs a C++ compiler; its scores are the same.
"""

from __future__ import annotations

import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from posenc_lib import attention
from posenc_lib import biased as b

pytestmark = pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile:UserWarning")

HEADS, HEAD_DIM = 3, 8


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def positive(*shape):
    return draw(*shape, seed=7).abs() + 0.1


def fire_weights():
    return draw(5, 1), draw(5), draw(HEADS, 5), draw(HEADS)


CASES = {
    "alibi": lambda q, k, n, m: (b.alibi_score_mod(HEADS, n, m), b.alibi_bias(HEADS, n, m)),
    "alibi symmetric": lambda q, k, n, m: (
        b.alibi_score_mod(HEADS, n, m, causal=False),
        b.alibi_bias(HEADS, n, m, causal=False),
    ),
    "alibi asymmetric": lambda q, k, n, m: (
        b.alibi_score_mod(HEADS, n, m, causal=False, slopes=positive(HEADS), slopes_after=draw(HEADS)),
        b.alibi_bias(HEADS, n, m, causal=False, slopes=positive(HEADS), slopes_after=draw(HEADS)),
    ),
    "t5": lambda q, k, n, m: (
        b.t5_score_mod(draw(12, HEADS), n, m, max_distance=7),
        b.t5_bias(draw(12, HEADS), n, m, max_distance=7),
    ),
    "t5 decoder": lambda q, k, n, m: (
        b.t5_score_mod(draw(6, HEADS), n, m, max_distance=9, bidirectional=False),
        b.t5_bias(draw(6, HEADS), n, m, max_distance=9, bidirectional=False),
    ),
    "shaw": lambda q, k, n, m: (
        b.shaw_score_mod(q, draw(7, HEAD_DIM), n, m),
        b.shaw_bias(q, draw(7, HEAD_DIM), n, m),
    ),
    "shaw a table a head": lambda q, k, n, m: (
        b.shaw_score_mod(q, draw(HEADS, 5, HEAD_DIM), n, m, scale=1.0),
        b.shaw_bias(q, draw(HEADS, 5, HEAD_DIM), n, m, scale=1.0),
    ),
    "kerple log": lambda q, k, n, m: (
        b.kerple_score_mod(positive(HEADS), positive(HEADS), n, m),
        b.kerple_bias(positive(HEADS), positive(HEADS), n, m),
    ),
    "kerple power": lambda q, k, n, m: (
        b.kerple_score_mod(positive(HEADS), positive(HEADS) / 3, n, m, kind="power"),
        b.kerple_bias(positive(HEADS), positive(HEADS) / 3, n, m, kind="power"),
    ),
    "fire": lambda q, k, n, m: (
        b.fire_score_mod(fire_weights(), n, m, c=0.5, threshold=6.0),
        b.fire_bias(fire_weights(), n, m, c=0.5, threshold=6.0),
    ),
    "fire learned": lambda q, k, n, m: (
        b.fire_score_mod(fire_weights(), n, m, c=torch.tensor(0.3), threshold=torch.tensor(4.0)),
        b.fire_bias(fire_weights(), n, m, c=torch.tensor(0.3), threshold=torch.tensor(4.0)),
    ),
}
BY_NUMBER_ONLY = {
    "sandwich": lambda q, k, n, m: (
        b.sandwich_score_mod(HEADS, n, m, dim=16),
        b.sandwich_bias(HEADS, n, m, dim=16),
    ),
    "sandwich from 1": lambda q, k, n, m: (
        b.sandwich_score_mod(HEADS, n, m, dim=16, first_pair=1),
        b.sandwich_bias(HEADS, n, m, dim=16, first_pair=1),
    ),
    "transformer-xl": lambda q, k, n, m: (
        b.transformer_xl_score_mod(
            q, k, draw(HEADS, m, HEAD_DIM), draw(HEADS, HEAD_DIM), draw(HEADS, HEAD_DIM)
        ),
        b.transformer_xl_bias(q, k, draw(HEADS, m, HEAD_DIM), draw(HEADS, HEAD_DIM), draw(HEADS, HEAD_DIM)),
    ),
    "transformer-xl both directions": lambda q, k, n, m: (
        b.transformer_xl_score_mod(
            q, k, draw(HEADS, n + m - 1, HEAD_DIM), draw(HEADS, HEAD_DIM), draw(HEADS, HEAD_DIM), scale=1.0
        ),
        b.transformer_xl_bias(
            q, k, draw(HEADS, n + m - 1, HEAD_DIM), draw(HEADS, HEAD_DIM), draw(HEADS, HEAD_DIM), scale=1.0
        ),
    ),
}


def compare(make, queries, keys, n, m):
    q, k, v = (
        draw(2, HEADS, queries, HEAD_DIM),
        draw(2, HEADS, keys, HEAD_DIM, seed=1),
        draw(2, HEADS, keys, 4, seed=2),
    )
    score_mod, bias = make(q, k, n, m)
    bias = torch.as_tensor(bias)
    expected = attention(q, k, v, bias=bias)
    torch.testing.assert_close(flex_attention(q, k, v, score_mod=score_mod), expected, atol=1e-6, rtol=0)
    unbiased = attention(q, k, v)
    assert (unbiased - expected).abs().max() > 1e-3  # so that a score_mod that does nothing would be seen


@pytest.mark.parametrize("name", [*CASES, *BY_NUMBER_ONLY])
def test_it_adds_what_the_materialised_bias_holds(name):
    compare({**CASES, **BY_NUMBER_ONLY}[name], 3, 11, 3, 11)


def test_as_many_queries_as_keys():
    compare(CASES["alibi"], 9, 9, 9, 9)
    compare(BY_NUMBER_ONLY["transformer-xl"], 9, 9, 9, 9)


ONES_OWN = torch.tensor([4, 0, 9]), torch.tensor([0, 2, 4, 9, 30])


@pytest.mark.parametrize("name", ["alibi asymmetric", "t5", "fire"])
def test_positions_of_ones_own(name):
    compare(CASES[name], 3, 5, *ONES_OWN)


@pytest.mark.parametrize("name", ["alibi asymmetric", "t5 decoder", "shaw", "kerple log", "fire"])
def test_positions_for_each_row_of_a_batch(name):
    rows = torch.tensor([[-2, -1, 0, 1, 2], [0, 1, 2, 3, 9]])
    compare(CASES[name], 3, 5, rows[:, 2:], rows)


def test_alibi_takes_the_device_and_positions_from_tensors_alone():
    for causal in (True, False):
        bias = b.alibi_bias(HEADS, *ONES_OWN, causal=causal)
        mod = b.alibi_score_mod(HEADS, *ONES_OWN, causal=causal)
        compare(lambda q, k, n, m, mod=mod, bias=bias: (mod, bias), 3, 5, None, None)


def test_with_a_causal_block_mask_it_is_causal_attention():
    q, k, v = draw(3, 1, HEADS, 16, HEAD_DIM)
    mask = create_block_mask(
        lambda batch, head, q_idx, kv_idx: q_idx >= kv_idx, None, None, 16, 16, device="cpu"
    )
    output = flex_attention(q, k, v, score_mod=b.alibi_score_mod(HEADS, 16, 16), block_mask=mask)
    expected = attention(q, k, v, bias=torch.as_tensor(b.alibi_bias(HEADS, 16, 16)), causal=True)
    torch.testing.assert_close(output, expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: b.t5_score_mod(draw(32, 2).numpy(), 3, 3),
            TypeError,
            "torch tensor, which FlexAttention needs",
        ),
        (lambda: b.t5_score_mod(draw(32, 2), torch.rand(3), 3), TypeError, "distances must be whole"),
        (
            lambda: b.shaw_score_mod(draw(2, 3, 4), draw(5, 4), 3, 3),
            ValueError,
            "(batch, heads, queries, head_dim)",
        ),
        (lambda: b.shaw_score_mod(draw(1, 2, 3, 4), draw(5, 4), 2, 3), ValueError, "give one for each"),
        (lambda: b.sandwich_score_mod(2, torch.arange(3), 3), TypeError, "numbers of positions"),  # type: ignore[arg-type]
        (lambda: b.sandwich_score_mod(2, 4, 3), ValueError, "more than the 3 keys"),
        (lambda: b.alibi_score_mod(0, 3, 3), ValueError, "heads=0 is too small"),
        (lambda: b.alibi_score_mod(2, 3, torch.zeros(1, 1, 3)), ValueError, "give (keys,) or (batch, keys)"),
        (
            lambda: b.alibi_score_mod(2, 3, [0, 1, 2]),
            TypeError,
            "torch tensor, which FlexAttention needs",
        ),
        (lambda: b.kerple_score_mod(torch.ones(2), -torch.ones(2), 3, 3), ValueError, "r2 must be above 0"),
        (
            lambda: b.kerple_score_mod(torch.ones(2), torch.ones(2), 3, 3, kind="exp"),  # type: ignore[arg-type]
            ValueError,
            "'log', 'power'",
        ),
        (lambda: b.fire_score_mod(draw(2), 3, 3, c=1.0, threshold=1.0), TypeError, "the four arrays"),
        (lambda: b.fire_score_mod(fire_weights(), 3, 3, c=0.0, threshold=1.0), ValueError, "c=0.0"),
    ],
)
def test_bad_calls(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


def test_positions_in_few_bits_do_not_wrap_around():
    at, back = torch.arange(10, dtype=torch.uint8), b.alibi_bias(8, 10, 10)
    added = b.alibi_score_mod(8, at, at)(torch.tensor(0.0), 0, 0, torch.tensor(9), torch.tensor(5))
    assert added == back[0, 9, 5]
    sees = b.window_mask(torch.tensor([500]), torch.arange(100, dtype=torch.uint8), 2, sinks=300)
    assert sees.all()  # they are all among the 300 first
