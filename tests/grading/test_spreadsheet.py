"""Cells that a spreadsheet program would run are exported as text, and numbers stay numbers."""

from __future__ import annotations

import csv
import io

import pytest

from posenc_course.grading.report.spreadsheet import harmless, is_harmful, write

FORMULAS = (
    "=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0", '=HYPERLINK("http://x";"y")',
    "\t=1", "\r=1", "\n=1", "\tada", " =1", "\N{NO-BREAK SPACE}=1", "\ufeff=1", "\u200b=1", "\x00=1",
    "＝1+1", "＋1", "－1", "＠SUM(A1)", "﹦1", "−1", '"=1', "-2+3+cmd|' /C calc'!A0",
)  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_becomes_text(text):
    assert harmless(text).startswith(f"'{text[0]}")
    assert is_harmful(text)


@pytest.mark.parametrize("separator", [";", "\t", "\n"])
@pytest.mark.parametrize("text", ["=1+1", " @SUM(A1)", '"=1'])
def test_a_formula_after_another_separator_becomes_text_too(separator, text):
    """Where the computer's language writes 1,5 for a half, programs divide cells by semicolons."""
    assert harmless(f"Ada{separator}{text}") == f"Ada{separator}'{text}"


@pytest.mark.parametrize(
    "text",
    [
        "ada",
        "0123",
        "ada-lovelace",
        "ada+x@example.org",
        "a=b",
        "O'Neil",
        "阿达",
        "",
        "Byron, Ada",
        "(-:",
        "3.5",
    ],
)
def test_an_ordinary_cell_stays_as_it_is(text):
    """Other systems find learners by these."""
    assert harmless(text) == text
    assert not is_harmful(text)


@pytest.mark.parametrize(
    ("number", "text"),
    [(-1.5, "-1.5"), (0.0, "0"), (13.0, "13"), (100, "100"), (-3, "-3"), (1 / 3, "0.3333")],
)
def test_numbers_stay_numbers(number, text):
    assert harmless(number) == text
    assert float(harmless(number)) == pytest.approx(number, abs=1e-4)


def test_what_is_written_can_be_read_back():
    file = io.StringIO(newline="")
    rows: list[list[object]] = [["a,b", 'say "no"', "two\nlines", None, -2.5], ["=1", "@x;=2", "", 0, "-2.5"]]
    write(file, rows)
    file.seek(0)
    assert list(csv.reader(file)) == [
        ["a,b", 'say "no"', "two\nlines", "", "-2.5"],
        ["'=1", "'@x;'=2", "", "0", "'-2.5"],
    ]
