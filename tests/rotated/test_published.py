"""The config.json files of published models are read right, layer by layer, or refused in words."""

from __future__ import annotations

from tests.rotated.published import PUBLISHED


def test_what_is_published() -> None:
    """Enough of them, each with a source, and an answer for every layer."""
    read = [name for name, case in PUBLISHED.items() if "default" not in case["from"]]
    assert len(read) >= 80
    for name, case in PUBLISHED.items():
        config, answer = case["config"], case["answer"]
        text = config.get("text_config", config.get("thinker_config", {}).get("text_config", config))
        layers = next(
            text[k] for k in ("num_hidden_layers", "num_layers", "encoder_num_hidden_layers") if k in text
        )
        assert len(answer["layers"]) == layers, name
        assert set(answer["layers"]) == set(answer["kinds"]), name
        assert case["from"], name
        assert answer["by"], name
