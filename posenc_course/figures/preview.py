"""The picture that stands beside a shared link to the book. Elsewhere, a picture is a PNG and not an SVG."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import font_manager
from matplotlib.figure import Figure

from posenc_course.colours import INKS, ORANGE, PAPERS
from posenc_course.figures.picture import DIVERGING
from posenc_course.translation import _
from posenc_lib.added import sinusoidal

WIDTH, HEIGHT = 1200, 630


def alt() -> str:
    return _("The title of the course beside a heatmap of the sinusoidal encoding.")


CHINESE = ("NotoSansCJK-Regular", "NotoSansCJK-Bold", "NotoSansSC", "SourceHanSansSC", "PingFang", "msyh")
"""What the files of faces with Chinese signs are called on the usual systems."""


def draw() -> bytes:
    """A PNG of WIDTH × HEIGHT pixels, the same in every theme; in English where no face has the signs."""
    faces = ["DejaVu Sans", *_chinese_faces()]
    with matplotlib.rc_context({"font.family": faces}):
        return _drawn(_ if len(faces) > 1 or _("Positional encoding").isascii() else str)


def _chinese_faces() -> list[str]:
    """The faces that the system has, known to Matplotlib from here on, whose own list may be older."""
    found = []
    for path in sorted(font_manager.findSystemFonts()):
        if Path(path).name.startswith(CHINESE):
            font_manager.fontManager.addfont(path)
            found.append(font_manager.FontProperties(fname=path).get_name())
    return list(dict.fromkeys(found))


def _drawn(say: Callable[[str], str]) -> bytes:
    figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100, facecolor=PAPERS["dark"])
    heatmap = figure.add_axes((0.56, 0.0, 0.44, 1.0))
    heatmap.imshow(sinusoidal(np.arange(100), 64), aspect="auto", cmap=DIVERGING, interpolation="nearest")
    heatmap.axis("off")
    ink = INKS["dark"]
    title = "\n".join(textwrap.wrap(say("Positional encoding"), 12))
    below = "\n".join(textwrap.wrap(say("from the formula to the long context"), 24))
    figure.text(0.05, 0.72, title, color=ink, fontsize=50, fontweight="bold", va="center")
    figure.text(0.05, 0.42, below, color=ORANGE, fontsize=28, va="center")
    figure.text(
        0.05,
        0.16,
        "\n".join(textwrap.wrap(say("A course that runs in your browser"), 40)),
        color=ink,
        fontsize=20,
        va="center",
    )
    written = io.BytesIO()
    figure.savefig(written, format="png", facecolor=PAPERS["dark"])
    return written.getvalue()
