"""`04-extrapolation.which_claim`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import re
from pathlib import Path

TEXT = Path(__file__).resolve().parents[3] / "solutions" / "04-extrapolation.md"


def test_no_block_of_sentence_6_goes_past_the_training():
    """Or its encoding would be shown to be defined there, as by sentence 3."""
    text = TEXT.read_text(encoding="utf-8")
    trained, blocks = (
        re.search(pattern, text)
        for pattern in (r"was trained on texts of (\d+) tokens", r'6\. "Cut into blocks of ([\d,]+) tokens')
    )
    assert trained
    assert blocks
    assert int(blocks[1].replace(",", "")) <= int(trained[1])


NOT_KNOWN = (
    ("which_claim", ("none", "works", "defined", "uses", "works", "none"), "number 1 is wrong"),
    ("which_claim", ("defined", "works", "works", "uses", "works", "works"), "the model raises no error"),
)
