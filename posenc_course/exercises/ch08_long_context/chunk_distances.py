"""Dual chunk attention."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch08_long_context._shared import OF_A_MAP, Generator, i_j, past
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake
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
        look="The same triangle in each chunk, and before it the same stripes for every chunk further back.",
    ),
    reference=_chunked,
    make_cases=_chunk_cases,
    properties=OF_A_MAP,
    mistakes=(
        Mistake(
            "one-place-further",
            _chunks_with(
                lambda own, chunk, window: np.minimum(own + chunk, chunk + window),
                lambda own, chunk, window: np.full_like(own, chunk + window),
            ),
            "Your queries stand one place too far for other chunks. The furthest place is chunk + window - "
            "1.",
        ),
        Mistake(
            "no-limit-for-the-chunk-before",
            _chunks_with(lambda own, chunk, window: own + chunk, _last_place),
            "For the chunk before its own, a late query stands too far. It goes no further than chunk + "
            "window - 1.",
        ),
        Mistake(
            "chunk-before-as-far-chunks",
            _chunks_with(_last_place, _last_place),
            "The chunk before is treated like all the others. For its keys a query at the beginning of its "
            "chunk "
            "stands only chunk further, so that near keys keep their true distances.",
        ),
        Mistake(
            "far-chunks-as-the-chunk-before",
            _chunks_with(_successive, _successive),
            "All earlier chunks are treated like the one right before. For those further back the query "
            "stands at "
            "the last place, wherever it is in its chunk.",
        ),
        Mistake(
            "same-place-for-all",
            _chunks_with(lambda own, chunk, window: own, lambda own, chunk, window: own),
            "Your query stands at its own place for all chunks, so that far keys look near or even ahead "
            "of it.",
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
            "These are the true distances everywhere. They are to stay below chunk + window.",
        ),
        Mistake(
            "cut",
            lambda tokens, chunk, window: past(np.minimum(np.subtract(*i_j(tokens)), chunk + window - 1)),
            "You cut the true distances at their largest. Keys of far chunks are told apart by their places "
            "within their chunk.",
        ),
        Mistake(
            "only-the-chunk",
            _chunks_with(
                lambda own, chunk, window: np.full_like(own, chunk),
                lambda own, chunk, window: np.full_like(own, chunk),
            ),
            "For other chunks your queries stand at chunk. The window is what they may stand beyond it.",
        ),
        Mistake(
            "swapped",
            lambda tokens, chunk, window: _chunked(tokens, chunk, window).T,
            "Rows and columns are swapped: rows are queries, columns are keys.",
        ),
        Mistake(
            "distances-cut",
            _distances_cut,
            "You cut distances. It is the place of the query that has a limit; take the key's place within "
            "its "
            "chunk off it afterwards.",
        ),
        Mistake(
            "window-for-the-limit",
            _chunks_with(lambda own, chunk, window: np.minimum(own + chunk, window - 1), _last_place),
            "For the chunk before, your limit is window - 1. The query may stand so far beyond the end of a "
            "chunk: chunk + window - 1.",
        ),
        Mistake(
            "window-forgotten",
            _chunks_with(
                lambda own, chunk, window: np.minimum(own + chunk, chunk - 1),
                lambda own, chunk, window: np.full_like(own, chunk - 1),
            ),
            "For other chunks your queries stand at the end of one chunk. They may stand up to window "
            "further "
            "on: at chunk + window - 1.",
        ),
        Mistake(
            "the-larger-one",
            _chunks_with(lambda own, chunk, window: np.maximum(own + chunk, chunk + window - 1), _last_place),
            "For the chunk before you take the larger of the two places. The smaller one is asked for: "
            "chunk + window - 1 is a limit.",
        ),
    ),
    alternatives=(
        _chunked_by_loops,
        _chunked_by_parts,
        lambda tokens, chunk, window: _chunked(tokens, chunk, window).astype(float),
    ),
    hints=(
        "How many chunks back is a key? `i // chunk - j // chunk`: 0, 1, or more.",
        "A key always counts as `j % chunk`. Only the place of the query differs between the three cases.",
        "The three places are `i % chunk`; the smaller one of `i % chunk + chunk` and `chunk + window - "
        "1`; and "
        "`chunk + window - 1`.",
    ),
)
