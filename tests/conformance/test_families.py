"""Every family of transformers: its default config is read right, or refused in words.

What is right is never taken from our table of families, but from transformers: its rotary modules, and tiny
models whose queries and keys are caught on their way into attention.
"""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from posenc_lib import frequencies, window_mask
from posenc_lib.rotated import (
    LayerPositions,
    RopeSettings,
    axial_tables,
    layers_from_config,
    rope_from_config,
    rotary_tables,
    rotate,
)
from posenc_lib.rotated.families import FAMILIES, IMAGES, UNROTATED, WHOLES
from posenc_lib.rotated.tables import Layout
from tests.conformance.tiny_models import LAYERS, POSITIONS, Pair, Seen, configs, masks, runs, shrunk
from tests.present import present

# fmt: off
MAIN = (
    "llama", "cohere2", "gemma3_text", "gemma4_text", "olmo3", "gpt_oss", "llama4_text", "mimo_v2_flash",
    "ministral3", "mistral4", "smollm3", "qwen3_next", "jamba", "nanochat", "glm4", "gpt_neox",
)
OTHERS = (
    "afmoe", "apertus", "apertus1p5_text", "arcee", "aria_text", "axk1", "beam", "bitnet",
    "blt_patcher", "cohere", "cohere2_moe", "cosmos3_edge_text", "cwm", "deepseek_v3", "diffllama",
    "doge", "dory", "emu3_text_model", "ernie4_5", "ernie4_5_vl_moe_text", "esmc", "eurobert", "exaone",
    "exaone4", "exaone_moe", "flex_olmo", "flint", "gemma", "gemma2", "gemma4_unified_text", "glm",
    "glm4_moe_lite", "glm_ocr_text", "granite", "granite4_vision_text", "granite_docling_text",
    "granite_swa", "granitemoe", "granitemoe_swa", "granitemoeshared", "gte", "helium",
    "higgs_audio_v2", "hy_v3", "hyperclovax", "jais2", "jetmoe", "jina_embeddings_v3", "kolibri1",
    "laguna", "lara_mini", "lfm2", "lfm3", "mellum", "minicpm3", "minimax", "minimax_m2",
    "minimax_m3_vl_text", "mistral", "mixtral", "mllama_text_model", "modernbert", "modernbert-decoder",
    "molmo2_text", "moshi", "muse_glimmer_text", "muse_spark_text", "neomme", "nomic_bert", "olmo",
    "olmo2", "olmo_hybrid", "olmoe", "paddleocr_vl_text", "persimmon", "phi", "phi3", "phimoe", "qwen2",
    "qwen2_5_omni_text", "qwen2_5_vl_text", "qwen2_moe", "qwen2_vl_text", "qwen3", "qwen3_5_moe_text",
    "qwen3_5_text", "qwen3_moe", "qwen3_vl_moe_text", "qwen3_vl_text", "sarvam_mla", "sarvam_moe",
    "seed_oss", "solar_open", "stablelm", "starcoder2", "step3p5", "ultrabert", "unlimited_ocr_text",
    "vaultgemma", "youtu",
)
# fmt: on
"""Families whose default config can be made tiny without knowing more of it."""

COUNT_THEMSELVES = {"llama4_text", "inkling_text"}
"""Models whose query temperature counts positions itself, whatever it is given."""

SCALED_BEFORE = {"openai_privacy_filter"}
"""Models whose queries and keys come scaled to attention, which then scales by 1."""


def test_every_family_is_known() -> None:
    """A model_type of transformers is in one table, or is refused by name."""
    tables = {**FAMILIES, **IMAGES, **WHOLES, **dict.fromkeys(UNROTATED)}
    unknown = set(configs()) - set(tables)
    for name in unknown:
        with pytest.raises(ValueError, match="is not in this library's table"):
            rope_from_config({"model_type": name})
    assert len(unknown) < 25, sorted(unknown)


