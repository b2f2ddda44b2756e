"""References of chapter 1 against other libraries and against brute force."""

from __future__ import annotations

import re
from collections import Counter
from itertools import permutations
from pathlib import Path

import mpmath
import numpy as np
import pytest
import torch

from posenc_lib import attention
from posenc_lib.checking import report_on
from posenc_lib.exercises import ch01_why_order_matters as ch01

SEEDS = range(3)
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("seed", SEEDS)
def test_softmax_against_exact_arithmetic(seed):
    for case in ch01.SOFTMAX.cases(seed):
        (scores,) = case.args
        got = ch01.SOFTMAX.reference(scores)
        for index in np.ndindex(*scores.shape[:-1]):
            raised = [mpmath.exp(mpmath.mpf(float(score))) for score in scores[index]]
            total = mpmath.fsum(raised) or 1
            np.testing.assert_allclose(
                got[index], [float(each / total) for each in raised], rtol=1e-12, atol=1e-300
            )


@pytest.mark.parametrize("seed", SEEDS)
def test_attention_and_its_weights_against_torch(seed):
    for case in ch01.ATTENTION.cases(seed):
        q, k, v = (torch.from_numpy(each) for each in case.args[:3])
        queries, keys = q.shape[-2], k.shape[-2]
        allowed = torch.ones(queries, keys, dtype=torch.bool)
        if case.args[3]:
            allowed = allowed.tril(keys - queries)
        want = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        np.testing.assert_allclose(
            ch01.ATTENTION.reference(*case.args), want.numpy(), rtol=1e-9, atol=1e-12, err_msg=case.label
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_causal_weights_against_torch(seed):
    for case in ch01.CAUSAL_WEIGHTS.cases(seed):
        scores = torch.from_numpy(case.args[0])
        queries, keys = scores.shape[-2:]
        future = torch.ones(queries, keys, dtype=torch.bool).triu(keys - queries + 1)
        want = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
        np.testing.assert_allclose(
            ch01.CAUSAL_WEIGHTS.reference(*case.args), want.numpy(), rtol=1e-9, atol=1e-15
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_the_margin_wins_the_share_and_the_width_is_the_first_that_does(seed):
    for case in ch01.WINNING_MARGIN.cases(seed):
        keys, share = case.args

        def weight(score, keys=keys):
            return torch.tensor([score] + [0.0] * (keys - 1), dtype=torch.float64).softmax(0)[0].item()

        assert weight(ch01.WINNING_MARGIN.reference(keys, share)) == pytest.approx(share)
        width = ch01.SATURATING_WIDTH.reference(keys, share)
        assert weight(width**0.5) >= share
        assert width == 1 or weight((width - 1) ** 0.5) < share


@pytest.mark.parametrize("seed", range(20))
def test_exactly_two_sentences_have_one_bag_of_runs(seed):
    for case in ch01.SAME_BAG.cases(seed):
        sentences, n = case.args
        bags = [Counter(zip(*(s.split()[k:] for k in range(n)), strict=False)) for s in sentences]
        alike = [(i, j) for j in range(len(bags)) for i in range(j) if bags[i] == bags[j]]
        assert alike == [ch01.SAME_BAG.reference(sentences, n)]
        assert len(set(sentences)) == len(sentences)


@pytest.mark.parametrize("seed", SEEDS)
def test_restored_rows_shuffle_back_to_what_was_given(seed):
    for case in ch01.RESTORE_ROWS.cases(seed):
        shuffled, order = case.args
        assert sorted(order) == list(range(len(order)))
        np.testing.assert_array_equal(ch01.RESTORE_ROWS.reference(shuffled, order)[order], shuffled)


def test_nobody_notices_a_shuffle_without_a_mask_and_only_who_sees_others_does_under_one():
    found = {case.label: ch01.NOTICED.reference(*case.args).tolist() for case in ch01.NOTICED.cases()}
    assert found["attention on three tokens"] == [False] * 3
    assert found["attention with a causal mask, all five tokens moved"] == [True] * 5
    # The first two still see the same tokens.
    assert found["attention with a causal mask, the last three tokens moved"] == [
        False,
        False,
        True,
        True,
        True,
    ]
    assert found["one token"] == [True]
    assert found["nothing but rounding"] == [False] * 6
    assert found["four tokens with another row"] == [True, False, True, True, False, True]


@pytest.mark.parametrize("seed", range(8))
def test_the_rows_said_to_change_are_those_that_change_in_random_layers(seed):
    for case in ch01.CHANGED_ROWS.cases(seed):
        tokens, i, j, causal, layers = case.args
        for draw in range(3):
            rng = np.random.default_rng((seed, draw))
            vectors = rng.normal(size=(max(tokens) + 1, 4))
            weights = rng.normal(size=(layers, 3, 4, 4)) / 3

            def model(x, weights=weights, causal=causal):
                for w in weights:
                    x = x + attention(*(x @ each for each in w), causal=causal)
                return x

            swapped = tokens.copy()
            swapped[[i, j]] = tokens[[j, i]]
            changed = np.abs(model(vectors[swapped]) - model(vectors[tokens])).max(axis=1) > 1e-9
            np.testing.assert_array_equal(
                ch01.CHANGED_ROWS.reference(*case.args), changed, err_msg=case.label
            )


def test_a_box_has_the_symmetry_that_is_said_of_it_among_all_orders():
    for case in ch01.SYMMETRY_LEFT.cases(3)[: len(ch01._BOX_OF)]:
        layer, x = case.args
        n, y = len(x), layer(x)
        follows = {
            order
            for order in permutations(range(n))
            if np.abs(layer(x[list(order)]) - y[list(order)]).max() < 1e-9
        }
        mirror, shift = tuple(range(n))[::-1], (*range(1, n), 0)
        word = ch01.SYMMETRY_LEFT.reference(layer, x)
        assert case.label in ch01._BOXES[word]
        assert (len(follows) == 720) == (word == "all")
        if word != "all":
            assert (mirror in follows, shift in follows) == (word == "mirror", word == "shift"), case.label


# --- the five broken programs ----------------------------------------------------------------------

MENDED = {
    "A": "    return projected.reshape(n, heads, head_dim).transpose(1, 0, 2)",
    "B": "    scale = 1 / np.sqrt(dim // heads)",
    "C": "        seen = slice(t + 1)",
    "D": "    peak = np.max(scores, axis=-1, keepdims=True)",
    "E": "    q, k, v = np.split(projected, 3, axis=1)",
}


def program(letter, mended=False):
    text = (ROOT / "solutions" / "01-why-order-matters.md").read_text()
    _, _, rest = text.partition(f"<summary>Listing {letter}</summary>\n\n```python\n")
    lines = rest.partition("```")[0].split("\n")
    broken = dict(zip("ABCDE", ch01.FIND_THE_BUG.reference(), strict=True))[letter]
    numbered = [line for line in lines if line.strip()]
    assert [int(re.search(r"# (\d+)$", line)[1]) for line in numbered] == list(range(1, len(numbered) + 1))
    assert 23 <= len(numbered) <= 25
    if mended:
        lines[lines.index(numbered[broken - 1])] = MENDED[letter]
    names: dict[str, object] = {}
    exec("\n".join(lines), names)
    return names["layer"]


def right_layer(x, w_q, w_k, w_v, w_o, heads):
    q, k, v = (torch.tensor(x @ w).reshape(len(x), heads, -1).transpose(0, 1) for w in (w_q, w_k, w_v))
    mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    return x + mixed.transpose(0, 1).reshape(x.shape).numpy() @ w_o


def inputs(heads, n=5, dim=8):
    rng = np.random.default_rng(heads)
    return [rng.normal(size=(n, dim)), *rng.normal(size=(4, dim, dim)) / 3, heads]


@pytest.mark.parametrize("letter", MENDED)
@pytest.mark.parametrize("heads", [1, 2, 4])
def test_a_program_is_right_once_its_broken_line_is_mended(letter, heads):
    np.testing.assert_allclose(program(letter, mended=True)(*inputs(heads)), right_layer(*inputs(heads)))


def test_what_users_noticed_of_the_broken_programs_is_so():
    wrong = {
        letter: [
            np.abs(program(letter)(*inputs(heads)) - right_layer(*inputs(heads))).max(axis=1) > 1e-9
            for heads in (1, 2)
        ]
        for letter in MENDED
    }
    assert not wrong["A"][0].any()
    assert wrong["A"][1].any()
    x, *rest = inputs(2)
    changed = x.copy()
    changed[len(x) // 2] += 1.0
    assert np.abs(program("A")(changed, *rest) - program("A")(x, *rest))[0].max() > 1e-3
    assert not wrong["B"][0].any()
    assert wrong["B"][1][1:].all()
    assert all(not each[0] and each[1:].all() for each in wrong["C"])
    assert not any(each.any() for each in wrong["D"])
    x[2] *= 1e4
    with np.errstate(all="ignore"):
        assert np.isnan(program("D")(x, *rest)).any(axis=1).sum() >= 1
        assert np.isfinite(program("D", mended=True)(x, *rest)).all()
    x, w_q, w_k, w_v, w_o, heads = inputs(2)
    assert wrong["E"][0].all()
    np.testing.assert_allclose(
        program("E")(x, w_q, w_v, w_k, w_o, heads), right_layer(x, w_q, w_k, w_v, w_o, heads)
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_sentence_really_gives_five_and_six_different_rows(seed):
    rng = np.random.default_rng(seed)
    words = ["the", "cat", "sat", "on", "the", "mat"]
    vector_of = {word: rng.normal(size=8) for word in words}
    x = np.stack([vector_of[word] for word in words])
    q, k, v = (x @ rng.normal(size=(8, 4)) / np.sqrt(8) for _ in range(3))
    rows = [len(np.unique(attention(q, k, v, causal=causal).round(9), axis=0)) for causal in (False, True)]
    assert tuple(rows) == ch01.DISTINCT_ROWS.reference()


@pytest.mark.parametrize(("first", "other"), [(1.0, 0.0), (5.0, 2.0), (-1.5, 3.0)])
def test_positions_come_back_from_real_causal_attention(first, other):
    values = np.full((30, 1), other)
    values[0] = first
    equal = np.zeros((30, 1))
    means = attention(equal, equal, values, causal=True)[:, 0]
    shuffled = np.random.default_rng(0).permutation(30)
    np.testing.assert_allclose(
        ch01.POSITIONS_FROM_MEAN.reference(means[shuffled], first, other), shuffled, atol=1e-9
    )


def test_a_swap_alone_would_not_tell_the_inverse_from_the_shuffle():
    """Why the cases hold shuffles of three and more rows."""
    (swap,) = [c for c in ch01.RESTORE_ROWS.cases() if c.label == "three rows, two of them swapped"]
    shuffled, order = swap.args
    np.testing.assert_array_equal(shuffled[order], ch01.RESTORE_ROWS.reference(shuffled, order))


# Judged in test_every_exercise.
NOT_KNOWN = (
    ("winning_margin", lambda keys, share: share * keys, None),
    ("saturating_width", lambda keys, share: 0, "at least one"),
    ("saturating_width", lambda keys, share: keys + 0.5, "at least one"),
    ("same_bag", lambda sentences, n: (0, len(sentences) - 1), None),
    ("restore_rows", lambda s, order: np.roll(s, 1, axis=0), "answer[order]"),
    ("noticed", lambda y, z, order: np.zeros(len(y), dtype=bool), None),
    ("softmax", lambda s: np.full_like(s, 1 / s.shape[-1]), None),
    ("softmax", lambda s: np.exp(np.clip(s, -5, 5)) / 3, "must sum to 1"),
    ("causal_weights", lambda s: np.tri(*s.shape[-2:]), None),
    ("causal_weights", lambda s: np.full_like(s, 1 / s.shape[-1]), "looks into its future"),
    ("attention", lambda q, k, v, causal: np.maximum(q @ np.swapaxes(k, -1, -2), 0) @ v, "weighted average"),
    ("attention", lambda q, k, v, causal: v, "one row per query"),
    ("find_the_bug", (9, 12, 9, 3, 20), "listing E"),
    ("distinct_rows", (720, 6), "six rows come out"),
    ("changed_rows", lambda tokens, i, j, causal, layers: np.arange(len(tokens)) == i, None),
    ("positions_from_mean", lambda means, first, other: -1 - means * 0, "negative"),
    ("symmetry_left", lambda layer, x: "All", "small letters"),
    ("symmetry_left", lambda layer, x: "none", None),
)


@pytest.mark.parametrize("prediction", [(6, 4), (3, 3), (5, 1)])
def test_a_possible_number_of_rows_is_not_called_impossible(prediction):
    report = report_on("01-why-order-matters.distinct_rows", prediction)
    assert not report.passed
    assert report.mistake is None
    assert "six rows come out" not in str(report)
