"""One thing is changed at a time, and it is the thing that is named."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from posenc_course.experiments import byte_model, byte_models_beyond_counting, rope_and_copying
from posenc_course.experiments.rope_and_copying import CHANGES, WITHOUT_NORMS
from posenc_course.experiments.training import Bench

[FAST] = rope_and_copying.runs(fast=True)


def test_every_change_changes_what_it_names_alone():
    usual = byte_models_beyond_counting.runs_of(("rope",))
    runs = rope_and_copying.runs()
    assert len(runs) == len(usual) * len(CHANGES)
    differ = {
        "base 10,000": ("base", 10_000.0),
        "base 500,000": ("base", 500_000.0),
        "half the rate": ("rate", usual[0]["rate"] / 2),
        "three times the steps": ("steps", 3 * usual[0]["steps"]),
    }
    for run in runs:
        name, to = differ.get(run["change"], ("change", WITHOUT_NORMS))
        (as_it_is,) = (each for each in usual if each["seed"] == run["seed"])
        assert run == as_it_is | {"change": run["change"], name: to}


def test_without_norms_scores_grow_with_queries_and_keys():
    torch.manual_seed(0)
    usual = byte_model.build(FAST)
    torch.manual_seed(0)
    freed = rope_and_copying.without_norms(FAST)
    q, k = torch.randn(2, 1, 2, 5, FAST["dim"] // FAST["heads"]).unbind()
    positions = torch.arange(5)
    for model, grows in ((usual, 1), (freed, 3)):
        encoding: Any = model.layers[0].encoding
        one, three = (encoding.rotate(q * times, k, positions, positions)[0] for times in (1, 3))
        torch.testing.assert_close(three, grows * one, rtol=1e-3, atol=1e-3)
    assert sum(each.numel() for each in freed.parameters()) < sum(each.numel() for each in usual.parameters())


@pytest.mark.parametrize("change", [WITHOUT_NORMS, "half the rate"])
def test_what_is_measured_is_of_the_changed_model(change, tmp_path, monkeypatch):
    run = rope_and_copying.changed(FAST | {"steps": 2, "windows": 1}, change)
    counted = {"order": 2, "files": [], "by_file": []}
    monkeypatch.setattr(byte_models_beyond_counting, "counted", lambda learn, length: counted)
    found = rope_and_copying.measure(run, Bench(torch.device("cpu"), tmp_path))
    usual = sum(each.numel() for each in byte_model.build(run).parameters())
    assert (found["parameters"] < usual) == (change == WITHOUT_NORMS)
    assert len(found["first"]) == len(found["second"]) > 40
    assert found["counted"] == counted
