"""The one seam between the maths and the array libraries (NumPy, PyTorch, CuPy, JAX).

Everything else in the library is written against the array API standard. Here stands what the
standard leaves open: which library an array belongs to, what its default real type is, and
where float64 arithmetic can be done for it.
"""

from __future__ import annotations

import math
import sys
from numbers import Integral, Real
from typing import Any

import numpy as np

Array = Any
"""An array of any library that follows the array API standard."""


def namespace(*arrays: Array) -> Any:
    """The array API functions for these arrays; they must all come from one library."""
    if all(isinstance(a, (np.ndarray, np.generic)) for a in arrays):
        return np
    for array in arrays:
        if not (hasattr(array, "shape") and hasattr(array, "dtype")):
            raise TypeError(_no_array(array))
    try:
        if all(torch_of(a) is not None for a in arrays):
            import array_api_compat.torch  # known already: the search below costs as much as a small kernel

            return array_api_compat.torch
        from array_api_compat import array_namespace
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"arrays of type {type(arrays[0]).__name__} need the package array-api-compat: "
            "pip install 'posenc_lib[torch]'"
        ) from error
    libraries = sorted({_library(a) for a in arrays})
    if len(libraries) > 1:
        raise TypeError(
            f"arrays of different libraries were mixed: {' and '.join(libraries)}; "
            "convert them to one library first"
        )
    try:
        return array_namespace(*arrays)
    except TypeError as error:
        raise TypeError(_no_array(arrays[0])) from error


def device_of(array: Array) -> Any:
    """The device that holds the array, for `xp.asarray(..., device=...)`."""
    return getattr(array, "device", None)


def require_same_device(**arrays: Array) -> None:
    """Raise ValueError where the named arrays stand on different devices."""
    devices = {name: str(device_of(array)) for name, array in arrays.items()}
    if len(set(devices.values())) > 1:
        places = ", ".join(f"{name} on {device}" for name, device in devices.items())
        raise ValueError(f"arrays stand on different devices: {places}; move them to one device")


def is_floating(array: Array) -> bool:
    """Whether the array holds real floating-point numbers, bfloat16 included."""
    return bool(namespace(array).isdtype(array.dtype, "real floating"))


def default_float(xp: Any) -> Any:
    """The real type that the library gives to an array of Python floats."""
    if xp is np:
        return np.float64
    return xp.__array_namespace_info__().default_dtypes()["real floating"]


def default_integer(xp: Any) -> Any:
    """The integer type that the library gives to an array of Python ints."""
    return xp.__array_namespace_info__().default_dtypes()["integral"]


def read_numbers(numbers: Any, name: str) -> Array:
    """Return real numbers of any shape as an array of their own library.

    Python numbers and (nested) lists of them become NumPy arrays.

    Raises:
        TypeError: for booleans, complex numbers, text and whatever else is not real numbers.
        ValueError: for NaN, infinity, or lists of unequal length.
    """
    if isinstance(numbers, (Real, list, tuple)):
        try:
            numbers = np.asarray(numbers)
        except ValueError as error:
            raise ValueError(f"{name} are lists of unequal length; give lists that form an array") from error
    xp = namespace(numbers)
    if not xp.isdtype(numbers.dtype, ("integral", "real floating")):
        raise TypeError(
            f"{name} have dtype {numbers.dtype}; give integers or real numbers "
            "(a mask of booleans is no list of positions)"
        )
    if is_floating(numbers) and values_are_known(numbers) and not bool(xp.all(xp.isfinite(numbers))):
        raise ValueError(f"{name} hold NaN or infinity; give finite numbers")
    return numbers


def read_positions(positions: Any) -> Array:
    """Return positions as an array: an int n means 0 .. n-1, an array stays as it is.

    Raises:
        TypeError: for a lone real number (one position is a 0-d array) and for what is no number.
        ValueError: for n < 0, NaN or infinity.
    """
    if isinstance(positions, bool):
        raise TypeError("positions is a boolean; give a number of positions n, or an array")
    if isinstance(positions, Integral):
        if positions < 0:
            raise ValueError(
                f"positions={int(positions)} asks for a negative number of positions; give n >= 0 "
                "for positions 0 .. n-1, or an array such as np.asarray([-1]) for negative positions"
            )
        return np.arange(int(positions))
    if isinstance(positions, Real):
        raise TypeError(
            f"positions={positions!r} is a single real number; give an int n for positions 0 .. n-1, "
            f"or an array such as np.asarray({positions!r}) for the positions themselves"
        )
    return read_numbers(positions, "positions")


