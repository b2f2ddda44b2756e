"""Training goes on after a stop as if there had been none."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from posenc_course.experiments import training
from posenc_course.experiments.training import Bench, thinned


class Stopped(Exception):
    pass


def train(folder, *, stop_after=None, steps=30):
    """Losses, weights, and how many batches were drawn."""
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    drawn = 0

    def loss(generator):
        nonlocal drawn
        if drawn == stop_after:
            raise Stopped
        drawn += 1
        return model(torch.randn(8, 4, generator=generator)).sub(1).square().mean()

    try:
        losses = Bench(torch.device("cpu"), folder).train(model, loss, steps)
    except Stopped:
        losses = None
    return losses, model.weight.detach().clone(), drawn


@pytest.fixture(autouse=True)
def _save_every_step(monkeypatch):
    monkeypatch.setattr(training, "SAVE_EVERY", 0.0)


def test_a_stopped_training_goes_on_where_it_was_and_ends_where_it_would_have(tmp_path):
    losses, weight, drawn = train(tmp_path / "whole")
    assert drawn == 30
    _, _, before = train(tmp_path / "stopped", stop_after=11)
    again, same_weight, after = train(tmp_path / "stopped")
    assert before + after == 30  # nothing was done twice
    assert again == losses
    assert torch.equal(weight, same_weight)


def test_a_finished_training_is_not_done_again(tmp_path):
    losses, weight, _ = train(tmp_path)
    again, same_weight, drawn = train(tmp_path)
    assert drawn == 0
    assert again == losses
    assert torch.equal(weight, same_weight)


def test_it_learns_and_another_seed_sees_other_batches(tmp_path):
    losses, _, _ = train(tmp_path, steps=200)
    assert losses[-1] < losses[0] / 3
    model = nn.Linear(4, 1)

    def first_loss(seed):
        draw: list[torch.Tensor] = []

        def loss(generator):
            draw.append(torch.randn(1, generator=generator))
            return model(torch.ones(4)).sum()

        Bench(torch.device("cpu"), tmp_path / str(seed)).train(
            model,
            loss,
            1,
            seed=seed,
        )
        return draw[0]

    assert first_loss(1) != first_loss(2)


def test_a_curve_is_thinned_to_means_that_leave_no_step_out():
    losses = [float(n) for n in range(100)]
    curve = thinned(losses, points=10)
    assert curve[0] == [10, 4.5]
    assert curve[-1] == [100, 94.5]
    assert thinned([3.0, 1.0], points=10) == [[1, 3.0], [2, 1.0]]
