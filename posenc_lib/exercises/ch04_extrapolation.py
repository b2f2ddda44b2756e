"""Exercises of `04-extrapolation`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from posenc_lib._arrays import Array
from posenc_lib.added.sinusoidal import sinusoidal
from posenc_lib.exercises.drawing import Draws, heat_map
from posenc_lib.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each

CHAPTER = "04-extrapolation"
TABLE = "A learned table, and its end"
EARLY_TOKENS = "How a long window flatters a model"
LOSS = "Your decoder gets its loss"
GATE = "Better than counting?"

Generator = np.random.Generator


# --- stretch ---------------------------------------------------------------------------------------


def _stretch_cases(rng: Generator) -> Iterator[Case]:
    yield Case(
        "3 rows over 5 positions", (np.array([[0.0, 10.0, -1.0], [2.0, 20.0, 1.0], [4.0, 40.0, 0.5]]), 5)
    )
    for rows, dim, length in ((2, 1, 7), (4, 4, 4), (5, 3, 12), (8, 2, 32), (9, 2, 5), (6, 6, 11)):
        yield Case(f"{rows} rows over {length} positions", (rng.normal(size=(rows, dim)), length))
    rows, length = int(rng.integers(5, 20)), int(rng.integers(25, 60))
    yield Case(f"{rows} rows over {length} positions", (rng.normal(size=(rows, 3)), length))


def _corners(rows: int, length: int) -> Array:
    """Where each position lies between the rows, the ends kept."""
    return np.arange(length) * ((rows - 1) / (length - 1))


def _read_between(table: Array, places: Array) -> Array:
    below = np.clip(np.floor(places).astype(int), 0, len(table) - 2)
    share = (places - below)[:, None]
    return table[below] * (1 - share) + table[below + 1] * share


def _stretch(table: Array, length: int) -> Array:
    return _read_between(table, _corners(len(table), length))


def _shares_swapped(table: Array, length: int) -> Array:
    places = _corners(len(table), length)
    below = np.clip(np.floor(places).astype(int), 0, len(table) - 2)
    share = (places - below)[:, None]
    return table[below] * share + table[below + 1] * (1 - share)


def _centred(table: Array, length: int) -> Array:
    places = (np.arange(length) + 0.5) * len(table) / length - 0.5
    return _read_between(table, np.clip(places, 0, len(table) - 1))


def _rows_by_length(table: Array, length: int) -> Array:
    places = np.arange(length) * len(table) / length
    return _read_between(table, np.clip(places, 0, len(table) - 1))


def _zeros_after(table: Array, length: int) -> Array:
    stretched = np.zeros((length, table.shape[1]))
    stretched[: len(table)] = table[:length]
    return stretched


def _stretch_by_column(table: Array, length: int) -> Array:
    places = np.linspace(0, len(table) - 1, length)
    return np.stack([np.interp(places, np.arange(len(table)), column) for column in table.T], axis=1)


def _stretch_by_loop(table: Array, length: int) -> list[list[float]]:
    stretched = []
    for position in range(length):
        place = position * (len(table) - 1) / (length - 1)
        below = min(int(place), len(table) - 2)
        share = place - below
        stretched.append(
            [(1 - share) * a + share * b for a, b in zip(*table[below : below + 2], strict=True)]
        )
    return stretched


def _stretch_by_tents(table: Array, length: int) -> Array:
    places = np.linspace(0, len(table) - 1, length)
    weights = np.maximum(0, 1 - np.abs(places[:, None] - np.arange(len(table))))
    return np.asarray(weights @ table)


STRETCH = Exercise(
    id=f"{CHAPTER}.stretch",
    title="Stretch it",
    step_of=TABLE,
    signature="stretch(table: array of shape (rows, dim), length: int) -> array of shape (length, dim)",
    points=4,
    minutes=15,
    difficulty=3,
    draws=Draws(
        lambda stretch, rows, columns: heat_map(stretch(sinusoidal(16, 32), 64), rows=rows, columns=columns),
        axes=("position", "column"),
        look="Sixteen rows reach over 64 positions now, and every wave is four times as long.",
    ),
    reference=_stretch,
    make_cases=_stretch_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[1], args[0].shape[1]),
            "The stretched table has a row for each of the length positions, and as many columns as before.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[0], args[0][0])),
            "Position 0 must keep row 0 of the table.",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[-1], args[0][-1])),
            "The last position must get the last row of the table.",
        ),
    ),
    mistakes=(
        Mistake(
            "clamped",
            lambda table, length: table[np.minimum(np.arange(length), len(table) - 1)],
            "The table is not stretched: it ends where it ended, and its last row is repeated. Let position "
            "p read at place p * (rows - 1) / (length - 1).",
        ),
        Mistake(
            "wrapped",
            lambda table, length: table[np.arange(length) % len(table)],
            "The table starts again from its first row where it ends, so a far position looks like a near "
            "one. Spread the rows over all positions instead.",
        ),
        Mistake(
            "zeros",
            _zeros_after,
            "The rows past the end are zeros. Spread the rows that there are over all positions, so that "
            "each position lies between two of them.",
        ),
        Mistake(
            "rows-by-length",
            _rows_by_length,
            "The place is p * rows / length, so the last position does not reach the last row at its own "
            "place. Count the gaps and not the posts: p * (rows - 1) / (length - 1).",
        ),
        Mistake(
            "gaps-by-length",
            lambda table, length: _read_between(table, np.arange(length) * (len(table) - 1) / length),
            "The place is p * (rows - 1) / length, so the last position falls short of the last row. There "
            "are length - 1 gaps between length positions: divide by length - 1.",
        ),
        Mistake(
            "centred",
            _centred,
            "The rows are taken as cells with centres, as image libraries do by default "
            "(align_corners=False). Then both ends are cut off. Here the first and the last position keep "
            "the first and the last row: p * (rows - 1) / (length - 1).",
        ),
        Mistake(
            "nearest",
            lambda table, length: table[np.rint(_corners(len(table), length)).astype(int)],
            "Each position got the nearest row, so neighbours share a row and cannot be told apart. Read "
            "between the two rows, in proportion to how near each is.",
        ),
        Mistake(
            "row-below",
            lambda table, length: table[np.floor(_corners(len(table), length)).astype(int)],
            "Each position got the row below its place, so neighbours share a row. Add the share of the row "
            "above: (1 - share) * below + share * above.",
        ),
        Mistake(
            "shares-swapped",
            _shares_swapped,
            "The two shares are swapped. At place 1.25 row 1 is the nearer one, so it counts 0.75 and row 2 "
            "counts 0.25.",
        ),
        Mistake(
            "columns",
            lambda table, length: _stretch_by_column(table.T, length).T if table.shape[1] > 1 else table,
            "The columns were stretched. Positions are the rows: the result has shape (length, dim).",
        ),
    ),
    alternatives=(_stretch_by_column, _stretch_by_loop, _stretch_by_tents),
    hints=(
        "Position 0 reads row 0, and position `length - 1` reads row `rows - 1`. Where does position p "
        "read, if every step is equally long?",
        "The place of position p is `p * (rows - 1) / (length - 1)`. Its whole part is the row below, and "
        "what is left is the share of the row above.",
        "The last place has no row above it. Keep the row below at `rows - 2` there, with a share of 1; or "
        "let `np.interp` read each column.",
    ),
)


# --- past_the_end ----------------------------------------------------------------------------------

WAYS = ("clamp", "zero", "interpolate")


def _way_cases(rng: Generator) -> Iterator[Case]:
    for way in WAYS:
        for rows, dim, length in ((4, 2, 7), (5, 3, 5), (6, 2, 3), (3, 4, 4), (7, 1, 23)):
            yield Case(f"{way}: {rows} rows, {length} positions", (rng.normal(size=(rows, dim)), length, way))
    rows, length = int(rng.integers(8, 15)), int(rng.integers(16, 40))
    for way in WAYS:
        yield Case(f"{way}: {rows} rows, {length} positions", (rng.normal(size=(rows, 3)), length, way))


def _past_the_end(table: Array, length: int, way: str) -> Array:
    rows = len(table)
    if length <= rows:
        return table[:length]
    if way == "interpolate":
        return _stretch(table, length)
    last = table[-1:] if way == "clamp" else 0 * table[-1:]
    return np.concatenate([table, np.repeat(last, length - rows, axis=0)])


Reads = Callable[[Array, int], Any]


def _read_with(**ways: Reads) -> Callable[[Array, int, str], Any]:
    """As the reference, but for these ways where the text is longer than the table."""

    def read(table: Array, length: int, way: str) -> Any:
        wrong = ways.get(way) if length > len(table) else None
        return _past_the_end(table, length, way) if wrong is None else wrong(table, length)

    return read


def _with_tail(tail: Callable[[Array], Array]) -> Reads:
    """The rows that there are, and after them one row again and again."""
    return lambda table, length: np.concatenate(
        [table, np.repeat(tail(table)[None], length - len(table), axis=0)]
    )


def _one_row_early(table: Array, length: int) -> Array:
    read = _with_tail(lambda rows: 0 * rows[-1])(table, length)
    read[len(table) - 1] = 0
    return read


def _past_by_loop(table: Array, length: int, way: str) -> list[Any]:
    rows, read = table.tolist(), []
    for position in range(length):
        if position < len(rows) and (way != "interpolate" or length <= len(rows)):
            read.append(rows[position])
        elif way == "clamp":
            read.append(rows[-1])
        elif way == "zero":
            read.append([0.0] * table.shape[1])
        else:
            read.append(_stretch(table, length)[position].tolist())
    return read


def _past_by_index(table: Array, length: int, way: str) -> Array:
    position = np.arange(length)
    if way == "interpolate" and length > len(table):
        return _stretch_by_tents(table, length)
    inside = (position < len(table))[:, None]
    row = table[np.minimum(position, len(table) - 1)]
    return row * inside if way == "zero" else row


PAST_THE_END = Exercise(
    id=f"{CHAPTER}.past_the_end",
    title="Three ways past the end",
    step_of=TABLE,
    adds="Your decoder gets a learned table, and three ways past its end.",
    signature="past_the_end(table: array of shape (rows, dim), length: int, way: text) -> array of shape "
    "(length, dim)",
    points=3,
    minutes=12,
    difficulty=2,
    reference=_past_the_end,
    make_cases=_way_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[1], args[0].shape[1]),
            "There is one row for each of the length positions, and as many columns as in the table.",
            about="form",
        ),
        Property(
            lambda args, value: args[1] > len(args[0]) or bool(np.allclose(value, args[0][: args[1]])),
            "A text that is no longer than the table gets the rows as they are, in all three ways.",
        ),
    ),
    mistakes=(
        Mistake(
            "all-clamped",
            _read_with(zero=_with_tail(lambda t: t[-1]), interpolate=_with_tail(lambda t: t[-1])),
            "All three ways repeat the last row. That is clamp alone: look at what way says.",
        ),
        Mistake(
            "short-texts-stretched",
            lambda table, length, way: (
                _stretch(table, length)
                if way == "interpolate" and length != len(table)
                else _past_the_end(table, length, way)
            ),
            "A short text is stretched too: its few tokens are spread over the whole table. Stretch only "
            "where the text is longer than the table.",
        ),
        Mistake(
            "last-row-lost",
            _read_with(zero=_one_row_early),
            "Your zeros begin one position too early: the last row of the table was learned, and belongs to "
            "the last position that has one.",
        ),
        Mistake(
            "first-row-again",
            _read_with(clamp=_with_tail(lambda t: t[0])),
            "Past its end your clamped table repeats its first row. It holds on to the last one.",
        ),
        Mistake(
            "row-before-last",
            _read_with(clamp=_with_tail(lambda t: t[-2])),
            "Past its end your clamped table repeats the row before the last. Rows are counted from 0, so "
            "the last one is row rows - 1.",
        ),
        Mistake(
            "wrapped",
            _read_with(clamp=lambda table, length: table[np.arange(length) % len(table)]),
            "Your clamped table begins again from its first row, as % does. It should stay at its last row.",
        ),
        Mistake(
            "mean-row",
            _read_with(zero=_with_tail(lambda t: t.mean(axis=0) + 0.0)),
            "Past the end your zero way adds the mean of all rows. It should add nothing.",
        ),
        Mistake(
            "all-zero",
            _read_with(zero=lambda table, length: np.zeros((length, table.shape[1]))),
            "In a long text, your zero way drops the whole table. The rows that there are stay where they "
            "are.",
        ),
        Mistake(
            "interpolate-is-clamp",
            _read_with(interpolate=_with_tail(lambda t: t[-1])),
            "Your interpolated table is the clamped one. Spread the rows over all positions: that is what "
            "stretch does.",
        ),
        Mistake(
            "goes-on-in-a-line",
            _read_with(
                interpolate=lambda table, length: np.concatenate(
                    [
                        table,
                        table[-1] + np.arange(1, length - len(table) + 1)[:, None] * (table[-1] - table[-2]),
                    ]
                )
            ),
            "You go on past the end in a straight line, with the last step of the table. To interpolate is "
            "to read between the rows that there are.",
        ),
        Mistake(
            "nearest-row",
            _read_with(
                interpolate=lambda table, length: table[np.rint(_corners(len(table), length)).astype(int)]
            ),
            "Each position took the nearest row, so neighbours share one. Read between the two rows.",
        ),
    ),
    alternatives=(
        _past_by_loop,
        _past_by_index,
        lambda table, length, way: _past_the_end(table, length, way).tolist(),
    ),
    hints=(
        "Begin with what all three ways share: a text that is no longer than the table.",
        "`np.minimum(position, rows - 1)` is the row that clamp reads. For zero, the same rows are replaced "
        "by zeros where `position >= rows`.",
        "`stretch(table, length)` from the first step does the third way, where `length > rows`.",
    ),
)


# --- closed_table ----------------------------------------------------------------------------------

LONG = 300
"""Tokens: the longest text that a closed table is asked about."""


@dataclass(frozen=True)
class ClosedTable:
    """A learned table that may be asked: the length of a text to the rows of its positions."""

    table: tuple[tuple[float, ...], ...]
    way: str

    def __call__(self, length: int) -> Array:
        table, position = np.array(self.table), np.arange(min(int(length), LONG))
        if self.way == "wrap":
            return np.asarray(table[position % len(table)])
        return _past_the_end(table, len(position), self.way)


CLOSED = (*WAYS, "wrap")


def _closed_cases(rng: Generator) -> Iterator[Case]:
    for way in CLOSED:
        for kind in ("", ", with a row that comes twice", ", with a row of zeros"):
            table = rng.normal(size=(int(rng.integers(12, 40)), 3))
            place = len(table) // 2
            if "twice" in kind:
                table[place + 1] = table[place]
                table[place - 2] = table[0]
            elif kind:
                table[place] = 0
            yield Case(f"{way}{kind}", (ClosedTable(tuple(map(tuple, table.tolist())), way),))


def _same(one: Array, other: Array) -> bool:
    return bool(np.allclose(one, other, rtol=0, atol=1e-9))


def _first(holds: Callable[[int], bool]) -> int:
    return next(n for n in range(1, LONG) if holds(n))


def _opened(rows: Callable[[int], Any], **wrong: Callable[[Array], int]) -> tuple[int, str]:
    """How many rows there are, and what stands past them; `wrong` counts in its own way for some."""
    long = np.asarray(rows(LONG))
    if not _same(np.asarray(rows(LONG // 2)), long[: LONG // 2]):
        grown = _first(lambda n: not _same(np.asarray(rows(n + 1))[:n], np.asarray(rows(n))))
        return wrong.get("interpolate", lambda _: grown)(long), "interpolate"
    if not long[-1].any():
        return wrong.get("zero", lambda long: int(np.flatnonzero(long.any(axis=1))[-1]) + 1)(long), "zero"
    if _same(long[LONG // 2 :], long[-1]):
        held = wrong.get("clamp", lambda long: _first(lambda n: _same(long[n:], long[-1])) + 1)
        return held(long), "clamp"
    return wrong.get("wrap", lambda long: _first(lambda n: _same(long[n:], long[:-n])))(long), "wrap"


def _opened_by_lengths(rows: Callable[[int], Any]) -> list[Any]:
    """The shortest text whose rows are not what a longer table would have: by one property of each way."""
    texts = [np.asarray(rows(n)) for n in (2, LONG // 3, LONG)]
    if np.abs(texts[1] - texts[2][: LONG // 3]).max() > 1e-9:
        n = 2
        while np.abs(np.asarray(rows(n + 1))[:n] - np.asarray(rows(n))).max() < 1e-9:
            n += 1
        return [n, "interpolate"]
    tail = texts[2][LONG // 2 :]
    if np.ptp(tail, axis=0).max() < 1e-9:
        n = LONG
        while n > 1 and np.abs(texts[2][n - 1] - tail[-1]).max() < 1e-9:
            n -= 1
        return [n, "zero"] if np.abs(tail).max() < 1e-9 else [n + 1, "clamp"]
    for n in range(1, LONG):
        if np.abs(texts[2][n:] - texts[2][:-n]).max() < 1e-9:
            return [n, "wrap"]
    return [0, "wrap"]


CLOSED_TABLE = Exercise(
    id=f"{CHAPTER}.closed_table",
    title="Detective: a table behind a closed door",
    signature="closed_table(rows: from a number of tokens to an array of shape (tokens, dim)) -> (int, text)",
    parts=("how many rows were learned", "what stands past them"),
    points=4,
    minutes=20,
    difficulty=4,
    reference=lambda rows: _opened(rows),
    make_cases=_closed_cases,
    mistakes=(
        Mistake(
            "length-as-rows",
            lambda rows: (LONG, _opened(rows)[1]),
            "The first value is the length of the text that you asked for. Wanted is how many of these "
            "rows were learned.",
        ),
        Mistake(
            "last-index",
            lambda rows: (_opened(rows)[0] - 1, _opened(rows)[1]),
            "The first value is one too small everywhere: it is the number of the last row, and rows are "
            "counted from 0.",
        ),
        Mistake(
            "one-more",
            lambda rows: (_opened(rows)[0] + 1, _opened(rows)[1]),
            "The first value is one too large everywhere: you count the first invented row too.",
        ),
        Mistake(
            "first-repeat",
            lambda rows: _opened(rows, clamp=lambda long: _first(lambda n: _same(long[n], long[n - 1]))),
            "You stop at the first row that equals the one before it. A table may well have learned the "
            "same row twice: look for the place from which on all rows are the same.",
        ),
        Mistake(
            "first-zero",
            lambda rows: _opened(rows, zero=lambda long: _first(lambda n: not long[n].any())),
            "You stop at the first row of zeros. A table may have learned such a row: look for the last row "
            "that holds anything else.",
        ),
        Mistake(
            "first-return",
            lambda rows: _opened(rows, wrap=lambda long: _first(lambda n: _same(long[n], long[0]))),
            "You stop where row 0 comes again. A table may have learned the same row twice: the whole text "
            "has to begin again there.",
        ),
        Mistake(
            "one-length",
            lambda rows: (LONG, "clamp") if _opened(rows)[1] == "interpolate" else _opened(rows),
            "Some of these tables go unnoticed, because you ask for one length alone. Ask for two lengths, "
            "and compare the rows that both have.",
        ),
        Mistake(
            "wrap-as-clamp",
            lambda rows: (_opened(rows)[0], _opened(rows)[1].replace("wrap", "clamp")),
            "A table that begins again from its first row was taken for one that is held at its last.",
        ),
        Mistake(
            "zero-as-clamp",
            lambda rows: (_opened(rows)[0], _opened(rows)[1].replace("zero", "clamp")),
            "Zeros again and again were taken for a last row that is held. Look at the numbers: a table "
            "that is held shows its own last row.",
        ),
        Mistake(
            "names-first",
            lambda rows: _opened(rows)[::-1],
            "The two values are swapped: the number of rows comes first, then the word.",
        ),
    ),
    alternatives=(
        _opened_by_lengths,
        lambda rows: list(_opened(rows)),
        lambda rows: (np.int64(_opened(rows)[0]), _opened(rows)[1]),
    ),
    hints=(
        "Ask for one long text, and for one of half its length. Only one of the four ways gives the same "
        "position another row in the two.",
        "For the other three, look at the end of the long text: zeros, one row again and again, or neither.",
        "Count from the end for clamp and zero. For wrap, the number of rows is the smallest shift by which "
        "the whole text agrees with itself. For interpolate, let the text grow by one until its rows move.",
    ),
)


# --- token_losses and loss_by_position -------------------------------------------------------------


def _log_weights(logits: Array, axis: int = -1) -> Array:
    raised = logits - logits.max(axis=axis, keepdims=True)
    return np.asarray(raised - np.log(np.exp(raised).sum(axis=axis, keepdims=True)))


def _token_losses(logits: Array, tokens: Array) -> Array:
    return -_log_weights(logits[:-1])[np.arange(len(tokens) - 1), tokens[1:]]


def _logit_cases(rng: Generator) -> Iterator[Case]:
    yield Case("3 tokens, all logits alike", (np.zeros((3, 4)), np.array([2, 0, 3])))
    for n, vocab, size in ((2, 2, 1.0), (5, 3, 1.0), (8, 6, 3.0), (12, 4, 10.0)):
        yield Case(
            f"{n} tokens of {vocab}", (size * rng.normal(size=(n, vocab)), rng.integers(vocab, size=n))
        )
    loud = 900.0 * rng.normal(size=(6, 5))
    yield Case("logits of a thousand", (loud, rng.integers(5, size=6)))
    n = int(rng.integers(10, 20))
    yield Case(f"{n} tokens of 7", (2 * rng.normal(size=(n, 7)), rng.integers(7, size=n)))


def _token_losses_by_loop(logits: Array, tokens: Array) -> list[float]:
    losses = []
    for row, token in zip(logits[:-1], tokens[1:], strict=True):
        peak = row.max()
        losses.append(float(peak + np.log(sum(np.exp(each - peak) for each in row)) - row[token]))
    return losses


def _token_losses_by_differences(logits: Array, tokens: Array) -> Array:
    """The log of a sum of how much each of them is above that of the right one."""
    right = np.take_along_axis(logits[:-1], np.asarray(tokens)[1:, None], axis=1)
    return np.asarray(np.logaddexp.reduce(logits[:-1] - right, axis=1))


def _bare_softmax_losses(logits: Array, tokens: Array) -> Array:
    with np.errstate(all="ignore"):
        raised = np.exp(logits[:-1])
        p = raised / raised.sum(axis=1, keepdims=True)
        return -np.log(p[np.arange(len(tokens) - 1), tokens[1:]])


TOKEN_LOSSES = Exercise(
    id=f"{CHAPTER}.token_losses",
    title="What each token costs",
    step_of=LOSS,
    signature="token_losses(logits: array of shape (n, vocab), tokens: array of shape (n,)) -> array of "
    "shape (n - 1,), in nats",
    points=2,
    minutes=10,
    difficulty=2,
    reference=_token_losses,
    make_cases=_logit_cases,
    where_not_finite="No computer holds e to the power of a thousand. Take the largest number of a row away "
    "from all of that row first: the weights stay what they are.",
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[1]) - 1,),
            "There is one loss for each token but the first, which nothing predicts: n - 1 of them.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value) >= -1e-9)),
            "No loss can be below 0: no probability is above 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "own-token",
            lambda logits, tokens: -_log_weights(logits[:-1])[np.arange(len(tokens) - 1), tokens[:-1]],
            "Each row is asked about its own token, which it has already read. Row t predicts token t + 1.",
        ),
        Mistake(
            "backwards",
            lambda logits, tokens: -_log_weights(logits[1:])[np.arange(len(tokens) - 1), tokens[:-1]],
            "Each row is asked about the token before it. Row t predicts token t + 1.",
        ),
        Mistake(
            "reads-the-answer",
            lambda logits, tokens: -_log_weights(logits[1:])[np.arange(len(tokens) - 1), tokens[1:]],
            "Row t is asked about token t, from token 1 on. By then the model has read it. Row t predicts "
            "token t + 1.",
        ),
        Mistake(
            "bits",
            lambda logits, tokens: _token_losses(logits, tokens) / np.log(2),
            "These are bits, with the logarithm of base 2. Nats take the natural one, np.log.",
        ),
        Mistake(
            "log-probabilities",
            lambda logits, tokens: -_token_losses(logits, tokens),
            "These are the logarithms of the probabilities. A loss is their negative.",
        ),
        Mistake(
            "probabilities",
            lambda logits, tokens: np.exp(-_token_losses(logits, tokens)),
            "These are the probabilities of the tokens. The loss is minus the logarithm of each.",
        ),
        Mistake(
            "softmax-over-tokens",
            lambda logits, tokens: -_log_weights(logits[:-1], axis=0)[np.arange(len(tokens) - 1), tokens[1:]],
            "The softmax was taken down the columns. Each row is one prediction: its weights must sum to 1.",
        ),
        Mistake(
            "logits-as-losses",
            lambda logits, tokens: -logits[np.arange(len(tokens) - 1), tokens[1:]],
            "You took the logits of the tokens as they are. Turn each row into probabilities first, by the "
            "softmax.",
        ),
        Mistake(
            "bare-softmax",
            _bare_softmax_losses,
            "Your softmax overflows where logits are large. Take the largest number of a row away from all "
            "of that row first: the weights stay what they are.",
        ),
    ),
    alternatives=(
        _token_losses_by_loop,
        _token_losses_by_differences,
        lambda logits, tokens: _token_losses(logits, tokens).tolist(),
    ),
    hints=(
        "Which row of the logits is made before token 3 is read, and predicts it? And which row predicts "
        "nothing that there is?",
        "Softmax of the rows `logits[:-1]`, then in each row the weight of the token in `tokens[1:]`.",
        "Minus the logarithm of that weight. To be safe with large logits: take the largest of the row "
        "away, then `np.log(np.exp(row).sum()) - row[token]`.",
    ),
)


def _loss_by_position(logits: Array, tokens: Array, width: int) -> Array:
    losses = np.array([_token_losses(*each) for each in zip(logits, tokens, strict=True)])
    return np.array([losses[:, at : at + width].mean() for at in range(0, losses.shape[1], width)])


def _position_cases(rng: Generator) -> Iterator[Case]:
    sizes = ((2, 5, 3, 2), (3, 9, 4, 4), (2, 8, 3, 3), (4, 13, 5, 5), (2, 6, 2, 8), (3, 7, 4, 1))
    for texts, n, vocab, width in (*sizes, (int(rng.integers(3, 6)), int(rng.integers(15, 23)), 5, 4)):
        logits = rng.normal(size=(texts, n, vocab)) * np.linspace(0.3, 2.5, n)[:, None]
        tokens = rng.integers(vocab, size=(texts, n))
        yield Case(f"{texts} texts of {n} tokens, stretches of {width}", (logits, tokens, width))


def _all_losses(logits: Array, tokens: Array) -> Array:
    return np.array([_token_losses(*each) for each in zip(logits, tokens, strict=True)])


def _stretches(losses: Array, width: int, mean: Callable[[Array], Any] = np.mean) -> Array:
    return np.array([mean(losses[:, at : at + width]) for at in range(0, losses.shape[1], width)])


def _by_labels(logits: Array, tokens: Array, width: int) -> Array:
    losses = _all_losses(logits, tokens)
    label = np.broadcast_to(np.arange(losses.shape[1]) // width, losses.shape)
    return np.bincount(label.ravel(), losses.ravel()) / np.bincount(label.ravel())


def _by_text_and_loop(logits: Array, tokens: Array, width: int) -> list[float]:
    sums: dict[int, list[float]] = {}
    for text, row in zip(tokens, logits, strict=True):
        for place, loss in enumerate(_token_losses_by_loop(row, text)):
            sums.setdefault(place // width, []).append(loss)
    return [sum(each) / len(each) for _, each in sorted(sums.items())]


LOSS_BY_POSITION = Exercise(
    id=f"{CHAPTER}.loss_by_position",
    title="The loss by position",
    step_of=LOSS,
    adds="Your decoder gets its loss, in nats, for each stretch of positions.",
    signature="loss_by_position(logits: array of shape (texts, n, vocab), tokens: array of shape (texts, n), "
    "width: int) -> array of shape (stretches,), in nats",
    points=2,
    minutes=10,
    difficulty=2,
    reference=_loss_by_position,
    make_cases=_position_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (-(-(args[1].shape[1] - 1) // args[2]),),
            "A text of n tokens has n - 1 losses. There is one mean for each stretch of width of them, and "
            "one for what is left at the end.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "by-length",
            lambda logits, tokens, width: np.array(
                [
                    _all_losses(logits, tokens)[:, : at + width].mean()
                    for at in range(0, tokens.shape[1] - 1, width)
                ]
            ),
            "Each number is the mean from the beginning of the text on: the loss by length. Early positions "
            "then hide what happens at late ones. Take each stretch by itself.",
        ),
        Mistake(
            "sums",
            lambda logits, tokens, width: _stretches(_all_losses(logits, tokens), width, np.sum),
            "These are sums. Take the mean of each stretch, over all texts.",
        ),
        Mistake(
            "first-text-alone",
            lambda logits, tokens, width: _stretches(_all_losses(logits[:1], tokens[:1]), width),
            "Only the first text is counted. Each mean runs over all texts.",
        ),
        Mistake(
            "last-position-of-each",
            lambda logits, tokens, width: _stretches(
                _all_losses(logits, tokens), width, lambda part: part[:, -1].mean()
            ),
            "You take one position of each stretch, its last. The mean runs over all of them.",
        ),
        Mistake(
            "every-width-th",
            lambda logits, tokens, width: np.array(
                [
                    _all_losses(logits, tokens)[:, k :: -(-(tokens.shape[1] - 1) // width)].mean()
                    for k in range(-(-(tokens.shape[1] - 1) // width))
                ]
            ),
            "Your groups jump through the text. A stretch is made of neighbours: the first width losses, "
            "then the next.",
        ),
        Mistake(
            "in-reverse",
            lambda logits, tokens, width: _loss_by_position(logits, tokens, width)[::-1],
            "The stretches come in reverse order. The beginning of the text comes first.",
        ),
        Mistake(
            "rest-over-width",
            lambda logits, tokens, width: _stretches(
                _all_losses(logits, tokens), width, lambda part: part.sum() / (len(part) * width)
            ),
            "The last stretch is divided by width, though it may hold fewer losses than that. Divide by how "
            "many there are.",
        ),
        Mistake(
            "texts-as-stretches",
            lambda logits, tokens, width: np.resize(
                _all_losses(logits, tokens).mean(axis=1), -(-(tokens.shape[1] - 1) // width)
            ),
            "You average along each text, so that positions are mixed. Average over the texts, stretch by "
            "stretch.",
        ),
    ),
    alternatives=(
        _by_labels,
        _by_text_and_loop,
        lambda logits, tokens, width: _loss_by_position(logits, tokens, width).tolist(),
    ),
    hints=(
        "Call `token_losses` for each text: the results, one below another, have shape (texts, n - 1).",
        "Stretch k holds the columns `k * width` to `(k + 1) * width`; a slice past the end stops by itself.",
        "One mean for each stretch, over all texts and all columns of it: `losses[:, a:b].mean()`.",
    ),
)


# --- bigram_losses and admitted --------------------------------------------------------------------


def _text_of(rng: Generator, n: int, vocab: int) -> Array:
    """Tokens of which one often follows another, and the last of the vocabulary never comes."""
    tokens = [int(rng.integers(vocab - 1))]
    while len(tokens) < n:
        follows = (2 * tokens[-1] + 1) % (vocab - 1)
        tokens.append(follows if rng.random() < 0.6 else int(rng.integers(vocab - 1)))
    return np.array(tokens)


def _bigram_cases(rng: Generator) -> Iterator[Case]:
    yield Case("0 1 0 1 0 2, then 0 1 1", (np.array([0, 1, 0, 1, 0, 2]), np.array([0, 1, 1]), 3))
    for n, m, vocab in ((12, 6, 4), (40, 15, 6), (80, 30, 9)):
        yield Case(
            f"{n} tokens seen, {m} tested, {vocab} in all",
            (_text_of(rng, n, vocab), _text_of(rng, m, vocab), vocab),
        )
    new = _text_of(rng, 20, 7)
    new[[5, 6, 12]] = 6
    yield Case("tokens that were never seen", (_text_of(rng, 30, 7), new, 7))


def _bigram(
    seen: Array,
    text: Array,
    vocab: int,
    *,
    kinds_of: Callable[[Array], Array] = lambda times: (times > 0).sum(axis=-1),
    shorter: Callable[[Array], Array] | None = None,
) -> Array:
    """-ln P of each token but the first, Witten-Bell; `kinds_of` and `shorter` may get a part of it wrong."""
    once = np.bincount(seen, minlength=vocab)
    kinds = (once > 0).sum()
    alone = (once + kinds / vocab) / (len(seen) + kinds)
    alone = alone if shorter is None else shorter(once)
    pairs = np.zeros((vocab, vocab))
    np.add.at(pairs, (seen[:-1], seen[1:]), 1)
    after = kinds_of(pairs)[:, None]
    with np.errstate(all="ignore"):
        p = (pairs + after * alone) / (pairs.sum(axis=1, keepdims=True) + after)
        p = np.where(pairs.sum(axis=1, keepdims=True) > 0, p, alone)
        return -np.log(p[text[:-1], text[1:]])


def _alone_losses(seen: Array, text: Array, vocab: int) -> Array:
    once = np.bincount(seen, minlength=vocab)
    kinds = (once > 0).sum()
    return -np.log((once + kinds / vocab) / (len(seen) + kinds))[text[1:]]


def _add_one(seen: Array, text: Array, vocab: int) -> Array:
    pairs = np.ones((vocab, vocab))
    np.add.at(pairs, (seen[:-1], seen[1:]), 1)
    return -np.log(pairs / pairs.sum(axis=1, keepdims=True))[text[:-1], text[1:]]


def _unsmoothed(seen: Array, text: Array, vocab: int) -> Array:
    return _bigram(seen, text, vocab, kinds_of=lambda pairs: 0 * pairs.sum(axis=-1))


def _after_instead(seen: Array, text: Array, vocab: int) -> Array:
    return _bigram(seen[::-1], text[::-1], vocab)[::-1]


def _bigram_by_dictionaries(seen: Array, text: Array, vocab: int) -> list[float]:
    tokens = seen.tolist()
    alone = {b: (tokens.count(b) + len(set(tokens)) / vocab) for b in range(vocab)}
    total = len(tokens) + len(set(tokens))
    losses = []
    for a, b in zip(text.tolist()[:-1], text.tolist()[1:], strict=True):
        followers = [after for before, after in pairwise(tokens) if before == a]
        p = alone[b] / total
        if followers:
            kinds = len(set(followers))
            p = (followers.count(b) + kinds * p) / (len(followers) + kinds)
        losses.append(float(-np.log(p)))
    return losses


def _bigram_by_library(seen: Array, text: Array, vocab: int) -> Array:
    """By the library's n-gram, whose alphabet is the 256 bytes: its floor is put right by hand."""
    once = np.bincount(seen, minlength=vocab)
    kinds = float((once > 0).sum())
    alone = (once + kinds / vocab) / (len(seen) + kinds)
    pairs = np.histogram2d(seen[:-1], seen[1:], bins=[np.arange(vocab + 1)] * 2)[0]
    follow, after = pairs.sum(axis=1), (pairs > 0).sum(axis=1)
    share = np.divide(after, follow + after, out=np.ones(vocab), where=follow > 0)
    counted = np.divide(pairs, follow[:, None], out=np.zeros_like(pairs), where=follow[:, None] > 0)
    p = (1 - share[:, None]) * counted + share[:, None] * alone
    return np.asarray(-np.log(p[text[:-1], text[1:]]))