def test_every_default_config_is_read_or_refused_in_words() -> None:
    read = 0
    for config in configs().values():
        for given in (config, config.to_dict()):
            try:
                settings = rope_from_config(given, length=9001)
            except ValueError:  # what is refused, and why, stands in tests/rotated/test_rope_config.py
                continue
            assert isinstance(settings, RopeSettings)
            assert settings == rope_from_config(config, length=9001)
            read += 1
    assert read > 300


# What stands in the way of a default config: sections that do not fit its pairs, an odd number of columns.
WITH_ODD_DEFAULTS = {
    "cohere_compass_text",
    "glm4_moe",
    "glm4v_moe_text",
    "glm4v_text",
    "glm_image_text",
    "qwen3_omni_moe_talker_text",
    "qwen3_omni_moe_text",
    "qwen4_exp_text",
}

TWO_BASES = {"exaone"}
"""Families whose own code and transformers' take different bases where a config has none."""

PER_LAYER = {"dots3_note_text", "neomme"}
"""Families whose layers differ in sizes that stand in `per_layer_config` alone."""


def test_what_a_config_leaves_out_is_the_familys_own() -> None:
    """A part that names its model_type alone, as in the files of larger models, says what the class says."""
    compared = 0
    for name in sorted(set(FAMILIES) & set(configs()) - WITH_ODD_DEFAULTS):
        bare = {"model_type": "llava", "text_config": {"model_type": name}}
        if name in PER_LAYER | TWO_BASES:
            with pytest.raises(ValueError, match=r"per_layer_config|has no rope_theta"):
                layers_from_config(bare)
            continue
        assert layers_from_config(bare) == layers_from_config(configs()[name]), name
        compared += 1
    assert compared > 170


def test_the_length_that_a_model_was_trained_on_first() -> None:
    """Where a raw config does not say it next to the rope parameters, the class has one, which wins."""
    key, rule = "original_max_position_embeddings", {"rope_type": "longrope"}
    for name, config in configs().items():
        if name in FAMILIES:
            assert FAMILIES[name].original == getattr(type(config), key, None), name
    for name in ("phi3", "phi4_multimodal"):
        for inside in ({}, {key: 1024}, {key: 1024, "factor": 16.0}):
            for beside in ({}, {key: 2048}):
                heads = {"num_attention_heads": 4, "num_key_value_heads": 4, "hidden_size": 32}
                lists = {"short_factor": [1.0] * 4, "long_factor": [2.0] * 4}
                raw: dict[str, Any] = {
                    "model_type": name,
                    "max_position_embeddings": 131072,
                    **heads,
                    **beside,
                }
                raw["rope_scaling"] = {**rule, **lists, **inside}
                made = transformers.AutoConfig.for_model(**copy.deepcopy(raw))
                for length in (1000, 2000, 3000, 5000):
                    assert rope_from_config(raw, length=length) == rope_from_config(made, length=length)


def test_what_has_rope_parameters_is_known_to_rotate() -> None:
    """And what has none is not given a rotation."""
    for name, config in configs().items():
        own = config.to_dict()
        if name in UNROTATED and not any(isinstance(part, dict) for part in own.values()):
            assert not own.get("rope_parameters"), name
        if name in FAMILIES and FAMILIES[name].turning == ():
            assert not own.get("rope_parameters"), name
        elif name in FAMILIES and name not in {"esm", "gptj", "codegen", "roformer", "cohere_compass_text"}:
            assert own.get("rope_parameters") or "rope_theta" in own, name


# ---- rotary modules


def rotary_module(config: Any) -> torch.nn.Module | None:
    """The module that holds the frequencies of this config, made by its own model's code."""
    try:
        module = importlib.import_module(type(config).__module__.replace(".configuration_", ".modeling_"))
    except ModuleNotFoundError:  # a config that another family's model reads
        return None
    for found in vars(module).values():
        if isinstance(found, type) and "Rotary" in found.__name__:
            taken = inspect.signature(found.__init__).parameters.get("config")
            if taken is not None and getattr(taken.annotation, "__name__", "") == type(config).__name__:
                return found(config)
    return None


