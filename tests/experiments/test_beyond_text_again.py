"""Beyond text again: one thing differs from the first round, and what is only counted is counted."""

from __future__ import annotations

import pytest
import torch

from posenc_course.experiments import beyond_text, beyond_text_again
from posenc_course.experiments.lab import perform
from posenc_course.experiments.results import runs
from posenc_course.experiments.training import Bench
from posenc_lib.nn import AxialRotary


def test_what_failed_runs_again_with_one_thing_changed():
    for trial in beyond_text_again.TRIALS:
        first = {
            "steps": beyond_text._STEPS[trial["case"]],
            "rate": 0.003,
            "encoding": trial["encoding"] in beyond_text.VARIANTS[trial["case"]],
        }
        differs = {
            "counted": {"encoding"},
            "real time": {"encoding"},
            "longer": {"steps"},
            "slower": {"steps", "rate"},  # as long as the longer one
        }[trial["change"]]
        found = {key for key in ("steps", "rate") if trial[key] != first[key]}
        found |= set() if first["encoding"] else {"encoding"}
        assert found == differs


def test_rows_and_columns_are_counted_however_small_the_patches():
    encoding = beyond_text_again.Counted(8, axes=2, base=100.0)
    for side in (4, 8):
        q = torch.randn(1, 1, side * side, 8)
        row, column = torch.arange(side * side) // side, torch.arange(side * side) % side
        places = torch.stack([row, column])[:, None]
        counted, _ = encoding.rotate(q, q, range(side * side), range(side * side))
        expected, _ = AxialRotary(8, axes=2, base=100.0).rotate(q, q, places, places)
        torch.testing.assert_close(counted, expected)


def test_the_counted_models_are_those_that_measure():
    """Only offsets show, so as trained there is no difference."""
    measured, counted = (
        [each["result"]["score"] for each in runs(name, encoding=encoding, case="resolution")]
        for name, encoding in (("beyond-text", "axial"), ("beyond-text-again", beyond_text_again.COUNTED))
    )
    assert measured == counted


def test_a_bench_trains_at_its_own_rate(tmp_path, monkeypatch):
    asked = []

    def train(*given, **more):
        asked.append(more["rate"])
        return [1.0]

    monkeypatch.setattr(Bench, "train", train)
    bench = beyond_text_again.AtRate(torch.device("cpu"), tmp_path, only=0.01)
    assert bench.train(torch.nn.Linear(1, 1), lambda generator: torch.zeros(()), 1) == [1.0]
    assert asked == [0.01]


def test_the_fast_form(tmp_path):
    counted, by_time = perform("beyond-text-again", fast=True, work=tmp_path)["runs"]
    assert counted["result"]["elsewhere"] == pytest.approx(0, abs=0.2)
    assert by_time["run"]["encoding"] == "rope"
    assert counted["verdict"] == by_time["verdict"] == "admitted"
