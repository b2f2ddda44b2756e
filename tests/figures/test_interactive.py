"""The figures that a reader moves: settings, still pictures, and the directive that puts them on a page."""

import html
import io
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from sphinx.application import Sphinx

from posenc_course.colours import NAMED
from posenc_course.figures import interactive
from posenc_course.figures.interactive import FIGURES

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", FIGURES)
def test_a_slider_has_distinct_values_in_order_and_starts_at_one_of_them(name):
    for slider in FIGURES[name].sliders:
        assert list(slider.values) == sorted(set(slider.values))
        assert slider.start in slider.values
        assert len(slider.values) >= 3


@pytest.mark.parametrize("name", FIGURES)
def test_the_still_picture_is_described_and_the_same_every_time(name):
    still = FIGURES[name].picture()
    assert len(still.alt) > 120
    assert "{" not in still.alt
    assert still.svg == FIGURES[name].picture().svg
    assert "currentColor" in still.svg


@pytest.mark.parametrize("key", [9, 15])
def test_words_are_apart_by_a_distance_on_either_side(key):
    assert ", 3 positions apart" in interactive.ruler(query=12, key=key, shift=0).alt


@pytest.mark.parametrize("name", FIGURES)
def test_it_can_be_drawn_at_both_ends_of_every_slider(name):
    for slider in FIGURES[name].sliders:
        for end in (slider.values[0], slider.values[-1]):
            assert FIGURES[name].at(**{slider.name: end}).picture().alt


def test_starting_elsewhere_moves_the_start_alone():
    moved = FIGURES["clocks"].at(position=41.0)
    assert [slider.start for slider in moved.sliders] == [41, 8]
    assert "position 41 and" in moved.picture().alt
    assert [slider.start for slider in FIGURES["clocks"].sliders] == [40, 8]


def test_a_wrong_start_is_refused_with_what_is_allowed():
    with pytest.raises(ValueError, match=r"no slider 'base' here; the sliders are position, dim"):
        FIGURES["clocks"].at(base=100)
    with pytest.raises(ValueError, match=r"dim=7 is not a value of this slider; give one of 4, 8, 16"):
        FIGURES["clocks"].at(dim=7)


@pytest.mark.parametrize(("dim", "rise"), [(64, 5), (512, 43)])
def test_the_dot_product_tells_its_first_rise(dim, rise):
    alt = FIGURES["dot-product"].at(dim=dim).picture().alt
    assert f"for the first time after offset {rise}," in alt
    assert f"largest, {dim // 2}," in alt


def test_a_falling_series_has_no_rise():
    assert interactive.first_rise(np.array([3.0, 2.0, 2.0, 1.0])) is None
    assert interactive.first_rise(np.array([3.0, 1.0, 2.0, 1.0, 5.0])) == 1


def test_the_score_told_for_rope_is_that_of_the_turned_pairs():
    angle = 0.1 * 8
    query, key = np.array(interactive.QUERY), np.array(interactive.KEY)
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    told = f"{query @ turn @ key:.3f}"
    for shift in (0, 50):
        assert f"of the two arrows, {told}." in FIGURES["rotary"].at(shift=shift).picture().alt


def test_the_numbers_told_for_alibi_are_the_papers():
    alt = FIGURES["alibi"].picture().alt
    assert "from 0.5 down to 0.00391" in alt
    assert "At distance 50 the steepest is at -25 and the gentlest at -0.195" in alt


def _page(tmp_path: Path, body: str) -> tuple[str, str]:
    """The HTML of a page with this body, and what Sphinx complained about."""
    (tmp_path / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT / 'book' / '_ext')!r})\n"
        "extensions = ['myst_parser', 'live_figure']\n"
    )
    (tmp_path / "index.md").write_text(f"# A page\n\n{body}\n")
    warnings = io.StringIO()
    built = tmp_path / "html"
    Sphinx(tmp_path, tmp_path, built, built, "html", status=None, warning=warnings).build()
    return (built / "index.html").read_text(), warnings.getvalue()


def test_the_directive_writes_the_picture_the_settings_and_the_text(tmp_path):
    page, _ = _page(tmp_path, "```{live-figure} clocks\n:position: 41\n\nLook at **pair 0**.\n```")
    [(colours, name, sliders)] = re.findall(
        r'<div class="posenc-figure-live" style="(.*?)" data-figure="(.*?)" data-sliders="(.*?)">', page
    )
    assert dict(each.removeprefix("--").split(":") for each in colours.split(";")) == NAMED
    assert name == "clocks"
    assert [(s["name"], s["start"]) for s in json.loads(html.unescape(sliders))] == [
        ("position", 41),
        ("dim", 8),
    ]
    assert FIGURES["clocks"].at(position=41).picture().svg in page
    assert "<p>Look at <strong>pair 0</strong>.</p>" in page


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("```{live-figure} clock\nText.\n```", "there is no live figure 'clock'; there are heatmap, clocks"),
        (
            "```{live-figure} clocks\n:dim: 7\n\nText.\n```",
            "dim=7 is not a value of this slider; give one of 4, 8, 16",
        ),
        (
            "```{live-figure} clocks\n:base: 10\n\nText.\n```",
            "no slider 'base' here; the sliders are position, dim",
        ),
        ("```{live-figure} clocks\n:size: 3\n\nText.\n```", "size"),
        ("```{live-figure} clocks\n:dim: wide\n\nText.\n```", "wide"),
        ("```{live-figure} clocks\n```", "has no text; say in it what a reader should look at"),
    ],
    ids=["unknown figure", "no such value", "no such slider here", "unknown option", "no number", "no text"],
)
def test_a_faulty_directive_is_a_warning_that_says_what_to_do(tmp_path, body, told):
    _, warnings = _page(tmp_path, body)
    assert told in warnings
