"""The ways in which people return the right thing. A test runs this file inside the walls, too."""

from __future__ import annotations

import array
import collections
import ctypes
import decimal
import enum
import fractions

import numpy as np
import torch


class MyList(list):
    pass


class Lazy(collections.abc.Sequence):
    """A sequence of one's own, in the old way: it has a length, and gives an element when asked."""

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


class Holder:
    """As a data frame or an array of another library: NumPy may ask it for an array."""

    def __init__(self, items):
        self.items = items

    def __array__(self, dtype=None, copy=None):
        return np.array(self.items, dtype=dtype)


class Lent:
    """An array that is handed over by DLPack alone."""

    def __init__(self, items):
        self.items = np.array(items)

    def __dlpack__(self, **how):
        return self.items.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.items.__dlpack_device__()


class MyTensor(torch.Tensor):
    pass


class MyFloat(float):
    pass


class MyInt(int):
    pass


class Metres:
    def __init__(self, number):
        self.number = number

    def __float__(self):
        return float(self.number)


class MyTuple(tuple):
    pass


class Two(collections.namedtuple("Two", "first second")):
    pass


class MyText(str):
    pass


class Word(enum.StrEnum):
    breaks = "breaks"
    holds = "holds"
    gains = "gains"


def by_rows(make):
    return lambda a: make(a) if a.ndim == 1 else [make(row) for row in a]


def each_by_itself(items):
    yield from items


def objects(items, make):
    out = np.empty(np.shape(items), dtype=object)
    for index, each in np.ndenumerate(items):
        out[index] = make(each)
    return out


ARRAYS = {
    "array": by_rows(lambda a: array.array("d", a)),
    "deque": lambda a: collections.deque(a.tolist()),
    "list-subclass": lambda a: MyList(a.tolist()),
    "tuple-subclass": lambda a: MyTuple(a),
    "userlist": lambda a: collections.UserList(a.tolist()),
    "sequence": lambda a: Lazy(a.tolist()),
    "values": lambda a: dict(enumerate(a.tolist())).values(),
    "keys": by_rows(lambda a: dict.fromkeys(a.tolist()).keys()),
    "generator": lambda a: each_by_itself(a),
    "generators": by_rows(lambda a: (float(each) for each in a)),
    "map": by_rows(lambda a: map(float, a)),
    "iterator": lambda a: iter(a.tolist()),
    "zip": lambda a: zip(*a.T, strict=True) if a.ndim == 2 else iter(a),
    "memoryview": lambda a: memoryview(np.ascontiguousarray(a)),  # type: ignore[arg-type]  # a Buffer from Python 3.12 on
    "ctypes": by_rows(lambda a: (ctypes.c_double * len(a))(*a)),
    "fractions": lambda a: objects(a, fractions.Fraction),
    "decimals": by_rows(lambda a: [decimal.Decimal(each) for each in a.tolist()]),
    "objects": lambda a: a.astype(object),
    "holder": lambda a: Holder(a.tolist()),
    "dlpack": lambda a: Lent(a),
    "masked": lambda a: np.ma.array(a),
    "longdouble": lambda a: a.astype(np.longdouble),
    "complex": lambda a: a.astype(complex),
    "big-endian": lambda a: a.astype(">f8"),
    "tensor": lambda a: torch.tensor(a, requires_grad=True),
    "parameter": lambda a: torch.nn.Parameter(torch.tensor(a)),
    "tensor-subclass": lambda a: torch.tensor(a).as_subclass(MyTensor),
    "sparse": lambda a: torch.tensor(a).to_sparse(),
    "tensors": by_rows(lambda a: [torch.tensor(each, requires_grad=True) for each in a]),
    "rows-of-tensors": lambda a: list(torch.tensor(a)),
    "numpy-scalars": by_rows(lambda a: [np.float64(each) for each in a]),
    "my-floats": by_rows(lambda a: tuple(MyFloat(each) for each in a)),
}
NUMBERS = {
    "float-subclass": MyFloat,
    "numpy": np.float64,
    "numpy-without-axes": np.array,
    "tensor": lambda x: torch.tensor(float(x), dtype=torch.float64, requires_grad=True),
    "fraction": fractions.Fraction,
    "decimal": decimal.Decimal,
    "metres": Metres,
    "longdouble": np.longdouble,
    "holder": Holder,
    "complex": complex,
    "object": lambda x: np.array(fractions.Fraction(x), dtype=object),
}
TUPLES = {
    "list": list,
    "named": lambda pair: Two(*pair),
    "subclass": MyTuple,
    "array": np.array,
    "tensor": lambda pair: torch.tensor(pair, dtype=torch.float64),
    "generator": lambda pair: each_by_itself(pair),
    "values": lambda pair: {"blocks": pair[0], "sliding": pair[1]}.values(),
    "fractions": lambda pair: tuple(fractions.Fraction(float(each)) for each in pair),
    "decimals": lambda pair: [decimal.Decimal(float(each)) for each in pair],
    "deque": collections.deque,
    "tensors": lambda pair: [torch.tensor(float(each), dtype=torch.float64) for each in pair],
}
TRUTHS = {
    "numpy": np.bool_,
    "numpy-without-axes": np.array,
    "numpy-of-one": lambda truth: np.array([truth]),
    "tensor": torch.tensor,
    "tensor-of-one": lambda truth: torch.tensor([[truth]]),
    "object": lambda truth: np.array(truth, dtype=object),
}
TEXTS = {
    "subclass": MyText,
    "enum": Word,
    "numpy": np.str_,
    "numpy-without-axes": np.array,
    "capitals": lambda text: f" {text.upper()}\n",
    "object": lambda text: np.array(text, dtype=object),
}


def changed(answer, form):
    """The answer, with its result in another form."""
    return lambda *args: form(answer(*args))