def test_rotary_modules_have_our_frequencies() -> None:
    compared = 0
    for name in sorted(set(FAMILIES) & set(configs()) - WITH_ODD_DEFAULTS - {"esm"}):
        config = configs()[name]
        theirs = rotary_module(config)
        if theirs is None:
            continue
        buffers = dict(theirs.named_buffers())
        for layer in layers_from_config(config, length=9001):
            if layer.rope is None:
                continue
            label = FAMILIES[name].labels.get(layer.kind, layer.kind)
            expected = buffers.get(f"{label}_inv_freq", buffers.get("inv_freq"))
            if expected is None:  # a table of sines, then cosines (GPT-J)
                expected = buffers["embed_positions"][1, : layer.rope.rotary_dim // 2].asin()
            rule = layer.rope.scaling
            ours = frequencies(layer.rope.rotary_dim, base=layer.rope.base, scaling=rule)
            if layer.rope.time_last:  # kept in another order, for M-RoPE
                expected = expected.sort(descending=True).values
            np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-12, err_msg=f"{name}, {layer}")
            plain = getattr(theirs, "attention_scaling", 1.0)
            attention = getattr(theirs, f"{label}_attention_scaling", plain)
            assert getattr(rule, "attention_scaling", 1.0) == pytest.approx(attention), name
            compared += 1
    assert compared > 3000


# ---- tiny models


def turned(x: torch.Tensor, settings: RopeSettings, layout: Layout) -> torch.Tensor:
    """x, which stood at position 0, at POSITIONS; of a wider head its last columns."""
    settings = dataclasses.replace(settings, layout=layout)
    passes, turns = x[..., : -settings.head_dim], x[..., -settings.head_dim :].clone()
    turns[..., : settings.rotary_dim] /= getattr(settings.scaling, "attention_scaling", 1.0)
    there = settings.rotate(turns, settings.tables(POSITIONS[0], dtype=torch.float64))
    return torch.cat([passes, there], dim=-1)


def same_scores(before: Pair, after: Pair, settings: RopeSettings) -> bool:
    """Whether the model's own function and ours give the same scores: the layout is right."""
    length_first = before[0].shape[1] == POSITIONS.shape[1]
    wide = [x.double().transpose(1, 2) if length_first else x.double() for x in (*before, *after)]
    q, k, q_after, k_after = wide
    if q.shape[-1] not in (settings.rotary_dim, settings.head_dim):
        return False
    tables = settings.tables(POSITIONS[0], dtype=torch.float64)
    ours = [rotate(x, tables, layout=settings.layout) for x in (q, k)]
    expected = q_after @ k_after[:, :1].mT
    return bool((ours[0] @ ours[1][:, :1].mT - expected).abs().max() < 2e-3 * expected.abs().max())


def require_same(seen: Seen, layer: LayerPositions, name: str) -> None:
    """What this layer's attention got in its places is what the layer's entry says of what it got at 0."""
    factor = torch.ones(POSITIONS.shape[1], 1, dtype=torch.float64)
    if layer.temperature is not None and name not in COUNT_THEMSELVES:
        at_zero = layer.temperature(torch.zeros(1, dtype=torch.float64))
        factor = (layer.temperature(POSITIONS[0].double()) / at_zero)[:, None]
    for zero, placed, times in zip(seen.at_zero, seen.placed, (factor, torch.ones_like(factor)), strict=True):
        zero, placed = zero.double(), placed.double()
        near = 2e-3 * float(zero.abs().max())
        if layer.rope is None:
            assert float((zero * times - placed).abs().max()) < near, (name, layer)
            continue
        other: Layout = "half" if layer.rope.layout == "interleaved" else "interleaved"
        if float((turned(zero, layer.rope, layer.rope.layout) * times - placed).abs().max()) < near:
            continue
        # Some reorder columns on the way, so that rows of weights need not be: then only scores tell.
        assert float((turned(zero, layer.rope, other) * times - placed).abs().max()) < near, (name, layer)
        assert seen.unrotated is not None
        assert seen.rotated is not None
        assert same_scores(seen.unrotated, seen.rotated, layer.rope), (name, layer)
    if seen.scale is not None and layer.softmax_scale is not None and name not in SCALED_BEFORE:
        assert layer.softmax_scale == pytest.approx(seen.scale), (name, layer)


