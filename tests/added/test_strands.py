"""The two strands of a genome: what turning around does to sequences, and to encodings."""

from __future__ import annotations

from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch

from posenc_lib import alibi_bias, attention, sinusoidal
from posenc_lib.added import centred_positions, reverse_complement

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def test_it_is_what_one_reads_on_the_other_strand() -> None:
    text = "AACGTGGTCA"
    other = text[::-1].translate(COMPLEMENT)
    found = reverse_complement(np.asarray(["ACGT".index(base) for base in text]))
    assert "".join("ACGT"[base] for base in found) == other == "TGACCACGTT"


def test_twice_is_nothing_and_unknown_bases_stay_unknown() -> None:
    bases = np.random.default_rng(0).integers(0, 5, (3, 20))
    once = reverse_complement(bases, (3, 2, 1, 0, 4))
    np.testing.assert_array_equal(reverse_complement(once, (3, 2, 1, 0, 4)), bases)
    assert ((once == 4) == (bases == 4)[:, ::-1]).all()
    assert reverse_complement(np.asarray([[0, 1]]), (1, 0)).tolist() == [[0, 1]]  # one row is no one-hot


@pytest.mark.parametrize("length", [1, 8, 9])
def test_centred_positions_make_turning_around_one_map_for_all_lengths(length: int) -> None:
    positions = centred_positions(length)
    np.testing.assert_array_equal(positions[::-1], -positions)
    table = sinusoidal(positions, 8)
    np.testing.assert_allclose(table[::-1], table * np.tile([-1, 1], 4), atol=1e-12)
    if length > 1:
        usual = sinusoidal(length, 8)
        assert np.abs(usual[::-1] - usual * np.tile([-1, 1], 4)).max() > 0.1


def test_a_bias_that_sees_distance_alone_is_equivariant_to_turning_around() -> None:
    q, k, v = np.random.default_rng(0).normal(size=(3, 2, 7, 4))
    bias = alibi_bias(2, 7, 7, causal=False)
    plain = attention(q, k, v, bias=bias)
    turned = attention(*(each[:, ::-1] for each in (q, k, v)), bias=bias)
    np.testing.assert_allclose(turned[:, ::-1], plain, atol=1e-12)


@pytest.mark.parametrize("own", [torch.from_numpy, array_api_strict.asarray], ids=["torch", "strict"])
def test_in_every_library(own: Any) -> None:
    bases = np.random.default_rng(0).integers(0, 4, (2, 6)).astype(np.int32)
    found = reverse_complement(own(bases))
    assert found.dtype == own(bases).dtype
    np.testing.assert_array_equal(np.asarray(found), reverse_complement(bases))
    places = centred_positions(4, like=own(bases))
    assert type(places) is type(found)
    assert np.asarray(places).tolist() == [-1.5, -0.5, 0.5, 1.5]
    assert centred_positions(3, like=torch.ones(1, dtype=torch.float64)).dtype == torch.float64


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_every_position_has_a_number_of_its_own(dtype: torch.dtype) -> None:
    places = centred_positions(1001, like=torch.zeros(1, dtype=dtype))
    assert torch.equal(places, torch.arange(1001.0) - 500)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.uint16, torch.uint32, torch.uint64])
def test_bases_of_every_integer_type_have_their_partners(dtype):
    found = reverse_complement(torch.tensor([0, 1, 1]).to(dtype))
    assert found.dtype == dtype
    assert found.tolist() == [2, 2, 3]


def test_it_compiles_in_one_piece() -> None:
    bases = torch.tensor([0, 0, 1, 2])
    compiled = torch.compile(reverse_complement, backend="eager", fullgraph=True)
    assert torch.equal(compiled(bases), reverse_complement(bases))
