"""Rotary position embedding (RoPE): tables of cosines and sines, and the rotation by them.

Every encoding of this door ends in `RotaryTables`: plain RoPE and its context extensions here,
axial and multimodal RoPE in `axial`, xPos in `xpos`. One function, `rotate`, applies them all.

Sign: a pair (a, b) at position p turns by +p*w, counterclockwise:

    a' = a cos(p w) - b sin(p w)
    b' = b cos(p w) + a sin(p w)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from posenc_lib._arrays import (
    Array,
    default_float,
    device_of,
    is_floating,
    namespace,
    narrow,
    read_positions,
    require_choice,
    require_even_dim,
    require_same_device,
    result_dtype,
    torch_of,
)
from posenc_lib.angles import angles, frequencies
from posenc_lib.scaling.config import partial_rotary_dim, read_scaling

LAYOUTS = ("interleaved", "half")


@dataclass(frozen=True, eq=False)
class RotaryTables:
    """What `rotate` turns by: a cosine and a sine for each position and pair.

    Indexing picks positions: `tables[100:101]` are those of one decoding step, `tables[rows]` with
    an array of indices those of each row of a batch.

    Args:
        cos, sin: (..., dim/2) each, of one real dtype, library and device. Where an encoding also
            scales the pair (an attention factor, xPos), both are multiplied by that scale.

    Raises:
        TypeError: one of them is no array of real numbers, or their libraries or dtypes differ.
        ValueError: their shapes or devices differ, or hold no pair.

    Example:
        >>> tables = rotary_tables(1000, 64)  # once, for the longest text
        >>> tables.dim, tables.cos.shape
        (64, (1000, 32))
        >>> tables[999:].cos.shape  # for the next token alone
        (1, 32)
    """

    cos: Array
    sin: Array

    def __post_init__(self) -> None:
        namespace(self.cos, self.sin)
        if self.cos.dtype != self.sin.dtype or not is_floating(self.cos):
            raise TypeError(f"cos is {self.cos.dtype}, sin {self.sin.dtype}; give one real dtype for both")
        if self.cos.shape != self.sin.shape or self.cos.ndim == 0 or self.cos.shape[-1] == 0:
            raise ValueError(
                f"cos of shape {tuple(self.cos.shape)} and sin of shape {tuple(self.sin.shape)}; give "
                "(..., dim/2) for both, with one pair or more"
            )
        require_same_device(cos=self.cos, sin=self.sin)

    @property
    def dim(self) -> int:
        """How many columns of a vector they turn: two per pair."""
        pairs: int = self.cos.shape[-1]
        return 2 * pairs

    def __getitem__(self, index: Any) -> RotaryTables:
        picked = RotaryTables(self.cos[index], self.sin[index])
        if picked.dim != self.dim:
            raise IndexError(
                f"the index {index!r} reaches into the {self.dim // 2} pairs of each position; "
                f"index the positions alone, which have shape {tuple(self.cos.shape[:-1])}"
            )
        return picked


def rotary_tables(
    positions: int | Array,
    dim: int,
    *,
    base: float = 10000.0,
    scaling: Any = None,
    dtype: Any = None,
) -> RotaryTables:
    """Cosine and sine of position * frequency, to rotate queries and keys by.

    Make them once, then `rotate` with them in every layer.

    Args:
        positions: an int n for positions 0 .. n-1, or an array of any shape (...): integers or
            reals, of any offset. They become axes of the tables, so give (batch, 1, seq) for rows
            that differ, where vectors are (batch, heads, seq, head_dim).
        dim: how many columns turn, even: head_dim, or `rotary_dim` for partial rotation.
        base: the constant of the geometric series of wavelengths (`rope_theta`).
        scaling: None, a rule such as `YaRNScaling`, or a Hugging Face `rope_scaling` /
            `rope_parameters` dict. A dict's own `rope_theta` replaces the default base.
        dtype: of the tables; by default float64 in NumPy and float32 in PyTorch. Angles are float64
            and the cast comes last, so that position 10,000,000 is as exact as position 1.

    Returns:
        Tables of shape (..., dim/2), in the library and on the device of `positions` (NumPy for an int).

    Raises:
        TypeError: positions are no numbers, dim no integer, or scaling no rule.
        ValueError: n < 0; NaN positions; odd dim; base not positive; a scaling that cannot be built, or
            a base that contradicts the dict's.

    Source: Su et al. 2021, "RoFormer", equations 15 and 34.

    Example:
        >>> tables = rotary_tables(3, 4)
        >>> tables.cos.round(4)
        array([[ 1.    ,  1.    ],
               [ 0.5403,  1.    ],
               [-0.4161,  0.9998]])
    """
    base, rule = read_scaling(scaling, base)
    rates = frequencies(dim, base=base, scaling=rule)
    positions = read_positions(positions)
    return tables_of(angles(positions, rates), positions, dtype, getattr(rule, "attention_scaling", 1.0))


def rotate(x: Array, tables: RotaryTables, *, layout: str = "interleaved", out: Array | None = None) -> Array:
    """Turn the pairs of queries or keys by tables made before.

    Args:
        x: (..., seq, head_dim), real floating point. The first `tables.dim` columns turn, the rest
            passes through.
        tables: from `rotary_tables` or any other maker of tables. Their positions broadcast to
            x.shape[:-1]; their dtype is x's own or a wider one. A 16-bit x is turned in the tables'
            float32 and rounded once, at the end.
        layout: which columns make a pair. "interleaved": 2j and 2j+1, as the paper, GPT-J, Cohere
            and GLM. "half": j and j + dim/2, as LLaMA, Mistral, Qwen and GPT-NeoX checkpoints in
            Hugging Face format.
        out: where to write the result; of x's shape, dtype and device, and it may be x itself. (Compiled
            by torch.compile, a fresh result is quicker.)

    Returns:
        The rotated vectors, of x's shape and dtype; `out` if that was given.

    Raises:
        TypeError: x holds no real numbers; tables are none, narrower than x, or of another library;
            out has another dtype.
        ValueError: more columns to turn than x has; positions that do not broadcast; an out of another
            shape; an unknown layout; different devices; out given where gradients are recorded.

    For one token of decoding, one call on queries and keys joined along their heads takes less time than two.

    Example:
        >>> import numpy as np
        >>> keys = np.ones((2, 5, 8))  # heads, positions, head_dim
        >>> tables = rotary_tables(np.arange(100, 105), 8)
        >>> rotate(keys, tables, layout="half").shape
        (2, 5, 8)
        >>> rotate(keys, tables, out=keys) is keys
        True
    """
    require_choice(layout, "layout", LAYOUTS)
    if torch_of(x) is not None:
        import posenc_lib.rotated.in_torch as in_torch

        return in_torch.rotate(x, tables, layout, out)
    tables = fitting(x, tables, out)
    turned = turn(namespace(x), x, tables, layout)
    return turned if out is None else _write(out, turned)


def apply_rotary(
    x: Array,
    positions: int | Array,
    *,
    base: float = 10000.0,
    layout: str = "interleaved",
    rotary_dim: int | None = None,
    scaling: Any = None,
) -> Array:
    """Rotate queries or keys by their positions.

    The dot product of a rotated query and a rotated key depends on their positions through the
    difference alone.

    Args:
        x: (..., seq, head_dim), real floating point.
        positions: an int n, which must be seq, for positions 0 .. n-1; or an array (or list) that
            broadcasts to x.shape[:-1]: (seq,) with any offset for a cache of keys, (batch, 1, seq) for
            rows that differ, as with padding on the left.
        base, scaling: as in `rotary_tables`.
        layout: as in `rotate`.
        rotary_dim: how many columns turn, even; the rest passes. By default all of head_dim, or the
            share that a scaling dict names as `partial_rotary_factor`.

    Returns:
        The rotated vectors, of x's shape, dtype, library and device.

    Raises:
        TypeError: x holds no real numbers; positions are no numbers or of another library.
        ValueError: positions that do not broadcast, or NaN; rotary_dim odd or above head_dim; an
            unknown layout; different devices; and what `rotary_tables` raises.

    Source: Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding",
    section 3.2.

    Example:
        >>> import numpy as np
        >>> q, k = np.random.default_rng(0).standard_normal((2, 1, 8))
        >>> near = apply_rotary(q, [9]) @ apply_rotary(k, [2]).T
        >>> far = apply_rotary(q, [1009]) @ apply_rotary(k, [1002]).T
        >>> np.allclose(near, far)
        True
    """
    require_choice(layout, "layout", LAYOUTS)
    xp = require_vectors(x)
    base, rule = read_scaling(scaling, base)
    if rotary_dim is None and isinstance(scaling, Mapping):
        rotary_dim = partial_rotary_dim(scaling, x.shape[-1])
    dim = _require_rotary_dim(rotary_dim, x.shape[-1])
    positions = _positions_of(xp, x, positions)
    tables = rotary_tables(positions, dim, base=base, scaling=rule, dtype=_arithmetic_dtype(xp, x))
    return rotate(x, tables, layout=layout)


def tables_of(theta: Array, like: Array, dtype: Any, scale: Any = 1.0) -> RotaryTables:
    """Tables of float64 angles in rad, both multiplied by `scale`, cast last."""
    xp = namespace(theta)
    dtype = table_dtype(like, dtype)
    return RotaryTables(
        narrow(xp.cos(theta) * scale, like, dtype), narrow(xp.sin(theta) * scale, like, dtype)
    )


def table_dtype(like: Array, dtype: Any) -> Any:
    """The dtype asked for, else the library's default real type, float32 if that has fewer bits."""
    if dtype is not None:
        return result_dtype(like, dtype)
    xp = namespace(like)
    usual = default_float(xp)
    return usual if xp.finfo(usual).bits >= 32 else xp.float32


