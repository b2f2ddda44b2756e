"""`06-rotary.apply_rotary`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import torch

from posenc_course.checking import report_on
from posenc_course.exercises.ch06_rotary._shared import _turned
from posenc_course.exercises.ch06_rotary.apply_rotary import APPLY_ROTARY
from posenc_course.exercises.ch06_rotary.turn_pair import TURN_PAIR
from tests.exercises.ch06_rotary.shared import exact_row


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rotations_against_fifty_digits(seed):
    for case in APPLY_ROTARY.cases(seed):
        x, positions, rotary_dim = case.args
        expected = [
            exact_row(row, at, rotary_dim) for row, at in zip(x.tolist(), positions.tolist(), strict=True)
        ]
        # At a million the angle itself is good to about 1e-10 rad.
        assert np.asarray(APPLY_ROTARY.reference(*case.args)) == pytest.approx(np.array(expected), abs=1e-9)
    for case in TURN_PAIR.cases(seed):
        pair, position, frequency = case.args
        with mpmath.workdps(50):
            turned = mpmath.mpc(*pair) * mpmath.expj(mpmath.mpf(position) * mpmath.mpf(frequency))
        expected = [float(turned.real), float(turned.imag)]
        assert TURN_PAIR.reference(*case.args) == pytest.approx(expected, abs=1e-8)


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


def test_a_base_of_9999_is_told_apart():
    def almost(x, positions, rotary_dim):
        theta = positions[:, None] * 9999.0 ** (-np.arange(0, rotary_dim, 2) / rotary_dim)
        return _turned(x, theta)

    assert not report_on("06-rotary.apply_rotary", almost).passed


def half_as_transformers_writes_it(x, positions, rotary_dim):
    part = torch.from_numpy(x[:, :rotary_dim])
    rates = 1 / 10000 ** (torch.arange(0, rotary_dim, 2, dtype=torch.float64) / rotary_dim)
    theta = torch.cat([torch.from_numpy(positions)[:, None] * rates] * 2, dim=-1)
    rotated = torch.cat([-part[:, rotary_dim // 2 :], part[:, : rotary_dim // 2]], dim=-1)
    turned = part * theta.cos() + rotated * theta.sin()
    return torch.cat([turned, torch.from_numpy(x[:, rotary_dim:])], dim=-1)


NOT_KNOWN = (
    ("apply_rotary", lambda x, positions, rotary_dim: -x, None),
    ("apply_rotary", lambda *args: APPLY_ROTARY.reference(*args).squeeze(), "one row"),
)


WRITTEN_IN_ANOTHER_WAY = (("apply_rotary", half_as_transformers_writes_it, "half-layout"),)
