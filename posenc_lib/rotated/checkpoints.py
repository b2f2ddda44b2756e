"""RoPE as a checkpoint has it: its settings from a config, its weights from one layout to the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import Array, constant, namespace
from posenc_lib.rotated.axial import mrope_tables
from posenc_lib.rotated.rotary import rotary_tables, rotate
from posenc_lib.rotated.tables import RotaryTables
from posenc_lib.rotated.turn import LAYOUTS
from posenc_lib.scaling.config import DEFAULT_BASE, partial_rotary_dim, rope_type, scaling_from_config
from posenc_lib.scaling.rules import Scaling

# fmt: off
INTERLEAVED_MODELS = frozenset({
    "axk1", "axk2", "bailing_hybrid", "blt", "blt_global_transformer", "blt_local_decoder",
    "blt_local_encoder", "blt_patcher", "codegen", "cohere", "cohere2", "cohere2_moe", "deepseek_v2",
    "deepseek_v3", "deepseek_v32", "deepseek_v4", "dots3_note", "dots3_note_text", "ernie4_5",
    "ernie4_5_moe", "ernie4_5_vl_moe", "ernie4_5_vl_moe_text", "glm", "glm4", "glm4_moe_lite", "glm4v",
    "glm4v_text", "glm_moe_dsa", "glm_ocr", "glm_ocr_text", "gptj", "helium", "llama4", "llama4_text",
    "longcat_flash", "mistral4", "mistral_large4", "mistral_large4_text", "moonshine",
    "moonshine_streaming", "openai_privacy_filter", "roformer", "youtu",
})
# fmt: on
"""Values of `model_type` whose queries and keys pair columns 2j and 2j+1, in transformers 5.23.

All its other decoders pair j with j + dim/2, as LLaMA does.
"""

# fmt: off
WITHOUT_ROTATION = frozenset({
    "albert", "bart", "bert", "bloom", "blenderbot", "clip", "deberta", "deberta-v2", "detr", "distilbert",
    "electra", "gpt2", "gpt_bigcode", "gpt_neo", "led", "longformer", "longt5", "m2m_100", "marian",
    "mbart", "mpnet", "mpt", "mt5", "musicgen", "openai-gpt", "opt", "pegasus", "roberta", "speecht5",
    "t5", "umt5", "vit", "vit_mae", "whisper", "xglm", "xlm", "xlm-roberta", "xlnet",
})
# fmt: on
"""Values of `model_type` whose positions come in through another door: a table or a bias."""

INTERLEAVED_SECTIONS = (
    "cohere_compass",
    "cosmos3_edge",
    "qwen3_5",
    "qwen3_omni_moe",
    "qwen3_vl",
    "qwen4_exp",
)
"""How the `model_type` begins where M-RoPE deals its sections out in turn."""


@dataclass(frozen=True)
class RopeSettings:
    """What a model's config says about its rotation.

    Attributes:
        head_dim: width of the vectors that carry the rotation.
        rotary_dim: how many of their columns turn.
        base: `rope_theta`.
        scaling: the scaling rule, or None.
        layout: "interleaved" or "half".
        sections: pairs per axis of M-RoPE, or None where positions are one number per token.
        sections_interleaved: whether M-RoPE deals its sections out in turn.

    Example:
        >>> import numpy as np
        >>> settings = RopeSettings(64, 16, 10000.0, None, "half")  # GPT-NeoX's: a quarter turns
        >>> q = np.random.default_rng(0).normal(size=(8, 10, 64))  # heads, tokens, head_dim
        >>> turned = settings.rotate(q, settings.tables(10))
        >>> np.array_equal(turned[..., 16:], q[..., 16:])  # the rest passes
        True
    """

    head_dim: int
    rotary_dim: int
    base: float
    scaling: Scaling | None
    layout: str
    sections: tuple[int, ...] | None = None
    sections_interleaved: bool = False

    def tables(self, positions: int | Array, *, dtype: Any = None) -> RotaryTables:
        """Tables for positions of one number per token, as `rotary_tables`.

        For a model with M-RoPE these are its tables for plain text.
        """
        return rotary_tables(positions, self.rotary_dim, base=self.base, scaling=self.scaling, dtype=dtype)

    def section_tables(self, positions: Array, *, dtype: Any = None) -> RotaryTables:
        """Tables for positions of one number per axis, (axes, ...), as `mrope_tables`.

        Raises:
            ValueError: the model has no sections.
        """
        if self.sections is None:
            raise ValueError("this model's config names no mrope_section; use tables(positions)")
        return mrope_tables(
            positions,
            self.rotary_dim,
            self.sections,
            interleaved=self.sections_interleaved,
            base=self.base,
            scaling=self.scaling,
            dtype=dtype,
        )

    def rotate(self, x: Array, tables: RotaryTables, *, out: Array | None = None) -> Array:
        """Rotate in the model's layout, as `rotate`."""
        return rotate(x, tables, layout=self.layout, out=out)


