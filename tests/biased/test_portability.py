"""The same results from any library of the array API standard, and only NumPy loaded for NumPy's."""

from __future__ import annotations

import subprocess
import sys

import array_api_strict as strict
import numpy as np
import pytest
import torch

from posenc_lib import biased as b

RNG = np.random.default_rng(0)
Q, K = RNG.normal(size=(2, 2, 3, 4, 8))
TABLE, WIDE, PER_HEAD = RNG.normal(size=(5, 8)), RNG.normal(size=(3, 5, 8)), RNG.random(3) + 0.1
U, V = RNG.normal(size=(2, 3, 8))
FIRE = RNG.normal(size=(4, 1)), RNG.normal(size=4), RNG.normal(size=(3, 4)), RNG.normal(size=3)
POSITIONS = np.arange(4) - 1

CALLS = {
    "relative_positions": lambda to: b.relative_positions(to(POSITIONS), 4),
    "alibi": lambda to: b.alibi_bias(3, to(POSITIONS), 4, slopes=to(PER_HEAD)),
    "alibi, ints": lambda to: b.alibi_bias(3, 2, 4, slopes=to(PER_HEAD)),
    "alibi asymmetric": lambda to: b.alibi_bias(
        3, to(POSITIONS), 4, causal=False, slopes=to(PER_HEAD), slopes_after=to(U[:, 0])
    ),
    "t5_buckets": lambda to: b.t5_buckets(to(POSITIONS * 17)),
    "t5": lambda to: b.t5_bias(
        to(RNG.__class__(np.random.PCG64(1)).normal(size=(8, 2))), 2, 4, max_distance=9
    ),
    "shaw": lambda to: b.shaw_bias(to(Q), to(TABLE), 4, 4),
    "shaw, batched positions": lambda to: b.shaw_bias(
        to(Q), to(WIDE), to(np.stack([POSITIONS, POSITIONS * 2])), to(np.stack([POSITIONS, POSITIONS * 2]))
    ),
    "shaw_values": lambda to: b.shaw_values(to(Q[..., :4]), to(WIDE), to(POSITIONS), 4),
    "relative_shift": lambda to: b.relative_shift(to(Q), 8),
    "transformer_xl": lambda to: b.transformer_xl_bias(to(Q), to(K), to(WIDE[:, :4]), to(U), to(V)),
    "kerple": lambda to: b.kerple_bias(to(PER_HEAD), to(PER_HEAD), to(POSITIONS), 4),
    "kerple power": lambda to: b.kerple_bias(to(PER_HEAD), to(PER_HEAD), 2, 4, kind="power"),
    "fire": lambda to: b.fire_bias(tuple(map(to, FIRE)), 2, 4, c=0.1, threshold=to(np.asarray(3.0))),
    "sandwich": lambda to: b.sandwich_bias(3, to(POSITIONS * 1.0), 4, dim=8),
    "cope": lambda to: b.cope_bias(to(Q), to(K), to(TABLE), mask=to(np.asarray([False, True, True, True]))),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_library_gives_what_numpy_gives(name):
    expected = CALLS[name](np.asarray)
    assert isinstance(expected, np.ndarray)
    in_torch = CALLS[name](torch.as_tensor)
    assert isinstance(in_torch, torch.Tensor)
    np.testing.assert_allclose(in_torch.numpy(), expected, atol=1e-13)
    in_strict = CALLS[name](strict.asarray)
    assert isinstance(in_strict, type(strict.asarray(0)))
    np.testing.assert_allclose(np.asarray(in_strict), expected, atol=1e-13)


@pytest.mark.parametrize("name", [name for name in CALLS if name not in ("relative_positions", "t5_buckets")])
def test_float32_in_float32_out(name):
    def narrow(array):
        return torch.as_tensor(array, dtype=torch.float32 if array.dtype == np.float64 else None)

    result = CALLS[name](narrow)
    assert result.dtype == torch.float32
    np.testing.assert_allclose(result.numpy(), CALLS[name](np.asarray), atol=1e-5)


def test_they_compile_without_a_graph_break_and_with_the_same_values():
    def biases(x):
        return [
            b.alibi_bias(3, x, x),
            b.kerple_bias(torch.ones(3), torch.ones(3), x, x),
            b.t5_bias(torch.arange(64.0).reshape(32, 2), x, x),
            b.sandwich_bias(3, x, x),
            b.fire_distances(x, x, c=1.0, threshold=2.0),
        ]

    positions = torch.arange(6)
    compiled = torch.compile(biases, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(positions), biases(positions))


def test_without_torch_nothing_of_it_is_loaded():
    code = (
        "import sys, posenc_lib.biased as b; b.alibi_bias(8, 4, 4); b.sandwich_bias(8, 4, 4); "
        "assert not {'torch', 'array_api_compat'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
