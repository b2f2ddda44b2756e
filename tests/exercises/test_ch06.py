"""`06-rotary`: the references against independent values, and answers that no list foresaw."""

import mpmath
import numpy as np
import pytest
import torch

from posenc_lib import convert_layout
from posenc_lib.checking import report_on
from posenc_lib.exercises import ch06_rotary as ch06


def exact_row(row, position, rotary_dim):
    """One row turned with fifty digits."""
    with mpmath.workdps(50):
        out = [mpmath.mpf(x) for x in row]
        for j in range(rotary_dim // 2):
            angle = mpmath.mpf(position) / mpmath.power(10000, mpmath.mpf(2 * j) / rotary_dim)
            turned = mpmath.mpc(out[2 * j], out[2 * j + 1]) * mpmath.expj(angle)
            out[2 * j], out[2 * j + 1] = turned.real, turned.imag
        return [float(x) for x in out]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rotations_against_fifty_digits(seed):
    for case in ch06.APPLY_ROTARY.cases(seed):
        x, positions, rotary_dim = case.args
        expected = [
            exact_row(row, at, rotary_dim) for row, at in zip(x.tolist(), positions.tolist(), strict=True)
        ]
        # At a million the angle itself is good to about 1e-10 rad.
        assert np.asarray(ch06.APPLY_ROTARY.reference(*case.args)) == pytest.approx(
            np.array(expected), abs=1e-9
        )
    for case in ch06.TURN_PAIR.cases(seed):
        pair, position, frequency = case.args
        with mpmath.workdps(50):
            turned = mpmath.mpc(*pair) * mpmath.expj(mpmath.mpf(position) * mpmath.mpf(frequency))
        expected = [float(turned.real), float(turned.imag)]
        assert ch06.TURN_PAIR.reference(*case.args) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_conversion_against_that_of_the_llama_checkpoints(seed):
    for case in ch06.TO_HALF.cases(seed):
        weight, heads = case.args
        rows, width = weight.shape
        # transformers, convert_llama_weights_to_hf.py
        permuted = torch.from_numpy(weight).view(heads, rows // heads // 2, 2, width).transpose(1, 2)
        expected = permuted.reshape(rows, width).numpy()
        assert np.array_equal(ch06.TO_HALF.reference(weight, heads), expected)
        assert np.array_equal(
            convert_layout(weight, heads=heads, source="interleaved", target="half"), expected
        )


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_cached_scores_are_those_of_reading_everything_at_once(seed):
    for case in ch06.CACHED_SCORES.cases(seed):
        q, k, cache = case.args
        scores = ch06.CACHED_SCORES.reference(q, k, cache)
        keys = [
            *cache.tolist(),
            *(exact_row(row, len(cache) + r, len(row)) for r, row in enumerate(k.tolist())),
        ]
        queries = [exact_row(row, len(cache) + r, len(row)) for r, row in enumerate(q.tolist())]
        assert scores == pytest.approx(np.array(queries) @ np.array(keys).T, abs=1e-9)


def test_the_base_slows_the_last_pair_of_128_by_eight_and_leaves_the_first():
    with mpmath.workdps(30):
        base = mpmath.mpf(ch06.NTK_BASE.reference())
        last, slowed = (mpmath.power(b, mpmath.mpf(-126) / 128) for b in (10000, base))
        assert float(last / slowed) == pytest.approx(8)


@pytest.mark.parametrize("seed", range(3))
def test_scaled_frequencies_do_what_the_two_rules_promise(seed):
    for case in ch06.SCALED_FREQUENCIES.cases(seed):
        rule, dim, factor = case.args
        found = ch06.SCALED_FREQUENCIES.reference(rule, dim, factor)
        with mpmath.workdps(30):
            plain = [float(mpmath.power(10000, mpmath.mpf(-2 * i) / dim)) for i in range(dim // 2)]
        slower = np.array(plain) / found
        assert slower[-1] == pytest.approx(factor)
        assert slower[0] == pytest.approx(factor if rule == "pi" else 1)
        assert np.diff(np.log(slower)) == pytest.approx(np.diff(np.log(slower))[0])


RELATIVE = ("interleaved", "half", "large_base", "interpolated", "clockwise", "in_part")


def test_six_functions_are_relative_and_six_have_a_bug():
    """Each by brute force: the matrix of scores of all basis vectors at many places."""
    basis = np.eye(ch06.WIDTH)

    def product(rotate, query, key):
        at = [rotate(basis, np.full(ch06.WIDTH, place)) for place in (query, key)]
        return at[0] @ at[1].T

    assert len(ch06._RELATIVE) == len(ch06._NOT_RELATIVE) == 6
    for _, rotate in (*ch06._RELATIVE, *ch06._NOT_RELATIVE):
        shifted = [product(rotate, 30 + s, 10 + s) for s in (0, 1, 17, 495, 3000)]
        relative = all(np.allclose(shifted[0], other, atol=1e-7) for other in shifted)
        moves = not np.allclose(product(rotate, 30, 10), product(rotate, 30, 11))
        assert (relative and moves) == (rotate.__name__ in RELATIVE), rotate
        assert ch06.IS_RELATIVE.reference(rotate) == (rotate.__name__ in RELATIVE), rotate


def float32_angles(x, positions, rotary_dim):
    rates = np.float32(10000) ** (-np.arange(0, rotary_dim, 2, dtype=np.float32) / np.float32(rotary_dim))
    theta = positions.astype(np.float32)[:, None] * rates
    out, a, b = x.copy(), x[:, 0:rotary_dim:2], x[:, 1:rotary_dim:2]
    out[:, 0:rotary_dim:2] = a * np.cos(theta) - b * np.sin(theta)
    out[:, 1:rotary_dim:2] = b * np.cos(theta) + a * np.sin(theta)
    return out


def test_float32_angles_pass_near_and_fail_far_with_the_reason():
    report = report_on("06-rotary.apply_rotary", float32_angles)
    failed = [result.label for result in report.results if not result.passed]
    assert failed == ["position 1,000,000, head_dim 8"]
    assert report.mistake is None
    assert "float64" in " ".join(report.explanation)


# Judged in test_every_exercise, as are those below.
NOT_KNOWN = (
    ("turn_pair", lambda pair, position, frequency: 2 * pair, None),
    ("apply_rotary", lambda x, positions, rotary_dim: -x, None),
    ("is_relative", lambda rotate: True, None),
    ("to_half", lambda weight, heads: weight[::-1], None),
    ("cached_scores", lambda q, k, cache: np.zeros((len(q), len(cache) + len(k))), None),
    ("ntk_base", 50_000, None),
    ("scaled_frequencies", lambda rule, dim, factor: np.ones(dim // 2), None),
)


def test_a_base_of_9999_is_told_apart():
    def almost(x, positions, rotary_dim):
        theta = positions[:, None] * 9999.0 ** (-np.arange(0, rotary_dim, 2) / rotary_dim)
        return ch06._turned(x, theta)

    assert not report_on("06-rotary.apply_rotary", almost).passed


def half_as_transformers_writes_it(x, positions, rotary_dim):
    part = torch.from_numpy(x[:, :rotary_dim])
    rates = 1 / 10000 ** (torch.arange(0, rotary_dim, 2, dtype=torch.float64) / rotary_dim)
    theta = torch.cat([torch.from_numpy(positions)[:, None] * rates] * 2, dim=-1)
    rotated = torch.cat([-part[:, rotary_dim // 2 :], part[:, : rotary_dim // 2]], dim=-1)
    turned = part * theta.cos() + rotated * theta.sin()
    return torch.cat([turned, torch.from_numpy(x[:, rotary_dim:])], dim=-1)


def moves_both_but_forgets_the_other_half(rotate):
    x = np.random.default_rng(3).normal(size=(2, 8))
    here, there = (rotate(x, np.array(places)) for places in ([40, 11], [9040, 9011]))
    return bool(abs(here[0] @ here[1] - there[0] @ there[1]) < 1e-6)


def even_rows_first(weight, heads):
    rows = np.arange(len(weight))
    return weight[np.lexsort((rows, rows % 2))]


def every_step_from_zero(q, k, cache):
    keys = np.array([exact_row(row, r, len(row)) for r, row in enumerate(k.tolist())])
    queries = np.array([exact_row(row, r, len(row)) for r, row in enumerate(q.tolist())])
    return queries @ np.concatenate([cache, keys]).T


WRITTEN_IN_ANOTHER_WAY = (
    ("apply_rotary", half_as_transformers_writes_it, "half-layout"),
    ("is_relative", moves_both_but_forgets_the_other_half, "ignores-nothing"),
    ("to_half", even_rows_first, "whole-matrix"),
    ("cached_scores", every_step_from_zero, "positions-from-0"),
    ("ntk_base", 80_000, "factor-alone"),
    ("ntk_base", 607_779, "dynamic"),
    (
        "scaled_frequencies",
        lambda rule, dim, factor: (
            (10000.0 if rule == "pi" else 10000.0 * factor) ** (-np.arange(0, dim, 2) / dim)
            / (factor if rule == "pi" else 1)
        ),
        "base-times-factor",
    ),
)


def test_only_the_cache_exercise_borrows_the_rotation():
    assert {asked.function for asked in ch06.EXERCISES if asked.lends} == {"cached_scores"}
    assert ch06.CACHED_SCORES.lends == ("apply_rotary",)
