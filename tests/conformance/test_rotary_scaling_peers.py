"""Every scaling rule against transformers' ROPE_INIT_FUNCTIONS, with the numbers of real checkpoints."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
import torch

from posenc_lib import frequencies
from posenc_lib.rotated import DynamicNTKScaling, YaRNScaling, rope_from_config, rotary_tables
from tests.present import present

SHORT = [1.0 + 0.01 * i for i in range(48)]
LONG = [1.0 + 0.5 * i for i in range(48)]

LLAMA_31_8B: dict[str, Any] = {
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "max_position_embeddings": 131072,
    "rope_theta": 500000.0,
    "rope_scaling": {
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
        "rope_type": "llama3",
    },
}
LLAMA_32_1B = {
    **LLAMA_31_8B,
    "hidden_size": 2048,
    "head_dim": 64,
    "rope_scaling": {**LLAMA_31_8B["rope_scaling"], "factor": 32.0},
}
LLAMA_4_SCOUT = {
    **LLAMA_31_8B,
    "hidden_size": 5120,
    "num_attention_heads": 40,
    "rope_scaling": {**LLAMA_31_8B["rope_scaling"], "factor": 16.0, "high_freq_factor": 1.0},
}
QWEN_25_7B = {
    "hidden_size": 3584,
    "num_attention_heads": 28,
    "max_position_embeddings": 32768,
    "rope_theta": 1000000.0,
    "rope_scaling": {"factor": 4.0, "original_max_position_embeddings": 32768, "type": "yarn"},
}
PHI_3_MINI_128K = {
    "hidden_size": 3072,
    "num_attention_heads": 32,
    "max_position_embeddings": 131072,
    "original_max_position_embeddings": 4096,
    "rope_theta": 10000.0,
    "rope_scaling": {"long_factor": LONG, "short_factor": SHORT, "type": "longrope"},
}
DEEPSEEK_V3: dict[str, Any] = {
    "hidden_size": 7168,
    "num_attention_heads": 128,
    "head_dim": 64,
    "max_position_embeddings": 163840,
    "rope_theta": 10000.0,
    "rope_scaling": {
        "beta_fast": 32,
        "beta_slow": 1,
        "factor": 40,
        "mscale": 1.0,
        "mscale_all_dim": 1.0,
        "original_max_position_embeddings": 4096,
        "type": "yarn",
    },
}
DEEPSEEK_V2 = {
    **DEEPSEEK_V3,
    "rope_scaling": {**DEEPSEEK_V3["rope_scaling"], "mscale": 0.707, "mscale_all_dim": 0.707},
}
GPT_OSS = {
    "hidden_size": 2880,
    "num_attention_heads": 64,
    "head_dim": 64,
    "max_position_embeddings": 131072,
    "rope_theta": 150000.0,
    "rope_scaling": {
        "beta_fast": 32.0,
        "beta_slow": 1.0,
        "factor": 32.0,
        "original_max_position_embeddings": 4096,
        "rope_type": "yarn",
        "truncate": False,
    },
}
SMALL = {"hidden_size": 512, "num_attention_heads": 4, "max_position_embeddings": 4096, "rope_theta": 10000.0}


def small(**parameters: Any) -> dict[str, Any]:
    """A small model in the new spelling."""
    plain = {key: value for key, value in SMALL.items() if key != "rope_theta"}
    return {**plain, "rope_parameters": {"rope_theta": 10000.0, **parameters}}


CASES = {
    "Llama 3.1 8B": (LLAMA_31_8B, None),
    "Llama 3.2 1B": (LLAMA_32_1B, None),
    "Llama 4 Scout": (LLAMA_4_SCOUT, None),
    "Qwen 2.5 with YaRN": (QWEN_25_7B, None),
    "Phi-3-mini-128k, short": (PHI_3_MINI_128K, 4096),
    "Phi-3-mini-128k, long": (PHI_3_MINI_128K, 4097),
    "DeepSeek-V3": (DEEPSEEK_V3, None),
    "DeepSeek-V2": (DEEPSEEK_V2, None),
    "gpt-oss": (GPT_OSS, None),
    "linear": (small(rope_type="linear", factor=4.0), None),
    "linear, old": ({**SMALL, "rope_scaling": {"type": "linear", "factor": 2.5}}, None),
    "dynamic at once": (small(rope_type="dynamic", factor=4.0), 100),
    "dynamic, four times": (small(rope_type="dynamic", factor=4.0), 16384),
    "dynamic, old": ({**SMALL, "rope_scaling": {"type": "dynamic", "factor": 2.0}}, 5000),
    "yarn": (small(rope_type="yarn", factor=16.0, original_max_position_embeddings=256), None),
    "yarn, betas": (
        small(
            rope_type="yarn",
            factor=8.0,
            original_max_position_embeddings=512,
            beta_fast=16,
            beta_slow=2,
            attention_factor=1.5,
        ),
        None,
    ),
    "yarn, mscale apart": (
        small(
            rope_type="yarn",
            factor=8.0,
            original_max_position_embeddings=512,
            mscale=1.0,
            mscale_all_dim=0.5,
        ),
        None,
    ),
    "partial": (small(rope_type="linear", factor=2.0, partial_rotary_factor=0.25), None),
    "proportional": (small(rope_type="proportional", factor=2.0, partial_rotary_factor=0.25), None),
}


@pytest.mark.parametrize("name", CASES)
def test_frequencies_and_attention_factor(name: str, caplog: pytest.LogCaptureFixture) -> None:
    from transformers import LlamaConfig, Phi3Config
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    caplog.set_level(logging.ERROR)
    given, length = CASES[name]
    kind = Phi3Config if "original_max_position_embeddings" in given else LlamaConfig
    config = kind(**{**given, **_copied(given)})
    theirs, attention = ROPE_INIT_FUNCTIONS[present(config.rope_parameters)["rope_type"]](
        config, "cpu", seq_len=length
    )

    for source in ({"model_type": config.model_type, **given}, config):
        settings = rope_from_config(source, length=length)
        ours = frequencies(settings.rotary_dim, base=settings.base, scaling=settings.scaling)
        assert settings.scaling is not None
        np.testing.assert_allclose(ours, theirs.double().numpy(), rtol=2e-6, atol=1e-12)
        assert settings.scaling.attention_scaling == pytest.approx(attention, rel=1e-12)


def _copied(given: dict[str, Any]) -> dict[str, Any]:
    """The nested dicts anew: transformers writes into those it is given."""
    return {key: dict(value) for key, value in given.items() if isinstance(value, dict)}


@pytest.mark.parametrize("name", ["Llama 3.1 8B", "Qwen 2.5 with YaRN", "DeepSeek-V3"])
def test_whole_tables(name: str) -> None:
    """Cosines and sines with the attention factor in them, as transformers' module makes them."""
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    given, _ = CASES[name]
    module = LlamaRotaryEmbedding(LlamaConfig(**{**given, **_copied(given)}))
    cos, sin = module(torch.zeros(1), torch.arange(300)[None])
    tables = rope_from_config(given, family="llama").tables(torch.arange(300))
    torch.testing.assert_close(torch.cat([tables.cos] * 2, -1), cos[0], atol=5e-5, rtol=0)
    torch.testing.assert_close(torch.cat([tables.sin] * 2, -1), sin[0], atol=5e-5, rtol=0)


