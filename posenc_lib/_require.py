"""Every check of arguments, once. Each says what was given, what is allowed, and what to do.

Used as `from posenc_lib import _require as require`, so that a call reads as it is: `require.even_dim(dim)`.
What a check understands it returns: an int, a float, an array.
"""

from __future__ import annotations

import math
from itertools import zip_longest
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

from posenc_lib._arrays import (
    Array,
    count_up,
    device_of,
    is_floating,
    is_open,
    is_plain_tensor,
    namespace,
    torch_of,
    values_are_known,
)

# Single numbers and names


def count(value: Any, name: str, least: int = 1) -> int:
    """`value` as an int; TypeError unless integral, ValueError below `least`."""
    if not is_count(value):
        raise TypeError(f"{name}={value!r} is not an integer; give an integer, {least} or more")
    if value < least:
        raise ValueError(f"{name}={int(value)} is too small; give {least} or more")
    if value > _MOST:
        raise ValueError(f"{name}={value} is beyond 64-bit integers; give {_MOST} at most")
    return value if is_open(value) else int(value)


_MOST = 2**63 - 1


def is_count(value: Any) -> bool:
    """Whether this is an integer, or an exporter's symbol of one."""
    return not isinstance(value, bool) and (isinstance(value, Integral) or is_open(value))


def even_dim(dim: Any, name: str = "dim") -> int:
    """`dim` as an int; TypeError unless integral, ValueError unless even and at least 2."""
    if isinstance(dim, bool) or not isinstance(dim, Integral):
        raise TypeError(f"{name}={dim!r} is not an integer; give an even integer such as 64")
    count(dim, name, -_MOST)
    if dim < 2 or dim % 2:
        raise ValueError(
            f"{name}={int(dim)} cannot be split into (sin, cos) pairs; give an even integer, 2 or more"
        )
    return int(dim)


def positive(value: Any, name: str) -> float:
    """`value` as a float; TypeError unless a real number, ValueError unless finite and above 0."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} is not a real number; give a positive number")
    number = float(value)
    if not 0 < number < math.inf:
        raise ValueError(f"{name}={value!r} is not allowed; give a finite number above 0")
    return number


def finite(value: Any, name: str, remedy: str) -> float:
    """`value` as a float; TypeError unless a real number, ValueError for NaN and infinity."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} is not a real number; {remedy}")
    number = float(value)
    if not -math.inf < number < math.inf:  # which a compiler can trace
        raise ValueError(f"{name}={value!r} is not finite; {remedy}")
    return number


def probability(value: Any, name: str) -> float:
    """`value` as a float; TypeError unless a real number, ValueError unless from 0 to 1."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} is not a real number; give a probability, from 0 to 1")
    number = float(value)
    if not 0 <= number <= 1:
        raise ValueError(f"{name}={value!r} is not a probability; give a number from 0 to 1")
    return number


Word = TypeVar("Word", bound=str)


def choice(value: Word, name: str, allowed: tuple[str, ...]) -> Word:
    """`value` if it is one of the allowed names; ValueError that lists them otherwise."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name}={value!r} is unknown; choose one of {', '.join(map(repr, allowed))}")
    return value


