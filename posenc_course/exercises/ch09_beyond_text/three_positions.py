"""Words and pictures in one line: Time, row and column of each token."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import ONE_LINE, Generator
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.rotated.axial import mrope_positions


def _line_cases(rng: Generator) -> Iterator[Case]:
    def picture(most: int = 6) -> tuple[int, int, int]:
        rows, columns = (int(each) for each in rng.integers(2, most, size=2))
        return 1, rows, columns + most

    yield Case("three words", ([3],))
    yield Case("two words, a picture of 2 by 3, two words", ([2, (1, 2, 3), 2],))
    yield Case("a picture first", ([(1, 3, 2), 2],))
    yield Case("two pictures one after the other", ([1, (1, 2, 2), (1, 4, 1), 1],))
    yield Case("a video of 2 frames", ([1, (2, 2, 3), 2],))
    yield Case("a video of 5 frames of 2 by 2", ([1, (5, 2, 2), 3],))
    for _ in range(3):
        words = [int(each) for each in rng.integers(2, 6, size=3)]
        video = (int(rng.integers(2, 4)), int(rng.integers(4, 7)), 2)
        yield Case("drawn", ([words[0], picture(), words[1], video, words[2]],))


Part = int | tuple[int, int, int]


Block = Callable[[int, int, int], Array]


def _block(frames: int, rows: int, columns: int) -> Array:
    return np.indices((frames, rows, columns)).reshape(3, -1)


def _line_with(
    next_at: Callable[[int, Array, Sequence[int]], int] = lambda at, placed, size: int(placed.max()) + 1,
    block_of: Block = _block,
    place: Callable[[Array, int], Array] = lambda block, at: block + at,
    of_words: Callable[[Array], Array] = lambda count: np.stack([count] * 3),
) -> Callable[[Sequence[Part]], Array]:
    def positions(parts: Sequence[Part]) -> Array:
        at, found = 0, []
        for part in parts:
            size: tuple[int, ...] = (part,) if isinstance(part, int) else part
            if isinstance(part, int):
                found.append(of_words(at + np.arange(part)))
            else:
                found.append(place(block_of(*part), at))
            at = next_at(at, found[-1], size)
        return np.concatenate(found, axis=1)

    return positions


_three = _line_with()


def _three_by_token(parts: Sequence[Part]) -> Array:
    tokens: list[tuple[int, int, int]] = []
    for part in parts:
        start = 1 + max((max(token) for token in tokens), default=-1)
        if isinstance(part, int):
            tokens += [(start + n,) * 3 for n in range(part)]
        else:
            grid = itertools.product(*(range(start, start + size) for size in part))
            tokens += [(t, r, c) for t, r, c in grid]
    return np.array(tokens).T


THREE_POSITIONS = Exercise(
    id="09-beyond-text.three_positions",
    title="Time, row and column of each token",
    step_of=ONE_LINE,
    signature="three_positions(parts: list of a number of words, or (frames, rows, columns)) -> array of "
    "shape (3, tokens)",
    points=4,
    minutes=15,
    difficulty=3,
    draws=Draws(
        lambda three_positions, across, up, *names: (
            lambda lines: curve(np.arange(24), dict(zip(names, lines, strict=True)), across=across, up=up)
        )(np.asarray(three_positions([4, (1, 4, 4), 4]))),
        axes=("token", "position", "time", "row", "column"),
        look="Four words, a picture of 4 by 4 and four words: within the picture the row is a staircase "
        "and the column a saw, and the words continue right above them.",
    ),
    reference=lambda parts: _three(parts),
    make_cases=_line_cases,
    properties=(
        Property(
            lambda args, value: (
                np.shape(value) == (3, sum(e if isinstance(e, int) else math.prod(e) for e in args[0]))
            ),
            "There must be three lines, for time, row and column, with a number for each token.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "as-many-as-tokens",
            _line_with(next_at=lambda at, placed, size: at + math.prod(size)),
            "After a picture you continue after as many numbers as it has tokens. Continue right after "
            "the largest number that the picture used.",
        ),
        Mistake(
            "goes-on-by-time",
            _line_with(next_at=lambda at, placed, size: at + size[0]),
            "After a picture you continue after its frames. Its rows and columns have used larger numbers.",
        ),
        Mistake(
            "frames-not-counted",
            _line_with(next_at=lambda at, placed, size: at + max(size[1:], default=size[0])),
            "This is right for pictures. A video may have more frames than rows and columns, and then "
            "the next part begins in the middle of it.",
        ),
        Mistake(
            "rows-and-columns-from-0",
            _line_with(place=lambda block, at: block + np.array([[at], [0], [0]])),
            "Within a picture your rows and columns begin at 0. All three begin where the picture begins.",
        ),
        Mistake(
            "one-line",
            lambda parts: np.stack([np.arange(_three(parts).shape[1])] * 3),
            "You number all tokens in one line. The tokens of a picture have a row and a column of their "
            "own.",
        ),
        Mistake(
            "one-too-early",
            _line_with(next_at=lambda at, placed, size: int(placed.max())),
            "Each of your parts begins on the largest number of the part before it. Begin one later.",
        ),
        Mistake(
            "rows-and-columns-swapped",
            _line_with(block_of=lambda f, r, c: _block(f, r, c)[[0, 2, 1]]),
            "Row and column are swapped. The second of your three lines is for the row.",
        ),
        Mistake(
            "words-have-time-alone",
            _line_with(of_words=lambda count: np.stack([count, 0 * count, 0 * count])),
            "Your words have row 0 and column 0. For a word, all three numbers are the same.",
        ),
        Mistake(
            "tokens-first",
            lambda parts: _three(parts).T,
            "The array is transposed: its three lines should be time, row and column, with a column for "
            "each token.",
        ),
        Mistake(
            "column-by-column",
            _line_with(block_of=lambda f, r, c: _block(f, c, r)[[0, 2, 1]]),
            "The tokens of your pictures run down the columns. They are read like text, row by row.",
        ),
        Mistake(
            "goes-on-by-rows",
            _line_with(next_at=lambda at, placed, size: int(placed[1].max()) + 1),
            "You continue after the largest row. Frames and columns may have gone further.",
        ),
        Mistake(
            "goes-on-by-columns",
            _line_with(next_at=lambda at, placed, size: int(placed[2].max()) + 1),
            "You continue after the largest column. Frames and rows may have gone further.",
        ),
        Mistake(
            "each-from-0",
            _line_with(next_at=lambda at, placed, size: 0),
            "Each of your parts begins at 0 again, and words before and after a picture look the same. "
            "Continue where the part before ended.",
        ),
        Mistake(
            "goes-on-by-the-sum",
            _line_with(next_at=lambda at, placed, size: at + sum(size)),
            "After a picture you continue after frames, rows and columns added up. Only the largest of "
            "the three counts.",
        ),
        Mistake(
            "time-stands-still",
            _line_with(place=lambda block, at: block * np.array([[0], [1], [1]]) + at),
            "All frames of a video have the same time in yours. Count them too.",
        ),
        Mistake(
            "counted-from-one",
            lambda parts: _three(parts) + 1,
            "You count positions from 1. The first one is 0.",
        ),
        Mistake(
            "picture-counts-as-one",
            _line_with(next_at=lambda at, placed, size: at + (1 if len(size) > 1 else size[0])),
            "After a picture you continue as if it were one word. Continue right after the largest "
            "number that the picture used.",
        ),
        Mistake(
            "size-for-place",
            _line_with(next_at=lambda at, placed, size: max(size)),
            "Each part begins after the size of the part before it. Add where that part began.",
        ),
        Mistake(
            "meshgrid",
            _line_with(
                block_of=lambda f, r, c: np.stack(
                    np.meshgrid(np.arange(f), np.arange(r), np.arange(c))
                ).reshape(3, -1)
            ),
            "By default np.meshgrid swaps its first two axes, so the frames of a video get mixed. Use "
            "np.indices instead.",
        ),
        Mistake(
            "lines-in-reverse",
            lambda parts: _three(parts)[::-1],
            "Your lines come in reverse: column, row, time. Time comes first.",
        ),
    ),
    alternatives=(
        _three_by_token,
        lambda parts: mrope_positions(parts),
        lambda parts: _three(parts).tolist(),
    ),
    hints=(
        "Keep one number, the position at which the next part begins. It starts at 0.",
        "The numbers within a picture are `np.indices((frames, rows, columns)).reshape(3, -1)`. Add where it "
        "begins.",
        "After each part, continue at the largest number so far, plus 1: `block.max() + 1`.",
    ),
)
