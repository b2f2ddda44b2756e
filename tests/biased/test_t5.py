"""T5's buckets and bias, against the rule in exact arithmetic."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from posenc_lib.biased import relative_positions, t5_bias, t5_buckets
from tests.present import present


def bucket_in_exact_arithmetic(relative: int, buckets: int, max_distance: int, bidirectional: bool) -> int:
    """T5's rule with a logarithm of 60 digits, in which a border cannot fall on the wrong side."""
    offset = 0
    if bidirectional:
        buckets //= 2
        offset = buckets if relative > 0 else 0
        distance = abs(relative)
    else:
        distance = max(-relative, 0)
    exact = buckets // 2
    if distance < exact:
        return offset + distance
    with mpmath.workdps(60):
        grown = mpmath.log(mpmath.mpf(distance) / exact) / mpmath.log(mpmath.mpf(max_distance) / exact)
        steps = int(mpmath.floor(grown * (buckets - exact) + mpmath.mpf(10) ** -40))
    return offset + min(exact + steps, buckets - 1)


@given(
    st.integers(2, 40),
    st.integers(1, 3000),
    st.booleans(),
    st.lists(st.integers(-4000, 4000), min_size=1, max_size=30),
)
def test_buckets_follow_the_rule(half, beyond, bidirectional, relative):
    buckets = 2 * half
    max_distance = (buckets // 2 if bidirectional else buckets) // 2 + beyond
    got = t5_buckets(
        np.asarray(relative), buckets=buckets, max_distance=max_distance, bidirectional=bidirectional
    )
    expected = [bucket_in_exact_arithmetic(r, buckets, max_distance, bidirectional) for r in relative]
    assert got.tolist() == expected


def test_t5s_own_setting_has_borders_at_8_12_16_23_32_46_64_91():
    buckets = t5_buckets(-np.arange(0, 200))
    first = [int(np.argmax(buckets == b)) for b in range(16)]
    assert first == [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91]
    assert (t5_buckets(np.arange(1, 200)) == buckets[1:] + 16).all()


@pytest.mark.parametrize("max_distance", [10**15, 2**60])
def test_borders_are_exact_where_floats_are_not(max_distance):
    for half in (4, 5, 16, 26):  # with 26 and 2^60, float64 finds the last border too late
        last = t5_buckets(np.asarray(-max_distance), buckets=2 * half, max_distance=max_distance)
        assert int(last) == half - 1
        low, high = 1, max_distance  # the border of the last bucket, by bisection in exact arithmetic
        while high - low > 1:
            middle = (low + high) // 2
            reached = bucket_in_exact_arithmetic(-middle, 2 * half, max_distance, True) == half - 1
            low, high = (low, middle) if reached else (middle, high)
        around = t5_buckets(-np.asarray([high - 1, high]), buckets=2 * half, max_distance=max_distance)
        assert around.tolist() == [half - 2, half - 1]


def test_the_decoder_puts_the_future_with_the_present():
    assert t5_buckets(np.asarray([5, 1, 0, -1]), bidirectional=False).tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("bidirectional", [True, False])
def test_distances_beyond_every_range_stay_in_the_last_bucket(bidirectional):
    far = np.asarray([np.iinfo(np.int64).min, -(10**15), np.iinfo(np.int64).max])
    expected = [15, 15, 31] if bidirectional else [31, 31, 0]
    assert t5_buckets(far, bidirectional=bidirectional).tolist() == expected


def test_narrow_integers_do_not_overflow():
    assert t5_buckets(np.asarray([-128, 127], dtype=np.int8)).tolist() == [15, 31]
    assert t5_buckets(torch.tensor([0, 255], dtype=torch.uint8)).tolist() == [0, 31]


def test_a_number_a_list_and_any_shape():
    assert int(t5_buckets(-3)) == 3
    assert t5_buckets([[0, -1], [-2, -3]]).tolist() == [[0, 1], [2, 3]]
    assert t5_buckets(np.zeros((2, 0, 3), dtype=np.int64)).shape == (2, 0, 3)


def test_the_bias_looks_up_the_bucket_of_each_pair():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(12, 3))
    bias = t5_bias(table, 4, 30, max_distance=20)
    relative = relative_positions(4, 30)
    for h in range(3):
        for i in range(4):
            for j in range(30):
                bucket = bucket_in_exact_arithmetic(int(relative[i, j]), 12, 20, True)
                assert bias[h, i, j] == table[bucket, h]


def test_batched_positions_and_the_table_s_library_dtype_and_gradient():
    table = torch.randn(32, 4, dtype=torch.bfloat16, requires_grad=True)
    positions = torch.tensor([[-1, 0, 1], [0, 1, 2]])
    bias = t5_bias(table, positions, positions)
    assert bias.shape == (2, 4, 3, 3)
    assert bias.dtype == torch.bfloat16
    torch.testing.assert_close(bias[0], t5_bias(table, 3, 3))
    bias.sum().backward()
    assert present(table.grad)[0].tolist() == [6.0] * 4  # the diagonal, twice
    assert present(table.grad)[3:17].abs().sum() == 0


def test_real_positions_have_no_bucket():
    with pytest.raises(TypeError, match="distances must be whole"):
        t5_buckets(np.asarray([1.0]))
    with pytest.raises(TypeError, match="distances must be whole"):
        t5_bias(np.zeros((32, 2)), np.asarray([0.5]), 3)
