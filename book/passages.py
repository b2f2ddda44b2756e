"""A text in MyST Markdown as passages: what there is to translate in it, and where.

    for passage in passages(text):
        passage.text           # "Each word gets the same four clocks."
    replaced(text, {"Each word gets the same four clocks.": "..."}.get)

A passage is a paragraph, heading, item, cell of a table, question or answer, its lines joined. Formulas that
stand alone, code, outputs, options and ids are none. A passage stays on one line where it is replaced: a
break between two lines would be a space, which some languages write none of.

A heading keeps its address: the one that its English words give is written below it (book/_ext/edition.py
reads it), so that links to it, and the way from one edition to the other, hold.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import yaml
from docutils.nodes import make_id
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.mdit_to_docutils.base import default_slugify
from myst_parser.parsers.mdit import create_md_parser

from book.predictions import MARK, NUMBER
from posenc_course.grading.answer_cell import BEGIN, END

CONFIG = Path(__file__).resolve().parent.parent / "_config.yml"

TITLED = {"admonition", "dropdown"}
"""Directives whose argument is a passage."""
PARSED = {
    *TITLED,
    "note",
    "warning",
    "div",
    "predict",
    "live-figure",
    "side-trip",
    "two-orders",
    "chapter-card",
    "train-live",
}
"""Directives that hold Markdown."""
CELL = "code-cell"

DIRECTIVE = re.compile(r"\{(?P<name>[\w-]+)\}\s*(?P<argument>.*)")
OPTION = re.compile(r":[\w-]+:( .*)?$")
CODE = "```"
APOSTROPHE, SMART = "'", "’"
"""As it is written, and as MyST shows it: the id of a heading is made of what it shows."""
SAID = ("question", "answer", "feedback")
"""Of a quiz."""
DOCSTRING = re.compile(r'"""(?P<text>.+?)"""', re.DOTALL)
COMMENT = re.compile(r"(?P<margin>[ \t]*)# (?P<text>\S.*(?:\n(?P=margin)# .*)*)", re.MULTILINE)
NO_HEADINGS = {BEGIN.lstrip("# "), END.lstrip("# ")}
SHOWN = re.compile(r"<(p|summary)>(?P<text>.*?)</\1>", re.DOTALL)
"""Text between tags."""
WRITTEN = re.compile(r"[^\W\d_]")


@dataclass(frozen=True)
class Passage:
    """From `start` to `stop` in the text; `after` is put behind it where it is replaced."""

    start: int
    stop: int
    text: str
    kind: str = "text"
    after: str = ""


def passages(text: str) -> Iterator[Passage]:
    """What there is to translate, from the first to the last."""
    return iter(sorted(_within(text, 0, len(text)), key=lambda each: each.start))


def replaced(text: str, known: Callable[[str], str | None]) -> str:
    """The text with every passage that is known in other words; the others as they are."""
    parts, at = [], 0
    said = ("", 0)  # the last term, and where it ended: two English ones may be one in the other language
    for passage in passages(text):
        words = known(passage.text)
        if words and passage.kind == "term":
            if words == passage.text or said == (words, passage.start - 1):
                words = None
            said = words or said[0], passage.stop
        if words:
            parts += [text[at : passage.start], _fitting(words, passage), passage.after]
            at = passage.stop
    return "".join([*parts, text[at:]])


def _fitting(words: str, passage: Passage) -> str:
    if passage.kind == "quoted":
        return json.dumps(words, ensure_ascii=False)
    if passage.kind == "docstring":  # between its quotation marks as before
        body = passage.text.strip()
        return passage.text.replace(body, words.strip())
    return words.replace("|", "\\|") if passage.kind == "cell" and "\\|" not in words else words


def _parser() -> MarkdownIt:
    """The book's own, which leaves quotation marks as they were written."""
    enabled = yaml.safe_load(CONFIG.read_text())["parse"]["myst_enable_extensions"]
    return create_md_parser(MdParserConfig(enable_extensions={*enabled} - {"smartquotes"}), RendererHTML)


PARSER = _parser()


class _Lines:
    """Where the lines of a part of a text begin."""

    def __init__(self, text: str, start: int, stop: int) -> None:
        self.lines = text[start:stop].split("\n")
        self.starts = [start, *accumulate((len(line) + 1 for line in self.lines), initial=start)][1:]

    def span(self, first: int, stop: int) -> tuple[int, int]:
        """From the first of these lines to the end of the last, the break after it left out."""
        return self.starts[first], self.starts[stop] - 1


def _within(text: str, start: int, stop: int, indent: int = 0, kind: str = "text") -> Iterator[Passage]:
    """Of a part that is Markdown, whose lines are indented so far."""
    lines = _Lines(text, start, stop)
    source = "\n".join(line[indent:] for line in lines.lines)
    tokens = PARSER.parse(source)
    cell_at = (-1, 0)
    for number, token in enumerate(tokens):
        if token.type == "inline" and token.map:
            opened = tokens[number - 1]
            if opened.type in ("th_open", "td_open"):
                line = token.map[0]
                after = cell_at[1] if cell_at[0] == line else 0
                at = lines.lines[line].find(token.content.strip(), after)
                cell_at = line, at + len(token.content.strip())
                yield from _inline(lines.starts[line] + at, lines.starts[line] + cell_at[1], token, "cell")
            else:
                first, last = lines.span(token.map[0], max(token.map[0] + 1, token.map[1]))
                yield from _paragraph(text, first, last, token, opened, kind)
        elif token.type in ("fence", "colon_fence") and token.map:
            yield from _fence(text, lines, token)
        elif token.type == "html_block" and token.map:
            first, last = lines.span(*token.map)
            for found in SHOWN.finditer(text, first, last):
                yield Passage(*found.span("text"), _joined(found["text"]), "html")


