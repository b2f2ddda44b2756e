"""The rotation itself, in functions of the array API standard alone, and what it asks of vectors and tables.

Sign: a pair (a, b) at position p turns by +p*w, counterclockwise:

    a' = a cos(p w) - b sin(p w)
    b' = b cos(p w) + a sin(p w)
"""

from __future__ import annotations

from typing import Any

from posenc_lib import _require as require
from posenc_lib._arrays import Array, is_floating, namespace
from posenc_lib.rotated.tables import RotaryTables

LAYOUTS = ("interleaved", "half")


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
    """Where the first and the second members of the pairs are."""
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


def fitting(x: Any, tables: Any, out: Any, seq_axis: int) -> RotaryTables:
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
            "x's library and device, such as torch.arange(n, device=x.device) for PyTorch, or "
            "jax.numpy.arange(n) for JAX"
        )
    require.same_device(x=x, tables=cos)
    if cos.dtype != x.dtype and not xp.finfo(cos.dtype).bits > xp.finfo(x.dtype).bits:
        raise TypeError(
            f"tables are {cos.dtype}, but x is {x.dtype}: the result would lose precision; make them with "
            f"dtype={x.dtype} or a wider one"
        )
    if tables.dim > x.shape[-1]:
        raise ValueError(
            f"tables turn {tables.dim} columns, but x of shape {tuple(x.shape)} has {x.shape[-1]}; make the "
            "tables with dim=head_dim, or less for partial rotation"
        )
    require_broadcast("the tables' positions", cos.shape[:-1], x, seq_axis)
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
    require.same_device(x=x, out=out)


def require_broadcast(what: str, shape: tuple[int, ...], x: Array, seq_axis: int) -> None:
    """Raise unless positions of this shape broadcast to the axes of x up to the sequence, in one way only."""
    target = x.shape[: x.ndim + seq_axis + 1]
    rows = "(batch, 1, seq) where rows of (batch, heads, seq, head_dim) differ"
    if seq_axis != -2:
        rows = "(batch, seq) where rows of (batch, seq, heads, head_dim) differ"
    if not require.spreads(shape, target):
        raise ValueError(
            f"{what} of shape {tuple(shape)} do not broadcast to {tuple(target)}, the axes of x of shape "
            f"{tuple(x.shape)} up to the sequence; give (seq,), or {rows}"
        )
    if require.fits_in_front(shape, target):
        raise ValueError(
            f"{what} of shape {tuple(shape)} could be for the rows of the batch or for the heads of x of "
            f"shape {tuple(x.shape)}; give (batch, 1, seq) if rows differ, or (1, heads, seq) if heads do"
        )


def beside_heads(tables: RotaryTables, seq_axis: int) -> RotaryTables:
    """The tables with axes of size 1 for what is between the sequence and head_dim."""
    index = (..., *(None,) * (-2 - seq_axis), slice(None))
    return tables if seq_axis == -2 else RotaryTables(tables.cos[index], tables.sin[index])
