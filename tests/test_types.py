"""What a type checker sees of the public functions: arrays of the kind that was given, names spelt right."""

from __future__ import annotations

from pathlib import Path

import pytest
from mypy import api

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
RIGHT = """
import numpy as np
import torch
from typing import assert_type
import posenc_lib as p
from posenc_lib import nn

x, t = np.ones((2, 4, 8)), torch.ones(2, 4, 8)
assert_type(p.apply_rotary(t, 4, layout="half"), torch.Tensor)
assert_type(p.rotate(t, p.rotary_tables(4, 8)), torch.Tensor)
assert_type(p.attention(t, t, t), torch.Tensor)
assert_type(p.attention(t, t, t, return_weights=True), tuple[torch.Tensor, torch.Tensor])
assert_type(p.sinusoidal(t, 8), torch.Tensor)
assert_type(p.learned(t, 4), torch.Tensor)
assert_type(p.t5_bias(t, 4, 4), torch.Tensor)
assert_type(p.window_mask(4, 4, 2, like=t), torch.Tensor)
assert_type(p.window_mask(t, 4, 2), torch.Tensor)
assert_type(p.relative_positions(4, t), torch.Tensor)
assert_type(p.mrope_positions([2], like=t), torch.Tensor)
assert_type(p.fox_bias(t), torch.Tensor)
assert_type(p.packed_positions(t), torch.Tensor)
p.sinusoidal(4, 8).astype(int)
p.window_mask(4, 4, 2).astype(int)
p.apply_rotary(x, 4).astype(int)
p.convert_layout(x, heads=2, source="half", target="interleaved").astype(int)
nn.Rotary(8, layout="half")
p.DynamicNTKScaling(2.0, 64, 128, formula="paper")
p.YaRNScaling(2.0, 64, ramp="turns")
p.sinusoidal(4, 7, odd="pad")
nn.Sinusoidal(7, odd="pad")
p.grid_sinusoidal((2, 2), 8, axes="yx")
nn.Grid((2, 2), 8, axes="yx")
nn.ALiBi(2, direction="symmetric")
nn.LaplacianEigenvectors(None, 8, signs="random")
p.calendar_phases(x, ("day",))
p.calendar_features(x, ["day", "week"])
nn.Calendar(8, circles=("day",))
"""

WRONG = [
    'p.apply_rotary(x, 4, layout="halves")',
    'p.rotate(x, p.rotary_tables(4, 8), layout="halves")',
    'p.sinusoidal(4, 8, layout="half")',
    'p.sinusoidal(4, 8, spacing="papers")',
    'p.learned(x, 4, beyond="zeros")',
    'p.kerple_bias(x, x, 4, 4, kind="logs")',
    'p.convert_layout(x, heads=2, source="hf", target="half")',
    'p.mrope_positions([2], after="video")',
    'nn.Rotary(8, layout="halves")',
    'p.DynamicNTKScaling(2.0, 64, 128, formula="hf")',
    'p.YaRNScaling(2.0, 64, ramp="pairs")',
    'p.sinusoidal(4, 7, odd="drop")',
    'nn.Sinusoidal(7, odd="drop")',
    'p.grid_sinusoidal((2, 2), 8, axes="x,y")',
    'nn.Grid((2, 2), 8, axes="x,y")',
    'nn.ALiBi(2, direction="both")',
    'nn.LaplacianEigenvectors(None, 8, signs="flipped")',
    'p.calendar_phases(x, ("days",))',
    'p.calendar_features(x, "day")',
    'nn.Calendar(8, circles=("days",))',
    'p.attention(x, x, x, return_weights="yes")',
    "p.sinusoidal(4, 8).not_there",
    "p.attention(x, x, x).not_there",
    "p.window_mask(4, 4, 2).not_there",
]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What mypy says of all lines at once."""
    path: Path = tmp_path_factory.mktemp("types") / "lines.py"
    path.write_text(RIGHT + "\n".join(WRONG) + "\n")
    report, errors, _ = api.run(["--config-file", str(ROOT / "pyproject.toml"), str(path)])
    assert not errors
    return report


def test_arrays_are_of_the_kind_that_was_given(told: str) -> None:
    lines = [int(line.split(":")[1]) for line in told.splitlines() if ": error:" in line]
    assert [line for line in lines if line <= RIGHT.count("\n")] == [], told


def test_what_is_spelt_wrong_is_an_error(told: str) -> None:
    lines = {int(line.split(":")[1]) for line in told.splitlines() if ": error:" in line}
    first = RIGHT.count("\n") + 1
    passed = [call for number, call in enumerate(WRONG, start=first) if number not in lines]
    assert passed == [], told
