"""Needles: they stand where the depth says, and a value counts where every digit is right."""

from __future__ import annotations

import re

import pytest
import torch

from posenc_course.experiments import byte_models, needle, results, retrieval, source_text
from posenc_course.experiments.lab import perform
from posenc_course.experiments.retrieval import EXTRA, exact, planted
from tests.present import present


def passages(rows, length):
    """Without letters and digits, so that a needle is easily seen."""
    return torch.full((rows, length), ord("."))


def shown(row):
    return bytes(row.tolist()).decode()


def test_a_needle_stands_as_deep_as_it_says_and_is_asked_for_at_the_end():
    depths = torch.tensor([0.0, 0.25, 0.5, 1.0])
    rows = planted(passages(4, 100), depths, torch.Generator().manual_seed(0))
    assert rows.shape == (4, 100 + EXTRA)
    asked = set()
    for row, depth in zip(map(shown, rows), depths.tolist(), strict=True):
        before, line, after, question = row.split("\n")
        assert (before, after) == ("." * int(100 * depth), "." * int(100 - 100 * depth))
        assert line == question
        key, value = line.split(" = ")
        assert len(key) == len(value) == retrieval.LONG
        assert key.isalpha()
        assert value.isdigit()
        asked.add(line)
    assert len(asked) == 4


def test_needles_that_look_alike_differ_in_one_letter_each_and_take_no_room():
    (row,) = planted(passages(1, 200), torch.tensor([0.5]), torch.Generator().manual_seed(1), "alike")
    assert len(row) == 200 + EXTRA
    *lines, question = [line for line in shown(row).split("\n") if " = " in line]
    key, value = question.split(" = ")
    others = [line.split(" = ") for line in lines if line != question]
    assert len(lines) == len(others) + 1 == retrieval.ALIKE + 1
    places = {
        tuple(place for place in range(retrieval.LONG) if other[place] != key[place]) for other, _ in others
    }
    assert len(places) == retrieval.ALIKE
    assert all(len(differing) == 1 for differing in places)
    assert all(len(digits) == retrieval.LONG and digits != value for _, digits in others)


def test_asked_in_capitals_question_and_needle_share_no_byte_of_the_key():
    depths = torch.tensor([0.3])
    (row,) = planted(passages(1, 80), depths, torch.Generator().manual_seed(2), "capitals")
    (plain,) = planted(passages(1, 80), depths, torch.Generator().manual_seed(2))
    line, question = [line for line in shown(row).split("\n") if " = " in line]
    assert question == line.upper() != line
    assert shown(plain) == shown(row).replace(question, line)


class Reader(torch.nn.Module):
    """Finds the needle by looking for the key, and says its value, but for the digits at some places."""

    def __init__(self, wrong=()):
        super().__init__()
        self.unused, self.wrong = torch.nn.Parameter(torch.zeros(1)), wrong

    def forward(self, tokens):
        said = torch.zeros(*tokens.shape, 256)
        for number, row in enumerate(map(shown, tokens)):
            question = row.split("\n")[-1]
            value = row[row.index(question[:7]) + 7 :][: retrieval.LONG]
            for place, digit in enumerate(value):
                said[number, tokens.shape[1] - retrieval.LONG + place, ord(digit)] = 1
                if place in self.wrong:
                    said[number, tokens.shape[1] - retrieval.LONG + place, ord("x")] = 2
        return said


def test_a_value_counts_where_every_digit_is_right():
    rows = planted(passages(6, 80), torch.linspace(0, 1, 6), torch.Generator().manual_seed(0))
    assert exact(Reader(), rows) == 1  # type: ignore[arg-type]  # in place of a model
    for place in range(retrieval.LONG):
        assert exact(Reader(wrong=(place,)), rows) == 0  # type: ignore[arg-type]


