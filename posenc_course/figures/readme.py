"""The README's picture, as files: a page that is no page of ours does not lend it its text colour.

python -m posenc_course.figures.readme
"""

from __future__ import annotations

from pathlib import Path

from posenc_course.colours import INKS
from posenc_course.figures.formula import heatmap


def readme_pictures() -> dict[str, str]:
    """File name to SVG, one for light and one for dark pages."""
    svg = heatmap().svg
    return {f"readme-{theme}.svg": svg.replace("currentColor", ink) + "\n" for theme, ink in INKS.items()}


if __name__ == "__main__":
    folder = Path("book") / "_static"
    for name, svg in readme_pictures().items():
        (folder / name).write_text(svg)
        print(f"wrote {folder / name}")
