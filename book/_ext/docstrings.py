"""Docstrings as they are written, Markdown inside Google's sections, made into what autodoc reads.

Backticks become links to the library's public names, and code otherwise; tables become tables; what
reStructuredText would take for markup of its own, such as the bars of |i - j|, is escaped. Examples stay as
they are.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from sphinx.application import Sphinx

# Each name is linked to where it is documented: the first package here that has it.
PACKAGES = (
    "posenc_lib.added",
    "posenc_lib.rotated",
    "posenc_lib.biased",
    "posenc_lib.nn",
    "posenc_course.checking",
)
OURS = ("posenc_lib.", "posenc_course.")
SINGLE = ("angles.frequencies", "attention.attention", "catalogue.catalogue", "catalogue.Encoding")
CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
BOLD = re.compile(r"(?<!\S)\*\*(?=\S)(.+?)(?<=\S)\*\*")
ITEM = re.compile(r"\s*(-|\d+\.) ")
BORDER = re.compile(r"\s*\|[-| :]+\|$")
NAMES = re.compile(r"^(\s*[\w, ]+,)\n\s+([\w, ]+: )", re.MULTILINE)  # arguments named over two lines


@cache
def documented() -> dict[str, str]:
    """Each public name of the library -> its full name in the reference."""
    found = {name.rpartition(".")[2]: f"posenc_lib.{name}" for name in SINGLE}
    for package in PACKAGES:
        for name in importlib.import_module(package).__all__:
            found.setdefault(name, f"{package}.{name}")
    return found


def to_rest(lines: list[str]) -> list[str]:
    """The lines of a docstring in reStructuredText."""
    made: list[str] = []
    rest = list(lines)
    while rest:
        if _is_example(rest[0]):
            made += _taken(rest, _is_text)
        elif _is_row(rest[0]) and len(rest) > 1 and BORDER.match(rest[1]):
            made += _table(_taken(rest, _is_row))
        elif _is_text(rest[0]):
            made += _paragraph(_taken(rest, lambda line: _is_text(line) and not _is_example(line)))
        else:
            made.append(rest.pop(0))
    return made


def _is_text(line: str) -> bool:
    return bool(line.strip())


def _is_example(line: str) -> bool:
    return line.lstrip().startswith(">>>")


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|")


def _taken(lines: list[str], wanted: Callable[[str], bool]) -> list[str]:
    """The leading lines that are wanted, taken off the list."""
    count = next((i for i, line in enumerate(lines) if not wanted(line)), len(lines))
    taken, lines[:] = lines[:count], lines[count:]
    return taken


def _paragraph(lines: list[str]) -> list[str]:
    """Lines without a blank one between them; a list in them gets the blank line that it needs."""
    first = next((i for i, line in enumerate(lines) if ITEM.match(line)), 0)
    if first:
        return [*_paragraph(lines[:first]), "", *_paragraph(lines[first:])]
    text = NAMES.sub(r"\1 \2", "\n".join(lines))
    return _inline(text).split("\n")


def _table(rows: list[str]) -> list[str]:
    """A table between bars as a list-table."""
    indent = rows[0].partition("|")[0]
    made = [f"{indent}.. list-table::", f"{indent}   :header-rows: 1", ""]
    for row in (rows[0], *rows[2:]):
        cells = [_inline(cell.strip()) for cell in row.strip().strip("|").split("|")]
        made += [f"{indent}   {'* -' if i == 0 else '  -'} {cell}" for i, cell in enumerate(cells)]
    return [*made, ""]


def _inline(text: str) -> str:
    """Code and bold as they are meant, all other marks as plain characters."""
    if bold := BOLD.search(text):
        plain = bold[1].replace("`", "")
        return f"{_inline(text[: bold.start()])}**{plain}**{_inline(text[bold.end() :])}"
    parts = CODE.split(text)  # text, code, text, code, ...
    return "".join(_code(part) if i % 2 else _plain(part) for i, part in enumerate(parts))


def _code(text: str) -> str:
    name = text.rpartition(".")[2] if text.startswith(OURS) else text
    full = documented().get(name)
    return f":py:obj:`{text} <{full}>`" if full else f"``{text}``"


def _plain(text: str) -> str:
    text = re.sub(r"(?<!\\)([|*])", r"\\\1", text)
    return re.sub(r"(\w)_(?=\W|$)", r"\1\\_", text)


def _on_docstring(
    app: Sphinx, what: str, name: str, obj: object, options: dict[str, Any], lines: list[str]
) -> None:
    if what != "module" and name.startswith(OURS):
        lines[:] = to_rest(lines)
        if what in ("attribute", "property"):
            lines.insert(0, "")  # or napoleon takes what stands before a colon for a type


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", _on_docstring, priority=400)  # before napoleon's 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}
