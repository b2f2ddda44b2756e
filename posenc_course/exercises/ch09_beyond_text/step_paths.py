"""Code is a tree: The way to the root."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import TREE, Generator
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.added.trees import tree_paths


def _drawn_tree(rng: Generator, nodes: int, branching: int) -> Array:
    """Parents before children; nobody has more children than `branching`."""
    parents = [-1]
    while len(parents) < nodes:
        free = [node for node in range(len(parents)) if parents.count(node) < branching]
        parents.append(int(rng.choice(free)))
    return np.array(parents)


def _path_cases(rng: Generator) -> Iterator[Case]:
    yield Case("f(g(x), y): Call, f, Call, g, x, y", (np.array([-1, 0, 0, 2, 2, 0]), 3, 2))
    yield Case("only a root", (np.array([-1]), 2, 2))
    yield Case("a row of 5, three steps kept", (np.array([-1, 0, 1, 2, 3]), 1, 3))
    yield Case("siblings that are apart", (np.array([-1, 0, 1, 1, 0, 4]), 2, 3))
    for _ in range(4):
        branching = int(rng.integers(2, 4))
        tree = _drawn_tree(rng, int(rng.integers(8, 12)), branching)
        yield Case("a tree, drawn", (tree, branching, int(rng.integers(2, 4))))


def _which_child(parents: Array) -> list[int]:
    return [int((parents[:node] == parent).sum()) for node, parent in enumerate(parents)]


def _paths_with(
    which: Callable[[Array], list[int]] = _which_child,
    steps: Callable[[list[int], int], list[int]] = lambda up, depth: up[:depth],
    branch_first: bool = False,
) -> Callable[[Array, int, int], Array]:
    """From which child each node is, and which steps of its way to the root are kept."""

    def paths(parents: Array, branching: int, depth: int) -> Array:
        child = which(parents)
        out = np.zeros((len(parents), depth, branching))
        for node in range(len(parents)):
            up, at = [], node
            while parents[at] >= 0:
                up.append(child[at])
                at = parents[at]
            for place, step in enumerate(steps(up, depth)):
                if 0 <= step < branching:
                    out[node, place, step] = 1
        return (out.swapaxes(1, 2) if branch_first else out).reshape(len(parents), -1)

    return paths


_paths = _paths_with()


def _paths_from_parents(parents: Array, branching: int, depth: int) -> Array:
    """The parent's path, moved on by one step, with the own step in front."""
    out = np.zeros((len(parents), depth * branching))
    for node, parent in enumerate(parents.tolist()):
        if parent >= 0:
            out[node, branching:] = out[parent, : (depth - 1) * branching]
            out[node, list(parents[:node]).count(parent)] = 1
    return out


def _among_all(parents: Array) -> list[int]:
    """Counted from the last child."""
    return [int((parents[node + 1 :] == parent).sum()) for node, parent in enumerate(parents)]


def _paths_in_place(parents: Array, branching: int, depth: int) -> Array:
    """The parent's path, not moved on."""
    out = np.zeros((len(parents), depth * branching))
    for node, parent in enumerate(parents.tolist()):
        if parent >= 0:
            out[node] = out[parent]
            out[node, list(parents[:node]).count(parent)] = 1
    return out


