"""What a learner reads and no `_()` surrounds, for Babel: words of exercises."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from babel.messages.extract import extract_python

from posenc_course.translation import without_numbers

ROOT = Path(__file__).resolve().parents[1]

Found = tuple[int, str | None, str | tuple[str, ...], list[str]]


def exercises(file: BinaryIO, keywords: Any, tags: Any, options: Any) -> Iterator[Found]:
    """Titles, hints, messages, and the labels of the cases that `check` shows, and what `_()` surrounds."""
    found: Any = extract_python(file, keywords, tags, options)  # Babel's own type has another order
    yield from found
    file.seek(0)
    source = file.read().decode()
    name = ".".join(Path(file.name).resolve().relative_to(ROOT).with_suffix("").parts)
    defined = re.findall(r"^(\w+) = Exercise\(", source, re.MULTILINE)
    module = importlib.import_module(name) if defined else None
    for asked in (getattr(module, each) for each in defined):
        told = [*asked.mistakes, *asked.properties]
        texts = [
            asked.title,
            asked.step_of,
            asked.adds,
            *((asked.draws.look, *asked.draws.axes) if asked.draws else ()),
            *asked.parts,
            *(group for group, _share in asked.credit),
            *asked.hints,
            *(each.message for each in told),
            asked.where_not_finite,
        ]
        labels = [without_numbers(case.label)[0] for case in asked.cases()]  # they are drawn anew each time
        for text in filter(None, [*texts, *labels]):
            yield _line(source, text), None, text, []


def _line(source: str, text: str) -> int:
    """Where the text begins; long ones go on in another line. The first line where it cannot be told."""
    return source.count("\n", 0, max(source.find(text[:30]), 0)) + 1
