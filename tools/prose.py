"""The prose of a text notebook: what is read of it, for whoever counts its words or spells them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it.token import Token

from tools.claims import PARSER, WITH_A_NAME, WITH_PROSE, quiz

PLACE = "\n\n"  # stands for code, formulas and the like, which part words


def prose(text: str, line: int = 1) -> Iterator[tuple[int, str]]:
    """The pieces of prose of a Markdown text, with their lines."""
    for token in PARSER.parse(text):
        here = line + (token.map[0] if token.map else 0)
        if token.type == "inline":
            yield here, "".join(_text(child) for child in token.children or [])
        elif token.type in ("fence", "colon_fence"):
            yield from _of_directive(token, here)


def _text(token: Token) -> str:
    is_text = token.type in ("text", "image") or (token.type == "myst_role" and token.meta["name"] == "term")
    return token.content if is_text else PLACE if token.nesting == 0 else ""


def _of_directive(fence: Token, line: int) -> Iterator[tuple[int, str]]:
    name, _, title = fence.info.strip().partition("}")
    if name == "{quiz":
        for question in quiz.read_questions(fence.content):
            yield from prose(question.question, line + question.line + 1)
            for option in question.options:
                yield from prose(f"{option.answer}\n\n{option.feedback}", line + option.line + 1)
    elif name == "{glossary":
        yield from prose(re.sub("(?m)^ +", "", fence.content), line + 1)
    elif name == "{predict":
        yield from prose(fence.content, line + 1)
    elif name.removeprefix("{") in WITH_PROSE:
        if name.removeprefix("{") not in WITH_A_NAME:
            yield line, title
        yield from prose(re.sub(r"(?m)^:[\w-]+:.*$", "", fence.content), line + 1)
