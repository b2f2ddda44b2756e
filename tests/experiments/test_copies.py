"""Who copies pays nothing for a passage that comes again; who does not pays as much as before."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from posenc_course.experiments import byte_model, copies
from posenc_course.experiments.training import Bench

[RUN] = copies.runs(fast=True)
HALF = RUN["length"] // 2


class Copier(torch.nn.Module):
    """Expects what came so many bytes before, and before that every byte alike."""

    def __init__(self, back: int):
        super().__init__()
        self.back = back
        self.register_buffer("nothing", torch.zeros(()))
        self.unused = torch.nn.Parameter(torch.zeros(()))

    def forward(self, x, memory=None):
        before = F.pad(x, (self.back - 1, 0), value=-1)[:, : x.shape[1]]
        return 100.0 * F.one_hot(before.clamp(min=0), 256) * (before >= 0)[..., None]


def measured(monkeypatch, tmp_path, model):
    monkeypatch.setattr(byte_model, "trained", lambda run, bench: (model, []))
    return copies.measure(RUN, Bench(torch.device("cpu"), tmp_path))


def test_who_copies_pays_for_the_first_reading_alone(monkeypatch, tmp_path):
    found = measured(monkeypatch, tmp_path, Copier(HALF))
    assert found["first"] == [pytest.approx(np.log(256), abs=1e-4)] * len(found["first"])
    assert found["second"] == [0.0] * len(found["second"])
    assert copies.gain(found) == pytest.approx((np.log(256), 0), abs=1e-4)
    assert len(found["by_place"]) == 2 * HALF - 1
    assert found["by_place"][HALF - 2] > 5
    assert found["by_place"][HALF - 1] == 0  # the first byte read again


def test_who_looks_elsewhere_gains_nothing(monkeypatch, tmp_path):
    gained, uncertain = copies.gain(measured(monkeypatch, tmp_path, Copier(2 * HALF)))
    assert (gained, uncertain) == pytest.approx((0, 0), abs=1e-4)
