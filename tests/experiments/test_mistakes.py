"""Mistakes: without one, the reading is that of the training; with one, it is that mistake and no other."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_course.experiments import byte_model, byte_models, mistakes, results, source_text
from posenc_course.experiments.lab import perform
from posenc_course.experiments.mistakes import OFFSETS, PRECISION, STARTS, Misread
from posenc_lib import frequencies
from posenc_lib.nn import Rotary

BASE = 300.0
HEAD_DIM = 16


@pytest.fixture(scope="module")
def queries_and_keys():
    return torch.randn(2, 1, 2, 64, HEAD_DIM, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


@pytest.fixture(scope="module")
def errors(queries_and_keys):
    q, k = (each.flatten(0, 2) for each in queries_and_keys)
    return {name: np.array(rows) for name, rows in mistakes.errors_of_scores(q, k, base=BASE).items()}


def scores(encoding, q, k, n=64):
    q, k = encoding.rotate(q, k, n, n)
    return q @ k.mT


@pytest.mark.parametrize("start", [0, 4096])
def test_without_a_mistake_it_is_rope(queries_and_keys, start):
    rope = Rotary(HEAD_DIM, base=BASE)
    q, k = queries_and_keys
    turned = Misread(rope, start=start).rotate(q, k, 64, 64)
    places = range(start, start + 64)
    wanted = rope.rotate(q, k, places, places)
    torch.testing.assert_close(turned[0], wanted[0])
    torch.testing.assert_close(turned[1], wanted[1])


def test_rounded_positions_are_exact_to_256_and_then_put_neighbours_at_one_place(queries_and_keys):
    rope = Rotary(HEAD_DIM, base=BASE)
    rounding = PRECISION["positions in bfloat16"]
    exact = scores(rope, *queries_and_keys)
    torch.testing.assert_close(scores(Misread(rope, rounding, start=192), *queries_and_keys), exact)
    same = torch.ones(1, 1, 64, HEAD_DIM, dtype=torch.float64)
    turned, _ = Misread(rope, rounding, start=4096).rotate(same, same, 64, 64)
    assert len(turned[0, 0].unique(dim=0)) == 3  # of 64 places: 4096, 4128 and 4160


def test_an_error_of_frequencies_grows_with_the_offset_and_one_of_positions_with_the_position(errors):
    rates = errors["frequencies in bfloat16"]
    np.testing.assert_allclose(rates, np.tile(rates[0], (len(STARTS), 1)), rtol=1e-3, atol=1e-6)
    assert rates[0, 0] == 0
    assert (np.diff(rates[0]) > 0).all()
    assert rates[0, OFFSETS.index(5)] < 0.01 < rates[0, OFFSETS.index(1024)]
    positions = errors["positions in bfloat16"]
    assert positions[STARTS.index(0), OFFSETS.index(64)] == 0
    assert (positions[2:, 1:4] > 0.1).all()
    assert (positions[:, 0] == 0).all()  # a token and itself are at one place, wherever that is
    float32 = errors["angles in float32"]
    assert (float32[STARTS.index(0)] < 1e-4).all()
    assert (float32[STARTS.index(65536), 1:] < 0.05).all()


def test_an_error_of_scores_is_what_its_definition_says(errors, queries_and_keys):
    q, k = (each.flatten(0, 2).numpy() for each in queries_and_keys)
    rates = torch.from_numpy(frequencies(HEAD_DIM, base=BASE)).to(torch.bfloat16).double().numpy()

    def score(with_rates):
        complex_q, complex_k = (x[:, 0::2] + 1j * x[:, 1::2] for x in (q, k))
        return (complex_q * np.exp(1j * 64 * with_rates) * complex_k.conj()).real.sum(axis=1)

    error = score(rates) - score(frequencies(HEAD_DIM, base=BASE))
    wanted = np.sqrt(np.mean(error**2)) / np.std((q * k).sum(axis=1), ddof=1)
    assert errors["frequencies in bfloat16"][1, OFFSETS.index(64)] == pytest.approx(wanted, rel=1e-3)


def test_wrong_turns_are_wrong_as_they_say(queries_and_keys):
    rope = Rotary(HEAD_DIM, base=BASE)
    q, k = queries_and_keys
    exact = scores(rope, q, k)
    found = {name: scores(change(rope), q, k) for name, change in mistakes.WRONG_TURNS.items()}
    torch.testing.assert_close(found.pop("all one ahead"), exact)
    backwards = torch.arange(63, -1, -1)
    mirrored_q, mirrored_k = rope.rotate(q, k, backwards, backwards)
    torch.testing.assert_close(found["both turned the other way"], mirrored_q @ mirrored_k.mT)
    ahead, _ = rope.rotate(q, k, range(1, 65), range(1, 65))
    torch.testing.assert_close(found["queries one ahead"], ahead @ rope.rotate(q, k, 64, 64)[1].mT)
    torch.testing.assert_close(found["keys not turned"], rope.rotate(q, k, 64, 64)[0] @ k.mT)
    for name, wrong in found.items():
        assert (wrong - exact).abs().max() > 0.1, name


@pytest.mark.parametrize("encoding", mistakes.ENCODINGS)
def test_padding_that_is_hidden_costs_those_alone_that_count_places(encoding):
    torch.manual_seed(0)
    model = byte_model.build(byte_models.FAST | {"encoding": encoding}).eval()
    with torch.no_grad():
        for each in model.parameters():
            if not each.any():
                each.normal_(std=0.3)
    passages = torch.randint(1, 256, (3, 33))
    cases = mistakes._of_padding(model, passages, 16, lambda losses: losses.mean(dim=1).tolist())
    assert [case["at"] for case in cases] == [2, 2]  # 32 would reach beyond the training
    read, counted = (np.subtract(case["wrong"], case["mended"]) for case in cases)
    assert (np.abs(read) > 1e-4).any()
    relative = encoding in ("rope", "alibi", "t5", "none")
    assert (np.abs(counted) < 1e-4).all() == relative


def test_padding_is_a_byte_that_no_text_has():
    parts = source_text.split()
    assert all(bytes([mistakes.PAD]) not in file.content for part in parts for file in part)


def test_the_fast_form(tmp_path, monkeypatch):
    (found,) = perform("mistakes", fast=True, work=tmp_path)["runs"]
    assert found["verdict"] == "not admitted"
    result = found["result"]
    kinds = {(case["mistake"], case["at"]) for case in result["cases"]}
    assert {("positions in bfloat16", at) for at in STARTS} <= kinds
    assert {("the other layout", 0), ("padding read", 2), ("padding counted", 2)} <= kinds
    for case in result["cases"]:
        assert len(case["wrong"]) == len(case["mended"]) == len(result["bytes"])
    monkeypatch.setattr(
        results, "runs", lambda name, **settings: [found, found | {"run": found["run"] | {"seed": 1}}]
    )
    assert mistakes.cost("all one ahead", "rope").verdict == "none"
    with pytest.raises(
        ValueError, match=r"no case 'layout' at 0 of 'rope'; the cases are: .*the other layout"
    ):
        mistakes.cost("layout", "rope")
