"""Scaling rules against published values, the papers' formulas written anew, and what they promise."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from posenc_lib import frequencies
from posenc_lib.rotated import (
    DynamicNTKScaling,
    LinearScaling,
    Llama3Scaling,
    LongRoPEScaling,
    NTKByPartsScaling,
    NTKScaling,
    ProportionalScaling,
    YaRNScaling,
    rotary_tables,
)
from tests.compilers import BACKENDS

factors = st.floats(1.0, 64.0)
dims = st.integers(2, 64).map(lambda pairs: 2 * pairs)


def base_of(rates: np.ndarray, dim: int) -> float:
    """The base whose plain frequencies these are, read off pair 1; all others must follow it."""
    base = float(rates[1] ** (-dim / 2))
    np.testing.assert_allclose(rates, base ** (-np.arange(0, dim, 2) / dim), rtol=1e-10)
    return base


# ---- one base or one divisor


@given(factor=factors, dim=dims)
@settings(max_examples=30)
def test_linear_scaling_is_the_short_context_stretched(factor: float, dim: int) -> None:
    np.testing.assert_allclose(
        frequencies(dim, scaling=LinearScaling(factor)) * factor, frequencies(dim), rtol=1e-14
    )
    position = 12.0 * factor
    stretched = rotary_tables(np.asarray([position]), dim, scaling=LinearScaling(factor))
    np.testing.assert_allclose(stretched.cos, rotary_tables(np.asarray([12.0]), dim).cos, atol=1e-12)


@given(factor=factors, dim=dims, base=st.floats(100.0, 1e6))
@settings(max_examples=30)
def test_ntk_divides_the_slowest_pair_by_the_factor_and_the_fastest_not_at_all(
    factor: float, dim: int, base: float
) -> None:
    plain, scaled = frequencies(dim, base=base), frequencies(dim, base=base, scaling=NTKScaling(factor))
    assert scaled[0] == plain[0] == 1.0
    np.testing.assert_allclose(scaled[-1], plain[-1] / factor)
    np.testing.assert_allclose(base_of(scaled, dim), base * factor ** (dim / (dim - 2)))


@pytest.mark.parametrize(("formula", "base"), [("transformers", 135_402), ("paper", 40_890)])
def test_dynamic_ntk_has_two_formulas(formula: Literal["transformers", "paper"], base: int) -> None:
    """Factor 4 at four times the length, dim 128: the two bases that are found in use."""
    rule = DynamicNTKScaling(4.0, original_length=4096, length=16384, formula=formula)
    assert round(base_of(frequencies(128, scaling=rule), 128)) == base
    if formula == "paper":
        np.testing.assert_allclose(
            frequencies(128, scaling=rule), frequencies(128, scaling=NTKScaling(4.0)), rtol=1e-12
        )


@pytest.mark.parametrize("formula", ["transformers", "paper"])
@pytest.mark.parametrize("length", [1, 4000, 4096])
def test_dynamic_ntk_changes_nothing_up_to_the_original_length(
    formula: Literal["transformers", "paper"], length: int
) -> None:
    rule = DynamicNTKScaling(8.0, original_length=4096, length=length, formula=formula)
    np.testing.assert_array_equal(frequencies(64, scaling=rule), frequencies(64))


# ---- ramps


def by_parts(rate: float, factor: float, length: float, alpha: float, beta: float) -> float:
    """YaRN paper, equations 17 to 20, for one frequency."""
    ratio = length / (2 * math.pi / rate)
    gamma = 0.0 if ratio < alpha else 1.0 if ratio > beta else (ratio - alpha) / (beta - alpha)
    return (1 - gamma) * rate / factor + gamma * rate


@pytest.mark.parametrize("base", [10000.0, 500000.0])
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 32.0), (1.0, 4.0), (0.5, 2.0)])
def test_ntk_by_parts_is_the_papers(alpha: float, beta: float, base: float) -> None:
    rule = NTKByPartsScaling(16.0, 4096, alpha, beta)
    truth = [by_parts(rate, 16.0, 4096, alpha, beta) for rate in frequencies(128, base=base)]
    np.testing.assert_allclose(frequencies(128, base=base, scaling=rule), truth, rtol=1e-13)


def test_llama_3_is_ntk_by_parts_with_alpha_1_and_beta_4() -> None:
    np.testing.assert_array_equal(
        frequencies(128, base=500000.0, scaling=Llama3Scaling(8.0, 8192)),
        frequencies(128, base=500000.0, scaling=NTKByPartsScaling(8.0, 8192, 1.0, 4.0)),
    )


def test_llama_3_by_metas_own_branches() -> None:
    """Wavelength against two bounds and a smooth factor, as the models' code has it."""
    rates = frequencies(128, base=500000.0)
    truth = []
    for rate in rates:
        wavelength = 2 * math.pi / rate
        if wavelength < 8192 / 4:
            truth.append(rate)
        elif wavelength > 8192 / 1:
            truth.append(rate / 8)
        else:
            smooth = (8192 / wavelength - 1) / (4 - 1)
            truth.append((1 - smooth) * rate / 8 + smooth * rate)
    np.testing.assert_allclose(frequencies(128, base=500000.0, scaling=Llama3Scaling()), truth, rtol=1e-13)


