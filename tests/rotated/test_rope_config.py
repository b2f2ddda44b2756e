"""Hugging Face's dicts, in both spellings, give the rules that they describe, or say what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from posenc_lib import frequencies
from posenc_lib.rotated import (
    DynamicNTKScaling,
    LinearScaling,
    Llama3Scaling,
    LongRoPEScaling,
    ProportionalScaling,
    YaRNScaling,
    apply_rotary,
    rope_from_config,
    rotary_tables,
    scaling_from_config,
)

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


@pytest.mark.parametrize(
    ("parameters", "options", "words"),
    [
        ({"rope_type": "ntk", "factor": 2.0}, {}, ["'ntk'", "'dynamic'", "'yarn'", "'llama3'"]),
        ({"rope_type": 3}, {}, ["rope_type=3"]),
        ({"factor": 2.0}, {}, ["no rope_type", "'linear'"]),
        ({"rope_type": "linear", "type": "yarn", "factor": 2.0}, {}, ["'linear'", "'yarn'", "contradict"]),
        ({"rope_type": "linear"}, {}, ["'factor'"]),
        ({"rope_type": "linear", "factor": None}, {}, ["'factor'"]),
        ({"rope_type": "linear", "factor": 2.0, "beta_fast": 32}, {}, ["'beta_fast'", "allowed", "'factor'"]),
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
def test_the_dicts_rope_theta_is_the_base(given: dict[str, float]) -> None:
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
        rope_from_config(LLAMA, layout="split")


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
