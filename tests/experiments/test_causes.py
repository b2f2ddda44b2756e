"""Causes: a change changes what it names and nothing else; the rule says what its words say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from posenc_course.experiments import (
    ablations,
    byte_model,
    byte_models,
    causes,
    readings,
    results,
    source_text,
)
from posenc_course.experiments.causes import A_PART, CAUSES, NO_RISE, NOT_THE_CAUSE, THE_CAUSE
from posenc_course.experiments.decoder import Decoder
from posenc_course.experiments.lab import perform
from posenc_course.experiments.readings import READ
from posenc_course.experiments.training import Bench
from posenc_lib import alibi_slopes, frequencies, sinusoidal
from posenc_lib.nn import ALiBi, Rotary, Sinusoidal, TransformerXL
from tests.present import present

RUN: dict[str, Any] = byte_models.FAST | {"dim": 32, "encoding": "rope"}
LENGTH = RUN["length"]
BASE, HEAD_DIM = RUN["base"], RUN["dim"] // RUN["heads"]


@pytest.fixture(scope="module")
def queries_and_keys():
    return torch.randn(2, 2, RUN["heads"], 100, HEAD_DIM, generator=torch.Generator().manual_seed(0))


def changed(encoding, change, **settings):
    return ablations.CHANGES[encoding, change](RUN | {"encoding": encoding, "change": change} | settings)


def model_with(encoding, **settings):
    """A model that says something: as it is made, its last matrix is zero."""
    torch.manual_seed(0)
    model = byte_model.build(RUN | {"encoding": encoding, **settings})
    with torch.no_grad():
        for each in model.parameters():
            if not each.any():
                each.normal_(std=0.3)
    return model.eval()


# --- trained with a change


def test_a_clock_turns_if_it_comes_round_once():
    rates = 2 * np.pi / np.array([1.0, 99.0, 100.0, 100.001, 1e6])
    assert ablations.turning(rates, 100).tolist() == [True, True, True, False, False]


def test_rope_without_slow_clocks_leaves_their_columns_alone_and_turns_the_others_as_ever(queries_and_keys):
    q, k = queries_and_keys
    turned, _ = changed("rope", "no slow clocks").rotate(q, k, 100, 100)
    whole, _ = Rotary(HEAD_DIM, base=BASE).rotate(q, k, 100, 100)
    still = LENGTH * frequencies(HEAD_DIM, base=BASE) < 2 * np.pi
    assert 0 < still.sum() < len(still)
    columns = torch.from_numpy(still).repeat_interleave(2)
    assert torch.equal(turned[..., columns], q[..., columns])
    torch.testing.assert_close(turned[..., ~columns], whole[..., ~columns])
    assert not torch.allclose(whole[..., 1:, columns], q[..., 1:, columns])


def test_sinusoidal_without_slow_clocks_adds_nothing_in_their_columns():
    x = torch.zeros(1, 100, RUN["dim"])
    added = changed("sinusoidal", "no slow clocks").add(x, 100)[0]
    still = torch.from_numpy(LENGTH * frequencies(RUN["dim"]) < 2 * np.pi).repeat_interleave(2)
    assert 0 < still.sum() < len(still)
    assert not added[:, still].any()
    np.testing.assert_allclose(added[:, ~still], sinusoidal(100, RUN["dim"])[:, ~still], atol=1e-6)


def test_the_mark_is_read_and_stands_at_the_first_token_alone():
    torch.manual_seed(0)
    model = ablations.build(RUN | {"encoding": "none", "change": "first token marked"}).eval()
    torch.nn.init.normal_(model.head.weight)
    layer: Any
    for layer in model.layers:
        torch.nn.init.normal_(layer.attention.out_proj.weight, std=0.3)
    encoding = model.encodings[0]
    mark = encoding.get_parameter("mark")
    tokens = torch.randint(256, (1, 20))
    before = model(tokens)
    added = encoding.add(torch.zeros(1, 20, RUN["dim"]), 20)[0]
    assert torch.equal(added[0], mark)
    assert not added[1:].any()
    model(tokens)[0, -1, 0].backward()
    assert present(mark.grad).abs().max() > 0  # the last token hears of it
    with torch.no_grad():
        mark.zero_()
    assert not torch.allclose(model(tokens)[0, -1], before[0, -1])
    trained = [
        each for group in model.optimizers(0.1) for part in group.param_groups for each in part["params"]
    ]
    assert any(each is encoding.mark for each in trained)


def test_scores_grow_with_log_n_and_are_the_plain_ones_at_the_length_of_training(queries_and_keys):
    q, k = queries_and_keys
    turned, keys = changed("none", "log n").rotate(q, k, 100, 100)
    assert torch.equal(keys, k)
    torch.testing.assert_close(turned[..., LENGTH - 1, :], q[..., LENGTH - 1, :])
    torch.testing.assert_close(turned[..., 7, :], q[..., 7, :] * math.log(8) / math.log(LENGTH))
    later, _ = changed("none", "log n").rotate(q[..., 60:, :], k[..., 60:, :], range(60, 100), range(60, 100))
    torch.testing.assert_close(later, turned[..., 60:, :])
    rope, _ = Rotary(HEAD_DIM, base=BASE).rotate(q, k, 100, 100)
    both, _ = changed("rope", "log n").rotate(q, k, 100, 100)
    torch.testing.assert_close(both[..., 7, :], rope[..., 7, :] * math.log(8) / math.log(LENGTH))


def test_each_slope_becomes_a_window_of_its_reach(queries_and_keys):
    q, k = queries_and_keys
    bias = changed("alibi", "windows").bias(q, k, 100, 100)
    for head, slope in enumerate(alibi_slopes(RUN["heads"])):
        reach = min(LENGTH, round(1 / slope))
        seen = [key for key in range(100) if bias[head, 99, key] == 0]
        assert seen == list(range(100 - reach, 100))
        assert (bias[head, 99, : 100 - reach] == -math.inf).all()


def test_buckets_end_where_the_training_does_or_where_the_tests_do(queries_and_keys):
    torch.manual_seed(0)
    twin = byte_model.build(RUN | {"encoding": "t5"}).encodings[0]
    far = changed("t5", "buckets beyond the training")
    q, k = queries_and_keys
    for encoding, untrained in ((twin, 0), (far, 9)):
        by_distance = present(encoding.bias(q, k, 100, 100))[0, 99].flip(0).tolist()
        met = set(by_distance[:LENGTH])
        assert len(set(by_distance[LENGTH:]) - met) == untrained


@pytest.mark.parametrize(("encoding", "change"), ablations.CHANGES)
def test_a_changed_model_is_causal(encoding, change):
    torch.manual_seed(0)
    model = ablations.build(RUN | {"encoding": encoding, "change": change}).eval()
    assert isinstance(model, Decoder)
    with torch.no_grad():
        for each in model.parameters():
            if not each.any():
                each.normal_(std=0.3)
        tokens = torch.randint(256, (2, 50))
        other = torch.cat([tokens[:, :30], (tokens[:, 30:] + 1) % 256], dim=1)
        torch.testing.assert_close(model(other)[:, :30], model(tokens)[:, :30])
        assert not torch.allclose(model(other)[:, 30:], model(tokens)[:, 30:])


# --- read differently


@pytest.mark.parametrize("encoding", causes.READ_ONES)
def test_no_reading_changes_anything_within_the_length_of_training(encoding):
    model, tokens = model_with(encoding), torch.randint(256, (2, 3 * LENGTH))
    with torch.no_grad():
        plain = model(tokens)
        for name, change in readings.readings(encoding, RUN).items():
            read = change(model)(tokens)
            torch.testing.assert_close(read[:, :LENGTH], plain[:, :LENGTH], rtol=1e-4, atol=1e-5, msg=name)
            same = torch.allclose(read[:, 2 * LENGTH :], plain[:, 2 * LENGTH :], atol=1e-4)
            assert same == (name == readings.AS_IT_IS), name
        torch.testing.assert_close(model(tokens), plain)  # the model itself was not touched


@pytest.mark.parametrize("which", ["slow", "fast", "all"])
def test_a_stopped_clock_of_rope_shows_the_last_offset_of_the_training(queries_and_keys, which):
    """Each score from its pairs, one by one."""
    q, k = (each[:1, :1].double() for each in queries_and_keys)
    fast = ablations.turning(frequencies(HEAD_DIM, base=BASE), LENGTH)
    stops = {"slow": ~fast, "fast": fast, "all": fast | True}[which]
    stopped = readings._RotaryStops(
        Rotary(HEAD_DIM, base=BASE), LENGTH - 1, torch.from_numpy(stops).repeat_interleave(2)
    )
    rotated = stopped.rotate(q, k, 100, 100)
    scores = rotated[0] @ rotated[1].mT / math.sqrt(HEAD_DIM) + stopped.bias(*rotated, 100, 100)
    for query, key in ((99, 99), (99, 99 - LENGTH + 1), (99, 99 - LENGTH), (99, 0), (50, 3)):
        wanted = 0.0
        for pair, stop in enumerate(stops):
            offset = min(query - key, LENGTH - 1) if stop else query - key
            columns = slice(2 * pair, 2 * pair + 2)
            angle = offset * frequencies(HEAD_DIM, base=BASE)[pair]
            (a, b), (c, d) = q[0, 0, query, columns].tolist(), k[0, 0, key, columns].tolist()
            wanted += (a * c + b * d) * math.cos(angle) + (a * d - b * c) * math.sin(angle)
        assert scores[0, 0, query, key].item() == pytest.approx(wanted / math.sqrt(HEAD_DIM), abs=1e-5)


def test_a_stopped_clock_of_the_sinusoidal_encoding_shows_the_last_position():
    slow = torch.arange(RUN["dim"]) >= 6
    added = readings._SinusoidalStops(Sinusoidal(RUN["dim"]), LENGTH - 1, slow).add(
        torch.zeros(1, 100, RUN["dim"]), 100
    )[0]
    wanted = sinusoidal(100, RUN["dim"])
    np.testing.assert_allclose(added[:, ~slow], wanted[:, ~slow], atol=1e-5)
    np.testing.assert_allclose(
        added[LENGTH:, slow], wanted[[LENGTH - 1] * (100 - LENGTH)][:, slow], atol=1e-5
    )


def test_clocks_of_transformer_xl_that_stop_make_all_far_keys_equally_far(queries_and_keys):
    q, k = queries_and_keys
    torch.manual_seed(0)
    encoding = TransformerXL(RUN["dim"], RUN["heads"])
    every = torch.ones(RUN["dim"], dtype=torch.bool)
    stopped = readings._TransformerXLStops(encoding, LENGTH - 1, every)
    same_key = k[..., :1, :].expand_as(k)
    bias = stopped.bias(q, same_key, 100, 100)[0, 0, 99].flip(0)  # by distance
    going = encoding.bias(q, same_key, 100, 100)[0, 0, 99].flip(0)
    torch.testing.assert_close(bias[:LENGTH], going[:LENGTH])
    torch.testing.assert_close(bias[LENGTH:], bias[LENGTH - 1].expand(100 - LENGTH))
    assert not torch.allclose(going[LENGTH:], bias[LENGTH:])


def test_slopes_that_stop_make_all_far_keys_equally_quiet(queries_and_keys):
    q, k = queries_and_keys
    bias = readings._SlopesStop(ALiBi(RUN["heads"]), LENGTH - 1).bias(q, k, 100, 100)
    for head, slope in enumerate(alibi_slopes(RUN["heads"])):
        by_distance = bias[head, 99].flip(0).numpy()
        np.testing.assert_allclose(by_distance, -slope * np.minimum(np.arange(100), LENGTH - 1), rtol=1e-5)


# --- what the runs say


@pytest.mark.parametrize("paired", [True, False])
def test_the_rule(paired):
    def rises(mean):
        noise = np.random.default_rng(0).normal(scale=0.02, size=(3, 30))
        return mean + noise

    for with_it, without, wanted in (
        (0.0, 0.5, NO_RISE),
        (-0.5, -1.0, NO_RISE),
        (0.5, 0.5, NOT_THE_CAUSE),
        (0.5, 0.9, NOT_THE_CAUSE),
        (0.5, 0.2, A_PART),
        (0.5, 0.0, THE_CAUSE),
        (0.5, -0.3, THE_CAUSE),
    ):
        assert causes.outcome(rises(with_it), rises(without), paired=paired) == wanted


def test_what_is_left_inside_a_wide_interval_is_not_gone():
    """Three seeds that keep a third of the rise, and differ so much that it might be nothing."""
    with_it, without = (np.tile(seeds, (30, 1)).T for seeds in ([0.15, 0.12, 0.12], [0.065, 0.04, 0.015]))
    assert causes._above_none(without).verdict == "none"
    assert causes.outcome(with_it, without, paired=True) == A_PART


def test_every_cause_has_its_run_its_sentence_and_what_refutes_it():
    asked = {(run["encoding"], run["change"]) for run in causes.runs(full=True)}
    for cause in CAUSES:
        assert cause.sentence.endswith(".")
        assert cause.refuted_by.endswith(".")
        if cause.trained:
            assert (cause.encoding, cause.change) in asked
        else:
            assert (cause.encoding, READ) in asked
            assert cause.change in readings.readings(cause.encoding, RUN)
    assert len({(cause.encoding, cause.change) for cause in CAUSES}) == len(CAUSES)
    told = {(cause.encoding, cause.change) for cause in CAUSES}
    for encoding, change in asked:
        ways = readings.readings(encoding, RUN) if change == READ else {change: None}
        assert {(encoding, way) for way in ways if way != readings.AS_IT_IS} <= told  # none goes unnamed


def test_a_run_and_its_twin_are_trained_alike(monkeypatch):
    """All settings but the change are those of the byte models: so the weights that are kept are theirs."""
    rates = {name: 0.01 * number for number, name in enumerate(byte_models.ENCODINGS, 1)}
    monkeypatch.setattr(byte_models, "best_rates", lambda full=False: rates)
    twins = {(run["encoding"], run["seed"]): run for run in byte_models.runs()}
    for run in causes.runs():
        assert {key: value for key, value in run.items() if key != "change"} == twins[
            run["encoding"], run["seed"]
        ]


def stored_runs(rise_of_twin, rise_of_changed, *, rate=0.02):
    """Three seeds of RoPE and of RoPE without slow clocks, as they are stored."""

    def one(seed, rise, **settings):
        noise = np.random.default_rng(seed).normal(scale=0.01, size=30)
        result = {
            "short": (1 + noise).tolist(),
            "read": {
                readings.AS_IT_IS: np.tile((1 + rise + 2 * noise)[:, None], readings.STRETCHES).tolist()
            },
            "trained": {"by_file": {"loss": (2 + noise).tolist(), "bytes": [1] * 30}},
        }
        run = {"encoding": "rope", "seed": seed, "rate": 0.02} | settings
        return {"run": run, "result": result, "verdict": "admitted"}

    twins = [one(seed, rise_of_twin, change=READ) for seed in range(3)]
    changed = [one(10 + seed, rise_of_changed, change="no slow clocks", rate=rate) for seed in range(3)]
    lost = one(9, 5.0, change="no slow clocks") | {"verdict": "not admitted", "reason": "-"}
    return lambda name, full=False: [*twins, *changed, lost]


def judged():
    (cause,) = (each for each in CAUSES if (each.encoding, each.change) == ("rope", "no slow clocks"))
    return causes.judge(cause)


def test_a_verdict_is_that_of_the_stored_and_admitted_runs(monkeypatch):
    monkeypatch.setattr(results, "stored_so_far", stored_runs(0.5, 0.2))
    found = judged()
    assert (found.outcome, found.carried) == (A_PART, True)
    assert found.with_it.difference == pytest.approx(0.5, abs=0.02)
    assert found.without.difference == pytest.approx(0.2, abs=0.02)
    assert found.at_the_training.verdict == "none"
    monkeypatch.setattr(results, "stored_so_far", stored_runs(0.5, 0.5))
    found = judged()
    assert (found.outcome, found.carried) == (NOT_THE_CAUSE, False)


def test_runs_that_were_trained_otherwise_are_no_twins(monkeypatch):
    monkeypatch.setattr(results, "stored_so_far", stored_runs(0.5, 0.2, rate=0.03))
    with pytest.raises(ValueError, match="the runs of rope differ in rate, besides the change; run"):
        judged()


def test_nothing_is_said_of_what_two_seeds_have_not_passed(monkeypatch):
    monkeypatch.setattr(results, "stored_so_far", lambda name, full=False: [])
    assert list(causes.verdicts()) == []


def test_the_fast_form(tmp_path):
    read, marked = perform("causes", fast=True, work=tmp_path)["runs"]
    for each in (marked, read):
        assert each["verdict"] == "not admitted"
        assert "where the 5-gram has" in each["reason"]
        assert each["result"]["length"] == 128
        files = len(each["result"]["short"])
        assert {np.shape(rows) for rows in each["result"]["read"].values()} == {(files, readings.STRETCHES)}
    assert list(marked["result"]["read"]) == [readings.AS_IT_IS]
    near = [np.array(rows)[:, : readings.STRETCHES // 4] for rows in read["result"]["read"].values()]
    assert len(near) == 6
    for each in near:  # within the length of training nothing changes
        np.testing.assert_allclose(each, near[0], atol=2e-4)


def test_a_short_window_and_a_long_one_are_of_the_same_bytes(tmp_path):
    """The byte model that is read is the one of `byte-models`; losses from the definition."""
    bench = Bench(torch.device("cpu"), tmp_path / "run", models=tmp_path / "models")
    run = next(run for run in causes.runs(fast=True) if run["change"] == READ) | {"windows": 2}
    torch.manual_seed(0)
    found = readings.measure(run, bench)
    model, _ = byte_model.trained({key: run[key] for key in run if key != "change"}, bench)
    assert len(list((tmp_path / "models").iterdir())) == 1
    files = source_text.split().held_out
    places = source_text.windows(files, LENGTH + run["longest"] + 1, most=1)[:2]
    for row, text in enumerate(byte_model.cut(files, places, 129)):
        with torch.no_grad():
            losses = torch.nn.functional.cross_entropy(model(text[None, :-1])[0], text[1:], reduction="none")
            short = [
                torch.nn.functional.cross_entropy(
                    model(text[None, at : at + LENGTH])[0], text[at + 1 : at + LENGTH + 1]
                )
                for at in range(0, 128, LENGTH)
            ]
        assert found["short"][row] == pytest.approx(float(torch.stack(short).mean()), abs=2e-4)
        by_position = losses.view(readings.STRETCHES, -1).mean(dim=1).tolist()
        assert found["read"][readings.AS_IT_IS][row] == pytest.approx(by_position, abs=2e-4)