def flag(value: Any, name: str) -> bool:
    """`value` as a bool; TypeError for anything else, which would pass for True or False unseen."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}={value!r} is not a boolean; give True or False")
    return bool(value)


def rotary_dim(value: Any, head_dim: int) -> int:
    """How many columns of a head turn, even: all of them where it is None."""
    dim = even_dim(head_dim if value is None else value, "rotary_dim")
    if dim > head_dim:
        raise ValueError(f"rotary_dim={dim} is above head_dim={head_dim}; give {head_dim} or less")
    return dim


def head_width(dim: int, heads: int) -> int:
    """The width of one head; ValueError unless heads divide dim."""
    if count(dim, "dim") % count(heads, "heads"):
        raise ValueError(f"dim={dim} is not divisible by heads={heads}; give heads that divide it")
    return dim // heads


def key_heads(kv_heads: Any, heads: int) -> int:
    """How many heads keys and values have: a divisor of heads, by default as many."""
    number = heads if kv_heads is None else count(kv_heads, "kv_heads")
    if not divides(number, heads):
        raise ValueError(f"kv_heads={number} does not divide heads={heads}; give a divisor of {heads}")
    return number


def divides(kv_heads: int, heads: int) -> bool:
    """Whether each head of keys can serve as many heads of queries."""
    return 0 < kv_heads <= heads and heads % kv_heads == 0


# Arrays by themselves


def numbers(given: Any, name: str) -> Array:
    """Real numbers of any shape, as an array of their own library.

    Python numbers and (nested) lists of them become NumPy arrays.

    Raises:
        TypeError: for booleans, complex numbers, text and whatever else is not real numbers.
        ValueError: for NaN, infinity, or lists of unequal length.
    """
    if isinstance(given, (Real, list, tuple)):
        try:
            given = np.asarray(given)
        except ValueError as error:
            raise ValueError(
                f"the lists in {name} have different lengths; give lists that form an array"
            ) from error
    xp = namespace(given)
    if not xp.isdtype(given.dtype, ("integral", "real floating")):
        raise TypeError(
            f"{name} have dtype {given.dtype}; give integers or real numbers "
            "(a mask of booleans is not a list of positions)"
        )
    if is_floating(given) and values_are_known(given) and not bool(xp.all(xp.isfinite(given))):
        raise ValueError(f"there is NaN or infinity in {name}; give finite numbers")
    return given


def positions(given: Any) -> Array:
    """Positions as an array: an int n means 0 .. n-1, an array stays as it is.

    Raises:
        TypeError: for a lone real number (one position is a 0-d array) and for what is not a number.
        ValueError: for n < 0, NaN or infinity.
    """
    if isinstance(given, bool):
        raise TypeError("positions is a boolean; give a number of positions n, or an array")
    if is_count(given):
        if given < 0:
            raise ValueError(
                f"positions={int(given)} asks for a negative number of positions; give n >= 0 "
                "for positions 0 .. n-1, or an array such as np.asarray([-1]) for negative positions"
            )
        count(given, "positions", 0)
        return count_up(given)
    if isinstance(given, Real):
        raise TypeError(
            f"positions={given!r} is a single real number; give an int n for positions 0 .. n-1, "
            f"or an array such as np.asarray({given!r}) for the positions themselves"
        )
    return numbers(given, "positions")


def real_array(array: Any, name: str, shape: str, ndim: int, *, more: bool = False) -> Array:
    """A floating-point array with `ndim` axes (or more); `shape` is what the error asks for."""
    xp = namespace(array)
    if not xp.isdtype(array.dtype, "real floating"):
        raise TypeError(f"{name} has dtype {array.dtype}; give real floating-point numbers, shape {shape}")
    if array.ndim < ndim or (array.ndim > ndim and not more):
        raise ValueError(f"{name} has shape {tuple(array.shape)}; give shape {shape}")
    return array


def per_head(values: Any, heads: int | None, name: str) -> Array:
    """One finite real number per head, as an array of shape (heads,)."""
    values = numbers(values, name)
    if values.ndim != 1 or values.shape[0] == 0 or (heads is not None and values.shape[0] != heads):
        wanted = "(heads,)" if heads is None else f"({heads},)"
        raise ValueError(f"{name} has shape {tuple(values.shape)}; give one number per head, shape {wanted}")
    return values


def positive_scalar(value: Any, name: str) -> Any:
    """A number above 0, or a 0-d array of one (a learned parameter)."""
    if isinstance(value, Real) or not hasattr(value, "dtype"):
        return positive(value, name)
    value = numbers(value, name)
    if value.ndim != 0:
        raise ValueError(f"{name} has shape {tuple(value.shape)}; give one number, or a 0-d array")
    all_hold(value > 0, value, f"{name} must be above 0")
    return value


def all_hold(holds: Array, of: Array, message: str) -> None:
    """Raise ValueError with the message and the values, unless every element holds (where known)."""
    if values_are_known(holds) and not bool(namespace(holds).all(holds)):
        raise ValueError(f"{message}; got {of}")


def whole(array: Array, name: str = "positions") -> Array:
    """The array, unless it holds real numbers."""
    if is_floating(array):
        raise TypeError(
            f"{name} have dtype {array.dtype}, but distances must be whole numbers; round them and give "
            "integers"
        )
    return array


def tensors(remedy: str = "", /, **given: Any) -> None:
    """Raise TypeError unless all of these are PyTorch's."""
    for name, value in given.items():
        if torch_of(value) is None:
            raise TypeError(f"{name} is a {type(value).__name__}; give a torch tensor{remedy}")
        try:
            namespace(value)
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from error


