"""The rotation in PyTorch, quick without a compiler.

Three ways lead to the same numbers:

- where a compiler, a function transform or a tensor subclass looks on: `turn`, plain
  arithmetic that a compiler fuses into one kernel;
- interleaved pairs that need no cast: memory already holds complex numbers, and one complex
  product turns them;
- else a few kernels: on small tensors as few as can be, on large ones on the CPU in blocks that stay in
  its cache, so that memory is read once and written once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import array_api_compat.torch
import numpy as np
import torch

from posenc_lib import _require as require
from posenc_lib._arrays import (
    is_captured,
    is_compiling,
    is_exporting,
    is_in_a_transform,
    is_in_autograds_vmap,
    is_watched,
    register_pytree,
    writes,
)
from posenc_lib.rotated.tables import RotaryTables
from posenc_lib.rotated.turn import beside_heads, columns, fitting, turn, turned_members

BLOCK = 1 << 18
"""Numbers in a block: in float32 a megabyte, so that a block and its result fit in a core's L2 cache."""

SHARED = 8
"""So many times larger, at least, is a block that threads share. After each kernel they wait for one another,
long where another process takes a core: so there are few kernels, and as large as can be. From 16 on, glibc
gives a block's memory back after each call, and the next call waits for new pages."""

MOST_SHARED = 4
"""So many such blocks a large tensor is cut into: what one takes besides is a part of the tensor's size."""


def rotate(
    x: torch.Tensor, tables: RotaryTables, layout: str, seq_axis: int, out: torch.Tensor | None
) -> torch.Tensor:
    """`rotary.rotate` for tensors."""
    if seq_axis != -2:
        seq_axis = require.seq_axis(seq_axis, x.ndim)
    if not _fits_plainly(x, tables, seq_axis, out):
        tables = fitting(x, tables, out, seq_axis)
    if is_watched(x):
        return _rotate_watched(x, beside_heads(tables, seq_axis), layout, out)
    if seq_axis != -2:
        learned = tables.cos.requires_grad or tables.sin.requires_grad  # a kept view would have no way back
        if learned:
            tables = beside_heads(tables, seq_axis)
        else:
            tables = _kept(tables, f"_beside_{seq_axis}", lambda *_: beside_heads(tables, seq_axis))
    return _rotate_unwatched(x, tables, layout, out)


def rotate_at(
    x: torch.Tensor, positions: Any, rates: np.ndarray, scale: float, layout: str, seq_axis: int
) -> torch.Tensor:
    """`rotary.apply_rotary` for what `stands_plainly`: by the same float64 angles, and unchecked."""
    if type(positions) is int:
        positions = torch.arange(positions, device=x.device)
    theta = positions.double().unsqueeze(-1) * torch.asarray(rates, device=x.device)
    dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
    tables = _unchecked(cos=(theta.cos() * scale).to(dtype), sin=(theta.sin() * scale).to(dtype))
    return _rotate_unwatched(x, beside_heads(tables, seq_axis), layout, None)


def stands_plainly(x: torch.Tensor, positions: Any, seq_axis: Any) -> bool:
    """Whether a quick look shows that these vectors can be turned at these positions; if not, the checks of
    `rotary.apply_rotary` say what is wrong, if anything."""
    if (
        is_watched(x)
        or not _is_plain(x, _FLOATS)
        or type(seq_axis) is not int
        or not -x.ndim <= seq_axis < -1
    ):
        return False
    axes = x.shape[: x.ndim + seq_axis + 1]
    if type(positions) is int:
        return positions == axes[-1]
    return (
        type(positions) is torch.Tensor
        and _is_plain(positions, _INTEGERS)
        and positions.device == x.device
        and _spreads_in_one_way(positions.shape, axes)
    )


def _is_plain(x: torch.Tensor, dtypes: frozenset[torch.dtype]) -> bool:
    return x.dtype in dtypes and x.layout == torch.strided and not x.is_nested


