"""HTML elements as nodes of a page, for what Sphinx has no word for: forms, mostly."""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

VOID = {"input", "progress"}  # what has no content


class Tag(nodes.General, nodes.Element):
    """One element: `Tag.make("label", {"class": "x"}, *children)`."""

    @classmethod
    def make(cls, name: str, attributes: dict[str, str] | None = None, *children: nodes.Node | str) -> Tag:
        """Children that are text need not be nodes. An attribute of "" stands without a value."""
        made: Tag = cls()
        made["tag"], made["attributes"] = name, attributes or {}
        made += [nodes.Text(child) if isinstance(child, str) else child for child in children]
        return made


class TextTag(Tag, nodes.TextElement):
    """An element that holds a sentence, and can be translated."""

    @classmethod
    def from_paragraph(cls, name: str, paragraph: nodes.paragraph) -> Tag:
        made = cls.make(name, {}, *paragraph.children)
        made.source, made.line, made.rawsource = paragraph.source, paragraph.line, paragraph.rawsource
        return made


def _visit(translator: Any, node: Tag) -> None:
    attributes = "".join(
        f' {name}="{escape(value)}"' if value else f" {name}" for name, value in node["attributes"].items()
    )
    translator.body.append(f"<{node['tag']}{attributes}>")


def _depart(translator: Any, node: Tag) -> None:
    if node["tag"] not in VOID:
        translator.body.append(f"</{node['tag']}>")


def _pass(translator: Any, node: Tag) -> None:
    """Other formats show the content alone."""


def add_nodes(app: Sphinx, *kinds: type[Tag]) -> None:
    """Teach Sphinx to write these nodes."""
    for kind in kinds:
        app.add_node(
            kind,
            override=True,
            html=(_visit, _depart),
            latex=(_pass, _pass),
            text=(_pass, _pass),
            man=(_pass, _pass),
            texinfo=(_pass, _pass),
        )
