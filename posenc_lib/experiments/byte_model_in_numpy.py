"""A trained byte model in NumPy alone: read its file, and ask it which byte comes next.

    model = read("rope.safetensors")
    scores = logits(model, list(b"import nump"))  # (11, 256)
    chr(scores[-1].argmax())

**The file.** Eight bytes, the lowest first, say how long the header is. The header is JSON: for each array
its "dtype", its "shape", and as "data_offsets" where it begins and ends in what follows; "__metadata__" holds
the settings of the model, all of them as text. What follows the header are the numbers, row after row, the
lowest byte of each first. (It is the safetensors format, so other programs read it too.)

**The numbers.** "F32" are floats as they are. A large matrix is "I8", whole numbers from -127 to 127, and has
beside it "<its name>.scale", one float a row: a row of the matrix is its whole numbers times that.

**The names.** (rows, columns), so that y = x @ matrix.T:

| name | shape | |
|---|---|---|
| embedding | (256, dim) | the vector of each byte |
| positions | (length, dim) | of "learned" alone: the vector of each position, the last for all beyond |
| buckets | (buckets, heads) | of "t5" alone: the number of each bucket of distance |
| layers.N.norm1, layers.N.norm2, norm | (dim,) | gains, before attention, before the wide layer, at the end |
| layers.N.qkv | (3 dim, dim) | all queries, all keys, all values |
| layers.N.norm_q, layers.N.norm_k | (head_dim,) | gains of queries and keys |
| layers.N.out | (dim, dim) | from all heads together back to the stream |
| layers.N.widen, layers.N.narrow | (4 dim, dim), (dim, 4 dim) | the wide layer |
| head | (256, dim) | to the scores of the bytes |
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc_lib.added import learned, sinusoidal
from posenc_lib.attention import attention
from posenc_lib.biased import alibi_bias, t5_bias
from posenc_lib.rotated import apply_rotary

Array = NDArray[np.float32]

DTYPES = {"F32": "<f4", "I8": "i1"}
EPSILON = float(np.finfo(np.float32).eps)
"""Keeps a vector of zeros from being divided by 0."""


@dataclass(frozen=True)
class ByteModel:
    """A model as it was read.

    Attributes:
        settings: of the header, text: "encoding", "heads", "layers", "length" of the training, "base", ...
        weights: its arrays by name, float32.
    """

    settings: dict[str, str]
    weights: dict[str, Array]

    @property
    def heads(self) -> int:
        return int(self.settings["heads"])

    @property
    def encodings(self) -> list[str]:
        """That of each layer: "rope-and-none" has none in each fourth."""
        name, layers = self.settings["encoding"], range(int(self.settings["layers"]))
        if name == "rope-and-none":
            return ["none" if layer % 4 == 3 else "rope" for layer in layers]
        return [name for _ in layers]


# --- the file


def read(source: str | Path | bytes) -> ByteModel:
    """The model of a file, given by its path or its content.

    Raises:
        ValueError: it is no such file.
    """
    content = source if isinstance(source, bytes) else Path(source).read_bytes()
    try:
        size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + size])
        settings = header.pop("__metadata__")
        arrays = {name: _array(content[8 + size :], told) for name, told in header.items()}
        weights = {name: _floats(arrays, name) for name in arrays if not name.endswith(".scale")}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"this is no file of a byte model ({error!r}); make one: {MAKE}") from None
    return ByteModel(settings, weights)


MAKE = "python -m posenc_lib.experiments exported"


def _array(numbers: bytes, told: dict[str, Any]) -> NDArray[Any]:
    start, stop = told["data_offsets"]
    return np.frombuffer(numbers[start:stop], dtype=DTYPES[told["dtype"]]).reshape(told["shape"])


def _floats(arrays: dict[str, NDArray[Any]], name: str) -> Array:
    array = arrays[name]
    return array.astype(np.float32) * arrays[f"{name}.scale"][:, None] if array.dtype == np.int8 else array


# --- the model


def logits(model: ByteModel, tokens: Sequence[int]) -> Array:
    """For each place of a text, how much speaks for each byte to come next: (n, 256).

    Args:
        tokens: n whole numbers from 0 to 255, the bytes of the text.
    """
    weights = model.weights
    x = weights["embedding"][np.asarray(tokens)]
    x = with_positions(model, x)
    for number, encoding in enumerate(model.encodings):
        layer = layer_of(model, number)
        x = x + look(model, encoding, layer, normed(x, layer["norm1"]))
        x = x + think(layer, normed(x, layer["norm2"]))
    return normed(x, weights["norm"]) @ weights["head"].T


def layer_of(model: ByteModel, number: int) -> dict[str, Array]:
    """The weights of one layer, by name."""
    start = f"layers.{number}."
    return {name.removeprefix(start): each for name, each in model.weights.items() if name.startswith(start)}


def with_positions(model: ByteModel, x: Array) -> Array:
    """The first door: x (n, dim) plus the vectors of the positions."""
    n, dim = x.shape
    if model.settings["encoding"] == "sinusoidal":
        return np.asarray(x + sinusoidal(n, dim), dtype=np.float32)
    if model.settings["encoding"] == "learned":
        return np.asarray(x + learned(model.weights["positions"], n, beyond="clamp"))
    return x


def look(model: ByteModel, encoding: str, layer: dict[str, Array], x: Array) -> Array:
    """Attention: (n, dim) to (n, dim)."""
    n, dim = x.shape
    q, k, v = ((x @ part.T).reshape(n, model.heads, -1).swapaxes(0, 1) for part in np.split(layer["qkv"], 3))
    q, k = normed(q, layer["norm_q"]), normed(k, layer["norm_k"])
    if encoding == "rope":  # the second door
        q, k = (apply_rotary(each, n, base=float(model.settings["base"])) for each in (q, k))
    found = np.asarray(attention(q, k, v, bias=bias(model, encoding, n), causal=True))
    return found.swapaxes(0, 1).reshape(n, dim) @ layer["out"].T


def bias(model: ByteModel, encoding: str, n: int) -> Array | None:
    """The third door: (heads, n, n), what is added to the scores."""
    if encoding == "alibi":
        return np.asarray(alibi_bias(model.heads, n, n), dtype=np.float32)
    if encoding == "t5":
        far = int(model.settings["max_distance"])
        return np.asarray(t5_bias(model.weights["buckets"], n, n, max_distance=far, bidirectional=False))
    return None


def think(layer: dict[str, Array], x: Array) -> Array:
    """The wide layer: each place by itself."""
    wide = np.maximum(x @ layer["widen"].T, 0)
    return np.asarray(wide * wide @ layer["narrow"].T)


def normed(x: Array, gain: Array) -> Array:
    """Each vector at a root mean square of 1, times the gains."""
    size = np.sqrt((x * x).mean(axis=-1, keepdims=True) + EPSILON)
    return np.asarray(x / size * gain, dtype=np.float32)