BIGRAM_LOSSES = Exercise(
    id=f"{CHAPTER}.bigram_losses",
    title="What counting alone knows",
    step_of=GATE,
    signature="bigram_losses(seen: array of shape (m,), text: array of shape (n,), vocab: int) -> array of "
    "shape (n - 1,), in nats",
    points=4,
    minutes=25,
    difficulty=4,
    reference=lambda seen, text, vocab: _bigram(seen, text, vocab),
    make_cases=_bigram_cases,
    where_not_finite="A pair that was never seen got the probability 0. The mixture gives every token of the "
    "vocabulary something.",
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[1]) - 1,),
            "There is one loss for each token of text but the first: n - 1 of them.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value) > 0)),
            "No token is certain: each loss is above 0.",
        ),
    ),
    mistakes=(
        Mistake(
            "unsmoothed",
            _unsmoothed,
            "A pair that was never seen got the probability 0, and its loss is infinite. Mix the counts with "
            "the shorter context, as the formula says.",
        ),
        Mistake(
            "add-one",
            _add_one,
            "You add 1 to every count. That is another way to mix: here the counts are mixed with the "
            "probability of the token alone, in a share that depends on how many kinds came after.",
        ),
        Mistake(
            "no-context",
            _alone_losses,
            "These are the losses of the tokens alone. Use the token before: how often did this one follow "
            "it?",
        ),
        Mistake(
            "uniform-below",
            lambda seen, text, vocab: _bigram(
                seen, text, vocab, shorter=lambda once: np.full(vocab, 1 / vocab)
            ),
            "The counts of pairs are mixed with 1 / vocab at once. Below the pairs comes the token alone, "
            "and only below that 1 / vocab.",
        ),
        Mistake(
            "floor-left-out",
            lambda seen, text, vocab: _bigram(seen, text, vocab, shorter=lambda once: once / once.sum()),
            "The probability of the token alone is its plain share of what was seen, so a token that was "
            "never seen has none. Mix it with 1 / vocab in the same way.",
        ),
        Mistake(
            "times-for-kinds",
            lambda seen, text, vocab: _bigram(seen, text, vocab, kinds_of=lambda pairs: pairs.sum(axis=-1)),
            "Where kinds should stand you put counts. T(a) is how many different tokens came after a, "
            "each counted once.",
        ),
        Mistake(
            "one-for-kinds",
            lambda seen, text, vocab: _bigram(
                seen, text, vocab, kinds_of=lambda pairs: np.minimum(pairs.sum(axis=-1), 1)
            ),
            "Where kinds should stand you put 1. T(a) is how many different tokens came after a.",
        ),
        Mistake(
            "context-after",
            _after_instead,
            "You look at the token that comes after. A language model knows only what stands before.",
        ),
        Mistake(
            "counts-the-test",
            lambda seen, text, vocab: _bigram(np.concatenate([seen, text]), text, vocab),
            "You counted the text that is tested, too. What is held out may not be counted, or the n-gram "
            "knows the answers.",
        ),
        Mistake(
            "bits",
            lambda seen, text, vocab: _bigram(seen, text, vocab) / np.log(2),
            "These are bits. Nats take the natural logarithm, np.log.",
        ),
    ),
    alternatives=(
        _bigram_by_dictionaries,
        _bigram_by_library,
        lambda seen, text, vocab: _bigram(seen, text, vocab).tolist(),
    ),
    hints=(
        "Two tables of counts are all that you need: how often each token came, and how often each pair.",
        "`np.bincount(seen, minlength=vocab)` counts tokens; `np.add.at(pairs, (seen[:-1], seen[1:]), 1)` "
        "counts pairs. Kinds are the entries above 0.",
        "First P(b), the token alone, for all b. Then (pairs + T(a) P(b)) / (c(a) + T(a)), row by row; a row "
        "without any pair is P(b) itself.",
    ),
)


