"""Configs that leave keys out, or have keys that their family does not read, against transformers' classes.

Our answer to the raw dict is compared with what that class makes of the same dict.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from transformers.masking_utils import create_sliding_window_causal_mask

from posenc_lib import window_mask
from posenc_lib.rotated import LayerPositions, layers_from_config
from posenc_lib.rotated.families import FAMILIES, PART_DEFAULTS, WHOLES
from tests.conformance.tiny_models import configs, shrunk
from tests.present import present

USED = {"use_sliding_window": True}
SLIDING, FULL = "sliding_attention", "full_attention"


def theirs(raw: dict[str, Any]) -> Any:
    return transformers.CONFIG_MAPPING[raw["model_type"]].from_dict(copy.deepcopy(raw))


def ours(raw: dict[str, Any]) -> tuple[LayerPositions, ...]:
    """As a part of a larger config, which may leave its sizes out."""
    return layers_from_config({"model_type": "llava", "text_config": raw})


# ---- kinds of layers

KINDS: list[tuple[str, int, dict[str, Any]]] = [
    *((name, 30, USED) for name in ("qwen2", "qwen3", "qwen2_5_omni_text", "qwen2_5_omni_talker")),
    *((name, 30, {**USED, "max_window_layers": 3}) for name in ("qwen2", "qwen3", "qwen2_vl_text")),
    *((name, 82, USED) for name in ("qwen2_vl_text", "qwen2_5_vl_text")),
    ("qwen2", 4, {**USED, "max_window_layers": 0}),
    ("qwen2", 4, {**USED, "max_window_layers": 0, "sliding_window": None}),
    ("qwen2", 4, {"max_window_layers": 0}),
    ("deepseek_ocr2_encoder", 30, USED),
    ("qwen2_moe", 30, USED),
    ("qwen2_moe", 6, {**USED, "max_window_layers": 3}),
    ("qwen2_moe", 6, {}),
    ("qwen3_omni_moe_talker_code_predictor", 30, {"sliding_window": 64}),
    ("qwen3_omni_moe_talker_code_predictor", 4, {"max_window_layers": 2}),
    ("dots1", 64, {}),
    ("dots1", 4, {"sliding_window": 64, "max_window_layers": 2}),
    ("dots1", 4, {"sliding_window": 64, "max_window_layers": 2, "use_sliding_window": False}),
    ("dots1", 4, {"sliding_window": None, "max_window_layers": 2}),
    ("smollm3", 8, {**USED, "sliding_window": 64}),
    ("smollm3", 8, {**USED, "sliding_window": 64, "no_rope_layer_interval": 3}),
    ("smollm3", 4, {**USED, "sliding_window": 64, "no_rope_layers": [0, 1, 1, 0]}),
    ("smollm3", 8, USED),
    ("smollm3", 8, {"sliding_window": 64}),
    *(
        (name, layers, changes)
        for name in ("gemma4_text", "gemma4_unified_text", "diffusion_gemma_text", "embedding_gemma2_text")
        for layers, changes in ((8, {}), (12, {}), (1, {}), (3, {"layer_types": [SLIDING] * 3}))
    ),
    ("embedding_gemma2_text", 7, {"sliding_window_pattern": 3}),
    ("gemma4_text", 7, {"sliding_window_pattern": 3}),
]


@pytest.mark.parametrize(("name", "layers", "changes"), KINDS)
def test_the_kinds_of_layers(name: str, layers: int, changes: dict[str, Any]) -> None:
    raw = {"model_type": name, "num_hidden_layers": layers, **changes}
    made = theirs(raw)
    assert [layer.kind for layer in ours(raw)] == made.layer_types
    assert ours(raw) == layers_from_config(made)


@pytest.mark.parametrize(
    "raw",
    [
        {"model_type": "zamba"},
        {"model_type": "zamba", "num_hidden_layers": 20, "attn_layer_period": 4, "attn_layer_offset": 1},
        {"model_type": "zamba", "num_hidden_layers": 3},
        {"model_type": "glm5_next_text"},
    ],
)
def test_the_kinds_of_layers_that_do_not_rotate(raw: dict[str, Any]) -> None:
    made = theirs(raw)
    layers = layers_from_config({"num_hidden_layers": made.num_hidden_layers, **raw})
    assert [layer.kind for layer in layers] == made.layer_types
    assert not any(layer.rotates for layer in layers)


@pytest.mark.parametrize("window", [{}, {"sliding_window": 64}, {"sliding_window": None}])
@pytest.mark.parametrize("used", [{}, {"use_sliding_window": False}, USED])
def test_qwen3_moe_has_a_window_where_it_is_used(window: dict[str, Any], used: dict[str, Any]) -> None:
    raw = {"model_type": "qwen3_moe", "num_hidden_layers": 2, **window, **used}
    made = theirs(raw)
    assert [layer.window for layer in ours(raw)] == [made.sliding_window] * 2
    assert [layer.kind for layer in ours(raw)] == [SLIDING if made.sliding_window else FULL] * 2
    assert ours(raw) == layers_from_config(made)


def test_gemma_4_is_read_wide_in_its_last_layer() -> None:
    last = ours({"model_type": "gemma4_text", "num_hidden_layers": 2, "layer_types": [SLIDING] * 2})[-1]
    assert (last.window, present(last.rope).head_dim, present(last.rope).base) == (None, 512, 1e6)


# ---- windows that look both ways

BOTH_WAYS = ("gemma4_text", "gemma4_unified_text", "diffusion_gemma_text")


@pytest.mark.parametrize("name", BOTH_WAYS)
@pytest.mark.parametrize("window", [6, 7])
def test_a_window_on_both_sides_is_the_models(name: str, window: int) -> None:
    """In the mask, and in the first layer's outputs: one token is changed, and what changes saw it."""
    raw = {"sliding_window": window, "use_bidirectional_attention": "all", "num_hidden_layers": 2}
    layer, _ = ours({"model_type": name, **raw})
    assert layer.window is not None
    expected = window_mask(20, 20, layer.window, causal=False)
    tiny = shrunk(configs()[name], attn_implementation="eager", **raw)
    places, empty = torch.arange(20)[None], torch.zeros(1, 20, 8)
    mask = create_sliding_window_causal_mask(tiny, empty, None, cache=None, position_ids=places)
    np.testing.assert_array_equal(mask[0, 0] == 0, expected)
    if name != "diffusion_gemma_text":  # no model of its own reads this config
        np.testing.assert_array_equal(seen_by(tiny), expected[:, 10])


