"""`02-the-formula.bug_lines`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.checking import report_on
from posenc_course.exercises.ch02_the_formula.bug_lines import BUG_LINES, NUMBERED, RIGHT_LINES
from tests.exercises.ch02_the_formula.shared import exact_row, program, rows_of

MENDED = {
    "A": "        angle = position / base ** (i / dim)",
    "B": "    theta = np.arange(length)[:, None] * rates",
    "C": "        theta = 2 * np.pi * self.turns(positions)",
    "D": "    return np.exp(-np.log(base) * exponents)",
    "E": "    return x + table[:n]",
}


@pytest.mark.parametrize(("name", "number"), list(zip("ABCDE", RIGHT_LINES, strict=True)))
def test_a_program_is_wrong_and_its_line_mends_it(name, number, capsys):
    lines = program(name)
    numbered = [line for line in enumerate(lines, start=1) if line[1]]
    assert all(text.endswith(f"# {n}") for n, text in numbered)
    assert {n for n, _ in numbered} == NUMBERED[name]
    right = [exact_row(position, 8) for position in range(4)]
    assert not np.allclose(rows_of(name, lines), right, atol=1e-3)
    mended = [*lines[: number - 1], MENDED[name], *lines[number:]]
    assert rows_of(name, mended) == pytest.approx(np.asarray(right), abs=1e-9)


def test_of_an_empty_line_it_is_not_said_that_it_does_its_work():
    assert "does its work" not in str(report_on(BUG_LINES.id, (14, *RIGHT_LINES[1:])))


NOT_KNOWN = (
    ("bug_lines", [10, 14, 17, 8, 20], "program B"),
    *(
        (
            "bug_lines",
            (*RIGHT_LINES[:place], line, *RIGHT_LINES[place + 1 :]),
            f"In program {letter}, " if line in NUMBERED[letter] else "not at the end of any line",
        )
        for place, letter in enumerate("ABCDE")
        for line in range(28)
        if line != RIGHT_LINES[place]
    ),
)
