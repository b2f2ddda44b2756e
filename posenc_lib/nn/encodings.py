"""Every encoding by name, made to fit a model."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_lib import _require as require
from posenc_lib.catalogue import catalogue
from posenc_lib.nn.added import FourierFeatures, Grid, Hybrid, Learned, Sinusoidal
from posenc_lib.nn.base import NoPE, PositionalEncoding
from posenc_lib.nn.biased import FIRE, KERPLE, ALiBi, CoPE, Sandwich, Shaw, T5Bias, TransformerXL
from posenc_lib.nn.convolution import ConvolutionPositions
from posenc_lib.nn.data_dependent_alibi import DataDependentALiBi, FoX
from posenc_lib.nn.deberta import DeBERTa
from posenc_lib.nn.dinov3 import DINOv3Rotary
from posenc_lib.nn.enformer import Enformer
from posenc_lib.nn.graphs import LaplacianEigenvectors, RandomWalk, TreePaths
from posenc_lib.nn.learned_grid import LearnedGrid
from posenc_lib.nn.mixed import MixedRotary
from posenc_lib.nn.path import PaTH
from posenc_lib.nn.pope import PoPE
from posenc_lib.nn.position_maps import DualChunk, SelfExtend
from posenc_lib.nn.rotated import AxialRotary, MultimodalRotary, Rotary, XPos
from posenc_lib.nn.temperature import LogTemperature, ScalableSoftmax
from posenc_lib.nn.times import Calendar, Time2Vec
from posenc_lib.nn.vjepa2 import VJEPA2
from posenc_lib.nn.windows import SwinBias, SwinV2Bias


@dataclass(frozen=True)
class Sizes:
    """What an encoding may want to know of the model that it is for.

    Args:
        dim: width of the model.
        heads: number of attention heads.
        causal: whether no token looks at later ones.
        length: how long the sequences will be; None for "not known".
    """

    dim: int
    heads: int
    causal: bool = True
    length: int | None = None

    def __post_init__(self) -> None:
        require.head_width(self.dim, self.heads)
        require.flag(self.causal, "causal")
        if self.length is not None:
            require.count(self.length, "length")

    @property
    def head_dim(self) -> int:
        """Width of one head's queries and keys."""
        return self.dim // self.heads

    def length_for(self, name: str) -> int:
        """The length; ValueError where it is not known."""
        if self.length is None:
            raise ValueError(
                f"encoding={name!r} depends on how long sequences are; give length=, the number of positions"
            )
        return self.length

    def square_for(self, name: str) -> tuple[int, int]:
        """The shape of a square grid of `length` patches; ValueError where it is none."""
        side = math.isqrt(self.length_for(name))
        if side * side != self.length:
            raise ValueError(
                f"encoding={name!r} by name is for square images, and length={self.length} is not a square; "
                "give an instance with the shape you have"
            )
        return side, side


def _mrope(sizes: Sizes) -> PositionalEncoding:
    pairs = sizes.head_dim // 2
    space = 3 * pairs // 8  # time, height and width share the pairs as 16, 24, 24: Qwen2-VL
    return MultimodalRotary(sizes.head_dim, (pairs - 2 * space, space, space))


def _cope(sizes: Sizes) -> PositionalEncoding:
    return CoPE(sizes.head_dim, rows=65 if sizes.length is None else sizes.length + 1)


def _trained(sizes: Sizes) -> int:
    """The length that the model is trained on, 512 where it is not known."""
    return 512 if sizes.length is None else max(sizes.length, 2)


