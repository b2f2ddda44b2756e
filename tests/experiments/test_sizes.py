"""The size of an encoding: steps to solve, and what is not solved does not pass."""

from __future__ import annotations

import pytest
import torch

from posenc_course.experiments import recipes, sizes
from posenc_course.experiments.lab import perform
from posenc_course.experiments.training import Bench
from posenc_lib.nn import Transformer


def test_what_is_not_solved_by_the_cap_says_so(tmp_path):
    equal, drowned = perform("sizes", fast=True, work=tmp_path)["runs"]
    for each in (equal, drowned):
        assert each["verdict"] == "not admitted"
        assert not each["result"]["solved"]
        assert each["result"]["steps"] == each["run"]["steps"] == 60
        assert "right after 60 steps" in each["reason"]
    assert equal["result"]["by_position"] < 0.5 < drowned["result"]["by_position"]


def test_a_training_ends_when_it_is_solved(tmp_path, monkeypatch):
    """With less to solve: a little more than one in eight, which is chance."""
    monkeypatch.setattr(sizes, "ENOUGH", 0.13)
    monkeypatch.setattr(sizes, "LEAST", 0.1)
    run = sizes.runs(fast=True)[0] | {"steps": 500}
    torch.manual_seed(0)
    result = sizes.measure(run, Bench(torch.device("cpu"), tmp_path))
    assert result["solved"]
    assert 0 < result["steps"] < 500
    assert result["steps"] % sizes.LOOK_EVERY == 0
    assert sizes.shortfall(run, result) is None


def test_both_kinds_have_to_be_right():
    lost = sizes.shortfall({}, {"where": 1.0, "what": 0.98, "steps": 800})
    assert lost == '100.0% of "where" and 98.0% of "what" right after 800 steps'
    assert sizes.shortfall({}, {"where": 0.99, "what": 0.99, "steps": 25}) is None


def test_each_parameter_has_one_optimiser_and_matrices_have_muon():
    model = Transformer(16, 8, 2, 2, encoding="learned", length=9)
    muon, adam = (
        [each for group in part.param_groups for each in group["params"]]
        for part in recipes.optimizers(model, 0.1)
    )
    assert {each.shape for each in muon} == {(24, 8), (8, 8), (32, 8), (8, 32)}
    assert len(muon) == 2 * 4
    assert sorted(map(id, muon + adam)) == sorted(map(id, model.parameters()))
    assert model.embedding.weight.shape in {each.shape for each in adam}


def test_the_rate_rises_and_then_stays():
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=2.0)
    (schedule,) = recipes.level([optimizer])
    rates = []
    for _ in range(2 * recipes.WARM):
        rates.append(schedule.get_last_lr()[0])
        optimizer.step()
        schedule.step()
    assert rates[0] == pytest.approx(2 / recipes.WARM)
    assert rates[recipes.WARM - 1 :] == [2.0] * (recipes.WARM + 1)


def test_every_question_has_its_answer_in_the_sequence():
    questions, answers = sizes.sequences(200, torch.Generator().manual_seed(1))
    for row, (question, answer) in enumerate(zip(questions.tolist(), answers.tolist(), strict=True)):
        *symbols, asked = question
        assert sorted(symbols) == list(range(sizes.LENGTH))
        if row % 2 == 0:  # where is this symbol?
            assert symbols[answer - sizes.LENGTH] == asked
        else:  # what stands at this place?
            assert symbols[asked - sizes.LENGTH] == answer


def test_weights_of_place_alone_are_explained_by_it_and_others_are_not():
    alike = torch.rand(1, 2, 9, dtype=torch.float64).expand(500, 2, 9)
    assert sizes.explained_by_place(alike) == pytest.approx(1)
    apart = torch.rand(5000, 2, 9, dtype=torch.float64)
    assert sizes.explained_by_place(apart) < 0.01
