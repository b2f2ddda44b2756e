"""What several tests of `03-relative-position` share."""

from __future__ import annotations

from pathlib import Path

import mpmath
import numpy as np

from posenc_course.exercises.ch03_relative_position._shared import turning

SEEDS = range(3)


TEXT = Path(__file__).resolve().parents[3] / "solutions" / "03-relative-position.md"


def exact_rows(positions, dim, base=10000):
    """To fifty digits, by the formula of the paper."""
    with mpmath.workdps(50):
        rates = [mpmath.power(base, -mpmath.mpf(2 * i) / dim) for i in range(dim // 2)]
        angles = [[mpmath.mpf(float(p)) * w for w in rates] for p in positions]
        return np.array([[float(f(a)) for a in row for f in (mpmath.sin, mpmath.cos)] for row in angles])


def turned_by(angle, one_step, offset):
    """The clocks of one step, turned on by an offset; `angle` reads each off its cosine and its sine."""
    turns = [angle(one_step[i, i], one_step[i, i + 1]) * float(offset) for i in range(0, len(one_step), 2)]
    return turning(np.array(turns))


HALF_SEEN = (
    lambda cosine, sine: np.arcsin(sine),
    lambda cosine, sine: np.arccos(cosine),
    lambda cosine, sine: np.arctan(sine / cosine),
)
"""An angle as far as half of the circle can tell."""
