"""Bags: order is lost without a mask and positions, and found with the mask alone."""

from __future__ import annotations

import pytest
import torch

from posenc_course.experiments import bags
from posenc_course.experiments.lab import perform


def test_a_mirror_image_changes_the_order_and_keeps_the_bag():
    letters = bags.sequences(300, torch.Generator().manual_seed(1))
    assert torch.all((letters == bags.A).sum(dim=1) == 1)
    assert torch.all((letters == bags.B).sum(dim=1) == 1)
    mirrored = letters.flip(1)
    assert torch.equal(bags.more_c_than_d(letters), bags.more_c_than_d(mirrored))
    assert torch.equal(bags.a_before_b(letters), ~bags.a_before_b(mirrored))
    assert torch.equal(bags.a_in_first_half(letters), ~bags.a_in_first_half(mirrored))


def test_the_fast_form(tmp_path):
    both_ways, causal = perform("bags", fast=True, work=tmp_path)["runs"]
    assert both_ways["result"]["accuracy"] == 0.5
    assert not both_ways["result"]["solved"]
    assert both_ways["verdict"] == "admitted"  # no training could do better
    assert max(map(abs, both_ways["result"]["probe"])) < 0.02
    assert causal["verdict"] == "admitted"
    assert causal["result"]["solved"]
    assert causal["result"]["steps"] < causal["run"]["steps"]
    assert causal["result"]["probe_untrained"][-1] > 0.3


@pytest.mark.parametrize(
    ("task", "encoding", "causal", "accuracy", "passes"),
    [
        ("order", "none", True, 0.99, True),
        ("order", "none", True, 0.98, False),
        ("order", "none", False, 0.5, True),
        ("order", "none", False, 0.51, False),  # it would not be a bag that it saw
        ("bag", "none", False, 0.5, False),
        ("order", "sinusoidal", False, 0.5, False),
        ("order", "none", True, 0.5, False),
    ],
)
def test_the_gate(task, encoding, causal, accuracy, passes):
    run = {"task": task, "encoding": encoding, "causal": causal}
    found = bags.shortfall(run, {"accuracy": accuracy, "steps": 1000})
    assert found == (None if passes else f"{accuracy:.1%} of the sequences right after 1,000 steps")
