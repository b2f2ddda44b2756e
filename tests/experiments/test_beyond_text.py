"""Beyond text: the data are what they are said to be, the yardsticks are right, and the fast form learns."""

from __future__ import annotations

from datetime import UTC, datetime

import networkx
import pytest
import torch

from posenc_lib.experiments import beyond_text
from posenc_lib.experiments.lab import perform


@pytest.mark.parametrize("case", ["cycle", "side"])
def test_graphs_are_connected_and_described_by_what_the_library_makes_of_them(case):
    edges, sides, waves, walks = beyond_text.graphs(case, 20, 1)
    for adjacency, side in zip(edges, sides, strict=True):
        graph = networkx.from_numpy_array(adjacency.numpy())
        assert networkx.is_connected(graph)
        assert networkx.number_of_selfloops(graph) == 0
        between = adjacency[side == 0][:, side == 1].sum()
        assert (side.sum() == 7 and between == 1) if case == "side" else not side.any()
    assert waves.shape == (beyond_text.WAVES, 20, beyond_text.NODES)
    torch.testing.assert_close(waves.square().mean(dim=-1), torch.ones(beyond_text.WAVES, 20))
    triangles = torch.diagonal(edges @ edges @ edges, dim1=-2, dim2=-1) > 0
    assert torch.equal(walks[2] > 1e-6, triangles)  # three steps back to where one was: a triangle


def test_tones_rise_or_fall_and_their_bag_is_the_same():
    heard, rises = beyond_text.sounds(200, 30, torch.Generator().manual_seed(0))
    band = heard.argmax(dim=1)  # of each band, when it is loudest
    loud = torch.where(rises[:, None] == 1, band, band.flip(1))
    assert ((loud[:, 1:] - loud[:, :-1]) == 1).all(dim=1).double().mean() > 0.9
    assert 0.4 < rises.double().mean() < 0.6


def test_the_effect_is_that_of_the_weekday_and_what_is_said_comes_last():
    times, values = beyond_text.prices(4000, 1, torch.Generator().manual_seed(0))
    assert (times[:, 1:] >= times[:, :-1]).all()
    begin = datetime(2023, 1, 1, tzinfo=UTC).timestamp()
    assert begin == 1_672_531_200
    some = [datetime.fromtimestamp(begin + each, tz=UTC) for each in times[:, -1].tolist()]
    assert {each.year for each in some} == {2024}
    weekday = torch.tensor([each.weekday() for each in some])
    for day in range(7):
        mean = values[:, -1][weekday == day].mean().item()
        assert mean == pytest.approx(beyond_text.EFFECT[day].item(), abs=0.2)


def test_motifs_are_near_or_far_and_stand_in_order():
    letters, near = beyond_text.motifs(500, torch.Generator().manual_seed(0))
    first, second = ((letters == motif).int().argmax(dim=1) for motif in (beyond_text.P, beyond_text.E))
    assert ((letters >= 4).sum(dim=1) == 2).all()
    assert (second > first).all()
    assert torch.equal((second - first < 8).long(), near)


def test_both_resolutions_are_those_of_the_images():
    from sklearn.datasets import load_digits

    coarse, fine, _ = beyond_text.brightness()
    images = torch.tensor(load_digits().images / 8 - 1, dtype=torch.float32)
    assert torch.equal(fine.reshape(-1, 8, 8), images)
    means = torch.nn.functional.avg_pool2d(images[:, None], 2)
    torch.testing.assert_close(coarse.reshape(-1, 1, 4, 4), means)


def test_scores_run_from_chance_to_all():
    right = torch.tensor([True, True, False, True])
    assert beyond_text.above_chance(right, 0.5) == pytest.approx(0.5)
    truth = torch.randn(100)
    assert beyond_text.explained(truth, truth) == 1
    assert beyond_text.explained(truth.mean().expand(100), truth) == pytest.approx(0, abs=1e-6)


def test_the_gate_asks_what_the_case_is_about_alone():
    run = {"case": "sound", "encoding": "convolution"}
    assert beyond_text.shortfall(run, {"score": 0.51}) is None
    assert (
        beyond_text.shortfall(run, {"score": 0.4}) == "it learnt 40% of what there is between chance and all"
    )
    assert beyond_text.shortfall({**run, "encoding": "none"}, {"score": 0.0}) is None
    assert all(set(beyond_text.ABOUT[case]) <= set(names) for case, names in beyond_text.VARIANTS.items())
    assert all({"none"} < set(names) for names in beyond_text.VARIANTS.values())


def test_the_fast_form(tmp_path):
    week, waves = perform("beyond-text", fast=True, work=tmp_path)["runs"]
    assert week["verdict"] == waves["verdict"] == "admitted"
    assert week["result"]["elsewhere"] > 0.5  # the next year goes round the same circle
    left = waves["result"]["left"]
    assert len(left) == 4  # after 1/8, 1/4, 1/2 and all of the steps
    assert max(left[-1]) < 0.6 * min(left[0])  # all waves come at the same pace
