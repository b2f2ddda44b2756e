"""Damage: the mended reading is the right one, and the mistake costs what it claims to cost."""

from __future__ import annotations

import copy

import pytest
import torch

from posenc_lib.experiments import damage
from posenc_lib.experiments.lab import perform
from posenc_lib.nn import Transformer


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    every = perform("damage", fast=True, work=tmp_path_factory.mktemp("damage"))["runs"]
    return {(each["run"]["reads"], each["run"]["encoding"]): each["result"] for each in every}


def test_each_mended_reading_is_as_good_as_without_the_mistake(found):
    for result in found.values():
        for name, cases in result["cases"].items():
            without = result["right"] if name in ("layout", "bfloat16") else cases[0]["wrong"]
            for case in cases:
                assert case["mended"] == pytest.approx(without, abs=1e-4), name


def test_padding_that_is_read_costs_something(found):
    none, *padded = found["both ways", "sinusoidal"]["cases"]["padding-leak"]
    assert none["wrong"] == none["mended"]
    for case in padded:
        assert abs(case["wrong"] - case["mended"]) > 1e-4


def test_left_padding_moves_the_sinusoidal_model_and_not_rope(found):
    moved = found["forwards", "sinusoidal"]["cases"]["left-padding"][-1]
    assert abs(moved["wrong"] - moved["mended"]) > 1e-3
    for case in found["forwards", "rope"]["cases"]["left-padding"]:
        assert case["wrong"] == pytest.approx(case["mended"], abs=1e-4)


def test_the_other_layout_costs_and_bfloat16_costs_more_the_farther_out(found):
    cases = found["forwards", "rope"]["cases"]
    (layout,) = cases["layout"]
    assert layout["wrong"] > layout["mended"] + 0.01
    cost = {
        case["at"]: case["wrong"] - case["mended"] for case in found["forwards", "rope"]["cases"]["bfloat16"]
    }
    assert abs(cost[0]) < 1e-4  # whole numbers to 256 are exact
    assert abs(cost[128]) < 1e-4
    assert 0.001 < cost[256] < cost[65536]


def test_the_layout_is_mended_on_a_copy():
    torch.manual_seed(0)
    model = Transformer(damage.PAD + 1, 32, 1, 2, encoding="rope")
    before = copy.deepcopy(model.state_dict())
    damage.layout(model, torch.randint(256, (2, damage.LENGTH + 1)))
    assert model.encoding.layout == "interleaved"
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
