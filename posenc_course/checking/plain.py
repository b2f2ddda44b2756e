"""Plain data: what may pass between an answer and its judge. Numbers, text, arrays; never pickle."""

from __future__ import annotations

import base64
import math
import operator
import re
import sys
from collections.abc import Mapping, MappingView, Set
from typing import Any

import numpy as np

from posenc_course.translation import _

NUMERIC_KINDS = "biufc"
MAX_DEPTH = 40
"""How deep lists and tuples may lie in one another; NumPy takes 64 levels and axes together."""
MAX_AXES = 16
MOST_ELEMENTS = 2**20
"""Numbers in one value; the largest right answer has 4000, as lists in a list 5000 items."""
ITEM = 64
"""An item of a list takes the room, and the judge's time, of so many numbers of an array."""
MOST_CHARACTERS = 1000
"""Of one text."""
MOST_BITS = 1023
"""Of a whole number: more than that is beyond any float."""

_DTYPE = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248]|c8|c16)")


_SEQUENCES = frozenset((list, tuple))
_NUMBERS = frozenset((bool, int, float, complex, np.ndarray))


class NotPlain(TypeError):
    """A value that is not plain data; the message is a whole sentence, to a learner."""


class _Room:
    """What one value may still hold: an endless generator ends here."""

    def __init__(self) -> None:
        self.left = MOST_ELEMENTS

    def take(self, elements: int) -> None:
        self.left -= elements
        if self.left < 0:
            raise NotPlain(_("It is far bigger than any right answer."))

    def take_array(self, shape: tuple[int, ...]) -> None:
        """An axis of length 0 does not make the others small: a sum over it is as long as they are."""
        if len(shape) > MAX_AXES:
            raise NotPlain(_("It is an array with more than {n} axes.").format(n=MAX_AXES))
        self.take(math.prod(filter(None, shape)))


# --- From whatever an answer returned ---------------------------------------------------------------


def to_plain(value: Any) -> Any:
    """The value as plain data: None, bool, int, float, complex, str, list, tuple, dict, array.

    What can be read as a number, a sequence or an array becomes one, whatever its class: subclasses,
    tensors, fractions, generators. All types of the result are exact, so that no object can answer a
    comparison in its own favour.

    Raises:
        NotPlain: for anything else (functions, sets, masked cells), and for what is far too big.
    """
    return _plain(value, MAX_DEPTH, _Room())


def _plain(value: Any, depth: int, room: _Room) -> Any:
    kind = type(value)
    room.take(ITEM)
    if depth == 0:
        raise NotPlain(_("It is nested more than {n} levels deep.").format(n=MAX_DEPTH))
    if kind is float or kind is bool or value is None:
        return value
    for exact in (int, float, complex):
        if issubclass(kind, exact):
            return _whole(exact.__pos__(value))  # of a subclass too, this gives the exact type
    if issubclass(kind, str):
        return _text(str.__str__(value))
    if (array := _as_array_of_its_own(value)) is not None:
        return _plain_array(array, depth, room)
    if issubclass(kind, Mapping):
        return {_key(key): _plain(each, depth - 1, room) for key, each in value.items()}
    if issubclass(kind, Set) and not issubclass(kind, MappingView):
        raise NotPlain(_("It is a set, which has no order. Return a list or an array."))
    if hasattr(kind, "__iter__") or (hasattr(kind, "__getitem__") and hasattr(kind, "__len__")):
        items = [_plain(each, depth - 1, room) for each in value]
        return tuple(items) if issubclass(kind, tuple) else items
    for protocol, number in (("__index__", operator.index), ("__float__", float), ("__complex__", complex)):
        if hasattr(kind, protocol):
            return _plain(_converted(number, value), depth - 1, room)
    raise NotPlain(
        _("Its type is {type}, which is not a number, text or an array.").format(type=kind.__name__)
    )


def _as_array_of_its_own(value: Any) -> np.ndarray | None:
    """The array that a tensor, or anything with one of NumPy's protocols or a buffer, holds; else None."""
    kind = type(value)
    torch = sys.modules.get("torch")
    if torch is not None and issubclass(kind, getattr(torch, "Tensor", ())):
        return _from_torch(value)
    masked = sys.modules.get("numpy.ma")
    if masked is not None and issubclass(kind, masked.MaskedArray) and masked.is_masked(value):
        raise NotPlain(_("It is a masked array, and its masked cells hold no numbers. Fill them first."))
    if (
        hasattr(kind, "__array__")
        or hasattr(kind, "__array_interface__")
        or hasattr(kind, "__array_struct__")
    ):
        return np.asarray(value)
    if hasattr(kind, "__dlpack__"):
        return np.from_dlpack(value)
    try:
        return np.asarray(memoryview(value))
    except (TypeError, ValueError):
        return None


