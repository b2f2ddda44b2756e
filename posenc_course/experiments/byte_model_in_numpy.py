"""A trained byte model in NumPy alone: ask it which byte comes next.

    model = read("rope.safetensors")
    scores = logits(model, list(b"import nump"))  # (11, 256)
    chr(scores[-1].argmax())

`posenc_course/trained.py` reads it, and says what stands in its file.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posenc_course.trained import Array, ByteModel, read
from posenc_lib.added import learned, sinusoidal
from posenc_lib.attention import attention
from posenc_lib.biased import alibi_bias, t5_bias
from posenc_lib.rotated import apply_rotary

__all__ = ["logits", "read"]

EPSILON = float(np.finfo(np.float32).eps)
"""Keeps a vector of zeros from being divided by 0."""


def logits(model: ByteModel, tokens: Sequence[int]) -> Array:
    """For each place of a text, how much speaks for each byte to come next: (n, 256).

    Args:
        tokens: n whole numbers from 0 to 255, the bytes of the text.
    """
    weights = model.weights
    x = weights["embedding"][np.asarray(tokens)]
    x = with_positions(model, x)
    for number, encoding in enumerate(encodings_of(model)):
        layer = layer_of(model, number)
        x = x + look(model, encoding, layer, normed(x, layer["norm1"]))
        x = x + think(layer, normed(x, layer["norm2"]))
    return normed(x, weights["norm"]) @ weights["head"].T


def heads_of(model: ByteModel) -> int:
    return int(model.settings["heads"])


def encodings_of(model: ByteModel) -> list[str]:
    """That of each layer: "rope-and-none" has none in each fourth."""
    name, layers = model.settings["encoding"], range(int(model.settings["layers"]))
    if name == "rope-and-none":
        return ["none" if layer % 4 == 3 else "rope" for layer in layers]
    return [name for _ in layers]


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
    q, k, v = (
        (x @ part.T).reshape(n, heads_of(model), -1).swapaxes(0, 1) for part in np.split(layer["qkv"], 3)
    )
    q, k = normed(q, layer["norm_q"]), normed(k, layer["norm_k"])
    if encoding == "rope":  # the second door
        q, k = (apply_rotary(each, n, base=float(model.settings["base"])) for each in (q, k))
    found = np.asarray(attention(q, k, v, bias=bias(model, encoding, n), causal=True))
    return found.swapaxes(0, 1).reshape(n, dim) @ layer["out"].T


def bias(model: ByteModel, encoding: str, n: int) -> Array | None:
    """The third door: (heads, n, n), what is added to the scores."""
    if encoding == "alibi":
        return np.asarray(alibi_bias(heads_of(model), n, n), dtype=np.float32)
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
