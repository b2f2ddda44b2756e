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
from tests.exercises import trained_decoder

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
def test_every_box_has_the_symmetry_that_it_is_listed_under(seed):
    """Judged by the exact rule: all 64! orders are made of neighbours that change places."""

    def seen(bias, order):
        scores = torch.from_numpy(np.asarray(bias(order, order), dtype=float))
        return scores.softmax(-1).numpy()

    here = np.arange(ch07.POSITIONS)
    listed = {label: word for word, boxes in ch07._BOXES.items() for label, _ in boxes}
    for case in ch07.SYMMETRY_SEEN.cases(seed):
        (bias,) = case.args
        swaps = []
        for at in range(ch07.POSITIONS - 1):
            order = here.copy()
            order[[at, at + 1]] = at + 1, at
            swaps.append(np.allclose(seen(bias, order), seen(bias, here)))
        shifts = [np.allclose(seen(bias, here[:-by]), seen(bias, here[by:])) for by in range(1, 60)]
        mirror = np.allclose(seen(bias, here[::-1]), seen(bias, here))
        word = "all" if all(swaps) else "none" if not all(shifts) else "mirror" if mirror else "shift"
        assert ch07.SYMMETRY_SEEN.reference(bias) == listed[case.label] == word, case.label


def test_every_box_gives_the_same_numbers_for_parts_as_for_the_whole():
    rows, columns = np.array([0, 30, 7, 63]), np.array([63, 0, 32])
    for case in ch07.SYMMETRY_SEEN.cases():
        (bias,) = case.args
        whole = bias(ch07.EVERYWHERE, ch07.EVERYWHERE)
        np.testing.assert_allclose(bias(rows, columns), whole[np.ix_(rows, columns)])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_four_terms_are_those_of_xlnet(seed):
    """Its attention keeps the terms apart: ac, and bd through its own shift; its distances are wider."""
    from transformers.models.xlnet.modeling_xlnet import XLNetRelativeAttention

    for case in ch07.XL_SCORES.cases(seed):
        q, k, r, u, v = map(torch.from_numpy, case.args)
        queries, keys = len(q), len(k)
        # XLNet's r begins one distance farther and goes on into the future.
        wide = torch.cat(
            [torch.full_like(r[:1], torch.nan), r, torch.zeros(queries - 1, r.shape[1])]
        ).double()
        ac = torch.einsum("id,jd->ij", q + u, k)
        bd = torch.einsum("id,jd->ij", q + v, wide)
        bd = XLNetRelativeAttention.rel_shift_bnij(bd[None, None], klen=keys)[0, 0]
        hidden = torch.ones(queries, keys, dtype=torch.bool).triu(keys - queries + 1)
        theirs = ((ac + bd) / math.sqrt(q.shape[1])).masked_fill(hidden, -torch.inf)
        np.testing.assert_allclose(ch07.XL_SCORES.reference(*case.args), theirs.numpy(), rtol=1e-12)


