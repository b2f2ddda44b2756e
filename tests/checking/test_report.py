"""The report's picture: drawn where it says more than a sentence, and only there."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from posenc_course.checking.report import CaseResult, Report
from posenc_course.exercises import exercise
from tests.present import present

ASKED = exercise("02-the-formula.sinusoidal")
WANT = np.arange(12.0).reshape(3, 4)


def page(expected, got, asked=ASKED) -> str:
    return Report(asked, (CaseResult("a case", "It differs.", expected, got),))._repr_html_()


def picture(expected, got) -> ET.Element:
    [svg] = re.findall(r"<svg.*</svg>", page(expected, got), flags=re.DOTALL)
    return ET.fromstring(svg)


def spoiled(array: np.ndarray, *indices: tuple[int, ...], value: float = 99.0) -> np.ndarray:
    copy = np.array(array, dtype=float)
    for index in indices:
        copy[index] = value
    return copy


def test_a_table_is_two_heat_maps_with_the_wrong_cells_crossed():
    svg = picture(WANT, spoiled(WANT, (0, 1), (2, 3)))
    assert len(svg.findall("rect")) == 2 * 12
    assert len(svg.findall("path")) == 2
    assert "2 of the 12 shown" in present(svg.get("aria-label"))
    assert [text.text for text in svg.findall("text")] == ["yours", "expected"]


def test_a_cross_leaves_most_of_its_cell_to_be_seen():
    wrong = (2, 3)
    svg = picture(WANT, spoiled(WANT, wrong))
    [cross] = svg.findall("circle")
    x, y, radius = (float(present(cross.get(name))) for name in ("cx", "cy", "r"))
    cell = svg.findall("rect")[wrong[0] * 4 + wrong[1]]
    left, top, side = (float(present(cell.get(name))) for name in ("x", "y", "width"))
    assert left <= x - radius
    assert x + radius <= left + side + 1
    assert top <= y - radius
    assert y + radius <= top + side + 1
    assert np.pi * radius**2 < side**2 / 3


def test_a_row_is_two_lines_with_the_wrong_points_crossed():
    svg = picture(np.arange(5.0), spoiled(np.arange(5.0), (3,)))
    assert len(svg.findall("polyline")) == 2
    assert len(svg.findall("path")) == 1
    assert "1 of the 5 shown" in present(svg.get("aria-label"))


def test_a_large_table_is_shown_around_its_first_wrong_cell():
    want = np.zeros((100, 90))
    html = page(want, spoiled(want, (50, 80)))
    assert "Rows 50 to 61, columns 74 to 89." in html
    assert len(html) < 60_000


def test_the_slice_of_a_deeper_array_is_named():
    want = np.zeros((2, 3, 4))
    assert "come the indices [1]" in page(want, spoiled(want, (1, 0, 0)))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308])
@pytest.mark.parametrize(
    "want", [WANT, np.arange(5.0), -1e308 * np.ones((2, 3))], ids=["table", "row", "huge"]
)
def test_numbers_that_cannot_be_drawn_still_leave_a_sound_picture(want, value):
    svg = picture(want, spoiled(want, (0,) * want.ndim, value=value))
    drawn = ET.tostring(svg, encoding="unicode")
    assert "nan" not in drawn
    assert "inf" not in drawn
    assert len(svg.findall("path")) == 1


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (None, None),
        (WANT, WANT),
        (WANT, WANT.T),
        (1.0, 2.0),
        (np.arange(2.0), np.ones(2)),
        (np.arange(4.0), [[1.0], [2.0, 3.0]]),
        (np.arange(4.0), np.arange(4) * 1j),
        ((WANT, WANT), (WANT, WANT + 1)),
        ("text", WANT),
    ],
    ids=["nothing", "equal", "shapes", "numbers", "two", "ragged", "complex", "several", "text"],
)
def test_no_picture_where_a_sentence_says_enough(expected, got):
    html = page(expected, got)
    assert "<svg" not in html
    assert "It differs." in html


def test_no_picture_of_an_answer_that_is_a_value():
    asked = exercise("01-why-order-matters.distinct_rows")
    assert "<svg" not in page(np.arange(4.0), np.ones(4), asked)


def report(*differences: str | None) -> Report:
    return Report(ASKED, tuple(CaseResult(f"case {n}", text) for n, text in enumerate(differences, start=1)))


def test_every_wrong_case_says_what_came_and_the_further_ones_fold():
    told = report("got 1", None, "got 2", "got 3", None, "got 4", "got 5")
    before, folded = told._repr_html_().split("<details><summary>3 more cases</summary>")
    assert re.findall(r"<li>(.*?)</li>", before) == [
        "✗ case 1<br>got 1",
        "✓ case 2",
        "✗ case 3<br>got 2",
        "✗ case 4<br>got 3",
    ]
    assert re.findall(r"<li>(.*?)</li>", folded) == ["✓ case 5", "✗ case 6<br>got 4", "✗ case 7<br>got 5"]
    assert str(told).split("\n")[1:] == [
        "First wrong case: case 1.",
        "  got 1",
        "Also wrong: case 3.",
        "  got 2",
        "Also wrong: case 4.",
        "  got 3",
        "2 more cases are wrong.",
    ]


def test_a_single_further_case_is_not_folded():
    assert "<summary>1" not in report("a", "b", "c", "d")._repr_html_()
    assert str(report("a", "b", "c", "d")).endswith("1 more case is wrong.")


def test_what_is_wrong_in_the_same_words_is_said_once():
    told = report("It raised NameError", "It raised NameError")
    assert told._repr_html_().count("It raised NameError") == str(told).count("It raised NameError") == 1
    assert "The same as in the first wrong case." in str(told)


def test_only_the_first_wrong_case_is_drawn():
    two = Report(ASKED, tuple(CaseResult(f"case {n}", "wrong", WANT, WANT + n) for n in (1, 2)))
    assert two._repr_html_().count("<svg") == 1
