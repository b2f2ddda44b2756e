"""The picture that stands beside a shared link to the book. Elsewhere, a picture is a PNG and not an SVG."""

from __future__ import annotations

import io
import textwrap

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


FACES = ["DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "PingFang SC", "Microsoft YaHei"]
"""Where each sign is taken from: the first of these that has it. Of a file with several faces, as Debian's of
Noto's Chinese and Japanese, Matplotlib knows the first one's name."""


def draw() -> bytes:
    """A PNG of WIDTH × HEIGHT pixels, the same in every theme."""
    installed = set(font_manager.get_font_names())
    with matplotlib.rc_context({"font.family": [each for each in FACES if each in installed]}):
        return _drawn()


def _drawn() -> bytes:
    figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100, facecolor=PAPERS["dark"])
    heatmap = figure.add_axes((0.56, 0.0, 0.44, 1.0))
    heatmap.imshow(sinusoidal(np.arange(100), 64), aspect="auto", cmap=DIVERGING, interpolation="nearest")
    heatmap.axis("off")
    ink = INKS["dark"]
    title = "\n".join(textwrap.wrap(_("Positional encoding"), 12))
    below = "\n".join(textwrap.wrap(_("from the formula to the long context"), 24))
    figure.text(0.05, 0.72, title, color=ink, fontsize=50, fontweight="bold", va="center")
    figure.text(0.05, 0.42, below, color=ORANGE, fontsize=28, va="center")
    figure.text(
        0.05,
        0.16,
        "\n".join(textwrap.wrap(_("A course that runs in your browser"), 40)),
        color=ink,
        fontsize=20,
        va="center",
    )
    written = io.BytesIO()
    figure.savefig(written, format="png", facecolor=PAPERS["dark"])
    return written.getvalue()
