"""The pictures of chapter 8: what they draw has the properties that the page and the alt texts claim."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from posenc_course.figures import long_context
from posenc_course.figures.released import RELEASED
from posenc_lib import frequencies, layers_from_config

PUBLISHED = json.loads((Path(__file__).parents[1] / "rotated" / "published.json").read_text(encoding="utf-8"))


def test_the_arcs_are_shares_of_a_turn():
    """Pair j of 64 turns 10000^(-j/64) radians per position."""
    for pair, turned in ((20, True), (46, False), (63, False)):
        seen, longer = long_context.arcs_of(pair)
        assert longer == pytest.approx(math.tau)
        assert seen == pytest.approx(math.tau if turned else 4095 * 10_000 ** (-pair / 64))


def test_a_map_hides_what_comes_after_the_query():
    for found in (
        long_context.self_extend_map(20, group=3, window=6),
        long_context.dual_chunk_map(20, chunk=6, window=4),
    ):
        assert (found[np.triu_indices(20, 1)] == -1).all()
        assert (np.diagonal(found) == 0).all()


def test_the_alt_text_says_how_far_each_map_reaches():
    alt = long_context.position_maps(24).alt
    assert f"up to {23 // 3 + 6 - 2}." in alt
    assert f"above {6 + 4 - 1}." in alt


def test_the_curves_are_as_their_alt_text_says():
    plain = frequencies(128, base=500_000.0)
    slower = {
        name: plain / frequencies(128, base=500_000.0, scaling=rule)
        for name, (rule, *_) in long_context.RULES.items()
    }
    assert np.allclose(slower["PI"], 8)
    assert (np.diff(slower["NTK"]) > 0).all()
    assert slower["NTK"][[0, -1]] == pytest.approx([1, 8])
    assert slower["YaRN"][18] == pytest.approx(1)
    assert slower["YaRN"][20] > 1.01
    assert slower["Llama 3"][28] == pytest.approx(1)
    assert slower["Llama 3"][30] > 1.01
    for name in ("YaRN", "Llama 3"):
        assert slower[name][35:] == pytest.approx(8)


@pytest.mark.parametrize("name", [name for name in RELEASED if name not in {"Cohere 2", "Kimi Linear"}])
def test_an_excerpt_says_what_the_published_file_says(name):
    """Of the two that are left out, `published.json` has no file: one excerpt, and one default."""
    model, config = RELEASED[name]
    assert layers_from_config(config) == layers_from_config(PUBLISHED[model]["config"])


def test_every_kind_of_layer_is_told_apart():
    seen = {long_context.kind_of(layer) for layers in long_context.all_layers().values() for layer in layers}
    assert seen == set(long_context.KINDS)
    rows = long_context.layers_of_models(8).alt
    assert "Llama 4: tttottto" in rows
    assert "Qwen3-Next: ---T---T" in rows
    assert "Ministral 3: TTTTTTTT" in rows
