"""The pictures of chapter 1: what they draw has the properties that the page and the alt texts claim."""

from __future__ import annotations

import re

import numpy as np
import pytest

from posenc_course.figures import order as pictures

WORDS = ["dog", "chases", "cat"]
WEIGHTS = np.array([[0.5, 0.3, 0.2], [0.25, 0.6, 0.15], [0.08, 0.02, 0.9]])


def texts(picture) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg)


@pytest.mark.parametrize("order", [[2, 1, 0], [1, 2, 0], [0, 1, 2]])
def test_shuffled_weights_writes_each_weight_in_both_sentences(order):
    after = WEIGHTS[order][:, order]
    picture = pictures.shuffled_weights(WORDS, order, WEIGHTS, after)
    written = texts(picture)
    for weight in WEIGHTS.flat:
        assert written.count(f"{weight:.2f}") == 2
    shuffled = " ".join(WORDS[i] for i in order)
    assert f"“{shuffled}”" in written
    assert f"“{shuffled}”" in picture.alt
    assert f"to row {order.index(0) + 1}" in picture.alt


def test_one_bag_shows_each_word_in_both_sentences_and_once_in_the_bag():
    picture = pictures.one_bag("dog chases cat", "cat chases dog")
    for word in WORDS:
        assert texts(picture).count(word) == 3
    with pytest.raises(ValueError, match="different bags"):
        pictures.one_bag("dog chases cat", "dog sees cat")
    assert texts(pictures.one_bag("a cat sees dogs", "dogs a cat sees")).count("dogs") == 3


@pytest.mark.parametrize("weights", [[0.47, 0.06, 0.47], [0.1, 0.2, 0.7]])
def test_one_query_draws_each_weight_as_a_line_as_a_number_and_as_a_part_of_the_mixture(weights):
    picture = pictures.one_query(WORDS, weights, asks="chases")
    widths = [float(w) for w in re.findall(r"opacity: 0.75; stroke-width: ([\d.]+)", picture.svg)]
    assert np.argsort(widths, kind="stable").tolist() == np.argsort(weights, kind="stable").tolist()
    for word, weight in zip(WORDS, weights, strict=True):
        assert f"{weight:.2f}" in texts(picture)
        assert f"{weight:.2f} {word}" in texts(picture)
        assert f"{weight:.2f} to “{word}”" in picture.alt


def test_the_root_keeps_the_keys_sharing_and_nothing_else_changes():
    widths = (4, 64, 1024)
    found = pictures.weights_by_width(widths)
    for plain, divided, width in zip(found[False], found[True], widths, strict=True):
        np.testing.assert_allclose(np.log(plain / plain[0]), np.log(divided / divided[0]) * np.sqrt(width))
        assert plain.sum() == pytest.approx(1)
    picture = pictures.with_and_without_the_root(widths)
    assert f"{found[False][2].max():.2f}: it grows" in picture.alt
    assert [f"d = {width}" for width in widths] == [
        text for text in texts(picture) if text.startswith("d = ")
    ]


def test_shuffled_weights_refuses_weights_that_do_not_move_with_the_words():
    with pytest.raises(ValueError, match="rows and columns moved"):
        pictures.shuffled_weights(WORDS, [2, 1, 0], WEIGHTS, WEIGHTS)
    with pytest.raises(ValueError, match="rows and columns moved"):
        pictures.shuffled_weights(WORDS, [2, 1, 0], WEIGHTS, WEIGHTS[[2, 1, 0]])


@pytest.mark.parametrize("tokens", [1, 2, 8])
def test_a_causal_average_of_a_mark_is_one_over_the_tokens_seen(tokens):
    weights, read = pictures.causal_average(tokens)
    for query in range(tokens):
        for key in range(tokens):
            assert weights[query, key] == pytest.approx(1 / (query + 1) if key <= query else 0)
        assert read[query] == pytest.approx(1 / (query + 1))


def test_the_reading_of_a_mark_names_every_fraction():
    written = texts(pictures.reading_of_a_mark(8))
    assert [f"1/{n}" for n in range(1, 9)] == [text for text in written if re.fullmatch(r"1/\d+", text)]


CURVES = {
    ("bag", "no positions"): [0.4, 0.9, 1.0],
    ("bag", "added"): [0.5, 0.95, 0.99],
    ("order", "no positions"): [0.5, 0.5, 0.5],
    ("order", "added"): [0.5, 0.7, 1.0],
}


def test_learning_curves_has_a_panel_a_task_and_says_where_each_line_ends():
    picture = pictures.learning_curves(CURVES, every=10)
    written = texts(picture)
    assert written.count("bag") == written.count("order") == 1
    assert written.count("no positions") == written.count("added") == 1  # one legend
    assert written.count("chance") == 2
    assert "Task “order”, no positions: from 50% to 50%." in picture.alt
    assert "Task “bag”, added: from 50% to 99%." in picture.alt


def test_lines_differ_by_dash_and_marker_too():
    svg = pictures.learning_curves(CURVES, every=10).svg
    shapes = {
        "".join(re.findall("[A-Z]", d.upper())) for d in re.findall(r'<path id="[^"]+" d="([^"]+)"', svg)
    }
    assert any("C" in shape for shape in shapes), "the circles of one line"
    assert "MLLLZ" in shapes, "the squares of the other"
    assert "stroke-dasharray" in svg


def scores_up_to_a_row_constant(weights):
    return np.log(weights) - np.log(np.diag(weights))[:, None]


@pytest.mark.parametrize("tokens", [5, 8])
def test_only_rotated_and_biased_weights_depend_on_distance_alone(tokens):
    doors = pictures.weights_by_door(tokens)
    np.testing.assert_allclose(doors["no door"], 1 / tokens)
    for name, weights in doors.items():
        np.testing.assert_allclose(weights.sum(axis=-1), 1)
        scores = scores_up_to_a_row_constant(weights)
        along = [np.ptp(np.diag(scores, d)) for d in range(1 - tokens, tokens)]
        assert (max(along) < 1e-9) == (name != "added"), name


def test_the_alt_text_of_the_doors_is_true():
    doors = pictures.weights_by_door(8)
    diagonal = np.arange(8)
    for name in ("rotated", "biased"):
        weights = doors[name]
        assert np.array_equal(weights.argmax(axis=-1), diagonal), name
        for t in range(1, 7):
            assert weights[t, t] > weights[t, t - 1] > weights[t].min()
            assert weights[t, t] > weights[t, t + 1] > weights[t].min()
    assert not np.array_equal(doors["added"].argmax(axis=-1), diagonal)


@pytest.mark.parametrize(
    "draw",
    [pictures.three_doors, pictures.reading_of_a_mark, lambda: pictures.learning_curves(CURVES, every=10)],
    ids=["doors", "mark", "curves"],
)
def test_pictures_take_the_text_colour_of_the_page(draw):
    svg = draw().svg
    assert "currentColor" in svg
    assert "#000000" not in svg