def _gain(
    model: Array, counted: Array, sizes: Array, *, shares: Array | None = None
) -> tuple[float, float, bool]:
    share = sizes / sizes.sum() if shares is None else shares
    by_file = counted - model
    gain = float((share * by_file).sum())
    uncertain = float(1.96 * np.sqrt((share**2 * (by_file - gain) ** 2).sum()))
    return gain, uncertain, gain > uncertain


def _gate_cases(rng: Generator) -> Iterator[Case]:
    for label in enough_of_each(
        rng,
        ["a clear gain", "a small gain in every file", "many files"],
        ["a loss", "a gain in one large file alone", "a gain that is not above its uncertainty"],
    ):
        files = 40 if label == "many files" else int(rng.integers(5, 12))
        sizes = rng.integers(1, 30, size=files) * 1000.0
        counted = rng.uniform(1.2, 2.0, size=files)
        noise = rng.normal(size=files)
        noise -= (noise * sizes).sum() / sizes.sum()
        gain = {
            "a clear gain": 0.3 + 0.1 * noise,
            "a small gain in every file": 0.02 + 0.002 * noise,
            "many files": 0.1 + 0.1 * noise,
            "a loss": -0.2 + 0.1 * noise,
            "a gain that is not above its uncertainty": 0.01 + 0.3 * noise,
            "a gain in one large file alone": -0.25 + 0.02 * noise,
        }[label]
        if label == "a gain in one large file alone":
            sizes[0] = 2 * sizes.sum()
            gain[0] = 0.2
        yield Case(label, (counted - gain, counted, sizes))


