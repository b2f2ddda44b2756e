"""The pictures of counting: every way and every seed is drawn, and what is told is what is stored."""

from __future__ import annotations

import pytest

from posenc_course.experiments.results import runs, stored
from posenc_course.figures import counting


def test_every_way_and_every_order_is_on_the_first():
    alt = counting.by_order().alt
    for each in stored("counting")["runs"]:
        way, result = each["run"]["way"], each["result"]
        if way in counting.WAYS:
            told = ", ".join(f"{loss:.2f}" for loss in result["loss"])
            assert f"{each['run']['learn']:,} bytes, {counting.WAYS[way]}, orders 2 to 8: {told}." in alt
        elif way in counting.COMPRESSORS:
            assert f"{each['run']['learn']:,} bytes, {way}, whole files: {result['loss']:.2f}." in alt


@pytest.mark.parametrize("name", counting.MODELS)
def test_models_are_drawn_beside_what_counted_the_same_bytes(name):
    models = runs("byte-models", encoding=name)
    counted = counting.found("Kneser-Ney", models[0]["run"]["learn"])
    assert counted["bytes"] == models[0]["result"]["trained"]["by_file"]["bytes"]
    first = sum(each["result"]["trained"]["by_position"][0] for each in models) / len(models)
    assert f"{counting.MODELS[name]}: from {first:.2f}" in counting.by_place().alt
