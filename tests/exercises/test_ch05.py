"""`05-pitfalls`: the references against independent values, and answers that no list foresaw."""

from __future__ import annotations

import math
from pathlib import Path

import jupytext
import mpmath
import numpy as np
import pytest
import torch

from posenc_lib import apply_rotary, attention
from posenc_lib.checking import report_on
from posenc_lib.exercises import ch05_pitfalls as ch05
from posenc_lib.exercises import exercise

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


@pytest.mark.parametrize("chunks", [(7,), (3, 4), (1,) * 7, (4, 1, 2)])
def test_a_text_in_steps_is_the_text_at_once(chunks):
    q, k, v = np.random.default_rng(0).normal(size=(3, 7, 4))
    at_once = attention(apply_rotary(q, 7), apply_rotary(k, 7), v, causal=True)
    turned = apply_rotary(k, 7)
    rows, past = [], 0
    for size in chunks:
        new = slice(past, past + size)
        rows.append(ch05.ATTEND_WITH_CACHE.reference(q[new], k[new], v[new], turned[:past], v[:past]))
        past += size
    np.testing.assert_allclose(np.concatenate(rows), at_once, atol=1e-12)


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


@pytest.mark.parametrize("seed", range(4))
def test_the_closest_offset_by_exact_chords(seed):
    for case in ch05.CLOSEST_OFFSET.cases(seed):
        dim, length = case.args
        if dim > 8:
            continue  # the neighbour; the search in fifty digits would be long

        with mpmath.workdps(20):
            rates = [mpmath.power(10000, -mpmath.mpf(2 * i) / dim) / 2 for i in range(dim // 2)]
            chords = [sum(mpmath.sin(offset * rate) ** 2 for rate in rates) for offset in range(1, length)]
        expected = 1 + chords.index(min(chords))
        assert ch05.CLOSEST_OFFSET.reference(dim, length) == expected


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


def exact_table(length, dim):
    theta = np.arange(length)[:, None] / 10000 ** (np.arange(0, dim, 2) / dim)
    return np.stack([np.sin(theta), np.cos(theta)], axis=-1).reshape(length, dim)


def test_the_wrong_tables_are_those_of_the_text():
    notebook = jupytext.read(ROOT / "solutions" / "05-pitfalls.md")
    [cell] = [cell for cell in notebook.cells if "def table_1" in cell.source]
    tables = {"np": np}
    exec(cell.source, tables)

    def wrong(length):
        return [
            number
            for number in range(1, 6)
            if np.abs(tables[f"table_{number}"](length, 8) - exact_table(length, 8)).max() > 1e-3
        ]

    assert wrong(4096) == list(ch05.WRONG_TABLES.reference())
    assert wrong(100) == [2, 3]  # what the message of "short-text" says


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
    ("attend_with_cache", lambda q, k, v, keys, values: v * 2, None),
    ("serve", lambda make, calls: ([], 0), "one table for each call"),
    ("closest_offset", lambda dim, length: -4, "at least 1"),
    ("half_table", lambda positions, dim: np.full((len(positions), dim), np.nan), "65504"),
    ("wrong_tables", [1, 5], None),
)


def numbered_by_column(mask):
    return [list(range(len(row))) for row in mask.tolist()]


def one_late(q, k, v, cached_keys, cached_values):
    out = []
    for step in range(len(q)):
        at = np.array([len(cached_keys) + 1 + step])
        turned = [apply_rotary(each[step : step + 1], at) for each in (q, k)]
        keys = np.concatenate(
            [cached_keys] + [apply_rotary(k[s : s + 1], at - step + s) for s in range(step)]
        )
        keys = np.concatenate([keys, turned[1]])
        values = np.concatenate([cached_values, v[: step + 1]])
        out.append(attention(turned[0], keys, values)[0])
    return np.array(out)


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


WRITTEN_IN_ANOTHER_WAY = (
    ("adds_along_the_tokens", lambda add: not (add(np.zeros((1, 2, 2))) == 0).all(), "something-added"),
    ("positions_from_mask", numbered_by_column, "columns"),
    ("attend_with_cache", one_late, "one-late"),
    ("serve", by_length_and_width, "base-forgotten"),
    ("half_table", positions_halved, "positions-in-float16"),
    ("closest_offset", lambda dim, length: min(6, length - 1), "one-turn"),
    ("wrong_tables", (2, 3), "short-text"),
)


def test_the_broken_step_of_the_text_is_wrong_and_right_without_a_cache():
    """As the exercise says: it works for the first tokens."""

    def broken(q, k, v, cached_keys, cached_values):
        keys = np.concatenate([cached_keys, k])
        keys = apply_rotary(keys, np.arange(len(keys)))
        values = np.concatenate([cached_values, v])
        return attention(apply_rotary(q, np.arange(len(q))), keys, values, causal=True)

    report = report_on("05-pitfalls.attend_with_cache", broken)
    assert report.mistake is not None
    assert "Both bugs" in report.mistake.message
    assert [result.label for result in report.results if result.passed] == [
        "the first four tokens: the cache is empty"
    ]


def test_all_can_be_lent_that_the_solutions_call():
    assert exercise("05-pitfalls.attend_with_cache").lends == ("apply_rotary", "attention")
    assert exercise("05-pitfalls.closest_offset").lends == ("sinusoidal",)
