"""Your decoder gets heads: Cut the columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch03_relative_position._shared import HEADS, Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property


def _split(x: np.ndarray, heads: int) -> np.ndarray:
    n, dim = x.shape
    return np.ascontiguousarray(x.reshape(n, heads, dim // heads).swapaxes(0, 1))


def _split_cases(rng: Generator) -> Iterator[Case]:
    for n, dim, heads in ((3, 4, 2), (2, 6, 3), (5, 8, 1), (4, 4, 4), (1, 12, 3), (4, 16, 4), (6, 12, 6)):
        tokens = "1 token" if n == 1 else f"{n} tokens"
        yield Case(f"{tokens}, dim {dim}, heads: {heads}", (rng.normal(size=(n, dim)), heads))


def _split_by_columns(x: np.ndarray, heads: int) -> np.ndarray:
    return np.stack(np.split(x, heads, axis=1))


SPLIT_HEADS = Exercise(
    id="03-relative-position.split_heads",
    title="Cut the columns",
    step_of=HEADS,
    signature="split_heads(x: array of shape (n, dim), heads: int) -> array of shape (heads, n, dim / heads)",
    points=1,
    minutes=7,
    difficulty=2,
    reference=_split,
    make_cases=_split_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[1], len(args[0]), args[0].shape[1] // args[1]),
            "Return for each head a row for every token: (heads, n, dim / heads).",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.sort(np.ravel(value)), np.sort(np.ravel(args[0])))),
            "Each number of x must come back, once: there is nothing to compute here.",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[0], args[0][:, : value.shape[2]])),
            "Head 0 must hold the first dim / heads columns of x, row by row. Yours does not.",
        ),
    ),
    mistakes=(
        Mistake(
            "reshaped-alone",
            lambda x, heads: x.reshape(heads, len(x), -1),
            "One reshape to (heads, n, dim / heads) gives the right shape and mixes up the tokens: it "
            "reads the numbers of the first token on into the second head's rows. Reshape to (n, heads, "
            "dim / heads), then exchange two axes.",
        ),
        Mistake(
            "tokens-first",
            lambda x, heads: x.reshape(len(x), heads, -1),
            "The tokens come first here: (n, heads, dim / heads). Exchange the first two axes, so that "
            "each head has all its tokens together.",
        ),
        Mistake(
            "every-so-many-columns",
            lambda x, heads: np.stack([x[:, head::heads] for head in range(heads)]),
            "Your heads take turns with the columns: one for each, over and over. Head 0 gets the first dim "
            "/ heads columns, head 1 the next, and so on.",
        ),
        Mistake(
            "tokens-last",
            lambda x, heads: np.transpose(x.reshape(len(x), heads, -1), (1, 2, 0)),
            "Each head is transposed: its rows are columns of x. Tokens are the rows: (heads, n, dim / "
            "heads).",
        ),
        Mistake(
            "heads-in-reverse",
            lambda x, heads: _split(x, heads)[::-1],
            "The heads come in reverse order. Head 0 gets the first columns.",
        ),
        Mistake(
            "whole-width-for-each",
            lambda x, heads: np.stack([x] * heads),
            "Each head gets all the columns. They share them: each gets dim / heads.",
        ),
        Mistake(
            "exchanged-before-the-cut",
            lambda x, heads: x.T.reshape(heads, len(x), -1),
            "You transpose x first and then reshape it, which mixes up tokens and columns. Cut the columns "
            "first.",
        ),
        Mistake(
            "columns-in-reverse",
            lambda x, heads: _split(x[:, ::-1], heads),
            "The columns come in reverse order. Leave them as they are.",
        ),
    ),
    alternatives=(
        _split_by_columns,
        lambda x, heads: [
            x[:, h * (x.shape[1] // heads) : (h + 1) * (x.shape[1] // heads)] for h in range(heads)
        ],
        lambda x, heads: np.einsum("nhd->hnd", x.reshape(len(x), heads, -1)),
    ),
    hints=(
        "Head h gets the columns from h * size to (h + 1) * size, where size is `dim // heads`.",
        "`x.reshape(n, heads, size)` cuts each row; `.swapaxes(0, 1)` brings the heads to the front.",
    ),
)