def turn(xp: Any, x: Array, tables: RotaryTables, layout: str) -> Array:
    """The rotation itself, in functions of the array API standard alone."""
    first, second = turned_members(xp, x, tables, layout)
    if layout == "half":
        parts = [first, second]
    else:
        parts = [xp.reshape(xp.stack([first, second], axis=-1), (*x.shape[:-1], tables.dim))]
    if tables.dim < x.shape[-1]:
        parts.append(x[..., tables.dim :])
    return parts[0] if len(parts) == 1 else xp.concat(parts, axis=-1)


def turned_members(xp: Any, x: Array, tables: RotaryTables, layout: str) -> tuple[Array, Array]:
    """The first and the second members of all pairs, turned: two arrays of (..., dim/2).

    Each is cast on its own, before they are joined: compilers then fuse all into one vectorised loop.
    """
    first_columns, second_columns = columns(tables.dim, layout)
    first, second = (
        xp.astype(x[..., place], tables.cos.dtype, copy=False) for place in (first_columns, second_columns)
    )
    return (
        xp.astype(first * tables.cos - second * tables.sin, x.dtype, copy=False),
        xp.astype(second * tables.cos + first * tables.sin, x.dtype, copy=False),
    )


def columns(dim: int, layout: str) -> tuple[slice, slice]:
    """Where the first and the second members of the pairs stand."""
    if layout == "half":
        return slice(0, dim // 2), slice(dim // 2, dim)
    return slice(0, dim, 2), slice(1, dim, 2)


def require_vectors(x: Any) -> Any:
    """The array namespace of x; TypeError unless it holds real vectors."""
    xp = namespace(x)
    if not is_floating(x):
        raise TypeError(f"x has dtype {x.dtype}; rotation needs real floating-point vectors")
    if x.ndim == 0:
        raise ValueError("x is a single number; give vectors of shape (..., seq, head_dim)")
    return xp


def fitting(x: Any, tables: Any, out: Any) -> RotaryTables:
    """Check what `rotate` was given; return the tables, in 32 bits at least."""
    xp = require_vectors(x)
    if not isinstance(tables, RotaryTables):
        raise TypeError(
            f"tables is of type {type(tables).__name__}; give those of rotary_tables(...), or "
            "RotaryTables(cos, sin) for your own"
        )
    cos = tables.cos
    if (type(cos) is not type(x)) and namespace(cos) is not xp:
        raise TypeError(
            f"x is {type(x).__name__}, tables are {type(cos).__name__}: make the tables from positions of "
            "x's library and device, such as torch.arange(n, device=x.device) for PyTorch"
        )
    require_same_device(x=x, tables=cos)
    if cos.dtype != x.dtype and not xp.finfo(cos.dtype).bits > xp.finfo(x.dtype).bits:
        raise TypeError(
            f"tables are {cos.dtype}, x is {x.dtype}: they would spoil its precision; make them with "
            f"dtype={x.dtype} or a wider one"
        )
    if tables.dim > x.shape[-1]:
        raise ValueError(
            f"tables turn {tables.dim} columns, x of shape {tuple(x.shape)} has {x.shape[-1]}; make the "
            "tables with dim=head_dim, or less for partial rotation"
        )
    _require_broadcast("the tables' positions", cos.shape[:-1], x)
    if out is not None:
        _require_out(xp, x, out)
    if xp.finfo(cos.dtype).bits >= 32:
        return tables
    return RotaryTables(xp.astype(cos, xp.float32), xp.astype(tables.sin, xp.float32))


def _require_out(xp: Any, x: Array, out: Any) -> None:
    if namespace(out) is not xp:
        raise TypeError(f"out is {type(out).__name__}, x {type(x).__name__}; give one of x's library")
    if out.dtype != x.dtype:
        raise TypeError(f"out is {out.dtype}, x {x.dtype}; give an out of x's dtype")
    if out.shape != x.shape:
        raise ValueError(f"out has shape {tuple(out.shape)}, x {tuple(x.shape)}; give an out of x's shape")
    require_same_device(x=x, out=out)


def _require_broadcast(what: str, shape: tuple[int, ...], x: Array) -> None:
    target = x.shape[:-1]
    fits = len(shape) <= len(target) and all(
        size in (1, wanted) for size, wanted in zip(reversed(shape), reversed(target), strict=False)
    )
    if not fits:
        raise ValueError(
            f"{what} of shape {tuple(shape)} do not broadcast to {tuple(target)}, the shape of x without "
            "head_dim; give (seq,), or (batch, 1, seq) where rows of (batch, heads, seq, head_dim) differ"
        )


def _require_rotary_dim(rotary_dim: Any, head_dim: int) -> int:
    dim = require_even_dim(head_dim if rotary_dim is None else rotary_dim, "rotary_dim")
    if dim > head_dim:
        raise ValueError(f"rotary_dim={dim} is above head_dim={head_dim}; give {head_dim} or less")
    return dim


def _positions_of(xp: Any, x: Array, positions: Any) -> Array:
    """Positions as an array of x's library and device that broadcasts to x.shape[:-1]."""
    if not isinstance(positions, bool) and isinstance(positions, Integral):
        if x.ndim < 2 or positions != x.shape[-2]:
            raise ValueError(
                f"positions={positions} means 0 .. {positions - 1}, but x has shape {tuple(x.shape)}; give "
                "seq, its second-last axis, or an array of positions"
            )
        return xp.arange(x.shape[-2], device=device_of(x))
    given = read_positions(positions)
    if isinstance(positions, (list, tuple)):
        given = xp.asarray(given, device=device_of(x))
    if namespace(given) is not xp:
        raise TypeError(
            f"x is {type(x).__name__}, positions are {type(given).__name__}; convert them to x's library"
        )
    require_same_device(x=x, positions=given)
    _require_broadcast("positions", given.shape, x)
    return given


def _arithmetic_dtype(xp: Any, x: Array) -> Any:
    """x's own dtype, or float32 where that has 16 bits: rounded once, at the end."""
    return x.dtype if xp.finfo(x.dtype).bits >= 32 else xp.float32


def _write(out: Array, turned: Array) -> Array:
    try:
        out[...] = turned
    except TypeError as error:
        raise TypeError(f"out of type {type(out).__name__} cannot be written to; leave out= away") from error
    return out
