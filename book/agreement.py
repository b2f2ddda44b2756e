"""Whether a translation says the same: the same code, formulas, numbers, links, roles and placeholders.

The words may be any, and in any order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable

CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
ROLE = re.compile(r"\{(?P<role>[a-z:-]+)\}`(?P<content>[^`]*)`")
FORMULA = re.compile(r"(?<![\\$])\$(?!\$)(.+?)(?<![\\$])\$", re.DOTALL)
TARGET = re.compile(r"(?<=\])\((?P<target>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)\)|<(?P<url>https?://[^>]+)>")
PLACEHOLDER = re.compile(r"\{\w*\}")
NUMBER = re.compile(r"(?<![A-Za-z0-9_.])(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)")
SPELT = 999
"""Numbers up to here may be words in English, and digits in the translation."""


def disagreements(source: str, translation: str, *, plain: bool = False, numbers: bool = True) -> list[str]:
    """What the translation lacks of its source, and has beyond it; each a line.

    Args:
        source: a passage in Markdown, or a message.
        translation: the same in other words.
        plain: it is no Markdown: a message, in which `{name}` stands for something.
        numbers: compare these as well.
    """
    found = _compare(
        "code", source, translation, lambda text: [each[1] for each in CODE.findall(_without_roles(text))]
    )
    if plain:
        found += _compare("placeholder", source, translation, PLACEHOLDER.findall)
    else:
        found += _compare("role", source, translation, _roles)
        found += _compare("formula", source, translation, lambda text: FORMULA.findall(_without_code(text)))
        found += _compare(
            "link", source, translation, lambda text: ["".join(each) for each in TARGET.findall(text)]
        )
    if numbers:
        found += _numbers(_words(source), _words(translation))
    return found


def _compare(kind: str, source: str, translation: str, parts: Callable[[str], Iterable[str]]) -> list[str]:
    wanted, given = Counter(parts(source)), Counter(parts(translation))
    lacks = [f"{kind} is missing: {each!r}" for each in (wanted - given).elements()]
    return lacks + [f"{kind} is not in the source: {each!r}" for each in (given - wanted).elements()]


def _roles(text: str) -> list[str]:
    """A role with what it leads to: the words that stand for it may be others."""
    found = []
    for each in ROLE.finditer(text):
        target = re.fullmatch(r"[^<]*<(.+)>", each["content"])
        found.append(f"{each['role']} {target[1] if target else each['content']}")
    return found


def _without_roles(text: str) -> str:
    return ROLE.sub(" ", text)


def _without_code(text: str) -> str:
    return CODE.sub(" ", _without_roles(text))


def _words(text: str) -> str:
    """What is neither code nor formula, nor leads anywhere."""
    return TARGET.sub(" ", FORMULA.sub(" ", _without_code(text)))


def _numbers(source: str, translation: str) -> list[str]:
    wanted, given = Counter(_digits(source)), Counter(_digits(translation))
    lacks = [f"number is missing: {each}" for each in (wanted - given).elements()]
    more = [each for each in (given - wanted).elements() if not (each.isdigit() and int(each) <= SPELT)]
    return lacks + [f"number is not in the source: {each}" for each in more]


def _digits(text: str) -> list[str]:
    return [each.rstrip(",").rstrip(".") for each in NUMBER.findall(text)]