def _gain_changed(change: Callable[[float, float], tuple[float, float, bool]]) -> Callable[..., Any]:
    return lambda model, counted, sizes: change(*_gain(model, counted, sizes)[:2])


def _gain_unpaired(model: Array, counted: Array, sizes: Array) -> tuple[float, float, bool]:
    share = sizes / sizes.sum()
    gain = float((share * (counted - model)).sum())
    spread = [(share**2 * (each - (share * each).sum()) ** 2).sum() for each in (model, counted)]
    uncertain = float(1.96 * np.sqrt(sum(spread)))
    return gain, uncertain, gain > uncertain


def _gain_by_loop(model: Array, counted: Array, sizes: Array) -> list[Any]:
    total = float(sum(sizes))
    rows = list(zip(model.tolist(), counted.tolist(), sizes.tolist(), strict=True))
    gain = sum((c - m) * n for m, c, n in rows) / total
    squares = sum((n * (c - m - gain)) ** 2 for m, c, n in rows)
    uncertain = 1.96 * squares**0.5 / total
    return [gain, uncertain, bool(gain > uncertain)]


def _gain_by_average(model: Array, counted: Array, sizes: Array) -> tuple[Any, Any, Any]:
    gain = np.average(counted, weights=sizes) - np.average(model, weights=sizes)
    uncertain = 1.96 * np.linalg.norm(sizes * (counted - model - gain)) / sizes.sum()
    return gain, uncertain, uncertain < gain