def _plain_array(array: np.ndarray, depth: int, room: _Room) -> Any:
    room.take_array(array.shape)
    if array.dtype.kind in "OUT":  # objects or texts, each by itself
        return _plain(array.tolist(), depth - 1, room)
    if array.dtype.kind not in NUMERIC_KINDS:
        raise NotPlain(
            _("It is an array of dtype {dtype}, which holds no numbers.").format(dtype=array.dtype)
        )
    if array.dtype.char in "gG":  # wider than a float, and no two machines agree on how
        with np.errstate(all="ignore"):
            array = array.astype(np.float64 if array.dtype.char == "g" else np.complex128)
    return np.array(array, subok=False) if array.ndim else array.item()


def _from_torch(tensor: Any) -> np.ndarray:
    import torch

    with torch._C.DisableTorchFunctionSubclass():  # a subclass may answer everything itself
        _Room().take_array(tuple(tensor.shape))  # before zeros that are only thought of are written out
        plain = tensor.detach().to_dense().as_subclass(torch.Tensor).cpu().resolve_conj().resolve_neg()
        try:
            array: np.ndarray = plain.numpy()
        except TypeError:  # NumPy has neither bfloat16 nor float8; float64 holds all their values
            array = plain.double().numpy()
    return array


def _converted(number: Any, value: Any) -> Any:
    try:
        return number(value)
    except OverflowError:
        raise NotPlain(_("It contains a number that is too large for a float.")) from None


def _whole(number: complex) -> complex:
    if type(number) is int and number.bit_length() > MOST_BITS:
        raise NotPlain(_("It contains a number that is too large for a float."))
    return number


def _text(text: str) -> str:
    if len(text) > MOST_CHARACTERS:
        raise NotPlain(_("It contains a text longer than {n} characters.").format(n=MOST_CHARACTERS))
    return text


def _key(key: Any) -> str:
    if not issubclass(type(key), str):
        raise NotPlain(_("It is a dict whose keys are not text. Return a list or an array."))
    return _text(str.__str__(key))


# --- As JSON, and back --------------------------------------------------------------------------------


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
    """Plain data from what `encode` gave, whoever wrote it; ValueError where it is malformed or too big."""
    try:
        return _decode(value, MAX_DEPTH, _Room())
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise ValueError(_("malformed data: {error}").format(error=error)) from error


def _decode(value: Any, depth: int, room: _Room) -> Any:
    room.take(ITEM)
    if depth == 0:
        raise NotPlain(_("It is nested more than {n} levels deep.").format(n=MAX_DEPTH))
    if isinstance(value, list):
        return [_decode(each, depth - 1, room) for each in value]
    if isinstance(value, str):
        return _text(value)
    if not isinstance(value, dict):
        return _whole(value)
    match value:
        case {"array": str(data), "dtype": str(dtype), "shape": list(shape)} if len(value) == 3:
            return _decode_array(data, dtype, shape, room)
        case {"complex": [int() | float() as real, int() | float() as imaginary]} if len(value) == 1:
            return complex(real, imaginary)
        case {"tuple": list(items)} if len(value) == 1:
            return tuple(_decode(each, depth - 1, room) for each in items)
        case {"dict": dict(items)} if len(value) == 1:
            return {_text(key): _decode(each, depth - 1, room) for key, each in items.items()}
    raise ValueError(_("no value is written with the keys {keys}").format(keys=sorted(value)[:3]))


def _decode_array(data: str, dtype: str, shape: list[Any], room: _Room) -> np.ndarray:
    if not _DTYPE.fullmatch(dtype):
        raise ValueError(_("dtype {dtype} is not numeric").format(dtype=dtype[:20]))
    if not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError(_("a shape must be whole numbers, each 0 or more"))
    room.take_array(tuple(shape))
    return np.frombuffer(base64.b64decode(data, validate=True), np.dtype(dtype)).reshape(shape).copy()


# --- As an array --------------------------------------------------------------------------------------


def as_array(value: Any) -> np.ndarray | None:
    """Plain data as one array of numbers; None where there is anything but numbers.

    Raises:
        ValueError: rows differ in length.
    """
    if not _numbers_alone(value):  # NumPy would make texts of all, each as long as the longest
        return None
    array = np.asarray(value)
    if array.dtype.kind != "O":
        return array
    try:  # whole numbers beyond 64 bits
        return array.astype(np.float64)
    except TypeError:  # and complex ones beside them
        return array.astype(np.complex128)


def _numbers_alone(value: Any) -> bool:
    if type(value) not in _SEQUENCES:
        return type(value) in _NUMBERS
    kinds = set(map(type, value))
    return kinds <= _NUMBERS or (
        kinds <= _NUMBERS | _SEQUENCES
        and all(_numbers_alone(each) for each in value if type(each) in _SEQUENCES)
    )