def result_dtype(array: Array, dtype: Any = None) -> Any:
    """The dtype of a result: as asked, else the array's own if real, else the library's default.

    Raises:
        TypeError: `dtype` is no real floating-point dtype of the array's library.
    """
    xp = namespace(array)
    if dtype is None:
        return array.dtype if is_floating(array) else default_float(xp)
    try:
        real = xp.isdtype(dtype, "real floating")
    except (AttributeError, TypeError):
        real = False
    if not real:
        library = _library(array)
        raise TypeError(
            f"dtype={dtype!r} is no real floating-point dtype of {library}, the library of the positions; "
            f"give one such as {library}.float32 (for a result of another library, give its positions)"
        )
    return dtype


def widen(array: Array) -> Array:
    """The same numbers in float64, on a device (and in a library) that has float64.

    Apple's GPUs have no float64, and JAX has none unless told so: there the numbers are taken to
    the host, and `narrow` takes the result back.

    Raises:
        TypeError: JAX without float64 is tracing, so that there are no numbers to take to the host.
    """
    if _lacks_float64(array):
        if _library(array) == "jax" and not values_are_known(array):
            raise TypeError(
                "JAX is tracing without float64, in which angles would be wrong far from 0; set "
                "jax.config.update('jax_enable_x64', True), or make the table outside jit and grad"
            )
        array = array.cpu() if torch_of(array) is not None else np.asarray(array)
    xp = namespace(array)
    return xp.astype(array, xp.float64)


def narrow(wide: Array, like: Array, dtype: Any) -> Array:
    """A float64 result in `dtype`, in the library and on the device of `like`."""
    xp = namespace(like)
    if not _lacks_float64(like):
        return xp.astype(wide, dtype, copy=False)
    if torch_of(like) is not None:
        return xp.astype(wide, dtype).to(like.device)
    return xp.asarray(wide.astype(np.float32), dtype=dtype, device=device_of(like))


def constant(values: np.ndarray, like: Array) -> Array:
    """NumPy values as an array of the library and device of `like`."""
    xp = namespace(like)
    return values if xp is np else xp.asarray(values, device=device_of(like))


def require_even_dim(dim: Any, name: str = "dim") -> int:
    """`dim` as an int; TypeError unless integral, ValueError unless even and at least 2."""
    if isinstance(dim, bool) or not isinstance(dim, Integral):
        raise TypeError(f"{name}={dim!r} is no integer; give an even integer such as 64")
    if dim < 2 or dim % 2:
        raise ValueError(
            f"{name}={int(dim)} cannot be split into (sin, cos) pairs; give an even integer, 2 or more"
        )
    return int(dim)


def require_positive(value: Any, name: str) -> float:
    """`value` as a float; TypeError unless a real number, ValueError unless finite and above 0."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} is no real number; give a positive number")
    number = float(value)
    if not 0 < number < math.inf:
        raise ValueError(f"{name}={value!r} is not allowed; give a finite number above 0")
    return number


def require_choice(value: Any, name: str, allowed: tuple[str, ...]) -> str:
    """`value` if it is one of the allowed names; ValueError that lists them otherwise."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name}={value!r} is unknown; choose one of {', '.join(map(repr, allowed))}")
    return value


def torch_of(array: Any) -> Any:
    """The module torch if the array is a tensor, else None. Never imports it."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(array, torch.Tensor) else None


def values_are_known(array: Array) -> bool:
    """Whether the values can be looked at: not while a compiler or `vmap` traces, nor on "meta"."""
    torch = torch_of(array)
    if torch is not None:
        if torch.compiler.is_compiling() or array.device.type == "meta":
            return False
        return not torch._C._functorch.is_batchedtensor(array)
    if _library(array) == "jax":
        import jax

        return not isinstance(array, jax.core.Tracer)
    return True


def _lacks_float64(array: Array) -> bool:
    if torch_of(array) is not None:
        return array.device.type in _WITHOUT_FLOAT64
    if _library(array) == "jax":
        import jax

        return not jax.config.jax_enable_x64
    return False


_WITHOUT_FLOAT64 = {"mps"}


def _library(array: Any) -> str:
    """The name of the library that the array belongs to."""
    if torch_of(array) is not None:
        return "torch"
    name = type(array).__module__.partition(".")[0]
    return "jax" if name == "jaxlib" else name


def _no_array(given: Any) -> str:
    return (
        f"{type(given).__name__} is no array; give an array of NumPy, PyTorch or another library "
        "that follows the array API standard"
    )
