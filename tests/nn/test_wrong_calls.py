"""Whatever is given to a method for one argument of a right call, it works, or is refused in words of ours.

Each encoding by name is tried at every door that it opens: a new one is tried as soon as it has a name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from posenc_lib import nn
from posenc_lib.nn.base import PositionalEncoding
from posenc_lib.rotated import QueryTemperature, RopeSettings, rotary_tables
from tests.test_wrong_calls import NUMBERS, WRONG, amiss_in

BATCH, HEADS, LENGTH, HEAD_DIM = 2, 4, 9, 8  # no two alike, and a length that is a square
DIM = HEADS * HEAD_DIM
SIZES = nn.Sizes(DIM, HEADS, length=LENGTH)
Q, X = torch.ones(BATCH, HEADS, LENGTH, HEAD_DIM), torch.ones(BATCH, LENGTH, DIM)
AT, TOKENS = torch.arange(LENGTH), torch.ones(BATCH, LENGTH, dtype=torch.int64)
MASK = torch.ones(LENGTH, LENGTH).bool()
ENDS = torch.tensor([0, 4, LENGTH])

TENSORS: dict[str, Callable[[], Any]] = {
    "NaN everywhere": lambda: torch.full((LENGTH,), torch.nan),
    "infinity among them": lambda: AT / 0,
    "one too many": lambda: torch.arange(LENGTH + 1),
    "three rows": lambda: AT.expand(3, -1),
    "four axes": lambda: torch.ones(1, 1, 1, LENGTH),
    "a scalar tensor": lambda: torch.tensor(LENGTH),
    "booleans for each": lambda: AT > 3,
    "complex": lambda: AT * 1j,
    "positions of NumPy": lambda: np.arange(LENGTH),
    "positions nowhere": lambda: AT.to("meta"),
    "vectors nowhere": lambda: Q.to("meta"),
    "inputs nowhere": lambda: X.to("meta"),
    "vectors of integers": lambda: Q.long(),
    "inputs of integers": lambda: X.long(),
    "vectors of NumPy": lambda: Q.numpy(),
    "inputs of NumPy": lambda: X.numpy(),
    "one head more": lambda: torch.ones(BATCH, HEADS + 1, LENGTH, HEAD_DIM),
    "one column more": lambda: torch.ones(BATCH, HEADS, LENGTH, HEAD_DIM + 1),
    "one row more": lambda: torch.ones(BATCH + 1, HEADS, LENGTH, HEAD_DIM),
    "one axis less": lambda: Q[0],
    "heads and tokens the other way": lambda: Q.transpose(1, 2),
    "a range that is too long": lambda: range(LENGTH + 1),
    "a mask of numbers": lambda: torch.zeros(LENGTH, LENGTH, dtype=torch.int64),
    "a mask of another size": lambda: MASK[:-1],
    "a mask nowhere": lambda: MASK.to("meta"),
    "texts that end early": lambda: ENDS - 1,
    "texts that end before they begin": lambda: ENDS.flip(0),
    "a module": lambda: torch.nn.Identity(),
}


def doors(name: str) -> dict[str, tuple[Callable[..., Any], Callable[[], dict[str, Any]]]]:
    """The methods of the encoding of that name by which position enters, each with a right call."""
    encoding = nn.make_encoding(name, SIZES)
    of_two = {"q": Q, "k": Q, "q_positions": LENGTH, "k_positions": LENGTH}
    calls = {
        "add": {"x": X, "positions": LENGTH},
        "rotate": {**of_two, "seq_axis": -2},
        "bias": {**of_two, "mask": MASK, "seq_axis": -2},
    }
    return {
        f"{name}.{door}": (getattr(encoding, door), lambda call=call: call)
        for door, call in calls.items()
        if getattr(type(encoding), door) is not getattr(PositionalEncoding, door)
    }


def others() -> dict[str, tuple[Callable[..., Any], Callable[[], dict[str, Any]]]]:
    """All other methods."""
    rope, attention, block = nn.Rotary(HEAD_DIM), nn.Attention(DIM, HEADS), nn.Block(DIM, HEADS)
    model, layer = nn.Transformer(11, DIM, 1, HEADS), nn.EncoderLayer(DIM, HEADS, batch_first=True)
    tables = rotary_tables(AT, HEAD_DIM)
    settings = RopeSettings(HEAD_DIM, HEAD_DIM, 1e4, None, "half", (2, 1, 1))
    looks = {"x": X, "positions": LENGTH, "encoding": rope, "mask": MASK, "causal": True}
    config = {"model_type": "llama", "hidden_size": DIM, "num_attention_heads": HEADS}
    return {
        "Sinusoidal.forward": (nn.Sinusoidal(DIM), lambda: {"x": X, "positions": LENGTH}),
        "Attention.forward, packed": (attention, lambda: {**looks, "cu_seqlens": ENDS}),
        "Attention.forward, decoding": (attention, lambda: {**looks, "cache": nn.LayerCache()}),
        "Block.forward, packed": (block, lambda: {**looks, "cu_seqlens": ENDS}),
        "Block.forward, decoding": (block, lambda: {**looks, "cache": nn.LayerCache()}),
        "Transformer.forward": (
            model,
            lambda: {"tokens": TOKENS, "positions": LENGTH, "padding_mask": TOKENS < 0, "cache": nn.Cache()},
        ),
        "Transformer.forward, packed": (model, lambda: {"tokens": TOKENS, "cu_seqlens": ENDS}),
        "EncoderLayer.forward": (
            layer,
            lambda: {"src": X, "src_mask": MASK, "src_key_padding_mask": TOKENS < 0, "is_causal": False},
        ),
        "LayerCache.extend": (
            lambda **given: nn.LayerCache().extend(**given),
            lambda: {"k": Q, "v": Q, "positions": LENGTH},
        ),
        "RotaryTables.to": (tables.to, lambda: {"dtype": torch.float64}),
        "RopeSettings.tables": (settings.tables, lambda: {"positions": 6, "dtype": None}),
        "RopeSettings.section_tables": (
            settings.section_tables,
            lambda: {"positions": AT.expand(3, -1), "dtype": None},
        ),
        "RopeSettings.rotate": (settings.rotate, lambda: {"x": Q, "tables": tables, "out": None}),
        "QueryTemperature()": (QueryTemperature("llama4", 0.1, 64.0), lambda: {"positions": AT}),
        "Rotary.from_config": (nn.Rotary.from_config, lambda: {"config": config, "layout": "half"}),
        "DINOv3Rotary.draw": (
            nn.DINOv3Rotary(HEAD_DIM, (3, 3), shift=0.5).draw,
            lambda: {"generator": torch.Generator()},
        ),
    }


METHODS = {**{name: call for encoding in nn.ENCODINGS for name, call in doors(encoding).items()}, **others()}

LEFT_OUT = {"encoding", "mask", "cu_seqlens", "cache", "padding_mask", "src_mask", "src_key_padding_mask"}
LEFT_OUT |= {"dtype", "out", "layout"}
"""Arguments that may be None. Positions may be where the method is `forward`."""

ALIKE = {"three rows", "a mask of numbers", "texts that end early", "texts that end before they begin"}
"""Integers, which are right wherever integers of this shape are."""

NO_ARRAY = {*WRONG, *NUMBERS, "complex", "NaN everywhere", "infinity among them", "booleans for each"}
NO_ARRAY |= {"a mask of another size", "a mask nowhere", "a range that is too long", "a module"}
NO_ARRAY -= {"0", "1", "a tuple", "no numbers", "wider", "longer", "halves", "nowhere"}
"""No finite real numbers."""

RIGHT_TOO = {
    "mask": {"booleans for each", "NaN everywhere", "infinity among them", "four axes", "one column more"},
    "cu_seqlens": {"one too many"},  # a text of each token
    "tokens": ALIKE,
    "positions of a cache": {"NaN everywhere", "infinity among them"},  # it keeps what it is given
    "positions not looked at": {"NaN everywhere", "infinity among them"},
    "vectors that turn alone": {"one head more", "one row more", "vectors nowhere"},
    "vectors of a cache": {"one column more"},
}
"""What else is right than what the right call has: numbers to add as a mask, for instance."""


def passes(name: str, argument: str, given: str) -> bool:
    """Whether a value that is not that of the right call is right, too."""
    encoding, _, method = name.partition(".")
    if given == "None":
        return argument in LEFT_OUT or (argument == "positions" and "forward" in method)
    if argument in ("causal", "is_causal"):
        return given in ("True", "NumPy's True")
    if encoding in ("cope", "data-dependent-alibi", "fox", "path", "convolution") and argument.endswith(
        "positions"
    ):
        return given in RIGHT_TOO["positions not looked at"]
    if method == "rotate" and encoding in nn.ENCODINGS and argument in ("q", "k"):
        return given in RIGHT_TOO["vectors that turn alone"]
    if method == "bias" and argument == "mask":
        return given == "booleans for each"
    if (encoding == "RopeSettings" and argument in ("positions", "x")) or encoding == "QueryTemperature()":
        return given not in NO_ARRAY  # of any library, and any shape that fits
    if encoding == "LayerCache":
        return given in RIGHT_TOO["positions of a cache" if argument == "positions" else "vectors of a cache"]
    if argument == "x" and given == "inputs nowhere":  # where nothing is learned, it works anywhere
        return encoding in ("Sinusoidal", "sinusoidal", "fourier", "grid")
    return given in RIGHT_TOO.get(argument, ())


@pytest.mark.parametrize("name", METHODS)
def test_whatever_is_wrong_for_a_method_is_refused_in_words(name: str) -> None:
    method, right = METHODS[name]
    values = WRONG | NUMBERS | TENSORS
    assert amiss_in(method, right, values, lambda argument, given: passes(name, argument, given)) == []
