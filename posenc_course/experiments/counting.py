"""What counting can do with a text, and how well it does with more bytes, more context and a memory.

No network. All ways see the same bytes to learn from, and are tested on the same windows as the byte models,
or, where they take a file as a whole, on the same files:

* n-grams, by Witten-Bell and by modified Kneser-Ney, of each order;
* the latter where nothing before the window is known, as a model has it;
* the latter with a memory: mixed with a 5-gram that counts the window itself as it reads, in the share that
  is best on files that no test looks at;
* xz and zstd, two compressors: how many bytes more a file takes behind the text that there is to learn from.
"""

from __future__ import annotations

import lzma
import math
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc_course.experiments import kneser_ney, ngram, source_text
from posenc_course.experiments.byte_model import rounded
from posenc_course.experiments.kneser_ney import KneserNey
from posenc_course.experiments.ngram import NGram
from posenc_course.experiments.source_text import File
from posenc_course.experiments.training import Bench

QUESTION = "How far does counting come, without a network?"

STORES_EACH = True
PARTS = (sys.modules[__name__], kneser_ney, ngram, source_text)

ORDERS = (2, 3, 4, 5, 6, 7, 8)
REMEMBERED = 5
"""The order of the n-gram that counts the window itself."""
STRETCHES = 16

Reals = NDArray[np.float64]
Files = tuple[File, ...]


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """The settings of every run. Nothing is drawn at random: there is one seed."""
    sizes = (20_000,) if fast else (1_200_000, 6_400_000)
    size = {"length": 32, "files": 4} if fast else {"length": 256, "files": None}
    text = source_text.source()
    return [{"way": way, "learn": learn, **size, "seed": 0, "text": text} for learn in sizes for way in WAYS]


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """The loss in nats per byte, by file; for n-grams by order, and by place in the window."""
    every = source_text.require(run["text"])
    text = every._replace(choose=every.choose[: run["files"]], held_out=every.held_out[: run["files"]])
    return WAYS[run["way"]](source_text.joined(every.learn, run["learn"]), text, run["length"])


# --- n-grams


def witten_bell(counted: bytes, text: source_text.Split, length: int) -> dict[str, Any]:
    models = [NGram(counted, order) for order in ORDERS]
    return _by_order(lambda content: np.stack([each.losses(content) for each in models]), text, length)


@cache
def _tuned(counted: bytes, text: source_text.Split) -> KneserNey:
    model = KneserNey(counted)
    model.tune([file.content for file in text.choose])
    return model


def modified_kneser_ney(counted: bytes, text: source_text.Split, length: int) -> dict[str, Any]:
    model = _tuned(counted, text)
    return _by_order(lambda content: model.losses(content)[1:], text, length)


def of_the_window_alone(counted: bytes, text: source_text.Split, length: int) -> dict[str, Any]:
    model = _tuned(counted, text)
    found = {
        part: np.stack([model.losses(content)[1:, 1:] for _, content in _windows(files, length)])
        for part, files in (("choose", text.choose), ("held_out", text.held_out))
    }
    return _told(found["choose"], found["held_out"], text, length)


def with_a_memory(counted: bytes, text: source_text.Split, length: int) -> dict[str, Any]:
    """The losses as from `KneserNey`, and the share of the memory for each order."""
    model = _tuned(counted, text)
    p = {}
    for part, files in (("choose", text.choose), ("held_out", text.held_out)):
        wide = [
            np.exp(-each) for each in _in_windows(lambda content: model.losses(content)[1:], files, length)
        ]
        own = [_remembered(content)[1:] for _, content in _windows(files, length)]
        p[part] = np.stack(wide), np.stack(own)[:, None]
    shares = np.linspace(0, 0.6, 31)
    tried = [
        -np.log((1 - share) * p["choose"][0] + share * p["choose"][1]).mean(axis=(0, 2)) for share in shares
    ]
    best = shares[np.argmin(tried, axis=0)]
    mixed = {
        part: -np.log((1 - best[:, None]) * wide + best[:, None] * own) for part, (wide, own) in p.items()
    }
    return _told(mixed["choose"], mixed["held_out"], text, length) | {"share": rounded(best)}