def real_tensor(x: Any, name: str, shape: str) -> None:
    """Raise TypeError unless x is a tensor of real numbers; `shape` is what the error asks for."""
    tensors(f" of shape {shape}", **{name: x})
    if not x.is_floating_point():
        raise TypeError(f"{name} has dtype {x.dtype}; give real floating-point vectors, of shape {shape}")


def vectors_of_heads(
    x: Any, name: str, heads: int | None = None, head_dim: int | None = None, *, grouped: bool = False
) -> None:
    """Raise unless x is a tensor of queries or keys, (batch, heads, length, head_dim).

    Where keys are `grouped`, a divisor of the heads will do.
    """
    fits = is_plain_tensor(x) and x.is_floating_point()
    fits = fits and x.ndim == 4 and (head_dim is None or head_dim == x.shape[3])
    if fits and heads is not None:
        fits = divides(x.shape[1], heads) if grouped else x.shape[1] == heads
    if fits:
        return  # a compiler for which sizes are open could not make the message
    shape = f"(batch, {heads or 'heads'}, length, {head_dim or 'head_dim'})"
    real_tensor(x, name, shape)
    raise ValueError(
        f"{name} of shape {tuple(x.shape)} does not fit this encoding; give {shape}"
        + (", or a divisor of these heads" if heads and grouped else "")
        + (f", with head_dim={head_dim} as it was made for" if head_dim else "")
    )


# Arrays beside each other


def same_device(**arrays: Array) -> None:
    """Raise ValueError where the named arrays are bound to different devices."""
    bound = {name: device_of(array) for name, array in arrays.items()}
    devices = {name: str(device) for name, device in bound.items() if device is not None}
    if len(set(devices.values())) > 1:
        places = ", ".join(f"{name} on {device}" for name, device in devices.items())
        raise ValueError(f"the arrays are on different devices: {places}; move them to one device")


def same_dtype(**arrays: Array) -> None:
    """Raise TypeError for tensors of different dtypes, of which PyTorch makes no product."""
    dtypes = {name: array.dtype for name, array in arrays.items() if torch_of(array) is not None}
    if any(dtype != next(iter(dtypes.values())) for dtype in dtypes.values()):
        given = ", ".join(f"{name} {dtype}" for name, dtype in dtypes.items())
        raise TypeError(f"the dtypes differ: {given}; cast them to one dtype")


def same_head_dim(**arrays: Array) -> None:
    """Raise ValueError unless the last axes are of one size, 1 or more."""
    first, *others = (array.shape[-1] for array in arrays.values())  # in no set: they may be symbols
    if first == 0 or any(other != first for other in others):
        raise ValueError(
            f"{shapes(**arrays)} differ in head_dim, the last axis, or it is 0; give the same head_dim, "
            "1 or more"
        )


def no_more_queries(queries: int, keys: int) -> None:
    """Raise ValueError where the last query is at the last key, and the first before all keys."""
    if queries > keys:
        raise ValueError(
            f"{queries} queries, but only {keys} keys: the last query is at the last key, so there must be "
            "at least as many keys as queries"
        )


def one_each(positions: Array, length: int, name: str, array: str) -> None:
    """Raise ValueError unless there are `length` positions, one for each row of the named array."""
    if positions.shape[-1] != length:
        raise ValueError(
            f"{name} gives {positions.shape[-1]} positions, but {array} has {length}; give one for each"
        )


def spreads(shape: Any, to: Any) -> bool:
    """Whether an array of this shape broadcasts to the other; the sizes may be an exporter's symbols."""
    return len(shape) <= len(to) and all(
        size == 1 or size == wanted for size, wanted in zip(reversed(shape), reversed(to), strict=False)
    )


