"""Dual chunk attention."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch08_long_context._shared import (
    HIDDEN_LATER,
    OF_A_MAP,
    Generator,
    i_j,
    past,
    true_where,
)
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _chunk_cases(rng: Generator) -> Iterator[Case]:
    yield Case("18 tokens, chunks of 6, window 4", (18, 6, 4))
    yield Case("one chunk", (5, 8, 3))
    yield Case("two chunks", (12, 6, 2))
    yield Case("a window as long as a chunk", (17, 5, 5))
    yield Case("a window of 1", (14, 4, 1))
    for _ in range(3):
        chunk = int(rng.integers(3, 9))
        yield Case("sizes, drawn", (int(rng.integers(15, 40)), chunk, int(rng.integers(1, chunk + 1))))


def _chunks_with(
    middle: Callable[[Array, int, int], Array],
    far: Callable[[Array, int, int], Array],
    key: Callable[[Array, int], Array] = lambda j, chunk: j % chunk,
) -> Callable[[int, int, int], Array]:
    """Where a query stands for the chunk before its own, and for all before that."""

    def distances(tokens: int, chunk: int, window: int) -> Array:
        i, j = i_j(tokens)
        back = i // chunk - j // chunk
        own = i % chunk
        stands = np.where(
            back == 0, own, np.where(back == 1, middle(own, chunk, window), far(own, chunk, window))
        )
        return past(stands - key(j, chunk))

    return distances


def _successive(own: Array, chunk: int, window: int) -> Array:
    return np.minimum(own + chunk, chunk + window - 1)


def _last_place(own: Array, chunk: int, window: int) -> Array:
    return np.full_like(own, chunk + window - 1)


_chunked = _chunks_with(_successive, _last_place)


def _distances_cut(tokens: int, chunk: int, window: int) -> Array:
    i, j = i_j(tokens)
    back, last = i // chunk - j // chunk, chunk + window - 1
    return past(np.where(back == 0, i - j, np.where(back == 1, np.minimum(i - j, last), last)))


def _chunked_by_loops(tokens: int, chunk: int, window: int) -> list[list[int]]:
    rows = []
    for i in range(tokens):
        row = []
        for j in range(tokens):
            back = i // chunk - j // chunk
            if back == 0:
                stands = i % chunk
            elif back == 1 and i % chunk < window:
                stands = i % chunk + chunk
            else:
                stands = chunk + window - 1
            row.append(stands - j % chunk if j <= i else 0)
        rows.append(row)
    return rows


def _chunked_by_parts(tokens: int, chunk: int, window: int) -> Array:
    found = np.zeros((tokens, tokens))
    for start in range(0, tokens, chunk):
        for i in range(start, min(start + chunk, tokens)):
            keys = np.arange(i + 1)
            found[i, : i + 1] = chunk + window - 1 - keys % chunk
            if start:
                before = np.arange(start - chunk, start)
                found[i, before] = min(i - start + chunk, chunk + window - 1) - before % chunk
            own = np.arange(start, i + 1)
            found[i, own] = i - own
    return found


def _back(tokens: int, chunk: int) -> Array:
    """How many chunks a key is before its query."""
    i, j = i_j(tokens)
    return i // chunk - j // chunk


CHUNK_DISTANCES = Exercise(
    id="08-long-context.chunk_distances",
    title="Dual chunk attention",
    signature="chunk_distances(tokens: int, chunk: int, window: int) -> array of shape (tokens, tokens)",
    points=4,
    minutes=18,
    difficulty=4,
    draws=Draws(
        lambda chunk_distances, rows, columns: heat_map(
            chunk_distances(24, 6, 4), rows=rows, columns=columns
        ),
        axes=("query", "key"),
        look="Every chunk has the same triangle, and every chunk further back has the same stripes.",
    ),
    reference=_chunked,
    make_cases=_chunk_cases,
    where_not_finite=HIDDEN_LATER,
    properties=(
        *OF_A_MAP,
        Property(
            lambda args, value: true_where(value, _back(args[0], args[1]) == 0, args[0]),
            "Within its own chunk a query must take every key at its true distance, i - j.",
        ),
        Property(
            lambda args, value: true_where(value, _back(args[0], args[1]) == 1, args[2]),
            "A key of the chunk before that is less than window back must keep its true distance.",
        ),
        Property(
            lambda args, value: bool((np.asarray(value) < args[1] + args[2]).all()),
            "No distance can be above chunk + window - 1.",
        ),
        Property(
            lambda args, value: bool((np.asarray(value) >= 0).all()),
            "No distance can be negative: that would be a key ahead of its query.",
        ),
    ),
    mistakes=(
        Mistake(
            "one-place-further",
            _chunks_with(
                lambda own, chunk, window: np.minimum(own + chunk, chunk + window),
                lambda own, chunk, window: np.full_like(own, chunk + window),
            ),
            "For other chunks your queries are one place too far on. The furthest place is chunk + "
            "window - 1.",
        ),
        Mistake(
            "no-limit-for-the-chunk-before",
            _chunks_with(lambda own, chunk, window: own + chunk, _last_place),
            "For the chunk before, a late query is too far on. It never goes beyond chunk + window - 1.",
        ),
        Mistake(
            "chunk-before-as-far-chunks",
            _chunks_with(_last_place, _last_place),
            "The chunk before is treated like all the others. For its keys, a query early in its chunk "
            "is just chunk further on, so that near keys keep their true distances.",
        ),
        Mistake(
            "far-chunks-as-the-chunk-before",
            _chunks_with(_successive, _successive),
            "All earlier chunks are treated like the one right before. For those further back the query "
            "is at the last place, wherever it is in its chunk.",
        ),
        Mistake(
            "same-place-for-all",
            _chunks_with(lambda own, chunk, window: own, lambda own, chunk, window: own),
            "Your query stays at its own place for all chunks, so far keys look near, or even ahead of it.",
        ),
        Mistake(
            "keys-not-by-chunk",
            _chunks_with(_successive, _last_place, key=lambda j, chunk: j),
            "Your keys count from the beginning of the text. Each counts from the beginning of its own "
            "chunk.",
        ),
        Mistake(
            "true-everywhere",
            lambda tokens, chunk, window: past(np.subtract(*i_j(tokens))),
            "These are the true distances everywhere. They should stay below chunk + window.",
        ),
        Mistake(
            "cut",
            lambda tokens, chunk, window: past(np.minimum(np.subtract(*i_j(tokens)), chunk + window - 1)),
            "You cut the true distances at their largest. In far chunks, each key still counts its place "
            "within its own chunk.",
        ),
        Mistake(
            "only-the-chunk",
            _chunks_with(
                lambda own, chunk, window: np.full_like(own, chunk),
                lambda own, chunk, window: np.full_like(own, chunk),
            ),
            "For other chunks your queries are at chunk. They may go beyond it, by up to window - 1.",
        ),
        Mistake(
            "swapped",
            lambda tokens, chunk, window: _chunked(tokens, chunk, window).T,
            "Rows and columns are swapped: rows are queries, columns are keys.",
        ),
        Mistake(
            "distances-cut",
            _distances_cut,
            "You cut distances. The limit is on the place of the query: cut that, then subtract the "
            "key's place within its chunk.",
        ),
        Mistake(
            "window-for-the-limit",
            _chunks_with(lambda own, chunk, window: np.minimum(own + chunk, window - 1), _last_place),
            "For the chunk before, your limit is window - 1. That is how far the query may go beyond a "
            "chunk: the limit is chunk + window - 1.",
        ),
        Mistake(
            "window-forgotten",
            _chunks_with(
                lambda own, chunk, window: np.minimum(own + chunk, chunk - 1),
                lambda own, chunk, window: np.full_like(own, chunk - 1),
            ),
            "For other chunks your queries stop at the end of one chunk. They may go window further: to "
            "chunk + window - 1.",
        ),
        Mistake(
            "the-larger-one",
            _chunks_with(lambda own, chunk, window: np.maximum(own + chunk, chunk + window - 1), _last_place),
            "For the chunk before you take the larger of the two places. Take the smaller one: chunk + "
            "window - 1 is a limit.",
        ),
        Mistake(
            "far-at-the-end-of-a-second-chunk",
            _chunks_with(_successive, lambda own, chunk, window: np.full_like(own, 2 * chunk - 1)),
            "For far chunks your query is at 2 * chunk - 1, as if the window were a whole chunk. It is "
            "at chunk + window - 1.",
        ),
        Mistake(
            "a-chunk-for-the-window",
            _chunks_with(
                lambda own, chunk, window: np.minimum(own + chunk, 2 * chunk - 1),
                lambda own, chunk, window: np.full_like(own, 2 * chunk - 1),
            ),
            "Your last place is 2 * chunk - 1, as if the window were a whole chunk. It is chunk + window "
            "- 1.",
        ),
        Mistake(
            "one-place-further-before",
            _chunks_with(lambda own, chunk, window: np.minimum(own + chunk, chunk + window), _last_place),
            "For the chunk before, your limit is one place too far on. The furthest place is chunk + "
            "window - 1.",
        ),
        Mistake(
            "one-place-further-far-back",
            _chunks_with(_successive, lambda own, chunk, window: np.full_like(own, chunk + window)),
            "For far chunks your query is one place too far on. It is at chunk + window - 1.",
        ),
        Mistake(
            "another-chunk-further",
            _chunks_with(_successive, lambda own, chunk, window: own + 2 * chunk),
            "For far chunks you move the query another chunk on. It stays at chunk + window - 1, however "
            "far back the key is.",
        ),
        Mistake(
            "moved-by-the-window",
            _chunks_with(
                lambda own, chunk, window: np.minimum(own + window, chunk + window - 1), _last_place
            ),
            "For the chunk before you move the query by the window. Move it by a whole chunk: the keys "
            "there are a chunk further back than their places say.",
        ),
        Mistake(
            "short-of-the-last-place",
            _chunks_with(_successive, lambda own, chunk, window: np.full_like(own, window - 1)),
            "For far chunks your query is at window - 1, and far keys look near or even ahead of it. It "
            "is at chunk + window - 1.",
        ),
        Mistake(
            "near-by-distance",
            lambda tokens, chunk, window: past(
                np.where(
                    np.subtract(*i_j(tokens)) < chunk,
                    np.subtract(*i_j(tokens)),
                    chunk + window - 1 - i_j(tokens)[1] % chunk,
                )
            ),
            "You go by the distance to tell chunks apart. Two neighbours may lie in two chunks: compare "
            "i // chunk with j // chunk.",
        ),
    ),
    alternatives=(
        _chunked_by_loops,
        _chunked_by_parts,
        lambda tokens, chunk, window: _chunked(tokens, chunk, window).astype(float),
    ),
    hints=(
        "How many chunks back is a key? `i // chunk - j // chunk`: 0, 1, or more.",
        "A key always counts as `j % chunk`. Only the place of the query differs in the three cases.",
        "The three places are `i % chunk`; the smaller one of `i % chunk + chunk` and `chunk + window - "
        "1`; and "
        "`chunk + window - 1`.",
    ),
)