def _paragraph(text: str, first: int, last: int, token: Token, opened: Token, kind: str) -> Iterator[Passage]:
    begins = token.content.split("\n")[0].strip()
    at = text.index(begins, first)
    stop = first + len(text[first:last].rstrip())
    if token.content in NO_HEADINGS:
        return
    if opened.type == "heading_open":
        stop = at + len(begins)
        yield Passage(at, stop, _joined(token.content), "heading", after=f"\n{anchor(token)}")
    elif kind == "predict" and (mark := MARK.match(text, at)):
        yield from _inline(mark.end(), stop, token, "text", MARK.sub("", token.content, count=1))
    elif not (kind == "predict" and NUMBER.fullmatch(token.content)):
        yield from _inline(at, stop, token, "text")


def anchor(heading: Token) -> str:
    """What keeps the address of a heading that is translated: the one that links give, and the page's id."""
    words = [
        each.content for each in heading.children or () if each.type in ("text", "code_inline", "math_inline")
    ]
    said = "".join(words)
    return f"<!-- anchor: {default_slugify(said)} {make_id(said.replace(APOSTROPHE, SMART))} -->"


def _inline(start: int, stop: int, token: Token, kind: str, content: str | None = None) -> Iterator[Passage]:
    words = _joined(token.content if content is None else content)
    if WRITTEN.search(_without_code(words)):
        yield Passage(start, stop, words, kind)


def _without_code(words: str) -> str:
    """What is left for people to read."""
    return re.sub(r"`[^`]*`|\$[^$]*\$", "", words)


def _joined(words: str) -> str:
    return re.sub(r"\s*\n\s*", " ", words).strip()


def _fence(text: str, lines: _Lines, token: Token) -> Iterator[Passage]:
    assert token.map
    found = DIRECTIVE.match(token.info.strip())
    if found is None:
        return
    name, argument = found["name"], found["argument"].strip()
    first, stop = token.map[0], token.map[1]
    if name in TITLED and argument:
        at = text.index(argument, lines.starts[first])
        yield Passage(at, at + len(argument), argument)
    first += 1
    stop -= 1  # the line that ends it
    while first < stop and OPTION.match(lines.lines[first].strip()):
        first += 1
    if first >= stop:
        return
    start, end = lines.span(first, stop)
    indent = len(lines.lines[first]) - len(lines.lines[first].lstrip())
    if name in PARSED:
        yield from _within(text, start, end, indent, "predict" if name == "predict" else "text")
    elif name == "quiz":
        yield from _quiz(text, start, end)
    elif name == "glossary":
        yield from _glossary(text, lines, first, stop)
    elif name == "lab":
        for line in range(first, stop):
            label = lines.lines[line].partition(":")[0]
            yield Passage(lines.starts[line], lines.starts[line] + len(label), label)
    elif name == CELL and BEGIN in text[start:end]:
        yield from _starter(text, start, end)


def _starter(text: str, start: int, stop: int) -> Iterator[Passage]:
    """What a learner reads in an answer cell: docstrings, and comments outside of the solution."""
    for doc in DOCSTRING.finditer(text, start, stop):
        yield Passage(*doc.span("text"), doc["text"], "docstring")
    begin, end = text.index(BEGIN, start), text.index(END, start)
    for first, last in ((start, begin), (end + len(END), stop)):
        for said in COMMENT.finditer(text, first, last):
            if not said["text"].startswith("#"):
                words = re.sub(r"\n[ \t]*# ", " ", said["text"])
                yield Passage(*said.span("text"), words, "comment")


def _quiz(text: str, start: int, stop: int) -> Iterator[Passage]:
    """The words of a list in YAML."""
    waiting = [yaml.compose(text[start:stop])]
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value in SAID:
                    yield Passage(
                        start + value.start_mark.index,
                        start
                        + value.start_mark.index
                        + len(text[start + value.start_mark.index : start + value.end_mark.index].rstrip()),
                        value.value.strip() if CODE in value.value else _joined(value.value),
                        "quoted",
                    )
                else:
                    waiting.append(value)


def _glossary(text: str, lines: _Lines, first: int, stop: int) -> Iterator[Passage]:
    """Terms at the margin, what they mean below them. The English term stays beside the other."""
    for line in range(first, stop):
        words = lines.lines[line]
        if words.strip() and not words.startswith(" "):
            span = lines.span(line, line + 1)
            yield Passage(*span, words.strip(), "term", after=f"\n{words.strip()}")
    start, end = first, first
    for line in range(first, stop + 1):
        inside = line < stop and lines.lines[line].startswith(" ")
        if inside and start == end:
            start = line
        end = line + 1 if inside else end
        if not inside and start < end:
            span = lines.span(start, end)
            words = text[span[0] : span[1]]
            yield Passage(span[0] + len(words) - len(words.lstrip()), span[1], _joined(words))
            start = end = line
