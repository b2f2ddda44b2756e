"""Whole models of transformers, tiny and random, with our attention in the place of theirs.

What it needs, it gets from `layers_from_config` and from the weights: no attention is written here. What is
right is the model as transformers runs it, each text by itself.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from posenc_lib.nn import Attention, LayerCache, NoPE, Rotary
from posenc_lib.rotated import LayerPositions, layers_from_config
from tests.conformance.peers import transformers

SIZES = {
    "vocab_size": 50,
    "hidden_size": 32,
    "intermediate_size": 24,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 4,
    "head_dim": 16,
    "max_position_embeddings": 64,
}
CONFIGS: dict[str, dict[str, Any]] = {
    "gemma3_text": {
        "sliding_window": 4,
        "layer_types": ["sliding_attention", "full_attention"] * 2,
        "query_pre_attn_scalar": 10,
    },
    "gemma2": {"sliding_window": 4, "query_pre_attn_scalar": 10, "attn_logit_softcapping": 0.5},
    "gpt_oss": {
        "sliding_window": 4,
        "layer_types": ["sliding_attention", "full_attention"] * 2,
        "num_local_experts": 2,
        "num_experts_per_tok": 1,
    },
    "qwen3": {},
    "mistral": {"sliding_window": 5},
    "granite": {"attention_multiplier": 0.1},
    "smollm3": {"no_rope_layer_interval": 2},
}


class Ours(nn.Module):
    """Our attention with the weights of one layer, called as transformers calls its own."""

    def __init__(self, theirs: Any, layer: LayerPositions, config: Any) -> None:
        super().__init__()
        norms = [getattr(theirs, name, None) for name in ("q_norm", "k_norm")]
        more = 1.0 if config.model_type.startswith("gemma") else 0.0
        self.attention = Attention(
            config.hidden_size,
            config.num_attention_heads,
            kv_heads=config.num_key_value_heads,
            head_dim=config.head_dim,
            bias=theirs.q_proj.bias is not None,
            window=layer.window,
            scale=layer.softmax_scale,
            softcap=getattr(config, "attn_logit_softcapping", None),
            sinks=hasattr(theirs, "sinks"),
            qk_norm=config.rms_norm_eps if norms[0] is not None else None,
        )
        self.rope = NoPE() if layer.rope is None else Rotary.from_settings(layer.rope)
        self.now: dict[str, Any] = {}
        projections = [theirs.q_proj, theirs.k_proj, theirs.v_proj]
        weights = {
            "in_proj_weight": torch.cat([each.weight for each in projections]),
            "out_proj.weight": theirs.o_proj.weight,
        }
        if theirs.q_proj.bias is not None:
            weights["in_proj_bias"] = torch.cat([each.bias for each in projections])
            weights["out_proj.bias"] = theirs.o_proj.bias
        if hasattr(theirs, "sinks"):
            weights["sinks"] = theirs.sinks
        for name, norm in zip(("q_norm", "k_norm"), norms, strict=True):
            if norm is not None:
                weights[f"{name}.weight"] = norm.weight + more
        self.attention.load_state_dict(weights)

    def forward(self, hidden_states: torch.Tensor, **_: Any) -> tuple[torch.Tensor, None]:
        return self.attention(hidden_states, encoding=self.rope, causal=True, **self.now), None


class Model:
    """One model twice: as it is, and with our attention."""

    def __init__(self, family: str) -> None:
        given = {**SIZES, **CONFIGS[family], "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
        self.config = transformers.CONFIG_MAPPING[family].from_dict(given)
        torch.manual_seed(0)
        auto = transformers.AutoModelForCausalLM
        self.theirs = auto.from_config(self.config, attn_implementation="eager").eval()
        for name, parameter in self.theirs.named_parameters():  # norms and sinks begin all alike
            if "norm" in name or "sinks" in name:
                nn.init.normal_(parameter.data, mean=float("gemma" not in family), std=0.3)
            elif "proj" in name:  # scores large enough for a cap and a window to tell
                parameter.data.mul_(6.0)
        self.ours = auto.from_config(self.config, attn_implementation="eager").eval()
        self.ours.load_state_dict(self.theirs.state_dict())
        layers = layers_from_config(self.config)
        for block, layer in zip(self.ours.model.layers, layers, strict=True):
            block.self_attn = Ours(block.self_attn, layer, self.config)

    def logits(self, tokens: torch.Tensor, **now: Any) -> torch.Tensor:
        """By our attention; a list stands for one thing a layer."""
        for index, block in enumerate(self.ours.model.layers):
            block.self_attn.now = {
                name: value[index] if isinstance(value, list) else value for name, value in now.items()
            }
        with torch.no_grad():
            logits: torch.Tensor = self.ours(tokens, use_cache=False).logits
        return logits

    def alone(self, text: torch.Tensor) -> torch.Tensor:
        """By transformers, of one text (length,)."""
        with torch.no_grad():
            logits: torch.Tensor = self.theirs(text[None], use_cache=False).logits[0]
        return logits


@pytest.fixture(scope="module", params=CONFIGS)
def model(request: pytest.FixtureRequest) -> Model:
    return Model(request.param)


TEXTS = [
    torch.randint(3, 50, (length,), generator=torch.Generator().manual_seed(length)) for length in (11, 7)
]


def near(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    torch.testing.assert_close(ours, theirs, rtol=2e-4, atol=2e-4 * float(theirs.abs().max()))


def test_plain(model: Model) -> None:
    near(model.logits(TEXTS[0][None])[0], model.alone(TEXTS[0]))


def test_with_a_cache(model: Model) -> None:
    text, caches = TEXTS[0], [LayerCache() for _ in model.ours.model.layers]
    parts = [model.logits(part[None], cache=caches)[0] for part in (text[:5], text[5:6], text[6:9], text[9:])]
    near(torch.cat(parts), model.alone(text))


def test_padded_on_the_left(model: Model) -> None:
    long, short = TEXTS
    padding = len(long) - len(short)
    tokens = torch.stack([long, torch.cat([torch.zeros(padding, dtype=torch.long), short])])
    real = torch.arange(len(long)) >= torch.tensor([[0], [padding]])
    positions = (real.cumsum(-1) - 1).clamp(min=0)
    logits = model.logits(tokens, mask=real[:, None, None], positions=positions)
    near(logits[0], model.alone(long))
    near(logits[1, padding:], model.alone(short))


def test_packed(model: Model) -> None:
    ends = torch.tensor([0, len(TEXTS[0]), len(TEXTS[0]) + len(TEXTS[1])])
    logits = model.logits(torch.cat(TEXTS)[None], cu_seqlens=ends)[0]
    near(logits, torch.cat([model.alone(text) for text in TEXTS]))


def test_what_the_config_says_is_heard(model: Model) -> None:
    """Without its window, scale, cap or norms, the logits are others."""
    expected = model.alone(TEXTS[0])
    for name in ("window", "scale", "softcap", "q_norm", "sinks"):
        kept = [getattr(block.self_attn.attention, name) for block in model.ours.model.layers]
        if all(each is None for each in kept):
            continue
        if name == "scale" and all(each == 1 / 4 for each in kept):  # head_dim 16
            continue
        for block in model.ours.model.layers:
            setattr(block.self_attn.attention, name, None)
        other = model.logits(TEXTS[0][None])[0]
        for block, each in zip(model.ours.model.layers, kept, strict=True):
            setattr(block.self_attn.attention, name, each)
        assert float((other - expected).abs().max()) > 2e-3 * float(expected.abs().max()), name