def _remembered(window: bytes) -> Reals:
    """P of each byte by a Witten-Bell n-gram that has counted the bytes of the window before it."""
    counts: dict[bytes, dict[int, int]] = {}
    found = np.empty(len(window))
    for i, byte in enumerate(window):
        p, contexts = 1 / 256, [window[i - k : i] for k in range(min(REMEMBERED, i + 1))]
        for context in contexts:
            after = counts.setdefault(context, {})
            if after:
                p = (after.get(byte, 0) + len(after) * p) / (sum(after.values()) + len(after))
        for context in contexts:
            counts[context][byte] = counts[context].get(byte, 0) + 1
        found[i] = p
    return found


def _by_order(losses: Callable[[bytes], Reals], text: source_text.Split, length: int) -> dict[str, Any]:
    choose, found = (np.stack(_in_windows(losses, files, length)) for files in (text.choose, text.held_out))
    return _told(choose, found, text, length)


def _in_windows(losses: Callable[[bytes], Reals], files: Files, length: int) -> list[Reals]:
    """The losses in each window of the test, of files that are read from their beginning."""
    read = {file.path: losses(file.content) for file in files}
    places = source_text.windows(files, length + 1, most=16)
    return [read[path][:, first + 1 : first + 1 + length] for path, first in places]


def _windows(files: Files, length: int) -> Iterator[tuple[str, bytes]]:
    """The bytes of each window of the test, the one before it included; and its file."""
    content = {file.path: file.content for file in files}
    for path, first in source_text.windows(files, length + 1, most=16):
        yield path, content[path][first : first + length + 1]


def _told(choose: Reals, found: Reals, text: source_text.Split, length: int) -> dict[str, Any]:
    """What is kept of the losses of all windows, (windows, orders, length)."""
    paths = np.array([path for path, _ in _windows(text.held_out, length)])
    files = list(dict.fromkeys(paths.tolist()))
    stretches = found.reshape(*found.shape[:2], STRETCHES, -1).mean(axis=(0, 3))
    return {
        "orders": list(ORDERS),
        "loss": rounded(found.mean(axis=(0, 2))),
        "choose": rounded(choose.mean(axis=(0, 2))),
        "by_place": [rounded(each) for each in stretches],
        "files": files,
        "bytes": [int((paths == each).sum()) * length for each in files],
        "by_file": [rounded(found[paths == each].mean(axis=(0, 2))) for each in files],
    }


# --- compressors


def xz(counted: bytes, text: source_text.Split, length: int) -> dict[str, Any]:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]

    def size(content: bytes) -> int:
        return len(lzma.compress(content, lzma.FORMAT_RAW, filters=filters))

    before = size(counted)
    return _by_files(lambda content: size(counted + content) - before, text)


def zstd(counted: bytes, text: source_text.Split, length: int) -> dict[str, Any]:
    import zstandard  # for this alone

    book = zstandard.ZstdCompressionDict(counted, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    settings = zstandard.ZstdCompressionParameters.from_level(22, window_log=27, write_content_size=False)
    press = zstandard.ZstdCompressor(dict_data=book, compression_params=settings)
    return _by_files(lambda content: len(press.compress(content)), text)


def _by_files(size: Callable[[bytes], int], text: source_text.Split) -> dict[str, Any]:
    """Of whole files: a byte that is written tells 8 ln 2 nats."""
    sizes = {file.path: (size(file.content), len(file.content)) for file in text.held_out if file.content}
    told = 8 * math.log(2)
    return {
        "loss": round(
            told * sum(made for made, _ in sizes.values()) / sum(of for _, of in sizes.values()), 4
        ),
        "files": list(sizes),
        "bytes": [of for _, of in sizes.values()],
        "by_file": rounded(told * made / of for made, of in sizes.values()),
    }


WAYS: dict[str, Callable[[bytes, source_text.Split, int], dict[str, Any]]] = {
    "Witten-Bell": witten_bell,
    "Kneser-Ney": modified_kneser_ney,
    "Kneser-Ney, the window alone": of_the_window_alone,
    "Kneser-Ney with a memory": with_a_memory,
    "xz": xz,
    "zstd": zstd,
}
