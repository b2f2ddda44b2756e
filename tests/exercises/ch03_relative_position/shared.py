"""What several tests of `03-relative-position` share."""

from __future__ import annotations

from pathlib import Path

import mpmath
import numpy as np

SEEDS = range(3)


TEXT = Path(__file__).resolve().parents[3] / "solutions" / "03-relative-position.md"


def exact_rows(positions, dim, base=10000):
    """To fifty digits, by the formula of the paper."""
    with mpmath.workdps(50):
        rates = [mpmath.power(base, -mpmath.mpf(2 * i) / dim) for i in range(dim // 2)]
        angles = [[mpmath.mpf(float(p)) * w for w in rates] for p in positions]
        return np.array([[float(f(a)) for a in row for f in (mpmath.sin, mpmath.cos)] for row in angles])
