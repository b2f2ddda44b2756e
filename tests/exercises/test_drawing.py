"""What right answers draw, and what no answer can do to the page that shows it."""

from __future__ import annotations

import base64
import io
import re
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from posenc_course.checking import check, report_on
from posenc_course.checking.check import drawing_by
from posenc_course.exercises import all_exercises, exercise
from posenc_course.exercises.drawing import arrows, curve, heat_map
from tests.present import present

DRAWING = [each for each in all_exercises() if each.draws]
every_drawing = pytest.mark.parametrize("asked", DRAWING, ids=lambda asked: asked.id)


def pixels(svg: str) -> np.ndarray:
    """The first picture in it: (rows, columns, 4) from 0 to 1."""
    address = present(re.search(r"data:image/png;base64,([^\"]+)", svg))[1]
    return imread(io.BytesIO(base64.b64decode(address)), format="png")


def test_every_chapter_has_exercises_that_draw():
    assert {each.chapter for each in DRAWING} == {each.chapter for each in all_exercises()}


@every_drawing
def test_right_answers_draw_the_same_figure_and_it_is_told_whose_it_is(asked):
    pictures = []
    for answer in (asked.reference, *asked.alternatives):
        report = report_on(asked.id, answer)
        drawn = drawing_by(report, answer)
        assert f"drawn by your {asked.function}." in present(drawn).words
        assert f"<code>{asked.function}</code>" in present(drawn).html
        pictures.append(asked.draws.by(answer).svg)
        svg = ET.fromstring(pictures[-1])
        assert svg.get("role") == "img"
        assert len(present(svg.get("aria-label"))) > 30
    assert re.fullmatch(r"[A-Z(][^.]*\.( [A-Z(][^.]*\.)?", asked.draws.look), "one sentence or two"
    assert len({len(each) // 100 for each in pictures}) <= 2  # the same but for rounding


@pytest.mark.parametrize(
    "fault",
    [
        lambda *_: "no numbers",
        lambda *_: None,
        lambda *_: np.full((3, 3), np.nan),
        lambda *_: [[1, 2], [3]],
        lambda *_: 1j * np.ones((4, 4)),
        lambda *_: np.zeros((0, 4)),
        lambda *_: np.zeros((10_000, 10_000), dtype=bool),
        lambda *_: exit(),
        lambda *_: 1 / 0,
    ],
)
@pytest.mark.parametrize(
    "name", ["02-the-formula.sinusoidal", "02-the-formula.distances", "06-rotary.turn_pair"]
)
def test_an_answer_that_gives_nothing_to_draw_has_passed_all_the_same(name, fault):
    asked = exercise(name)
    drawn = present(drawing_by(report_on(name, asked.reference), fault))
    assert (
        f"Your {asked.function} was called once more, to draw the picture, and gave nothing to draw"
        in drawn.words
    )
    assert "<svg" not in drawn.html


def test_a_wrong_answer_draws_nothing_and_a_right_one_shows_its_figure_in_a_notebook(monkeypatch):
    shown: list[Any] = []
    monkeypatch.setitem(check.__globals__, "_display", shown.append)
    asked = exercise("02-the-formula.frequencies")
    assert drawing_by(report_on(asked.id, lambda dim: dim), lambda dim: dim) is None
    check(asked.id, asked.reference)
    assert ["<svg" in each._repr_html_() for each in shown] == [True]


def test_a_heat_map_is_painted_by_the_numbers():
    table = np.array([[-2.0, 0, 2], [1, -1, np.inf]])
    red, green, blue, opacity = np.moveaxis(pixels(heat_map(table, rows="r", columns="c").svg), -1, 0)
    assert red[0, 2] > 0.6 > 0.3 > blue[0, 2]
    assert blue[0, 0] > 0.6 > 0.3 > red[0, 0]
    assert np.ptp([red[0, 1], green[0, 1], blue[0, 1]]) < 0.01
    assert opacity.tolist() == [[1, 1, 1], [1, 1, 0]]
    shares = pixels(heat_map([[0, 0.5, 1.0]], rows="r", columns="c").svg)[..., 3]
    assert np.allclose(shares, [[0, 0.5, 1]], atol=0.01)


def test_a_curve_goes_through_its_numbers_and_arrows_to_their_points():
    svg = ET.fromstring(curve([0, 1, 2], {"": [0, 10, 5]}, across="x", up="y").svg)
    [line] = svg.iter("polyline")
    points = np.array([each.split(",") for each in present(line.get("points")).split()], dtype=float)
    assert np.allclose(np.diff(points[:, 0]), points[1, 0] - points[0, 0])
    assert np.allclose((points[0, 1] - points[:, 1]) / (points[0, 1] - points[1, 1]), [0, 1, 0.5], atol=0.01)
    with pytest.raises(ValueError, match="the curve has 2 numbers, and 3 were asked for"):
        curve([0, 1, 2], {"": [1, 2]}, across="x", up="y")
    assert "east (3, 0)" in arrows([[3, 0]], ["east"]).alt
    with pytest.raises(ValueError, match="arrows have 1 tips of two finite numbers each"):
        arrows([[np.nan, 0]], ["east"])


@pytest.mark.parametrize(
    "table", [np.zeros((3, 3)), np.ones((1, 1)), np.full((2, 2), -7), np.eye(2, dtype=bool)]
)
def test_equal_numbers_whole_numbers_and_truth_values_can_be_drawn(table):
    svg = heat_map(table, rows="<row>", columns="c").svg
    assert "&lt;row&gt;" in svg
    assert ET.fromstring(svg) is not None
    assert "nan" not in svg
