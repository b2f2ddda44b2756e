"""Text for a terminal, where a Chinese character is as wide as two Latin letters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from posenc_course.translation import _

WIDE = ("W", "F")
"""Of Unicode's East Asian widths."""
HAN, CLOSING = r"\u2e80-\u9fff\uff00-\uff60", "、。，；：？！）」》"
PIECE = re.compile(rf"\s*[（「《]*(?:[{HAN}]|[^\s{HAN}]+)[{CLOSING}]*")
"""What no line is broken in: a Chinese character or a word, with the marks that cling to it."""


def width(text: str) -> int:
    """In columns."""
    return len(text) + sum(unicodedata.east_asian_width(each) in WIDE for each in text)


def left(text: str, columns: int) -> str:
    """The text at the left of so many columns."""
    return text + " " * (columns - width(text))


def right(text: str, columns: int) -> str:
    """The text at the right of so many columns."""
    return " " * (columns - width(text)) + text


def wrapped(text: str, columns: int) -> list[str]:
    """The text in lines of at most so many columns; a word that is longer has one of its own."""
    lines: list[str] = []
    for piece in PIECE.findall(text):
        if lines and width(lines[-1] + piece) <= columns:
            lines[-1] += piece
        else:
            lines.append(piece.lstrip())
    return lines


def counted(count: int, what: str) -> str:
    """So many of what, where that is a verdict or the like, as it is stored."""
    return _("{count} {what}").format(count=count, what=_(what))


def few_of(names: Sequence[str], most: int) -> str:
    """The first of the names, and how many more there are."""
    few = ", ".join(names[:most])
    told = _("{names} and {count} more")
    return few if len(names) <= most else told.format(names=few, count=len(names) - most)


def and_more(count: int) -> str:
    """The last line of a list that is cut."""
    return "  " + _("... and {count} more").format(count=count)
