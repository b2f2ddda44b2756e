"""The language model: what it measures is what it says; small models show already what is safe to show."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from posenc_lib.experiments import language_model as lm
from posenc_lib.experiments.lab import perform
from posenc_lib.experiments.results import stored
from posenc_lib.experiments.text import PYDOC, source_of, split
from posenc_lib.rotated import LinearScaling, YaRNScaling

TINY = {"length": 16, "times": 4, "dim": 16, "heads": 2, "layers": 1}


@pytest.fixture(scope="module")
def fast(tmp_path_factory):
    """encoding -> result of the fast form."""
    found = perform("train-short-test-long", fast=True, work=tmp_path_factory.mktemp("fast"))
    return {each["run"]["encoding"]: each["result"] for each in found["runs"]}


def by_length(result, way="as trained"):
    return torch.tensor(result["tests"][way]["by_length"])


def test_what_published_work_finds_shows_in_the_fast_form(fast):
    assert fast["alibi"]["lengths"] == [32, 64, 128, 256]
    worse = {name: by_length(result) - by_length(result)[0] for name, result in fast.items()}
    assert worse["alibi"].abs().max() < 0.03  # flat to 8 times
    for times in (1, 2):  # twice and four times
        assert worse["alibi"][times] < worse["t5"][times] < worse["sinusoidal"][times]
        assert worse["none"][times] < worse["rope"][times]
    assert worse["sinusoidal"][2] > 0.1
    assert worse["rope"][2] > 0.1


def test_a_sliding_window_saves_what_cannot_read_on(fast):
    hurt = {}
    for name, result in fast.items():
        losses = result["tests"]["as trained"]
        whole, sliding = (torch.tensor(losses[f"sampled_{what}"])[1:].mean() for what in ("whole", "sliding"))
        hurt[name] = whole - sliding
    assert hurt["sinusoidal"] > 0.1
    assert hurt["rope"] > 0.1
    assert abs(hurt["alibi"]) < 0.03


# --- what is measured


@pytest.fixture(scope="module")
def examined():
    torch.manual_seed(1)
    run = lm.runs()[0] | TINY | {"encoding": "sinusoidal"}
    model = lm.build(run).eval()
    held_out = torch.randint(256, (16 + 3 * 64 + 10,))  # three windows, and some bytes left over
    (setting,) = lm.ways_to_read("sinusoidal").values()
    return run, model, held_out, lm.examine(model, setting, held_out, run)


def loss_after(model, text):
    """Of the last byte, after all the others."""
    with torch.no_grad():
        return F.cross_entropy(model(text[None, :-1])[0, -1], text[-1]).item()


def test_all_lengths_are_tested_on_the_same_bytes(examined):
    _, model, held_out, losses = examined
    for length, found in zip([16, 32, 64], losses["by_length"], strict=True):
        each = [
            loss_after(model, held_out[16 + start : 16 + start + seen + 1])
            for start in range(0, 192, length)
            for seen in range(1, length + 1)
        ]
        assert len(each) == 192
        assert found == pytest.approx(sum(each) / len(each), abs=2e-5)


def test_loss_by_position_is_that_of_the_longest_windows(examined):
    _, model, held_out, losses = examined
    second = [
        loss_after(model, held_out[16 + start : 16 + start + seen + 1])
        for start in (0, 64, 128)
        for seen in range(17, 33)
    ]
    assert losses["by_position"][1] == pytest.approx(sum(second) / len(second), abs=2e-5)


def test_the_same_bytes_are_read_after_all_and_after_the_last_ones(examined):
    _, model, held_out, losses = examined
    for stretch in range(4):
        whole, sliding = [], []
        for start in (0, 64, 128):
            for position in range(16 * stretch + lm.SAMPLED - 1, 16 * stretch + 16, lm.SAMPLED):
                last = 16 + start + position + 1  # the byte that is asked for
                whole.append(loss_after(model, held_out[16 + start : last + 1]))
                sliding.append(loss_after(model, held_out[last - 16 : last + 1]))
        assert losses["sampled_whole"][stretch] == pytest.approx(sum(whole) / len(whole), abs=2e-5)
        assert losses["sampled_sliding"][stretch] == pytest.approx(sum(sliding) / len(sliding), abs=2e-5)


# --- the table of runs, and the ways to read


def test_the_full_table_has_every_encoding_three_seeds_and_the_main_ones_at_twice_the_length():
    table = {(run["encoding"], run["length"], run["seed"]) for run in lm.runs()}
    assert table == {(name, 64, seed) for name in lm.ALL for seed in range(3)} | {
        (name, 128, seed) for name in lm.MAIN for seed in range(3)
    }
    assert {run["steps"] for run in lm.runs(steps=7)} == {7}
    assert {run["seed"] for run in lm.runs(seeds=5)} == set(range(5))


def test_the_stored_result_is_that_of_the_table():
    """The text apart: Python's own differs from version to version."""

    def settings(run):
        return {key: value for key, value in run.items() if key != "text"}

    found = stored("train-short-test-long")["runs"]
    assert [settings(each["run"]) for each in found] == [settings(run) for run in lm.runs()]
    assert {each["run"]["text"]["name"] for each in found} == {PYDOC}
    for each in found:
        run, result = each["run"], each["result"]
        assert result["lengths"] == lm.lengths(run)
        assert result["curves"]["training"][-1][0] == run["steps"]
        for losses in result["tests"].values():
            assert len(losses["by_length"]) == 5
            for what in ("by_position", "sampled_whole", "sampled_sliding"):
                assert len(losses[what]) == len(result["positions"]) == 16