def _spreads_in_one_way(places: Any, axes: Any) -> bool:
    """Whether positions broadcast to these axes, and could be meant for no others."""
    return len(places) in (1, len(axes)) and (
        axes[len(axes) - len(places) :] == places or require.spreads(places, axes)
    )


def _rotate_unwatched(
    x: torch.Tensor, tables: RotaryTables, layout: str, out: torch.Tensor | None
) -> torch.Tensor:
    if torch.is_grad_enabled() and (
        x.requires_grad
        or tables.cos.requires_grad
        or tables.sin.requires_grad
        or (out is not None and out.requires_grad)
    ):
        return _rotate_recorded(x, tables, layout, out)
    return _rotate(x, tables, layout, out)


def _fits_plainly(x: torch.Tensor, tables: RotaryTables, seq_axis: int, out: torch.Tensor | None) -> bool:
    """Whether a quick look shows that all is well; if not, `fitting` says what is wrong, if anything.

    One token of decoding takes less time to rotate than to check at leisure.
    """
    if type(tables) is not RotaryTables or type(tables.cos) is not type(x) or x.is_nested or x.ndim == 0:
        return False
    cos = tables.cos
    *places, pairs = cos.shape
    *axes, width = x.shape
    if seq_axis != -2:
        axes = axes[: seq_axis + 2]
    return (
        (x.dtype, cos.dtype) in _FITTING
        and x.device == cos.device
        and x.layout == cos.layout == torch.strided
        and 2 * pairs <= width
        and _spreads_in_one_way(places, axes)
        and (out is None or _is_like(out, x))
    )


def _is_like(out: torch.Tensor, x: torch.Tensor) -> bool:
    plain = type(out) is type(x) and not out.is_nested
    return plain and out.shape == x.shape and out.dtype == x.dtype and out.device == x.device


def _rotate_watched(
    x: torch.Tensor, tables: RotaryTables, layout: str, out: torch.Tensor | None
) -> torch.Tensor:
    """Plain arithmetic, in the form that a compiler makes one kernel of."""
    if out is None:
        if layout == "interleaved" and _compiles_as_words(x, tables):
            return _turned_words(x, tables)
        turned: torch.Tensor = turn(array_api_compat.torch, x, tables, layout)
        return turned
    if tables.dim < x.shape[-1] and out is not x:
        out[..., tables.dim :] = x[..., tables.dim :]
    if layout == "half":
        _turn_halves_as_one(x[..., : tables.dim], tables, out[..., : tables.dim])
        return out
    members = turned_members(array_api_compat.torch, x, tables, layout)
    for place, member in zip(columns(tables.dim, layout), members, strict=True):
        out[..., place] = member
    return out


def _turn_halves_as_one(x: torch.Tensor, tables: RotaryTables, out: torch.Tensor) -> None:
    """Write both halves by one expression: a compiler makes one loop of it, where two would read x twice."""
    halves = torch.unflatten(x, -1, (2, -1)).to(tables.cos.dtype)
    cos, sin = tables.cos.unsqueeze(-2), tables.sin.unsqueeze(-2)
    sign = torch.tensor([[-1.0], [1.0]], dtype=sin.dtype, device=sin.device)
    torch.unflatten(out, -1, (2, -1)).copy_(halves * cos + halves.flip(-2) * (sin * sign))


def _compiles_as_words(x: torch.Tensor, tables: RotaryTables) -> bool:
    """Whether x is bfloat16 pairs that may be read as 32-bit words, which no gradient passes through."""
    return (
        is_compiling()
        and not is_exporting()
        and not (torch.is_grad_enabled() and any(t.requires_grad for t in (x, tables.cos, tables.sin)))
        and not is_in_a_transform()
        and x.dtype == torch.bfloat16
        and tables.cos.dtype == torch.float32
        and tables.dim == x.shape[-1]
        and x.is_contiguous()
        and sys.byteorder == "little"
    )