def test_yarn_ramps_by_the_papers_turns_when_asked() -> None:
    rule = YaRNScaling(4.0, 32768, ramp="turns")
    truth = [by_parts(rate, 4.0, 32768, 1.0, 32.0) for rate in frequencies(128, base=1e6)]
    np.testing.assert_allclose(frequencies(128, base=1e6, scaling=rule), truth, rtol=1e-13)


@pytest.mark.parametrize("truncate", [True, False])
def test_yarn_ramps_by_pairs_by_default(truncate: bool) -> None:
    """Where pair i turns r times in length L, i = dim ln(L / (2 pi r)) / (2 ln base); linear in between."""
    dim, base, factor, length = 128, 10000.0, 16.0, 4096
    first, last = (dim * math.log(length / (2 * math.pi * turns)) / (2 * math.log(base)) for turns in (32, 1))
    if truncate:
        first, last = math.floor(first), math.ceil(last)
        assert (first, last) == (20, 46)  # for LLaMA's numbers
    plain = frequencies(dim, base=base)
    kept = [1 - min(max((i - first) / (last - first), 0), 1) for i in range(dim // 2)]
    truth = [k * rate + (1 - k) * rate / factor for k, rate in zip(kept, plain, strict=True)]
    rule = YaRNScaling(factor, length, truncate=truncate)
    np.testing.assert_allclose(frequencies(dim, scaling=rule), truth, rtol=1e-13)


def test_yarns_ramp_may_end_beyond_the_last_pair() -> None:
    """The released code bounds the ramp's end by dim - 1, not by the last pair, dim/2 - 1."""
    first, last = 4, 12  # 16 ln(4096 / (2 pi r)) / (2 ln 100) = 4.03 and 11.26 for r = 64 and 1
    kept = np.asarray([1 - min(max((i - first) / (last - first), 0), 1) for i in range(8)])
    plain = frequencies(16, base=100.0)
    found = frequencies(16, base=100.0, scaling=YaRNScaling(4.0, 4096, beta_fast=64.0))
    np.testing.assert_allclose(found, kept * plain + (1 - kept) * plain / 4)


def test_the_code_and_the_paper_of_yarn_differ_by_a_good_part() -> None:
    code = frequencies(128, scaling=YaRNScaling(16.0, 4096))
    paper = frequencies(128, scaling=YaRNScaling(16.0, 4096, ramp="turns"))
    assert 0.5 < np.abs(code / paper - 1).max() < 3.0
    np.testing.assert_array_equal(code[:20], paper[:20])
    np.testing.assert_array_equal(code[46:], paper[46:])


@given(factor=factors, dim=dims, ramp=st.sampled_from(["pair", "turns"]))
@settings(max_examples=40)
def test_yarn_stays_between_plain_and_linear(factor: float, dim: int, ramp: Literal["pair", "turns"]) -> None:
    plain = frequencies(dim)
    scaled = frequencies(dim, scaling=YaRNScaling(factor, 4096, ramp=ramp))
    assert (scaled <= plain * (1 + 1e-14)).all()
    assert (scaled >= plain / factor * (1 - 1e-14)).all()


# ---- attention factors


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"factor": 16.0}, 1.277259),  # 0.1 ln 16 + 1
        ({"factor": 4.0}, 1.138629),
        ({"factor": 1.0}, 1.0),
        ({"factor": 0.5}, 1.0),
        ({"factor": 40.0, "mscale": 1.0, "mscale_all_dim": 1.0}, 1.0),  # DeepSeek-V3
        ({"factor": 40.0, "mscale": 0.707, "mscale_all_dim": 0.707}, 1.0),  # DeepSeek-V2
        ({"factor": 40.0, "mscale": 0.0, "mscale_all_dim": 0.0}, 1.368888),
        ({"factor": 40.0, "mscale": 1.0, "mscale_all_dim": 0.707}, 1.368888 / 1.260804),
        ({"factor": 40.0, "mscale": 1.0}, 1.368888),
        ({"factor": 40.0, "attention_factor": 1.25, "mscale": 3.0, "mscale_all_dim": 2.0}, 1.25),
    ],
)
def test_yarns_attention_factor(options: dict[str, Any], expected: float) -> None:
    assert YaRNScaling(original_length=4096, **options).attention_scaling == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("options", "expected"),
    [({"factor": 32.0}, 1.190238), ({"factor": 1.0}, 1.0), ({"attention_factor": 1.5}, 1.5)],
)
@pytest.mark.parametrize("length", [100, 100_000])
def test_longropes_attention_factor(length: int, options: dict[str, Any], expected: float) -> None:
    """Phi-3-mini-128k: 131,072 / 4,096 = 32."""
    rule = LongRoPEScaling([1.0], [2.0], 4096, length=length, **options)
    assert rule.attention_scaling == pytest.approx(expected, abs=1e-6)


