"""The byte models: what is measured is what it says; the gate asks what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from posenc_course.experiments import (
    byte_model,
    byte_models,
    byte_models_beyond_counting,
    byte_models_larger,
    results,
    source_text,
)
from posenc_course.experiments.byte_models import ENCODINGS, GATE
from posenc_course.experiments.lab import perform
from posenc_course.experiments.ngram import NGram
from posenc_lib import frequencies
from tests.present import present

LENGTH = 32


@pytest.fixture(scope="module")
def fast(tmp_path_factory):
    """The fast form, of RoPE alone: a real training of a very small model."""
    found = perform("byte-models", fast=True, only=["rope"], work=tmp_path_factory.mktemp("fast"))
    return found["runs"][0]


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    model = byte_model.build(byte_models.FAST | {"encoding": "sinusoidal"})
    with torch.no_grad():
        for each in model.parameters():
            if not each.any():
                each.normal_(std=0.3)
    return model.eval()


def loss_after(model, content: bytes) -> float:
    """Of the last byte, after all the others."""
    text = byte_model.as_tensor(content)
    with torch.no_grad():
        return F.cross_entropy(model(text[None, :-1])[0, -1], text[-1]).item()


def test_it_learns_and_is_far_from_passing(fast):
    curve = fast["result"]["curve"]
    assert curve[0][1] == pytest.approx(np.log(256), abs=0.01)
    assert curve[-1][1] < 4.0
    assert fast["verdict"] == "not admitted"
    assert "where the 5-gram has" in fast["reason"]


def test_the_ngrams_counted_the_bytes_of_the_training_and_are_asked_the_same_bytes(fast):
    """From the definition: each byte of each window, after those before it in its file."""
    text = source_text.split()
    counted = NGram(source_text.joined(text.learn, fast["run"]["learn"]), 5)
    places = source_text.windows(text.held_out, LENGTH + 1, most=16)
    content = {file.path: file.content for file in text.held_out}
    losses = []
    for path, first in places:
        before = max(0, first + 1 - 4)
        losses += counted.losses(content[path][before : first + 1 + LENGTH])[first + 1 - before :].tolist()
    found = fast["result"]["trained"]
    assert len(losses) == sum(found["by_file"]["bytes"])
    assert found["ngram"]["5"] == pytest.approx(np.mean(losses), abs=1e-4)
    for which, mean in (("loss", found["loss"]), ("ngram", found["ngram"]["5"])):
        by_file = np.average(found["by_file"][which], weights=found["by_file"]["bytes"])
        assert by_file == pytest.approx(mean, abs=1e-3)


def test_losses_by_length_whole_and_sliding_are_of_the_same_bytes(model):
    run: dict[str, Any] = byte_models.FAST | {"windows": 2}
    files = source_text.split().held_out
    found = byte_model.beyond(model, files, run)
    longest = run["longest"]
    places = source_text.windows(files, LENGTH + longest + 1, most=1)[:2]
    content = {file.path: file.content for file in files}
    rows = [content[path][first : first + LENGTH + longest + 1] for path, first in places]
    assert found["lengths"] == [32, 64, 128]
    for row, text in enumerate(rows):
        for number, length in enumerate(found["lengths"]):
            losses = [
                loss_after(model, text[LENGTH + start : LENGTH + start + seen + 1])
                for start in range(0, longest, length)
                for seen in range(1, length + 1)
            ]
            assert found["by_length"][number][row] == pytest.approx(np.mean(losses), abs=2e-4)
        assert found["whole"][row] == pytest.approx(np.reshape(losses, (4, LENGTH)).mean(axis=1), abs=2e-4)


def test_every_byte_of_a_sliding_window_has_three_quarters_before_it(model):
    run: dict[str, Any] = byte_models.FAST | {"windows": 1}
    files = source_text.split().held_out
    ((path, first),) = source_text.windows(files, LENGTH + run["longest"] + 1, most=1)[:1]
    content = {file.path: file.content for file in files}[path][first:]
    step = LENGTH // byte_model.STRIDE
    slid = []
    for number in range(run["longest"]):
        at = LENGTH + 1 + number  # of the byte
        begins = at - (LENGTH - step) - number % step - 1
        assert LENGTH - step < at - begins <= LENGTH
        slid.append(loss_after(model, content[begins : at + 1]))
    found = byte_model.beyond(model, files, run)["sliding"][0]
    assert found == pytest.approx(np.reshape(slid, (-1, LENGTH)).mean(axis=1), abs=2e-4)


@pytest.mark.parametrize("encoding", ["fire", "transformer-xl"])
def test_reading_in_pieces_gives_the_same_losses(encoding, monkeypatch):
    torch.manual_seed(0)
    model = byte_model.build(byte_models.FAST | {"encoding": encoding})
    torch.nn.init.normal_(model.head.weight)
    windows = torch.randint(256, (3, 101))
    whole = byte_model.losses_of(model, windows)
    monkeypatch.setattr(byte_model, "PIECE", 24)
    torch.testing.assert_close(byte_model.losses_of(model, windows), whole, rtol=1e-4, atol=1e-5)


def test_what_is_written_goes_on_from_what_was_read(model):
    files = source_text.split().held_out
    run: dict[str, Any] = byte_models.FAST | {"seed": 0}
    sample = byte_model.written(model, files, run, 60)
    assert sample == byte_model.written(model, files, run, 60)  # the seed decides
    assert len(sample["written"]) == byte_model.WRITTEN
    ((path, first),) = source_text.windows(files, run["longest"] + 1, most=1)[:1]
    content = {file.path: file.content for file in files}[path]
    assert sample["read"].encode("latin-1") == content[first : first + 60]


def passing(gain):
    """A result that is better than the n-gram by that much, give or take, in 50 files."""
    ngram = np.linspace(1.5, 2.5, 50)
    loss = ngram - gain + 0.1 * np.where(np.arange(50) % 2, 1, -1)
    return {
        "trained": {
            "loss": loss.mean(),
            "ngram": {"5": ngram.mean()},
            "by_file": {"bytes": [100] * 50, "loss": loss.tolist(), "ngram": ngram.tolist()},
        }
    }


def test_the_gate_asks_for_more_than_the_uncertainty():
    assert GATE.shortfall({}, passing(0.1)) is None
    for gain in (-0.1, 0.0, 0.02):  # the interval is about 0.028 wide to each side
        assert "2.0" in present(GATE.shortfall({}, passing(gain)))


def test_two_encodings_are_compared_by_their_admitted_seeds(monkeypatch):
    def stored(name, full=False):
        seeds = [
            ("rope", 0.50),
            ("rope", 0.51),
            ("rope", 0.52),
            ("none", 0.20),
            ("none", 0.21),
            ("t5", 0.515),
        ]
        runs = [
            {"run": {"encoding": encoding}, "result": passing(gain), "verdict": "admitted"}
            for encoding, gain in seeds
        ]
        lost = {
            "run": {"encoding": "rope"},
            "result": passing(-1.0),
            "verdict": "not admitted",
            "reason": "-",
        }
        return {"runs": [*runs, lost]}

    monkeypatch.setattr(results, "stored", stored)
    found = byte_models.difference("rope", "none")
    assert found.verdict == "lower"
    assert found.difference == pytest.approx(-0.305)
    with pytest.raises(ValueError, match="one seed says nothing"):
        byte_models.difference("rope", "t5")


def test_each_encoding_gets_the_rate_that_was_best_in_its_sweep(monkeypatch):
    tried = [
        {"run": {"encoding": name, "rate": rate}, "result": {"loss": loss}}
        for name, rate, loss in (
            ("rope", 0.01, 1.2),
            ("rope", 0.02, 1.1),
            ("none", 0.01, 1.5),
            ("none", 0.02, 1.6),
        )
    ]
    monkeypatch.setattr(results, "stored_so_far", lambda name, full: tried)
    assert byte_models.best_rates() == {"rope": 0.02, "none": 0.01}
    rates = {run["encoding"]: run["rate"] for run in byte_models.runs()}
    assert rates == dict.fromkeys(ENCODINGS) | {"rope": 0.02, "none": 0.01}


def test_what_is_trained_longer_is_trained_with_the_steps_of_all_too():
    """And other experiments begin with the longer training."""
    usual = byte_models.runs()
    steps = {name: {run["steps"] for run in usual if run["encoding"] == name} for name in ENCODINGS}
    longer = ("learned", "none")
    assert all(steps[name] == ({600, 1800} if name in longer else {600}) for name in ENCODINGS)
    begun_with = byte_models.longest(usual)
    assert len(begun_with) == 3 * len(ENCODINGS)
    assert {run["steps"] for run in begun_with if run["encoding"] in longer} == {1800}


def test_two_thirds_of_the_pairs_turn_within_the_training():
    """At least once: else a rule that rescales RoPE is judged where it has nothing to rescale."""
    for form in (byte_models.runs(), byte_models.runs(full=True), byte_models_larger.runs()):
        run = form[0]
        turns = run["length"] / (2 * np.pi) * frequencies(run["dim"] // run["heads"], base=run["base"])
        assert (turns >= 1).mean() >= 2 / 3


def test_the_second_size_has_four_times_the_weights_and_texts_of_twice_the_length():
    of = {run["encoding"]: run for run in byte_models_beyond_counting.runs(seeds=1)}
    for larger in byte_models_larger.runs(seeds=1):
        small = of[larger["encoding"]]
        weights = [
            sum(each.numel() for each in byte_model.build(run).parameters()) for run in (larger, small)
        ]
        assert weights[0] / weights[1] == pytest.approx(4, rel=0.1)
        assert larger["length"] == 2 * small["length"]
        same = ("steps", "batch", "learn", "layers", "text")
        assert [larger[name] for name in same] == [small[name] for name in same]


def test_without_its_sweep_a_rate_is_asked_for(monkeypatch):
    monkeypatch.setattr(results, "stored_so_far", lambda name, full=False: [])
    with pytest.raises(ValueError, match=r"run the sweep first: .* byte-models-larger-rates"):
        perform("byte-models-larger", only=["rope"], work=Path("nowhere"))


def test_what_is_stored_was_made_of_the_text_that_it_names():
    """The stored verdicts are those that the gate gives today."""
    for each in results.stored_so_far("byte-models"):
        assert each["run"]["text"]["sha256"]
        assert each.get("reason") == GATE.shortfall(each["run"], each["result"])
