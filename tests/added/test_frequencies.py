"""`frequencies` against the closed form in high precision, and against published wavelengths."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mpmath
import numpy as np
import pytest

from posenc_lib import frequencies
from posenc_lib.angles import Spacing


def exact(dim: int, base: float, spacing: str) -> np.ndarray:
    steps = dim // 2 if spacing == "paper" else max(dim // 2 - 1, 1)
    with mpmath.workdps(40):
        return np.asarray(
            [float(mpmath.mpf(base) ** (-mpmath.mpf(i) / steps)) for i in range(dim // 2)], dtype=np.float64
        )


@pytest.mark.parametrize("spacing", ["paper", "tensor2tensor"])
@pytest.mark.parametrize("base", [2.0, 10000.0, 500000.0, 0.5])
@pytest.mark.parametrize("dim", [2, 4, 6, 64, 100, 512])
def test_the_geometric_series(dim: int, base: float, spacing: Spacing) -> None:
    found = frequencies(dim, base=base, spacing=spacing)
    assert found.shape == (dim // 2,)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, exact(dim, base, spacing), rtol=2e-15, atol=0)


@pytest.mark.parametrize(("dim", "longest"), [(4, 628.3), (512, 60611)])
def test_published_wavelengths(dim: int, longest: float) -> None:
    wavelengths = 2 * math.pi / frequencies(dim)
    assert wavelengths[0] == pytest.approx(6.2832, abs=5e-5)
    assert wavelengths[-1] == pytest.approx(longest, rel=1e-4)


def test_where_the_two_spacings_end() -> None:
    assert frequencies(64, spacing="tensor2tensor")[-1] == pytest.approx(1e-4, rel=1e-15)
    assert frequencies(64)[-1] == pytest.approx(10000 ** -(62 / 64), rel=1e-15)
    assert frequencies(2, spacing="tensor2tensor").tolist() == [1.0]


@dataclass(frozen=True)
class Halved:
    """A scaling rule that any reader can check."""

    def scale(self, plain: np.ndarray, *, dim: int, base: float) -> np.ndarray:
        assert plain.shape == (dim // 2,)
        assert base == 100.0
        return plain / 2


def test_a_scaling_rule_is_applied() -> None:
    scaled = frequencies(8, base=100.0, scaling=Halved())
    np.testing.assert_allclose(scaled, exact(8, 100.0, "paper") / 2, rtol=4e-16)
