"""Every claim of the claims page is settled: by a cell that a wrong function turns red, by a section that
asserts something, or, where no cell of ours could fail, by a source."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from markdown_it.token import Token

from tests.present import present
from tools.claims import PARSER, ROOT, _assertions

BOOK = ROOT / "book"
PAGE = (BOOK / "claims.md").read_text()


class Row(NamedTuple):
    number: str
    has_cell: bool
    verdict: str
    settled: str


ROWS = [
    Row(number, bool(linked), verdict, settled)
    for linked, number, verdict, settled in re.findall(
        r"^\| (\[?)([TF]\d+)(?:\]\(#check-[tf]\d+\))? \|[^|]*\| ([^|]*) \| ([^|]*) \|$", PAGE, re.MULTILINE
    )
]
CELL = r"```\{code-cell\} ipython3\n(?P<options>(?::.*\n)+)(?P<code>[\s\S]*?)\n```"
SETUP = present(re.search(CELL, PAGE))["code"]
CHECKS = {
    found["number"].upper(): found for found in re.finditer(r"\(check-(?P<number>[tf]\d+)\)=\s+" + CELL, PAGE)
}


def test_claims_are_numbered_without_a_gap_and_each_has_a_verdict():
    assert len(ROWS) >= 45
    for letter in "TF":
        numbers = [row.number for row in ROWS if row.number.startswith(letter)]
        assert numbers == [f"{letter}{number}" for number in range(1, len(numbers) + 1)]
    assert [row.number for row in ROWS if not row.verdict.strip() or not row.settled.strip()] == []


def test_each_check_belongs_to_a_claim_that_leads_to_it():
    assert list(CHECKS) == [row.number for row in ROWS if row.has_cell]
    for number, found in CHECKS.items():
        shown, hidden = re.findall(r'code_prompt_(?:show|hide): "(.*?)"', found["options"])
        assert shown == hidden
        assert shown.startswith(f"{number}: ")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.number)
def test_a_claim_is_settled_by_a_cell_a_section_that_asserts_or_a_source(row):
    sections = re.findall(r"\]\(([\w-]+\.md)?#([\w-]+)\)", row.settled)
    asserting = [asserts(page or "claims.md", anchor) for page, anchor in sections]  # a dead link is told
    assert row.has_cell or any(asserting) or "{cite" in row.settled


def asserts(page: str, anchor: str) -> bool:
    """Whether the section computes something that it asserts.

    Raises:
        AssertionError: there is no such section.
    """
    tokens = tokens_of(page)
    headings = [place for place, token in enumerate(tokens) if token.type == "heading_open"]
    named = [place for place in headings if slug(tokens[place + 1].content) == anchor]
    assert named, f"{page} has no section #{anchor}"
    begin = named[0]
    end = next((each for each in headings if each > begin and tokens[each].tag <= tokens[begin].tag), None)
    cells = [token for token in tokens[begin:end] if token.info.startswith("{code-cell}")]
    return any(
        isinstance(node, ast.Name)
        for cell in cells
        for asserted in _assertions(ast.parse(without_options(cell.content)))
        for node in ast.walk(asserted)
    )


@cache
def tokens_of(page: str) -> list[Token]:
    return PARSER.parse((BOOK / page).read_text())


def slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def without_options(cell: str) -> str:
    return TransformerManager().transform_cell(re.sub(r"\A(:.*\n)+", "", cell))


# A check that passes whatever the library does is none.


@pytest.mark.parametrize("number", CHECKS)
def test_a_check_passes_and_fails_with_each_function_of_it_broken(number):
    used = run(number)
    assert used, "it calls no function that could be wrong"
    for name in used:
        with pytest.raises(AssertionError), np.errstate(all="ignore"):
            run(number, broken=name)


def run(number: str, broken: str | None = None) -> list[str]:
    """Run a check, with one function giving something else than it should; the functions that it names."""
    names: dict[str, Any] = {}
    code = CHECKS[number]["code"]
    for node in [*ast.parse(SETUP).body, *ast.parse(code).body]:
        exec(compile(ast.Module([node], []), f"the check of {number}", "exec"), names)
        if broken in bound(node):
            names[broken] = spoilt(names[broken])
    called = {each.id for each in ast.walk(ast.parse(code)) if isinstance(each, ast.Name)}
    return sorted(called & {name for node in ast.parse(SETUP + "\n" + code).body for name in bound(node)})


def bound(node: ast.stmt) -> list[str]:
    """The functions that a statement makes or imports from somewhere."""
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    return [each.asname or each.name for each in node.names] if isinstance(node, ast.ImportFrom) else []


def spoilt(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives noise of the shapes of the right results, each time another."""
    calls = count()

    def noise_like(result: Any) -> Any:
        if isinstance(result, tuple):
            return tuple(map(noise_like, result))
        noise = 100 * np.random.default_rng(next(calls)).normal(size=np.shape(result))
        return noise.astype(np.asarray(result).dtype)

    return lambda *args, **kwargs: noise_like(function(*args, **kwargs))
