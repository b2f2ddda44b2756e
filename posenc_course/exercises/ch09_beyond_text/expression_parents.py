"""Code is a tree: Who is above whom?"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import TREE, Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _drawn_expression(rng: Generator, depth: int) -> str:
    def within() -> str:
        return _drawn_expression(rng, depth - 1)

    kind = int(rng.integers(5)) if depth else 5
    name = "abcdefgxyz"[int(rng.integers(10))]
    if kind == 0:
        return f"({within()} {'+-*/'[int(rng.integers(4))]} {within()})"
    if kind == 1:
        return f"{name}({', '.join(within() for _ in range(int(rng.integers(1, 4))))})"
    if kind == 2:
        return f"{name}[{within()}]"
    if kind == 3:
        return f"(-{within()})"
    if kind == 4:
        return f"({within()} < {within()})"
    return name if rng.integers(2) else str(int(rng.integers(100)))


def _source_cases(rng: Generator) -> Iterator[Case]:
    yield Case("f(g(x), y)", ("f(g(x), y)",))
    yield Case("one name", ("x",))
    yield Case("a * b + c", ("a * b + c",))
    yield Case("a * (b + c)", ("a * (b + c)",))
    yield Case("-x[0] < 3 and y", ("-x[0] < 3 and y",))
    for _ in range(4):
        yield Case("an expression, drawn", (f"h({_drawn_expression(rng, 3)}, {_drawn_expression(rng, 2)})",))


Tree = ast.AST


def _children(node: Tree) -> list[Tree]:
    return [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]


def _parents_with(
    children: Callable[[Tree], Sequence[Tree]] = _children,
    number: Callable[[int, int, int], int] = lambda parent, own, depth: parent,
) -> Callable[[str], list[int]]:
    def parents(source: str) -> list[int]:
        found: list[int] = []

        def visit(node: Tree, parent: int, depth: int) -> None:
            own = len(found)
            found.append(number(parent, own, depth))
            for each in children(node):
                visit(each, own, depth + 1)

        visit(ast.parse(source, mode="eval").body, -1, 0)
        return found

    return parents


_parents = _parents_with()


def _level_by_level(source: str) -> list[int]:
    found, queue = [-1], [(ast.parse(source, mode="eval").body, 0)]
    for node, own in queue:
        for each in _children(node):
            queue.append((each, len(queue)))  # type: ignore[arg-type]
            found.append(own)
    return found


def _children_first(source: str) -> list[int]:
    """Numbers in the order in which a calculation needs them: a node after its children."""
    found: list[int] = []

    def visit(node: Tree) -> int:
        below = [visit(each) for each in _children(node)]
        found.append(-1)
        for each in below:
            found[each] = len(found) - 1
        return len(found) - 1

    visit(ast.parse(source, mode="eval").body)
    return found


def _parents_by_stack(source: str) -> Array:
    found = []
    stack: list[tuple[Tree, int]] = [(ast.parse(source, mode="eval").body, -1)]
    while stack:
        node, parent = stack.pop()
        found.append(parent)
        own = len(found) - 1
        stack += [(each, own) for each in reversed(_children(node))]
    return np.array(found)


def _parents_by_numbers(source: str) -> list[int]:
    """First all nodes, then a table from each to its number."""
    root = ast.parse(source, mode="eval").body

    def walk(node: Tree) -> list[Tree]:
        return [node, *itertools.chain.from_iterable(walk(each) for each in _children(node))]

    nodes = walk(root)
    number = {id(node): place for place, node in enumerate(nodes)}
    found = dict.fromkeys(map(id, nodes), -1)
    for node in nodes:
        found.update({id(each): number[id(node)] for each in _children(node)})
    return [found[id(node)] for node in nodes]


EXPRESSION_PARENTS = Exercise(
    id="09-beyond-text.expression_parents",
    title="Who is above whom?",
    step_of=TREE,
    signature="expression_parents(source: str) -> array of shape (nodes,) of ints",
    points=3,
    minutes=15,
    difficulty=3,
    reference=lambda source: np.array(_parents(source)),
    make_cases=_source_cases,
    properties=(
        Property(
            lambda args, value: bool((np.ravel(value)[:1] == -1).all()),
            "The first node is the root, and its parent is -1.",
        ),
        Property(
            lambda args, value: bool((np.ravel(value) < np.arange(np.size(value))).all()),
            "A parent comes before its children, so its number must be smaller than theirs.",
        ),
    ),
    mistakes=(
        Mistake(
            "level-by-level",
            _level_by_level,
            "You number level by level, as ast.walk does. Number a node, then everything below its first "
            "child, and only then the second child.",
        ),
        Mistake(
            "all-nodes",
            _parents_with(children=lambda node: list(ast.iter_child_nodes(node))),
            "You count operators and contexts such as Load as well. Only nodes of the kind ast.expr count.",
        ),
        Mistake(
            "children-first",
            _children_first,
            "You number a node after its children. Number it before them.",
        ),
        Mistake(
            "from-the-right",
            _parents_with(children=lambda node: _children(node)[::-1]),
            "You visit the children from the last to the first. Visit them in the order of "
            "ast.iter_child_nodes.",
        ),
        Mistake(
            "root-is-its-own",
            _parents_with(number=lambda parent, own, depth: max(parent, 0)),
            "Your root is its own parent. The root has no parent: -1.",
        ),
        Mistake(
            "counted-from-one",
            _parents_with(number=lambda parent, own, depth: parent + 1),
            "You count the nodes from 1. The root is node 0.",
        ),
        Mistake(
            "depths",
            _parents_with(number=lambda parent, own, depth: depth),
            "These are depths. Return the number of the parent.",
        ),
        Mistake(
            "a-row",
            _parents_with(number=lambda parent, own, depth: own - 1),
            "Each node has the one before it as its parent: that is a row, not a tree.",
        ),
        Mistake(
            "own-numbers",
            _parents_with(number=lambda parent, own, depth: own),
            "These are the nodes' own numbers. Return the number of each node's parent.",
        ),
        Mistake(
            "with-the-expression",
            lambda source: [-1, *(each + 1 for each in _parents(source))],
            "Your root is the ast.Expression around the expression. Begin with its body.",
        ),
        Mistake(
            "without-functions",
            _parents_with(children=lambda node: node.args if isinstance(node, ast.Call) else _children(node)),
            "You leave out what is called: in f(x), the name f is a child as well, the first one.",
        ),
        Mistake(
            "all-below-the-root",
            lambda source: [-1] + [0] * (len(_parents(source)) - 1),
            "All your nodes have the root as their parent. Hand each call of your function the number of "
            "its own node.",
        ),
        Mistake(
            "without-constants",
            _parents_with(
                children=lambda node: [each for each in _children(node) if not isinstance(each, ast.Constant)]
            ),
            "You leave out numbers. An ast.Constant is an ast.expr as well.",
        ),
    ),
    alternatives=(_parents_by_stack, _parents_by_numbers, lambda source: _parents(source)),
    hints=(
        '`ast.parse(source, mode="eval").body` is the root. `ast.iter_child_nodes(node)` gives the '
        "children, along with some that do not count.",
        "Write a function within yours that takes a node and the number of its parent. It appends that "
        "number to a list, and calls itself for each child.",
        "The number of the node itself is the length of the list before you append.",
    ),
)
