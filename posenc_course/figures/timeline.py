"""Who published what when, by the door through which it enters attention."""

from __future__ import annotations

from collections.abc import Mapping

from posenc_course.colours import BLUE, GREEN, ORANGE
from posenc_course.figures.picture import GUIDE, SEED, Picture, canvas, finish
from posenc_lib.catalogue import DOORS, Encoding, catalogue

SHORT = {
    "learned": "learned table",
    "sinusoidal": "sinusoidal",
    "fourier": "Fourier features",
    "rope": "RoPE",
    "xpos": "xPos",
    "rope-linear": "PI",
    "rope-yarn": "YaRN",
    "rope-longrope": "LongRoPE",
    "shaw": "Shaw",
    "transformer-xl": "Transformer-XL",
    "t5": "T5",
    "deberta": "DeBERTa",
    "alibi": "ALiBi",
    "kerple": "KERPLE",
    "sandwich": "Sandwich",
    "fire": "FIRE",
    "cope": "CoPE",
    "data-dependent-alibi": "forget gates",
}
"""What is drawn, by its name in the catalogue: encodings of sequences."""

_COLUMNS = dict(zip(DOORS, (0.0, 1.15, 2.06), strict=True))
_COLOURS = dict(zip(DOORS, (BLUE, ORANGE, GREEN), strict=True))
_LINE = 0.33
"""Years that a line of text takes."""


def published(encoding: Encoding) -> float:
    """The year and its fraction at which the month of its arXiv number begins: 2018.17 is March 2018."""
    assert encoding.arxiv is not None, f"{encoding.name} has no number on arXiv"
    return 2000 + int(encoding.arxiv[:2]) + (int(encoding.arxiv[2:4]) - 1) / 12


def by_door() -> dict[str, dict[str, float]]:
    """Of each door, the encodings that are drawn and their dates, the oldest first."""
    return {
        door: dict(
            sorted(
                ((each.name, published(each)) for each in catalogue().through(door) if each.name in SHORT),
                key=lambda found: found[1],
            )
        )
        for door in DOORS
    }


def timeline() -> Picture:
    """Three doors side by side, time running down: what came when through each of them."""
    dates = by_door()
    with canvas(width=4.4, height=6.2) as figure:
        axes = figure.subplots()
        axes.set_ylim(2025.9, 2016.9)
        axes.set_xlim(-0.12, 3.1)
        axes.set_yticks(range(2017, 2026))
        axes.set_ylabel("year of the first version on arXiv")
        axes.xaxis.set_visible(False)
        axes.spines["bottom"].set_visible(False)
        for door, of_door in dates.items():
            x, colour = _COLUMNS[door], _COLOURS[door]
            axes.text(x, 2016.75, door, ha="left", va="bottom", fontsize=11, fontweight="bold")
            axes.plot([x, x], [min(of_door.values()), 2025.9], color=colour, linestyle="-", linewidth=GUIDE)
            axes.scatter([x] * len(of_door), list(of_door.values()), s=34, color=colour, zorder=3)
            for name, line in _lines(of_door).items():
                axes.plot([x, x + 0.12], [of_door[name], line], color=colour, linestyle="-", linewidth=SEED)
                axes.text(x + 0.15, line, SHORT[name], va="center", fontsize=10)
        return finish(figure, alt=f"Time runs down, from 2017 to 2025, in three columns. {_words(dates)}")


def _lines(dates: Mapping[str, float]) -> dict[str, float]:
    """Where each name stands: at its date, or right below the name before it."""
    lines: dict[str, float] = {}
    free = 0.0
    for name, date in dates.items():
        lines[name] = max(date, free)
        free = lines[name] + _LINE
    return lines


def _words(dates: Mapping[str, Mapping[str, float]]) -> str:
    return " ".join(
        f"{door.capitalize()}: {', '.join(f'{SHORT[name]} {int(date)}' for name, date in of_door.items())}."
        for door, of_door in dates.items()
    )