def test_the_chapters_sentence_is_scored_as_by_hand():
    first = ch07.XL_SCORES.cases()[0]
    np.testing.assert_allclose(
        ch07.XL_SCORES.reference(*first.args) * math.sqrt(2), [[-0.8, 2.4, 4.1, 2.0]], atol=1e-12
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_buckets_begin_where_transformers_begins_them(seed):
    for case in ch07.BUCKET_STARTS.cases(seed):
        buckets, max_distance = case.args
        distances = torch.arange(max_distance + 1)
        theirs = T5Attention._relative_position_bucket(-distances, False, buckets, max_distance).tolist()
        assert ch07.BUCKET_STARTS.reference(*case.args) == [theirs.index(b) for b in range(buckets)]
        assert not ch07._borders_meet_whole(*case.args), "rounding would decide"


def test_the_last_bucket_begins_before_max_distance():
    assert ch07.BUCKET_STARTS.reference(16, 128)[8:] == [8, 12, 16, 23, 32, 46, 64, 91]  # the encoder's
    assert ch07.BUCKET_STARTS.reference(32, 128)[-1] == 113  # the decoder's


@pytest.mark.parametrize("seed", SEEDS)
def test_kerple_is_the_papers_formula_in_exact_arithmetic(seed):
    for case in ch07.KERPLE.cases(seed):
        r1, r2, queries, keys, kind = case.args
        got = ch07.KERPLE.reference(*case.args)
        with mpmath.workdps(30):
            for h, i, j in np.ndindex(*got.shape):
                d = mpmath.mpf(abs(i + keys - queries - j))
                one, two = mpmath.mpf(float(r1[h])), mpmath.mpf(float(r2[h]))
                exact = -one * (mpmath.log(1 + two * d) if kind == "log" else d**two if d else 0)
                assert got[h, i, j] == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_fire_is_the_papers_network_in_torch(seed):
    """The listing of its appendix: two linear layers on the quotient of two logarithms."""
    for case in ch07.FIRE_BIAS.cases(seed):
        w1, b1, w2, b2, queries, keys, c, threshold = case.args
        first = torch.nn.Linear(1, len(w1)).double()
        last = torch.nn.Linear(len(w1), len(w2)).double()
        first.weight.data, first.bias.data = torch.from_numpy(w1)[:, None], torch.from_numpy(b1)
        last.weight.data, last.bias.data = torch.from_numpy(w2), torch.from_numpy(b2)
        at = torch.arange(keys, dtype=torch.float64)
        gone = at[keys - queries :, None] - at
        reach = torch.clamp(at[keys - queries :], min=threshold)[:, None]
        share = torch.log1p(c * gone.clamp(min=0)) / torch.log1p(c * reach)
        shares = ch07.FIRE_SHARES.reference(queries, keys, c, threshold)
        np.testing.assert_allclose(shares, share.numpy(), rtol=1e-12)
        bias = (
            last(first(share[..., None]).relu()).detach().permute(2, 0, 1).masked_fill(gone < 0, -torch.inf)
        )
        np.testing.assert_allclose(ch07.FIRE_BIAS.reference(*case.args), bias.numpy(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_cope_is_the_papers_listing_in_torch(seed):
    """Its steps: gates, turned round and added up, cut off, and a share of the two rows next to it."""
    for case in ch07.COPE_BIAS.cases(seed):
        q, k, table = map(torch.from_numpy, case.args)
        past = torch.ones(len(q), len(q), dtype=torch.bool).tril()
        gates = (q @ k.T / math.sqrt(q.shape[1])).masked_fill(~past, -torch.inf).sigmoid()
        counts = gates.flip(-1).cumsum(-1).flip(-1)
        np.testing.assert_allclose(
            ch07.COPE_COUNTS.reference(*case.args[:2]), (counts * past).numpy(), rtol=1e-10, atol=1e-12
        )
        counts = counts.clamp(max=len(table) - 1)
        rows = q @ table.T / math.sqrt(q.shape[1])
        above, below = (rows.gather(-1, each.long()) for each in (counts.ceil(), counts.floor()))
        part = counts - counts.floor()
        bias = (above * part + below * (1 - part)).masked_fill(~past, -torch.inf)
        np.testing.assert_allclose(ch07.COPE_BIAS.reference(*case.args), bias.numpy(), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_kernel_without_a_bias_gives_pytorchs_attention_with_one(seed):
    for case in ch07.WITHOUT_BIAS.cases(seed):
        q, k, v, slopes, kernel = case.args
        n = q.shape[1]
        bias = torch.from_numpy(ch07.ALIBI_BIAS.reference(slopes, n, n, True))
        theirs = torch.nn.functional.scaled_dot_product_attention(
            *(torch.from_numpy(x)[None] for x in (q, k, v)), attn_mask=bias[None]
        )[0]
        np.testing.assert_allclose(ch07.WITHOUT_BIAS.reference(*case.args), theirs.numpy(), atol=1e-10)
        plain = torch.nn.functional.scaled_dot_product_attention(
            *(torch.from_numpy(x)[None] for x in (q, k, v)), is_causal=True
        )[0]
        np.testing.assert_allclose(kernel(q, k, v), plain.numpy(), atol=1e-10)


def from_slopes_of_falcon(heads):
    return torch.tensor(ch07.ALIBI_SLOPES.reference(heads)).bfloat16().double().numpy()


# Judged in test_every_exercise, as are those below.
NOT_KNOWN = (
    ("symmetry_seen", lambda bias: True, "one of the four words"),
    ("symmetry_seen", lambda bias: "Shift", "one of the four words"),
    ("symmetry_seen", lambda bias: "none", None),
    ("xl_scores", lambda q, k, r, u, v: (q @ k.T)[:, :1], "the shape is (queries, keys)"),
    ("xl_scores", lambda q, k, r, u, v: q @ k.T, None),
    ("bucket_starts", lambda buckets, max_distance: np.arange(1, buckets + 1), "begins at distance 0"),
    ("bucket_starts", lambda buckets, max_distance: np.zeros(buckets), "begins farther away"),
    ("bucket_starts", lambda buckets, max_distance: [0], "as many numbers as there are buckets"),
    ("kerple_bias", lambda r1, r2, queries, keys, kind: np.zeros((len(r1), queries, keys)), None),
    ("kerple_bias", lambda r1, r2, queries, keys, kind: np.zeros((queries, keys)), "one matrix for each"),
    ("fire_shares", lambda queries, keys, c, threshold: np.full((queries, keys), 2.0), "between 0 and 1"),
    ("fire_shares", lambda queries, keys, c, threshold: np.zeros((keys, keys)), None),
    (
        "fire_bias",
        lambda w1, b1, w2, b2, queries, keys, *rest: np.zeros((queries, keys)),
        "one matrix for each",
    ),
    ("fire_bias", lambda w1, b1, w2, b2, queries, keys, *rest: np.zeros((len(w2), queries, keys)), None),
    ("cope_counts", lambda q, k: np.tri(len(q)) * 2, "that count is 1 at most"),
    ("cope_counts", lambda q, k: np.ones((len(q), len(q))), "Keys after the query are not counted"),
    ("cope_counts", lambda q, k: np.tri(len(q)) * -1.0, "never below 0"),
    ("cope_bias", lambda q, k, table: q @ table.T, None),
    ("cope_bias", lambda q, k, table: np.zeros((len(q), len(q))), None),
    ("without_bias", lambda q, k, v, slopes, kernel: np.zeros_like(v), "its own value"),
    ("without_bias", lambda q, k, v, slopes, kernel: v, None),
    ("without_bias", lambda q, k, v, slopes, kernel: v[..., :-1], "leave v as wide"),
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
    *trained_decoder.NOT_KNOWN,
)


def one_shift_at_the_end(bias):
    """Looks at the last 20 positions only, with the numbers as they are seen."""
    here = np.arange(44, 64)

    def seen(order):
        values = bias(order, order)
        return values - values.mean(axis=1, keepdims=True)

    whole = np.arange(64)
    rng = np.random.default_rng(3)
    if all(np.allclose(seen(order), seen(whole)) for order in (rng.permutation(64) for _ in range(3))):
        return "all"
    if not np.allclose(seen(here[:-1]), seen(here[1:])):
        return "none"
    return "mirror" if np.allclose(seen(whole[::-1]), seen(whole)) else "shift"


def terms_of_shaw(q, k, r, u, v):
    """The two terms of the query alone."""
    n, m = len(q), len(k)
    scores = np.full((n, m), -np.inf)
    for i in range(n):
        for j in range(i + m - n + 1):
            scores[i, j] = q[i] @ (k[j] + r[m - 1 - (i + m - n - j)]) / np.sqrt(len(u))
    return scores


def starts_by_integers(buckets, max_distance):
    exact = buckets // 2
    return [
        int(exact * (max_distance / exact) ** (max(0, b - exact) / exact)) if b >= exact else b
        for b in range(buckets)
    ]


def counts_before_the_mask(q, k):
    gates = 1 / (1 + np.exp(-np.clip(q @ k.T / np.sqrt(q.shape[1]), -500, 500)))
    return np.array([[gates[i, j:].sum() if j <= i else 0.0 for j in range(len(q))] for i in range(len(q))])


def cope_by_rounding(q, k, table):
    counts = np.minimum(ch07.COPE_COUNTS.reference(q, k), len(table) - 1).astype(int)
    bias = np.array([[q[i] @ table[counts[i, j]] for j in range(len(q))] for i in range(len(q))])
    return np.where(np.tri(len(q)) > 0, bias / np.sqrt(q.shape[1]), -np.inf)


def kernel_with_plain_slopes(q, k, v, slopes, kernel):
    heads, n, _ = q.shape
    column = np.ones((heads, n, 1))
    return kernel(
        np.concatenate([q, column * slopes[:, None, None]], 2), np.concatenate([k, column.cumsum(1)], 2), v
    )


def fire_of_the_whole_text(queries, keys, c, threshold):
    here = np.arange(keys - queries, keys)[:, None]
    gone = np.where(np.arange(keys) > here, 0, here - np.arange(keys))
    return np.log(c * gone + 1) / np.log(c * max(threshold, keys - 1) + 1)


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
    ("symmetry_seen", one_shift_at_the_end, "half-of-the-text"),
    ("xl_scores", terms_of_shaw, "without-cd"),
    ("bucket_starts", starts_by_integers, "rounded-down"),
    ("fire_shares", fire_of_the_whole_text, "share-of-the-text"),
    ("cope_counts", counts_before_the_mask, "future-hidden-too-late"),
    ("cope_bias", cope_by_rounding, "rounded-down"),
    ("without_bias", kernel_with_plain_slopes, "root-forgotten"),
    ("relative_shift", shift_with_zeros_behind, "one-too-far"),
    ("t5_bucket", buckets_of_query_less_key, "sign-turned"),
    ("alibi_slopes", slopes_by_the_papers_sentence, "one-formula-for-all"),
    ("alibi_bias", bias_of_a_prefill, "queries-from-zero"),
    ("slope_of", lambda weights: math.log2(weights[1, 1] / weights[1, 0]), "base-two"),
    ("slope_of", lambda weights: math.exp(math.log(weights[1, 1]) - math.log(weights[1, 0])), "ratio"),
    ("reach", (math.log(100) // 0.5, math.log(100) // (1 / 256)), "rounded-down"),
)
