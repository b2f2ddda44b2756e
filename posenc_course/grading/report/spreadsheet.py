"""CSV that a spreadsheet program cannot take for formulas, for `posenc report` and for `nbgrader export`."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from typing import TextIO

_SIGNS = "=+-@−＝＋－＠﹦﹢﹣﹫"
"""With these a spreadsheet program takes a cell for a formula."""
_FORMULA = re.compile(
    rf"(^|[;\t\r\n])(?=[\s\x00-\x1f\"\xad\u200b-\u200f\u2060\ufeff]*[{re.escape(_SIGNS)}]|[\t\r\n])"
)
"""Where some spreadsheet's settings begin a cell, if a formula is all that it may then see."""


def harmless(cell: object) -> str:
    """A cell as text. A number stays one; text that would be a formula gets an apostrophe before it.

    OWASP, "CSV Injection". A program that divides cells by semicolons or tabs sees other beginnings of cells:
    an apostrophe stands there too.

    Example:
        >>> [harmless(each) for each in (-1.5, "-1.5", "=1+1", "Ada; =1+1", "ada@example.org")]
        ['-1.5', "'-1.5", "'=1+1", "Ada;' =1+1", 'ada@example.org']
    """
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell)
    if isinstance(cell, int | float):
        return f"{cell:.4f}".rstrip("0").rstrip(".")
    return _FORMULA.sub(r"\1'", str(cell))


def is_harmful(text: str) -> bool:
    """Whether a spreadsheet program would take the text, or a part of it, for a formula."""
    return harmless(text) != text


def write(file: TextIO, rows: Iterable[Sequence[object]]) -> None:
    """The rows as CSV, every cell harmless."""
    csv.writer(file, lineterminator="\r\n").writerows([harmless(cell) for cell in row] for row in rows)
