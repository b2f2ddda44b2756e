"""Hugging Face's dicts, in both spellings, give the rules that they describe, or say what is wrong."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from posenc_lib import frequencies
from posenc_lib.rotated import (
    DynamicNTKScaling,
    LinearScaling,
    Llama3Scaling,
    LongRoPEScaling,
    NTKScaling,
    ProportionalScaling,
    RopeSettings,
    YaRNScaling,
    apply_rotary,
    layers_from_config,
    rope_from_config,
    rotary_tables,
    scaling_from_config,
)
from tests.present import present

LLAMA_31 = {
    "factor": 8.0,
    "high_freq_factor": 4.0,
    "low_freq_factor": 1.0,
    "original_max_position_embeddings": 8192,
    "rope_type": "llama3",
}
QWEN_YARN = {"factor": 4.0, "original_max_position_embeddings": 32768, "type": "yarn"}
DEEPSEEK_V2 = {
    "beta_fast": 32,
    "beta_slow": 1,
    "factor": 40,
    "mscale": 0.707,
    "mscale_all_dim": 0.707,
    "original_max_position_embeddings": 4096,
    "type": "yarn",
}
GPT_OSS = {
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "factor": 32.0,
    "original_max_position_embeddings": 4096,
    "rope_type": "yarn",
    "truncate": False,
}
LONG = {"type": "longrope", "short_factor": [1.0, 1.1], "long_factor": [2.0, 3.0]}
SU = {**LONG, "type": "su", "original_max_position_embeddings": 4096}
PHI_MOE = {**SU, "type": "longrope", "short_mscale": 1.25, "long_mscale": 1.5}


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        (None, None),
        ({}, None),
        ({"rope_type": "default"}, None),
        ({"rope_theta": 500000.0}, None),
        ({"rope_type": "default", "type": "mrope", "mrope_section": [16, 24, 24]}, None),
        ({"type": "linear", "factor": 4.0}, LinearScaling(4.0)),
        ({"rope_type": "linear", "type": "linear", "factor": 4}, LinearScaling(4)),
        ({"type": "linear", "factor": 4.0, "finetuned": True}, LinearScaling(4.0)),
        ({"type": "dynamic", "factor": 2.0}, DynamicNTKScaling(2.0, 2048, 9000)),
        (LLAMA_31, Llama3Scaling(8.0, 8192, 1.0, 4.0)),
        (QWEN_YARN, YaRNScaling(4.0, 32768)),
        (DEEPSEEK_V2, YaRNScaling(40, 4096, mscale=0.707, mscale_all_dim=0.707)),
        (GPT_OSS, YaRNScaling(32.0, 4096, truncate=False)),
        ({"rope_type": "yarn", "factor": 4.0, "attention_factor": None}, YaRNScaling(4.0, 2048)),
        ({"rope_type": "yarn", "original_max_position_embeddings": 512}, YaRNScaling(4.0, 512)),
        (LONG, LongRoPEScaling([1.0, 1.1], [2.0, 3.0], 2048, length=9000, factor=1.0)),
        (SU, LongRoPEScaling([1.0, 1.1], [2.0, 3.0], 4096, length=9000, factor=0.5)),
        (PHI_MOE, LongRoPEScaling([1.0, 1.1], [2.0, 3.0], 4096, length=9000, attention_factor=1.5)),
        ({"rope_type": "proportional", "partial_rotary_factor": 0.25}, ProportionalScaling(0.25)),
    ],
)
def test_a_dict_gives_its_rule(parameters: dict[str, Any] | None, rule: Any) -> None:
    assert scaling_from_config(parameters, max_length=2048, length=9000) == rule


def test_phi_moes_factor_goes_with_its_list() -> None:
    """The long one begins after the trained length."""
    for length, factor in ((4096, 1.25), (4097, 1.5)):
        assert present(scaling_from_config(PHI_MOE, length=length)).attention_scaling == factor


@pytest.mark.parametrize(
    ("parameters", "options", "words"),
    [
        ({"rope_type": "ntk", "factor": 2.0}, {}, ["'ntk'", "'dynamic'", "'yarn'", "'llama3'"]),
        ({"rope_type": 3}, {}, ["rope_type=3"]),
        ({"factor": 2.0}, {}, ["no rope_type", "'linear'"]),
        ({"rope_type": "linear", "type": "yarn", "factor": 2.0}, {}, ["'linear'", "'yarn'", "contradict"]),
        ({"rope_type": "linear"}, {}, ["'factor'"]),
        ({"rope_type": "linear", "factor": None}, {}, ["'factor'"]),
        (
            {"rope_type": "linear", "factor": 2.0, "beta_fast": 32},
            {},
            ["'beta_fast'", "its keys are", "'factor'"],
        ),
        ({"rope_type": "linear", "factor": 0.0}, {}, ["factor=0.0", "above 0"]),
        ({"rope_type": "linear", "factor": -1.0}, {}, ["factor=-1.0"]),
        ({"rope_type": "linear", "factor": float("inf")}, {}, ["factor=inf"]),
        ({"rope_type": "yarn", "factor": 0, "original_max_position_embeddings": 8}, {}, ["factor=0"]),
        ({"rope_type": "dynamic", "factor": 2.0}, {}, ["max_position_embeddings", "rope_from_config"]),
        ({"rope_type": "dynamic", "factor": 2.0}, {"max_length": 2048}, ["length", "rope_from_config"]),
        ({"rope_type": "yarn", "factor": 2.0}, {}, ["max_position_embeddings"]),
        (QWEN_YARN, {"max_length": 0}, ["max_length=0"]),
        (SU, {"max_length": 9}, ["length"]),
        ({**SU, "long_factor": None}, {"max_length": 9, "length": 9}, ["'long_factor'"]),
        ({**SU, "long_factor": [1.0, 0.0]}, {"max_length": 9, "length": 9}, ["long", "0.0"]),
        ({**LLAMA_31, "low_freq_factor": 5.0}, {}, ["high_freq_factor=4.0", "low_freq_factor=5.0"]),
        ({**QWEN_YARN, "beta_fast": 0.5}, {}, ["beta_fast=0.5", "beta_slow"]),
        ({**QWEN_YARN, "attention_factor": -1.0}, {}, ["attention_factor=-1.0"]),
        ({"full_attention": {"rope_type": "default"}}, {}, ["'full_attention'", "layer_type"]),
    ],
)
def test_a_dict_that_cannot_be_read(
    parameters: dict[str, Any], options: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 (the words are checked below)
        scaling_from_config(parameters, **options)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    "parameters",
    [
        "yarn",
        3,
        [1.0],
        {"rope_type": "linear", "factor": "2"},
        {"rope_type": "linear", "factor": True},
        {**SU, "long_factor": 3.0},
        {**QWEN_YARN, "truncate": "no"},
    ],
)
def test_a_dict_of_wrong_types(parameters: Any) -> None:
    with pytest.raises(TypeError):
        scaling_from_config(parameters, max_length=2048, length=9000)


def test_lists_of_the_wrong_length_are_found_where_the_width_is_known() -> None:
    rule = scaling_from_config(SU, max_length=8192, length=9000)
    with pytest.raises(ValueError, match="2 divisors"):
        frequencies(8, scaling=rule)


# ---- a dict as scaling=


def test_scaling_takes_the_dict_as_it_stands() -> None:
    x = np.random.default_rng(0).standard_normal((5, 16))
    np.testing.assert_array_equal(
        apply_rotary(x, 5, scaling=QWEN_YARN, base=1e6),
        apply_rotary(x, 5, scaling=YaRNScaling(4.0, 32768), base=1e6),
    )
    np.testing.assert_array_equal(frequencies(16, scaling=LLAMA_31), frequencies(16, scaling=Llama3Scaling()))


@pytest.mark.parametrize("given", [{}, {"base": 500000.0}])
def test_the_dicts_rope_theta_is_the_base(given: dict[str, Any]) -> None:
    new = {**LLAMA_31, "rope_theta": 500000.0}
    np.testing.assert_array_equal(
        frequencies(16, scaling=new, **given), frequencies(16, base=500000.0, scaling=Llama3Scaling())
    )
    np.testing.assert_array_equal(
        rotary_tables(3, 16, scaling={"rope_theta": 500000.0}, **given).cos,
        rotary_tables(3, 16, base=500000.0).cos,
    )


def test_a_base_that_contradicts_the_dict_is_refused() -> None:
    with pytest.raises(ValueError, match="rope_theta=500000"):
        frequencies(16, base=1e6, scaling={"rope_theta": 500000.0})


def test_the_dicts_share_of_columns_turns() -> None:
    x = np.random.default_rng(0).standard_normal((5, 16))
    half = {"rope_type": "default", "partial_rotary_factor": 0.5}
    np.testing.assert_array_equal(apply_rotary(x, 5, scaling=half), apply_rotary(x, 5, rotary_dim=8))
    np.testing.assert_array_equal(
        apply_rotary(x, 5, scaling=half, rotary_dim=4), apply_rotary(x, 5, rotary_dim=4)
    )
    with pytest.raises(ValueError, match="above 1"):
        apply_rotary(x, 5, scaling={"partial_rotary_factor": 1.5})
    with pytest.raises(ValueError, match="rotary_dim=0"):
        apply_rotary(x, 5, scaling={"partial_rotary_factor": 0.01})


# ---- whole configs

LLAMA = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 2048}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (LLAMA, {"head_dim": 16, "rotary_dim": 16, "base": 10000.0, "scaling": None, "layout": "half"}),
        ({**LLAMA, "head_dim": 32, "rope_theta": 5e5}, {"head_dim": 32, "base": 5e5}),
        ({**LLAMA, "rope_scaling": None}, {"scaling": None}),
        ({**LLAMA, "rope_scaling": {"type": "linear", "factor": 2.0}}, {"scaling": LinearScaling(2.0)}),
        (
            {**LLAMA, "rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 7.0}},
            {"scaling": LinearScaling(2.0), "base": 7.0},
        ),
        (
            {**LLAMA, "rope_scaling": {"type": "dynamic", "factor": 2.0}},
            {"scaling": DynamicNTKScaling(2.0, 2048, 9000)},
        ),
        (
            {
                **LLAMA,
                "model_type": "phi3",
                "max_position_embeddings": 131072,
                "original_max_position_embeddings": 4096,
                "rope_scaling": {**LONG},
            },
            {"scaling": LongRoPEScaling([1.0, 1.1], [2.0, 3.0], 4096, length=9000, factor=32.0)},
        ),
        (
            {"model_type": "gpt_neox", "hidden_size": 64, "num_attention_heads": 4, "rotary_pct": 0.25},
            {"head_dim": 16, "rotary_dim": 4, "layout": "half"},
        ),
        (
            {**LLAMA, "model_type": "gpt_neox", "rotary_emb_base": 999.0, "partial_rotary_factor": 0.5},
            {"rotary_dim": 8, "base": 999.0},
        ),
        (
            {**LLAMA, "rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5}},
            {"rotary_dim": 8},
        ),
        (
            {"model_type": "gptj", "n_embd": 64, "n_head": 4, "rotary_dim": 6, "n_positions": 2048},
            {"head_dim": 16, "rotary_dim": 6, "layout": "interleaved"},
        ),
        ({**LLAMA, "model_type": "cohere"}, {"layout": "interleaved"}),
        (
            {**LLAMA, "model_type": "deepseek_v3", "qk_rope_head_dim": 8, "head_dim": 99},
            {"head_dim": 8, "layout": "interleaved"},
        ),
        ({**LLAMA, "model_type": "deepseek_v3", "rope_interleave": False}, {"layout": "half"}),
        (
            {"model_type": "qwen2_vl", "text_config": {**LLAMA, "rope_theta": 1e6}, "rope_theta": 3.0},
            {"head_dim": 16, "base": 1e6},
        ),
        (
            {**LLAMA, "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]}},
            {"sections": (2, 3, 3), "sections_interleaved": False},
        ),
        (
            {
                **LLAMA,
                "rope_scaling": {
                    "mrope_interleaved": True,
                    "mrope_section": [4, 2, 2],
                    "rope_type": "default",
                },
            },
            {"sections": (4, 2, 2), "sections_interleaved": True},
        ),
        (
            {**LLAMA, "rope_parameters": {"rope_type": "proportional", "partial_rotary_factor": 0.25}},
            {"rotary_dim": 16, "scaling": ProportionalScaling(0.25)},
        ),
    ],
)
def test_a_config_gives_its_settings(config: dict[str, Any], expected: dict[str, Any]) -> None:
    settings = rope_from_config(config, length=9000)
    for name, value in expected.items():
        assert getattr(settings, name) == value


def test_layers_that_differ() -> None:
    """Gemma 3, before and after the rope parameters were nested."""
    gemma = {**LLAMA, "model_type": "gemma3_text", "num_hidden_layers": 6}
    old = {
        **gemma,
        "rope_theta": 1e6,
        "rope_local_base_freq": 1e4,
        "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
    }
    new = {
        **gemma,
        "rope_parameters": {
            "full_attention": {"rope_theta": 1e6, "factor": 8.0, "rope_type": "linear"},
            "sliding_attention": {"rope_theta": 1e4, "rope_type": "default"},
        },
    }
    for config in (old, new):
        full = rope_from_config(config, layer_type="full_attention")
        sliding = rope_from_config(config, layer_type="sliding_attention")
        assert (full.base, full.scaling) == (1e6, LinearScaling(8.0))
        assert (sliding.base, sliding.scaling) == (1e4, None)
        with pytest.raises(ValueError, match="sliding_attention, full_attention"):
            rope_from_config(config)
        with pytest.raises(ValueError, match="'local'"):
            rope_from_config(config, layer_type="local")


def test_the_layout_can_be_told() -> None:
    assert rope_from_config(LLAMA, layout="interleaved").layout == "interleaved"
    with pytest.raises(ValueError, match="'split'"):
        rope_from_config(LLAMA, layout="split")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("config", "error", "word"),
    [
        ({"model_type": "llama"}, ValueError, "head_dim"),
        ({"hidden_size": 64, "model_type": "llama"}, ValueError, "num_attention_heads"),
        ("llama", TypeError, "str"),
        (None, TypeError, "NoneType"),
        ({**LLAMA, "rope_scaling": "yarn"}, TypeError, "'yarn'"),
        ({**LLAMA, "rope_theta": 0}, ValueError, "rope_theta=0"),
        ({**LLAMA, "rope_theta": "big"}, TypeError, "rope_theta='big'"),
        ({**LLAMA, "partial_rotary_factor": 2.0}, ValueError, "above 1"),
        ({**LLAMA, "rope_scaling": {"type": "dynamic", "factor": 2.0}}, ValueError, "length"),
        ({**LLAMA, "rope_scaling": {"type": "axial"}}, ValueError, "'axial'"),
    ],
)
def test_a_config_that_cannot_be_read(config: Any, error: type[Exception], word: str) -> None:
    with pytest.raises(error, match=word):
        rope_from_config(config)


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "bert", "hidden_size": 768, "num_attention_heads": 12},
        {"model_type": "t5", "d_model": 512, "num_heads": 8, "hidden_size": 512, "num_attention_heads": 8},
        {"model_type": "falcon", "hidden_size": 4544, "num_attention_heads": 71, "alibi": True},
    ],
    ids=lambda config: config["model_type"],
)
def test_a_model_that_rotates_nothing_is_refused(config):
    with pytest.raises(ValueError, match="rotates nothing"):
        rope_from_config(config)


# ---- layer by layer, as the files were published

GEMMA_3_12B = {
    "model_type": "gemma3",
    "text_config": {
        "hidden_size": 3840,
        "model_type": "gemma3_text",
        "num_attention_heads": 16,
        "num_hidden_layers": 48,
        "num_key_value_heads": 8,
        "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
        "sliding_window": 1024,
    },
}
MIMO_V2_FLASH = {
    "model_type": "mimo_v2_flash",
    "head_dim": 192,
    "hidden_size": 4096,
    "hybrid_layer_pattern": [0, 1, 1, 1, 1, 0],
    "num_attention_heads": 64,
    "num_hidden_layers": 6,
    "partial_rotary_factor": 0.334,
    "rope_theta": 5000000,
    "sliding_window_size": 128,
    "swa_rope_theta": 10000,
}
GEMMA_4 = {
    "model_type": "gemma4_text",
    "global_head_dim": 512,
    "head_dim": 256,
    "layer_types": ["sliding_attention", "full_attention"],
    "num_hidden_layers": 2,
    "rope_parameters": {
        "full_attention": {"partial_rotary_factor": 0.25, "rope_theta": 1e6, "rope_type": "proportional"},
        "sliding_attention": {"rope_theta": 1e4, "rope_type": "default"},
    },
    "sliding_window": 512,
}
DEEPSEEK_V3 = {
    **LLAMA,
    "model_type": "deepseek_v3",
    "num_hidden_layers": 2,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "rope_scaling": {**DEEPSEEK_V2, "mscale": 1.0, "mscale_all_dim": 1.0},
}


def test_gemma_3() -> None:
    """12B: heads of 256, two bases, linear scaling in full layers alone; most of it the file leaves out."""
    layers = layers_from_config(GEMMA_3_12B)
    assert [layer.index for layer in layers if layer.kind == "full_attention"] == [
        5,
        11,
        17,
        23,
        29,
        35,
        41,
        47,
    ]
    local, wide = layers[4], layers[5]
    assert local.rope == RopeSettings(256, 256, 1e4, None, "half")
    assert wide.rope == RopeSettings(256, 256, 1e6, LinearScaling(8.0), "half")
    assert (local.window, wide.window) == (1024, None)
    assert local.softmax_scale == 256**-0.5


def test_bases_and_windows_of_mimo() -> None:
    bases = [
        (present(layer.rope).base, present(layer.rope).rotary_dim, layer.window)
        for layer in layers_from_config(MIMO_V2_FLASH)
    ]
    assert bases == [(5e6, 64, None), *[(1e4, 64, 129)] * 4, (5e6, 64, None)]


def test_gemma_4_has_wider_heads_in_its_full_layers() -> None:
    local, wide = (layer.rope for layer in layers_from_config(GEMMA_4))
    other = layers_from_config({**GEMMA_4, "global_head_dim": 384})
    assert [present(layer.rope).head_dim for layer in other] == [256, 384]
    assert (present(local).head_dim, present(local).base, present(local).scaling) == (256, 1e4, None)
    assert (present(wide).head_dim, present(wide).rotary_dim, present(wide).base, present(wide).scaling) == (
        512,
        512,
        1e6,
        ProportionalScaling(0.25),
    )


def test_olmo_3_stretches_its_full_layers_alone() -> None:
    olmo = {
        **LLAMA,
        "model_type": "olmo3",
        "num_hidden_layers": 4,
        "rope_theta": 5e5,
        "rope_scaling": QWEN_YARN,
    }
    rules = [present(layer.rope).scaling for layer in layers_from_config(olmo)]
    assert rules == [None, None, None, YaRNScaling(4.0, 32768)]


def test_the_softmax_of_latent_attention() -> None:
    layer = layers_from_config(DEEPSEEK_V3)[0]
    assert layer.rope is not None
    assert layer.rope.rotary_dim == 64
    assert layer.softmax_factor == pytest.approx((0.1 * np.log(40) + 1) ** 2)
    assert layer.softmax_scale == pytest.approx(192**-0.5 * layer.softmax_factor)


def test_the_temperature_of_ministral_3() -> None:
    parameters = {**QWEN_YARN, "rope_type": "yarn", "rope_theta": 1e6, "llama_4_scaling_beta": 0.1}
    ministral = {**LLAMA, "model_type": "ministral3", "num_hidden_layers": 1, "rope_parameters": parameters}
    (layer,) = layers_from_config(ministral)
    assert layer.rotates
    assert layer.temperature is not None
    positions = np.asarray([0, 32767, 32768, 100_000])
    np.testing.assert_allclose(layer.temperature(positions), 1 + 0.1 * np.log(1 + positions // 32768))
    with pytest.raises(ValueError, match="layers_from_config"):
        rope_from_config({**ministral, "model_type": "llama"})


def test_alpha_is_a_factor_for_the_base() -> None:
    alpha = {
        "type": "dynamic",
        "alpha": 1000.0,
        "factor": 1.0,
        "beta_fast": 32,
        "beta_slow": 1,
        "mscale": 1.0,
    }
    hunyuan = {**LLAMA, "model_type": "hunyuan_v1_dense", "rope_scaling": alpha}
    assert rope_from_config(hunyuan).scaling == NTKScaling(1000.0)
    with pytest.raises(ValueError, match="'alpha'"):
        rope_from_config({**hunyuan, "model_type": "llama"}, length=9)


@pytest.mark.parametrize(
    ("config", "still"),
    [
        ({**LLAMA, "model_type": "smollm3", "num_hidden_layers": 8}, [3, 7]),
        ({**LLAMA, "model_type": "smollm3", "num_hidden_layers": 4, "no_rope_layers": [0, 1, 1, 0]}, [0, 3]),
        ({**LLAMA, "model_type": "cohere2", "num_hidden_layers": 4}, [3]),
        ({**LLAMA, "model_type": "cohere2", "num_hidden_layers": 4, "sliding_window_pattern": 2}, [1, 3]),
        (
            {
                **LLAMA,
                "model_type": "granitemoehybrid",
                "num_hidden_layers": 2,
                "layer_types": ["attention"] * 2,
            },
            [0, 1],
        ),
        ({**LLAMA, "model_type": "bert", "num_hidden_layers": 2}, [0, 1]),
        ({**LLAMA, "num_hidden_layers": 2, "position_embedding_type": "nope"}, [0, 1]),
        ({**LLAMA, "model_type": "jamba", "num_hidden_layers": 2}, [0, 1]),
    ],
)
def test_layers_that_do_not_rotate(config: dict[str, Any], still: list[int]) -> None:
    assert [layer.index for layer in layers_from_config(config) if not layer.rotates] == still


@pytest.mark.parametrize(
    ("config", "word"),
    [
        ({}, "no model_type"),
        ({**LLAMA, "model_type": "unheard_of"}, "'unheard_of' is not in this library's table"),
        ({**LLAMA, "model_type": "siglip"}, "rotates nothing"),
        ({**LLAMA, "model_type": "pixtral"}, "rotary_tables"),
        ({**LLAMA, "model_type": "qwen2_vl_vision"}, "axial_tables"),
        ({**LLAMA, "mla_use_nope": True}, "rotates nothing"),
        # Grok-2's file and that of jina-embeddings-v3: the model_type of one family, the keys of another
        (
            {**LLAMA, "model_type": "git", "rope_theta": 208533496},
            "'rope_theta'.*another model's code must read",
        ),
        (
            {**LLAMA, "model_type": "xlm-roberta", "position_embedding_type": "rotary"},
            "'position_embedding_type'.*another model's code must read",
        ),
        ({**LLAMA, "rope_local_base_freq": 1e4}, "rope_local_base_freq"),
        (
            {**LLAMA, "rope_parameters": {"full_attention": None, "sliding_attention": {"rope_theta": 1.0}}},
            "no layer",
        ),
        ({**LLAMA, "model_type": "gpt_oss", "rope_scaling": None}, "'default' for none"),
        ({**LLAMA, "model_type": "qwen2_vl_text"}, "mrope_section"),
        ({**LLAMA, "layer_types": ["looking_around"]}, "'looking_around'"),
        (
            {**LLAMA, "rope_scaling": {"type": "linear", "factor": 2}, "rope_parameters": {"type": "yarn"}},
            "contradict",
        ),
        # transformers reads the older one of the two, and would scale here
        (
            {
                **LLAMA,
                "rope_scaling": {"type": "linear", "factor": 2.0},
                "rope_parameters": {"rope_type": "default", "rope_theta": 1e6},
            },
            "contradict each other in factor, rope_theta, rope_type",
        ),
        (
            {
                **LLAMA,
                "rope_scaling": {"type": "linear", "factor": 2.0},
                "rope_parameters": {"rope_theta": 1e6},
            },
            "contradict each other in factor, rope_theta, rope_type",
        ),
    ],
)
def test_what_is_not_known_is_refused(config: dict[str, Any], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        rope_from_config(config)


def test_one_rule_may_be_written_in_both_spellings() -> None:
    both = {
        "rope_scaling": {"type": "linear", "factor": 2.0},
        "rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 5e5},
        "rope_theta": 5e5,  # which older versions read here
    }
    found = rope_from_config({**LLAMA, **both})
    assert (found.base, found.scaling) == (5e5, LinearScaling(2.0))


def test_the_caller_may_name_the_family() -> None:
    unheard = {**LLAMA, "model_type": "unheard_of", "rope_theta": 5e5}
    assert rope_from_config(unheard, family="cohere") == RopeSettings(16, 16, 5e5, None, "interleaved")
    with pytest.raises(ValueError, match="family='unheard_of'"):
        rope_from_config(unheard, family="unheard_of")


def test_an_unknown_kind_of_layer_is_refused_in_any_config() -> None:
    with pytest.raises(ValueError, match="choose one of 'full_attention'"):
        rope_from_config(LLAMA, layer_type="sliding_attention")


def test_settings_refuse_vectors_of_another_width() -> None:
    settings = rope_from_config(DEEPSEEK_V3)
    with pytest.raises(ValueError, match="192 columns"):
        settings.rotate(np.zeros((3, 192)), settings.tables(3))


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"head_dim": -8}, "head_dim=-8"),
        ({"rotary_dim": 7}, "rotary_dim=7"),
        ({"rotary_dim": 32}, "above head_dim"),
        ({"base": 0.0}, "base=0.0"),
        ({"layout": "llama"}, "layout='llama'"),
        ({"sections": (4, 3, 2)}, "9 pairs"),
        ({"sections": (5, 3, 0)}, "an element of sections=0 is too small; give 1 or more"),
        ({"sections": (9, 3, -4)}, "an element of sections=-4 is too small"),
        ({"sections_interleaved": True}, "there are no sections"),
        ({"time_last": True}, "there are no sections"),
        ({"sections": (3, 3, 2), "sections_interleaved": True, "time_last": True}, "one of the two"),
        ({"sections": (1, 3, 4), "sections_interleaved": True}, "the axes cannot take turns"),
        ({"sections": (2, 3, 3), "time_last": True}, "equal"),
    ],
)
def test_settings_that_contradict_themselves(more: dict[str, Any], word: str) -> None:
    right: dict[str, Any] = {"head_dim": 16, "rotary_dim": 16, "base": 1e4, "scaling": None, "layout": "half"}
    RopeSettings(**right)
    with pytest.raises(ValueError, match=word):
        RopeSettings(**{**right, **more})


def test_sections_may_be_a_list() -> None:
    settings = RopeSettings(16, 16, 1e4, None, "half", [2, 3, 3])  # type: ignore[arg-type]
    assert hash(settings) == hash(RopeSettings(16, 16, 1e4, None, "half", (2, 3, 3)))


def test_dbrx_has_its_base_among_the_settings_of_its_attention() -> None:
    sizes = {"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40}
    written = {**sizes, "attn_config": {"rope_theta": 500000}}
    with pytest.raises(
        ValueError, match="rope_theta=500000 is the base that the code of databricks/dbrx-base uses"
    ):
        rope_from_config(written)  # transformers reads 10,000
    assert rope_from_config({**written, "rope_theta": 500000}).base == 500_000
    assert rope_from_config(sizes).base == 10_000


@pytest.mark.parametrize("family", ["llama", "gpt_neox", "qwen2_vl_text"])
def test_heads_that_do_not_divide(family: str) -> None:
    config = {"model_type": family, "hidden_size": 100, "num_attention_heads": 3, "num_hidden_layers": 1}
    with pytest.raises(ValueError, match="hidden_size=100 is not divisible by num_attention_heads=3"):
        rope_from_config(config)


def test_exaones_base_is_not_guessed() -> None:
    sizes = {"model_type": "exaone", "hidden_size": 4096, "num_attention_heads": 32, "num_layers": 32}
    with pytest.raises(ValueError, match="uses 10000, and transformers uses 500000"):
        rope_from_config(sizes)
    assert rope_from_config({**sizes, "rope_theta": 1e6}).base == 1_000_000
    assert rope_from_config({**sizes, "rope_parameters": {"rope_theta": 1e6}}).base == 1_000_000


def test_dory_lists_attention_and_mlp_as_blocks_of_their_own() -> None:
    kinds = ["sliding_attention", "mlp", "full_attention", "mlp"]
    sizes = {"model_type": "dory", "hidden_size": 64, "num_attention_heads": 4, "head_dim": 16}
    layers = layers_from_config({**sizes, "num_hidden_layers": 4, "layer_types": kinds})
    assert [(each.kind, each.rope.base, each.window) for each in layers if each.rope] == [
        ("sliding_attention", 10_000, 1024),
        ("full_attention", 10_000_000, None),
    ]


def test_sarvams_older_name_of_yarn() -> None:
    config = {"model_type": "sarvam_mla", "hidden_size": 4096, "num_attention_heads": 64, "head_dim": 576}
    rule = {"factor": 40.0, "original_max_position_embeddings": 4096, "mscale": 1.0, "mscale_all_dim": 1.0}
    older = rope_from_config({**config, "rope_scaling": {"type": "deepseek_yarn", **rule}})
    assert older == rope_from_config({**config, "rope_scaling": {"rope_type": "yarn", **rule}})
    assert isinstance(older.scaling, YaRNScaling)
    assert (older.head_dim, older.scaling.factor) == (64, 40.0)


@pytest.mark.parametrize("kv_heads", [3, 8, 0])
def test_heads_that_cannot_share_keys(kv_heads: int) -> None:
    sizes = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 1}
    with pytest.raises(ValueError, match=f"num_key_value_heads={kv_heads} does not divide num_attention_h"):
        rope_from_config({**sizes, "num_key_value_heads": kv_heads})
    for fitting in (1, 2, 4, None):
        assert rope_from_config({**sizes, "num_key_value_heads": fitting}).head_dim == 16


@pytest.mark.parametrize(
    ("name", "part", "advice"),
    [
        ("musicflamingo", "text_config", "give its text_config"),
        ("lasr_ctc", "encoder_config", "give its encoder_config"),
        ("pi0", "vlm_config", "give vlm_config"),
    ],
)
def test_wholes_in_which_more_than_one_part_turns(name: str, part: str, advice: str) -> None:
    inner = {**LLAMA, "model_type": "lasr_encoder" if part == "encoder_config" else "llama"}
    with pytest.raises(ValueError, match=advice):
        rope_from_config({"model_type": name, part: inner})
    assert rope_from_config(inner)


def test_ultraberts_older_spelling_of_its_window() -> None:
    config = {**LLAMA, "model_type": "ultrabert", "num_hidden_layers": 3, "attention_windows": [5, 5, None]}
    assert [layer.window for layer in layers_from_config(config)] == [6, 6, None]


def test_molmo_2_scales_some_layers_alone() -> None:
    config = {**LLAMA, "model_type": "molmo2_text", "head_dim": 16, "num_hidden_layers": 3}
    config |= {"rope_scaling": {"rope_type": "linear", "factor": 2.0}, "rope_scaling_layers": [0, 2]}
    rules = [layer.rope.scaling for layer in layers_from_config(config) if layer.rope is not None]
    assert rules == [LinearScaling(2.0), None, LinearScaling(2.0)]
    with pytest.raises(ValueError, match="rotate in different ways"):
        rope_from_config(config)
    for family in ("llama", "mistral"):
        said = f"'rope_scaling_layers', which models of model_type '{family}' do not use"
        with pytest.raises(ValueError, match=said):
            rope_from_config({**config, "model_type": family})


def test_deepseek_without_latent_attention() -> None:
    """DeepSeek-OCR's language_config: its heads turn whole, as LLaMA's."""
    config = {"model_type": "deepseek_v2", "hidden_size": 1280, "num_attention_heads": 10, "use_mla": False}
    config |= {"qk_rope_head_dim": 0, "qk_nope_head_dim": 0, "num_hidden_layers": 12}
    (layer, *_) = layers_from_config(config)
    assert layer.rope == RopeSettings(128, 128, 1e4, None, "half")
    assert layer.softmax_factor == 1.0


@pytest.mark.parametrize(
    ("model_type", "rule", "base"),
    [
        ("ministral3", {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16_384}, 1e6),
        ("higgs_audio_v2", {"rope_type": "linear", "factor": 4.0}, 5e5),
    ],
)
def test_the_base_of_a_familys_own_rule_is_not_that_of_a_rule_that_is_written(model_type, rule, base):
    """As in transformers, where `default_theta` stands in for a `rope_theta` that is not written."""
    sizes = {"model_type": model_type, "hidden_size": 4096, "num_attention_heads": 32, "head_dim": 128}
    assert rope_from_config(sizes).base == base
    assert rope_from_config({**sizes, "rope_parameters": rule}).base == 10_000


def test_a_ramp_is_not_rounded_where_truncate_is_null():
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768, "rope_theta": 1e6}
    assert scaling_from_config({**yarn, "truncate": None}) == scaling_from_config({**yarn, "truncate": False})
    assert scaling_from_config({**yarn, "truncate": None}) != scaling_from_config(yarn)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"sliding_window_pattern": 0}, "sliding_window_pattern=0 is too small"),
        ({"sliding_window_pattern": "SSSF"}, "a number or letters L and G, got 'SSSF'"),
        ({"query_pre_attn_scalar": 0}, "query_pre_attn_scalar=0 is not allowed"),
    ],
)
def test_what_no_layer_can_be_made_of_is_told_with_its_key(wrong, told):
    sizes = {"hidden_size": 64, "num_attention_heads": 4, "head_dim": 16, "num_hidden_layers": 6}
    with pytest.raises(ValueError, match=re.escape(told)):
        rope_from_config({"model_type": "gemma3_text", **sizes, **wrong})


# ---- what a family takes where a key is left out (as transformers: tests/conformance/test_config_keys.py)

S, F, L, H = "sliding_attention", "full_attention", "linear_attention", "hybrid"


@pytest.mark.parametrize(
    ("model_type", "more", "kinds"),
    [
        ("qwen3_moe", {"sliding_window": 64, "use_sliding_window": False}, [F] * 4),
        ("qwen3_moe", {"use_sliding_window": True}, [S] * 4),
        ("qwen2", {"use_sliding_window": True}, [F] * 4),
        ("qwen2", {"use_sliding_window": True, "max_window_layers": 2}, [F, F, S, S]),
        ("qwen2_moe", {"use_sliding_window": True}, [S, F, S, F]),
        ("dots1", {"sliding_window": 64, "max_window_layers": 2}, [F, F, S, S]),
        ("smollm3", {"use_sliding_window": True, "sliding_window": 64}, [F, F, F, S]),
        ("embedding_gemma2_text", {"sliding_window_pattern": 2, "num_hidden_layers": 3}, [S, F, F]),
        ("mimo_v2_flash", {"num_hidden_layers": 7}, [F, S, S, S, S, F, S]),
        (
            "cohere2_moe",
            {
                "num_hidden_layers": 6,
                "first_k_dense_replace": 3,
                "prefix_dense_sliding_window_pattern": 2,
                "sliding_window_pattern": 3,
            },
            [S, F, S, S, S, F],
        ),
        ("gemma4_text", {}, [S, S, S, F]),
        ("gemma4_text", {"layer_types": [S] * 4}, [S, S, S, F]),
        (
            "zamba",
            {"attn_layer_period": 2, "attn_layer_offset": 0, "num_hidden_layers": 6},
            [L, L, H, H, L, H],
        ),
        ("glm5_next_text", {}, [L, L, L, "indexed_attention"]),
    ],
)
def test_the_kinds_of_a_familys_layers(model_type: str, more: dict[str, Any], kinds: list[str]) -> None:
    layers = layers_from_config({**LLAMA, "model_type": model_type, "num_hidden_layers": 4, **more})
    assert [layer.kind for layer in layers] == kinds


def test_a_base_that_the_family_does_not_read() -> None:
    """DeepSeek-V4's `rope_theta` is that of layers with a window alone, ModernBERT's of none."""
    v4 = {"model_type": "deepseek_v4", "num_hidden_layers": 2, "compress_ratios": [0, 4], "rope_theta": 500.0}
    assert [present(layer.rope).base for layer in layers_from_config(v4)] == [500.0, 160_000.0]
    bert = {**LLAMA, "model_type": "modernbert", "num_hidden_layers": 2, "rope_theta": 500.0}
    assert [present(layer.rope).base for layer in layers_from_config(bert)] == [160_000.0, 10_000.0]


def test_a_part_has_the_defaults_of_its_whole() -> None:
    (layer, *_) = layers = layers_from_config({"model_type": "voxtral", "text_config": {}})
    assert (len(layers), present(layer.rope).base, present(layer.rope).head_dim) == (30, 1e8, 128)


@pytest.mark.parametrize("model_type", ["hyperclovax", "step3p5"])
def test_a_scale_that_follows_the_heads(model_type: str) -> None:
    config = {"model_type": model_type, "head_dim": 64, "num_hidden_layers": 1}
    assert layers_from_config(config)[0].softmax_scale == 64**-0.5


@pytest.mark.parametrize(
    "more",
    [
        {"model_type": "t5"},
        {"model_type": "bloom"},
        {"model_type": "gpt_neo"},
        {"model_type": "falcon", "alibi": True},
    ],
)
def test_layers_that_rotate_nothing_say_that_this_is_not_all(more: dict[str, Any]) -> None:
    sizes = {"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2}
    assert all("does not rotate" in layer.also for layer in layers_from_config(sizes | more))
    turning = {"model_type": "llama", "rope_theta": 10000.0}
    assert not any(layer.also for layer in layers_from_config(sizes | turning))
