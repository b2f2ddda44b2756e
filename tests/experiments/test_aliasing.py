"""Aliasing: the narrow encoding is the sinusoidal one, and a single wave repeats after 44 places."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from posenc_lib import sinusoidal
from posenc_lib.experiments import aliasing
from posenc_lib.experiments.lab import perform


@pytest.mark.parametrize("pairs", [1, 4, 32])
def test_few_waves_are_as_long_as_all(pairs):
    x = torch.zeros(1, 64, 64)
    added = aliasing.FewWaves(pairs).add(x, 64)[0].numpy()
    np.testing.assert_allclose(np.linalg.norm(added, axis=-1), math.sqrt(32), rtol=1e-5)
    wanted = math.sqrt(32 / pairs) * sinusoidal(64, 2 * pairs)
    np.testing.assert_allclose(added[:, : 2 * pairs], wanted, atol=1e-5)
    assert not added[:, 2 * pairs :].any()


def test_correlation_of_what_does_not_vary_is_none():
    rising = torch.arange(5.0)
    assert aliasing.correlation(rising, 2 * rising + 1) == pytest.approx(1)
    assert aliasing.correlation(torch.zeros(5), rising) is None


def test_fast_form_confuses_what_one_wave_cannot_tell_apart(tmp_path):
    one, four = (each["result"] for each in perform("aliasing", fast=True, work=tmp_path)["runs"])
    # 44 places are 7.003 turns: of all offsets, the one nearest to whole turns.
    assert one["offsets"][int(np.argmax(one["kernel"]))] == 44
    assert one["offsets"][int(np.argmax(one["confused"]))] == 44
    assert max(four["confused"][2:]) < max(one["confused"]) / 2
    assert four["accuracy"] > one["accuracy"]
