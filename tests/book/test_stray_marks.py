"""No page shows a paragraph of marks alone, such as quotes left behind by an edit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.claims import ROOT
from tools.prose import prose

PAGES = sorted((ROOT / "book").glob("*.md"))


def stray(text: str) -> list[int]:
    """The lines of paragraphs that have a mark and no letter, digit or symbol of their own."""
    return [line for line, piece in prose(text) if re.fullmatch(r"['\"`*_~]+", piece.strip())]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_no_paragraph_is_marks_alone(page: Path):
    assert stray(page.read_text()) == []


def test_a_stray_mark_is_seen():
    assert stray("# A page\n\nText.\n\n'''\n\nMore text.\n") == [5]
