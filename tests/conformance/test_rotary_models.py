"""Tiny randomly initialised models of transformers give the same logits with our door in place of theirs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from posenc_lib.rotated import RotaryTables, convert_layout, rope_from_config, rotate
from posenc_lib.rotated.families import FAMILIES
from posenc_lib.rotated.tables import Layout

SCALINGS: dict[str, dict[str, Any]] = {
    "default": {"rope_type": "default", "rope_theta": 10000.0},
    "llama3": {
        "rope_type": "llama3",
        "rope_theta": 500000.0,
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 16,
    },
    "yarn": {
        "rope_type": "yarn",
        "rope_theta": 10000.0,
        "factor": 4.0,
        "original_max_position_embeddings": 16,
        "beta_fast": 4,
    },
}


class OurTables(torch.nn.Module):
    """In place of transformers' rotary module: hands our tables down to every layer."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.settings = rope_from_config(config)

    def forward(self, x: torch.Tensor, position_ids: torch.Tensor) -> tuple[RotaryTables, RotaryTables]:
        tables = self.settings.tables(position_ids[:, None])
        return tables, tables


def our_rotation(layout: Layout) -> Callable[..., tuple[torch.Tensor, torch.Tensor]]:
    def apply(
        q: torch.Tensor, k: torch.Tensor, tables: RotaryTables, same: RotaryTables, **ignored: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return rotate(q, tables, layout=layout), rotate(k, tables, layout=layout)

    return apply


def tiny_llama(parameters: dict[str, Any]) -> tuple[ModuleType, Any, str]:
    from transformers import LlamaConfig, LlamaForCausalLM
    from transformers.models.llama import modeling_llama

    torch.manual_seed(0)
    config = LlamaConfig(  # type: ignore[call-arg]  # the base class takes the last
        vocab_size=50,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        rope_parameters=dict(parameters),
        initializer_range=0.3,
        attn_implementation="eager",
    )
    return modeling_llama, LlamaForCausalLM(config).eval(), "model"


def tiny_neox(parameters: dict[str, Any]) -> tuple[ModuleType, Any, str]:
    from transformers import GPTNeoXConfig, GPTNeoXForCausalLM
    from transformers.models.gpt_neox import modeling_gpt_neox

    torch.manual_seed(0)
    config = GPTNeoXConfig(  # type: ignore[call-arg]  # the base class takes the last
        vocab_size=50,
        hidden_size=64,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
        rope_parameters={**parameters, "partial_rotary_factor": 0.25},
        initializer_range=0.3,
        attn_implementation="eager",
    )
    return modeling_gpt_neox, GPTNeoXForCausalLM(config).eval(), "gpt_neox"


MODELS = {"llama": tiny_llama, "gpt_neox": tiny_neox}
TOKENS = torch.arange(22).reshape(2, 11) % 50


def replace(
    module: ModuleType, model: Any, inner: str, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "apply_rotary_pos_emb", our_rotation(layout))
    getattr(model, inner).rotary_emb = OurTables(model.config)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("family", MODELS)
@torch.no_grad()
def test_logits(family: str, scaling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, model, inner = MODELS[family](SCALINGS[scaling])
    theirs = model(TOKENS).logits
    replace(module, model, inner, "half", monkeypatch)
    torch.testing.assert_close(model(TOKENS).logits, theirs, atol=2e-4, rtol=1e-4)
    if family == "gpt_neox":
        assert getattr(model, inner).rotary_emb.settings.rotary_dim == 4
    replace(module, model, inner, "interleaved", monkeypatch)
    assert (model(TOKENS).logits - theirs).abs().max() > 0.05, "the test would not see a wrong layout"


@torch.no_grad()
def test_padding_on_the_left(monkeypatch: pytest.MonkeyPatch) -> None:
    module, model, inner = tiny_llama(SCALINGS["default"])
    mask = torch.ones_like(TOKENS)
    mask[0, :4] = 0
    options = {"attention_mask": mask, "position_ids": (mask.cumsum(-1) - 1).clamp(min=0)}
    theirs = model(TOKENS, **options).logits
    replace(module, model, inner, "half", monkeypatch)
    ours = model(TOKENS, **options).logits
    torch.testing.assert_close(ours[mask.bool()], theirs[mask.bool()], atol=2e-4, rtol=1e-4)
    alone = model(TOKENS[:1, 4:]).logits
    torch.testing.assert_close(ours[:1, 4:], alone, atol=2e-4, rtol=1e-4)


@torch.no_grad()
def test_a_cache_of_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    module, model, inner = tiny_llama(SCALINGS["llama3"])
    theirs = model(TOKENS).logits
    replace(module, model, inner, "half", monkeypatch)
    first = model(TOKENS[:, :7], use_cache=True)
    rest = model(TOKENS[:, 7:], past_key_values=first.past_key_values)
    torch.testing.assert_close(torch.cat([first.logits, rest.logits], 1), theirs, atol=2e-4, rtol=1e-4)


@torch.no_grad()
def test_weights_in_the_other_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    module, model, inner = tiny_llama(SCALINGS["default"])
    theirs = model(TOKENS).logits
    for layer in model.model.layers:
        for projection, heads in ((layer.self_attn.q_proj, 4), (layer.self_attn.k_proj, 2)):
            projection.weight.copy_(
                convert_layout(projection.weight, heads=heads, source="half", target="interleaved")
            )
    replace(module, model, inner, "interleaved", monkeypatch)
    torch.testing.assert_close(model(TOKENS).logits, theirs, atol=2e-4, rtol=1e-4)


# ---- which model has which layout

NO_TEXT = {"edgetam_video", "efficientloftr", "lightglue", "sam2_video", "sam3", "sam3_tracker_video"}


def test_the_list_of_interleaved_models_is_complete() -> None:
    """Read from the source of every model of the installed transformers."""
    import transformers

    found = set()
    for path in sorted((Path(transformers.__file__).parent / "models").glob("*/modeling_*.py")):
        functions = re.findall(
            r"\n *def (?:\w*rotate\w*|\w*apply\w*rot\w*)\(.*?(?=\n *(?:def|class)\b|\n *@)",
            path.read_text(),
            re.DOTALL,
        )
        if any(re.search(r"::2\b|view_as_complex", body) for body in functions):
            found.add(path.parent.name)
    interleaved = {name for name, family in FAMILIES.items() if family.layout == "interleaved"}
    for package in found - NO_TEXT:
        assert any(name.startswith(package) for name in interleaved), package
    models = path.parents[1]  # Sarvam's has a config alone, and DeepSeek's code
    packages = {name for name in interleaved if (models / name / f"modeling_{name}.py").is_file()}
    assert packages <= found