@pytest.mark.parametrize("name", lm.ALL)
def test_every_encoding_of_the_table_trains_and_is_tested(name, tmp_path):
    run = lm.runs()[0] | TINY | {"encoding": name, "length": 64, "steps": 2, "tuning_steps": 2, "tokens": 256}
    result = lm.measure(run, lm.Bench(torch.device("cpu"), tmp_path))
    ways = list(lm.ways_to_read(name))
    assert [way for way in result["tests"] if "tuned" not in way] == ways
    assert (name == "rope") == any("tuned" in way for way in result["tests"])
    assert set(result["curves"]) == {"training", *(way for way in result["tests"] if "tuned" in way)}
    for losses in result["tests"].values():
        assert len(losses["by_length"]) == len(result["lengths"]) == 3
        assert len(losses["by_position"]) == len(result["positions"]) == 4


def test_a_learned_table_is_read_both_ways():
    model = lm.build(lm.runs()[0] | TINY | {"encoding": "learned"})
    ways, nothing = lm.ways_to_read("learned"), torch.zeros(1, 64, 16)
    ways["clamp"](model.encoding, 16, 64)
    clamped = model.encoding.add(nothing, 64)[0]
    assert torch.equal(clamped[16:], model.encoding.table[-1].expand(48, -1))
    ways["interpolate"](model.encoding, 16, 64)
    stretched = model.encoding.add(nothing, 64)[0]
    assert torch.allclose(stretched[0], model.encoding.table[0], atol=0.5)
    assert not torch.allclose(stretched[20:40], clamped[20:40])
    ways["interpolate"](model.encoding, 16, 16)
    assert torch.allclose(model.encoding.add(nothing[:, :16], 16)[0], model.encoding.table)


def test_rope_is_rescaled_for_four_times_the_length():
    model = lm.build(lm.runs()[0] | TINY | {"encoding": "rope"})
    ways = lm.ways_to_read("rope")
    found = {}
    for name, setting in ways.items():
        setting(model.encoding, 16, 64)
        found[name] = model.encoding.scaling
    assert found["as trained"] is None
    assert found["linear"] == LinearScaling(4)
    assert found["yarn"] == YaRNScaling(4, 16)


# --- the text


def test_no_paragraph_is_both_learnt_and_tested():
    to_learn, held_out = (bytes(part.tolist()).split(b"\n\n") for part in split(source_of(), 1))
    assert len(held_out) > 50
    # The paragraph at the cut is in two pieces.
    assert not set(to_learn[:-1]) & set(held_out[1:])


def test_the_text_is_that_of_the_running_python():
    from pydoc_data.topics import topics

    source = source_of()
    assert source["name"] == PYDOC
    to_learn, _ = split(source, 1)
    begin = bytes(to_learn[:500].tolist())
    assert begin == next(iter(topics.values())).encode()[:500]


def test_a_text_of_yours_is_learnt(tmp_path):
    mine = tmp_path / "mine.txt"
    mine.write_bytes(b"\n\n".join(b"line %d" % n for n in range(300)))
    source = source_of(mine)
    assert source["name"] == "mine.txt"
    to_learn, held_out = split(source, 100)
    assert bytes([*to_learn.tolist(), *held_out.tolist()]) == mine.read_bytes()
    assert 0 < len(held_out) < len(to_learn) / 8
    assert {run["text"]["sha256"] for run in lm.runs(text=mine)} == {source["sha256"]}


def test_a_text_that_is_too_short_or_has_changed_is_refused(tmp_path):
    mine = tmp_path / "mine.txt"
    mine.write_bytes(b"abc\n\n" * 1000 + b"d" * 100)
    source = source_of(mine)
    with pytest.raises(ValueError, match=r"has 105 bytes .*; the tests need 500 .* give a text of 10,001"):
        split(source, 500)
    mine.write_bytes(b"d" * 1000)
    with pytest.raises(ValueError, match=r"mine\.txt has changed since the experiment began"):
        split(source, 10)