def seen_by(config: Any) -> torch.Tensor:
    """(20,) whose output of the first layer changes with token 10."""
    torch.manual_seed(0)
    model = transformers.AutoModel.from_config(config).double().eval()
    torch.nn.init.zeros_(model.layers[0].self_attn.q_norm.weight)  # no score is so low that its softmax is 0
    before = torch.arange(20)[None] + 3
    after = before.clone()
    after[0, 10] = 39
    with torch.no_grad():
        one, other = (model(tokens, output_hidden_states=True).hidden_states[1] for tokens in (before, after))
    return (one - other).abs().amax(-1)[0] > 1e-12


# ---- bases

COMPRESSED = {
    SLIDING: "main",
    "compressed_sparse_attention": "compress",
    "heavily_compressed_attention": "compress",
}
"""How DeepSeek-V4 calls the rope parameters of these kinds."""


@pytest.mark.parametrize(
    ("raw", "labels"),
    [
        ({"model_type": "modernbert", "rope_theta": 500.0}, {}),
        ({"model_type": "modernbert-decoder", "rope_theta": 500.0}, {}),
        ({"model_type": "modernbert", "global_rope_theta": 700.0, "local_rope_theta": 500.0}, {}),
        (
            {
                "model_type": "modernbert",
                "global_rope_theta": 700.0,
                "rope_parameters": {kind: {"rope_type": "default"} for kind in (SLIDING, FULL)},
            },
            {},
        ),
        *(
            (
                {"model_type": "deepseek_v4", "compress_ratios": [0, 4, 128], "num_hidden_layers": 3, **base},
                COMPRESSED,
            )
            for base in ({}, {"rope_theta": 500.0}, {"compress_rope_theta": 700.0}, {"rope_theta": 5e5})
        ),
    ],
)
def test_the_base_of_each_kind_of_layer(raw: dict[str, Any], labels: dict[str, str]) -> None:
    made = theirs(raw).rope_parameters
    for layer in ours(raw):
        expected = made[labels.get(layer.kind, layer.kind)]["rope_theta"]
        assert present(layer.rope).base == expected, layer


@pytest.mark.parametrize("name", ["gpt_neox", "gpt_neox_japanese"])
@pytest.mark.parametrize("bases", [{"rope_theta": 500.0}, {"rope_theta": 500.0, "rotary_emb_base": 700}])
def test_gpt_neox_reads_one_key_of_its_base(name: str, bases: dict[str, Any]) -> None:
    raw = {"model_type": name, **bases}
    expected = theirs(raw).rope_parameters["rope_theta"]
    assert {present(layer.rope).base for layer in ours(raw)} == {expected}


# ---- parts of larger models


def test_what_a_text_part_leaves_out_is_the_wholes() -> None:
    """Most have their family's own; where the whole has others in its place, these count."""
    compared = 0
    for name, (path, inner) in WHOLES.items():
        if path != "text_config" or inner not in FAMILIES or name not in transformers.CONFIG_MAPPING:
            continue
        raw = {"model_type": name, "text_config": {"model_type": inner}}
        try:
            made, read = theirs(raw).text_config, layers_from_config(raw)
        except (ValueError, StrictDataclassError):  # one of the two refuses it
            assert name not in PART_DEFAULTS
            continue
        assert read == layers_from_config(made), name
        compared += 1
    assert compared > 80


@pytest.mark.parametrize("name", PART_DEFAULTS)
def test_what_a_text_part_says_counts_before_the_wholes(name: str) -> None:
    said = {
        "hidden_size": 64,
        "num_attention_heads": 8,
        "num_hidden_layers": 3,
        "max_position_embeddings": 99,
    }
    raw = {"model_type": name, "text_config": said}
    made = theirs(raw).text_config
    assert layers_from_config(raw) == layers_from_config(made)
    for key, value in PART_DEFAULTS[name].items():
        if key not in {*said, "rope_theta"}:
            assert getattr(made, key) == value, key


def test_voxtrals_base() -> None:
    raw = {"model_type": "voxtral", "text_config": {"model_type": "llama"}}
    layers = layers_from_config(raw)
    assert len(layers) == 30
    assert {(present(layer.rope).base, present(layer.rope).head_dim) for layer in layers} == {(1e8, 128)}


# ---- scales


@pytest.mark.parametrize("head_dim", [32, 64, 128])
@pytest.mark.parametrize(
    ("name", "key", "power"),
    [("hyperclovax", "attention_multiplier", 1), ("step3p5", "query_pre_attn_scalar", -0.5)],
)
def test_a_scale_that_is_left_out_is_that_of_the_heads(
    name: str, key: str, power: float, head_dim: int
) -> None:
    raw = {"model_type": name, "head_dim": head_dim, "num_hidden_layers": 1}
    for given in ({}, {key: None}, {key: 0.25}):
        (layer,) = ours({**raw, **given})
        expected = getattr(theirs({**raw, **given}), key) ** power
        assert layer.softmax_scale == pytest.approx(expected, rel=1e-12)