def _turned_words(x: torch.Tensor, tables: RotaryTables) -> torch.Tensor:
    """x with columns 2j and 2j+1 turned, a 32-bit word per pair.

    A bfloat16 is the upper half of a float32. Shifts and masks take a word apart and join it again, all in
    one vectorised kernel, where strided columns would be read and written one by one.
    """
    upper = -(1 << 16)  # a mask of the upper 16 bits
    words = x.view(torch.int32)
    first, second = (words << 16).view(torch.float32), (words & upper).view(torch.float32)
    new_first = _rounded_word(first * tables.cos - second * tables.sin)
    new_second = _rounded_word(second * tables.cos + first * tables.sin)
    return (((new_first >> 16) & ~upper) | (new_second & upper)).view(torch.bfloat16)


def _rounded_word(x: torch.Tensor) -> torch.Tensor:
    """The bits of a float32, rounded to the nearest bfloat16 in their upper half, ties to even."""
    bits = x.view(torch.int32)
    is_nan = (bits & 0x7FFFFFFF) > 0x7F800000  # x.isnan() would not be vectorised
    return torch.where(is_nan, 0x7FC00000, bits + 0x7FFF + ((bits >> 16) & 1))


def _rotate_recorded(
    x: torch.Tensor, tables: RotaryTables, layout: str, out: torch.Tensor | None
) -> torch.Tensor:
    if out is not None:
        raise ValueError(
            "out= cannot be used while gradients are recorded; leave it out, or rotate under torch.no_grad()"
        )
    if tables.cos.requires_grad or tables.sin.requires_grad:  # learned frequencies
        learned: torch.Tensor = turn(array_api_compat.torch, x, tables, layout)
        return learned
    return _Rotation.turned(x, tables, layout)


class _Rotation(torch.autograd.Function):
    """The gradient of a rotation is the rotation back."""

    @classmethod
    def turned(cls, x: torch.Tensor, tables: RotaryTables, layout: str) -> torch.Tensor:
        result: torch.Tensor = cls.apply(x, tables, layout)  # type: ignore[no-untyped-call]
        return result

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, tables: RotaryTables, layout: str) -> torch.Tensor:
        ctx.tables, ctx.layout = tables, layout
        ctx.written = writes(tables.cos, tables.sin)
        return _rotate(x, tables, layout, None)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        if writes(ctx.tables.cos, ctx.tables.sin) != ctx.written:
            raise RuntimeError(
                "someone wrote into the tables between rotate and backward, which needs them as they were; "
                "make new tables, or call backward first"
            )
        back = RotaryTables(ctx.tables.cos, -ctx.tables.sin)
        if is_in_autograds_vmap(grad):  # which knows few functions
            return _turned_for_vmap(grad, back, ctx.layout), None, None
        return _Rotation.turned(grad, back, ctx.layout), None, None


def _turned_for_vmap(x: torch.Tensor, tables: RotaryTables, layout: str) -> torch.Tensor:
    """`turn`, by the functions that autograd's own vmap knows: `cat` is one, `concat` is none."""
    first, second = turned_members(array_api_compat.torch, x, tables, layout)
    pairs = torch.cat if layout == "half" else torch.stack
    turned = pairs([first, second], dim=-1).reshape(*first.shape[:-1], tables.dim)
    return torch.cat([turned, x[..., tables.dim :]], dim=-1)


def _rotate(x: torch.Tensor, tables: RotaryTables, layout: str, out: torch.Tensor | None) -> torch.Tensor:
    dim = tables.dim
    if dim == x.shape[-1] and x.numel() <= 2 * BLOCK:
        turned = (
            _turned_pairs(x, _turns(tables))
            if layout == "interleaved"
            else _turned_halves(x, *_across(tables))
        )
        return _cast(turned, x.dtype) if out is None else out.copy_(turned)

    result = torch.empty_like(x) if out is None or _overlaps(x, out) else out
    moving, moved = x[..., :dim], result[..., :dim]
    if dim < x.shape[-1] and not _same_place(x, result):
        result[..., dim:] = x[..., dim:]
    if layout == "interleaved":
        _turn_pairs(moving, moved, _turns(tables))
    else:
        _turn_halves(moving, moved, _across(tables)[0], tables.sin)
    return result if out is None or result is out else out.copy_(result)