def rope_from_config(
    config: Any, *, length: int | None = None, layer_type: str | None = None, layout: str | None = None
) -> RopeSettings:
    """Read a checkpoint's rotation from its config.

    Args:
        config: the content of `config.json` as a dict, or an object with `to_dict()` such as
            transformers' configs. Of a multimodal config, its `text_config` is read.
        length: the longest sequence that is to be read; needed by rope types "dynamic" and "longrope".
        layer_type: which layers, where they differ: "full_attention" or "sliding_attention".
        layout: which columns make a pair, "interleaved" or "half"; by default what transformers does for
            this `model_type`, which is "half" except for `INTERLEAVED_MODELS`. The original weights
            of LLaMA (not those in Hugging Face format) are interleaved: say so.

    Returns:
        The settings. Their `tables(positions)` and `rotate(x, tables)` do what the model does.

    Raises:
        TypeError: config is neither a dict nor has `to_dict()`, or a value has the wrong type.
        ValueError: a key is missing, contradictory or out of range; length or layer_type is needed; the
            model rotates nothing, as BERT, T5, or Falcon with `alibi`.

    Example:
        >>> llama = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "rope_theta": 5e5}
        >>> rope = rope_from_config(llama)
        >>> rope.head_dim, rope.base, rope.layout
        (128, 500000.0, 'half')
    """
    config = _as_dict(config)
    model_type = str(config.get("model_type", ""))
    _require_rotation(config, model_type)
    parameters = _parameters(config, layer_type)
    head_dim = _head_dim(config)
    interleaved = model_type in INTERLEAVED_MODELS and config.get("rope_interleave", True)
    layout = require.choice(layout or ("interleaved" if interleaved else "half"), "layout", LAYOUTS)
    sections = parameters.get("mrope_section")
    return RopeSettings(
        head_dim=head_dim,
        rotary_dim=_rotary_dim(config, parameters, head_dim),
        base=require.positive(_first(parameters, "rope_theta", default=DEFAULT_BASE), "rope_theta"),
        scaling=scaling_from_config(
            parameters, max_length=_first(config, "max_position_embeddings", "n_positions"), length=length
        ),
        layout=layout,
        sections=None if sections is None else tuple(sections),
        sections_interleaved=bool(
            parameters.get("mrope_interleaved", model_type.startswith(INTERLEAVED_SECTIONS))
        ),
    )


def convert_layout(
    weight: Array, *, heads: int, source: str, target: str, rotary_dim: int | None = None
) -> Array:
    """Reorder the rows of a query or key projection from one layout to the other.

    The rotated queries and keys then have their columns in another order, the same for both, so
    that every score stays what it was. Values and the output projection stay as they are.

    Args:
        weight: (heads * head_dim, width) as a torch Linear has it, or a bias (heads * head_dim,).
            For keys of grouped-query attention, heads is the number of key heads.
        heads: how many heads the rows hold.
        source, target: "interleaved" or "half".
        rotary_dim: how many columns of each head turn, even; by default all of head_dim.

    Returns:
        The same rows in another order, of the same shape, dtype and library.

    Raises:
        TypeError: weight is no array, or heads no integer.
        ValueError: rows that do not divide into heads; rotary_dim odd or above head_dim; an
            unknown layout.

    Source: transformers' `convert_llama_weights_to_hf.py`, whose `permute` is interleaved to half.

    Example:
        >>> convert_layout(np.arange(8), heads=2, source="interleaved", target="half")
        array([0, 2, 1, 3, 4, 6, 5, 7])
    """
    require.choice(source, "source", LAYOUTS)
    require.choice(target, "target", LAYOUTS)
    xp = namespace(weight)
    heads = require.count(heads, "heads")
    if weight.ndim == 0 or weight.shape[0] == 0 or weight.shape[0] % heads:
        raise ValueError(
            f"weight of shape {tuple(weight.shape)} does not divide into heads={heads} along its first "
            "axis; give (heads * head_dim, width), or (heads * head_dim,) for a bias"
        )
    head_dim = weight.shape[0] // heads
    dim = require.rotary_dim(rotary_dim, head_dim)
    if source == target:
        return weight
    columns = np.arange(dim)
    order = np.arange(head_dim)
    if target == "half":
        order[:dim] = np.concatenate([columns[0::2], columns[1::2]])
    else:
        order[:dim] = np.stack(np.split(columns, 2), axis=-1).reshape(-1)
    rows = (np.arange(heads)[:, None] * head_dim + order).reshape(-1)
    return xp.take(weight, constant(rows, weight), axis=0)


