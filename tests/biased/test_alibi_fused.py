"""ALiBi in the fused attention, against attention in float64 with the bias itself."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode

from posenc_lib import attention
from posenc_lib.biased import alibi_attention, alibi_bias, alibi_columns, alibi_fused, alibi_slopes

DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]


def vectors(*shapes, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=generator).to(dtype) for shape in shapes]


def exact(q, k, v, slopes=None, *, causal=True, mask=None):
    """Attention in float64 with the materialised bias."""
    groups = q.shape[-3] // k.shape[-3]
    q, k, v = q.double(), k.double().repeat_interleave(groups, -3), v.double().repeat_interleave(groups, -3)
    bias = alibi_bias(q.shape[-3], q.shape[-2], k.shape[-2], causal=causal, slopes=slopes)
    return attention(q, k, v, bias=torch.as_tensor(bias), causal=causal, mask=mask)


def last_rows(q, k, v, slopes, rows):
    """The last rows of causal attention in float64, without an n x n array."""
    q = q[..., -rows:, :]
    return exact(q, k, v, slopes)


def rounding(dtype, size):
    """How far one rounding of the result can be off; attention without bias is no better."""
    return torch.finfo(dtype).eps / 2 * size


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("heads", "queries", "keys", "head_dim", "value_dim"),
    [(4, 40, 40, 16, 16), (12, 40, 100, 20, 50), (3, 70, 70, 64, 8), (4, 3, 50, 64, 64), (1, 17, 17, 1, 1)],
)
@pytest.mark.parametrize("causal", [True, False])
def test_it_is_attention_with_the_bias(dtype, heads, queries, keys, head_dim, value_dim, causal):
    q, k, v = vectors(
        (2, heads, queries, head_dim), (2, heads, keys, head_dim), (2, heads, keys, value_dim), dtype=dtype
    )
    output = alibi_attention(q, k, v, causal=causal)
    assert output.dtype == dtype
    # In half precision q is rounded once more where head_dim is no power of 4, and weights inside the kernel.
    error = (output.double() - exact(q, k, v, causal=causal)).abs().max()
    assert (
        error
        < {torch.float32: 2e-6, torch.float64: 5e-15, torch.bfloat16: 0.02, torch.float16: 0.0025}[dtype]
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("keys", [1024, 4096, 4097, 4101, 32_768])
def test_it_stays_exact_at_length(dtype, keys):
    """Where a column for the slope and one for the position are off by 5e-5 to 1e-3, in bfloat16 by 2."""
    q, k, v = vectors((1, 2, keys, 64), (1, 2, keys, 64), (1, 2, keys, 64), dtype=dtype)
    slopes = alibi_slopes(16)[[0, 12]]  # one with a long mantissa, one shallow
    if keys > 8192:  # the last queries alone: 32,768 squared is for the fused kernel, not for this machine
        wide = alibi_columns(q, k, slopes)
        rows = wide.q[:, :, -64:].double(), wide.k.double()
        values = F.pad(v, (0, wide.k.shape[-1] - 64)).double()
        mask = torch.arange(keys) <= torch.arange(keys - 64, keys)[:, None]
        queries, near, narrow = (x.to(dtype) for x in (*rows, values))
        output = F.scaled_dot_product_attention(queries, near, narrow, attn_mask=mask, scale=wide.scale)[
            ..., :64
        ]
    else:
        output = alibi_attention(q, k, v, slopes)[..., -64:, :]
    expected = last_rows(q, k, v, slopes, 64)
    for given in (output, alibi_attention(q[:, :, -64:], k, v, slopes)):
        error = (given.double() - expected).abs().max()
        assert error < (2e-6 if dtype == torch.float32 else rounding(dtype, expected.abs().max()) * 1.3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("backend", [SDPBackend.MATH, SDPBackend.FLASH_ATTENTION])
def test_every_kernel_of_this_machine_gives_the_same(dtype, backend):
    """The one that multiplies both q and k by the root of the scale too: it is a power of 2."""
    q, k, v = vectors((1, 4, 600, 64), (1, 4, 600, 64), (1, 4, 600, 64), dtype=dtype)
    with sdpa_kernel(backend):
        output = alibi_attention(q, k, v)
    error = (output.double() - exact(q, k, v)).abs().max()
    # The plain kernel rounds scores and weights to the dtype.
    assert error < {torch.float32: 2e-6, torch.bfloat16: 0.03, torch.float16: 0.004}[dtype]


def test_the_columns_hold_the_bias_up_to_a_constant_for_each_query():
    """Read in float64, the products of q's and k's columns differ along a row as the bias does."""
    for dtype in DTYPES:
        q, k = torch.zeros(1, 12, 30, 64, dtype=dtype), torch.zeros(1, 12, 5000, 64, dtype=dtype)
        wide = alibi_columns(q, k)
        scores = (wide.q.double() @ wide.k.double().mT * wide.scale)[0]
        difference = scores - torch.as_tensor(alibi_bias(12, 30, 5000))
        spread = difference.amax(-1) - difference.amin(-1)
        # The slope keeps 16 bits in bfloat16, 22 in float16, 24 in float32.
        bits = {torch.bfloat16: 15, torch.float16: 21, torch.float32: 23, torch.float64: 51}[dtype]
        assert (spread < torch.as_tensor(alibi_slopes(12))[:, None] * 5000 * 2.0**-bits).all()
        assert wide.q.dtype == wide.k.dtype == dtype
        assert wide.q.shape[-1] * wide.q.element_size() % 16 == 0
        assert math.log(wide.scale, 4).is_integer()


def test_float16_stays_in_its_range_at_its_last_key():
    k = torch.zeros(1, 1, 1 << 20, 1, dtype=torch.float16)
    wide = alibi_columns(torch.zeros(1, 4, 20, 1, dtype=torch.float16), k)
    assert torch.isfinite(wide.q).all()
    assert torch.isfinite(wide.k).all()


def windows(q, k, slopes):
    reach = alibi_fused._reach(q, k, torch.as_tensor(slopes))
    return [alibi_fused._window(r, k.shape[2]) for r in reach.tolist()]


@pytest.mark.parametrize(
    ("dtype", "queries", "keys"),
    [*((dtype, 1100, 1100) for dtype in DTYPES), (torch.float64, 1024, 1024), (torch.float64, 300, 1100)],
)
@pytest.mark.parametrize("causal", [True, False])
def test_heads_that_need_no_far_keys_give_what_all_keys_would(dtype, queries, keys, causal):
    q, k, v = vectors((1, 4, queries, 16), *[(1, 4, keys, 16)] * 2, dtype=dtype)
    slopes = [0.7, 0.25, 0.15, 0.004]  # heads that share a window, and heads that do not
    found = windows(q, k, slopes)
    assert found[0] == 256
    assert set(found) == {256, 512, keys}
    output = alibi_attention(q, k, v, slopes, causal=causal)
    error = (output.double() - exact(q, k, v, slopes, causal=causal)).abs().max()
    assert (
        error
        < {torch.float32: 2e-6, torch.float64: 5e-15, torch.bfloat16: 0.02, torch.float16: 0.0025}[dtype]
    )


def test_more_queries_than_keys_see_keys_however_far():
    """The first query stands 500 before the first key, and yet looks at all of them."""
    q, k, v = vectors((1, 4, 600, 16), *[(1, 4, 100, 16)] * 2, dtype=torch.float64)
    bias = alibi_bias(4, torch.arange(-500, 100), torch.arange(100), causal=False, dtype=torch.float64)
    expected = attention(q, k, v, bias=bias)
    torch.testing.assert_close(alibi_attention(q, k, v, causal=False), expected, atol=1e-13, rtol=0)


def test_a_far_key_that_outweighs_its_distance_is_not_missed():
    """The first key is as long, and as well aligned with every query, as its distance of 700 costs."""
    q, k, v = vectors(*[(1, 4, 1024, 16)] * 3)
    q[..., 0] += 4.0
    k[:, :, 300] = 0.0
    k[:, :, 300, 0] = 350.0  # q . k / 4 is about 350, and slope * 700 is 350 in head 0 of slopes 1/2
    slopes = [0.5, 0.4, 0.3, 0.2]
    expected = exact(q, k, v, slopes)
    assert (expected - exact(q, torch.where(k > 100, 0.0, k), v, slopes))[:, :, 1000:].abs().max() > 0.1
    torch.testing.assert_close(alibi_attention(q, k, v, slopes).double(), expected, atol=5e-5, rtol=0)


@pytest.mark.parametrize("slopes", [[1.0, 0.0, -0.001, 0.5], [30.0, 30.0, 0.001, 1e-30]])
def test_slopes_of_any_sign_and_size(slopes):
    q, k, v = vectors(*[(1, 4, 600, 16)] * 3)
    output = alibi_attention(q, k, v, slopes)
    torch.testing.assert_close(output.double(), exact(q, k, v, slopes), atol=3e-6, rtol=0)


@pytest.mark.parametrize("shape", [(1, 2, 0, 4), (0, 2, 600, 4)])
@pytest.mark.parametrize("causal", [True, False])
def test_nothing_in_nothing_out(shape, causal):
    q = torch.zeros(shape)
    k = v = torch.zeros(shape[0], 2, 600, 4)
    assert alibi_attention(q, k, v, causal=causal).shape == shape


def test_a_nan_in_a_query_shows():
    q, k, v = vectors(*[(1, 2, 600, 4)] * 3)
    q[0, 0, 5, 0] = torch.nan
    output = alibi_attention(q, k, v)
    assert torch.isnan(output[0, 0, 5]).all()
    assert torch.isfinite(output[0, 1]).all()


@pytest.mark.parametrize("which", ["q", "k", "v"])
def test_a_nan_in_one_row_of_the_batch_leaves_the_others_alone(which):
    given = dict(zip("qkv", vectors(*[(2, 2, 1200, 4)] * 3), strict=True))
    wanted = alibi_attention(**given)
    given[which][1, 1, 5, 0] = torch.nan  # in the head that looks the farthest
    output = alibi_attention(**given)
    torch.testing.assert_close(output[0], wanted[0])
    torch.testing.assert_close(output[1, 0], wanted[1, 0])
    assert torch.isnan(output[1, 1]).any()


class LargestTensor(TorchDispatchMode):
    """Notes the size in bytes of the largest result on the way."""

    size = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(tensor, torch.Tensor):
                self.size = max(self.size, tensor.untyped_storage().nbytes())
        return result


@pytest.mark.parametrize(
    ("queries", "causal", "learned"),
    [(2048, True, False), (2048, False, False), (1500, True, False), (2048, True, True)],
)
def test_memory_grows_with_the_length_not_with_its_square(queries, causal, learned):
    """No tensor of n x n numbers, not even of booleans, is made on the way."""
    n = 2048
    q, k, v = vectors((1, 1, queries, 16), (1, 1, n, 16), (1, 1, n, 16))
    slopes = torch.tensor([0.01], requires_grad=learned)
    with LargestTensor() as largest:
        alibi_attention(q, k, v, slopes, causal=causal)
    assert largest.size < n * 200


@pytest.mark.parametrize(("queries", "causal"), [(4096, False), (4000, True)])
def test_what_needs_a_bias_or_a_mask_takes_it_in_blocks(queries, causal):
    keys = 4096
    q, k, v = vectors((1, 2, queries, 2), (1, 2, keys, 2), (1, 2, keys, 2))
    mask = torch.ones(queries, 1, dtype=torch.bool)
    with LargestTensor() as largest:
        alibi_attention(q, k, v, causal=causal, mask=mask)
    assert largest.size <= 8 * alibi_fused.BLOCK < 8 * 2 * queries * keys / 4


def test_a_view_as_bias_and_columns_agree():
    """What a CPU takes, and what a GPU or a compiler takes."""
    q, k, v = vectors((1, 4, 600, 64), (1, 4, 700, 64), (1, 4, 700, 64))
    slopes = torch.as_tensor(alibi_slopes(4))
    wide = alibi_attention(q, k, v, slopes.clone().requires_grad_())
    torch.testing.assert_close(alibi_attention(q, k, v, slopes), wide.detach(), atol=4e-6, rtol=0)


@pytest.mark.parametrize("causal", [True, False])
def test_blocks_of_queries_are_joined_where_they_were_cut(monkeypatch, causal):
    monkeypatch.setattr(alibi_fused, "BLOCK", 1000)
    q, k, v = vectors((2, 4, 50, 16), (2, 4, 90, 16), (2, 4, 90, 16))
    mask = torch.rand(2, 1, 50, 90, generator=torch.Generator().manual_seed(0)) > 0.3
    for m in (None, mask):
        output = alibi_attention(q, k, v, causal=causal, mask=m)
        torch.testing.assert_close(output.double(), exact(q, k, v, causal=causal, mask=m), atol=2e-6, rtol=0)


@pytest.mark.parametrize("queries", [1, 16, 17, 40])
@pytest.mark.parametrize("shape", [(1, 40), (2, 1, 1, 40), (2, 4, None, 40), (None, 1)])
def test_masks_of_every_shape_that_broadcasts(queries, shape):
    q, k, v = vectors((2, 4, queries, 16), (2, 4, 40, 16), (2, 4, 40, 16))
    generator = torch.Generator().manual_seed(1)
    mask = torch.rand(*(queries if n is None else n for n in shape), generator=generator) > 0.4
    for causal in (True, False):
        output = alibi_attention(q, k, v, causal=causal, mask=mask)
        torch.testing.assert_close(
            output.double(), exact(q, k, v, causal=causal, mask=mask), atol=2e-6, rtol=0
        )


@pytest.mark.parametrize("queries", [2, 30])
def test_a_query_that_may_look_at_nothing_gets_zero_and_no_nan_in_the_gradient(queries):
    q, k, v = (x.requires_grad_() for x in vectors(*[(1, 2, queries, 8)] * 3))
    mask = torch.ones(queries, queries, dtype=torch.bool)
    mask[1] = False
    output = alibi_attention(q, k, v, mask=mask)
    assert (output[:, :, 1] == 0).all()
    output.sum().backward()
    assert all(torch.isfinite(x.grad).all() for x in (q, k, v))


@pytest.mark.parametrize("n", [30, 600])
def test_fewer_heads_of_keys(n):
    q, k, v = vectors((2, 6, n, 16), (2, 2, n, 16), (2, 2, n, 16))
    torch.testing.assert_close(alibi_attention(q, k, v).double(), exact(q, k, v), atol=2e-6, rtol=0)


def test_more_or_fewer_axes():
    q, k, v = vectors((2, 6, 30, 16), (2, 2, 30, 16), (2, 2, 30, 16))
    torch.testing.assert_close(alibi_attention(q, k, v)[1], alibi_attention(q[1], k[1], v[1]))
    q, k, v = (x.reshape(1, 2, *x.shape[1:]) for x in (q, k, v))
    mask = torch.ones(2, 1, 1, 30, dtype=torch.bool)
    mask[1, ..., :5] = False
    assert alibi_attention(q, k, v).shape == (1, 2, 6, 30, 16)
    torch.testing.assert_close(
        alibi_attention(q, k, v, mask=mask).double(), exact(q, k, v, mask=mask), atol=2e-6, rtol=0
    )


def test_gradients_through_near_keys_alone():
    q, k, v, by = vectors(*[(1, 3, 1030, 4)] * 4, dtype=torch.float64)
    slopes = [1.0, 0.2, 0.01]
    assert windows(q, k, slopes) == [256, 512, 1030]
    ours, theirs = ([x.clone().requires_grad_() for x in (q, k, v)] for _ in range(2))
    (alibi_attention(ours[0], ours[1], ours[2], slopes) * by).sum().backward()
    (exact(theirs[0], theirs[1], theirs[2], slopes) * by).sum().backward()
    for mine, reference in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.grad, reference.grad, atol=1e-12, rtol=1e-10)


@pytest.mark.parametrize(("queries", "causal"), [(30, True), (5, True), (30, False)])
def test_gradients_reach_q_k_v_and_learned_slopes(queries, causal):
    given = vectors((1, 3, queries, 8), (1, 3, 30, 8), (1, 3, 30, 8), dtype=torch.float64)
    given.append(torch.tensor([0.5, 0.3, 0.01], dtype=torch.float64))
    weights = vectors((1, 3, queries, 8), dtype=torch.float64, seed=1)[0]
    ours = [x.clone().requires_grad_() for x in given]
    (alibi_attention(*ours, causal=causal) * weights).sum().backward()
    theirs = [x.clone().requires_grad_() for x in given]
    (exact(*theirs, causal=causal) * weights).sum().backward()
    for mine, reference in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.grad, reference.grad, atol=1e-12, rtol=1e-10)


def test_it_compiles_without_a_graph_break():
    q, k, v = vectors(*[(1, 4, 40, 16)] * 3)
    compiled = torch.compile(alibi_attention, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(q, k, v), alibi_attention(q, k, v))
    torch.testing.assert_close(compiled(q[:, :, :3], k, v), alibi_attention(q[:, :, :3], k, v))


def test_another_default_device_is_not_that_of_the_inputs():
    q = torch.randn(1, 2, 40, 8)
    with torch.device("meta"):
        found = alibi_attention(q, q, q)
    assert torch.equal(found, alibi_attention(q, q, q))
