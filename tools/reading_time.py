"""How long a chapter takes to read: 200 words and one cell a minute, with everything folded.

    python -m tools.reading_time [PAGE ...]

What counts is the prose up to the quiz, and the take-away: no folded box, no side trip, no exercise, no quiz,
and no reason that a prediction shows after a wrong choice. A cell counts if a reader sees its code or what it
shows. A side trip (book/_ext/side_trip.py) is a section with minutes of its own.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.claims import PARSER, chapters
from tools.prose import prose

WORDS_A_MINUTE = 200
FENCE = re.compile(r"^(?P<fence>`{3,}|:{3,})\{(?P<name>[\w-]+)\}.*?^(?P=fence)$\n?", re.DOTALL | re.MULTILINE)
REASON = re.compile(r"^ +> .*\n", re.MULTILINE)
SIDE_TRIP = re.compile(
    r"^(?P<marks>##+) (?P<title>.*)\n\n```{side-trip} (?P<minutes>\d+)\n[^`]*```\n", re.MULTILINE
)
HEADING = re.compile(r"^(?P<marks>##+) ", re.MULTILINE)
OPTIONS = re.compile(r"^:[\w-]+:.*$", re.MULTILINE)


def main_line(text: str) -> str:
    """What is read from the first line to the last: no quiz, exercises or further reading."""
    before, _, after = text.partition("\n## Check yourself")
    take_away = re.search(r"\n## Take-away\n.*?(?=\n## |\Z)", after, re.DOTALL)
    return before + (take_away[0] if take_away else "")


@dataclass(frozen=True)
class SideTrip:
    """What is folded below a heading, from `start` to `stop` in the text of a chapter."""

    title: str
    stated: int
    start: int
    stop: int


def side_trips(text: str) -> Iterator[SideTrip]:
    for found in SIDE_TRIP.finditer(text):
        after = HEADING.finditer(text, found.end())
        stop = next((h.start() for h in after if len(h["marks"]) <= len(found["marks"])), len(text))
        yield SideTrip(found["title"], int(found["minutes"]), found.end(), stop)


def without_side_trips(text: str) -> str:
    for trip in reversed(list(side_trips(text))):
        text = text[: trip.start] + text[trip.stop :]
    return text


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
    """Of a chapter's main line."""
    return _minutes(without_side_trips(main_line(text)))


def minutes_beside(text: str) -> list[tuple[SideTrip, float]]:
    """Its side trips, each with its minutes; what one holds of another counts in both."""
    return [(trip, _minutes(text[trip.start : trip.stop])) for trip in side_trips(text)]


def _minutes(text: str) -> float:
    read = unfolded(text)
    return words(read) / WORDS_A_MINUTE + visible_cells(read)


def main(names: list[str]) -> None:
    for path in [Path(name) for name in names] or chapters():
        text = path.read_text()
        print(f"{path.name:50} {minutes(text):5.1f} minutes")
        for trip, beside in minutes_beside(text):
            print(f"    {trip.title:46} {beside:5.1f}, and {trip.stated} stated")


if __name__ == "__main__":
    main(sys.argv[1:])
