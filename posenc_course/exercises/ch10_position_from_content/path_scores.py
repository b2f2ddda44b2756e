"""PaTH, by its definition and by its cache: A path of reflections."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch10_position_from_content._shared import PATH, Generator, reflect_with, square
from posenc_course.exercises.ch10_position_from_content.reflections import _reflections
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _path_cases(rng: Generator) -> Iterator[Case]:
    def inputs(n: int, dim: int, beta: Array | None = None) -> tuple[Array, ...]:
        q, k, w = rng.normal(size=(3, n, dim))
        return q, k, w, rng.uniform(0, 2, size=n) if beta is None else beta

    yield Case("three tokens", inputs(3, 2))
    yield Case("beta 0 changes nothing", inputs(4, 3, np.zeros(4)))
    yield Case("all tokens reflect", inputs(5, 3, np.full(5, 2.0)))
    yield Case("all tokens erase", inputs(4, 4, np.ones(4)))
    yield Case("one token", inputs(1, 2))
    for _ in range(3):
        yield Case("sizes, drawn", inputs(int(rng.integers(4, 8)), int(rng.integers(3, 7))))


Between = Callable[[list[Array], int, int], list[Array]]


def _path_with(
    between: Between, *, root: bool = True, matrices_of: Callable[[Array, Array], Array] = _reflections
) -> Callable[[Array, Array, Array, Array], Array]:
    """`between`: the matrices from left to right, of all, of the query's and the key's number."""

    def scores(q: Array, k: Array, w: Array, beta: Array) -> Array:
        matrices, n = list(matrices_of(w, beta)), len(q)
        found = np.zeros((n, n))
        for i in range(n):
            for j in range(i + 1):
                row = q[i]
                for matrix in between(matrices, i, j):
                    row = row @ matrix
                found[i, j] = row @ k[j]
        return found / math.sqrt(q.shape[1]) if root else found

    return scores


def _on_the_path(matrices: list[Array], i: int, j: int) -> list[Array]:
    return matrices[i:j:-1]


def _path_scores(q: Array, k: Array, w: Array, beta: Array) -> Array:
    return _path_with(_on_the_path)(q, k, w, beta)


def _path_by_carrying_queries(q: Array, k: Array, w: Array, beta: Array) -> Array:
    """All later queries go one token back at a time, without any matrix."""
    n, dim = q.shape
    u, carried = w / np.sqrt((w * w).sum(axis=1))[:, None], np.array(q)
    found = np.zeros((n, n))
    for j in range(n - 1, -1, -1):
        found[j:, j] = carried[j:] @ k[j] / dim**0.5
        carried[j:] -= beta[j] * np.outer(carried[j:] @ u[j], u[j])
    return found


def _path_by_carrying_keys(q: Array, k: Array, w: Array, beta: Array) -> list[Array]:
    found, carried = [], np.zeros((0, q.shape[1]))
    for i, matrix in enumerate(_reflections(w, beta)):
        carried = np.vstack([carried @ matrix.T, k[i : i + 1]])
        found.append(np.append(carried @ q[i] / math.sqrt(q.shape[1]), np.zeros(len(q) - i - 1)))
    return found


def _added_up(q: Array, k: Array, w: Array, beta: Array) -> Array:
    """As if reflections added up in place of being multiplied."""
    n, dim = q.shape
    taken = np.cumsum(np.eye(dim) - _reflections(w, beta), axis=0)
    found = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            found[i, j] = q[i] @ (np.eye(dim) - (taken[i] - taken[j])) @ k[j]
    return found / math.sqrt(dim)


def _one_that_reflects() -> tuple[Array, Array, Array, Array]:
    """Content that is all alike, and token 8 turns it round; token 16 erases it."""
    beta = np.zeros(24)
    beta[[8, 16]] = 2.0, 0.8
    alike = np.zeros((24, 2))
    alike[:, 0] = 1.0
    return alike, alike, alike, beta


PATH_SCORES = Exercise(
    id="10-position-from-content.path_scores",
    title="A path of reflections",
    step_of=PATH,
    signature="path_scores(q: array of shape (n, dim), k: array of shape (n, dim), w: array of shape (n, "
    "dim), beta: array of shape (n,)) -> array of shape (n, n)",
    points=4,
    minutes=18,
    difficulty=4,
    draws=Draws(
        lambda path_scores, rows, columns: heat_map(
            path_scores(*_one_that_reflects()), rows=rows, columns=columns
        ),
        axes=("query", "key"),
        look="All queries and keys are alike, but token 8 reflects, so queries that look across it see "
        "the opposite sign, and token 16 erases most of what came before it.",
    ),
    reference=_path_scores,
    make_cases=_path_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), len(args[0])),
            "There must be a row for each query and a column for each key.",
            about="form",
        ),
        Property(
            lambda args, value: bool((np.triu(np.asarray(value), 1) == 0).all()),
            "A key after its query must get 0.",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(
                    np.diag(np.asarray(value)),
                    (args[0] * args[1]).sum(axis=1) / math.sqrt(args[0].shape[1]),
                    rtol=1e-4,
                    atol=1e-4,
                )
            ),
            "Between a query and the key of its own token there is no reflection: the diagonal must hold "
            "their products, divided by the root of dim.",
        ),
    ),
    where_not_finite="A key after its query gets 0 here: no softmax follows.",
    mistakes=(
        Mistake(
            "order-turned-round",
            _path_with(lambda matrices, i, j: matrices[j + 1 : i + 1]),
            "Your reflections are in the order of the text. The one right next to the key must be the "
            "first after it, and the query's own must be right next to the query.",
        ),
        Mistake(
            "keys-own-too",
            _path_with(lambda matrices, i, j: matrices[j : i + 1][::-1]),
            "You count the reflection of the key's own token too. The path begins with the next one.",
        ),
        Mistake(
            "querys-own-missing",
            _path_with(lambda matrices, i, j: matrices[j + 1 : i][::-1]),
            "The reflection of the query's own token is missing. The path ends with it.",
        ),
        Mistake(
            "keys-for-querys",
            _path_with(lambda matrices, i, j: matrices[j:i][::-1]),
            "Your path goes from the key's token to the one before the query. It goes from the one after the "
            "key to the query's.",
        ),
        Mistake(
            "from-the-beginning",
            _path_with(lambda matrices, i, j: matrices[: i + 1][::-1]),
            "Your path begins with the first token of the text. It begins after the key.",
        ),
        Mistake(
            "no-reflections",
            _path_with(lambda matrices, i, j: []),
            "These are plain products of queries and keys: nothing reflects.",
        ),
        Mistake(
            "only-the-querys",
            _path_with(lambda matrices, i, j: matrices[i : i + 1] if i > j else []),
            "In yours, only the query's own token reflects. All tokens after the key should.",
        ),
        Mistake(
            "only-the-next",
            _path_with(lambda matrices, i, j: matrices[j + 1 : j + 2] if i > j else []),
            "In yours, only the token right after the key reflects. All tokens up to the query should.",
        ),
        Mistake(
            "not-divided",
            _path_with(_on_the_path, root=False),
            "The products are not divided by the root of dim.",
        ),
        Mistake(
            "not-of-length-one",
            _path_with(_on_the_path, matrices_of=reflect_with(lambda w, beta: beta * square(w))),
            "You do not bring w to length 1. Use your own reflections.",
        ),
        Mistake(
            "added-up",
            _added_up,
            "You add up what the tokens take away. Each reflection works on what the last one left, so "
            "multiply the matrices.",
        ),
        Mistake(
            "sees-ahead",
            lambda q, k, w, beta: (
                np.tril(_path_scores(q, k, w, beta)) + np.triu(q @ k.T / math.sqrt(q.shape[1]), 1)
            ),
            "In yours, keys after the query have a score. They must get 0.",
        ),
        Mistake(
            "swapped",
            lambda *args: _path_scores(*args).T,
            "Rows and columns are swapped: rows are queries, columns are keys.",
        ),
        Mistake(
            "query-and-key-swapped",
            lambda q, k, w, beta: _path_scores(k, q, w, beta),
            "Queries and keys are swapped.",
        ),
        Mistake(
            "root-of-tokens",
            lambda q, k, w, beta: _path_scores(q, k, w, beta) * math.sqrt(q.shape[1] / len(q)),
            "You divide by the root of the number of tokens. Use dim, the number of columns.",
        ),
        Mistake(
            "divided-by-dim",
            lambda q, k, w, beta: _path_scores(q, k, w, beta) / math.sqrt(q.shape[1]),
            "You divide by dim. Divide by its square root.",
        ),
        Mistake(
            "two-for-every-beta",
            lambda q, k, w, beta: _path_scores(q, k, w, np.full_like(beta, 2.0)),
            "All your tokens reflect with a beta of 2. Each token has its own number.",
        ),
        Mistake(
            "own-key-left-out",
            lambda *args: np.tril(_path_scores(*args), -1),
            "The key of the query's own token gets 0 in yours. It is not after the query: it has a score "
            "too.",
        ),
    ),
    alternatives=(
        _path_by_carrying_queries,
        _path_by_carrying_keys,
        lambda q, k, w, beta: np.array(
            [
                [
                    q[i]
                    @ np.linalg.multi_dot(
                        [np.eye(q.shape[1]), *_reflections(w, beta)[i:j:-1], np.eye(q.shape[1])]
                    )
                    @ k[j]
                    / math.sqrt(q.shape[1])
                    if j <= i
                    else 0.0
                    for j in range(len(k))
                ]
                for i in range(len(q))
            ]
        ),
    ),
    hints=(
        "Take one query and go back from its own token. Before you cross a token, you have not reached "
        "the keys beyond it. What does crossing it do to the query?",
        "Begin with `row = q[i]`. For j from i down to 0: the score of key j is `row @ k[j]`, and then `row` "
        "becomes `row @ h[j]`, with h for the reflections.",
        "This way, you cross the reflection of the query's own token before key i - 1, and the "
        "reflection of token j never counts for key j itself.",
    ),
)
