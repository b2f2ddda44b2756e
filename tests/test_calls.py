"""How long the way of a call through our code is, counted in functions that it runs, never by a clock."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import posenc_course
import posenc_lib
from posenc_course.checking import report_on
from posenc_course.exercises import exercise
from posenc_lib.rotated import apply_rotary, layers_from_config, rope_from_config, rotary_tables, rotate
from posenc_lib.rotated.tables import Layout

OURS = tuple(str(Path(str(each.__file__)).parent) for each in (posenc_lib, posenc_course))
LLAMA = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32}
X, POSITIONS = torch.ones(1, 8, 1, 64), torch.tensor([1_000_000])


def calls_of(act: Callable[[], Any]) -> int:
    """How many functions of ours a call runs, the second time."""
    found = 0

    def seen(frame: Any, event: str, _: Any) -> None:
        nonlocal found
        found += event == "call" and frame.f_code.co_filename.startswith(OURS)

    act()
    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        act()
    finally:
        sys.setprofile(before)
    return found


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize("positions", [1, POSITIONS, POSITIONS[None, None]])
def test_one_token_is_turned_in_few_calls(layout: Layout, positions: Any) -> None:
    assert 0 < calls_of(lambda: apply_rotary(X, positions, layout=layout)) < 60


def test_with_tables_it_takes_fewer_still() -> None:
    tables = rotary_tables(POSITIONS, 64)
    assert 0 < calls_of(lambda: rotate(X, tables)) < 25


@pytest.mark.parametrize("read", [rope_from_config, layers_from_config])
def test_layers_that_are_alike_are_read_once(read: Callable[..., Any]) -> None:
    few, many = (calls_of(lambda n=n: read({**LLAMA, "num_hidden_layers": n})) for n in (1, 32))
    assert 0 < few <= many < few + 32 * 4


FREQUENCIES = exercise("02-the-formula.frequencies")
ANSWERS: dict[str, Callable[[int], Any]] = {
    "right": lambda dim: 10000.0 ** (-np.arange(0, dim, 2) / dim),
    "known": FREQUENCIES.mistakes[0].answer,
    "unknown": lambda dim: 9999.0 ** (-np.arange(0, dim, 2) / dim),
}


MISTAKES = len(FREQUENCIES.mistakes)
"""With each of them an answer is compared whose mistake is not known."""


@pytest.mark.parametrize(
    ("answer", "most"), [("right", 200), ("known", 400), ("unknown", 500 + 45 * MISTAKES)]
)
def test_a_check_does_nothing_twice(answer: str, most: int) -> None:
    report = report_on(FREQUENCIES.id, ANSWERS[answer])
    assert (report.passed, report.mistake is not None) == (answer == "right", answer == "known")
    assert 0 < calls_of(lambda: report_on(FREQUENCIES.id, ANSWERS[answer])) < most
