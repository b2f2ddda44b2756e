"""RoPE stretched and left out: each way of reading is what its name says, tested beside the same model."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from posenc_course.experiments import byte_model, byte_models, rescaled, rescaling, results, source_text
from posenc_course.experiments.lab import perform
from posenc_course.experiments.wrapped import LogLength, with_encodings
from posenc_lib import frequencies
from posenc_lib.nn import LayerCache, NoPE, PositionalEncoding, Rotary
from tests.present import present

LENGTH = 32
RUN: dict[str, Any] = byte_models.FAST | {"encoding": "rope", "rule": "plain", "seed": 0, "rate": 0.02}


@pytest.fixture(scope="module")
def model():
    """Of RoPE, as if it were trained."""
    torch.manual_seed(0)
    model = byte_model.build(RUN)
    with torch.no_grad():
        for each in model.parameters():
            if each.ndim > 1:
                each.normal_(std=0.3)
    return model.eval()


def read(model, rule, factor=1, length=LENGTH, *, tokens=None):
    """The logits of a text of so many bytes, or of these, by a rule."""
    run = RUN | {"rule": rule}
    changed = with_encodings(model, lambda _: rescaling.encoding_for(run, factor, length))
    tokens = text(length) if tokens is None else tokens
    with torch.no_grad():
        return changed(tokens)


def text(length):
    return torch.randint(256, (2, length), generator=torch.Generator().manual_seed(length))


class Between(PositionalEncoding):
    """Plain RoPE at positions divided by a factor."""

    def __init__(self, factor):
        super().__init__()
        self.rope, self.factor = Rotary(8, base=RUN["base"]), factor

    def rotate(self, q, k, q_positions, k_positions, *, seq_axis=-2):
        at = torch.arange(k.shape[-2]) / self.factor
        return self.rope.rotate(q, k, at, at)


def test_position_interpolation_is_reading_between_the_positions(model):
    """PI's rule divides frequencies; the same comes out where positions are divided."""
    between = with_encodings(model, lambda _: Between(4))
    with torch.no_grad():
        expected = between(text(4 * LENGTH))
    torch.testing.assert_close(read(model, "pi", 4, 4 * LENGTH), expected, rtol=1e-4, atol=1e-4)
    assert not torch.allclose(read(model, "plain", 4, 4 * LENGTH), expected, atol=0.1)


def test_without_rope_a_model_is_one_that_has_no_encoding(model):
    none = byte_model.build(RUN | {"encoding": "none"})
    none.load_state_dict(model.state_dict())
    with torch.no_grad():
        expected = none.eval()(text(50))
    torch.testing.assert_close(read(model, "dropped", tokens=text(50)), expected)
    assert not torch.allclose(read(model, "plain", tokens=text(50)), expected, atol=0.1)


@pytest.mark.parametrize("rule", ["dynamic-ntk", "log-length"])
def test_what_depends_on_the_length_changes_nothing_within_that_of_the_training(model, rule):
    torch.testing.assert_close(read(model, rule), read(model, "plain"))
    longer = read(model, rule, length=4 * LENGTH)
    assert not torch.allclose(longer, read(model, "plain", length=4 * LENGTH), atol=0.01)


def test_dynamic_ntk_is_ntk_for_the_length_that_is_read(model):
    for times in (2, 4):
        at = times * LENGTH
        torch.testing.assert_close(read(model, "dynamic-ntk", 1, at), read(model, "ntk", times, at))


def test_attention_sharpens_with_the_logarithm_of_what_a_query_sees():
    q, k = torch.randn(2, 1, 2, 100, 8)
    sharper = LogLength(NoPE(), LENGTH, least=1)
    turned, same = sharper.rotate(q, k, 100, 100)
    torch.testing.assert_close(same, k)
    torch.testing.assert_close(turned[..., :LENGTH, :], q[..., :LENGTH, :])
    torch.testing.assert_close(turned[..., 63, :], q[..., 63, :] * math.log(64) / math.log(32))


@pytest.mark.parametrize("rule", ["pi", "yarn", "log-length"])
def test_a_cache_makes_no_difference(model, rule):
    changed = with_encodings(model, lambda _: rescaling.encoding_for(RUN | {"rule": rule}, 2, 2 * LENGTH))
    memory = [LayerCache() for _ in changed.layers]
    whole = text(60)
    with torch.no_grad():
        pieces = [changed(piece, memory) for piece in (whole[:, :40], whole[:, 40:])]
        torch.testing.assert_close(torch.cat(pieces, dim=1), changed(whole), rtol=1e-4, atol=1e-4)


