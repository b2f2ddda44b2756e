"""Learned tables, one row per position, alone and together with the sinusoidal encoding."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal

from posenc_lib import _require as require
from posenc_lib._arrays import (
    Array,
    ArrayT,
    clip,
    count_up,
    default_integer,
    is_floating,
    namespace,
    narrow,
    values_are_known,
    widen_all,
)
from posenc_lib.added.sinusoidal import Layout, sinusoidal
from posenc_lib.angles import Spacing

BEYOND = ("raise", "clamp", "zero", "interpolate")
Beyond = Literal["raise", "clamp", "zero", "interpolate"]


def learned(
    table: ArrayT, positions: int | Array, *, beyond: Beyond = "raise", length: int | None = None
) -> ArrayT:
    """The rows of a learned table at the given positions.

    A table of N rows says nothing about position N: what to do there is your choice, `beyond`.

    Args:
        table: (N, dim), real; row p is the encoding of position p.
        positions: an int n for positions 0 .. n-1, or an array of whole numbers of any shape (...).
            Negative ones are refused: they are not rows, and do not count from the end.
        beyond: what is past the last row. "raise" refuses. "clamp" repeats the last row, so
            that all later positions look the same. "zero" adds nothing there. "interpolate" stretches
            the table over 0 .. length-1 and reads between rows: position p takes row
            p * (N-1)/(length-1), in a straight line between its two neighbours. The first and the last
            row keep their places at the ends; fractional positions are allowed.
        length: the number of positions that "interpolate" stretches the table over; by default N
            (nothing is stretched), or n where positions is an int n above N. It never depends on the
            positions in an array, so that a position's encoding is the same in every call.

    Returns:
        (..., dim), of the table's library, device and dtype. Gradients reach the table.

    Raises:
        TypeError: the table is not of real numbers; positions are not whole numbers (real ones are for
            "interpolate"), or of another library than the table.
        ValueError: the table is not (N, dim) or is empty; a position is negative, or lies past the last
            row where `beyond` does not provide for it; unknown `beyond`; `length` below 1 or without
            "interpolate"; different devices. (Compiled by torch.compile, a wrong position raises
            PyTorch's own IndexError or RuntimeError.)

    Who does what (checked with transformers 5.24.0 in tests/conformance): BERT and GPT-2 look rows
    up as "raise" does, from row 0. RoBERTa and OPT start at row 2: give positions + 2. ViT
    resamples its two-dimensional table bicubically for larger images: `resample_grid` does that.
    "interpolate" is torch.nn.functional.interpolate(mode="linear", align_corners=True) on the table.

    Example:
        >>> import numpy as np
        >>> table = np.asarray([[0.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
        >>> learned(table, 2)
        array([[ 0., 10.],
               [ 2., 20.]])
        >>> learned(table, 5, beyond="interpolate")
        array([[ 0., 10.],
               [ 1., 15.],
               [ 2., 20.],
               [ 3., 30.],
               [ 4., 40.]])

    Source: Gehring et al. 2017, "Convolutional Sequence to Sequence Learning", section 3.1; Devlin et
        al. 2019 (BERT); Radford et al. 2019 (GPT-2).
    """
    xp = _require_table(table)
    require.choice(beyond, "beyond", BEYOND)
    length = _read_length(length, beyond, positions, table.shape[0])
    positions = _read_rows(positions, table, beyond)
    _require_inside(positions, length if beyond in ("raise", "interpolate") else None, beyond)

    last = int(table.shape[0]) - 1
    if beyond == "interpolate":
        [wide] = widen_all(positions)
        place = wide * last / max(length - 1, 1)  # in this order the end falls on the last row
        below = xp.floor(place)
        below = xp.where(place == last, xp.full_like(below, max(last - 1, 0)), below)
        share = (place - below)[..., None]
        index = narrow(below, table, default_integer(xp))
        low, high = _rows(xp, table, index), _rows(xp, table, index + min(last, 1))
        low, high, share = widen_all(low, high, share)
        return narrow(low * (1.0 - share) + high * share, table, table.dtype)
    positions = xp.astype(positions, default_integer(xp), copy=False)
    if beyond == "raise":
        return _rows(xp, table, positions)
    rows = _rows(xp, table, clip(positions, None, last))
    if beyond == "clamp":
        return rows
    return xp.where((positions <= last)[..., None], rows, xp.zeros_like(rows))


def hybrid(
    table: ArrayT,
    positions: int | Array,
    *,
    beyond: Beyond = "raise",
    length: int | None = None,
    base: float = 10000.0,
    layout: Layout = "interleaved",
    spacing: Spacing = "paper",
) -> ArrayT:
    """Sinusoidal plus learned: a fixed structure at every position, and a correction where trained.

    With beyond="zero" the learned part ends with its table, and the sinusoidal one continues alone.

    Args:
        table, beyond, length: as in `learned`; the table's dim even.
        positions: as in `learned`. "interpolate" stretches the learned part alone.
        base, layout, spacing: as in `sinusoidal`.

    Returns:
        (..., dim), of the table's library, device and dtype. Gradients reach the table. The sum is
        taken in float32 or wider and cast last.

    Raises:
        TypeError, ValueError: as `learned` and `sinusoidal` do; odd dim.

    Example:
        >>> import numpy as np
        >>> table = np.zeros((2, 4))
        >>> bool(np.array_equal(hybrid(table, 3, beyond="zero"), sinusoidal(3, 4)))
        True

    Source: the sum of Vaswani et al. 2017, section 3.5, and Gehring et al. 2017, section 3.1, which the
        former reports as nearly equal when used alone (its table 3, row E).
    """
    xp = _require_table(table)
    dim = require.even_dim(table.shape[1], "the table's dim")
    rows = learned(table, positions, beyond=beyond, length=length)
    wide = xp.result_type(table.dtype, xp.float32)
    positions = _read_rows(positions, table, beyond)
    waves = sinusoidal(positions, dim, base=base, layout=layout, spacing=spacing, dtype=wide)
    return xp.astype(waves + xp.astype(rows, wide, copy=False), table.dtype, copy=False)


def _require_table(table: Array) -> Any:
    """The array namespace of a (N, dim) table of real numbers."""
    xp = namespace(table)
    if not is_floating(table):
        raise TypeError(f"table has dtype {table.dtype}; give a table of real numbers")
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(
            f"table has shape {tuple(table.shape)}; give (positions, dim), at least one row and one column"
        )
    return xp


def _read_length(length: Any, beyond: str, positions: Any, rows: int) -> int:
    """How many positions the table serves."""
    if length is None:
        asked = positions if require.is_count(positions) else 0
        return max(rows, asked) if beyond == "interpolate" else rows
    if beyond != "interpolate":
        raise ValueError(
            f"length={length!r} with beyond={beyond!r}: only beyond='interpolate' stretches the table; "
            "leave length out"
        )
    if isinstance(length, bool) or not isinstance(length, Integral):
        raise TypeError(f"length={length!r} is not an integer; give a number of positions")
    if length < 1:
        raise ValueError(f"length={int(length)} is below 1; give the number of positions to serve")
    return int(length)


def _read_rows(positions: Any, table: Array, beyond: str) -> Array:
    """Positions as an array of the table's library and device."""
    read = require.positions(positions)
    positions = count_up(read.shape[0], table) if require.is_count(positions) else read
    xp = namespace(table, positions)
    require.same_device(table=table, positions=positions)
    if beyond != "interpolate" and not xp.isdtype(positions.dtype, "integral"):
        raise TypeError(
            f"positions have dtype {positions.dtype}, but a table has rows for whole positions only; "
            "give integers, or beyond='interpolate' to read between rows"
        )
    if not is_floating(positions):  # in few bits PyTorch would wrap the length that it compares with
        positions = xp.astype(positions, default_integer(xp), copy=False)
    return positions


def _require_inside(positions: Array, length: int | None, beyond: str) -> None:
    """Raise ValueError where a position is negative, or (given a length) past the last."""
    if not values_are_known(positions) or 0 in positions.shape:
        return
    xp = namespace(positions)
    smallest, largest = xp.min(positions), xp.max(positions)
    if bool(smallest < 0):
        raise ValueError(
            f"position {smallest.item():g} comes before the table's first row; give positions of 0 or more "
            "(a table does not count from its end)"
        )
    if length is not None and bool(largest > length - 1):
        remedy = (
            f"give length={int(largest) + 1 if largest == int(largest) else int(largest) + 2} or more"
            if beyond == "interpolate"
            else "give a longer table, or say beyond='clamp', 'zero' or 'interpolate'"
        )
        raise ValueError(f"position {largest.item():g} is past the last one, {length - 1}; {remedy}")


def _rows(xp: Any, table: Array, index: Array) -> Array:
    """table[index], for integers of any shape."""
    flat = xp.reshape(index, (-1,))
    if not values_are_known(flat):
        # Compiled, a negative index would silently count from the end: send it past the end, which raises.
        flat = xp.where(flat < 0, xp.full_like(flat, table.shape[0]), flat)
    return xp.reshape(xp.take(table, flat, axis=0), (*index.shape, table.shape[1]))
