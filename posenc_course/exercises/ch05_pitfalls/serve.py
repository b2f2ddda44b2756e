"""A cache that never lies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from posenc_course.exercises.ch05_pitfalls._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.added.sinusoidal import sinusoidal


def _made_sinusoidal(length: int, dim: int, base: float) -> Array:
    return sinusoidal(length, dim, base=base)


def _made_dynamic(length: int, dim: int, base: float) -> Array:
    """A base that grows with the text, so that the rows of a long table are not those of a short one."""
    return sinusoidal(length, dim, base=base * max(1.0, length / 4))


def _call_cases(rng: Generator) -> Iterator[Case]:
    def random(widths: tuple[int, ...]) -> list[tuple[int, int, float]]:
        return [
            (int(rng.integers(2, 4)), int(rng.choice(widths)), float(100 * rng.integers(1, 3)))
            for _ in range(6)
        ]

    for label, make, calls in (
        ("the same call three times", _made_sinusoidal, [(3, 4, 100.0)] * 3),
        ("two lengths, in turn", _made_sinusoidal, [(3, 4, 100.0), (5, 4, 100.0), (3, 4, 100.0)]),
        ("two widths", _made_sinusoidal, [(3, 4, 100.0), (3, 8, 100.0), (3, 4, 100.0)]),
        ("two bases", _made_sinusoidal, [(3, 4, 100.0), (3, 4, 10000.0), (3, 4, 100.0)]),
        ("length and width change places", _made_sinusoidal, [(4, 6, 100.0), (6, 4, 100.0)]),
        ("1 and 16, then 11 and 6", _made_sinusoidal, [(1, 16, 100.0), (11, 6, 100.0)]),
        ("a base that grows with the length", _made_dynamic, [(9, 4, 100.0), (3, 4, 100.0), (9, 4, 100.0)]),
        ("no call at all", _made_sinusoidal, []),
        ("random calls", _made_dynamic, random((4,))),
        ("random calls of two widths", _made_sinusoidal, random((4, 6))),
    ):
        yield Case(label, (make, calls))


Maker = Callable[[int, int, float], Array]


Calls = Sequence[Any]


Served = tuple[tuple[Array, ...], int]


def _serve_by(key_of: Callable[[int, int, float], Any]) -> Callable[[Maker, Calls], Served]:
    """A cache that remembers each table under the key of its arguments."""

    def serve(make: Maker, calls: Calls) -> Served:
        cache: dict[Any, Array] = {}
        tables = []
        for call in calls:
            if key_of(*call) not in cache:
                cache[key_of(*call)] = np.asarray(make(*call))
            tables.append(cache[key_of(*call)])
        return tuple(tables), len(cache)

    return serve


def _serve_rows_of_the_longest(make: Maker, calls: Calls, *, with_base: bool = True) -> Served:
    cache: dict[Any, Array] = {}
    tables, made = [], 0
    for length, dim, base in calls:
        key = (dim, base) if with_base else dim
        if key not in cache or len(cache[key]) < length:
            cache[key] = np.asarray(make(length, dim, base))
            made += 1
        tables.append(cache[key][:length])
    return tuple(tables), made


def _serve_last_alone(make: Maker, calls: Calls) -> Served:
    last, tables, made = None, [], 0
    for call in calls:
        if call != last:
            table, made = np.asarray(make(*call)), made + 1
        last = call
        tables.append(table)
    return tuple(tables), made


def _serve_by_lru_cache(make: Maker, calls: Calls) -> Served:
    remembered = lru_cache(maxsize=None)(make)
    tables = tuple(remembered(*call) for call in calls)
    return tables, remembered.cache_info().misses


def _serve_by_list(make: Maker, calls: Calls) -> tuple[list[Array], int]:
    known: list[Any] = []
    made: list[Array] = []
    for call in calls:
        if call not in known:
            known.append(call)
            made.append(make(*call))
    return [made[known.index(call)] for call in calls], len(made)


def _serve_in_two_passes(make: Maker, calls: Calls) -> tuple[list[Array], int]:
    tables = {call: make(*call) for call in dict.fromkeys(map(tuple, calls))}
    return [tables[tuple(call)] for call in calls], len(tables)


_serve = _serve_by(lambda length, dim, base: (length, dim, base))


SERVE = Exercise(
    id="05-pitfalls.serve",
    title="A cache that never lies",
    signature="serve(make: function of (length, dim, base), calls: list of (length, dim, base)) "
    "-> (list of tables, how often make was called)",
    points=3,
    minutes=10,
    difficulty=2,
    reference=_serve,
    parts=("the tables", "the number of calls of make"),
    make_cases=_call_cases,
    properties=(
        Property(
            lambda args, value: np.ndim(value[1]) > 0 or len(value[0]) == len(args[1]),
            "There must be one table for each call, in the order of the calls.",
            about="form",
        ),
        Property(
            lambda args, value: (
                np.ndim(value[1]) > 0
                or all(
                    np.shape(table) == tuple(call[:2]) for table, call in zip(value[0], args[1], strict=True)
                )
            ),
            "A call for (length, dim, base) must get a table of shape (length, dim).",
            about="form",
        ),
        Property(
            lambda args, value: value[1] == len(set(map(tuple, args[1]))),
            "The number is not how many different sets of arguments there are among the calls: make should "
            "be called once for each of them.",
        ),
    ),
    mistakes=(
        Mistake(
            "nothing-remembered",
            lambda make, calls: (tuple(np.asarray(make(*call)) for call in calls), len(calls)),
            "The tables are right. Your number is that of all calls: does each make its own table, or do you "
            "count calls that found theirs in the cache? Make a table, and count, only for arguments that "
            "you have not seen.",
        ),
        Mistake(
            "length-alone",
            _serve_by(lambda length, dim, base: length),
            "The cache is keyed on the length alone. A call with another width or base then gets a table "
            "that was made for a different call. Key on everything the table depends on: length, dim and "
            "base.",
        ),
        Mistake(
            "dim-alone",
            _serve_by(lambda length, dim, base: dim),
            "The cache is keyed on the width alone, so the length and the base of the first call win. Key on "
            "everything the table depends on: length, dim and base.",
        ),
        Mistake(
            "base-forgotten",
            _serve_by(lambda length, dim, base: (length, dim)),
            "The cache forgets the base: two models with different bases share one table, and nothing looks "
            "wrong, because the shape is right. Put base into the key.",
        ),
        Mistake(
            "dim-forgotten",
            _serve_by(lambda length, dim, base: (length, base)),
            "The cache forgets the width. Put dim into the key.",
        ),
        Mistake(
            "length-forgotten",
            _serve_by(lambda length, dim, base: (dim, base)),
            "The cache forgets the length: it serves the first table, whatever length you ask for. Put "
            "length into the key.",
        ),
        Mistake(
            "rows-of-the-longest",
            _serve_rows_of_the_longest,
            "You serve the first rows of the longest table so far. That is right as long as a row does not "
            "depend on the length, and wrong for a base that grows with it. You do not know what make does, "
            "so put length into the key.",
        ),
        Mistake(
            "rows-of-the-longest-of-any-base",
            lambda make, calls: _serve_rows_of_the_longest(make, calls, with_base=False),
            "You serve the first rows of the longest table of that width, whatever its base was. Put length "
            "and base into the key.",
        ),
        Mistake(
            "key-glued-together",
            _serve_by(lambda length, dim, base: f"{length}{dim}{base}"),
            "The key is one string without separators, so length 1 with dim 16 and length 11 with dim 6 get "
            "the same one. Use a tuple: (length, dim, base).",
        ),
        Mistake(
            "key-without-order",
            _serve_by(lambda length, dim, base: frozenset((length, dim, base))),
            "The key forgets which number was which, so a table of shape (4, 6) is served for (6, 4). Use a "
            "tuple, which keeps the order: (length, dim, base).",
        ),
        Mistake(
            "last-call-alone",
            _serve_last_alone,
            "Only the last table is remembered, so two callers that take turns make a new one every time. "
            "Keep all of them, in a dictionary.",
        ),
        Mistake(
            "hits-counted",
            lambda make, calls: (_serve(make, calls)[0], len(calls) - _serve(make, calls)[1]),
            "The tables are right. The number counts the calls that needed no new table. Return how often "
            "make was called.",
        ),
    ),
    alternatives=(_serve_by_lru_cache, _serve_by_list, _serve_in_two_passes),
    hints=(
        "Keep the tables in a dictionary. What must its key hold, so that two calls with the same key may "
        "share a table?",
        "A tuple is a good key: it keeps its parts apart, and in order.",
        "For each call: if `(length, dim, base)` is not in the cache, put `make(length, dim, base)` there "
        "and count one. Then append `cache[length, dim, base]`.",
    ),
)