def _turned_pairs(x: torch.Tensor, turns: torch.Tensor) -> torch.Tensor:
    """x of (..., dim) with columns 2j and 2j+1 turned, in the precision of the complex `turns`."""
    real = _REAL[turns.dtype]
    if x.dtype == real and _holds_pairs(x) and x.numel():  # a product of no numbers has no stride of 1
        return (x.view(turns.dtype) * turns).view(real)
    wide = _cast(x, real)
    if wide is x or not _holds_pairs(wide):
        wide = wide.clone(memory_format=torch.contiguous_format)
    wide.view(turns.dtype).mul_(turns)
    return wide


def _turned_halves(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """x of (..., dim) with columns j and j + dim/2 turned, by `_across`, in the fewest kernels."""
    wide = _cast(x, cos.dtype)
    swapped = wide.roll(cos.shape[-1] // 2, -1)
    return (wide * cos if wide is x else wide.mul_(cos)).addcmul_(swapped, sin)


def _turn_pairs(x: torch.Tensor, out: torch.Tensor, turns: torch.Tensor) -> None:
    """Write x with columns 2j and 2j+1 turned into out; they may be the same."""
    if x.dtype == _REAL[turns.dtype] and _holds_pairs(x) and _holds_pairs(out):
        torch.mul(x.view(turns.dtype), turns, out=out.view(turns.dtype))
        return
    for source, target, by in _blocks(x, out, turns):
        target.copy_(_turned_pairs(source, by))


def _turn_halves(x: torch.Tensor, out: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> None:
    """Write x with columns j and j + dim/2 turned into out; they may be the same.

    The cosines come twice, as in `_across`: one product of whole rows takes less time than two of halves.
    """
    casts = out.dtype != cos.dtype
    copies = casts or _same_place(x, out)
    shape = read = written = None
    for source, target, c, s in _blocks(x, out, cos, _side_by_side(sin)):
        if source.shape != shape:  # else the last block's memory, which is still in the cache
            shape = source.shape
            read = torch.empty_like(source, dtype=cos.dtype) if copies else None
            written = torch.empty_like(source, dtype=cos.dtype) if casts else None
        wide = source if read is None else read.copy_(source)
        turned = target if written is None else written
        first, second = wide.chunk(2, -1)
        new_first, new_second = turned.chunk(2, -1)
        torch.mul(wide, c, out=turned)
        new_first.addcmul_(second, s, value=-1)
        new_second.addcmul_(first, s)
        if turned is not target:
            target.copy_(turned)


def _side_by_side(table: torch.Tensor) -> torch.Tensor:
    """The table with a position's pairs side by side in memory: apart, they are read many times slower."""
    return table if table.stride(-1) == 1 else table.contiguous()


def _blocks(x: torch.Tensor, *others: torch.Tensor) -> Iterator[tuple[torch.Tensor, ...]]:
    """x and what broadcasts to it, cut along x's longest axis into pieces that stay in the cache."""
    block = BLOCK if torch.get_num_threads() == 1 else max(SHARED * BLOCK, x.numel() // MOST_SHARED)
    if x.numel() <= block or not x.is_cpu or x.ndim < 2:
        return iter([(x, *others)])
    axis = max(range(x.ndim - 1), key=lambda a: x.shape[a])
    size = max(1, x.shape[axis] * block // x.numel())
    spread = (other.expand(*x.shape[:-1], other.shape[-1]) for other in others)
    return zip(*(torch.split(tensor, size, axis) for tensor in (x, *spread)), strict=True)


def _turns(tables: RotaryTables) -> torch.Tensor:
    """cos + i sin, for pairs that are complex numbers."""
    turns: torch.Tensor = _kept(
        tables, "_turns", lambda cos, sin: torch.complex(_side_by_side(cos), _side_by_side(sin))
    )
    return turns


def _across(tables: RotaryTables) -> tuple[torch.Tensor, torch.Tensor]:
    """(cos, cos) and (-sin, sin), for x and for x with its halves swapped."""
    across: tuple[torch.Tensor, torch.Tensor] = _kept(
        tables, "_across", lambda cos, sin: (torch.cat([cos, cos], -1), torch.cat([-sin, sin], -1))
    )
    return across


def _kept(tables: RotaryTables, name: str, make: Callable[[torch.Tensor, torch.Tensor], Any]) -> Any:
    """What is made of the tables, made once, and again if someone wrote into them.

    Tensors of inference mode do not count their writes, so that nothing can be kept of them. A CUDA graph
    makes its own at each replay: nobody else may read what is not computed yet, and before the next replay
    someone may write into the tables.
    """
    cos, sin = tables.cos, tables.sin
    state = writes(cos, sin)
    if state is None or is_captured(cos.device):
        return make(cos, sin)
    kept = tables.__dict__.get(name)
    if kept is None or kept[0] != state:
        kept = tables.__dict__[name] = state, _cut_or_made(tables, name, make)
    return kept[1]


def _cut_or_made(tables: RotaryTables, name: str, make: Callable[[torch.Tensor, torch.Tensor], Any]) -> Any:
    if "_cut_from" not in tables.__dict__:
        return make(tables.cos, tables.sin)
    whole, rows = tables.__dict__["_cut_from"]
    made = _kept(whole, name, make)
    return tuple(each[rows] for each in made) if isinstance(made, tuple) else made[rows]


def cut(whole: RotaryTables, start: int, stop: int) -> RotaryTables:
    """whole[start:stop] for each step of decoding: no check, and what is made of the tables is cut as well.

    It is made of the whole tables once, so these must be ones that are kept.
    """
    rows = slice(start, stop)
    return _unchecked(cos=whole.cos[rows], sin=whole.sin[rows], _cut_from=(whole, rows))


def _unchecked(**parts: Any) -> RotaryTables:
    """Tables of what is known to be right."""
    tables = object.__new__(RotaryTables)
    tables.__dict__.update(parts)
    return tables


def _holds_pairs(x: torch.Tensor) -> bool:
    """Whether columns 2j and 2j+1 lie in memory as one complex number does."""
    if x.dtype not in _COMPLEX or x.storage_offset() % 2:
        return False
    *strides, last = x.stride()  # those of axes of size 1 count as well: `is_contiguous` passes over them
    return last == 1 and not any(stride % 2 for stride in strides)


def _cast(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """x in this dtype: x itself where it has it. These methods take half the time of `x.to(dtype)`."""
    if x.dtype == dtype:
        return x
    method = _CASTS.get(dtype)
    return x.to(dtype) if method is None else method(x)


def _same_place(x: torch.Tensor, out: torch.Tensor) -> bool:
    return x.data_ptr() == out.data_ptr() and x.stride() == out.stride()


def _overlaps(x: torch.Tensor, out: torch.Tensor) -> bool:
    """Whether writing into out might change what is yet to be read from x, otherwise than in place."""
    here, there = x.untyped_storage(), out.untyped_storage()  # two views of one NumPy array begin apart
    first, second = here.data_ptr(), there.data_ptr()
    same_memory = first < second + there.nbytes() and second < first + here.nbytes()
    return same_memory and not _same_place(x, out)


_FITTING = frozenset(
    {
        (torch.float32, torch.float32),
        (torch.bfloat16, torch.float32),
        (torch.float16, torch.float32),
        (torch.float64, torch.float64),
    }
)
"""Usual dtypes of vectors and tables."""

_FLOATS = frozenset(x for x, _ in _FITTING)
_INTEGERS = frozenset({torch.int64, torch.int32})

_COMPLEX = {torch.float32: torch.complex64, torch.float64: torch.complex128}
_REAL = {kind: real for real, kind in _COMPLEX.items()}

_CASTS = {
    torch.float32: torch.Tensor.float,
    torch.bfloat16: torch.Tensor.bfloat16,
    torch.float16: torch.Tensor.half,
}

register_pytree(RotaryTables, torch.empty(0))  # `torch.load` knows the class before the first table is made
