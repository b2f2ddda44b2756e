"""Temperatures that grow with log length: by hand, and what they keep as a text grows."""

from __future__ import annotations

import array_api_strict as strict
import numpy as np
import pytest
import torch

from posenc_lib import attention
from posenc_lib.rotated import QueryTemperature

AT = np.asarray([0, 1, 7, 63, 64, 511, 10_000_000])


def test_the_formulas_by_hand():
    log = np.log(AT + 1.0)
    np.testing.assert_allclose(QueryTemperature("log", 1.0, 512)(AT), log / np.log(512), rtol=1e-14)
    assert QueryTemperature("log", 1.0, 512)(AT)[-2] == pytest.approx(1)
    np.testing.assert_allclose(QueryTemperature("log", 0.43, np.e)(AT), 0.43 * log, rtol=1e-14)
    clipped = QueryTemperature("clipped log", 1.0, 64)(AT)
    np.testing.assert_allclose(clipped, [1, 1, 1, 1, *(log[4:] / np.log(64))], rtol=1e-14)
    steps = QueryTemperature("llama4", 0.1, 64)(AT)
    np.testing.assert_allclose(steps, 1 + 0.1 * np.log(1 + (AT + 1) // 64), rtol=1e-14)


def test_with_it_a_matching_key_keeps_its_weight_however_many_others_there_are():
    """One key at a score of 4, all others at 0: without the factor its weight falls as 1 / n."""
    temperature = QueryTemperature("log", 1.0, 16)
    weights: list[float] = []
    plain: list[float] = []
    for keys in (16, 256, 65_536):
        factor = temperature(np.asarray([keys - 1.0]))[:, None]
        k = np.zeros((keys, 1))
        k[3] = 4.0
        for into, q in ((weights, factor), (plain, np.ones((1, 1)))):
            into.append(attention(q, k, k, return_weights=True)[1][0, 3])
    assert min(weights) > 0.77
    assert weights == sorted(weights)
    assert plain[-1] < 1e-3


@pytest.mark.parametrize("to", [torch.as_tensor, strict.asarray], ids=["torch", "strict"])
@pytest.mark.parametrize("formula", ["log", "clipped log"])
def test_every_library_gives_what_numpy_gives(to, formula):
    temperature = QueryTemperature(formula, 1.5, 64.0)
    assert isinstance(temperature(to(AT)), type(to(AT)))
    np.testing.assert_allclose(np.asarray(temperature(to(AT))), temperature(AT), rtol=1e-14)