def test_every_length_of_the_map_asks_for_the_same_needles_in_the_same_passages(monkeypatch):
    seen = []

    def all_found(model, rows):
        seen.append(rows)
        return 1.0

    monkeypatch.setattr(retrieval, "exact", all_found)
    (run, *_) = needle.runs(fast=True)
    files = source_text.split().held_out
    for length in (32, 64):
        for depth in (0.0, 1.0):
            retrieval._cell(None, files, run, length, depth)  # type: ignore[arg-type]  # not looked at
    first, deep, longer, _ = seen
    assert first.shape == (run["cases"], 33)  # 32 are read, and the last byte is only said
    assert longer.shape == (run["cases"], 65)
    assert torch.equal(first[:, -12:], deep[:, -12:])
    assert torch.equal(first[:, -12:], longer[:, -12:])
    assert torch.equal(first[:, :21], longer[:, :21])  # needle and beginning of the passage
    assert retrieval.depths_of(run | {"depths": 5}) == [0, 0.25, 0.5, 0.75, 1]


def test_the_fast_form_gives_a_map_and_does_not_pass(tmp_path, monkeypatch):
    every = needle.runs(fast=True)
    assert [run["rule"] for run in every] == ["plain", "pi", "yarn"]
    monkeypatch.setattr(needle, "runs", lambda **form: every[:2])
    found = perform("needle", fast=True, work=tmp_path)["runs"]
    for each in found:
        result = each["result"]
        assert len(result["exact"]) == len(result["lengths"]) == 2
        assert all(len(row) == len(result["depths"]) == 3 for row in result["exact"])
        assert (result["steps"], result["solved"]) == (4, False)
        harder = result.get("harder")
        assert (each["run"]["rule"] == "plain") == bool(harder)
        assert not harder or harder["steps"] == 3
        assert not harder or {*harder["trained"]} == {*harder["exact"]} == {*retrieval.KINDS}
        assert each["verdict"] == "not admitted"
    plain, pi = (each["result"]["curve"] for each in found)
    assert plain != pi  # the rule holds while the model is tuned


def test_the_gate_asks_for_nearly_all_values():
    """And for a model that is one."""
    files = {"bytes": [100, 100], "loss": [1.0, 1.1], "ngram": [1.3, 1.4]}
    base = {"loss": 1.05, "ngram": {"5": 1.35}, "by_file": files}
    passing = {"base": base, "trained": 0.99, "steps": 1200}
    assert needle.GATE.shortfall({}, passing) is None
    assert needle.GATE.shortfall({}, passing | {"trained": 0.9899}) == (
        "98.99% of the values right at the length of training, after 1,200 steps"
    )
    worse = base | {"by_file": files | {"ngram": [0.9, 1.0]}}
    assert present(needle.GATE.shortfall({}, passing | {"base": worse})).startswith(
        "before the tuning: 1.050 nats"
    )


def test_every_map_begins_with_a_byte_model_that_there_is():
    known = [run | {"rate": None} for run in byte_models.runs()]
    for run in needle.runs():
        begins = {name: run[name] for name in known[0]} | {"rate": None}
        assert begins in known
    assert {(run["encoding"], run["rule"]) for run in needle.runs()} == set(needle.MAPS)


def test_no_other_line_of_the_texts_looks_like_a_needle():
    """`measured` says so of every round: a model need not read the name to find the value."""
    for files in source_text.split():
        assert re.search(rb"\n[a-z]{4} = [0-9]{4}\n", source_text.joined(files)) is None


def test_found_by_length_is_the_mean_over_depths_of_each_admitted_run():
    for name in ("needle", "needle-beyond-counting"):
        every = results.runs(name, every=True, encoding="alibi", rule="plain")
        admitted = [run["result"] for run in every if run["verdict"] == "admitted"]
        found = needle.by_length("alibi", "plain", name=name)
        assert found.shape == (len(admitted), len(admitted[0]["lengths"]))
        assert found[0, 1] == pytest.approx(sum(admitted[0]["exact"][1]) / len(admitted[0]["depths"]))