def _decided(gain: float, uncertain: float) -> tuple[float, float, bool]:
    return gain, uncertain, gain > uncertain


ADMITTED = Exercise(
    id=f"{CHAPTER}.admitted",
    title="Open or shut",
    step_of=GATE,
    parts=("the gain", "its uncertainty", "whether the model is admitted"),
    signature="admitted(model: array of shape (files,), counted: array of shape (files,), sizes: array of "
    "shape (files,)) -> (float, float, bool)",
    points=3,
    minutes=15,
    difficulty=3,
    reference=lambda model, counted, sizes: _gain(model, counted, sizes),
    make_cases=_gate_cases,
    mistakes=(
        Mistake(
            "files-alike",
            lambda model, counted, sizes: _gain(
                model, counted, sizes, shares=np.full(len(sizes), 1 / len(sizes))
            ),
            "Each file counts the same, however long it is. Weigh each by its share of all bytes.",
        ),
        Mistake(
            "gain-turned",
            lambda model, counted, sizes: _gain(counted, model, sizes),
            "The sign is turned: a model that is better than counting has the lower loss, and its gain is "
            "above 0.",
        ),
        Mistake(
            "above-zero",
            _gain_changed(lambda gain, uncertain: (gain, uncertain, gain > 0)),
            "Both numbers are right. You admit every gain above 0. It has to be above its uncertainty.",
        ),
        Mistake(
            "any-difference",
            _gain_changed(lambda gain, uncertain: (gain, uncertain, abs(gain) > uncertain)),
            "Both numbers are right. You also admit a model that is clearly worse than counting.",
        ),
        Mistake(
            "one-error",
            _gain_changed(lambda gain, uncertain: _decided(gain, uncertain / 1.96)),
            "The gain is right. The uncertainty lacks the factor 1.96, by which a standard error becomes "
            "half the width of a 95% interval.",
        ),
        Mistake(
            "whole-width",
            _gain_changed(lambda gain, uncertain: _decided(gain, 2 * uncertain)),
            "The gain is right. The uncertainty is the whole width of the interval: take half of it, from "
            "the middle to one end.",
        ),
        Mistake(
            "spread-of-files",
            lambda model, counted, sizes: _decided(
                _gain(model, counted, sizes)[0],
                float(
                    1.96
                    * np.sqrt(
                        np.average((counted - model - _gain(model, counted, sizes)[0]) ** 2, weights=sizes)
                    )
                ),
            ),
            "The gain is right. The uncertainty is the spread of single files. The mean of many files is "
            "surer than one of them: square the shares.",
        ),
        Mistake(
            "unpaired",
            _gain_unpaired,
            "The gain is right. You took the spread of the two losses apart. A file that is hard for one is "
            "hard for the other: take the difference in each file first, then its spread.",
        ),
        Mistake(
            "square-left",
            _gain_changed(lambda gain, uncertain: _decided(gain, uncertain**2 / 1.96)),
            "The gain is right. The root was forgotten: the uncertainty is a root of a sum of squares.",
        ),
    ),
    alternatives=(
        _gain_by_loop,
        _gain_by_average,
        lambda model, counted, sizes: list(_gain(model, counted, sizes)),
    ),
    hints=(
        "Take the difference in each file first. What is hard for counting is hard for the model, and the "
        "difference knows nothing of that.",
        "The share of a file is its size divided by the sum of all. The gain is the sum of share times "
        "difference.",
        "Sum the squares of share times (difference less gain), take the root, and multiply by 1.96. The "
        "model is admitted where the gain is above that.",
    ),
)


# --- which_claim -----------------------------------------------------------------------------------

CLAIMED = ("defined", "works", "defined", "uses", "works", "none")


def _claims_with(**changed: str) -> Callable[[], tuple[str, ...]]:
    numbers = {"one": 0, "two": 1, "three": 2, "four": 3, "five": 4, "six": 5}
    answer = list(CLAIMED)
    for number, word in changed.items():
        answer[numbers[number]] = word
    return lambda: tuple(answer)


WHICH_CLAIM = Exercise(
    id=f"{CHAPTER}.which_claim",
    title="Predict: which claim does it back?",
    signature='which_claim: six words, each of "defined", "works", "uses", "none"',
    parts=("sentence 1", "sentence 2", "sentence 3", "sentence 4", "sentence 5", "sentence 6"),
    points=2,
    minutes=8,
    difficulty=2,
    kind="value",
    reference=lambda: CLAIMED,
    make_cases=lambda rng: iter([Case("your six words")]),
    mistakes=(
        Mistake(
            "all-defined",
            lambda: ("defined",) * 6,
            "You took all six for claims about a formula. In some of them a model was asked: its loss was "
            "measured.",
        ),
        Mistake(
            "a-vector-works",
            _claims_with(one="works", three="works"),
            "To give something at a position is not to work there. In two of your sentences no model was "
            "asked at all.",
        ),
        Mistake(
            "holding-is-using",
            _claims_with(two="uses", five="uses"),
            "A loss that does not rise does not tell whether far tokens were read. For that, somebody has to "
            "take them away.",
        ),
        Mistake(
            "falling-in-blocks",
            _claims_with(six="uses"),
            "Five are right. A mean that falls in longer blocks may be the early tokens alone.",
        ),
        Mistake(
            "falling-is-working",
            _claims_with(six="works"),
            "Five are right. A mean over a longer block can fall while the far positions get worse, as "
            "early tokens count for less.",
        ),
        Mistake(
            "using-is-working",
            _claims_with(four="works"),
            "Five are right. In one sentence, tokens were taken away: that asks more than whether the loss "
            "holds.",
        ),
        Mistake(
            "in-reverse",
            lambda: CLAIMED[::-1],
            "The six words come in reverse order. The first belongs to sentence 1.",
        ),
    ),
    alternatives=(
        lambda: list(CLAIMED),
        lambda: tuple(each.upper() for each in CLAIMED),
        lambda: np.array(CLAIMED),
    ),
    hints=(
        "Ask of each sentence: was a model asked, or a formula? And if a model: were far tokens taken away?",
        "Defined: the formula gives something. Works: the loss at far positions does not rise. Uses: it is "
        "lower thanks to tokens that are far away.",
        "One of the six proves none of the three: what makes the mean of a longer block fall by itself?",
    ),
)


# --- early_share -----------------------------------------------------------------------------------

EARLY_SHARE = Exercise(
    id=f"{CHAPTER}.early_share",
    title="Predict: how many tokens are early?",
    step_of=EARLY_TOKENS,
    parts=("in blocks of 64", "in blocks of 1024"),
    signature="early_share: two numbers between 0 and 1, (in blocks of 64, in blocks of 1024)",
    points=1,
    minutes=5,
    difficulty=2,
    kind="value",
    reference=lambda: (0.5, 0.03125),
    make_cases=lambda rng: iter([Case("your prediction")]),
    relative_tolerance=1e-2,
    absolute_tolerance=0.0,
    properties=(
        Property(
            lambda args, value: all(0 <= share <= 1 for share in value),
            "Give shares between 0 and 1: early tokens of a block, divided by all tokens of the block.",
        ),
    ),
    mistakes=(
        Mistake(
            "the-same-share",
            lambda: (0.5, 0.5),
            "Your first number is right. A longer block has just as many early tokens as a short one, and "
            "many more others: the share falls.",
        ),
        Mistake(
            "counts",
            lambda: (32, 32),
            "These are counts: each block has 32 early tokens, whatever its length. Divide by the length of "
            "the block.",
        ),
        Mistake(
            "percent",
            lambda: (50, 3.125),
            "These are percentages. Give shares between 0 and 1.",
        ),
        Mistake(
            "late-share",
            lambda: (0.5, 0.96875),
            "The second number is the share of tokens that are not early. Take it from 1.",
        ),
        Mistake(
            "ratio-of-blocks",
            lambda: (0.5, 0.0625),
            "Your first number is right. The second is 64 / 1024, one block in the other. An early token is "
            "one of the first 32.",
        ),
        Mistake(
            "swapped",
            lambda: (0.03125, 0.5),
            "The two numbers are swapped. The short blocks come first, and more of their tokens are early.",
        ),
        Mistake(
            "thirty-one",
            lambda: (31 / 64, 31 / 1024),
            "You counted 31 early tokens. The first token of a block has 0 tokens before it and the next has "
            "1; 0 to 31 are 32 different numbers.",
        ),
        Mistake(
            "thirty-three",
            lambda: (33 / 64, 33 / 1024),
            "You counted 33 early tokens. Fewer than 32 means 0 to 31, and 32 itself does not belong to it.",
        ),
    ),
    alternatives=(
        lambda: [0.5, 1 / 32],
        lambda: (32 / 64, 32 / 1024),
        lambda: tuple(np.mean(np.arange(block) < 32) for block in (64, 1024)),
        lambda: (0.5, 0.0313),
    ),
    hints=(
        "How many tokens does the first token of a block have before it? And the second?",
        "Each block has 32 tokens with fewer than 32 before them. What share of the block is that?",
    ),
)


