"""The stored result of the mutation testing is current, and good enough; and its measure can fail."""

from __future__ import annotations

import dataclasses
import json

from posenc_course.checking.judge import judge
from posenc_course.exercises import all_exercises, exercise
from tools import mutants


def test_the_stored_result_is_current():
    current = {each.id: mutants.fingerprint(each) for each in all_exercises()}
    found = {name: each["fingerprint"] for name, each in mutants.stored().items()}
    assert found == current, "run `make mutants`, and commit the result"


def test_nearly_all_mutants_that_change_a_result_are_rejected():
    found = json.loads(mutants.RESULT.read_text())
    counts = found["exercises"].values()
    rejected = sum(each["rejected"] for each in counts)
    survived = sum(len(each["survivors"]) for each in counts)
    assert (rejected, survived) == (found["rejected"], found["survived"])
    assert rejected > 1000
    assert rejected / (rejected + survived) >= mutants.GOAL


def test_a_change_is_a_mutant_and_the_judge_rejects_it():
    (mutant,) = (m for m in mutants.mutants("def f(x):\n    return x / 4\n") if "x * 4" in m)
    assert mutant == "def f(x):\n    return x * 4\n"
    _, tally = mutants.examine("02-the-formula.wrong_columns")
    assert tally.rejected > 0
    assert tally.survivors == []


def test_a_judge_with_too_few_cases_lets_mutants_survive(monkeypatch):
    """Guards the guard: were the cases of an exercise cut to the first, the measure would say so."""
    asked = exercise("02-the-formula.smallest_dim")
    first = lambda rng: list(asked.make_cases(rng))[:1]  # noqa: E731
    monkeypatch.setattr(
        mutants,
        "judge",
        lambda each, got, seed: judge(dataclasses.replace(each, make_cases=first), got[:1], seed=seed),
    )
    _, tally = mutants.examine(asked.id)
    assert tally.survivors
