"""What every picture keeps to: words, labels, page colours, unique ids; the README's copies are current."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from posenc_course.colours import COLOURS
from posenc_course.figures import order, picture
from posenc_course.figures.moves import draw
from posenc_course.figures.picture import canvas, finish
from posenc_course.figures.readme import readme_pictures
from posenc_course.figures.values import MOST_POINTS
from tests.present import present

ROOT = Path(__file__).resolve().parents[2]
ALT = "A straight line that rises from 1 to 3 over three positions."


def line(*, label: str = "value", alt: str = ALT):
    with canvas() as figure:
        axes = figure.subplots()
        axes.plot([1, 2, 3])
        axes.set_xlabel("position")
        axes.set_ylabel(label)
        return finish(figure, alt=alt)


def test_text_takes_the_colour_of_the_page_and_nothing_leaks_into_it():
    svg = line().svg
    assert "currentColor" in svg
    assert picture._INK not in svg
    assert "<style" not in svg
    ElementTree.fromstring(svg)


def test_a_picture_says_what_is_on_it():
    assert f'aria-label="{ALT}"' in line()._repr_html_()
    assert 'role="img"' in line().svg
    assert "&lt;b&gt;" in line(alt="A rising line <b>in bold</b>, as an example.").svg


def test_a_picture_without_words_or_labels_is_refused():
    with pytest.raises(ValueError, match="does not describe"):
        line(alt="a line")
    with pytest.raises(ValueError, match="the y axis has numbers but no label"):
        line(label="")


def test_a_heat_map_brings_the_numbers_of_its_cells_and_where_they_lie():
    values = np.array([[0.5, -1.2345], [2, 0.001]])
    with canvas(width=4, height=3) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        for axes in (left, right):
            image = axes.imshow(values, vmin=-2, vmax=2)
            axes.set_xlabel("key")
        left.set_ylabel("query")
        right.set_xticks([0, 1], ["dog", "cat"])
        figure.colorbar(image, ax=right).set_label("score")
        svg = finish(figure, alt=ALT).svg
    root = ElementTree.fromstring(svg)
    first, second = json.loads(present(root.get("data-cells")))
    assert first["numbers"] == second["numbers"] == [[0.5, -1.23], [2, 0.001]]
    assert (first["down"], first["across"], first["value"]) == (["query"], ["key"], "score")
    assert (second["down"], second["across"], second["value"]) == (["query"], ["key", "dog", "cat"], "score")
    # Each lies where the picture has its image.
    width, height = (float(each) for each in present(root.get("viewBox")).split()[2:])
    drawn = root.findall(".//{http://www.w3.org/2000/svg}image")[:2]
    for map_, image in zip((first, second), drawn, strict=True):
        x, y, wide, high = map_["place"]
        a, b, c, d, left, top = (
            float(each) for each in re.findall(r"-?[\d.]+", present(image.get("transform")))
        )
        assert (b, c, image.get("width"), image.get("height")) == (0, 0, "2", "2")  # a pixel for each cell
        place = (x * width, y * height, wide * width, high * height)
        assert place == pytest.approx((left, top, 2 * a, 2 * d), abs=0.5)
        assert 0 < y < y + high < 1


def test_a_mesh_brings_its_cells_from_the_top_too():
    words = ["dog", "chases", "cat"]
    weights = np.arange(9).reshape(3, 3) / 9
    svg = order.shuffled_weights(words, [2, 1, 0], weights, weights[::-1, ::-1]).svg
    first, second = json.loads(present(ElementTree.fromstring(svg).get("data-cells")))
    assert (first["down"], first["across"]) == (["query", *words], ["key", *words])
    assert second["down"] == ["query", *words[::-1]]
    np.testing.assert_allclose(first["numbers"], weights, rtol=5e-3)
    np.testing.assert_allclose(second["numbers"], weights[::-1, ::-1], rtol=5e-3)
    for map_ in (first, second):
        x, y, wide, high = map_["place"]
        assert min(x, y, wide, high) > 0
        assert max(x + wide, y + high) < 1


def test_lines_of_text_are_placed_by_what_they_are_aligned_at():
    """The page has another face, and other words in other languages."""
    with canvas(width=3, height=2) as figure:
        axes = figure.subplots()
        axes.axis("off")
        axes.text(0.5, 0.5, "one line\nand a longer one", ha="center", transform=figure.transFigure)
        axes.text(0.9, 0.2, "another\nright", ha="right", transform=figure.transFigure)
        svg = finish(figure, alt=ALT).svg
    root = ElementTree.fromstring(svg)
    lines = {each.text: each for each in root.iter("{http://www.w3.org/2000/svg}text")}
    for words, anchor, x in (
        ("one line", "middle", 108),
        ("and a longer one", "middle", 108),
        ("right", "end", 194.4),
    ):
        assert f"text-anchor: {anchor}" in present(lines[words].get("style"))
        assert float(present(lines[words].get("x"))) == pytest.approx(x, abs=0.5)
    assert lines["another"].get("x") == lines["right"].get("x")


def told_curves(picture) -> list:
    return json.loads(ElementTree.fromstring(picture.svg).get("data-curves", "[]"))


def test_a_chart_brings_the_points_of_its_curves_and_where_they_lie():
    lengths = [128, 256, 512]
    with canvas(width=7, height=3) as figure:
        left, right = figure.subplots(1, 2)
        left.plot(lengths, [1.23456, math.nan, 0.00098765], label="RoPE\n(base 500)", marker="o")
        left.plot(lengths, [1, 2, 3])
        right.plot([0, 1], [1, 1], color=COLOURS[0])
        left.axhline(2)
        left.set_xscale("log", base=2)
        left.set_xticks(lengths, ["128", "256", "512"])
        left.set_title("losses")
        right.errorbar([0, 1], [3, 4], yerr=[0.1, 0.2], label="cost", capsize=3)
        right.set_xticks([0, 1], ["4,096", "far"])
        right.plot([0, 1, 2], [3, 99, 3.5], color="red", label="leaves")
        right.set_xlim(-0.5, 1.5)
        right.set_ylim(5, 0)
        for axes in (left, right):
            axes.set_xlabel("position")
            axes.set_ylabel("loss (nats)")
        drawn = finish(figure, alt=ALT)
    first, second = told_curves(drawn)
    assert first["title"] == "losses"
    assert first["curves"] == [
        {"name": "RoPE\n(base 500)", "x": [128, 512], "y": [1.235, 0.0009877]},
        {"name": "", "x": lengths, "y": [1, 2, 3]},
    ]
    assert (first["across"]["label"], first["down"]["label"]) == ("position", "loss (nats)")
    assert first["across"]["log"]
    assert "ticks" not in first["across"]  # they say their numbers
    assert not first["down"]["log"]
    assert second["curves"] == [
        {"name": "RoPE\n(base 500)", "x": [0, 1], "y": [1, 1]},  # it looks like it
        {"name": "cost", "x": [0, 1], "y": [3, 4]},
        {"name": "leaves", "x": [0], "y": [3]},
    ]
    assert second["down"]["ends"] == [5, 0]
    assert second["across"]["ticks"] == {"0": "4,096", "1": "far"}
    # Told where it is drawn: the marks of the first curve.
    root = ElementTree.fromstring(drawn.svg)
    width, height = (float(each) for each in present(root.get("viewBox")).split()[2:])
    blue = f"fill: {COLOURS[0].lower()}"
    used = root.iter("{http://www.w3.org/2000/svg}use")
    marks = [each for each in used if blue in present(each.get("style")).lower()][:2]
    x0, y0, wide, high = first["place"]
    low, top = first["down"]["ends"]
    begin, end = (math.log(each) for each in first["across"]["ends"])
    for mark, x, y in zip(marks, (128, 512), (1.23456, 0.00098765), strict=True):
        across, down = (math.log(x) - begin) / (end - begin), (top - y) / (top - low)
        assert float(present(mark.get("x"))) / width == pytest.approx(x0 + wide * across, abs=0.002)
        assert float(present(mark.get("y"))) / height == pytest.approx(y0 + high * down, abs=0.002)


def test_of_a_long_curve_a_hundred_points_are_told_and_its_ends_its_top_and_its_bottom():
    values = np.sin(np.arange(5000) / 100)
    values[[1234, 4321]] = 7, -7
    with canvas() as figure:
        axes = figure.subplots()
        axes.plot(values)
        axes.set_xlabel("position")
        axes.set_ylabel("value")
        (chart,) = told_curves(finish(figure, alt=ALT))
    (curve,) = chart["curves"]
    assert MOST_POINTS <= len(curve["x"]) <= MOST_POINTS + 2
    assert (curve["x"][0], curve["x"][-1]) == (0, 4999)
    np.testing.assert_allclose(curve["y"], values[np.array(curve["x"], dtype=int)], rtol=1e-3, atol=1e-12)
    assert (max(curve["y"]), min(curve["y"])) == (7, -7)


def test_a_sketch_and_a_picture_that_moves_tell_no_points():
    with canvas() as figure:
        axes = figure.subplots()
        axes.plot([1, 2, 3])
        axes.set_xlabel("position")
        axes.set_ylabel("loss")
        assert told_curves(finish(figure, alt=ALT))
        assert not told_curves(finish(figure, alt=ALT, tells=False))
        assert not told_curves(finish(figure, alt=ALT, moves=[draw(*axes.get_lines(), start=0, end=1)]))
        axes.set_yticks([])
        assert not told_curves(finish(figure, alt=ALT))


@pytest.mark.parametrize("shape", [(1, 30), (40, 31)])
def test_a_strip_without_words_and_a_map_of_too_many_cells_bring_none(shape):
    with canvas() as figure:
        axes = figure.subplots()
        axes.imshow(np.zeros(shape))
        if shape[0] == 1:
            axes.axis("off")
        axes.set_xlabel("column")
        axes.set_ylabel("position")
        assert "data-cells" not in finish(figure, alt=ALT).svg


def test_a_label_that_is_wider_in_another_face_is_not_cut_off_at_the_edge():
    """A notebook does not have the site's face, and SVG hides what is outside unless it is told otherwise."""
    with canvas() as figure:
        axes = figure.subplots()
        axes.set(title="a long title", xlabel="x", ylabel="y")
        svg = finish(figure, alt=ALT).svg
    assert "overflow:visible" in svg.partition(">")[0]