# --- far_gap ---------------------------------------------------------------------------------------


def _losses(rng: Generator, windows: int, length: int, trained: int, rise: float) -> Array:
    """Losses that fall along a window as context grows, and change past the training length."""
    place = np.arange(length)
    mean = 1.5 + 2.0 / (1 + place / 4) + rise * (place >= trained)
    return np.asarray(mean + 0.2 * rng.normal(size=(windows, length)))


def _far_gap_cases(rng: Generator) -> Iterator[Case]:
    yield Case("two windows, nothing changes", (np.full((2, 16), 1.25), 8))
    for label, shape, rise in (
        ("a model that breaks", (3, 16, 8), 1.0),
        ("a model that hides it well", (4, 24, 20), 0.4),
        ("a model that gains", (5, 64, 16), -0.3),
        ("one token past the training length", (2, 9, 8), 0.7),
    ):
        yield Case(label, (_losses(rng, *shape, rise), shape[2]))
    padded = _losses(rng, 3, 32, 12, 0.8)
    padded[0, 9:] = np.nan
    padded[1, 20:] = np.nan
    yield Case("windows that end early, with NaN after their end", (padded, 12))
    few = _losses(rng, 2, 14, 4, 0.5)
    few[1, 6:] = np.nan
    yield Case("one window shorter than the other", (few, 4))


def _gap(far: Array, near: Array, mean: Callable[[Array], Any] = np.nanmean) -> float:
    with np.errstate(all="ignore"):
        return float(mean(far) - mean(near))


