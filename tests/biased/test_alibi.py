"""ALiBi's slopes and bias, against the paper's numbers, exact fractions and algebra."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from posenc_lib import attention
from posenc_lib.biased import alibi, alibi_bias, alibi_slopes, relative_positions
from tests.present import present


def test_eight_heads_have_the_slopes_that_the_paper_prints():
    assert alibi_slopes(8).tolist() == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]


def test_sixteen_heads_are_the_geometric_mean_between_those_of_eight_as_the_paper_says():
    sixteen = alibi_slopes(16)
    assert sixteen[1::2].tolist() == alibi_slopes(8).tolist()
    np.testing.assert_allclose(sixteen, [2 ** -(h / 2) for h in range(1, 17)], rtol=1e-15)


def test_twelve_heads_are_eight_and_then_every_second_of_sixteen():
    assert alibi_slopes(12).tolist() == [*alibi_slopes(8), *alibi_slopes(16)[0:8:2]]


def exact_slopes(heads: int) -> list[mpmath.mpf]:
    """Written anew: 2^(-8h/n) with exponents as fractions, then the odd ones of 2n."""
    n = max(2**i for i in range(heads.bit_length()) if 2**i <= heads)
    exponents = [Fraction(-8 * h, n) for h in range(1, n + 1)]
    exponents += [Fraction(-8 * h, 2 * n) for h in range(1, 2 * n, 2)][: heads - n]
    return [mpmath.mpf(2) ** (mpmath.mpf(e.numerator) / e.denominator) for e in exponents]


@given(st.integers(1, 300))
def test_any_number_of_heads_to_the_last_bit_but_one(heads):
    slopes = alibi_slopes(heads)
    assert slopes.shape == (heads,)
    assert slopes.dtype == np.float64
    worst = max(abs(mpmath.mpf(float(s)) / e - 1) for s, e in zip(slopes, exact_slopes(heads), strict=True))
    assert worst < 2e-16
    assert len(set(slopes.tolist())) == heads


def test_max_bias_is_the_exponent_of_the_last_slope():
    np.testing.assert_allclose(alibi_slopes(4, max_bias=16.0), [2.0**-4, 2.0**-8, 2.0**-12, 2.0**-16])
    np.testing.assert_allclose(alibi_slopes(3, max_bias=16.0), [2.0**-8, 2.0**-16, 2.0**-4])


def test_the_slopes_say_the_dtype_where_positions_are_whole():
    for dtype in (torch.float64, torch.bfloat16):
        assert alibi_bias(2, 3, 3, slopes=torch.ones(2, dtype=dtype)).dtype == dtype


def test_the_bias_is_slope_times_key_minus_query_written_out():
    bias = alibi_bias(12, 5, 7)
    assert bias.shape == (12, 5, 7)
    for h, slope in enumerate(alibi_slopes(12)):
        for i in range(5):
            for j in range(7):
                assert bias[h, i, j] == slope * (j - (i + 2))


def test_it_is_finite_and_zero_where_a_query_meets_its_own_key():
    bias = alibi_bias(8, 6, 6)
    assert np.isfinite(bias).all()
    assert (np.diagonal(bias, axis1=1, axis2=2) == 0).all()
    assert (bias[:, np.tril_indices(6, -1)[0], np.tril_indices(6, -1)[1]] < 0).all()


def test_symmetric_looks_both_ways():
    bias = alibi_bias(3, 6, 6, causal=False)
    np.testing.assert_array_equal(bias, np.swapaxes(bias, 1, 2))
    assert bias[1, 0, 4] == -4 * alibi_slopes(3)[1]


def test_asymmetric_has_a_slope_for_each_side():
    before, after = np.asarray([1.0, 2.0]), np.asarray([0.5, 0.25])
    bias = alibi_bias(2, 4, 4, causal=False, slopes=before, slopes_after=after)
    assert bias[0].tolist() == [[0, -0.5, -1, -1.5], [-1, 0, -0.5, -1], [-2, -1, 0, -0.5], [-3, -2, -1, 0]]
    assert bias[1, 0, 3] == -0.75
    assert bias[1, 3, 0] == -6.0


def test_the_last_query_stands_at_the_last_key_as_in_attention():
    """Decoding one token at a time gives the rows of the whole: bias and attention agree on the place."""
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 4, 6, 8))
    whole = attention(q, k, v, bias=alibi_bias(4, 6, 6), causal=True)
    for n in range(1, 7):
        one = attention(q[:, n - 1 : n], k[:, :n], v[:, :n], bias=alibi_bias(4, 1, n), causal=True)
        np.testing.assert_allclose(one[:, 0], whole[:, n - 1], atol=1e-14)


def test_a_common_shift_of_positions_changes_nothing():
    here = alibi_bias(4, np.arange(5), np.arange(9))
    far = alibi_bias(4, np.arange(5) + 10_000_000, np.arange(9) + 10_000_000)
    np.testing.assert_array_equal(here, far)


def test_left_padded_rows_each_have_their_positions():
    positions = torch.tensor([[-2, -1, 0, 1], [0, 1, 2, 3]])
    bias = alibi_bias(2, positions, positions)
    assert bias.shape == (2, 2, 4, 4)
    torch.testing.assert_close(bias[0], bias[1])
    assert alibi_bias(2, 1, positions).shape == (2, 2, 1, 4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_one_rounding_whatever_the_dtype_and_the_distance(dtype):
    keys = torch.tensor([0, 1, 999_999, 9_999_999])
    query = torch.tensor([10_000_000])
    bias = alibi_bias(12, query, keys, dtype=dtype, slopes=alibi_slopes(12) * 1e-3)
    exact = (alibi_slopes(12) * 1e-3)[:, None, None] * (keys - query).numpy()
    error = np.abs(bias.to(torch.float64).numpy() - exact)
    info = torch.finfo(dtype)
    half_a_step = info.eps / 2 * np.maximum(np.abs(exact), info.smallest_normal)
    assert bias.dtype == dtype
    assert (error <= half_a_step * (1 + 1e-6)).all()


@pytest.mark.parametrize(
    "options", [{}, {"causal": False}, {"causal": False, "slopes_after": alibi_slopes(3) / 3}]
)
@pytest.mark.parametrize("queries", [1, 2, 7])
@pytest.mark.parametrize("first", [0, -3, 10**6])
@pytest.mark.parametrize(("library", "dtype"), [(np, np.float32), (torch, torch.bfloat16)])
def test_along_diagonals_it_is_what_it_is_element_by_element(
    library, dtype, first, queries, options, monkeypatch
):
    keys = library.arange(7) + first
    at = library.arange(queries) + first + 2
    quick = alibi_bias(3, at, keys, dtype=dtype, **options)
    assert alibi._stand_in_line(at, keys)
    monkeypatch.setattr(alibi, "_stand_in_line", lambda *_: False)
    slow = alibi_bias(3, at, keys, dtype=dtype, **options)
    assert quick.dtype == slow.dtype == dtype
    assert torch.equal(torch.as_tensor(quick), torch.as_tensor(slow))
    quick[:] = 0  # it is the caller's own, and no view of fewer numbers
    assert (quick == 0).all()


@pytest.mark.parametrize("keys", [[0, 2, 3], [2, 1, 0], [0, 0, 1], [0.0, 1.0, 2.0], [[0, 1, 2]], []])
def test_positions_with_gaps_do_not_stand_in_line(keys):
    assert not alibi._stand_in_line(np.arange(3), np.asarray(keys, dtype=None if keys else int))
    assert alibi_bias(2, np.asarray(keys), np.asarray(keys)).shape[-1] == len(np.ravel(keys))


@pytest.mark.parametrize(
    ("positions", "dtype", "expected"),
    [
        (4, None, np.float64),
        (np.arange(4, dtype=np.int32), None, np.float64),
        (np.arange(4, dtype=np.uint8), None, np.float64),
        (np.arange(4, dtype=np.float32), None, np.float32),
        (4, np.float16, np.float16),
        (torch.arange(4), None, torch.float32),
        (torch.arange(4, dtype=torch.bfloat16), None, torch.bfloat16),
        (torch.arange(4), torch.float16, torch.float16),
    ],
)
def test_the_dtype_and_the_library_of_the_result(positions, dtype, expected):
    bias = alibi_bias(2, positions, positions, dtype=dtype)
    assert bias.dtype == expected
    assert isinstance(bias, type(positions) if not isinstance(positions, int) else np.ndarray)
    np.testing.assert_allclose(np.asarray(bias[0].tolist()), alibi_bias(2, 4, 4)[0])


def test_unsigned_positions_do_not_wrap_around():
    small = np.asarray([3], dtype=np.uint8)
    assert alibi_bias(1, small, np.asarray([0, 5], dtype=np.uint8))[0].tolist() == [[-3 / 256, 2 / 256]]


def test_slopes_of_torch_make_a_result_of_torch_and_can_be_learned():
    slopes = torch.ones(2, requires_grad=True)
    bias = alibi_bias(2, 3, 3, slopes=slopes)
    assert isinstance(bias, torch.Tensor)
    bias.sum().backward()
    assert present(slopes.grad).tolist() == [0.0, 0.0]
    alibi_bias(2, 1, 3, slopes=slopes).sum().backward()
    assert present(slopes.grad).tolist() == [-3.0, -3.0]


def test_numpy_slopes_serve_positions_of_torch():
    bias = alibi_bias(2, torch.arange(3), 3, slopes=np.asarray([1.0, 2.0]))
    assert isinstance(bias, torch.Tensor)
    assert bias.dtype == torch.float32
    assert bias[1, 2].tolist() == [-4.0, -2.0, 0.0]


def test_relative_positions_are_key_minus_query():
    assert relative_positions(3, 3).tolist() == [[0, 1, 2], [-1, 0, 1], [-2, -1, 0]]
    assert relative_positions(np.asarray([0.5]), np.asarray([0, 2])).tolist() == [[-0.5, 1.5]]
    assert relative_positions(1, 3, like=torch.zeros(1)).dtype == torch.int64
    assert relative_positions(0, 3).shape == (0, 3)
    assert relative_positions(0, 0).shape == (0, 0)


@pytest.mark.parametrize("library", [np.asarray, torch.tensor])
def test_positions_in_few_bits_do_not_wrap_around(library):
    narrow = np.asarray([*range(256), 0, 1, 2], dtype=np.uint8)  # two texts in a row
    wide = narrow.astype(np.int64)
    found, right = (np.asarray(alibi_bias(2, library(at), library(at))) for at in (narrow, wide))
    np.testing.assert_array_equal(found, right)
    np.testing.assert_array_equal(relative_positions(narrow, narrow), wide - wide[:, None])
