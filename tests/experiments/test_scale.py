"""Goldilocks: questions with one answer each, and a drowned part on either side of the sweep."""

from __future__ import annotations

import pytest
import torch

from posenc_lib.experiments import scale
from posenc_lib.experiments.lab import perform


def test_every_question_has_its_answer_in_the_sequence():
    questions, answers = scale.sequences(200, torch.Generator().manual_seed(1))
    for row, (question, answer) in enumerate(zip(questions.tolist(), answers.tolist(), strict=True)):
        *symbols, asked = question
        assert sorted(symbols) == list(range(scale.LENGTH))
        if row % 2 == 0:  # where is this symbol?
            assert symbols[answer - scale.LENGTH] == asked
        else:  # what stands at this place?
            assert symbols[asked - scale.LENGTH] == answer


def test_weights_of_place_alone_are_explained_by_it_and_others_are_not():
    alike = torch.rand(1, 2, 9, dtype=torch.float64).expand(500, 2, 9)
    assert scale.explained_by_place(alike) == pytest.approx(1)
    apart = torch.rand(5000, 2, 9, dtype=torch.float64)
    assert scale.explained_by_place(apart) < 0.01


def test_fast_form(tmp_path):
    found = perform("goldilocks", fast=True, work=tmp_path)["runs"]
    small, right, large = (each["result"] for each in found)
    for drowned in (small, large):
        assert drowned["where"] < 0.3  # chance is 1/8
        assert drowned["what"] < 0.3
    assert right["where"] + right["what"] > 0.6
    assert small["by_position"] < 0.1
    assert large["by_position"] > 0.9
    assert small["training"][-1][1] > right["training"][-1][1] < large["training"][-1][1]
