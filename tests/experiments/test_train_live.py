"""The model that the page trains: its task has an answer, its sizes and gate are those of the page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import torch

from posenc_course.experiments import results, train_live
from posenc_course.experiments.lab import perform
from tests.present import present

SIZES = Path(__file__).resolve().parents[2] / "book" / "web" / "src" / "train-live" / "sizes.js"


@pytest.mark.parametrize("length", [16, 32, 256])
def test_a_letter_can_be_told_where_the_one_before_it_stood_earlier(length):
    letters, known = train_live.repeated(torch.Generator().manual_seed(0), 50, length)
    for text, told in zip(letters.tolist(), known.tolist(), strict=True):
        for place, letter in enumerate(text):
            earlier = text[: max(0, place - 1)]
            assert told[place] == (place > 0 and text[place - 1] in earlier)
            if told[place]:
                assert letter == text[earlier.index(text[place - 1]) + 1]


def test_no_letter_tells_of_a_later_one():
    torch.manual_seed(0)
    model = train_live.Model("rope")
    letters, _ = train_live.repeated(torch.Generator().manual_seed(0), 1, 32)
    other = letters.clone()
    other[:, 20] = (other[:, 20] + 1) % train_live.LETTERS
    torch.testing.assert_close(model(letters)[:, :20], model(other)[:, :20])
    assert not torch.allclose(model(letters)[:, 20:], model(other)[:, 20:])


def test_the_page_has_the_same_sizes():
    code = SIZES.read_text()
    sizes = json.loads(present(re.search(r"LENGTH\] = (\[.*?\])", code))[1])
    ours = (train_live.LETTERS, train_live.DIM, train_live.HEADS, train_live.LAYERS, train_live.LENGTH)
    assert tuple(sizes) == ours
    rows, steps, rate = json.loads(present(re.search(r"RATE\] = (\[.*?\])", code))[1])
    assert (rows, rate) == (train_live.ROWS, train_live.RATE)
    assert {run["steps"] for run in train_live.runs()} == {steps, 2 * steps}
    assert float(present(re.search(r"LEAST = ([\d.]+)", code))[1]) == train_live.LEAST


def test_fast_form_lowers_the_loss(tmp_path):
    [run] = perform("train-live", fast=True, work=tmp_path)["runs"]
    curve = run["result"]["curve"]
    assert curve[-1][1] < curve[0][1]
    assert run["verdict"] == "not admitted"


def test_all_seeds_are_stored():
    stored = results.runs("train-live", every=True)
    assert [each["run"] for each in stored] == train_live.runs()
    for each in stored:
        admitted = each["result"]["trained"] >= train_live.LEAST
        assert (each.get("verdict") != "not admitted") == admitted
