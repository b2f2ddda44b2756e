"""Length generalisation: the tasks say what they claim, and the fast form shows who goes on."""

from __future__ import annotations

import pytest
import torch

from posenc_lib.experiments import algorithms
from posenc_lib.experiments.lab import perform


def drawn(task: str, rows: int = 200, n: int = 7) -> list[tuple[list[int], list[int]]]:
    questions, answers = algorithms.TASKS[task](torch.Generator().manual_seed(1), rows, n)
    return list(zip(questions.tolist(), answers.tolist(), strict=True))


@pytest.mark.parametrize(
    ("task", "right"),
    [("copy", list), ("reverse", lambda symbols: symbols[::-1]), ("sort", sorted)],
)
def test_answers_are_the_symbols_in_their_order(task, right):
    for question, answer in drawn(task):
        assert answer == right(question)


def test_addition_is_addition():
    for question, answer in drawn("addition"):
        one, plus, other = question[:7], question[7], question[8:]
        assert plus == algorithms.PLUS

        def number(digits):
            return sum(digit * 10**place for place, digit in enumerate(digits))

        assert number(answer) == number(one) + number(other)
        assert len(answer) == 8
        assert max(answer) <= 9


def test_the_one_that_came_first_is_asked_for_in_either_order():
    earlier_named_first = 0
    for question, answer in drawn("which-came-first"):
        sequence, pair = question[:7], question[7:]
        places = [sequence.index(marker) for marker in pair]
        assert len(set(pair)) == 2
        assert answer == [pair[0] if places[0] < places[1] else pair[1]]
        earlier_named_first += places[0] < places[1]
    assert 60 < earlier_named_first < 140


def test_every_task_meets_every_encoding_with_the_same_seeds():
    every = [(run["task"], run["encoding"], run["seed"]) for run in algorithms.runs()]
    assert len(every) == len(set(every)) == len(algorithms.TASKS) * len(algorithms.ENCODINGS) * 3
    assert {seed for *_, seed in every} == {0, 1, 2}


def test_fast_form_learns_and_a_clamped_table_does_not_go_on(tmp_path):
    found = perform("length-generalisation", fast=True, work=tmp_path)["runs"]
    exact = {each["run"]["encoding"]: each["result"]["exact"] for each in found}
    for encoding, (trained, _) in exact.items():
        assert trained > 0.75, encoding  # chance is 0.5
    for encoding in ("none", "alibi"):
        assert exact[encoding][1] > 0.9
        assert exact[encoding][1] > exact["learned"][1] + 0.1
