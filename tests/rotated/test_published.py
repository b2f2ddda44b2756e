"""The config.json files of published models are read right, layer by layer, or refused in words."""

from __future__ import annotations

import copy
import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from posenc_lib.rotated import LayerPositions, layers_from_config, rope_from_config
from posenc_lib.rotated.config_reading import Given
from tests.rotated.published import PUBLISHED, turns

LENGTHS = (1000, 100_000)
"""A text that every model was trained for, and one beyond where the rules "dynamic" and "longrope" switch."""

WITHOUT_ATTENTION = {"linear_attention", "conv", "moe", "mlp"}


def test_what_is_published() -> None:
    """Enough of them, each with a source, and an answer for every layer."""
    read = [name for name, case in PUBLISHED.items() if "default" not in case["from"]]
    assert len(read) >= 80
    for name, case in PUBLISHED.items():
        config, answer = case["config"], case["answer"]
        text = config.get("text_config", config.get("thinker_config", {}).get("text_config", config))
        counts = ("num_hidden_layers", "num_layers", "encoder_num_hidden_layers")
        assert len(answer["layers"]) == next(text[key] for key in counts if key in text), name
        assert set(answer["layers"]) == set(answer["kinds"]), name
        assert case["from"], name
        assert answer["by"], name


@pytest.mark.parametrize("name", [name for name, case in PUBLISHED.items() if "family" in case])
def test_a_family_that_is_not_known_is_refused_until_it_is_named(name: str) -> None:
    for read in (layers_from_config, rope_from_config):
        with pytest.raises(ValueError, match="family="):
            read(PUBLISHED[name]["config"], length=LENGTHS[0])


@pytest.mark.parametrize("name", PUBLISHED)
def test_one_rotation_is_that_of_the_layers(name: str) -> None:
    """`rope_from_config` gives what the layers of that kind have, and refuses where there is none or more."""
    case = PUBLISHED[name]
    options: dict[str, Any] = {"length": LENGTHS[0], "family": case.get("family")}
    layers = layers_from_config(case["config"], **options)
    by_kind: dict[str, set[Any]] = {}
    for layer in layers:
        by_kind.setdefault(layer.kind, set()).update({layer.rope} - {None})
    for kind, ropes in by_kind.items():
        if len(ropes) == 1:
            assert rope_from_config(case["config"], layer_type=kind, **options) in ropes
        else:
            with pytest.raises(ValueError, match=r"rotate"):
                rope_from_config(case["config"], layer_type=kind, **options)
    ropes = set().union(*by_kind.values())
    if len(ropes) == 1:
        assert rope_from_config(case["config"], **options) in ropes
    else:
        with pytest.raises(ValueError, match=r"rotate|layer_type"):
            rope_from_config(case["config"], **options)


@pytest.mark.parametrize("name", PUBLISHED)
def test_layers_that_are_read_once_are_what_they_are_one_by_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, family = PUBLISHED[name]["config"], PUBLISHED[name].get("family")
    once = layers_from_config(config, length=LENGTHS[0], family=family)
    monkeypatch.setattr(Given, "_alike", lambda _: False)
    assert once == layers_from_config(config, length=LENGTHS[0], family=family)


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_config_is_read_right(name: str) -> None:
    case = PUBLISHED[name]
    letters, kinds = case["answer"]["layers"], case["answer"]["kinds"]
    for length in LENGTHS:
        layers = layers_from_config(case["config"], length=length, family=case.get("family"))
        assert [layer.index for layer in layers] == list(range(len(letters)))
        for letter, kind in kinds.items():
            alike = [layer for layer, its in zip(layers, letters, strict=True) if its == letter]
            if not kind.get("attends", True):
                assert {layer.kind for layer in alike} <= WITHOUT_ATTENTION
                assert not any(layer.rotates for layer in alike)
                continue
            assert {dataclasses.replace(layer, index=0) for layer in alike} == {
                dataclasses.replace(alike[0], index=0)
            }
            compare(alike[0], kind, length)


@pytest.mark.parametrize("name", PUBLISHED)
def test_length_is_asked_for_where_it_counts(name: str) -> None:
    case = PUBLISHED[name]
    rules = {kind.get("rule", {}).get("type") for kind in case["answer"]["kinds"].values()}
    if rules & {"dynamic", "longrope"}:
        with pytest.raises(ValueError, match="length"):
            layers_from_config(case["config"], family=case.get("family"))
    else:
        found = [
            layers_from_config(case["config"], length=length, family=case.get("family"))
            for length in (None, *LENGTHS)
        ]
        assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    "name", [name for name, case in PUBLISHED.items() if "text_config" in case["config"]]
)
def test_the_part_that_reads_says_the_same_alone(name: str) -> None:
    config = PUBLISHED[name]["config"]
    kept = copy.deepcopy(config)
    assert layers_from_config(config["text_config"]) == layers_from_config(config)
    assert config == kept


def image_parts() -> list[Any]:
    found = {name: case["config"].get("thinker_config", case["config"]) for name, case in PUBLISHED.items()}
    return [
        pytest.param(part, id=name)
        for name, config in found.items()
        if (part := config.get("vision_config")) is not None
    ]


@pytest.mark.parametrize("part", image_parts())
def test_the_part_that_sees_is_not_read_as_text(part: dict[str, Any]) -> None:
    """Given alone, it is refused, unless it is known not to rotate (SigLIP)."""
    try:
        layers = layers_from_config(part, length=LENGTHS[0])
    except ValueError:
        return
    assert part["model_type"] in ("siglip_vision_model", "siglip2_vision_model")
    assert not any(layer.rotates for layer in layers)


def compare(layer: LayerPositions, kind: dict[str, Any], length: int) -> None:
    """Assert that a layer is what its model makes of it."""
    assert layer.rotates == kind["rotates"]
    if layer.rope is not None:
        rope = layer.rope
        if kind.get("rule", {}).get("type") != "alpha":  # which may be taken for a larger base
            assert rope.base == kind["base"]
        assert rope.rotary_dim == kind["rotary_dim"]
        assert rope.head_dim == (kind["rotary_dim"] if kind.get("trailing") else kind["head_dim"])
        assert rope.layout == kind["layout"]
        if kind.get("sections") != "any":
            assert rope.sections == (tuple(kind["sections"]) if kind.get("sections") else None)
            assert rope.sections_interleaved == kind.get("sections_interleaved", False)
        tables = rope.tables(np.asarray([1.0]), dtype=np.float64)
        np.testing.assert_allclose(np.arctan2(tables.sin, tables.cos)[0], turns(kind, length), rtol=1e-9)
        np.testing.assert_allclose(np.hypot(tables.sin, tables.cos), kind.get("attention_factor", 1.0))
    assert layer.window == (kind["window"] // 2 + 1 if kind.get("both") else kind.get("window"))
    if layer.softmax_scale is not None or kind["rotates"]:
        assert layer.softmax_scale == pytest.approx(kind["softmax"])
    if kind["rotates"]:
        width = kind.get("width", kind["head_dim"])
        assert layer.softmax_factor == pytest.approx(kind["softmax"] * math.sqrt(width))
    positions = np.asarray([0, 4095, 4096, 8191, 8192, 16383, 16384, 100_000])
    if (expected := kind.get("temperature")) is None:
        assert layer.temperature is None or np.all(layer.temperature(positions) == 1)
    else:
        assert layer.temperature is not None
        steps = [math.floor((p + expected["offset"]) / expected["length"]) for p in positions]
        factors = [1 + expected["beta"] * math.log(1 + step) for step in steps]
        np.testing.assert_allclose(layer.temperature(positions), factors)
