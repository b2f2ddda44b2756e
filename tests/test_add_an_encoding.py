"""Every encoding has all that one needs; for one that lacks something, one message lists what and where."""

from __future__ import annotations

import dataclasses
import importlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from posenc_lib.catalogue import Encoding, catalogue
from posenc_lib.nn import ENCODINGS, PositionalEncoding

ROOT = Path(__file__).resolve().parents[1]
WITHOUT_FUNCTIONS = {"none"}
"""The attention alone."""


def has(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    return attribute in importlib.import_module(module).__all__


def said_in(word: str, *patterns: str) -> bool:
    """Whether the word stands in one of these files."""
    search = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)").search
    return any(search(path.read_text()) for pattern in patterns for path in ROOT.glob(pattern))


def lacking(entry: Encoding, makers: dict[str, Any]) -> Iterator[str]:
    """What this entry of the catalogue still needs, and where it goes, in the order of CONTRIBUTING."""
    rule = entry.name.startswith("rope-")  # a rule for RoPE's frequencies, not a module of its own
    door = entry.doors[0] if entry.doors else "none"
    functions = [] if entry.name in WITHOUT_FUNCTIONS else entry.functions
    for function in functions:
        short = function.rpartition(".")[2]
        if not has(function):
            yield f"the function {short}: posenc_lib/{door}/, and its name in posenc_lib/{door}/__init__.py"
        if not said_in(f"posenc_lib.{door}.{short}", f"book/reference/{door}.md"):
            yield f"its reference: `.. autofunction:: {function}` in book/reference/{door}.md"
        if not said_in(short, f"tests/{door}/*.py"):
            yield f"a test of {short} against something independent: tests/{door}/"
        if not said_in(short, f"tests/{door}/*bad_calls.py", f"tests/{door}/test_flex.py"):
            yield f"wrong calls of {short} and their messages: tests/{door}/test_*bad_calls.py"
    if not has(entry.module):
        yield f"the module {entry.module}: posenc_lib/nn/{door}.py, and its name in posenc_lib/nn/__init__.py"
    if not said_in(entry.module, "book/reference/nn.md"):
        yield f"its reference: `.. autoclass:: {entry.module}` in book/reference/nn.md"
    if not said_in(entry.module.rpartition(".")[2], "tests/nn/*.py"):
        yield "a test that the module does what the function does: tests/nn/test_encodings.py"
    if not rule and entry.name not in makers:
        yield f"the name {entry.name!r}: ENCODINGS in posenc_lib/nn/encodings.py"
    if entry.key is not None and not said_in(entry.key, "book/references.bib"):
        yield f"the paper {entry.key!r}: book/references.bib"


def require_complete(entries: tuple[Encoding, ...], makers: dict[str, Any]) -> None:
    """Raise AssertionError that lists all that encodings lack."""
    listed = {entry.name for entry in entries}
    missing = [f"{name}: an entry in posenc_lib/catalogue.py" for name in makers if name not in listed]
    missing += [f"{entry.name}: {what}" for entry in entries for what in lacking(entry, makers)]
    if missing:
        raise AssertionError("\n".join(["these encodings are not complete yet:", *missing]))


def test_every_encoding_is_complete() -> None:
    require_complete(catalogue(), ENCODINGS)


SPIRAL = dataclasses.replace(
    catalogue().named("alibi"),
    name="spiral",
    functions=("posenc_lib.biased.spiral_bias",),
    module="posenc_lib.nn.Spiral",
    key="archimedes225bc",
)


def told(call: Callable[[], None]) -> list[str]:
    with pytest.raises(AssertionError) as raised:
        call()
    return str(raised.value).splitlines()[1:]


def test_what_lacks_everything_is_told_all_of_it_at_once() -> None:
    assert told(lambda: require_complete((*catalogue(), SPIRAL), ENCODINGS)) == [
        "spiral: the function spiral_bias: posenc_lib/biased/, and its name in posenc_lib/biased/__init__.py",
        "spiral: its reference: `.. autofunction:: posenc_lib.biased.spiral_bias` in "
        "book/reference/biased.md",
        "spiral: a test of spiral_bias against something independent: tests/biased/",
        "spiral: wrong calls of spiral_bias and their messages: tests/biased/test_*bad_calls.py",
        "spiral: the module posenc_lib.nn.Spiral: posenc_lib/nn/biased.py, and its name in "
        "posenc_lib/nn/__init__.py",
        "spiral: its reference: `.. autoclass:: posenc_lib.nn.Spiral` in book/reference/nn.md",
        "spiral: a test that the module does what the function does: tests/nn/test_encodings.py",
        "spiral: the name 'spiral': ENCODINGS in posenc_lib/nn/encodings.py",
        "spiral: the paper 'archimedes225bc': book/references.bib",
    ]


def test_what_a_model_takes_by_name_and_nothing_else_knows() -> None:
    makers = {**ENCODINGS, "spiral": lambda sizes: PositionalEncoding()}
    assert told(lambda: require_complete(catalogue(), makers)) == [
        "spiral: an entry in posenc_lib/catalogue.py"
    ]


def test_the_way_in_names_the_same_places() -> None:
    """CONTRIBUTING's section and this file tell the same."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = text[text.index("## Add an encoding") :].split("\n## ")[0]
    for what in lacking(SPIRAL, ENCODINGS):
        for place in re.findall(r"(?:posenc_lib|tests|book)/[\w./*]+", what):
            assert place.replace("biased", "<door>") in section, place
    assert "posenc_lib/catalogue.py" in section