def _self_extend(sizes: Sizes) -> PositionalEncoding:
    """Half of the length that the model was trained on as the window, and groups of four beyond."""
    return SelfExtend(sizes.head_dim, group=4, window=_trained(sizes) // 2)


def _dual_chunk(sizes: Sizes) -> PositionalEncoding:
    """Shares of the trained length as in the authors' code: chunk_size 3/4, of which 1/8 are the window."""
    length = _trained(sizes)
    window = max(1, length // 8)
    return DualChunk(sizes.head_dim, chunk=max(window, length * 3 // 4 - window), window=window)


def _line(sizes: Sizes, name: str) -> np.ndarray:
    """A sequence as a graph: each token beside the next."""
    length = sizes.length_for(name)
    return np.eye(length, k=1) + np.eye(length, k=-1)


def _laplacian(sizes: Sizes) -> PositionalEncoding:
    path = _line(sizes, "laplacian")
    return LaplacianEigenvectors(path, sizes.dim, count=min(8, len(path) - 1))


def _binary_tree(sizes: Sizes) -> PositionalEncoding:
    """Tokens as the nodes of a full binary tree, level by level."""
    length = sizes.length_for("tree")
    depth = max(length.bit_length() - 1, 1)
    return TreePaths((np.arange(length) + 1) // 2 - 1, sizes.dim, branching=2, depth=depth)


ENCODINGS: dict[str, Callable[[Sizes], PositionalEncoding]] = {
    "none": lambda sizes: NoPE(),
    # added; tables start at the spread of `Transformer`'s token embeddings, as in BERT and GPT-2
    "sinusoidal": lambda sizes: Sinusoidal(sizes.dim),
    "learned": lambda sizes: Learned(sizes.length_for("learned"), sizes.dim, std=1.0),
    "hybrid": lambda sizes: Hybrid(sizes.length_for("hybrid"), sizes.dim),
    "fourier": lambda sizes: FourierFeatures(sizes.dim, scale=0.05),
    "grid": lambda sizes: Grid(sizes.square_for("grid"), sizes.dim),
    "learned-grid": lambda sizes: LearnedGrid(sizes.square_for("learned-grid"), sizes.dim, std=1.0),
    "laplacian": _laplacian,
    "random-walk": lambda sizes: RandomWalk(_line(sizes, "random-walk"), sizes.dim),
    "tree": _binary_tree,
    "calendar": lambda sizes: Calendar(sizes.dim, unit=3600.0),  # hours
    "time2vec": lambda sizes: Time2Vec(sizes.dim),
    "convolution": lambda sizes: ConvolutionPositions(
        sizes.dim, taps=16, groups=math.gcd(16, sizes.dim), causal=sizes.causal
    ),
    # rotated
    "rope": lambda sizes: Rotary(sizes.head_dim),
    "axial": lambda sizes: AxialRotary(sizes.head_dim, sizes.square_for("axial")),
    "mixed": lambda sizes: MixedRotary(sizes.head_dim, sizes.square_for("mixed")),
    "dinov3": lambda sizes: DINOv3Rotary(sizes.head_dim, sizes.square_for("dinov3")),
    "mrope": _mrope,
    "log-temperature": lambda sizes: LogTemperature(length=_trained(sizes)),
    "ssmax": lambda sizes: ScalableSoftmax(sizes.heads, length=_trained(sizes)),
    "xpos": lambda sizes: XPos(sizes.head_dim),
    "v-jepa-2": lambda sizes: VJEPA2(sizes.head_dim, (1, *sizes.square_for("v-jepa-2"))),
    # biased
    "alibi": lambda sizes: ALiBi(sizes.heads, direction="causal" if sizes.causal else "symmetric"),
    "t5": lambda sizes: T5Bias(sizes.heads, bidirectional=not sizes.causal, std=sizes.dim**-0.5),
    "shaw": lambda sizes: Shaw(sizes.head_dim),
    "transformer-xl": lambda sizes: TransformerXL(sizes.dim, sizes.heads, causal=sizes.causal),
    "enformer": lambda sizes: Enformer(sizes.dim, sizes.heads, causal=sizes.causal),
    "kerple": lambda sizes: KERPLE(sizes.heads),
    # the paper's L is a quarter of its training length
    "fire": lambda sizes: FIRE(sizes.heads, threshold=512.0 if sizes.length is None else sizes.length / 4),
    "sandwich": lambda sizes: Sandwich(sizes.heads),
    "cope": _cope,
    "data-dependent-alibi": lambda sizes: DataDependentALiBi(
        sizes.head_dim, sizes.heads, causal=sizes.causal
    ),
    "fox": lambda sizes: FoX(sizes.head_dim, sizes.heads),
    "path": lambda sizes: PaTH(sizes.head_dim, sizes.heads),
    "pope": lambda sizes: PoPE(sizes.head_dim, sizes.heads),
    "self-extend": _self_extend,
    "dual-chunk": _dual_chunk,
    "deberta": lambda sizes: DeBERTa(sizes.dim, sizes.heads),
    "swin": lambda sizes: SwinBias(sizes.heads, sizes.square_for("swin")),
    "swin-v2": lambda sizes: SwinV2Bias(sizes.heads, sizes.square_for("swin-v2")),
}
"""Name -> a function from the model's `Sizes` to a new encoding. Add your own here, or give an instance."""


def make_encoding(encoding: Any, sizes: Sizes) -> PositionalEncoding:
    """The encoding of that name, new; a module is returned as it is.

    Raises:
        TypeError: neither a name nor a `PositionalEncoding`.
        ValueError: an unknown name, or sizes that do not suit the encoding; one for causal attention alone
            (its `causal_only`) where attention is not; one that tells tokens about later ones (its
            `looks_ahead`) where attention is.
    """
    if not isinstance(sizes, Sizes):
        raise TypeError(f"sizes is of type {type(sizes).__name__}; give Sizes(dim, heads)")
    made = encoding if isinstance(encoding, PositionalEncoding) else _made(encoding, sizes)
    told = f"{type(made).__name__}({made.extra_repr()})"
    if made.causal_only and not sizes.causal:
        raise ValueError(
            f"{told} is only for keys up to the query; give causal=True, or an encoding for both directions"
        )
    if made.looks_ahead and sizes.causal:
        raise ValueError(
            f"{told} tells each token about later ones, which a causal model must not see; make it with "
            "causal=True, or give the model causal=False"
        )
    return made


def _made(encoding: Any, sizes: Sizes) -> PositionalEncoding:
    """The encoding of that name, new."""
    if not isinstance(encoding, str):
        raise TypeError(
            f"encoding is of type {type(encoding).__name__}; give a PositionalEncoding, or a name, one of "
            f"{', '.join(map(repr, ENCODINGS))}"
        )
    if encoding not in ENCODINGS and any(each.name == encoding for each in catalogue()):
        rule = catalogue().named(encoding).functions[0].rpartition(".")[2]
        raise ValueError(
            f"encoding={encoding!r} is a rule for RoPE that needs numbers of its own; give an instance, "
            f"posenc_lib.nn.Rotary({sizes.head_dim}, scaling=posenc_lib.{rule}(...))"
        )
    if encoding not in ENCODINGS:
        raise ValueError(f"encoding={encoding!r} is unknown; give one of {', '.join(map(repr, ENCODINGS))}")
    return ENCODINGS[encoding](sizes)