def require_as_transformers(name: str) -> None:
    config = shrunk(configs()[name])
    layers = layers_from_config(config, length=9001)
    calls = runs(config)
    assert calls, name
    for seen in calls:
        require_same(seen, layers[seen.layer], name)
    rotating = {layer.index for layer in layers if layer.rotates}
    seen_layers = {seen.layer for seen in calls}
    assert rotating <= seen_layers or len(layers) > LAYERS, name


@pytest.mark.parametrize("name", MAIN)
def test_a_tiny_model_does_what_its_layers_say(name: str) -> None:
    require_as_transformers(name)


@pytest.mark.parametrize("name", OTHERS)
def test_every_tiny_model_does_what_its_layers_say(name: str) -> None:
    require_as_transformers(name)


def test_the_temperature_of_llama_4() -> None:
    """Its layers that do not rotate, with and without."""
    with_it, without = (
        shrunk(configs()["llama4_text"], floor_scale=2, attn_temperature_tuning=tuned)
        for tuned in (True, False)
    )
    layer = layers_from_config(with_it)[3]
    assert layer.temperature is not None
    assert layers_from_config(without)[3].temperature is None
    with_a_factor, plain = (
        next(seen for seen in runs(config) if seen.layer == 3).placed[0] for config in (with_it, without)
    )
    torch.testing.assert_close(
        with_a_factor, plain * layer.temperature(torch.arange(8.0))[:, None], check_dtype=False
    )


@pytest.mark.parametrize("name", ["inkling_text", "inkling2_text", "inkling2_loop_text"])
def test_inkling_does_not_rotate_and_has_a_temperature_and_a_scale(name: str) -> None:
    hot, cold = (shrunk(configs()[name], log_scaling_n_floor=floor) for floor in (3, 10**6))
    for layer, warm, plain in zip(layers_from_config(hot), runs(hot), runs(cold), strict=True):
        factor = torch.ones(8, dtype=torch.float64)
        if layer.temperature is not None:
            factor = layer.temperature(torch.arange(8.0) if name in COUNT_THEMSELVES else POSITIONS[0])
        torch.testing.assert_close(
            warm.placed[0], plain.placed[0] * factor[:, None], check_dtype=False, rtol=1e-5, atol=1e-6
        )
        torch.testing.assert_close(plain.placed, plain.at_zero)  # whatever the positions, far below 10^6
        assert layer.softmax_scale == pytest.approx(plain.scale)
        assert factor[2] == 1
        assert (factor[3] > 1) == (layer.temperature is not None)
        assert (layer.rotates, layer.window is None) == (False, layer.kind == "hybrid")
        assert "bias" in layer.also


# ---- windows

WITH_WINDOWS = (
    "beam", "cohere2", "cwm", "dory", "exaone4", "flint", "gemma2", "gemma3_text", "gemma4_text",
    "gpt_oss", "granite_swa", "inkling2_loop_text", "inkling2_text", "inkling_text", "kolibri1",
    "lara_mini", "lfm3", "mimo_v2_flash", "mistral", "modernbert", "modernbert-decoder",
    "muse_spark_text", "neomme", "olmo3", "openai_privacy_filter", "recurrent_gemma", "ultrabert",
    "vaultgemma",
)  # fmt: skip
WINDOW_KEYS = ("sliding_window", "sliding_window_size", "local_attention", "attention_window_size")


