"""What moves in pictures: it ends in the picture as it is drawn, soon, and asks little of a browser."""

from __future__ import annotations

import ast
import itertools
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from book.picture_words import replaced, words
from posenc_course.figures import (
    beyond_text,
    biases,
    content,
    extrapolation,
    formula,
    long_context,
    order,
    picture,
    pitfalls,
    relative,
    rotary,
)
from posenc_course.figures.moves import At, Move, appear, draw, tick
from posenc_course.figures.picture import Picture, canvas, finish
from tests.present import present

CHAPTERS = sorted((Path(__file__).resolve().parents[2] / "book").glob("[0-9][0-9]-*.md"))
MODULES = (
    beyond_text, biases, content, extrapolation, formula, long_context, order, pitfalls, relative, rotary
)  # fmt: skip
ALT = "A word, and a straight line that rises over three positions."
RULE = re.compile(r"#([\w-]+)(?:>path)?\{animation-name:([\w-]+)(?:;transform-origin:[^}]+)?\}")
KEYFRAMES = re.compile(r"@keyframes ([\w-]+)\{((?:[^{}]+\{[^{}]*\})+)\}")
STEP = re.compile(r"([^{}]+)\{([^{}]*)\}")
REST = {"transform": "none", "opacity": "1", "stroke-dashoffset": "0"}


def opening(chapter: Path) -> Picture:
    """The first picture of a chapter, as its first cell draws it."""
    code = present(re.search(r"```\{code-cell\}.*\n(?::.*\n)*([\s\S]*?)```", chapter.read_text()))[1]
    *before, last = ast.parse(code).body
    assert isinstance(last, ast.Expr)
    names: dict[str, object] = {}
    exec(compile(ast.Module(before, []), chapter.name, "exec"), names)
    return eval(compile(ast.Expression(last.value), chapter.name, "eval"), names)


@pytest.fixture(scope="module")
def openings() -> dict[str, str]:
    return {chapter.stem: opening(chapter).svg for chapter in CHAPTERS}


def sheet(svg: str) -> str:
    return present(re.search(r"<style>(.*?)</style>", svg))[1]


def keyframes(svg: str) -> dict[str, list[tuple[str, dict[str, str]]]]:
    """Of each name, when what holds."""
    return {
        name: [
            (when, dict(each.split(":") for each in said.split(";"))) for when, said in STEP.findall(steps)
        ]
        for name, steps in KEYFRAMES.findall(sheet(svg))
    }


def as_drawn(svg: str) -> str:
    """What can be seen of it: without its moves, and whatever its elements are called."""
    svg = re.sub(r"<style>.*?</style>|;--lasts:[\d.]+s| class=\"posenc-moving\"", "", svg)
    used = set(re.findall(r"#([\w-]+)", svg))  # of what moved, nothing else asks for the name
    svg = re.sub(r'\sid="([^"]+)"', lambda named: named[0] if named[1] in used else "", svg)
    number = itertools.count()
    for name in re.findall(r'\bid="([^"]+)"', svg):
        svg = re.sub(rf'((?:\bid="|href="#|url\(#)){name}(?=["\)])', rf"\g<1>n{next(number)}", svg)
    return svg


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.stem)
def test_an_opening_comes_to_rest_as_the_picture_that_it_is_without_moves(chapter, openings, monkeypatch):
    for module in MODULES:
        monkeypatch.setattr(module, "finish", lambda figure, alt, moves=(): finish(figure, alt=alt))
    still = opening(chapter).svg
    moving = openings[chapter.stem]
    assert "posenc-moving" not in still
    assert "<style" not in still
    assert as_drawn(moving) == as_drawn(still)
    for steps in keyframes(moving).values():
        when, said = steps[-1]
        assert when.endswith("to")
        assert said.items() <= (REST | {"stroke-dasharray": said.get("stroke-dasharray")}).items()


@pytest.mark.parametrize("chapter", [chapter.stem for chapter in CHAPTERS])
def test_an_opening_moves_what_it_has_for_less_than_five_seconds_and_cheaply(chapter, openings):
    svg = openings[chapter]
    ElementTree.fromstring(svg)
    assert 1 < float(present(re.search(r"--lasts:([\d.]+)s", svg))[1]) < 5
    rules, found = RULE.findall(sheet(svg)), keyframes(svg)
    assert RULE.sub("", KEYFRAMES.sub("", sheet(svg))) == ""  # nothing else is in it
    ids = re.findall(r'\bid="([^"]+)"', svg)
    assert len(set(ids)) == len(ids)
    assert len({moved for moved, _ in rules}) == len(rules) > 0
    assert {moved for moved, _ in rules} <= set(ids)
    assert {name for _, name in rules} == found.keys()
    for steps in found.values():
        assert len({frozenset(said) for _, said in steps}) == 1
        dashes = [said.pop("stroke-dasharray", None) for _, said in steps]
        assert len(set(dashes)) == 1  # they are no move, but what is moved
        assert steps[0][1].keys() <= REST.keys()


def test_an_opening_is_seen_whole_on_a_phone(openings):
    """A page leaves it 342 of a phone's 390 pixels; a wider one scrolls."""
    least = {name: int(present(re.search(r"min-width:(\d+)px", svg))[1]) for name, svg in openings.items()}
    assert {name: width for name, width in least.items() if width > 342} == {}


def test_no_opening_has_a_name_of_another(openings):
    names = [{*keyframes(svg), *dict(RULE.findall(sheet(svg)))} for svg in openings.values()]
    assert sum(map(len, names)) == len(set.union(*names))