def fits_in_front(shape: Any, to: Any) -> bool:
    """Whether an array that broadcasts to the other, its last axes beside the last ones, would fit its first
    axes as well: (8, seq) could be the batch or the heads of (8, 8, seq). NumPy's rule takes the heads.
    """
    first = shape[:-1]
    return (
        0 < len(first) < len(to) - 1
        and first[0] != 1
        and all(size in (1, wanted) for size, wanted in zip(first, to, strict=False))
    )


def seq_axis(given: Any, ndim: int) -> int:
    """Which axis is the sequence, from the end: -2 in (..., seq, dim), -3 in (..., seq, heads, dim)."""
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise TypeError(f"seq_axis={given!r} is not an integer; {_SEQ_AXES}")
    axis = int(given)
    from_the_end = axis - ndim if axis >= 0 else axis
    if axis != -2 and not -ndim <= from_the_end <= -2:  # a lone vector is at one position
        raise ValueError(f"seq_axis={axis} is not an axis before the last of {ndim}; {_SEQ_AXES}")
    return from_the_end


_SEQ_AXES = "give -2 for (batch, heads, seq, head_dim), or -3 for (batch, seq, heads, head_dim)"


def to_scores(array: Array, name: str, scores: tuple[int, ...]) -> None:
    """Raise ValueError unless the array broadcasts to the scores."""
    if not spreads(array.shape, scores):
        raise ValueError(
            f"{name} of shape {tuple(array.shape)} does not broadcast to the scores' shape {tuple(scores)}, "
            "(..., queries, keys)"
        )


def mask(array: Array, scores: tuple[int, ...]) -> None:
    """Raise unless these are booleans that broadcast to the scores."""
    if array.dtype != namespace(array).bool:
        raise TypeError(
            f"mask has dtype {array.dtype}; give booleans, True where a query may look at a key "
            "(numbers that are added to the scores are a bias)"
        )
    to_scores(array, "mask", scores)
    one_reading_of_mask(array, scores)


def one_reading_of_mask(array: Array, scores: tuple[int, ...]) -> None:
    """Raise ValueError for (n, queries, keys) where both the batch and the heads are n."""
    if array.ndim == 3 and fits_in_front(array.shape[:2], scores[:-1]):
        raise ValueError(
            f"mask of shape {tuple(array.shape)} could be for the rows of the batch or for the heads of "
            f"scores of shape {tuple(scores)}; give (batch, 1, queries, keys), or (1, heads, queries, keys)"
        )


def common_axes(last: int, **arrays: Array) -> tuple[int, ...]:
    """The shape to which the axes before the last ones broadcast."""
    common = broadcast(*(array.shape[:-last] for array in arrays.values()))
    if common is None:
        where = "axis" if last == 1 else f"{last} axes"
        raise ValueError(f"the shapes do not broadcast before the last {where}: {shapes(**arrays)}")
    return common


def heads_in_groups(q: Array, **others: Array) -> tuple[int, ...]:
    """The axes before the last two of the scores, where the others may have a divisor of q's heads."""
    shared = [q.shape[:-2]]
    for other in others.values():
        axes = other.shape[:-2]
        grouped = axes and q.ndim > 2 and divides(axes[-1], q.shape[-3])
        shared.append((*axes[:-1], q.shape[-3]) if grouped else axes)
    common = broadcast(*shared)
    if common is None:
        raise ValueError(
            f"the shapes do not broadcast before the last 2 axes: {shapes(q=q, **others)}; axes must be "
            "equal or 1, and the heads of keys and values may be a divisor of those of the queries"
        )
    return common


def broadcast(*shapes: Any) -> tuple[int, ...] | None:
    """The shape to which all of these broadcast, or None; the sizes may be an exporter's symbols."""
    common: list[int] = []
    for sizes in zip_longest(*map(reversed, shapes), fillvalue=1):
        size = next((n for n in sizes if n != 1), 1)
        if any(n != 1 and n != size for n in sizes):
            return None
        common.insert(0, size)
    return tuple(common)


def shapes(**arrays: Array) -> str:
    """The arrays and their shapes, for an error."""
    return ", ".join(f"{name} {tuple(array.shape)}" for name, array in arrays.items())