def _parts(
    *, whole_far: bool = False, whole_near: bool = False, mean: Callable[[Array], Any] = np.nanmean
) -> Callable[[Array, int], float]:
    """The gap, with some of the three slips of the version that is given."""

    def gap(losses: Array, trained: int) -> float:
        far = losses if whole_far else losses[:, trained:]
        near = losses[:, (0 if whole_near else trained // 2) : trained]
        return _gap(far, near, mean)

    return gap


def _mean_of_means(part: Array) -> float:
    kept = [row[~np.isnan(row)] for row in part]
    return float(np.mean([row.mean() for row in kept if row.size]))


def _gap_by_masks(losses: Array, trained: int) -> Any:
    place = np.broadcast_to(np.arange(losses.shape[1]), losses.shape)
    there = np.isfinite(losses)
    far, near = there & (place >= trained), there & (place >= trained // 2) & (place < trained)
    return losses[far].mean() - losses[near].mean()


def _gap_by_loop(losses: Array, trained: int) -> float:
    far, near = [], []
    for row in losses.tolist():
        for place, loss in enumerate(row):
            if loss != loss:
                continue
            if place >= trained:
                far.append(loss)
            elif place >= trained // 2:
                near.append(loss)
    return float(np.mean(far) - np.mean(near))


def _gap_by_sums(losses: Array, trained: int) -> Any:
    count, total = (~np.isnan(losses)).sum(axis=0), np.nan_to_num(losses).sum(axis=0)
    half = trained // 2
    return (
        total[trained:].sum() / count[trained:].sum() - total[half:trained].sum() / count[half:trained].sum()
    )


FAR_GAP = Exercise(
    id=f"{CHAPTER}.far_gap",
    title="Debug: an evaluation that fools itself",
    signature="far_gap(losses: array of shape (windows, length), trained: int) -> float, in nats",
    points=3,
    minutes=12,
    difficulty=3,
    reference=_parts(),
    make_cases=_far_gap_cases,
    where_not_finite="Some windows end early and hold NaN after their end: leave those entries out of both "
    "means.",
    properties=(
        Property(
            lambda args, value: np.ndim(value) == 0,
            "Return one number: a mean less another mean.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "as-given",
            _parts(whole_far=True, whole_near=True, mean=np.mean),
            "This does what the given version does. It has three faults: its first mean runs over the whole "
            "window, its second begins at position 0, and both are NaN where a window ends early.",
        ),
        Mistake(
            "far-and-near-mixed",
            _parts(whole_far=True),
            "One fault is left: the first mean runs over the whole window, so the positions that were "
            "trained dilute the damage. Take positions trained and later only.",
        ),
        Mistake(
            "early-tokens-kept",
            _parts(whole_near=True),
            "One fault is left: the second mean begins at position 0. The first tokens have little context "
            "and a high loss, which makes the far ones look good. Begin at trained // 2.",
        ),
        Mistake(
            "padding-kept",
            _parts(mean=np.mean),
            "One fault is left: where a window ends early, the result is NaN. Leave out what is not there, "
            "with np.nanmean for example.",
        ),
        Mistake(
            "mixed-and-early",
            _parts(whole_far=True, whole_near=True),
            "Two faults are left: the first mean should begin at position trained, and the second at "
            "position trained // 2.",
        ),
        Mistake(
            "mixed-and-padded",
            _parts(whole_far=True, mean=np.mean),
            "Two faults are left: the first mean should begin at position trained, and NaN should be left "
            "out of both means.",
        ),
        Mistake(
            "early-and-padded",
            _parts(whole_near=True, mean=np.mean),
            "Two faults are left: the second mean should begin at position trained // 2, and NaN should be "
            "left out of both means.",
        ),
        Mistake(
            "padding-as-zero",
            _parts(mean=lambda part: np.nan_to_num(part).mean()),
            "NaN was replaced by 0, so every token that is missing counts as predicted perfectly. Leave such "
            "entries out instead: np.nanmean.",
        ),
        Mistake(
            "near-less-far",
            lambda losses, trained: -_parts()(losses, trained),
            "The sign is turned: a model that gets worse past its training length must have a gap above 0. "
            "Subtract the near mean from the far mean.",
        ),
        Mistake(
            "mean-of-means",
            _parts(mean=_mean_of_means),
            "You average the windows first, and then their means, so a window that ends early counts as much "
            "as a whole one. Take one mean over all tokens that are there.",
        ),
    ),
    alternatives=(_gap_by_masks, _gap_by_loop, _gap_by_sums),
    hints=(
        "Which positions should each of the two means run over? Write the slices down first.",
        "`losses[:, trained:]` and `losses[:, trained // 2 : trained]`. In which of them may NaN stand?",
        "`np.nanmean` leaves NaN out. `np.mean` gives NaN as soon as one entry is NaN.",
    ),
)


# --- blocks_and_sliding ----------------------------------------------------------------------------


def _context_cases(rng: Generator) -> Iterator[Case]:
    for tokens, window in ((8, 4), (10, 4), (5, 1), (6, 6), (6, 9), (23, 5), (int(rng.integers(14, 22)), 3)):
        yield Case(f"{tokens} tokens, windows of {window}", (_by_context(rng, tokens), window))


def _by_context(rng: Generator, tokens: int) -> Array:
    """losses[t, c]: token t, predicted from the c tokens before it; NaN where there are fewer."""
    losses = 4.0 - np.sqrt(np.arange(tokens)) * 0.5 + rng.normal(size=(tokens, tokens)) * 0.3
    return np.where(np.tri(tokens, dtype=bool), losses, np.nan)


def _mean_at(losses: Array, context: Array) -> float:
    return float(losses[np.arange(len(losses)), context].mean())


def _in_blocks(losses: Array, window: int) -> float:
    return _mean_at(losses, np.arange(len(losses)) % window)


def _in_sliding(losses: Array, window: int) -> float:
    return _mean_at(losses, np.minimum(np.arange(len(losses)), window - 1))


def _sliding_without_start(losses: Array, window: int) -> float:
    late = np.arange(min(window - 1, len(losses) - 1), len(losses))
    return float(losses[late, np.minimum(late, window - 1)].mean())


def _blocks_without_rest(losses: Array, window: int) -> float:
    whole = len(losses) // window * window or len(losses)
    return float(losses[np.arange(whole), np.arange(whole) % window].mean())


def _every_context(losses: Array, window: int) -> float:
    return float(np.nanmean(losses[:, :window]))


def _contexts_by_loop(losses: Array, window: int) -> tuple[float, float]:
    blocks = sliding = 0.0
    seen = 0
    for token, row in enumerate(losses):
        blocks += row[seen]
        sliding += row[token if token < window else window - 1]
        seen = (seen + 1) % window
    return blocks / len(losses), sliding / len(losses)


def _contexts_by_cutting(losses: Array, window: int) -> list[Any]:
    starts = range(0, len(losses), window)
    in_blocks = np.concatenate([np.diag(losses[start : start + window, :window]) for start in starts])
    diagonal, later = np.diag(losses)[:window], losses[window:, window - 1 : window].ravel()
    return [in_blocks.mean(), np.concatenate([diagonal, later]).mean()]


def _contexts_by_masks(losses: Array, window: int) -> tuple[Any, Any]:
    token, context = np.indices(losses.shape)
    return (
        losses[context == token % window].mean(),
        losses[context == np.where(token < window, token, window - 1)].mean(),
    )


BLOCKS_AND_SLIDING = Exercise(
    id=f"{CHAPTER}.blocks_and_sliding",
    title="Blocks, or a window that slides",
    step_of=EARLY_TOKENS,
    parts=("in blocks", "sliding"),
    signature="blocks_and_sliding(losses: array of shape (tokens, tokens), window: int) -> (float, float), "
    "in nats",
    points=3,
    minutes=12,
    difficulty=3,
    reference=lambda losses, window: (_in_blocks(losses, window), _in_sliding(losses, window)),
    make_cases=_context_cases,
    where_not_finite="The losses hold NaN where a token would need more context than there is: token t has t "
    "tokens before it. Do you read one of those?",
    mistakes=(
        Mistake(
            "swapped",
            lambda losses, window: (_in_sliding(losses, window), _in_blocks(losses, window)),
            "The two numbers are swapped. The loss in blocks comes first.",
        ),
        Mistake(
            "blocks-twice",
            lambda losses, window: (_in_blocks(losses, window),) * 2,
            "Both numbers are the loss in blocks. The sliding window moves on by one token each time, so its "
            "context does not start again at 0: it grows to window - 1 and stays there.",
        ),
        Mistake(
            "sliding-twice",
            lambda losses, window: (_in_sliding(losses, window),) * 2,
            "Both numbers are the loss of the sliding window. In blocks the context starts again at 0 with "
            "every block: t % window.",
        ),
        Mistake(
            "one-token-more",
            lambda losses, window: (
                _in_blocks(losses, window),
                _mean_at(losses, np.minimum(np.arange(len(losses)), window)),
            ),
            "The blocks are right. The sliding window reads one token too many: the token itself takes a "
            "place in it, so at most window - 1 are left for those before it.",
        ),
        Mistake(
            "all-before",
            lambda losses, window: (_in_blocks(losses, window), _mean_at(losses, np.arange(len(losses)))),
            "The blocks are right. The second number lets every token see all tokens before it. A window "
            "forgets: at most window - 1 of them.",
        ),
        Mistake(
            "start-left-out",
            lambda losses, window: (_in_blocks(losses, window), _sliding_without_start(losses, window)),
            "The blocks are right. The sliding window leaves out the first tokens, whose window is not full "
            "yet. Count them too, with the context that they have, so that both means are over the same "
            "tokens.",
        ),
        Mistake(
            "rest-left-out",
            lambda losses, window: (_blocks_without_rest(losses, window), _in_sliding(losses, window)),
            "The sliding window is right. The blocks leave out the last tokens, which fill no whole block. "
            "Count them too, so that both means are over the same tokens.",
        ),
        Mistake(
            "every-context",
            lambda losses, window: (_every_context(losses, window), _in_sliding(losses, window)),
            "The sliding window is right. The first number averages over all contexts that fit into a "
            "window. In blocks each token has one context: t % window tokens before it.",
        ),
        Mistake(
            "sums",
            lambda losses, window: (
                _in_blocks(losses, window) * len(losses),
                _in_sliding(losses, window) * len(losses),
            ),
            "These are sums. Divide by the number of tokens, so that texts of different lengths can be "
            "compared.",
        ),
    ),
    alternatives=(_contexts_by_loop, _contexts_by_cutting, _contexts_by_masks),
    hints=(
        "Write down, for tokens 0 to 9 and a window of 4, how many tokens each one sees in blocks, and how "
        "many when the window slides.",
        "In blocks they are 0, 1, 2, 3, 0, 1, 2, 3, 0, 1. Sliding they are 0, 1, 2, 3, 3, 3, 3, 3, 3, 3.",
        "`losses[tokens, context]` with two arrays of whole numbers picks one loss for each token.",
    ),
)


# --- forgets ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reader:
    """A model that may be asked: tokens 0 .. 9, (n,), to one number for each token, (n,)."""

    reads: str
    reach: int = 1
    """How many tokens back it looks, the token itself counted."""

    def __call__(self, tokens: Array) -> Array:
        given = np.asarray(tokens, dtype=np.int64)
        return np.array([self._last(given[: t + 1]) for t in range(len(given))])

    def _last(self, tokens: Array) -> float:
        near, far = tokens[-self.reach :], tokens[: -self.reach]
        here = float(near @ 1.5 ** -np.arange(len(near))[::-1])
        match self.reads:
            case "far in order":
                here += float(far @ 1.3 ** np.arange(len(far)))
            case "far as a bag":
                here += float((far**2).sum())
            case "far faintly":
                here += 1e-4 * float(far.sum())
            case "first":
                here += float(tokens[0])
            case "middle":
                here += float(far[len(far) // 2]) if len(far) else 0.0
            case "just past":
                here += float(far[-1]) if len(far) else 0.0
            case "difference":
                here += float((far[0] - far[1]) % 10) if len(far) > 1 else 0.0
            case "position":
                here += float(np.sin(len(tokens)))
        return here


DEAF = {
    "a model that reads its window only": "window",
    "a model that reads less than its window": "less",
    "a model that reads its window, and knows the position": "position",
    "a text shorter than the window": "short",
}
LISTENING = {
    "a model that reads all tokens, in order": "far in order",
    "a model that adds up the far tokens": "far as a bag",
    "a model that reads the far tokens very faintly": "far faintly",
    "a model that reads its window and the first token": "first",
    "a model that reads its window and one token in the middle": "middle",
    "a model that reads one token past the window": "just past",
    "a model that compares two far tokens": "difference",
}


def _reader_cases(rng: Generator) -> Iterator[Case]:
    for label in enough_of_each(rng, list(DEAF), list(LISTENING)):
        reads = {**DEAF, **LISTENING}[label]
        window = int(rng.integers(3, 7))
        # Three far tokens or more: the first, one in the middle, and the one just past the window.
        length = window - 2 if reads == "short" else int(rng.integers(window + 3, 11))
        reader = Reader(
            "window" if reads in ("less", "short") else reads, window - 2 if reads == "less" else window
        )
        # All tokens differ, so that to exchange two of them is to change them.
        yield Case(label, (reader, rng.permutation(10)[:length], window))


def _last_of(predict: Callable[[Array], Any], tokens: Array) -> float:
    return float(np.asarray(predict(tokens))[-1])


def _changed(tokens: Array, place: int, by: int = 1) -> Array:
    other = tokens.copy()
    other[place] = (other[place] + by) % 10
    return other


def _deaf_to(
    places: Callable[[int, int], Any], slack: float = 1e-9
) -> Callable[[Callable[[Array], Any], Array, int], bool]:
    """Whether the last output stays when the tokens at these places are changed one by one."""

    def deaf(predict: Callable[[Array], Any], tokens: Array, window: int) -> bool:
        before = _last_of(predict, tokens)
        return all(
            abs(_last_of(predict, _changed(tokens, place)) - before) <= slack
            for place in places(len(tokens), window)
        )

    return deaf


_forgets = _deaf_to(lambda n, window: range(n - window))


def _cut_off(predict: Callable[[Array], Any], tokens: Array, window: int) -> bool:
    return abs(_last_of(predict, tokens) - _last_of(predict, tokens[-window:])) <= 1e-9


def _far_reversed(predict: Callable[[Array], Any], tokens: Array, window: int) -> bool:
    far = max(len(tokens) - window, 0)
    other = np.concatenate([tokens[:far][::-1], tokens[far:]])
    return abs(_last_of(predict, tokens) - _last_of(predict, other)) <= 1e-9


def _all_at_once(predict: Callable[[Array], Any], tokens: Array, window: int) -> bool:
    other = tokens.copy()
    far = max(len(tokens) - window, 0)
    other[:far] = (other[:far] + 1) % 10
    return abs(_last_of(predict, tokens) - _last_of(predict, other)) <= 1e-9


def _every_output(predict: Callable[[Array], Any], tokens: Array, window: int) -> bool:
    return all(
        np.allclose(predict(_changed(tokens, place)), predict(tokens), rtol=0, atol=1e-9)
        for place in range(len(tokens) - window)
    )


def _forgets_by_batch(predict: Callable[[Array], Any], tokens: Array, window: int) -> Any:
    answers = {round(_last_of(predict, tokens), 7)}
    for place in range(max(0, len(tokens) - window)):
        for token in set(range(10)) - {int(tokens[place])}:
            other = np.array(tokens)
            other[place] = token
            answers.add(round(_last_of(predict, other), 7))
    return len(answers) == 1


def _forgets_by_search(predict: Callable[[Array], Any], tokens: Array, window: int) -> bool:
    place = len(tokens) - window - 1
    while place >= 0:
        if not np.isclose(
            _last_of(predict, _changed(tokens, place, by=3)), _last_of(predict, tokens), rtol=0, atol=1e-8
        ):
            return False
        place -= 1
    return True


def _forgets_by_difference(predict: Callable[[Array], Any], tokens: Array, window: int) -> Any:
    before = _last_of(predict, tokens)
    moved = [abs(_last_of(predict, _changed(tokens, p, by=-1)) - before) for p in range(len(tokens) - window)]
    return np.max(moved, initial=0.0) < 1e-6


FORGETS = Exercise(
    id=f"{CHAPTER}.forgets",
    title="Prove by test: does it use what is there?",
    signature="forgets(predict: from tokens of shape (n,) to numbers of shape (n,), tokens: array of shape "
    "(n,), window: int) -> bool",
    points=4,
    minutes=15,
    difficulty=4,
    reference=_forgets,
    make_cases=_reader_cases,
    mistakes=(
        Mistake(
            "cut-off",
            _cut_off,
            "You cut the far tokens off. That also moves the others to new positions, and a model that knows "
            "positions may answer differently without reading a single far token. Leave the text as long as "
            "it is, and change a far token to another one.",
        ),
        Mistake(
            "first-token-only",
            _deaf_to(lambda n, window: range(min(1, max(n - window, 0)))),
            "Only the first token is changed. A model may ignore that one and read others that are far: try "
            "every token before the last window tokens.",
        ),
        Mistake(
            "nearest-far-token-only",
            _deaf_to(lambda n, window: range(max(n - window - 1, 0), n - window)),
            "Only the token just before the window is changed. A model may read another one, the first of "
            "the text for example: try every token before the last window tokens.",
        ),
        Mistake(
            "reversed",
            _far_reversed,
            "You put the far tokens into another order. A model that adds them up reads all of them and does "
            "not notice. Change a far token to another one.",
        ),
        Mistake(
            "all-at-once",
            _all_at_once,
            "You change all far tokens at once and by the same step. A model that compares two of them does "
            "not notice. Change them one by one.",
        ),
        Mistake(
            "every-output",
            _every_output,
            "You compare all outputs. The outputs of early tokens may change, because for them those tokens "
            "are near. Compare the last output only.",
        ),
        Mistake(
            "into-the-window",
            _deaf_to(lambda n, window: range(max(n - window + 1, 0))),
            "You also change the first token inside the window, which the model may read. The far ones are "
            "the first n - window tokens: range(n - window).",
        ),
        Mistake(
            "one-token-short",
            _deaf_to(lambda n, window: range(n - window - 1)),
            "The token just before the window is left out. The far ones are the first n - window tokens: "
            "range(n - window).",
        ),
        Mistake(
            "too-tolerant",
            _deaf_to(lambda n, window: range(n - window), slack=1e-2),
            "You overlook small changes. What is far is often read faintly, and faintly is not the same as "
            "never: allow for rounding only, 1e-9 for example.",
        ),
        Mistake(
            "opposite",
            lambda predict, tokens, window: not _forgets(predict, tokens, window),
            "The answer is the wrong way round: return True where no far token changes the last output.",
        ),
    ),
    alternatives=(_forgets_by_batch, _forgets_by_search, _forgets_by_difference),
    hints=(
        "The last output of `predict(tokens)` is your reference. Which tokens must not be able to change it?",
        "The far tokens are the first `n - window` ones. Copy `tokens`, change one of them to `(token + 1) "
        "% 10`, and ask `predict` again.",
        "Return `False` as soon as one change moves the last output, and `True` after the loop.",
    ),
)


# --- verdict ---------------------------------------------------------------------------------------

UP, STAY, DOWN = (1.4, 4.0), (-0.7, 0.7), (-4.0, -1.4)
"""How far a loss moves past the training length, in slacks, from and to."""
CURVES = {
    "breaks": {
        "all seeds rise": ((UP, UP), (UP, UP), (UP, UP)),
        "one seed of three rises": ((DOWN, DOWN), (DOWN, DOWN), (STAY, (1.4, 2.0))),
        "it rises in between and comes back": ((UP, STAY), (UP, STAY)),
        "large losses and a small rise": ((UP, STAY), (UP, UP)),
    },
    "holds": {
        "all seeds stay": (((0.2, 0.7), STAY), (STAY, STAY), (STAY, STAY)),
        "two seeds of three fall": ((DOWN, DOWN), (DOWN, DOWN), (STAY, STAY)),
        "it falls, and comes back to where it was": ((DOWN, STAY), (DOWN, STAY)),
    },
    "gains": {
        "all seeds fall": ((DOWN, DOWN), (DOWN, DOWN), (DOWN, DOWN)),
        "lengths in another order": ((DOWN, DOWN), (DOWN, DOWN)),
        "it stays at first, and falls at last": ((STAY, DOWN), (STAY, DOWN), (STAY, DOWN)),
    },
}
"""The word, what happens, and for each seed how the loss moves at twice and at four times the length."""


def _verdict_cases(rng: Generator) -> Iterator[Case]:
    moves = {label: seeds for kinds in CURVES.values() for label, seeds in kinds.items()}
    for label in enough_of_each(rng, *(list(kinds) for kinds in CURVES.values())):
        trained, slack = int(2 ** rng.integers(5, 9)), round(float(rng.uniform(0.03, 0.07)), 3)
        lengths = trained // 2 * np.array([1, 2, 4, 8])
        low = 4.5 if label.startswith("large") else 1.2
        base = rng.uniform(low, 6.0, size=(len(moves[label]), 1))
        # With half of the context the loss is higher, by more than any rise past the training length.
        before = rng.uniform(0.3, 0.5, size=base.shape)
        after = slack * np.array([[rng.uniform(*each) for each in seed] for seed in moves[label]])
        losses = base + np.concatenate([before, 0 * before, after], axis=1)
        order = [3, 1, 2, 0] if label == "lengths in another order" else [0, 1, 2, 3]
        yield Case(label, (lengths[order], losses[:, order], trained, slack))


def _judge(
    lengths: Array,
    losses: Array,
    trained: int,
    slack: float,
    *,
    breaks: Callable[[Array], Any] = np.any,
    gains: Callable[[Array], Any] = np.all,
) -> str:
    base = losses[:, lengths == trained]
    change = losses[:, lengths > trained] - base
    longest = losses[:, np.argmax(lengths)] - base[:, 0]
    if breaks(change.max(axis=1) > slack):
        return "breaks"
    return "gains" if gains(longest < -slack) else "holds"


def _judge_mean(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    return _judge(lengths, losses.mean(axis=0, keepdims=True), trained, slack)


def _judge_longest(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    keep = (lengths == trained) | (lengths == lengths.max())
    return _judge(lengths[keep], losses[:, keep], trained, slack)


def _judge_shortest(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    return _judge(lengths, losses, int(lengths.min()), slack)


def _judge_all_lengths(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    base = losses[:, lengths == trained]
    if ((losses - base).max(axis=1) > slack).any():
        return "breaks"
    return _judge(lengths, losses, trained, slack)


def _judge_last_column(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    base = losses[:, lengths == trained]
    if _judge(lengths, losses, trained, slack) == "breaks":
        return "breaks"
    return "gains" if (losses[:, -1:] - base < -slack).all() else "holds"


def _judge_relative(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    return _judge(lengths, losses / losses[:, lengths == trained], trained, slack)


def _judge_any_length(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    change = losses[:, lengths > trained] - losses[:, lengths == trained]
    if (change > slack).any():
        return "breaks"
    return "gains" if (change.min(axis=1) < -slack).all() else "holds"


def _judge_by_loop(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    every_seed_gains = True
    for row in losses.tolist():
        by_length = dict(sorted(zip(lengths.tolist(), row, strict=True)))
        base = by_length[trained]
        if any(loss > base + slack for length, loss in by_length.items() if length > trained):
            return "breaks"
        every_seed_gains &= row[lengths.tolist().index(max(lengths))] < base - slack
    return "gains" if every_seed_gains else "holds"


def _judge_sorted(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    order = np.argsort(lengths)
    start = int(np.searchsorted(lengths[order], trained))
    change = (losses[:, order] - losses[:, order][:, [start]])[:, start + 1 :]
    if change.max() > slack:
        return "breaks"
    return "holds" if change[:, -1].max() >= -slack else "gains"


VERDICT = Exercise(
    id=f"{CHAPTER}.verdict",
    title="Measure and conclude: does it extrapolate?",
    signature="verdict(lengths: (n,) whole numbers, losses: (seeds, n) in nats, trained: int, slack: float) "
    "-> text",
    points=3,
    minutes=12,
    difficulty=3,
    reference=_judge,
    make_cases=_verdict_cases,
    properties=(
        Property(
            lambda args, value: value in ("breaks", "holds", "gains"),
            "Return one of the three words: breaks, holds or gains.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "mean-over-seeds",
            _judge_mean,
            "You average over the seeds first. A seed that breaks then hides behind others that do not. The "
            "rule asks every seed.",
        ),
        Mistake(
            "longest-only",
            _judge_longest,
            "You look at the longest length only. A loss that rises in between and comes back is a break "
            "too: compare every length above trained.",
        ),
        Mistake(
            "shortest-as-base",
            _judge_shortest,
            "You compare with the shortest length, where context is scarce and the loss high, so the rise "
            "past the training length goes unseen. Compare with the loss at trained.",
        ),
        Mistake(
            "shorter-lengths-too",
            _judge_all_lengths,
            "You also hold the shorter lengths against the model. Their loss is higher because there is less "
            "context. Only lengths above trained say anything about extrapolation.",
        ),
        Mistake(
            "last-column-as-longest",
            _judge_last_column,
            "You take the last column for the longest length. The lengths may come in any order: look for "
            "their maximum.",
        ),
        Mistake(
            "no-slack",
            lambda lengths, losses, trained, slack: _judge(lengths, losses, trained, 0.0),
            "You call every rise a break, however small. A change of at most slack is noise.",
        ),
        Mistake(
            "relative-slack",
            _judge_relative,
            "You take slack as a share of the loss. It is given in nats: compare the difference of two "
            "losses with it.",
        ),
        Mistake(
            "gains-in-any-seed",
            lambda lengths, losses, trained, slack: _judge(lengths, losses, trained, slack, gains=np.any),
            "One seed that falls was enough for you to say gains. The rule asks for it in every seed.",
        ),
        Mistake(
            "gains-at-any-length",
            _judge_any_length,
            "You say gains where the loss falls at some longer length. The rule asks for it at the longest "
            "one.",
        ),
        Mistake(
            "breaks-in-every-seed",
            lambda lengths, losses, trained, slack: _judge(lengths, losses, trained, slack, breaks=np.all),
            "You say breaks only where every seed rises. One seed is enough: a method that fails one time in "
            "three cannot be relied on.",
        ),
    ),
    alternatives=(_judge_by_loop, _judge_sorted, lambda *args: _judge(*args).upper() + " "),
    hints=(
        "For each seed, take the loss at `trained` away from the losses at all longer lengths. A mask such "
        "as `lengths == trained` picks a column.",
        "If one of these differences is above `slack`, in any seed, the word is `breaks`.",
        "Otherwise look at the longest length: below minus `slack` in every seed is `gains`. What is left is "
        "`holds`.",
    ),
)

EXERCISES = (
    WHICH_CLAIM,
    STRETCH,
    PAST_THE_END,
    CLOSED_TABLE,
    BIGRAM_LOSSES,
    ADMITTED,
    TOKEN_LOSSES,
    LOSS_BY_POSITION,
    EARLY_SHARE,
    BLOCKS_AND_SLIDING,
    FAR_GAP,
    FORGETS,
    VERDICT,
)
