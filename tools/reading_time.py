"""How long a chapter takes to read: 200 words and one cell a minute, with everything folded.

    python -m tools.reading_time [PAGE ...]

What counts is the prose up to the quiz, and the take-away: no folded box, no exercise, no quiz, and no reason
that a prediction shows after a wrong choice. A cell counts if a reader sees its code or what it shows.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tools.claims import PARSER, chapters
from tools.prose import prose

WORDS_A_MINUTE = 200
FENCE = re.compile(r"^(?P<fence>`{3,}|:{3,})\{(?P<name>[\w-]+)\}.*?^(?P=fence)$\n?", re.DOTALL | re.MULTILINE)
REASON = re.compile(r"^ +> .*\n", re.MULTILINE)
OPTIONS = re.compile(r"^:[\w-]+:.*$", re.MULTILINE)


def main_line(text: str) -> str:
    """What is read from the first line to the last: no quiz, exercises or further reading."""
    before, _, after = text.partition("\n## Check yourself")
    take_away = re.search(r"\n## Take-away\n.*?(?=\n## |\Z)", after, re.DOTALL)
    return before + (take_away[0] if take_away else "")


def unfolded(text: str) -> str:
    """A text without its folded boxes, and without the reasons of its predictions."""

    def kept(found: re.Match[str]) -> str:
        if ":class: dropdown" in found[0]:
            return ""
        return REASON.sub("", found[0]) if found["name"] == "predict" else found[0]

    return FENCE.sub(kept, text)


def words(text: str) -> int:
    """How many words of prose are read in an unfolded text."""
    return sum(len(piece.split()) for _, piece in prose(OPTIONS.sub("", text)))


def visible_cells(text: str) -> int:
    """How many cells show their code or an output."""
    cells = [
        each for each in PARSER.parse(text) if each.type == "fence" and each.info.startswith("{code-cell}")
    ]
    return sum(
        not re.search(r"^:tags:.*(remove-cell|hide-cell|until-passed)", each.content, re.MULTILINE)
        for each in cells
    )


def minutes(text: str) -> float:
    read = unfolded(main_line(text))
    return words(read) / WORDS_A_MINUTE + visible_cells(read)


def main(names: list[str]) -> None:
    for path in [Path(name) for name in names] or chapters():
        text = path.read_text()
        read = unfolded(main_line(text))
        print(
            f"{path.name:30} {minutes(text):5.1f} minutes: {words(read)} words, {visible_cells(read)} cells"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