@pytest.mark.parametrize("size", [8, 9, 11])
def test_no_page_is_too_narrow_for_its_text(size):
    with canvas() as figure:
        axes = figure.subplots()
        axes.semilogy([1, 1000])  # with exponents, which are small
        axes.set_xlabel("position", fontsize=size)
        axes.set_ylabel("value")
        svg = finish(figure, alt=ALT).svg
    least, width = (
        float(present(re.search(start + r"([\d.]+)", svg))[1]) for start in ("min-width:", 'viewBox="0 0 ')
    )
    assert "8.47px" in svg
    assert least / width * size * picture.LARGER >= 0.99 * picture.LEGIBLE


def test_a_picture_has_no_coordinates_finer_than_one_sees():
    svg = line().svg
    drawn = re.findall(r'\sd="([^"]+)"', svg)
    assert drawn
    assert not re.search(r"\d\.\d{2}", "".join(drawn))


def test_two_pictures_on_a_page_share_no_id_and_the_same_one_is_drawn_twice_alike():
    def ids(svg: str) -> set[str]:
        return set(re.findall(r'\bid="([^"]+)"', svg))

    one, other = line().svg, line(label="another value").svg
    assert ids(one)
    assert not ids(one) & ids(other)
    assert line().svg == one
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', one))
    assert used <= ids(one)


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("ground", ["#ffffff", "#121212"])
def test_lines_stand_out_on_light_and_dark(colour, ground):
    """WCAG 2.1, success criterion 1.4.11: graphical objects have a contrast of at least 3 : 1."""
    bright, dark = sorted((_luminance(colour), _luminance(ground)), reverse=True)
    assert (bright + 0.05) / (dark + 0.05) >= 3


def test_the_readmes_pictures_are_current():
    for name, svg in readme_pictures().items():
        current = (ROOT / "book" / "_static" / name).read_text() == svg  # no listing of the whole picture
        assert current, "run `python -m posenc_course.figures.readme`"
