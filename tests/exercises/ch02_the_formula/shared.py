"""What several tests of `02-the-formula` share."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

SOLUTIONS = Path(__file__).resolve().parents[3] / "solutions" / "02-the-formula.md"


SEEDS = pytest.mark.parametrize("seed", [0, 1, 2])


def exact_row(position, dim, base=10000):
    with mpmath.workdps(50):
        angles = [
            mpmath.mpf(position) / mpmath.mpf(base) ** (mpmath.mpf(2 * i) / dim) for i in range(dim // 2)
        ]
        return [float(f(angle)) for angle in angles for f in (mpmath.sin, mpmath.cos)]


def program(name):
    """Its lines, as a learner copies them."""
    [code] = re.findall(
        rf"Program {name}, \d+ lines</summary>\n\n```python\n(.*?)```", SOLUTIONS.read_text(), re.DOTALL
    )
    return code.rstrip("\n").split("\n")


def rows_of(name, lines):
    """What a program makes of positions 0 to 3 at width 8; of E, for the second of two sentences."""
    made: dict[str, Any] = {}
    exec("\n".join(lines), made)
    positions = np.arange(4)
    rows = {
        "A": lambda: made["table"](4, 8),
        "B": lambda: made["table"](4, 8),
        "C": lambda: made["Clocks"](8).table(positions),
        "D": lambda: made["table"](positions, 8),
        "E": lambda: made["add_positions"](np.zeros((2, 4, 8)), made["table"])[1],
    }
    return np.asarray(rows[name]())
