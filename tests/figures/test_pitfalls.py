"""What the pictures of `05-pitfalls` draw, against independent values."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from posenc_course.exercises.ch05_pitfalls.padding_fault import Summariser
from posenc_course.figures import pitfalls
from posenc_course.figures.picture import Picture
from posenc_lib import sinusoidal

RATIOS = [1 / 64, 1, 64]
SHARES = {"what": [0.125, 0.75, 0.25], "where": [0.0, 1.0, 0.5]}


def scale_and_tasks() -> Picture:
    return pitfalls.scale_and_tasks(RATIOS, SHARES, {"what": [0, 0.5, 1], "where": [0, 0.1, 1]})


def tables() -> Picture:
    table = sinusoidal(20, 8)
    return pitfalls.tables_on_display({"A": table, "B": table.round(), "C": table[:, [0, 1] * 4], "D": table})


def losses() -> Picture:
    return pitfalls.loss_by_place({"one": np.ones(4), "other": np.zeros(4)}, 2.0, "One lies above the other.")


PICTURES = (scale_and_tasks, pitfalls.line_up, pitfalls.one_clock, tables, losses)


def texts(picture: Picture) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg)


def test_bfloat16_is_rounded_as_torch_rounds_it():
    rng = np.random.default_rng(0)
    numbers = np.concatenate(
        [rng.normal(size=1000), 10 ** rng.uniform(-30, 30, 1000), np.arange(1000), [0, -0.0, 256.5, 257, 259]]
    )
    theirs = torch.tensor(numbers, dtype=torch.float32).to(torch.bfloat16).double().numpy()
    np.testing.assert_array_equal(pitfalls.to_bfloat16(numbers), theirs)


@pytest.mark.parametrize("position", [3, 257, 4095, 9999])
def test_what_was_rounded_is_what_torch_rounds(position):
    """By way of tensors, pair by pair."""
    dim, one = 16, torch.tensor([float(position)], dtype=torch.float64)
    rates = torch.tensor([10000 ** (-2 * i / dim) for i in range(dim // 2)], dtype=torch.float64)

    def rounded(numbers):
        return numbers.float().bfloat16().double()

    theta = {
        "exact": one * rates,
        "table rounded": one * rates,
        "frequencies rounded": one * rounded(rates),
        "positions rounded": rounded(one) * rates,
    }
    for form in pitfalls.FORMS:
        expected = torch.stack([theta[form].sin(), theta[form].cos()], dim=-1).flatten()
        expected = rounded(expected) if form == "table rounded" else expected
        row = pitfalls.rounded_rows(form, np.array([position]), dim)[0]
        np.testing.assert_allclose(row, expected.numpy(), atol=1e-9)


def test_the_alt_text_of_the_clock_is_true():
    positions = np.arange(1800, 1864)
    waves = {form: pitfalls.rounded_rows(form, positions)[:, 16] for form in pitfalls.FORMS}
    assert np.abs(waves["table rounded"] - waves["exact"]).max() < 0.003
    assert 0.02 < np.abs(waves["frequencies rounded"] - waves["exact"]).max() < 0.5
    assert len(np.unique(waves["frequencies rounded"].round(9))) == 64
    assert len(np.unique(waves["positions rounded"].round(9))) == 9


def test_the_line_up_has_one_guilty_and_each_suspect_its_own_answers():
    """A model with each fault, put to the tests of the picture."""
    kinds = {
        "seen": "attention sees padding",
        "moved": "padding takes up positions",
        "counted": "the mean counts padding",
    }
    for fault, suspect in kinds.items():
        model = Summariser(fault, 7)

        def answer(*padding, behind=False, model=model):
            words, real = [3, 1, 4], [1, 1, 1]
            pads = [0] * len(padding)
            return model(
                np.array([*words, *padding] if behind else [*padding, *words]),
                np.array(real + pads if behind else pads + real),
            )

        alone, before = answer(), answer(5, 5)
        tests = (
            not np.allclose(answer(6, 8), before),
            not np.allclose(answer(5, 5, behind=True), alone),
            np.allclose(before / np.linalg.norm(before), alone / np.linalg.norm(alone)),
        )
        assert not np.allclose(alone, before)
        assert pitfalls.SUSPECTS[suspect] == tests
    assert len(set(pitfalls.SUSPECTS.values())) == len(pitfalls.SUSPECTS)
    assert pitfalls.GUILTY in pitfalls.SUSPECTS


def test_the_alt_text_of_the_tasks_holds_every_share():
    alt = scale_and_tasks().alt
    assert "What is learned, task “what”: 12% at 1/64, 75% at 1, 25% at 64." in alt
    assert "What attention looks at, task “where”: 0% at 1/64, 10% at 1, 100% at 64." in alt
    assert texts(scale_and_tasks()).count("“what”") == 1  # one legend for both panels


def test_lines_differ_by_dash_and_marker_too():
    svg = scale_and_tasks().svg
    shapes = {
        "".join(re.findall("[A-Z]", d.upper())) for d in re.findall(r'<path id="[^"]+" d="([^"]+)"', svg)
    }
    assert any("C" in shape for shape in shapes), "the circles of one line"
    assert "MLLLZ" in shapes, "the squares of the other"
    assert "stroke-dasharray" in svg


@pytest.mark.parametrize("draw", PICTURES, ids=lambda draw: draw.__name__)
def test_pictures_are_the_same_every_time_and_fit_any_page(draw):
    picture = draw()
    assert draw().svg == picture.svg
    assert "currentColor" in picture.svg
    assert "#000000" not in picture.svg