def _require_rotation(config: dict[str, Any], model_type: str) -> None:
    """Raise ValueError where the config tells of a model that adds or biases its positions instead."""
    if config.get("alibi") or model_type in WITHOUT_ROTATION:
        given = "alibi: true" if config.get("alibi") else f"model_type {model_type!r}"
        raise ValueError(
            f"a model with {given} rotates nothing: its positions are a table that is added, or a bias; "
            "use posenc_lib.added or posenc_lib.biased, or give the config of a model that rotates"
        )


def _as_dict(config: Any) -> Mapping[str, Any]:
    if not isinstance(config, Mapping):
        if not hasattr(config, "to_dict"):
            raise TypeError(
                f"config is of type {type(config).__name__}; give the content of config.json as a dict, or "
                "an object with to_dict()"
            )
        config = config.to_dict()
    inner = config.get("text_config")
    return config if not isinstance(inner, Mapping) or "hidden_size" in config else inner


def _parameters(config: Mapping[str, Any], layer_type: str | None) -> dict[str, Any]:
    """The rope parameters of these layers, with what stands beside them in the config put in."""
    given = _first(config, "rope_parameters", "rope_scaling", default={})
    if not isinstance(given, Mapping):
        raise TypeError(f"the config's rope parameters are {given!r}; a dict or null is allowed there")
    local = _first(config, "rope_local_base_freq", "local_rope_theta")
    by_layer = {key: value for key, value in given.items() if isinstance(value, Mapping)}
    if by_layer or local is not None:
        kinds = tuple(by_layer) or ("full_attention", "sliding_attention")
        if layer_type is None:
            raise ValueError(
                f"this config's layers differ in their rotation; give layer_type, one of {', '.join(kinds)}"
            )
        require.choice(layer_type, "layer_type", kinds)
        if by_layer:
            given = by_layer[layer_type]
        elif layer_type == "sliding_attention":
            return {"rope_theta": local}
    parameters = {key: value for key, value in given.items() if value is not None}
    beside = _first(config, "rope_theta", "global_rope_theta", "rotary_emb_base")
    if beside is not None:
        parameters.setdefault("rope_theta", beside)
    original = config.get("original_max_position_embeddings")
    if original is not None and rope_type(parameters) in ("llama3", "yarn", "longrope", "su"):
        parameters["original_max_position_embeddings"] = original  # Phi-3; it wins in transformers too
    return parameters


def _head_dim(config: Mapping[str, Any]) -> int:
    written = _first(config, "qk_rope_head_dim", "head_dim")
    if written is not None:
        return int(written)
    width = _first(config, "hidden_size", "n_embd")
    heads = _first(config, "num_attention_heads", "n_head")
    if width is None or heads is None:
        raise ValueError(
            "the config names no head_dim; it needs 'head_dim', or 'hidden_size' and 'num_attention_heads'"
        )
    return int(width) // int(heads)


def _rotary_dim(config: Mapping[str, Any], parameters: Mapping[str, Any], head_dim: int) -> int:
    share = _first(config, "partial_rotary_factor", "rotary_pct", "rope_pct")
    if "partial_rotary_factor" in parameters or share is None:
        written = config.get("rotary_dim")
        if written is not None and "partial_rotary_factor" not in parameters:
            return int(written)
        return partial_rotary_dim(parameters, head_dim)
    return partial_rotary_dim({**parameters, "partial_rotary_factor": share}, head_dim)


def _first(config: Mapping[str, Any], *keys: str, default: Any = None) -> Any:
    """The value of the first of these keys that is there and not null."""
    return next((config[key] for key in keys if config.get(key) is not None), default)
