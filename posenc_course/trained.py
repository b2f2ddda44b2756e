"""Trained byte models, read with NumPy alone: two come with the package, for your own decoder to run.

    model = trained_model("rope")
    model["embedding"].shape  # (256, 128)

**The file.** Eight bytes, the lowest first, say how long the header is. The header is JSON: for each array
its "dtype", its "shape", and as "data_offsets" where it begins and ends in what follows; "__metadata__" holds
the settings of the model, all of them as text. What follows the header are the numbers, row after row, the
lowest byte of each first. (It is the safetensors format, so other programs read it too.)

**The numbers.** "F32" are floats as they are. A large matrix is "I8", whole numbers from -127 to 127, and has
beside it "<its name>.scale", one float per row: a row of the matrix is its whole numbers times that.

**The names.** (rows, columns), so that y = x @ matrix.T:

| name | shape | |
|---|---|---|
| embedding | (256, dim) | the vector of each byte |
| positions | (length, dim) | of "learned" alone: the vector of each position, the last for all beyond |
| buckets | (buckets, heads) | of "t5" alone: the number of each bucket of distance |
| layers.N.norm1, layers.N.norm2, norm | (dim,) | gains, before attention, before the wide layer, at the end |
| layers.N.qkv | (3 dim, dim) | all queries, all keys, all values |
| layers.N.norm_q, layers.N.norm_k | (head_dim,) | gains of queries and keys |
| layers.N.out | (dim, dim) | from all heads together back to the stream |
| layers.N.widen, layers.N.narrow | (4 dim, dim), (dim, 4 dim) | the wide layer |
| head | (256, dim) | to the scores of the bytes |
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc_course.translation import _

Array = NDArray[np.float32]

DTYPES = {"F32": "<f4", "I8": "i1"}

FOLDER = Path(__file__).resolve().parent / "experiments" / "results" / "exported"
COURSE = ("rope", "alibi")
"""Those that the exercises run: they lie in the package. A page takes them from its own site."""
SITE = "/_static/"
"""In the address of all that a page of the site runs; the models lie in models/ there."""
MAKE = "python -m posenc_course.experiments exported"


@dataclass(frozen=True)
class ByteModel:
    """A model as it was read.

    Attributes:
        settings: of the header, text: "encoding", "heads", "layers", "length" of the training, "base", ...
        weights: its arrays by name, float32.
    """

    settings: dict[str, str]
    weights: dict[str, Array]


def trained_model(encoding: str) -> dict[str, Any]:
    """A trained model of bytes, as plain data: what a decoder needs.

    Args:
        encoding: "rope" or "alibi".

    Returns:
        "encoding", "heads", "base" of RoPE; "embedding", "norm", "head"; and "layers", a dict for each:
        "norm1", "qkv", "norm_q", "norm_k", "out", "norm2", "widen", "narrow".

    Raises:
        ValueError: there is no such model, or its file is not here.

    Example:
        >>> sorted(trained_model("alibi")["layers"][0])
        ['narrow', 'norm1', 'norm2', 'norm_k', 'norm_q', 'out', 'qkv', 'widen']
    """
    if encoding not in COURSE:
        unknown = _("encoding={encoding!r}: give one of {known}")
        raise ValueError(unknown.format(encoding=encoding, known=", ".join(map(repr, COURSE))))
    return as_plain_data(read(_content(encoding)))


def as_plain_data(model: ByteModel) -> dict[str, Any]:
    """The same with a dict for each layer, and the settings that a decoder needs."""
    layers: list[dict[str, Array]] = [{} for _ in range(int(model.settings["layers"]))]
    told: dict[str, Any] = {
        "encoding": model.settings["encoding"],
        "heads": int(model.settings["heads"]),
        "base": float(model.settings["base"]),
        "layers": layers,
    }
    for name, array in model.weights.items():
        if name.startswith("layers."):
            _, number, its = name.split(".")
            layers[int(number)][its] = array
        else:
            told[name] = array
    return told


# --- the file


def _content(name: str) -> bytes:
    file = FOLDER / f"{name}.safetensors"
    if file.exists():
        return file.read_bytes()
    if sys.platform == "emscripten":
        return _from_the_site(f"models/{name}.safetensors")
    raise ValueError(_("{file} is not there; make it: {command}").format(file=file, command=MAKE))


def _from_the_site(path: str) -> bytes:
    """A file of the site that this browser's Python came from; waited for, as a file is."""
    import js  # type: ignore[import-not-found]  # a browser has it

    site, found, _rest = str(js.self.location.href).partition(SITE)
    address = f"{site}{SITE}{path}"
    request = js.XMLHttpRequest.new()
    request.open("GET", address, False)
    request.responseType = "arraybuffer"
    try:
        request.send()
        status = request.status
    except Exception:  # of JavaScript: no connection
        status = 0
    if not found or status != 200:
        lost = _("the trained weights could not be loaded from {address}; are you online?")
        raise ValueError(lost.format(address=address))
    content: bytes = request.response.to_py().tobytes()
    return content


def read(source: str | Path | bytes) -> ByteModel:
    """The model of a file, given by its path or its content.

    Raises:
        ValueError: it is no such file.
    """
    content = source if isinstance(source, bytes) else Path(source).read_bytes()
    try:
        size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + size])
        settings = header.pop("__metadata__")
        arrays = {name: _array(content[8 + size :], told) for name, told in header.items()}
        weights = {name: _floats(arrays, name) for name in arrays if not name.endswith(".scale")}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        no_model = _("this is not a file of a byte model ({error!r}); make one: {command}")
        raise ValueError(no_model.format(error=error, command=MAKE)) from None
    return ByteModel(settings, weights)


def _array(numbers: bytes, told: dict[str, Any]) -> NDArray[Any]:
    start, stop = told["data_offsets"]
    return np.frombuffer(numbers[start:stop], dtype=DTYPES[told["dtype"]]).reshape(told["shape"])


def _floats(arrays: dict[str, NDArray[Any]], name: str) -> Array:
    array = arrays[name]
    return array.astype(np.float32) * arrays[f"{name}.scale"][:, None] if array.dtype == np.int8 else array
