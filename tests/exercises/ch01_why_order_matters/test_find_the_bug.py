"""`01-why-order-matters.find_the_bug`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from posenc_course.checking import report_on
from posenc_course.exercises.ch01_why_order_matters.find_the_bug import (
    _OF_ANY_OTHER,
    FIND_THE_BUG,
    NUMBERED,
)
from tests.present import present

ROOT = Path(__file__).resolve().parents[3]


MENDED = {
    "A": "    return projected.reshape(n, heads, head_dim).transpose(1, 0, 2)",
    "B": "    scale = 1 / np.sqrt(dim // heads)",
    "C": "        seen = slice(t + 1)",
    "D": "    peak = np.max(scores, axis=-1, keepdims=True)",
    "E": "    q, k, v = np.split(projected, 3, axis=1)",
}


def program(letter, mended=False):
    text = (ROOT / "solutions" / "01-why-order-matters.md").read_text()
    _, _, rest = text.partition(f"<summary>Listing {letter}</summary>\n\n```python\n")
    lines = rest.partition("```")[0].split("\n")
    broken = dict(zip("ABCDE", FIND_THE_BUG.reference(), strict=True))[letter]
    numbered = [line for line in lines if line.strip()]
    assert [int(present(re.search(r"# (\d+)$", line))[1]) for line in numbered] == list(
        range(1, len(numbered) + 1)
    )
    assert set(range(1, len(numbered) + 1)) == NUMBERED
    if mended:
        lines[lines.index(numbered[broken - 1])] = MENDED[letter]
    names: dict[str, object] = {}
    exec("\n".join(lines), names)
    return names["layer"]


def right_layer(x, w_q, w_k, w_v, w_o, heads):
    q, k, v = (torch.tensor(x @ w).reshape(len(x), heads, -1).transpose(0, 1) for w in (w_q, w_k, w_v))
    mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    return x + mixed.transpose(0, 1).reshape(x.shape).numpy() @ w_o


def inputs(heads, n=5, dim=8):
    rng = np.random.default_rng(heads)
    return [rng.normal(size=(n, dim)), *rng.normal(size=(4, dim, dim)) / 3, heads]


@pytest.mark.parametrize("letter", MENDED)
@pytest.mark.parametrize("heads", [1, 2, 4])
def test_a_program_is_right_once_its_broken_line_is_mended(letter, heads):
    np.testing.assert_allclose(program(letter, mended=True)(*inputs(heads)), right_layer(*inputs(heads)))


def test_what_users_noticed_of_the_broken_programs_is_so():
    wrong = {
        letter: [
            np.abs(program(letter)(*inputs(heads)) - right_layer(*inputs(heads))).max(axis=1) > 1e-9
            for heads in (1, 2)
        ]
        for letter in MENDED
    }
    assert not wrong["A"][0].any()
    assert wrong["A"][1].any()
    x, *rest = inputs(2)
    changed = x.copy()
    changed[len(x) // 2] += 1.0
    assert np.abs(program("A")(changed, *rest) - program("A")(x, *rest))[0].max() > 1e-3
    assert not wrong["B"][0].any()
    assert wrong["B"][1][1:].all()
    assert all(not each[0] and each[1:].all() for each in wrong["C"])
    assert not any(each.any() for each in wrong["D"])
    x[2] *= 1e4
    with np.errstate(all="ignore"):
        assert np.isnan(program("D")(x, *rest)).any(axis=1).sum() >= 1
        assert np.isfinite(program("D", mended=True)(x, *rest)).all()
    x, w_q, w_k, w_v, w_o, heads = inputs(2)
    assert wrong["E"][0].all()
    np.testing.assert_allclose(
        program("E")(x, w_q, w_v, w_k, w_o, heads), right_layer(x, w_q, w_k, w_v, w_o, heads)
    )


LINES = FIND_THE_BUG.reference()


NO_LINE = "One of your numbers is not at the end of any line"


def test_of_a_line_that_is_not_there_it_is_not_said_that_it_does_its_work():
    report = report_on(FIND_THE_BUG.id, (30, 12, 9, 3, 14))
    assert report.notes[0].startswith(NO_LINE)
    assert "does its work" not in str(report)


NOT_KNOWN = (
    *(("find_the_bug", (9, 12, 9, line, 14), NO_LINE) for line in (0, -3, 25, 9.5)),
    ("find_the_bug", (9, 12, 9, 3, 20), "listing E"),
    *(
        ("find_the_bug", (*LINES[:place], line, *LINES[place + 1 :]), f"In listing {letter}, ")
        for place, letter in enumerate(MENDED)
        for line in range(1, 25)
        if line != LINES[place]
    ),
    ("find_the_bug", (23, 12, 9, 4, 14), "In listing A, line 23 is innocent"),
    ("find_the_bug", (23, 12, 9, 4, 14), "In listing D, line 4 subtracts"),
)


def test_the_row_that_the_learner_is_sent_to_is_a_wrong_one():
    x = np.arange(12).reshape(3, 4)
    as_listed, right = x.reshape(2, 3, 2), x.reshape(3, 2, 2).swapaxes(0, 1)
    for text in (FIND_THE_BUG.hints[1], _OF_ANY_OTHER["A"]):
        row, head = map(int, present(re.search(r"row (\d) of head (\d)", text)).groups())
        assert (as_listed[head, row] != right[head, row]).any()
