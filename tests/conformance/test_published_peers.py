"""What `published.json` says of a model is what transformers makes of its config."""

from __future__ import annotations

import importlib
import json
import re
from typing import Any

import numpy as np
import pytest
import torch

from posenc_lib.rotated import layers_from_config
from tests.present import present
from tests.rotated.published import PUBLISHED, turns

transformers = pytest.importorskip("transformers")

SMALL = {
    "vocab_size": 64,
    "pad_token_id": 0,
    "intermediate_size": 32,
    "moe_intermediate_size": 32,
    "num_experts": 2,
    "num_local_experts": 2,
    "n_routed_experts": 2,
    "moe_num_experts": 2,
    "num_experts_per_tok": 1,
    "n_group": 1,
    "topk_group": 1,
    "vocab_size_per_layer_input": 64,
    "hidden_size_per_layer_input": 4,
}
"""What has nothing to do with positions, and makes a model slow to build."""

NOT_FOUND_BY_AUTO_MODEL = {
    "ernie4_5_vl_moe": "Ernie4_5_VLMoeTextModel",
    "mllama": "MllamaTextModel",
    "qwen2_5_omni": "Qwen2_5OmniThinkerTextModel",
}

COMPARABLE = [
    name
    for name, case in PUBLISHED.items()
    if case["config"].get("model_type") in transformers.CONFIG_MAPPING
    and name != "THUDM/GLM-4.1V-9B-Thinking"  # transformers 5 does not read that file's flat form
]


def _model(config: dict[str, Any]) -> Any:
    """The text part of the model, with no weights."""
    family = config["model_type"]
    whole = transformers.CONFIG_MAPPING[family].from_dict(json.loads(json.dumps(config)))
    text = getattr(whole, "thinker_config", whole)
    text = text if family == "whisper" else text.get_text_config(decoder=True)
    for key, value in SMALL.items():
        if isinstance(getattr(text, key, None), int):
            setattr(text, key, value)
    with torch.device("meta"):
        if family in NOT_FOUND_BY_AUTO_MODEL:
            module = importlib.import_module(f"transformers.models.{family}.modeling_{family}")
            return getattr(module, NOT_FOUND_BY_AUTO_MODEL[family])(text)
        return transformers.AutoModel.from_config(text)


def _rotations(model: Any) -> list[tuple[np.ndarray, float]]:
    """Every table of frequencies that the model has, with its attention factor."""
    found = []
    for name, module in model.named_modules():
        if "Rotary" in type(module).__name__ and "compressor" not in name:
            made = type(module)(module.config)
            for buffer, values in made.named_buffers():
                if buffer.endswith("inv_freq") and "original" not in buffer:
                    factor = getattr(made, buffer.removesuffix("inv_freq") + "attention_scaling")
                    found.append((values.double().numpy(), float(factor)))
    return found


def _attentions(model: Any) -> dict[int, Any]:
    """The first softmax attention of each layer of the (last) stack of layers."""
    found: dict[int, Any] = {}
    for name, module in model.named_modules():
        kind = type(module).__name__
        at = re.search(r"(?<!encoder\.)layers?\.(\d+)\.", name + ".")
        softmax = hasattr(module, "is_causal") or hasattr(module, "scaling")
        if at and softmax and "Attention" in kind and "Delta" not in kind:
            found.setdefault(int(at[1]), module)
    return found


def _window(attention: Any) -> int | None:
    return attention.sliding_window if getattr(attention, "is_sliding", True) else None


@pytest.mark.peers
@pytest.mark.parametrize("name", COMPARABLE)
def test_transformers_makes_the_same_of_it(name: str) -> None:
    config, answer = PUBLISHED[name]["config"], PUBLISHED[name]["answer"]
    model = _model(config)
    rotations = _rotations(model)
    for kind in answer["kinds"].values():
        if (
            kind["rotates"] and config["model_type"] != "ernie4_5_vl_moe"
        ):  # it keeps its pairs in another order
            expected, factor = turns(kind, 1000), kind.get("attention_factor", 1.0)
            assert any(
                len(found) == len(expected)
                and np.allclose(found, expected, rtol=2e-6, atol=0)
                and found_factor == pytest.approx(factor)
                for found, found_factor in rotations
            )
    assert bool(rotations) == any(kind["rotates"] for kind in answer["kinds"].values())
    attentions = _attentions(model)
    for layer, letter in enumerate(answer["layers"]):
        kind = answer["kinds"][letter]
        assert (layer in attentions) == kind.get("attends", True)
        attention = attentions.get(layer)
        if hasattr(attention, "scaling"):
            assert present(attention).scaling == pytest.approx(kind["softmax"])
        if hasattr(attention, "sliding_window"):
            both_sides = kind.get("both", False)
            expected_window = kind["window"] // 2 + 1 if both_sides else kind.get("window")
            assert _window(attention) == expected_window
        if hasattr(attention, "use_rope"):
            assert bool(present(attention).use_rope) == kind["rotates"]


@pytest.mark.peers
@pytest.mark.parametrize("name", COMPARABLE)
def test_its_config_object_says_the_same_as_the_file(name: str) -> None:
    """transformers renames keys, nests them and fills in defaults; the layers stay what they are."""
    config = PUBLISHED[name]["config"]
    config_object = transformers.CONFIG_MAPPING[config["model_type"]].from_dict(
        json.loads(json.dumps(config))
    )
    assert layers_from_config(config_object, length=1000) == layers_from_config(config, length=1000)
