"""RoPE as a checkpoint has it: its settings from a config, its weights from one layout to the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import ArrayT, constant, namespace
from posenc_lib.rotated.config_reading import Given
from posenc_lib.rotated.settings import LayerPositions, RopeSettings
from posenc_lib.rotated.tables import Layout
from posenc_lib.rotated.turn import LAYOUTS


def rope_from_config(
    config: Any,
    *,
    length: int | None = None,
    layer_type: str | None = None,
    layout: Layout | None = None,
    family: str | None = None,
) -> RopeSettings:
    """Read a checkpoint's rotation from its config.

    Args:
        config: the content of `config.json` as a dict, or an object with `to_dict()` such as
            transformers' configs. Of a multimodal config, its text part is read.
        length: the longest sequence to be read; needed by rope types "dynamic" and "longrope".
        layer_type: which layers, where they differ: "full_attention", "sliding_attention" or another of the
            kinds that this config's layers have.
        layout: which columns make a pair, "interleaved" or "half"; by default what the family's own code
            does. The original weights of LLaMA (not those in Hugging Face format) are interleaved: say so.
        family: how to read the config, as the `model_type` of a known family, such as "llama": for
            configs with a `model_type` that this library does not know, or with none.

    Returns:
        The settings. Their `tables(positions)` and `rotate(x, tables)` do what the model does in those
        layers that rotate. What a layer does besides, which layers do not rotate, and a query's temperature
        are told by `layers_from_config`.

    Raises:
        TypeError: config is neither a dict nor has `to_dict()`, or a value has the wrong type.
        ValueError: a key is missing, contradictory or out of range; the family is not known; length or
            layer_type is needed; the model rotates nothing, as BERT, T5, or Falcon with `alibi`.

    Example:
        >>> llama = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "rope_theta": 5e5}
        >>> rope = rope_from_config(llama)
        >>> rope.head_dim, rope.base, rope.layout
        (128, 500000.0, 'half')
    """
    given = Given(config, family)
    given.require_rotation()
    if layer_type is not None:
        require.choice(layer_type, "layer_type", given.kinds_there_are())
    layers = [layer for layer in given.layers(length, layout, only=layer_type) if layer.rotates]
    found = list(dict.fromkeys(layer.rope for layer in layers))
    if not found:
        which = "no layer" if layer_type is None else f"no layer of the kind {layer_type!r}"
        raise ValueError(
            f"according to its config, {which} of this model rotates; layers_from_config says what each "
            "layer does"
        )
    if len(found) > 1:
        kinds = tuple(dict.fromkeys(layer.kind for layer in layers))
        advice = (
            f"give layer_type, one of {', '.join(kinds)}, or "
            if layer_type is None and len(kinds) > 1
            else ""
        )
        raise ValueError(
            f"the layers of this config rotate in different ways; {advice}take each layer's settings from "
            "layers_from_config(config)"
        )
    assert found[0] is not None
    return found[0]


def layers_from_config(
    config: Any, *, length: int | None = None, layout: Layout | None = None, family: str | None = None
) -> tuple[LayerPositions, ...]:
    """Read from a checkpoint's config what each of its layers does with positions.

    Args:
        config, length, layout, family: as in `rope_from_config`.

    Returns:
        One entry a layer, in order: whether it rotates and how, its window, its query temperature and its
        softmax scale.

    Raises:
        TypeError, ValueError: as `rope_from_config`; but a model that does not rotate is told by its layers.
            The number of layers is missing.

    Example:
        >>> cohere = {"model_type": "cohere2", "hidden_size": 4096, "num_attention_heads": 32}
        >>> cohere["num_hidden_layers"] = 4
        >>> for layer in layers_from_config(cohere)[-2:]:
        ...     print(layer.kind, layer.rotates, layer.window)
        sliding_attention True 4096
        full_attention False None
    """
    given = Given(config, family)
    return tuple(given.layers(length, layout, count=given.size("layers")))


def convert_layout(
    weight: ArrayT, *, heads: int, source: Layout, target: Layout, rotary_dim: int | None = None
) -> ArrayT:
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
        TypeError: weight is not an array, or heads not an integer.
        ValueError: rows that do not divide into heads; rotary_dim odd or above head_dim; an
            unknown layout.

    Source: transformers' `convert_llama_weights_to_hf.py`, whose `permute` is interleaved to half.

    Example:
        >>> import numpy as np
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