def test_the_released_code_of_yarn_is_the_default_and_the_paper_an_option() -> None:
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    given = CASES["yarn"][0]
    theirs, _ = ROPE_INIT_FUNCTIONS["yarn"](LlamaConfig(**{**given, **_copied(given)}), "cpu")
    code = frequencies(128, scaling=YaRNScaling(16.0, 256))
    paper = frequencies(128, scaling=YaRNScaling(16.0, 256, ramp="turns"))
    np.testing.assert_allclose(code, theirs.double().numpy(), rtol=2e-6)
    assert np.abs(paper / theirs.double().numpy() - 1).max() > 0.5


def test_theirs_depends_on_what_was_run_before_and_ours_does_not() -> None:
    """Dynamic NTK: 8,192 positions after 16,384 are rotated otherwise than 8,192 alone."""
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    given = CASES["dynamic, four times"][0]

    def module() -> Any:
        return LlamaRotaryEmbedding(LlamaConfig(**{**given, **_copied(given)}))

    fresh, used = module(), module()
    used(torch.zeros(1), torch.arange(16384)[None])
    alone, after = (one(torch.zeros(1), torch.arange(8192)[None])[0] for one in (fresh, used))
    assert (alone - after).abs().max() > 1.0
    rule = DynamicNTKScaling(4.0, original_length=4096, length=8192)
    ours = rotary_tables(torch.arange(8192), 128, scaling=rule).cos
    torch.testing.assert_close(ours, alone[0, :, :64], atol=2e-3, rtol=0)
