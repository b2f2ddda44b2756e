"""Rotation by positions of several axes: rows and columns of an image, or time, height and width."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Literal, overload

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, constant, move_axis, namespace, widen
from posenc_lib.angles import angles, frequencies
from posenc_lib.rotated.tables import RotaryTables, tables_of
from posenc_lib.scaling.config import read_scaling


def axial_tables(
    positions: Array,
    dim: int,
    *,
    sections: Sequence[int] | None = None,
    base: float = 10000.0,
    dtype: Any = None,
) -> RotaryTables:
    """Tables for axial RoPE: each axis turns pairs of its own, with a frequency series of its own.

    The first `sections[0]` pairs turn by the first axis with the frequencies of an encoding of
    2 * sections[0] columns, and so on. A score then depends on the offset along each axis.

    Args:
        positions: (axes, ...), one number for each axis: for the rows and columns of an image
            `np.indices((height, width)).reshape(2, -1)`, rows first.
        dim: how many columns turn, even.
        sections: pairs for each axis, dim/2 in all; by default equally many.
        base: the constant of every axis' geometric series.
        dtype: as in `rotary_tables`.

    Returns:
        Tables of shape (..., dim/2), for `rotate`. With layout "half" and rows first they are those of
        Qwen2-VL's image encoder; with "interleaved" and sections (8, 28, 28), Flux.

    Raises:
        TypeError: positions are not numbers, dim not an integer, or sections not a list of integers.
        ValueError: NaN positions; odd dim; sections that do not add up to dim/2 or do not fit the axes.

    Source: Su 2021, "Transformer upgrade path 4: 2-D rotary embedding" (kexue.fm/archives/8397);
    transformers, `modeling_qwen2_vl.py`; diffusers, `FluxPosEmbed`.

    Example:
        >>> import numpy as np
        >>> patches = np.indices((3, 4)).reshape(2, -1)  # rows and columns of 12 patches
        >>> axial_tables(patches, 8).cos.shape
        (12, 4)
    """
    dim = require.even_dim(dim)
    positions = read_axes(positions)
    axes = positions.shape[0]
    if sections is None:
        if dim // 2 % axes:
            raise ValueError(
                f"dim={dim} has {dim // 2} pairs, which {axes} axes cannot share equally; give sections=, or "
                f"a multiple of {2 * axes} as dim"
            )
        sections = (dim // 2 // axes,) * axes
    sections = _read_sections(sections, axes, dim)
    turned = [angles(positions[a, ...], frequencies(2 * n, base=base)) for a, n in enumerate(sections)]
    return tables_of(namespace(turned[0]).concat(turned, axis=-1), positions, dtype)


def mrope_tables(
    positions: Array,
    dim: int,
    sections: Sequence[int],
    *,
    interleaved: bool = False,
    base: float = 10000.0,
    scaling: Any = None,
    dtype: Any = None,
) -> RotaryTables:
    """Tables for multimodal RoPE (M-RoPE): one frequency series, its pairs shared among the axes.

    Where all axes of a token agree, as in text, this is plain RoPE.

    Args:
        positions: (axes, ...): time, height and width for Qwen's models, (3, batch, seq). Give
            (3, batch, 1, seq) where vectors are (batch, heads, seq, head_dim).
        dim: how many columns turn, even.
        sections: pairs for each axis, dim/2 in all: (16, 24, 24) in Qwen2-VL.
        interleaved: deal pairs out in turn, axis a > 0 taking pairs a, a + axes, a + 2 axes, ... until it
            has its number, and axis 0 all others, as Qwen3-VL; otherwise in runs, as Qwen2-VL.
        base, scaling, dtype: as in `rotary_tables`.

    Returns:
        Tables of shape (..., dim/2), for `rotate` (layout "half" in Qwen's models).

    Raises:
        TypeError: positions are not numbers, dim not an integer, or sections not a list of integers.
        ValueError: as `axial_tables`; sections that cannot be dealt out in turn.

    Source: Wang et al. 2024, "Qwen2-VL", section 2.1; transformers, `modeling_qwen2_vl.py` and
    `modeling_qwen3_vl.py`.

    Example:
        >>> import numpy as np
        >>> positions = np.zeros((3, 2, 1, 5))  # time, height and width; two rows of five tokens
        >>> mrope_tables(positions, 16, (2, 3, 3)).cos.shape
        (2, 1, 5, 8)
    """
    dealt = "in turn" if require.flag(interleaved, "interleaved") else "in runs"
    return tables_by_owner(positions, dim, sections, dealt, base=base, scaling=scaling, dtype=dtype)


AFTER = ("largest", "sides")


@overload
def mrope_positions(
    parts: Sequence[Any],
    *,
    start: int = 0,
    seconds_per_grid: float = 1.0,
    after: Literal["largest", "sides"] = "largest",
    like: None = None,
) -> np.ndarray: ...


@overload
def mrope_positions(
    parts: Sequence[Any],
    *,
    start: int = 0,
    seconds_per_grid: float = 1.0,
    after: Literal["largest", "sides"] = "largest",
    like: ArrayT,
) -> ArrayT: ...


def mrope_positions(
    parts: Sequence[Any],
    *,
    start: int = 0,
    seconds_per_grid: float = 1.0,
    after: Literal["largest", "sides"] = "largest",
    like: Array | None = None,
) -> Array:
    """Where tokens of a text with pictures and videos are, for `mrope_tables`: time, height and width.

    In text all three axes count on together. A picture or a video is a block: its tokens are at their frame,
    row and column, counted from the position after what came before. What follows continues after the largest
    number in the block, or after its longer side (`after`). So a picture of 20 by 30 tokens takes 30
    positions, not 600.

    Args:
        parts: the pieces, one after another: an int for that many tokens of text, and (frames, rows, columns)
            for a picture (1 frame) or a video, in tokens, after patches were merged.
        start: the position of the first token, as after what is in a cache.
        seconds_per_grid: how far apart two frames are. 1 in Qwen2-VL; in Qwen2.5-VL the seconds between two
            frames times `tokens_per_second`, rounded down for each frame.
        after: where the text after a video continues. "largest": after the largest number of the block, as in
            the paper and its authors' code. "sides": max(rows, columns) after the block's first number, as
            in transformers 5; give this with a model that runs there.
        like: an array whose library and device the result has; NumPy if None.

    Returns:
        (3, tokens), int64 (JAX: its default integer).

    Raises:
        TypeError: parts that are not integers or not tuples of three; start not an integer.
        ValueError: sizes below 1 (0 tokens of text are none), seconds_per_grid not above 0, or an unknown
            `after`.

    Example:
        >>> mrope_positions([2, (1, 2, 3), 2])  # two words, a picture of 2 rows and 3 columns, two words
        array([[0, 1, 2, 2, 2, 2, 2, 2, 5, 6],
               [0, 1, 2, 2, 2, 3, 3, 3, 5, 6],
               [0, 1, 2, 3, 4, 2, 3, 4, 5, 6]])

    Who does what: the two agree for pictures, and for videos whose last frame is at no larger number than
    their longer side; for Qwen2.5-VL, whose frames are seconds apart, they differ after nearly every video.
    With "sides", positions of the video and of what follows then overlap. Qwen3-VL writes each frame as a
    picture, with its time as text before it: give (1, rows, columns) for each.

    Source: Wang et al. 2024, "Qwen2-VL", section 2.1; transformers, `get_rope_index` of
    `modeling_qwen2_vl.py`, `modeling_qwen2_5_vl.py` and `modeling_qwen3_vl.py`.
    """
    at = require.count(start, "start", 0)
    apart = require.positive(seconds_per_grid, "seconds_per_grid")
    require.choice(after, "after", AFTER)
    if not isinstance(parts, (list, tuple)):
        raise TypeError(f"parts is of type {type(parts).__name__}; give a list such as [5, (1, 4, 6), 3]")
    placed = [np.zeros((3, 0), dtype=np.int64)]
    for part in parts:
        if require.is_count(part):
            block = np.broadcast_to(np.arange(require.count(part, "a number of words", 0)), (3, int(part)))
        elif isinstance(part, (list, tuple)) and len(part) == 3:
            sizes = [require.count(size, "a size of a grid") for size in part]
            block = np.indices(sizes).reshape(3, -1)
            # In float32, as the models' code: in float64, 3 frames of 2/3 s at 25 tokens/s are below 50.
            block[0] = np.floor(block[0].astype(np.float32) * np.float32(apart))
        else:
            raise TypeError(
                f"{part!r} is not a part of a sequence; give a number of words, or (frames, rows, columns)"
            )
        placed.append(block + at)
        taken = block if after == "largest" else block[1:]
        at += int(taken.max(initial=-1)) + 1
    joined = np.concatenate(placed, axis=1)
    return joined if like is None else constant(joined, like)


def tables_by_owner(
    positions: Array, dim: int, sections: Sequence[int], dealt: str, *, base: float, scaling: Any, dtype: Any
) -> RotaryTables:
    """As `mrope_tables`; `dealt` says how pairs are shared: "in runs", "in turn" or "time last".

    "time last" is ERNIE 4.5 VL's, with sections for height, width and time, and positions of time, height and
    width as ever: height and width take pairs in turn, and time those that are left.
    """
    dim = require.even_dim(dim)
    base, rule = read_scaling(scaling, base)
    rates = frequencies(dim, base=base, scaling=rule)
    positions = read_axes(positions)
    sections = _read_sections(sections, positions.shape[0], dim)
    owner = owners(sections, dealt)
    wide = widen(positions)
    xp = namespace(wide)
    mine = xp.take(move_axis(wide, 0, -1), constant(owner, wide), axis=-1)
    theta = mine * constant(rates, wide)
    return tables_of(theta, positions, dtype, getattr(rule, "attention_scaling", 1.0))


def owners(sections: tuple[int, ...], dealt: str) -> np.ndarray:
    """(dim/2,) the axis by which each pair turns."""
    axes = len(sections)
    if dealt == "in runs":
        return np.repeat(np.arange(axes), np.asarray(sections, dtype=np.intp))  # 32 bits in a browser
    if dealt == "time last":
        if len(sections) != 3 or sections[0] != sections[1]:
            raise ValueError(
                f"sections={sections}: height and width take turns with the pairs, and time gets the rest; "
                "give three numbers, of which the first two, for height and width, are equal"
            )
        height, _, time = sections
        return np.concatenate([np.tile([1, 2], height), np.zeros(time, dtype=np.int64)])
    owner = np.zeros(sum(sections), dtype=np.int64)
    for axis in range(1, axes):
        owner[axis : axes * sections[axis] : axes] = axis
    if tuple(np.bincount(owner, minlength=axes)) != sections:
        raise ValueError(
            f"with sections={sections} the axes cannot take turns: there are not enough pairs; give sections "
            "of nearly equal size, the first the largest"
        )
    return owner


def read_axes(positions: Any) -> Array:
    if isinstance(positions, Integral):
        raise TypeError(
            f"positions={positions!r} is one number; give (axes, ...), such as "
            "np.indices((height, width)).reshape(2, -1)"
        )
    positions = require.numbers(positions, "positions")
    if positions.ndim == 0 or positions.shape[0] == 0:
        raise ValueError(
            f"positions of shape {tuple(positions.shape)} have no axis of coordinates; give (axes, ...)"
        )
    return positions


def _read_sections(sections: Any, axes: int, dim: int) -> tuple[int, ...]:
    if not isinstance(sections, Sequence) or not all(
        isinstance(n, Integral) and not isinstance(n, bool) for n in sections
    ):
        raise TypeError(f"sections={sections!r}; give the number of pairs of each axis, such as (16, 24, 24)")
    if len(sections) != axes or min(sections) < 1 or sum(sections) != dim // 2:
        raise ValueError(
            f"sections={tuple(sections)} for {axes} axes and dim={dim}; give {axes} numbers of pairs, each "
            f"1 or more, {dim // 2} in all"
        )
    return tuple(int(n) for n in sections)