def test_a_rule_replaced_in_part_is_not_stale() -> None:
    """The factor that attention gets follows from the fields, so `replace` cannot leave an old one."""
    assert dataclasses.replace(YaRNScaling(4.0, 4096), factor=16.0) == YaRNScaling(16.0, 4096)
    assert dataclasses.replace(YaRNScaling(4.0, 4096), factor=16.0).attention_scaling == pytest.approx(
        1.277259
    )


# ---- lists


def test_longrope_divides_by_the_list_of_its_length() -> None:
    short, long = [1.0, 1.5, 2.0], [4.0, 5.0, 6.0]
    for length, divisors in [(1, short), (4096, short), (4097, long), (131_072, long)]:
        rule = LongRoPEScaling(short, long, 4096, length=length, factor=32.0)
        np.testing.assert_allclose(frequencies(6, scaling=rule), frequencies(6) / divisors)


def test_rules_can_be_keys_of_a_cache() -> None:
    long: Any = np.asarray([3.0, 4.0])
    made = [LongRoPEScaling([1.0, 2.0], long, 4096, length=9, factor=2.0) for _ in range(2)]
    assert made[0] == made[1]
    assert len({*made, YaRNScaling(4.0, 4096), YaRNScaling(4, 4096), LinearScaling(2.0)}) == 3


@pytest.mark.parametrize(("fraction", "turning"), [(0.25, 8), (1.0, 32), (0.3, 9)])
def test_proportional_scaling_stops_the_slow_pairs(fraction: float, turning: int) -> None:
    rates = frequencies(64, scaling=ProportionalScaling(fraction, factor=2.0))
    np.testing.assert_allclose(rates[:turning], frequencies(64)[:turning] / 2)
    assert (rates[turning:] == 0).all()


# ---- in the library


def test_a_rule_of_your_own() -> None:
    class Halved:
        def scale(self, frequencies: np.ndarray, *, dim: int, base: float) -> np.ndarray:
            return frequencies / 2

    np.testing.assert_array_equal(frequencies(8, scaling=Halved()), frequencies(8) / 2)
    np.testing.assert_array_equal(
        rotary_tables(5, 8, scaling=Halved()).cos, rotary_tables(5, 8, scaling=LinearScaling(2.0)).cos
    )


RULES = [
    LinearScaling(3.0),
    NTKScaling(3.0),
    DynamicNTKScaling(3.0, 4096, 9000),
    NTKByPartsScaling(3.0, 4096),
    Llama3Scaling(),
    YaRNScaling(3.0, 4096),
    YaRNScaling(3.0, 4096, ramp="turns"),
    LongRoPEScaling([1.1] * 8, [1.2] * 8, 4096, length=9000, factor=3.0),
    ProportionalScaling(0.5),
    {"rope_type": "yarn", "factor": 3.0, "original_max_position_embeddings": 4096, "rope_theta": 5e5},
]


@pytest.mark.parametrize("backend", BACKENDS)
def test_compiled_rules_are_as_exact(backend: str) -> None:
    """A compiler traces NumPy as tensors, where a quotient of integers is float32: no rule may have one."""
    torch._dynamo.reset()
    positions = torch.tensor([9_999_999])

    @torch.compile(fullgraph=True, backend=backend)
    def cosines(positions: torch.Tensor) -> list[torch.Tensor]:
        return [rotary_tables(positions, 16, scaling=rule, dtype=torch.float64).cos for rule in RULES]

    for found, rule in zip(cosines(positions), RULES, strict=True):
        truth = rotary_tables(np.asarray([9_999_999]), 16, scaling=rule).cos
        np.testing.assert_allclose(found.numpy(), truth, atol=2e-8, err_msg=repr(rule))