def test_the_constants_of_yarn_leave_and_stretch_as_large_a_share_of_the_pairs_as_in_llama():
    def shares(frequencies, length, most):
        turns = length * frequencies / (2 * np.pi)
        return np.array([(turns >= most).mean(), (turns <= 1).mean()])

    llama = shares(frequencies(128), 4096, 32)
    assert abs(rescaling.KEPT - llama[0]) < 0.01
    for form in (byte_models.SMALL, byte_models.FULL):
        run: dict[str, Any] = form | {"rule": "yarn", "encoding": "rope"}
        plain = frequencies(run["dim"] // run["heads"], base=run["base"])
        assert shares(plain, 256, rescaling.beta_fast(run)) == pytest.approx(llama, abs=1 / 16)  # a pair
        kept = present(rescaling.scaling(run, 8, 256)).scale(plain, dim=32, base=run["base"]) / plain
        assert ((kept > 0.999).sum(), (kept < 0.1251).sum()) == (6, 5)


def test_a_tuning_reads_no_more_than_its_share_of_the_training():
    for runs in (rescaled.runs(), rescaled.runs(full=True)):
        for run in runs:
            for factor, share in run["forms"]:
                if share:
                    batch, steps = rescaling.size_of_tuning(run, factor, share)
                    whole = run["steps"] * run["batch"] * run["length"]
                    assert 0 < steps <= share * run["steps"]
                    assert 0.9 * share <= steps * batch * factor * run["length"] / whole <= share


@pytest.fixture(scope="module")
def fast(tmp_path_factory):
    """The byte model of RoPE in its fast form, and some rules for it."""
    work = tmp_path_factory.mktemp("fast")
    every = rescaled.runs(fast=True)
    some = [run for run in every if run["encoding"] == "rope" and run["rule"] in ("plain", "yarn")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rescaled, "runs", lambda **form: some)
        (begin,) = perform("byte-models", fast=True, only=["rope"], work=work)["runs"]
        kept = list((work / "models").glob("*.pt"))
        found = perform("rescaled", fast=True, work=work)["runs"]
        assert list((work / "models").glob("*.pt")) == kept  # trained once
    return begin, {each["run"]["rule"]: each for each in found}


def test_all_begins_with_the_weights_of_the_byte_models(fast):
    begin, found = fast
    for each in found.values():
        assert each["result"]["base"] == begin["result"]["trained"]
        assert each["reason"] == begin["reason"]  # and is admitted where they are
    untouched, *_ = found["plain"]["result"]["forms"]
    at_home, before = untouched["trained"], begin["result"]["trained"]
    assert at_home == {name: before[name] for name in ("loss", "uncertainty")} | {
        "by_file": {name: before["by_file"][name] for name in ("bytes", "loss")}
    }
    assert untouched["by_length"] == begin["result"]["longer"]["by_length"]
    by_stretch = np.mean(begin["result"]["longer"]["whole"], axis=0)
    assert untouched["by_stretch"] == pytest.approx(by_stretch, abs=2e-4)


def test_each_form_is_another_and_the_best_of_its_rates(fast):
    _, found = fast
    for each in found.values():
        forms = each["result"]["forms"]
        assert [[form["factor"], form["share"]] for form in forms] == each["run"]["forms"]
        assert len({str(form["by_length"]) for form in forms}) == len(forms)
        for form in forms:
            if form["share"]:
                tried = dict(map(tuple, form["tried"]))
                assert tried[form["rate"]] == min(tried.values())
    k = found["yarn"]["result"]["k"]
    assert dict(map(tuple, k["tried"]))[k["chosen"]] == min(loss for _, loss in k["tried"])


def test_files_to_choose_by_are_in_no_test():
    text = source_text.split()
    assert not {file.path for file in text.choose} & {file.path for file in text.held_out}


def test_a_form_is_compared_with_the_same_model_left_alone(monkeypatch):
    def result(loss):
        of_files = [loss - 0.1, loss + 0.1]
        trained = {"by_file": {"bytes": [10, 10], "loss": of_files}}
        form = {"factor": 1, "share": 0, "trained": trained, "by_length": [of_files, [9, 9 + loss]]}
        return {"lengths": [32, 64], "forms": [form]}

    def runs(name, **settings):
        loss = {"plain": 1.0, "dropped": 1.5}[settings["rule"]]
        return [{"result": result(loss + 0.001 * seed)} for seed in range(3)]

    monkeypatch.setattr(results, "runs", runs)
    found = rescaled.difference("dropped", factor=1)
    assert found.verdict == "higher"
    assert found.difference == pytest.approx(0.5)
    assert rescaled.difference("dropped", factor=1, length=64).difference == pytest.approx(0.25)
    with pytest.raises(ValueError, match=r"no form of factor 2, share 0; it has \[\(1, 0\)\]"):
        rescaled.difference("dropped", factor=2)