def test_an_opening_keeps_its_moves_in_another_language(openings):
    for svg in openings.values():
        said = list(words(svg))
        assert not any("animation" in each or "keyframes" in each for each in said)
        in_capitals = replaced(svg, str.upper)
        assert in_capitals != svg
        assert sheet(in_capitals) == sheet(svg)


def test_a_thing_begins_where_its_move_says():
    with canvas(width=4, height=3) as figure:
        axes = figure.subplots()
        axes.axis("off")
        axes.set_aspect("equal")
        axes.set_xlim(0, 10)
        axes.set_ylim(0, 5)
        axes.text(2, 1, "here")
        text = axes.text(7, 4, "there")
        svg = finish(figure, alt=ALT, moves=[Move([text], (At(0, by=(-5, -3)), At(1)))]).svg
    here, there = (
        np.array([float(each) for each in found])
        for found in re.findall(r"<text [^>]*translate\(([-\d.]+) ([-\d.]+)\)", svg)
        or re.findall(r'<text [^>]*\bx="([-\d.]+)" y="([-\d.]+)"', svg)
    )
    found = present(re.search(r"0%\{transform:translate\(([-\d.]+)px,([-\d.]+)px\)", sheet(svg)))
    assert here - there == pytest.approx([float(each) for each in found.groups()], abs=0.1)


def test_it_turns_about_its_point_anticlockwise_and_waits_and_fades():
    with canvas(width=4, height=4) as figure:
        figure.set_layout_engine("none")
        axes = figure.add_axes((0, 0, 1, 1))
        axes.axis("off")
        line = axes.plot([1, 2], [1, 2])
        axes.set_xlim(0, 4)
        axes.set_ylim(0, 4)
        steps = At(1, turn=90, opacity=0.5), At(2, grow=(2, 1)), At(4)
        svg = finish(figure, alt=ALT, moves=[Move(line, steps, about=(1, 1))]).svg
    assert "transform-origin:72.0px 216.0px" in sheet(svg)
    [found] = keyframes(svg).values()
    assert found == [
        ("0%,25%", {"transform": "rotate(-90deg)scale(1,1)", "opacity": "0.5"}),
        ("50%", {"transform": "rotate(0deg)scale(2,1)", "opacity": "1"}),
        ("to", {"transform": "none", "opacity": "1"}),
    ]
    with canvas() as figure:
        hand = figure.subplots().plot([0, 0], [0, 1])
        figure.axes[0].axis("off")
        assert [(step.time, step.turn) for step in tick(hand, 30, 2, every=1.5, about=(0, 0)).steps] == [
            (0.4, 60), (1.4, 30), (1.9, 30), (2.9, 0)
        ]  # fmt: skip


@pytest.mark.parametrize("dash", ["-", "--", "-."])
def test_of_a_line_that_is_not_drawn_yet_nothing_is_seen_and_in_the_end_all_of_it(dash):
    with canvas(width=4, height=3) as figure:
        figure.set_layout_engine("none")
        axes = figure.add_axes((0, 0, 1, 1))
        axes.axis("off")
        line = axes.plot([0, 1, 1], [0, 0, 1], linestyle=dash)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        svg = finish(figure, alt=ALT, moves=[draw(*line, start=0, end=1)]).svg
    length = 72 * (4 + 3)
    [(_, hidden), (_, whole)] = keyframes(svg)[next(iter(keyframes(svg)))]
    dashes = [float(each) for each in hidden["stroke-dasharray"].split()]
    edges = np.cumsum([0, *dashes])
    at = np.linspace(0, length, 2000)[1:-1]

    def is_seen(offset: str) -> np.ndarray:
        return np.searchsorted(edges, (at + float(offset)) % edges[-1], side="right") % 2 == 1

    assert not is_seen(hidden["stroke-dashoffset"]).any()
    drawn = re.search(r"stroke-dasharray: ([\d.,]+)", svg)
    if drawn:
        pattern = [float(each) for each in drawn[1].split(",")]
        as_drawn = np.searchsorted(np.cumsum(pattern), at % sum(pattern), side="right") % 2 == 0
        assert (is_seen(whole["stroke-dashoffset"]) == as_drawn).mean() > 0.98  # its dashes are rounded
    else:
        assert is_seen(whole["stroke-dashoffset"]).all()


def test_a_move_that_cannot_be_is_refused():
    with canvas() as figure:
        axes = figure.subplots()
        axes.axis("off")
        image = axes.imshow(np.zeros((2, 2)))
        hidden = axes.text(0, 0, "hidden", visible=False)
        text = axes.text(0, 0, "word")
        for moves, problem in (
            ([appear(hidden, start=0, end=1)], "is not drawn"),
            ([Move([image], (At(0, by=(1, 0)), At(1)))], "can only appear"),
            ([Move([text], (At(0, drawn=0), At(1)))], "is not a line"),
            ([Move([figure.text(0, 0, "of the figure")], (At(0, by=(1, 1)), At(1)))], "in no axes"),
            ([appear(text, start=0, end=1), appear(text, start=2, end=3)], "two moves"),
        ):
            for artist in figure.findobj():
                artist.set_gid(None)
            with pytest.raises(ValueError, match=problem):
                finish(figure, alt=ALT, moves=moves)
        for steps, problem in (
            ((At(0), At(1, opacity=0)), "end each move there"),
            ((At(0, opacity=0), At(5)), "too long"),
            ((At(2, opacity=0), At(1)), "do not rise"),
            ((At(1),), "do not rise"),
        ):
            with pytest.raises(ValueError, match=problem):
                Move([text], steps)


def test_a_picture_that_does_not_move_says_nothing_of_it():
    with canvas() as figure:
        figure.subplots().axis("off")
        svg = finish(figure, alt=ALT).svg
    assert "posenc-moving" not in svg
    assert "--lasts" not in svg
    assert picture._INK not in svg
