"""A table for evenly spaced positions, made by shifts in place of a sine for every number."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc_lib._arrays import Array, device_of, namespace, narrow, on_cpu, torch_of, values_are_known, widen
from posenc_lib.angles import angles

_WORTH_IT = 2**16
"""Results of fewer numbers than this are made directly, which takes well under a millisecond."""
_BLOCK = 2**16
"""Complex numbers in a block: 1 MiB, so that it stays in a core's second-level cache."""


def evenly_spaced(positions: Array, dim: int) -> tuple[float, float] | None:
    """(first, step) of a list of whole numbers whose table is worth making by shifts, else None.

    Only integers, which carry no gradient that shifts would lose; and only where `widen` puts them on
    the CPU: there a sine costs more than a multiplication, and looking at values makes no GPU wait.
    """
    if not values_are_known(positions):  # first: an exporter would take the sizes below for limits
        return None
    if positions.ndim != 1 or positions.shape[0] < 2 or positions.shape[0] * dim < _WORTH_IT:
        return None
    if not namespace(positions).isdtype(positions.dtype, "integral"):
        return None
    whole = widen(positions)
    if not on_cpu(whole):
        return None
    xp = namespace(whole)
    first, step = float(whole[0]), float(whole[1] - whole[0])
    even = first + step * xp.arange(whole.shape[0], dtype=xp.float64)
    return (first, step) if bool(xp.all(whole == even)) else None


def shifted_table(
    first: float, step: float, like: Array, rates: np.ndarray, *, layout: str, dtype: Any
) -> Array:
    """sin and cos of (first + step * n) * rate for n = 0 .. len(like) - 1, by the shift identity.

    Write n = rows * a + b. With z(p) = sin(p w) + i cos(p w) for a pair of frequency w, angle
    addition reads z(p + s) = z(p) (cos(s w) - i sin(s w)): the rotation PE(p + s) = M_s PE(p) as
    one complex product. So sines are needed for the first position of each block and for the
    shifts inside one block alone; the rest is multiplication. Both factors are float64, so the
    product adds 3e-16 to the error of their angles, and the cast to `dtype` comes last.

    Returns:
        (len(like), 2 * len(rates)) in that layout of `sinusoidal`, as `like` in kind and place.
    """
    host = widen(like[:0])  # where float64 is: beside `like`, or NumPy or the CPU instead
    xp = namespace(host)
    count, pairs = like.shape[0], rates.shape[0]
    rows = min(max(_BLOCK // pairs, 1), count)
    starts = first + step * rows * xp.arange(-(-count // rows), dtype=xp.float64)
    shifts = step * xp.arange(rows, dtype=xp.float64)
    theta = angles(xp.concat([starts, shifts]), rates)
    z = xp.empty(theta.shape, dtype=xp.complex128, device=device_of(host))
    cosine_first = layout == "split-cos-first"
    z.real[:], z.imag[:] = (xp.cos(theta), xp.sin(theta)) if cosine_first else (xp.sin(theta), xp.cos(theta))
    blocks = starts.shape[0]
    # cos - i sin is -i (sin + i cos); with the cosine first, the same numbers turn the other way.
    block_starts, turns = z[:blocks, :], z[blocks:, :] * (1 if cosine_first else -1j)

    same_library = xp is namespace(like)
    shape = (count, pairs, 2) if layout == "interleaved" else (count, 2, pairs)
    table = xp.empty(shape, dtype=dtype if same_library else xp.float64, device=device_of(host))
    block = xp.empty_like(turns)
    numbers = xp.reshape(block.view(xp.float64), (rows, pairs, 2))  # each real part, then its imaginary part
    if layout != "interleaved":
        numbers = xp.permute_dims(numbers, (0, 2, 1))
    multiply = (torch_of(host) or np).multiply  # that of `xp` looks at its arguments for longer than it works
    for a, start in enumerate(block_starts):
        multiply(start, turns, out=block)
        part = table[a * rows : (a + 1) * rows]
        part[:] = numbers[: part.shape[0]]
    return narrow(xp.reshape(table, (count, 2 * pairs)), like, dtype)
