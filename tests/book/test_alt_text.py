"""Every picture says in words what it shows. `finish` refuses a drawn one that does not (tests/figures)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tools.claims import PARSER, ROOT

PAGES = [
    *(path for path in sorted((ROOT / "book").rglob("*.md")) if "node_modules" not in path.parts),
    *sorted((ROOT / "solutions").glob("*.md")),
    ROOT / "README.md",
]
BY_HAND = re.compile(r"\bpyplot\b|\bpylab\b|display\.(?:Image|SVG)\b|import Image\b")


def pictures_without_words(text: str) -> Iterator[str]:
    for token in PARSER.parse(text):
        for child in token.children or []:
            if child.type == "image" and not child.content.strip():
                yield str(child.attrs["src"])
            elif child.type == "html_inline":
                yield from _html(child.content)
        if token.type == "html_block":
            yield from _html(token.content)
        elif token.type in ("fence", "colon_fence") and token.info.startswith(("{image}", "{figure}")):
            if not re.search(r"^:alt: *\S", token.content, re.MULTILINE):
                yield token.info
        elif token.type in ("fence", "colon_fence") and token.info.startswith("{"):
            yield from pictures_without_words(token.content)


def _html(text: str) -> Iterator[str]:
    for picture in re.findall(r"<img\b[^>]*>", text):
        if not re.search(r'\balt="[^"]+"', picture):
            yield picture


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_picture_in_a_page_has_words(page):
    assert list(pictures_without_words(page.read_text())) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_cell_draws_with_the_canvas_that_asks_for_words(page):
    cells = [
        token.content for token in PARSER.parse(page.read_text()) if token.info.startswith("{code-cell}")
    ]
    assert [found[0] for cell in cells for found in BY_HAND.finditer(cell)] == []


@pytest.mark.parametrize(
    "text",
    [
        "![](a.png)",
        "Text ![](a.png)",
        "```{note}\n![ ](a.png)\n```",
        "```{image} a.png\n:width: 20\n```",
        "````{note}\n```{figure} a.png\nA caption.\n```\n````",
        '<img src="a.png">',
        '<p><img alt="" src="a.png"></p>',
    ],
)
def test_a_picture_without_words_is_seen(text):
    assert len(list(pictures_without_words(text))) == 1


@pytest.mark.parametrize(
    "text", ["![A wave.](a.png)", "```{image} a.png\n:alt: A wave.\n```", '<img alt="A wave.">', "`![](a)`"]
)
def test_a_picture_with_words_passes(text):
    assert list(pictures_without_words(text)) == []
