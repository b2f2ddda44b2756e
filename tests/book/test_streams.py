"""What a cell prints stands on the page as it was printed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_output

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "book" / "_ext"))
from streams import merge

PRINTED = "a line\nanother:  True\n    indented\n\nlast\n"


@pytest.mark.parametrize("size", range(1, len(PRINTED) + 1))
def test_pieces_that_end_anywhere_make_the_lines_that_were_printed(size):
    pieces = [PRINTED[at : at + size] for at in range(0, len(PRINTED), size)]
    [merged] = merge([new_output("stream", name="stdout", text=piece) for piece in pieces])
    assert merged["text"] == PRINTED


def test_what_comes_between_the_pieces_keeps_its_place():
    picture = new_output("display_data", data={"text/plain": "a picture"})
    parts = [("stdout", "one "), ("stderr", "a warn"), None, ("stdout", "line\n"), ("stderr", "ing\n")]
    outputs = [new_output("stream", name=p[0], text=p[1]) if p else picture for p in parts]
    merged = merge(outputs)
    assert [each.get("text") for each in merged] == ["one line\n", "a warning\n", None]
