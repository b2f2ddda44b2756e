"""No exercise is answered by what a reader sees above it: code that does the same, or the number asked for.

Code is compared without its names, its numbers and its layout. What is folded until the exercise has passed
(`until-passed:<function>`), and what no reader sees, does not count.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import jupytext
import numpy as np
import pytest
from nbformat import NotebookNode

from posenc_course.exercises import Exercise, all_exercises, exercises_of, steps_of

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))
from until_passed import exercises_named  # noqa: E402

CHAPTERS = sorted({each.chapter for each in all_exercises()})
ANSWERED_ABOVE = {
    "03-relative-position.four_terms",
}
"""Known ones. This list gets shorter: fold the code, vary the task, or move the code below the exercise."""
REWRITTEN = ("03",)
"""Chapters at work, whose entries may be out of date for a while."""
UNSEEN = {"remove-cell", "remove-input"}
NAME = ast.Name("_")
KEPT = {*dir(builtins), "np", "math", "torch", "posenc_lib"}
"""Names that say what code does; all others are whatever the author called them."""
SMALLEST = 8
"""Pieces of code of fewer nodes say too little to be told again."""
MOST = 0.7
"""The share of an answer that may stand above it."""


class Bare(ast.NodeTransformer):
    """Code without the names and numbers that an author chose.

    A size, and what a function of the author's own gives, is as good as a name.
    """

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(node.id if node.id in KEPT else "_")

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant(0)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return node.operand if isinstance(node.operand, ast.Constant) else node  # -1 is a number

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        is_size = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        return NAME if is_size else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        own = isinstance(node.func, ast.Name) and node.func.id in ("_", "len")
        return NAME if own and all(isinstance(each, ast.Name) for each in node.args) else node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg("_")


def size(node: ast.AST) -> int:
    return sum(isinstance(each, ast.expr) for each in ast.walk(node))


def bare(code: str) -> ast.Module:
    return Bare().visit(ast.parse(code))


def pieces(tree: ast.AST) -> Iterator[ast.AST]:
    """What the statements of some code compute."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(isinstance(each, ast.Subscript) for each in node.targets):
            yield node
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return | ast.Expr):
            if node.value is not None and not isinstance(node.value, ast.Constant):
                yield node.value
        elif isinstance(node, ast.If | ast.While):
            yield node.test
        elif isinstance(node, ast.For | ast.comprehension):
            yield node.iter


@cache
def all_texts(code: str) -> frozenset[str]:
    """Every assignment and expression of some code, bare; none of a sketch that is not Python."""
    try:
        tree = bare(code)
    except SyntaxError:
        return frozenset()
    return frozenset(ast.dump(node) for node in ast.walk(tree) if isinstance(node, ast.expr | ast.Assign))


def share_above(answer: str, above: Iterable[str]) -> float:
    """How much of an answer stands in the pieces of code above it."""
    known_texts = frozenset().union(*map(all_texts, above))
    found = [(size(piece), ast.dump(piece) in known_texts) for piece in pieces(bare(answer))]
    whole = sum(each for each, _ in found)
    return sum(each for each, known in found if known) / whole if whole >= SMALLEST else 0.0


@cache
def cells(chapter: str) -> list[NotebookNode]:
    return jupytext.read(ROOT / "book" / f"{chapter}.md").cells


def seen_above(chapter: str, asked: Exercise) -> tuple[str, list[str]]:
    """What a reader sees before the card of an exercise: prose, and pieces of code."""
    first, *_ = steps_of(asked, exercises_of(chapter))
    prose, code = [], []
    for cell in cells(chapter):
        before, card, _ = cell.source.partition(f"```{{exercise}} {first.id}\n")
        if cell.cell_type == "markdown":
            prose.append(before)
            code += re.findall(r"^```python\n(.*?)^```", before, re.DOTALL | re.MULTILINE)
        else:
            tags = cell.metadata.get("tags", ())
            waits = asked.id in exercises_named(tags, chapter)
            code += [] if waits or UNSEEN & set(tags) else [cell.source]
        if card:
            return "\n".join(prose), code
    raise AssertionError(f"book/{chapter}.md has no card of {first.id}")


def answers(chapter: str) -> dict[str, str]:
    """Function -> the cell that answers it."""
    found = {}
    for cell, check in pairwise(jupytext.read(ROOT / "solutions" / f"{chapter}.md").cells):
        if "### BEGIN SOLUTION" in cell.source:
            [name] = re.findall(rf'check\("{chapter}\.(\w+)"', check.source)
            found[name] = cell.source
    return found


def numbers_above(prose: str) -> np.ndarray:
    """The numbers that a text holds, such as 60,611 or .0312."""
    return np.array([float(each.replace(",", "")) for each in re.findall(r"\d[\d,]*(?:\.\d+)?", prose)])


def telling(value: object) -> list[float]:
    """Of a value, the numbers that do not stand in a text by chance."""
    numbers = value if isinstance(value, tuple) else [value]
    given = [float(each) for each in numbers if isinstance(each, int | float)]
    return [each for each in given if abs(each) >= 100 or (each != round(each) and abs(each) > 0.01)]


def written_above(name: str, answer: str, above: Iterable[str]) -> bool:
    """Whether a function of this name is written out there; one that only calls another is not."""
    whole = sum(size(piece) for piece in pieces(bare(answer)))
    for code in filter(re.compile(rf"^def {name}\(", re.MULTILINE).search, above):
        [own] = [each for each in bare(code).body if getattr(each, "name", "") == name]
        if sum(size(piece) for piece in pieces(own)) > whole / 3:
            return True
    return False


def answered_above(chapter: str) -> dict[str, str]:
    """Id -> how it is answered above, of the exercises of a chapter."""
    found = {}
    solutions = answers(chapter)
    for asked in exercises_of(chapter):
        prose, code = seen_above(chapter, asked)
        if asked.kind == "function":
            share = share_above(solutions[asked.function], code)
            if share > MOST:
                found[asked.id] = f"{share:.0%} of its solution"
            elif written_above(asked.function, solutions[asked.function], code):
                found[asked.id] = "a function of its name is written out"
        elif numbers := telling(asked.reference()):
            known = numbers_above(prose)
            if all(np.isclose(known, each, rtol=asked.relative_tolerance).any() for each in numbers):
                found[asked.id] = f"the text says {numbers}"
    return found


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_answer_stands_above_its_exercise(chapter):
    found = answered_above(chapter)
    known = {each for each in ANSWERED_ABOVE if each.startswith(chapter)}
    assert found.keys() - known == set(), found
    late = known - found.keys() if chapter[:2] not in REWRITTEN else set()
    assert late == set(), "these are answered above no more: take them out of ANSWERED_ABOVE"


def test_a_copy_under_other_names_is_found_and_another_way_is_not():
    answer = """def f(scores):
        raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return raised / raised.sum(axis=-1, keepdims=True)
    """
    copy = "e = np.exp(s - s.max(axis=1, keepdims=True))", "print(e / e.sum(axis=1, keepdims=False))"
    other = "w = torch.softmax(torch.tensor(s), dim=-1)\nprint(w.sum(-1))", "no Python"
    assert share_above(answer, copy) == 1
    assert share_above(answer, copy[:1]) > 0.4
    assert share_above(answer, other) == 0
    assert np.isclose(numbers_above("It is about 60,611 positions."), telling(60611.3), rtol=1e-3).any()
