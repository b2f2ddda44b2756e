"""`05-pitfalls`: the references against independent values, and answers that no list foresaw."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import mpmath
import numpy as np
import pytest
import torch

from posenc_lib import attention, packed_mask, packed_positions, sinusoidal
from posenc_lib.exercises import ch05_pitfalls as ch05

ROOT = Path(__file__).resolve().parents[2]


# --- references ------------------------------------------------------------------------------


def test_the_verdicts_on_the_implementations_follow_from_what_they_add():
    """Right where one vector a position, different ones, goes to every sentence."""
    for case in ch05.CATCHES.cases():
        (add,) = case.args
        added = add(np.zeros((3, 5, 8)))
        rows = [{tuple(row) for row in sentence.round(9).tolist()} for sentence in added]
        verdict = all(len(each) == 5 for each in rows) and len({str(each.round(9)) for each in added}) == 1
        assert ch05.CATCHES.reference(add) is verdict, case.label
        assert (case.label in ch05._RIGHT) is verdict


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_positions_are_those_that_transformers_counts(seed):
    """generation/utils.py: cumsum less 1; padding has a filler there."""
    for case in ch05.POSITIONS_FROM_MASK.cases(seed):
        mask = torch.tensor(case.args[0])
        theirs = mask.long().cumsum(-1) - 1
        theirs.masked_fill_(mask == 0, 0)
        np.testing.assert_array_equal(ch05.POSITIONS_FROM_MASK.reference(*case.args), theirs)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_padded_weights_are_those_of_torch(seed):
    for case in ch05.PADDED_WEIGHTS.cases(seed):
        scores, mask = (torch.tensor(each) for each in case.args)
        theirs = scores.masked_fill(mask[:, None] == 0, -math.inf).softmax(-1).nan_to_num(0.0)
        np.testing.assert_allclose(ch05.PADDED_WEIGHTS.reference(*case.args), theirs, atol=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_padded_batch_is_each_sentence_alone(seed):
    for case in ch05.PADDED_ATTENTION.cases(seed):
        q, k, v, mask = case.args
        out = ch05.PADDED_ATTENTION.reference(*case.args)
        for sentence, real in enumerate(mask == 1):
            alone = (torch.tensor(each[sentence][:, real]) for each in (q, k, v))
            if real.any():
                theirs = torch.nn.functional.scaled_dot_product_attention(*alone, is_causal=True)
                np.testing.assert_allclose(out[sentence][:, real], theirs, atol=1e-12)
            assert not out[sentence][:, ~real].any()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_packed_texts_are_those_of_the_library(seed):
    """Texts by their numbers here, by their ends there."""
    for case in ch05.MAY_LOOK.cases(seed):
        (texts,) = case.args
        at = np.flatnonzero(texts != -1)
        starts = np.flatnonzero(np.append(True, np.diff(texts[at]) != 0))
        ends = np.append(starts, len(at))
        np.testing.assert_array_equal(ch05.POSITIONS_IN_TEXT.reference(texts)[at], packed_positions(ends))
        np.testing.assert_array_equal(
            ch05.MAY_LOOK.reference(texts)[np.ix_(at, at)], packed_mask(ends, causal=True)
        )
        assert ch05.TARGETS_THAT_COUNT.reference(texts).sum() == len(at) - (len(ends) - 1)


@pytest.mark.parametrize("chunks", [(7,), (3, 4), (1,) * 7, (4, 1, 2)])
def test_a_text_in_steps_is_the_text_at_once(chunks):
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(7, 8)), rng.normal(size=(3, 2, 8, 4))
    q, k, v = ((x + sinusoidal(7, 8)) @ w for w in weights)
    at_once = attention(q, k, v, causal=True)
    keys = values = np.zeros((2, 0, 4))
    rows, past = [], 0
    for size in chunks:
        output, keys, values = ch05.CACHED_STEP.reference(x[past : past + size], *weights, keys, values)
        rows.append(output)
        past += size
    np.testing.assert_allclose(np.concatenate(rows, axis=1), at_once, atol=1e-12)
    np.testing.assert_allclose(keys, k, atol=1e-12)
    np.testing.assert_allclose(values, v, atol=1e-12)


@pytest.mark.parametrize("seed", [0, 1])
def test_models_look_as_far_ahead_as_they_were_made_to(seed):
    for case in ch05.HOW_FAR_AHEAD.cases(seed):
        model, n, _ = case.args
        last = n - 1 if model.only_at < 0 else model.only_at + model.ahead
        assert ch05.HOW_FAR_AHEAD.reference(*case.args) == min(model.ahead, last), case.label


def test_every_fault_of_padding_is_found_and_rounding_is_none():
    for case in ch05.PADDING_FAULT.cases(5):
        (model,) = case.args
        assert ch05.PADDING_FAULT.reference(model) == model.fault


def test_bfloat16_is_rounded_as_torch_rounds_it():
    numbers = np.concatenate([np.random.default_rng(0).normal(size=500), np.arange(2000.0), [-3.14, 1e-3]])
    theirs = torch.tensor(numbers, dtype=torch.float32).to(torch.bfloat16).double().numpy()
    np.testing.assert_array_equal(ch05._to_bfloat16(numbers), theirs)


def test_the_traces_are_what_their_names_say():
    for seed in range(20):
        for fault in ch05._TRACES:
            mask, prompt, written = ch05._trace(np.random.default_rng(seed), fault).args
            assert ch05.DIAGNOSE.reference(mask, prompt, written) == fault
            assert mask[0, 0] == 0
            assert mask[-1].all()


def test_a_served_table_is_the_one_that_was_asked_for():
    for case in ch05.SERVE.cases():
        make, calls = case.args
        tables, made = ch05.SERVE.reference(make, calls)
        assert made == len({tuple(call) for call in calls})
        for table, call in zip(tables, calls, strict=True):
            np.testing.assert_array_equal(table, make(*call))


def test_rows_of_a_longer_table_are_wrong_for_some_encodings():
    """Why length belongs in the key."""
    long, short = (ch05._made_dynamic(length, 4, 100.0) for length in (9, 3))
    assert np.abs(long[:3] - short).max() > 0.01


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_half_table_against_fifty_digits(seed):
    for case in ch05.HALF_TABLE.cases(seed):
        positions, dim = case.args
        table = ch05.HALF_TABLE.reference(positions, dim)
        assert table.dtype == np.float16
        with mpmath.workdps(50):
            exact = [
                [
                    float(wave(mpmath.mpf(int(p)) / mpmath.power(10000, mpmath.mpf(2 * i) / dim)))
                    for i in range(dim // 2)
                    for wave in (mpmath.sin, mpmath.cos)
                ]
                for p in positions
            ]
        np.testing.assert_allclose(table.astype(float), exact, atol=3e-4)


# --- the listings ----------------------------------------------------------------------------


def listings():
    """The four programs of the text, as lists of lines, without their numbers."""
    text = (ROOT / "solutions" / "05-pitfalls.md").read_text()
    programs = re.findall(r"<summary>Listing [A-D]</summary>\n\n```python\n(.*?)\n```", text, re.DOTALL)
    for program in programs:
        lines = [line for line in program.split("\n") if line]
        assert [int(line.rpartition("# ")[2]) for line in lines] == list(range(1, len(lines) + 1))
        yield [line.rpartition("# ")[0].rstrip() for line in lines]


MENDED = (
    ("len(self.keys)", "self.count"),
    ("mask[:, :-1]", "mask[:, 1:]"),
    (".astype(dtype)", ""),
    ("lengths[0]", "lengths"),
)


def programs():
    """For each listing: as it stands, and with its broken line mended."""
    for lines, number, (wrong, right) in zip(listings(), ch05.BROKEN_LINES.reference(), MENDED, strict=True):
        mended = [*lines]
        assert wrong in lines[number - 1]
        mended[number - 1] = lines[number - 1].replace(wrong, right)
        both = []
        for each in (lines, mended):
            names = {}
            exec("\n".join(each), names)
            both.append(names)
        yield both


def test_listing_a_goes_wrong_where_its_users_say():
    (broken, mended), *_ = programs()
    rng = np.random.default_rng(0)
    x, weights, limit, n = rng.normal(size=(12, 8)), rng.normal(size=(3, 8, 4)), 5, 12
    q, k, v = ((x + sinusoidal(n, 8)) @ w for w in weights)
    near = np.tri(n, dtype=bool) & ~np.tri(n, k=-limit, dtype=bool)
    right = attention(q, k, v, mask=near)
    for names, good in ((broken, limit + 1), (mended, n)):
        layer = names["Layer"](*weights, limit)
        out = np.concatenate([layer.read(x[t : t + 1]) for t in range(n)])
        assert np.isclose(out, right).all(axis=1).tolist() == [True] * good + [False] * (n - good)


def test_listing_b_counts_one_place_too_many():
    _, (broken, mended), *_ = programs()
    sentences = [[1, 2, 3, 4, 5], [3, 2, 1]]
    table = np.random.default_rng(1).normal(size=(6, 6))
    asked = {"mended": [], "broken": []}
    for sentence in sentences:
        logp = table - np.log(np.exp(table).sum(axis=1, keepdims=True))
        asked["mended"] += [-logp[a, b] for a, b in itertools.pairwise(sentence)]
    logp = table - np.log(np.exp(table).sum(axis=1, keepdims=True))
    asked["broken"] = [*asked["mended"], -logp[1, 0]]
    for name, names in (("mended", mended), ("broken", broken)):
        assert names["loss"](lambda known: table[known], sentences) == pytest.approx(np.mean(asked[name]))


def test_listing_c_is_right_in_short_texts_alone():
    _, _, (broken, mended), _ = programs()
    with np.errstate(all="ignore"):
        for start in (0, 1000, 3000, 66_000):
            x = np.zeros((20, 8), dtype=np.float16)
            exact = sinusoidal(np.arange(start, start + 20), 8)
            assert np.allclose(mended["add_positions"](x, start), exact, atol=1e-3)
            found = broken["add_positions"](x, start)
            assert np.allclose(found, exact, atol=1e-3) == (start <= 2000)
            assert np.isnan(found).any() == (start > 65_000)
    assert len(np.unique(broken["add_positions"](np.zeros((20, 8), dtype=np.float16), 3000), axis=0)) < 20


def test_listing_d_goes_wrong_where_its_users_say():
    *_, (broken, mended) = programs()
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(3, 8, 4))

    def as_alone(names, lengths):
        x, ends = rng.normal(size=(sum(lengths), 8)), np.cumsum(lengths)
        out = names["layer"](x, lengths, *weights)
        texts = zip(np.split(x, ends[:-1]), np.split(out, ends[:-1]), strict=True)
        return [
            np.allclose(rows, attention(*((x + sinusoidal(len(x), 8)) @ w for w in weights), causal=True))
            for x, rows in texts
        ]

    assert as_alone(mended, [3, 5, 4]) == [True, True, True]
    assert as_alone(broken, [3, 5, 4]) == [True, False, False]
    assert as_alone(broken, [3, 5, 3]) == [True, False, True]


# --- answers that no list foresaw ------------------------------------------------------------


# Judged in test_every_exercise, as are those below.
NOT_KNOWN = (
    ("adds_along_the_tokens", lambda add: add(np.zeros((1, 2, 4)))[0, 0, 0] == 0, None),
    ("positions_from_mask", lambda mask: -mask, "negative"),
    ("positions_from_mask", lambda mask: mask * 7, "0, 1, 2"),
    ("padded_weights", lambda scores, mask: scores * np.nan, "NaN"),
    (
        "padded_weights",
        lambda scores, mask: np.full_like(scores, 1 / scores.shape[-1]),
        "still gets weight",
    ),
    ("padded_attention", lambda q, k, v, mask: v * 2, "zeros"),
    ("positions_in_text", lambda texts: texts * 3 - 1, "negative"),
    ("may_look", lambda texts: np.eye(len(texts)) > 0, None),
    ("targets_that_count", lambda texts: texts == 0, "one truth value fewer"),
    ("seen", lambda past, new: np.eye(new, past + new) > 0, None),
    ("attend_cached", lambda q, k, v, keys, values: (q * 2, keys * 2, values * 2), "Number 1"),
    ("cached_step", lambda x, w_q, w_k, w_v, keys, values: (x @ w_q, keys, values), "Number 1"),
    ("honest_loss", lambda losses, mask: losses.max(), None),
    ("how_far_ahead", lambda model, n, vocab: n + 2, "n - 1"),
    ("padding_fault", lambda model: "none", None),
    ("diagnose", lambda mask, prompt, written: "right", None),
    ("what_was_rounded", lambda positions, table: "frequencies", None),
    ("serve", lambda make, calls: ([], 0), "one table for each call"),
    ("half_table", lambda positions, dim: np.full((len(positions), dim), np.nan), "65504"),
    ("two_checkpoints", lambda before, after: (3, 0.5), None),
    ("broken_lines", (14, 13, 8, 20), "listing D"),
)


def numbered_by_column(mask):
    return [list(range(len(row))) for row in mask.tolist()]


def one_late(x, w_q, w_k, w_v, keys, values):
    """As somebody writes it who counts the new token before it is placed."""
    rows = []
    for row in x:
        count = keys.shape[1] + 1
        h = row + sinusoidal(np.array([count]), len(row))
        keys = np.concatenate([keys, h @ w_k], axis=1)
        values = np.concatenate([values, h @ w_v], axis=1)
        rows.append(attention(h @ w_q, keys, values))
    return np.concatenate(rows, axis=1), keys, values


def by_length_and_width(make, calls):
    known, made, tables = [], 0, []
    for length, dim, base in calls:
        hit = next((table for table in known if table.shape == (length, dim)), None)
        if hit is None:
            hit, made = make(length, dim, base), made + 1
            known.append(hit)
        tables.append(hit)
    return tables, made


def positions_halved(positions, dim):
    rates = 10000.0 ** (-np.arange(0, dim, 2) / dim)
    with np.errstate(all="ignore"):
        theta = np.float64(np.float16(positions))[:, None] * rates
        return np.stack([np.sin(theta), np.cos(theta)], -1).reshape(len(positions), dim)


def watches_one_row(model, n, vocab):
    """Only the first row is watched; the tokens are changed all at once, from behind."""
    tokens = np.zeros(n, dtype=int)
    best = 0
    for s in range(1, n):
        changed = tokens.copy()
        changed[s] = 1
        best = s if np.abs(model(changed)[0] - model(tokens)[0]).max() > 1e-9 else best
    return best


def blames_attention(model):
    one = model(np.array([1, 2, 3]), np.ones(3, dtype=int))
    other = model(np.array([9, 1, 2, 3]), np.array([0, 1, 1, 1]))
    return "seen" if np.abs(one - other).max() > 1e-9 else "none"


WRITTEN_IN_ANOTHER_WAY = (
    ("adds_along_the_tokens", lambda add: not (add(np.zeros((1, 2, 2))) == 0).all(), "something-added"),
    ("positions_from_mask", numbered_by_column, "columns"),
    ("cached_step", one_late, "one-late"),
    ("seen", lambda past, new: [[True] * (past + new)] * new, "all-seen"),
    ("honest_loss", lambda losses, mask: losses.sum() / losses.size, "padding-counted"),
    ("how_far_ahead", watches_one_row, "first-row-alone"),
    ("padding_fault", blames_attention, "any-change-is-seen"),
    ("may_look", lambda texts: np.tril(np.ones((len(texts),) * 2)) > 0, "causal-alone"),
    ("serve", by_length_and_width, "base-forgotten"),
    ("half_table", positions_halved, "positions-in-float16"),
    ("broken_lines", [13, 12, 7, 6], "counted-from-zero"),
)


def test_what_can_be_lent_is_what_the_solutions_call():
    lent = {each.function: each.lends for each in ch05.EXERCISES if each.lends}
    assert lent == {"cached_step": ("sinusoidal",), "what_was_rounded": ("sinusoidal",)}
