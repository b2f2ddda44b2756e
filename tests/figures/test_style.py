"""One style for all pictures: no legends, no frames, no text that is cut off; names are at the curves."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module
from inspect import getmembers, isfunction, signature

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text

from posenc_course import figures
from posenc_course.figures import picture
from posenc_course.figures.interactive import FIGURES
from posenc_course.figures.labels import apart, label_at_curve
from posenc_course.figures.picture import Picture, canvas

# Two circles that share the names of their hands; clouds of marks, which have no end to stand at.
WITH_LEGEND = {"moved_together", "copying"}
OF_OTHER_WIDTHS = {"order.one_query"}  # they are the attention's weights
WIDTHS = {picture.SEED, picture.GUIDE, picture.CURVE, picture.BOLD, picture.BAND}
CUT = 0.1
"""How much of a text may lie beyond the edge by Matplotlib's own face: the page's is narrower."""


def quick() -> dict[str, Callable[[], Picture]]:
    """Every picture that can be drawn without data of a page, and every figure that moves, at its start."""
    found = {f"live {name}": each.picture for name, each in FIGURES.items()}
    for module in pkgutil.iter_modules(figures.__path__):
        every = import_module(f"{figures.__name__}.{module.name}")
        for name, draw in getmembers(every, isfunction):
            wants = [each for each in signature(draw).parameters.values() if each.default is each.empty]
            if (
                draw.__module__ == every.__name__
                and signature(draw).return_annotation == "Picture"
                and not wants
            ):
                found[f"{module.name}.{name}"] = draw
    return found


@pytest.fixture
def drawn(monkeypatch):
    """The figures that were written since."""
    written: list[Figure] = []
    write = Figure.savefig

    def keep(figure: Figure, *given, **named) -> None:
        write(figure, *given, **named)
        written.append(figure)

    monkeypatch.setattr(Figure, "savefig", keep)
    return written


@pytest.mark.parametrize("name", quick())
def test_all_pictures_are_of_one_style(name, drawn):
    quick()[name]()
    [figure] = drawn
    legends = [*figure.legends, *filter(None, (axes.get_legend() for axes in figure.axes))]
    assert bool(legends) == (name.split(".")[-1] in WITH_LEGEND), "names are at the curves: label_at_curve"
    for axes in figure.axes:
        frame = [side for side, spine in axes.spines.items() if axes.axison and spine.get_visible()]
        assert not {"top", "right", "outline"} & set(frame)
        assert not frame or not axes.images
        widths = {line.get_linewidth() for line in axes.get_lines() if line.get_linestyle() != "None"}
        assert name in OF_OTHER_WIDTHS or widths <= WIDTHS, "a line has one of the widths of picture.py"
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text() and text.axes is not None and text.axes.axison:
            box, page = text.get_window_extent(), figure.bbox
            beyond = max(page.x0 - box.x0, box.x1 - page.x1, page.y0 - box.y0, box.y1 - page.y1)
            assert beyond <= 1 + CUT * max(box.width, box.height), f"“{text.get_text()}” is cut off"


def test_names_are_at_the_ends_of_their_curves_once_and_apart():
    with canvas() as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        for axes in (left, right):
            for height, name in ((0.5, "middle"), (0.49, "below"), (1.0, "top"), (0.0, "bottom")):
                axes.plot([0, 1], [0.3, height], label=name)
            axes.plot([0, 0.5, 1], [0.2, 0.8, 9.0], label="leaves")
            axes.set_ylim(0, 1)
            axes.set_xlabel("position")
        left.plot([0, 1], [0.2, 0.2], label="left only")
        left.set_ylabel("value")
        label_at_curve(right, left)
        figure.draw_without_rendering()
        names = {note.get_text(): note for note in figure.findobj(Annotation)}
        assert len(names) == len(figure.findobj(Annotation)) == 6
        assert [name for name, note in names.items() if note.axes is left] == ["left only"]
        boxes = {name: Text.get_window_extent(note) for name, note in names.items() if note.axes is right}
        assert all(box.x0 > right.bbox.x1 for box in boxes.values())
        middles = {name: (box.y0 + box.y1) / 2 for name, box in boxes.items()}
        assert sorted(middles, key=lambda name: middles[name]) == [
            "bottom",
            "below",
            "middle",
            "leaves",
            "top",
        ]
        assert np.diff(sorted(middles.values())).min() >= 10
        assert names["leaves"].xy == pytest.approx((0.5, 0.8))


def test_names_move_no_further_than_they_must():
    sizes = np.full(3, 10.0)
    assert apart([10, 50, 90], sizes, 100).tolist() == [10, 50, 90]
    assert apart([50, 50, 90], sizes, 100).tolist() == [45, 55, 90]
    assert apart([0, 0, 100], sizes, 100).tolist() == [5, 15, 95]
    assert apart([50, 50, 50], sizes, 20).tolist() == [5, 15, 25], "with too little room, from the bottom"
