"""The pictures of the experiments are drawn from the stored results, every seed of them."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from posenc_lib.experiments import results
from posenc_lib.figures import experiments as pictures

PICTURES = {
    "length-generalisation": pictures.length_generalisation,
    "does-order-matter": pictures.does_order_matter,
    "position-read-out": pictures.position_read_out,
    "goldilocks": pictures.goldilocks,
    "aliasing": pictures.aliasing,
    "signals": pictures.signals,
    "field-by-band": pictures.field_by_band,
    **{name: lambda name=name: pictures.damage(name) for name in ("padding-leak", "left-padding")},
    **{name: lambda name=name: pictures.damage(name) for name in ("layout", "bfloat16")},
}


@pytest.fixture
def copied_results(tmp_path, monkeypatch):
    """A copy of the stored results whose every number of a result is a little less."""

    def less(part):
        if isinstance(part, dict):
            return {key: less(value) for key, value in part.items()}
        if isinstance(part, list):
            return [less(value) for value in part]
        return 0.9 * part if isinstance(part, float) else part

    for path in results.FOLDER.glob("*.json"):
        found = json.loads(path.read_text(encoding="utf-8"))
        for each in found["runs"]:
            each["result"] = less(each["result"])
        (tmp_path / path.name).write_text(json.dumps(found), encoding="utf-8")

    def use():
        monkeypatch.setattr(results, "FOLDER", tmp_path)
        results.stored.cache_clear()

    yield use
    results.stored.cache_clear()


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_drawn_from_the_stored_numbers(name, copied_results):
    before = PICTURES[name]()
    assert "currentColor" in before.svg
    assert "nan" not in before.alt
    copied_results()
    after = PICTURES[name]()
    assert after.svg != before.svg
    assert after.alt != before.alt


@pytest.mark.parametrize("name", ["goldilocks", "length-generalisation", "left-padding", "field-by-band"])
def test_lines_differ_by_dash_and_marker_too(name):
    svg = PICTURES[name]().svg
    assert "stroke-dasharray" in svg
    markers = set(re.findall(r'<path id="p\w+-m\w+" d="([^"]+)"', svg))
    assert len(markers) >= 2


def test_every_seed_has_a_marker():
    svg = pictures.does_order_matter().svg
    seeds = len({each["run"]["seed"] for each in results.stored("does-order-matter")["runs"]})
    assert seeds >= 3
    markers = re.findall(r'<use [^>]*style="fill-opacity: 0; stroke: #', svg)
    assert len(markers) == 12 * seeds  # three tasks, four models


def test_the_alt_text_of_the_sweep_says_the_means():
    found = results.runs("goldilocks", ratio=1.0)
    mean = 100 * np.mean([each["result"]["where"] for each in found])
    assert f"{mean:.0f}" in re.search(r"where is this symbol\? ([\d, ]+)\.", pictures.goldilocks().alt)[1]


def test_one_wave_confuses_what_lies_44_apart():
    assert "the most confused is 44," in pictures.aliasing(1).alt
    assert "the most confused is 44," in pictures.aliasing(1, content=0.0).alt


def test_damage_refuses_what_is_no_mistake():
    with pytest.raises(ValueError, match="'right-padding' is unknown; give one of 'padding-leak'"):
        pictures.damage("right-padding")
