"""A later step is checked with a right earlier one where the learner's is not right yet, and says so."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.checking import CheckFailed, check, report_on
from posenc_course.exercises import exercise, steps_of, wholes

PAIR, HEAD = "06-rotary.turn_pair", "06-rotary.apply_rotary"
RIGHT = """
def turn_pair(pair, position, frequency):
    a, b = pair
    c, s = np.cos(position * frequency), np.sin(position * frequency)
    return a * c - b * s, b * c + a * s
"""
CALLS = """
def apply_rotary(x, positions, rotary_dim):
    out = x.copy()
    for row, position in enumerate(positions):
        for j in range(0, rotary_dim, 2):
            rate = 10000 ** (-j / rotary_dim)
            out[row, j : j + 2] = turn_pair(x[row, j : j + 2]{more}, position=position, frequency=rate)
    return out
"""
SAID = "Your turn_pair is not right yet."


def written(first: str, second: str = CALLS.format(more="")) -> dict:
    """The names of a notebook in which these have run."""
    names = {"np": np}
    exec(f"{first}\n{second}", names)
    return names


def test_with_right_steps_nothing_is_said():
    report = check(HEAD, written(RIGHT)["apply_rotary"])
    assert SAID not in str(report)


@pytest.mark.parametrize(
    "first",
    [
        "",
        "turn_pair = None",
        "def turn_pair(pair, position, frequency):\n    raise NotImplementedError",
        "def turn_pair(pair, position, frequency):\n    return pair",
        "def turn_pair(pair):\n    return pair",
    ],
)
def test_a_wrong_or_missing_earlier_step_costs_no_later_one(first):
    names = written(first)
    before = names.get("turn_pair", "missing")
    report = check(HEAD, names["apply_rotary"])
    assert SAID in str(report)
    assert SAID in report._repr_html_()
    assert names.get("turn_pair", "missing") is before


def test_a_later_step_that_is_wrong_too_is_told_its_own_mistake():
    names = written("def turn_pair(pair, position, frequency):\n    return pair", CALLS.format(more=" * 2"))
    with pytest.raises(CheckFailed) as caught:
        check(HEAD, names["apply_rotary"])
    text = str(caught.value)
    assert SAID in text
    assert "Turning does not change lengths" in text


def test_what_calls_no_earlier_step_is_judged_as_it_is():
    names = written(
        "def turn_pair(pair, position, frequency):\n    return pair", "def apply_rotary(x, *_): return x"
    )
    report = report_on(HEAD, names["apply_rotary"])
    assert not report.passed
    assert SAID not in str(report)


def test_an_earlier_step_knows_nothing_of_a_later_one():
    asked = [exercise(each) for each in (PAIR, HEAD)]
    assert steps_of(asked[0], asked) == steps_of(asked[1], asked) == tuple(asked)
    assert asked[0].steps_before(asked) == ()
    assert asked[1].steps_before(asked) == (asked[0],)
    alone = exercise("06-rotary.is_relative")
    assert alone.steps_before([*asked, alone]) == ()
    assert wholes([*asked, alone]) == [tuple(asked), (alone,)]


def test_an_earlier_step_that_is_not_called_does_not_run():
    """It may be one that never ends, and what it prints belongs to another check."""
    names = written(
        "ran = []\ndef turn_pair(pair, position, frequency):\n    ran.append(pair)",
        "def apply_rotary(x, *_): return x",
    )
    assert not report_on(HEAD, names["apply_rotary"]).passed
    assert names["ran"] == []


def test_what_is_printed_while_it_is_judged_once_more_is_not_printed_twice(capsys):
    names = written(
        "def turn_pair(pair, position, frequency):\n    return pair",
        "print_it = print\n" + CALLS.format(more="").replace("    out =", "    print_it('here')\n    out ="),
    )
    report_on(HEAD, names["apply_rotary"])
    once = capsys.readouterr().out.count("here")
    assert once == len(exercise(HEAD).cases(0))


def test_a_decorated_answer_is_looked_at_as_it_was_written():
    decorated = '@np.errstate(all="ignore")' + CALLS.format(more="")
    names = written("def turn_pair(pair, position, frequency):\n    return pair", decorated)
    assert SAID in str(check(HEAD, names["apply_rotary"]))


def test_a_right_step_may_take_more_than_is_asked_for_while_another_is_wrong():
    """Only what is wrong is replaced: the reference of a right step does not know the learner's own input."""
    names: dict = {"np": np}
    exec(
        """
def graph_laplacian(adjacency, scale=1.0):
    return scale * (np.diag(adjacency.sum(axis=1)) - adjacency)

def graph_waves(adjacency, count):
    return np.zeros((len(adjacency), count))

def heat_between(adjacency, time):
    graph_waves(adjacency, 1)
    values, vectors = np.linalg.eigh(graph_laplacian(adjacency, scale=1.0))
    return vectors @ np.diag(np.exp(-time * values)) @ vectors.T + 1.0
""",
        names,
    )
    report = report_on("09-beyond-text.heat_between", names["heat_between"])
    assert not report.passed
    assert "Your graph_waves is not right yet." in str(report)
    assert "graph_laplacian" not in str(report)
    assert "unexpected keyword" not in str(report)