STEP_PATHS = Exercise(
    id="09-beyond-text.step_paths",
    title="The way to the root",
    step_of=TREE,
    signature="step_paths(parents: array of shape (nodes,), branching: int, depth: int) -> array of shape "
    "(nodes, depth * branching)",
    points=3,
    minutes=16,
    difficulty=4,
    draws=Draws(
        lambda step_paths, rows, columns: heat_map(
            step_paths(np.array([-1, 0, 1, 1, 0, 4, 4, 6, 6]), 2, 3), rows=rows, columns=columns
        ),
        axes=("node", "step and child"),
        look="The nine nodes of a * b + c * (d - e), a row each: siblings differ only in the first two "
        "columns.",
    ),
    reference=lambda parents, branching, depth: _paths(parents, branching, depth),
    make_cases=_path_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), args[1] * args[2]),
            "There must be depth * branching numbers for each node.",
            about="form",
        ),
        Property(
            lambda args, value: bool((np.asarray(value)[0] == 0).all()),
            "The root has no step to take: its row is 0.",
        ),
    ),
    mistakes=(
        Mistake(
            "from-the-root",
            _paths_with(steps=lambda up, depth: up[::-1][:depth]),
            "Your steps begin at the root. The nearest one, from the node to its parent, comes first.",
        ),
        Mistake(
            "nearest-turned",
            _paths_with(steps=lambda up, depth: up[:depth][::-1]),
            "You keep the right steps and write them in the wrong order: the nearest comes first.",
        ),
        Mistake(
            "not-moved-on",
            _paths_in_place,
            "You copy the parent's path without moving it, so steps of two levels share columns. The "
            "parent's first step is the child's second.",
        ),
        Mistake(
            "nearest-last",
            _paths_with(steps=lambda up, depth: [-1] * (depth - len(up)) + up[:depth][::-1]),
            "In yours, the step to the node's own parent comes last. It should come first.",
        ),
        Mistake(
            "only-the-nearest",
            _paths_with(steps=lambda up, depth: up[:1]),
            "You keep one step. Go on, from the parent to its own parent, until the root or until depth "
            "steps are kept.",
        ),
        Mistake(
            "children-from-the-right",
            _paths_with(which=_among_all),
            "You count the children from the last one. The first child is number 0.",
        ),
        Mistake(
            "children-from-one",
            _paths_with(which=lambda parents: [each + 1 for each in _which_child(parents)]),
            "You count the children from 1. The first child is number 0.",
        ),
        Mistake(
            "by-branch",
            _paths_with(branch_first=True),
            "You group the columns by child. Group them by step: each step has its own columns, one for "
            "each child.",
        ),
        Mistake(
            "first-child-always",
            _paths_with(which=lambda parents: [0] * len(parents)),
            "In yours, every node is a first child. Count the earlier siblings to find which child it is.",
        ),
        Mistake(
            "all-children-so-far",
            _paths_with(which=lambda parents: [max(node - 1, 0) for node in range(len(parents))]),
            "You count all nodes before this one. Count only those with the same parent, its siblings.",
        ),
        Mistake(
            "parents-step-first",
            _paths_with(steps=lambda up, depth: up[1 : depth + 1]),
            "The last step, from the parent to the node itself, is missing. Siblings look alike.",
        ),
        Mistake(
            "sums",
            lambda parents, branching, depth: np.cumsum(_paths(parents, branching, depth), axis=1),
            "Your ones add up along the row. Each column says whether one step came from one child: 1 or 0.",
        ),
        Mistake(
            "how-many-siblings",
            _paths_with(which=lambda parents: [int((parents == parent).sum()) - 1 for parent in parents]),
            "You count all siblings of a node, later ones too. Count only the earlier ones.",
        ),
        Mistake(
            "number-minus-the-parents",
            _paths_with(
                which=lambda parents: [int(node - parent - 1) for node, parent in enumerate(parents)]
            ),
            "You subtract the parent's number. What is below an earlier sibling comes in between: count the "
            "earlier nodes with the same parent.",
        ),
        Mistake(
            "steps-next-to-the-root",
            _paths_with(steps=lambda up, depth: up[-depth:]),
            "Where a way is longer than depth, you keep the steps next to the root. Keep those next to "
            "the node.",
        ),
        Mistake(
            "pushed-to-the-end",
            _paths_with(steps=lambda up, depth: [-1] * (depth - len(up[:depth])) + up[:depth]),
            "A short way starts late in your rows. The step to the node's own parent always comes first, "
            "and zeros follow.",
        ),
    ),
    alternatives=(
        _paths_from_parents,
        lambda parents, branching, depth: np.asarray(tree_paths(parents, branching, depth)),
        lambda *args: _paths(*args).tolist(),
    ),
    hints=(
        "Which child of its parent is a node? Count the earlier nodes that have the same parent.",
        "A node's path is one step more than its parent's: its own step in front, and the parent's path "
        "moved on by `branching` columns.",
        "Parents come before their children, so one loop over the nodes is enough.",
    ),
)
