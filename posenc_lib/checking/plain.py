"""Plain data: what may pass between an answer and its judge. Numbers, text, arrays; never pickle."""

from __future__ import annotations

import base64
import re
from typing import Any

import numpy as np

NUMERIC_KINDS = "biufc"
MAX_DEPTH = 40
"""How deep lists and tuples may lie in one another; an array has at most 64 axes, an answer hardly four."""

_DTYPE = re.compile(rf"[<>|=]?[{NUMERIC_KINDS}]\d{{1,2}}")


class NotPlain(TypeError):
    """A value that is no plain data."""


def to_plain(value: Any) -> Any:
    """The value as plain data: tensors become NumPy arrays, NumPy scalars Python numbers.

    Only exact types pass, so that no object can answer a comparison in its own favour.

    Raises:
        NotPlain: for anything else, functions and objects included.
    """
    if type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach"):
        return to_plain(_from_torch(value))
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in NUMERIC_KINDS:
            raise NotPlain(f"an array of dtype {value.dtype} holds no numbers")
        return np.array(value, subok=False)
    if isinstance(value, (np.longdouble, np.clongdouble)):  # their `item` gives themselves
        return float(value) if isinstance(value, np.longdouble) else complex(value)
    if isinstance(value, np.generic):
        return to_plain(value.item())
    if value is None or type(value) in (bool, int, float, complex, str):
        return value
    if type(value) in (list, tuple):
        return type(value)(to_plain(each) for each in value)
    if type(value) is dict and all(type(key) is str for key in value):
        return {key: to_plain(each) for key, each in value.items()}
    raise NotPlain(f"a {type(value).__name__} is neither a number, text nor an array")


def encode(value: Any) -> Any:
    """Plain data as what `json` can write."""
    if isinstance(value, np.ndarray):
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode("ascii")
        return {"array": data, "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, tuple):
        return {"tuple": [encode(each) for each in value]}
    if isinstance(value, list):
        return [encode(each) for each in value]
    if isinstance(value, dict):
        return {"dict": {key: encode(each) for key, each in value.items()}}
    return value


def decode(value: Any) -> Any:
    """Plain data from what `encode` gave, whoever wrote it; ValueError where it is malformed."""
    try:
        return _decode(value, MAX_DEPTH)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"malformed data: {error}") from error


def _decode(value: Any, depth: int) -> Any:
    if depth == 0:
        raise ValueError(f"it is nested more than {MAX_DEPTH} deep")
    if isinstance(value, list):
        return [_decode(each, depth - 1) for each in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return _decode_array(**value)
    if "complex" in value:
        real, imaginary = value["complex"]
        return complex(float(real), float(imaginary))
    if "tuple" in value:
        return tuple(_decode(list(value["tuple"]), depth))
    return {key: _decode(each, depth - 1) for key, each in value["dict"].items()}


def _decode_array(array: str, dtype: str, shape: list[int]) -> np.ndarray:
    if not _DTYPE.fullmatch(dtype):
        raise ValueError(f"dtype {dtype} is not numeric")
    if not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError("a shape is made of whole numbers from 0")
    return np.frombuffer(base64.b64decode(array, validate=True), np.dtype(dtype)).reshape(shape).copy()


def _from_torch(tensor: Any) -> np.ndarray:
    import torch

    tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
    # NumPy has no bfloat16; float32 holds every value of it.
    array: np.ndarray = (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()
    return array
