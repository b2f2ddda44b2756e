"""The words in what cells show, pictures and tables: to be gathered, and to be put in another language.

Cells are run once, in English, for all editions. A number in such words is a placeholder, so that a
translation holds for another measurement: "at 2,048 positions" is known as "at {0} positions".
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import escape, unescape
from typing import Any

from posenc_course.translation import with_numbers, without_numbers

NOT_WORDS = re.compile(r"<(script|style|pre|code|math|title)\b.*?</\1>|<!--.*?-->", re.DOTALL)
"""What is not looked into."""
PIECE = re.compile(
    r'(?P<open>>)(?P<text>[^<>]+)(?=<)|(?P<name>\b(?:aria-label|alt|title)=")(?P<said>[^"]+)"'
    r'|(?P<values>data-(?:cells|curves)=")(?P<told>[^"]+)"'
)
FORMULA = r"\("
WORD = re.compile(r"[^\W\d_]{2}")


def words(html: str) -> Iterator[str]:
    """Each piece of text, its numbers as placeholders; code and what has no words is left out."""
    found: list[str] = []

    def gather(text: str) -> str:
        found.append(text)
        return text

    _each(html, gather)
    return iter(dict.fromkeys(found))


def replaced(html: str, known: Callable[[str], str | None]) -> str:
    """The same with each piece that is known in other words."""

    def translate(pattern: str) -> str:
        return known(pattern) or pattern

    return _each(html, translate)


def _each(html: str, change: Callable[[str], str]) -> str:
    parts, at = [], 0
    for skipped in NOT_WORDS.finditer(html):
        parts += [
            PIECE.sub(lambda found: _piece(found, change), html[at : skipped.start()] + "<")[:-1],
            skipped[0],
        ]
        at = skipped.end()
    return "".join([*parts, PIECE.sub(lambda found: _piece(found, change), html[at:])])


def _piece(found: re.Match[str], change: Callable[[str], str]) -> str:
    if found["values"]:
        panels = [_told(each, change) for each in json.loads(unescape(found["told"]))]
        told = json.dumps(panels, separators=(",", ":"), ensure_ascii=False)
        return f'{found["values"]}{escape(told, quote=True)}"'
    text = found["text"] or found["said"]
    body = unescape(text).strip()
    if not WORD.search(body) or body.startswith(FORMULA):
        return found[0]
    inner = text.replace(text.strip(), escape(_change(body, change), quote=bool(found["said"])))
    return f"{found['open']}{inner}" if found["text"] else f'{found["name"]}{inner}"'


def _told(panel: Any, change: Callable[[str], str]) -> Any:
    """The words in what a picture tells of a panel, line by line: names of axes, colours and curves."""
    if isinstance(panel, str):
        lines = panel.split("\n")
        return "\n".join(_change(line, change) if WORD.search(line) else line for line in lines)
    if isinstance(panel, list):
        return [_told(each, change) for each in panel]
    return {key: _told(each, change) for key, each in panel.items()} if isinstance(panel, dict) else panel


def _change(text: str, change: Callable[[str], str]) -> str:
    pattern, numbers = without_numbers(" ".join(text.split()))
    changed = change(pattern)
    return text if changed == pattern else with_numbers(changed, numbers)
