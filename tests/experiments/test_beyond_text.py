"""Beyond text: the data are what they are said to be, the yardsticks are right, and the fast form learns."""

from __future__ import annotations

import ast
from datetime import UTC, datetime

import networkx
import pytest
import torch

from posenc_course.experiments import beyond_text
from posenc_course.experiments.lab import perform
from tests.present import present


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


def test_the_other_strand_is_the_same_piece_backwards():
    letters, _ = beyond_text.motifs(50, torch.Generator().manual_seed(0))
    other = beyond_text.other_strand(letters)
    assert torch.equal(beyond_text.other_strand(other), letters)
    first, second = ((other == motif).int().argmax(dim=1) for motif in (beyond_text.P, beyond_text.E))
    assert (second < first).all()
    bases = letters[:, 0] < 4
    assert torch.equal(other[bases, -1], 3 - letters[bases, 0])


def test_without_the_sign_before_is_as_after():
    encoding = beyond_text.DistanceAlone(8, 2, features=12, length=32)
    found = encoding._encoded(-5, 5, torch.zeros(1))
    torch.testing.assert_close(found, found.flip(0))
    assert found.abs().sum() > 0


def test_each_patch_is_cut_in_four_of_its_brightness():
    from sklearn.datasets import load_digits

    coarse, fine, _ = beyond_text.brightness()
    images = torch.tensor(load_digits().images / 8 - 1, dtype=torch.float32)
    means = torch.nn.functional.avg_pool2d(images[:, None], 2)
    torch.testing.assert_close(coarse.reshape(-1, 1, 4, 4), means)
    for down in (0, 1):
        for across in (0, 1):
            part = fine.reshape(-1, 8, 8)[:, down::2, across::2]
            assert torch.equal(part, coarse.reshape(-1, 4, 4))


def test_a_statement_becomes_the_tree_that_python_reads():
    [statement] = ast.parse("total = add(price, tax)").body
    parents, kinds = present(beyond_text.tree_of(statement))
    assert kinds == ["Assign", "Name", "Call", "Name", "Name", "Name"]
    assert parents == [-1, 0, 0, 2, 2, 2]
    [wide] = ast.parse("f(a, b, c, d, e)").body
    assert beyond_text.tree_of(wide) is None
    [deep] = ast.parse("x = " + "-" * 20 + "y").body
    assert beyond_text.tree_of(deep) is None


def test_what_hangs_below_a_node_is_what_has_it_on_its_way_up():
    parents = torch.tensor([[-1, 0, 0, 2, 2, 3, -2]])
    below = [
        beyond_text.under(parents, torch.tensor([node]))[0].nonzero()[:, 0].tolist() for node in range(6)
    ]
    assert below == [[1, 2, 3, 4, 5], [], [3, 4, 5], [5], [], []]


def test_the_nearer_atom_stays_the_nearer_however_the_cloud_lies():
    kinds, places, nearer = beyond_text.clouds(300, torch.Generator().manual_seed(0))
    assert 0.4 < nearer.double().mean() < 0.6
    turned = places @ beyond_text.rotations(300, torch.Generator().manual_seed(1)) + 5
    for some in (places, turned):
        which = kinds.argmax(dim=1)[:, :3]  # where the three stand
        one, two, three = (some[torch.arange(300), which[:, atom]] for atom in range(3))
        assert torch.equal(((one - two).norm(dim=-1) < (one - three).norm(dim=-1)).long(), nearer)
    assert places.std(dim=(0, 1))[0] > 5 * places.std(dim=(0, 1))[1]
    spread = turned.std(dim=(0, 1))
    assert spread.max() < 1.3 * spread.min()


def test_rotations_are_no_mirrors():
    found = beyond_text.rotations(100, torch.Generator().manual_seed(0))
    torch.testing.assert_close(found @ found.mT, torch.eye(3).expand(100, 3, 3), atol=1e-5, rtol=0)
    torch.testing.assert_close(torch.linalg.det(found), torch.ones(100))


def test_a_bias_of_distances_does_not_see_how_the_points_lie():
    encoding = beyond_text.Distances(2)
    q = torch.zeros(4, 2, 8, 5)
    _, places, _ = beyond_text.clouds(4, torch.Generator().manual_seed(0))
    turned = places @ beyond_text.rotations(4, torch.Generator().manual_seed(1)) + 2
    here, there = (each.movedim(-1, 0) for each in (places, turned))
    bias = encoding.bias(q, q, here, here)
    assert bias.shape == (4, 2, 8, 8)
    torch.testing.assert_close(bias, encoding.bias(q, q, there, there), atol=1e-5, rtol=1e-4)
    assert bias.std() > 0.01


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
