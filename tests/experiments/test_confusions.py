"""Confusions: the best reader is the best there is, and a model that is far from it does not pass."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from posenc_course.experiments import confusions
from posenc_course.experiments.lab import perform
from posenc_lib import sinusoidal


def test_the_best_reader_is_bayes_on_a_case_worked_out_one_by_one():
    generator = torch.Generator().manual_seed(0)
    encodings = torch.randn(5, 3, generator=generator)
    tokens = torch.randn(40, 2, 3, generator=generator)
    noise = 0.8

    def density(token, place):
        return np.exp(-np.sum((token - encodings[place].numpy()) ** 2) / (2 * noise**2))

    wanted = []
    for first, second in tokens.numpy():
        likelihoods = [
            np.mean([density(first, p) * density(second, p + d) for p in range(5 - d)]) for d in range(5)
        ]
        wanted.append(int(np.argmax(likelihoods)))
    assert confusions.best_reader(tokens, encodings, noise).tolist() == wanted
    assert len(set(wanted)) > 2


def best(pairs, noise):
    encodings = confusions.FewWaves(pairs).add(torch.zeros(1, confusions.PLACES, 64), confusions.PLACES)[0]
    places = torch.tensor([(p, p + d) for d in range(64) for p in range(64 - d)])
    noises = noise * torch.randn(len(places), 2, 64, generator=torch.Generator().manual_seed(0))
    said = confusions.best_reader(encodings[places] + noises, encodings, noise)
    return confusions._shares(places, said)


def test_one_wave_is_taken_for_itself_44_places_on_and_more_waves_are_no_cure_in_noise():
    one = confusions._by_offset(best(1, 0.1))
    assert int(one.argmax()) + 1 == 44
    right = {pairs: confusions._right(best(pairs, 0.5)) for pairs in (1, 8, 32)}
    assert right[1] < 0.5
    assert right[8] > right[32] + 0.1


def test_confusions_are_counted_by_offset():
    places = torch.tensor([(p, p + d) for d in range(64) for p in range(64 - d)])
    distances = places[:, 1] - places[:, 0]
    shares = confusions._shares(places, torch.where(distances == 10, 54, distances))
    assert confusions._right(shares) == pytest.approx(63 / 64)
    by_offset = confusions._by_offset(shares)
    assert by_offset[43] == pytest.approx(
        1 / (2 * (confusions.PLACES - 44))
    )  # one of the pairs 44 apart, both ways round
    assert by_offset.count_nonzero() == 1


def test_the_fast_form(tmp_path):
    (found,) = perform("confusions", fast=True, work=tmp_path)["runs"]
    result = found["result"]
    assert 1 / confusions.PLACES < result["accuracy"] < result["best"] < 1
    assert found["verdict"] == "not admitted"
    assert "where the best possible reader has" in found["reason"]
    assert confusions.shortfall({}, {"accuracy": 0.45, "best": 0.5, "steps": 1}) is None
    assert confusions.shortfall({}, {"accuracy": 0.44, "best": 0.5, "steps": 1})


@pytest.mark.parametrize("pairs", [1, 4, 32])
def test_few_waves_are_as_long_as_all(pairs):
    x = torch.zeros(1, 64, 64)
    added = confusions.FewWaves(pairs).add(x, 64)[0].numpy()
    np.testing.assert_allclose(np.linalg.norm(added, axis=-1), math.sqrt(32), rtol=1e-5)
    wanted = math.sqrt(32 / pairs) * sinusoidal(64, 2 * pairs)
    np.testing.assert_allclose(added[:, : 2 * pairs], wanted, atol=1e-5)
    assert not added[:, 2 * pairs :].any()


def test_correlation_of_what_does_not_vary_is_none():
    rising = torch.arange(5.0)
    assert confusions.correlation(rising, 2 * rising + 1) == pytest.approx(1)
    assert confusions.correlation(torch.zeros(5), rising) is None
