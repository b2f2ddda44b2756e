"""What an untrained model knows: the probe is honest, and the changes change what they name."""

from __future__ import annotations

import pytest
import torch

from posenc_course.experiments import untrained
from posenc_course.experiments.lab import perform
from posenc_lib.nn import Transformer
from tests.present import present


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    every = perform("untrained", fast=True, work=tmp_path_factory.mktemp("untrained"))["runs"]
    return {(each["run"]["causal"], each["run"]["left"]): each for each in every}


def test_a_probe_reads_what_is_there_and_nothing_else():
    generator = torch.Generator().manual_seed(0)
    positions = torch.arange(20, dtype=torch.float64).expand(200, -1)
    noise = torch.randn(200, 20, 8, dtype=torch.float64, generator=generator)
    unseen, fitted = untrained.probe(noise, positions)
    assert unseen < 0 < fitted < 0.02
    told = torch.cat([noise, positions[..., None] + noise[..., :1]], dim=-1)
    assert untrained.probe(told, positions)[0] == pytest.approx(1, abs=1e-6)
    # Position and noise of the same variance, and nothing to take the noise away by: half.
    blurred = positions[..., None] + positions.std() * torch.randn(
        200, 20, 1, dtype=torch.float64, generator=generator
    )
    assert untrained.probe(blurred, positions)[0] == pytest.approx(0.5, abs=0.05)


def test_more_features_than_samples_fit_anything_and_know_nothing():
    noise = torch.randn(100, 20, 64, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    positions = torch.arange(20, dtype=torch.float64).expand(100, -1)
    unseen, fitted = untrained.probe(noise, positions, torch.arange(0, 1000, 32))
    assert fitted > 0.999
    assert unseen < -0.1


def test_each_change_makes_one_thing_the_same_and_leaves_the_others():
    generator = torch.Generator().manual_seed(0)
    own = torch.randn(2000, 10, 6, generator=generator)
    weight = 1 / torch.arange(1, 11)[:, None]
    given = own * weight + torch.arange(10)[:, None]

    def found(changed):
        """Mean, variance, and what of its own is in it: (positions,) each."""
        mean = changed.mean(dim=(0, 2))
        deviation = changed - changed.mean(dim=0)
        share = (deviation * own).mean(dim=(0, 2)) / deviation.square().mean(dim=(0, 2)).sqrt()
        return mean, deviation.square().mean(dim=(0, 2)), share

    before = found(given)
    for number, change in enumerate((untrained.same_mean, untrained.same_variance, untrained.foreign)):
        after = found(change(given, generator))
        for kind in range(3):
            if kind != number:
                torch.testing.assert_close(after[kind], before[kind], rtol=1e-3, atol=1e-3)
        wanted = torch.zeros(10) if change is untrained.foreign else before[number]
        if change is untrained.same_mean:
            wanted = wanted[:1].expand(10)
        if change is untrained.same_variance:
            wanted = wanted[-1:].expand(10)
        torch.testing.assert_close(after[number], wanted, rtol=0.0, atol=0.05)


def test_the_fast_form(found):
    causal, both_ways = found[True, "all"]["result"], found[False, "all"]["result"]
    assert {each["verdict"] for each in found.values()} == {"admitted"}
    assert len(causal["r2"]) == 3
    assert abs(causal["r2"][0]) < 0.02  # embeddings know nothing
    assert causal["squares"][-1] > 0.3 > causal["r2"][-1] > 0.05
    assert max(both_ways["r2"] + both_ways["squares"]) < 0.02
    assert causal["places"] == [0, 1, 2, 4, 8]
    falling = causal["variance"]
    assert falling[0] == 1
    assert falling[-1] < 0.2 < falling[2] < 0.5  # about 1/9, and 1/3
    nothing, variance = (found[True, left]["result"] for left in ("nothing", "variance"))
    assert max(nothing["r2"] + nothing["squares"]) < 0.02
    assert variance["squares"][-1] > 0.15 > variance["r2"][-1]  # a variance is not to be read linearly
    assert causal["few"][0] < causal["few"][1] - 0.2


def test_what_finds_shuffled_positions_does_not_pass(found):
    result = found[True, "all"]["result"]
    run = found[True, "all"]["run"]
    found_it = result | {"shuffled": [0.0, 0.021]}
    assert untrained.shortfall(run, found_it) == "R2 of shuffled positions is 0.021"
    assert untrained.shortfall(run, result) is None
    lost = untrained.shortfall(run | {"left": "nothing"}, result)
    assert "where nothing is left that tells positions apart" in present(lost)


def test_hidden_states_are_what_the_blocks_read_and_the_last_one_gives():
    model = Transformer(4, 32, 2, 4, encoding="sinusoidal").eval()
    letters = torch.randint(4, (3, 16))
    states = untrained.hidden_states(model, letters)
    assert [state.shape for state in states] == [(3, 16, 32)] * 3
    embedded = model.embedding(letters)
    torch.testing.assert_close(states[0], model.encoding.add(embedded, 16))
    torch.testing.assert_close(model.head(model.norm(states[-1])), model(letters))
