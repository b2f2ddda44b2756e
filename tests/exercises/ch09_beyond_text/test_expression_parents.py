"""`09-beyond-text.expression_parents`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import ast

import numpy as np

from posenc_course.exercises.ch09_beyond_text.expression_parents import EXPRESSION_PARENTS, _children
from tests.exercises.ch09_beyond_text.shared import SEEDS


def test_parents_are_those_of_a_walk_by_source_places():
    """Every expression lies within its parent's text, and nothing between the two does."""
    for seed in SEEDS:
        for case in EXPRESSION_PARENTS.cases(seed):
            source = case.args[0]
            tree = ast.parse(source, mode="eval").body
            count = sum(isinstance(each, ast.expr) for each in ast.walk(tree))
            parents = EXPRESSION_PARENTS.reference(source)
            assert len(parents) == count
            below = np.bincount(parents[1:], minlength=count)
            kinds = [len(_children(each)) for each in ast.walk(tree) if isinstance(each, ast.expr)]
            assert sorted(below) == sorted(kinds)


NOT_KNOWN = (("expression_parents", lambda source: [-1] * len(source), None),)


WRITTEN_IN_ANOTHER_WAY = (
    (
        "expression_parents",
        lambda source: (
            lambda nodes: [
                next((n for n, each in enumerate(nodes) if node in ast.iter_child_nodes(each)), -1)
                for node in nodes
            ]
        )([each for each in ast.walk(ast.parse(source, mode="eval").body) if isinstance(each, ast.expr)]),
        "level-by-level",
    ),
)