@pytest.mark.parametrize(
    ("name", "changes"),
    [*((name, {}) for name in WITH_WINDOWS), ("gemma3_text", {"use_bidirectional_attention": True})],
)
@pytest.mark.parametrize("window", [6, 7])
def test_our_mask_of_a_layers_window_is_the_models(name: str, changes: dict[str, bool], window: int) -> None:
    config = configs()[name]
    renamed = set(getattr(config, "attribute_map", {}))
    written = config.to_dict()
    keys = [key for key in WINDOW_KEYS if key not in renamed and written.get(key)]
    tiny = shrunk(config, **{**dict.fromkeys(keys, window), **changes})
    layers, seen = layers_from_config(tiny), masks(tiny, 20)
    windows = [(layers[index], mask) for index, mask in seen if layers[index].window is not None]
    assert windows
    for layer, mask in windows:
        assert layer.window is not None
        causal = not mask[0, 1:].any()
        np.testing.assert_array_equal(mask, window_mask(20, 20, layer.window, causal=bool(causal)))


@pytest.mark.parametrize(
    ("family", "given"),
    [
        ("modernbert", {"local_attention": 6}),
        ("modernbert-decoder", {"local_attention": 12}),
        ("modernbert-decoder", {"local_attention": 12, "sliding_window": 4}),
    ],
)
def test_modernbert_sees_what_its_window_says(family: str, given: dict[str, int]) -> None:
    """One token is changed, and every output that changes saw it."""
    import transformers

    sizes = {"hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 16}
    written = {"vocab_size": 40, **sizes, "layer_types": ["sliding_attention"], "pad_token_id": 0, **given}
    config = transformers.CONFIG_MAPPING[family].from_dict(written)
    torch.manual_seed(0)
    model = transformers.AutoModel.from_config(config, attn_implementation="eager").eval()
    before = torch.arange(20)[None] + 3
    after = before.clone()
    after[0, 10] = 39
    with torch.no_grad():
        changed = (model(before)[0] - model(after)[0]).abs().amax(-1)[0] > 1e-6
    (layer,) = layers_from_config({"model_type": family, **written})
    assert layer.window is not None
    ours = window_mask(20, 20, layer.window, causal=family.endswith("decoder"))
    np.testing.assert_array_equal(changed, ours[:, 10])
    assert layers_from_config(config) == (layer,)


def test_ernie_4_5_vl_turns_as_its_code_does() -> None:
    """Its buffer keeps the frequencies in another order, and its forward pass puts them back."""
    config = configs()["ernie4_5_vl_moe_text"]
    theirs, settings = rotary_module(config), rope_from_config(config.to_dict())
    assert theirs is not None
    text = np.broadcast_to(np.arange(50), (3, 50))
    for positions in (text, np.stack([text[0], text[0] * 3 % 7, text[0] * 5 % 11])):
        cos, sin = theirs(torch.zeros(1), torch.from_numpy(positions.copy())[:, None])
        ours = settings.section_tables(positions)
        np.testing.assert_allclose(ours.cos, cos[0, :, ::2], atol=1e-5)
        np.testing.assert_allclose(ours.sin, sin[0, :, ::2], atol=1e-5)
    np.testing.assert_allclose(settings.tables(50).cos, settings.section_tables(text).cos, atol=1e-12)


# ---- what the refusals of images advise


def vision(package: str, name: str) -> tuple[Any, Any]:
    """A rotary module of an image tower with the default config, and that config."""
    module = importlib.import_module(f"transformers.models.{package}.modeling_{package}")
    config = next(each for each in configs().values() if type(each).__name__ == f"{name}Config")
    return getattr(module, f"{name}RotaryEmbedding")(config), config


def as_advised(name: str, rows: np.ndarray, columns: np.ndarray, head_dim: int) -> np.ndarray:
    """Cosines of the pairs, made as the refusal of this family says."""
    if name == "PixtralVision":
        of_rows, of_columns = (rotary_tables(axis, head_dim).cos for axis in (rows, columns))
        return np.concatenate([of_rows[:, 0::2], of_columns[:, 1::2]], axis=-1)
    if name == "Kimi_K25Vision":
        pairs = [rotary_tables(axis, head_dim // 2).cos for axis in (columns, rows)]
        return np.stack(pairs, axis=-1).reshape(len(rows), -1)
    return axial_tables(np.stack([rows, columns]), head_dim).cos


@pytest.mark.parametrize(
    ("package", "name"),
    [
        ("pixtral", "PixtralVision"),
        ("kimi_k25", "Kimi_K25Vision"),
        ("qwen2_vl", "Qwen2VLVision"),
        ("glm4v", "Glm4vVision"),
        ("qwen3_vl", "Qwen3VLVision"),
    ],
)
def test_the_advice_for_images_is_what_the_models_do(package: str, name: str) -> None:
    theirs, config = vision(package, name)
    with pytest.raises(ValueError, match="_tables"):
        rope_from_config(config)
    width = getattr(config, "embed_dim", None) or config.hidden_size
    head_dim = getattr(config, "head_dim", None) or width // config.num_attention_heads
    rows, columns = np.indices((3, 5)).reshape(2, -1)
    places = torch.tensor(np.stack([rows, columns], axis=-1))
    cos, _ = theirs(torch.zeros(1), places)
    expected = cos.reshape(len(rows), -1)[:, : head_dim // 2]
    np.testing.assert_allclose(as_advised(name, rows, columns, head_dim), expected, atol=1e-6)


@pytest.mark.parametrize("beside", [{"original_max_position_embeddings": 512}, {}, {"truncate": False}])
def test_what_stands_beside_nested_rules_is_read_as_transformers_reads_it(beside: dict[str, Any]) -> None:
    """The original length is the nested one; `truncate` is read outside alone."""
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048, "rope_theta": 5e4}
    if not beside:
        yarn["truncate"] = False
    raw: dict[str, Any] = {
        "model_type": "olmo3",
        "hidden_size": 256,
        "num_attention_heads": 2,
        "num_hidden_layers": 2,
        "max_position_embeddings": 8192,
        "layer_types": ["sliding_attention", "full_attention"],
        "rope_parameters": {
            "sliding_attention": {"rope_type": "default", "rope_theta": 5e4},
            "full_attention": yarn,
        },
    }
    (raw["rope_parameters"] if "truncate" in beside else raw).update(beside)
    theirs = rotary_module(transformers.CONFIG_MAPPING["olmo3"].from_dict(copy.deepcopy(raw)))
    rope = rope_from_config(raw, layer_type="full_attention")
    ours = frequencies(rope.rotary_dim, base=rope.base, scaling=rope.scaling)
    np.testing.assert_allclose(ours, present(theirs).get_buffer("full_attention_inv_freq"), rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "head_dim"), [("moonshine_streaming", 40), ("nemotron3_5_transcribe_asr_audio", 128)]
)
def test_a_share_that_the_rope_parameters_leave_out_is_all(name: str, head_dim: int) -> None:
    raw = {
        "model_type": name,
        "num_hidden_layers": 2,
        "hidden_size": 8 * head_dim,
        "num_attention_heads": 8,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e4},
    }
    theirs = rotary_module(transformers.CONFIG_MAPPING[name].from_dict(copy.deepcopy(raw)))
    assert rope_from_config(raw).rotary_dim == 2 * present(theirs).get_buffer("inv_freq").numel() == head_dim


@pytest.mark.parametrize("key", ["rope_parameters", "rope_scaling"])
def test_null_rope_parameters_are_those_of_the_class_where_it_turns_by_the_usual_rule(key: str) -> None:
    settings = rope_from_config(
        {"model_type": "moonshine_streaming", "hidden_size": 320, "num_attention_heads": 8, key: None}
    )
    assert (settings.head_dim, settings.rotary_dim) == (40, 32)


def test_a_base_beside_a_rule_that_is_the_usual_one_is_refused_without_advice_to_choose_it() -> None:
    """transformers ignores it; and 'default' for none would be another share."""
    with pytest.raises(ValueError, match=r"which rule you mean$"):
        rope_from_config({"model_type": "moonshine_streaming", "rope_theta": 5e4})
