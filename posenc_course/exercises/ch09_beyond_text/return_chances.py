"""Waves on a graph: A walker who comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import GRAPH, Generator, drawn_graph, path, ring, star
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.added.graphs import return_probabilities


def _walk_cases(rng: Generator) -> Iterator[Case]:
    triangle = np.array([[0.0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]])
    yield Case("a triangle with a tail", (triangle, 3))
    yield Case("a path of 4", (path(4), 4))
    yield Case("a ring of 5, five steps", (ring(5), 5))
    yield Case("a star of 5, one step", (star(5), 1))
    for _ in range(3):
        yield Case("weights, drawn", (drawn_graph(rng, int(rng.integers(4, 8))), int(rng.integers(3, 6))))


def _steps_of_walk(adjacency: Array) -> Array:
    return np.asarray(adjacency / adjacency.sum(axis=1, keepdims=True))


def _walk_with(
    chances: Callable[[Array], Array] = _steps_of_walk, powers: Callable[[int], Sequence[int]] | None = None
) -> Callable[[Array, int], Array]:
    def returns(adjacency: Array, steps: int) -> Array:
        walk = chances(adjacency)
        wanted = powers(steps) if powers else range(1, steps + 1)
        return np.stack([np.diag(np.linalg.matrix_power(walk, power)) for power in wanted], axis=1)

    return returns


_returns = _walk_with()


def _returns_by_spreading(adjacency: Array, steps: int) -> list[list[float]]:
    """One walker after the other, step by step."""
    rows = []
    for start in range(len(adjacency)):
        at, back = np.eye(len(adjacency))[start], []
        for _ in range(steps):
            at = np.array([sum(at * adjacency[:, to] / adjacency.sum(axis=1)) for to in range(len(at))])
            back.append(float(at[start]))
        rows.append(back)
    return rows


def _first_returns(adjacency: Array, steps: int) -> Array:
    back = _returns(adjacency, steps)
    first = np.zeros_like(back)
    for step in range(steps):
        earlier = sum((first[:, k] * back[:, step - 1 - k] for k in range(step)), np.zeros(len(back)))
        first[:, step] = back[:, step] - earlier
    return first


RETURN_CHANCES = Exercise(
    id="09-beyond-text.return_chances",
    title="A walker who comes back",
    step_of=GRAPH,
    signature="return_chances(adjacency: array of shape (nodes, nodes), steps: int) -> array of shape "
    "(nodes, "
    "steps)",
    points=2,
    minutes=10,
    difficulty=3,
    draws=Draws(
        lambda return_chances, across, up, square, triangle: curve(
            np.arange(1, 13),
            {
                square: np.asarray(return_chances(ring(4), 12))[0],
                triangle: np.asarray(return_chances(ring(3), 12))[0],
            },
            across=across,
            up=up,
        ),
        axes=("steps", "chance to be back", "on a ring of 4", "on a ring of 3"),
        look="On a ring of 4 a walker can be back only after an even number of steps, on a triangle "
        "after three as well.",
    ),
    reference=lambda adjacency, steps: _returns(adjacency, steps),
    make_cases=_walk_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), args[1]),
            "There must be a row for each node, and a column for each number of steps.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                (np.asarray(value) >= -1e-9).all() and (np.asarray(value) <= 1 + 1e-6).all()
            ),
            "A chance lies between 0 and 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "from-no-step",
            _walk_with(powers=lambda steps: range(steps)),
            "Your first column is for no step at all, when the walker is still there for certain. Begin "
            "with one step.",
        ),
        Mistake(
            "walks-counted",
            _walk_with(chances=lambda adjacency: adjacency),
            "You count ways. These are not chances yet: at each node, the chances of all its edges "
            "should sum to 1.",
        ),
        Mistake(
            "weights-dropped",
            _walk_with(chances=lambda adjacency: _steps_of_walk((adjacency > 0) * 1.0)),
            "Your walker takes all edges equally often. An edge of twice the weight should be taken "
            "twice as often.",
        ),
        Mistake(
            "entry-by-entry",
            lambda adjacency, steps: np.stack(
                [np.diag(_steps_of_walk(adjacency) ** power) for power in range(1, steps + 1)], axis=1
            ),
            "All your chances are 0, as they are on the diagonal of a single step. Do you raise each entry "
            "to the power, or take the same step each time? Multiply the matrices, one step more each time.",
        ),
        Mistake(
            "first-time",
            _first_returns,
            "These are the chances to be back for the first time. A walker who has been back before "
            "counts too.",
        ),
        Mistake(
            "so-far",
            lambda adjacency, steps: np.cumsum(_returns(adjacency, steps), axis=1),
            "Your chances add up from step to step. Each column is for exactly that number of steps.",
        ),
        Mistake(
            "last-step-alone",
            lambda adjacency, steps: _returns(adjacency, steps)[:, -1],
            "You return only the last number of steps. Return a column for each, from 1.",
        ),
        Mistake(
            "steps-first",
            lambda adjacency, steps: _returns(adjacency, steps).T,
            "The array is transposed: it should have a row for each node and a column for each number of "
            "steps.",
        ),
        Mistake(
            "may-stay",
            _walk_with(chances=lambda adjacency: (np.eye(len(adjacency)) + _steps_of_walk(adjacency)) / 2),
            "Your walker may stay where it is. Each step goes along an edge.",
        ),
        Mistake(
            "all-doubled",
            _walk_with(powers=lambda steps: [2**power for power in range(steps)]),
            "You square the matrix each time, so that the steps double: 1, 2, 4. They go up by one.",
        ),
        Mistake(
            "mean-of-all",
            lambda adjacency, steps: np.tile(_returns(adjacency, steps).mean(axis=0), (len(adjacency), 1)),
            "All your nodes get the mean. Each has its own chances: that is what tells them apart.",
        ),
        Mistake(
            "one-step-late",
            _walk_with(powers=lambda steps: range(2, steps + 2)),
            "Your first column is for two steps. Begin with one step.",
        ),
        Mistake(
            "divided-by-all-edges",
            _walk_with(chances=lambda adjacency: adjacency / adjacency.sum()),
            "You divide by the sum of the whole matrix. At each node the chances of its own edges should "
            "sum to 1: divide each row by its sum.",
        ),
        Mistake(
            "chance-to-be-away",
            lambda adjacency, steps: 1 - _returns(adjacency, steps),
            "These are the chances to be somewhere else. Return the chances to be back.",
        ),
    ),
    alternatives=(
        _returns_by_spreading,
        lambda adjacency, steps: return_probabilities(adjacency, steps),
        _walk_with(chances=lambda adjacency: adjacency / adjacency.sum(axis=0)),
    ),
    hints=(
        "From node i a walker steps to node j with the chance `adjacency[i, j]` over the sum of row i.",
        "If `walk[i, j]` is the chance to be at j after some steps, `walk @ chances` is that after one more.",
        "The chances to be back are on the diagonal: `np.diag(walk)` after each step, one column each.",
    ),
)
