"""`07-alibi-and-biases`: references against other libraries and exact arithmetic, and unforeseen answers."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import torch
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

from posenc_lib.exercises import ch07_alibi_and_biases as ch07

SEEDS = range(3)


@pytest.mark.parametrize("seed", SEEDS)
def test_buckets_are_those_of_transformers_and_of_exact_arithmetic(seed):
    for case in ch07.T5_BUCKET.cases(seed):
        relative, buckets, max_distance, bidirectional = case.args
        theirs = T5Attention._relative_position_bucket(
            torch.from_numpy(relative), bidirectional, buckets, max_distance
        )
        got = ch07.T5_BUCKET.reference(*case.args)
        np.testing.assert_array_equal(got, theirs.numpy(), err_msg=case.label)

        side = buckets // 2 if bidirectional else buckets
        exact = side // 2
        with mpmath.workdps(40):
            for offset, bucket in zip(relative.ravel().tolist(), got.ravel().tolist(), strict=True):
                distance = abs(offset) if bidirectional else max(-offset, 0)
                grown = mpmath.log(mpmath.mpf(max(distance, 1)) / exact) / mpmath.log(
                    mpmath.mpf(max_distance) / exact
                )
                wide = min(exact + int(mpmath.floor(grown * (side - exact))), side - 1)
                ahead = side if bidirectional and offset > 0 else 0
                assert bucket == ahead + (distance if distance < exact else wide), (case.label, offset)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_case_of_the_buckets_lies_on_a_border_that_rounding_could_move(seed):
    """Or a right answer in float32 might fail by a hair."""
    for case in ch07.T5_BUCKET.cases(seed):
        relative, buckets, max_distance, bidirectional = case.args
        side = buckets // 2 if bidirectional else buckets
        exact = side // 2
        distance = np.abs(relative) if bidirectional else np.maximum(-relative, 0)
        wide = distance[(distance > exact) & (distance < max_distance)]
        place = np.log(wide / exact) / math.log(max_distance / exact) * (side - exact)
        assert np.abs(place - np.round(place)).min(initial=1.0) > 1e-4, case.label


@pytest.mark.parametrize("heads", [*range(1, 41), 71, 112])
def test_slopes_are_those_of_mpt_and_bloom(heads):
    got = ch07.ALIBI_SLOPES.reference(heads)
    np.testing.assert_allclose(got, -build_mpt_alibi_tensor(heads, 2)[:, 0, 0].numpy(), rtol=1e-6)
    bloom = build_alibi_tensor(torch.ones(1, 2, dtype=torch.long), heads, torch.float32)
    np.testing.assert_allclose(got, bloom[:, 0, 1].numpy(), rtol=1e-6)


def test_the_version_to_mend_is_right_for_powers_of_two_alone():
    [given] = [each for each in ch07.ALIBI_SLOPES.mistakes if each.name == "one-formula-for-all"]
    agrees = [n for n in range(1, 65) if np.allclose(given.answer(n), ch07.ALIBI_SLOPES.reference(n))]
    assert agrees == [1, 2, 4, 8, 16, 32, 64]


def test_the_relative_shift_is_xlnets():
    from transformers.models.xlnet.modeling_xlnet import XLNetRelativeAttention

    for case in ch07.RELATIVE_SHIFT.cases():
        (x,) = case.args
        queries, keys = x.shape
        # XLNet's has columns for keys after the query as well, and one more in front.
        wide = np.concatenate([np.full((queries, 1), np.nan), x, np.zeros((queries, queries - 1))], axis=1)
        theirs = XLNetRelativeAttention.rel_shift_bnij(torch.from_numpy(wide)[None, None], klen=keys)
        np.testing.assert_array_equal(ch07.RELATIVE_SHIFT.reference(x), theirs[0, 0].numpy())


@pytest.mark.parametrize("seed", SEEDS)
def test_alibi_gives_the_attention_of_mpts_row_under_its_mask(seed):
    rng = np.random.default_rng(seed)
    for case in ch07.ALIBI_BIAS.cases(seed):
        slopes, queries, keys, causal = case.args
        bias = ch07.ALIBI_BIAS.reference(*case.args)
        assert bias.shape == (len(slopes), queries, keys)
        if not causal:
            square = ch07.ALIBI_BIAS.reference(slopes, keys, keys, False)
            np.testing.assert_allclose(square, square.swapaxes(1, 2))
            np.testing.assert_allclose(bias, square[:, keys - queries :])
            continue
        scores = torch.from_numpy(rng.normal(size=(len(slopes), queries, keys)))
        row = torch.from_numpy(slopes)[:, None, None] * torch.arange(1 - keys, 1)
        hidden = torch.ones(queries, keys, dtype=torch.bool).triu(keys - queries + 1)
        theirs = (scores + row).masked_fill(hidden, -torch.inf).softmax(-1)
        ours = (scores + torch.from_numpy(bias)).softmax(-1)
        torch.testing.assert_close(ours, theirs)


def test_the_weights_fall_below_one_hundredth_just_there():
    for distance, slope in zip(ch07.REACH.reference(), (mpmath.mpf(1) / 2, mpmath.mpf(1) / 256), strict=True):
        assert mpmath.exp(-slope * distance) < mpmath.mpf(1) / 100 <= mpmath.exp(-slope * (distance - 1))


def test_the_slope_comes_back_from_real_attention():
    """One token repeated, through the fused kernel and with the published slopes."""
    tokens = torch.ones(1, 8, 30, 16, dtype=torch.float64)
    for heads_slope, head in zip(ch07.ALIBI_SLOPES.reference(8), range(8), strict=True):
        bias = torch.from_numpy(ch07.ALIBI_BIAS.reference(np.array([heads_slope]), 30, 30, True))
        weights = torch.nn.functional.scaled_dot_product_attention(
            tokens[:, head], tokens[:, head], torch.eye(30, dtype=torch.float64)[None], attn_mask=bias
        )
        assert ch07.SLOPE_OF.reference(weights[0].numpy()) == pytest.approx(heads_slope, rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_four_implementations_are_right_and_six_have_a_bug(seed):
    verdicts = {case.label: ch07.OFFSET_ONLY.reference(*case.args) for case in ch07.OFFSET_ONLY.cases(seed)}
    assert list(verdicts.values()) == [True] * 4 + [False] * 6


def test_every_implementation_gives_the_same_numbers_for_parts_as_for_the_whole():
    everywhere = np.arange(ch07.LENGTH)
    rows, columns = np.array([0, 300, 7, 511]), np.array([511, 0, 256])
    for case in ch07.OFFSET_ONLY.cases():
        (bias,) = case.args
        np.testing.assert_allclose(bias(rows, columns), bias(everywhere, everywhere)[np.ix_(rows, columns)])


def past_near_the_start(bias):
    here = np.arange(8)
    return bool(np.allclose(np.tril(bias(here, here)), np.tril(bias(here + 1, here + 1))))


def grows_along_a_row(bias):
    return bool((np.diff(bias(np.array([500]), np.arange(501))) > 0).all())


def every_second_row(bias):
    """Never looks from 255 to 256."""
    rows = np.arange(0, 511, 2)
    return bool(np.allclose(bias(rows, rows), bias(rows + 1, rows + 1)))


def from_slopes_of_falcon(heads):
    return torch.tensor(ch07.ALIBI_SLOPES.reference(heads)).bfloat16().double().numpy()


# Judged in test_every_exercise, as are those below.
NOT_KNOWN = (
    ("offset_only", lambda bias: "yes", None),
    ("offset_only", grows_along_a_row, None),
    ("relative_shift", lambda x: x[:, ::-1], "last row must stay"),
    ("relative_shift", lambda x: x[:, :1], "shape stays"),
    ("t5_bucket", lambda relative, *rest: np.abs(relative), "at least 0 and below"),
    ("t5_bucket", lambda relative, *rest: np.zeros_like(relative), None),
    ("slope_of", lambda weights: weights, "Return one number"),
    ("slope_of", lambda weights: np.log(weights[-1, -1]), "not negative"),
    ("alibi_slopes", from_slopes_of_falcon, None),
    ("alibi_slopes", lambda heads: np.full(heads, 0.5), "same slope"),
    ("alibi_slopes", lambda heads: np.arange(heads), "between 0 and 1"),
    ("reach", (1179, 5), "smaller one"),
    (
        "alibi_bias",
        lambda slopes, queries, keys, causal: np.zeros((queries, keys)),
        "one matrix for each",
    ),
    ("alibi_bias", lambda slopes, queries, keys, causal: np.zeros((len(slopes), queries, keys)), None),
)


def shift_with_zeros_behind(x):
    queries, keys = x.shape
    padded = np.concatenate([x, np.zeros((queries, 1))], axis=1)
    return np.tril(padded.reshape(keys + 1, queries)[1:].reshape(queries, keys), keys - queries)


def buckets_of_query_less_key(relative, buckets, max_distance, bidirectional):
    offsets = -torch.from_numpy(np.asarray(relative))
    return T5Attention._relative_position_bucket(offsets, bidirectional, buckets, max_distance)


def slopes_by_the_papers_sentence(heads):
    slopes = [2 ** (-8 / heads)]
    while len(slopes) < heads:
        slopes.append(slopes[-1] * slopes[0])
    return slopes


def bias_of_a_prefill(slopes, queries, keys, causal):
    """Forgets the cache: query 0 stands at position 0."""
    bias = np.zeros((len(slopes), queries, keys))
    for i in range(queries):
        for j in range(keys):
            bias[:, i, j] = -np.inf if causal and j > i else -slopes * abs(i - j)
    return bias


WRITTEN_IN_ANOTHER_WAY = (
    ("offset_only", past_near_the_start, "main-diagonal"),
    ("offset_only", every_second_row, "not-across-the-middle"),
    ("offset_only", lambda bias: False, "always-false"),
    ("relative_shift", shift_with_zeros_behind, "one-too-far"),
    ("t5_bucket", buckets_of_query_less_key, "sign-turned"),
    ("alibi_slopes", slopes_by_the_papers_sentence, "one-formula-for-all"),
    ("alibi_bias", bias_of_a_prefill, "queries-from-zero"),
    ("slope_of", lambda weights: math.log2(weights[1, 1] / weights[1, 0]), "base-two"),
    ("slope_of", lambda weights: math.exp(math.log(weights[1, 1]) - math.log(weights[1, 0])), "ratio"),
    ("reach", (math.log(100) // 0.5, math.log(100) // (1 / 256)), "rounded-down"),
)
