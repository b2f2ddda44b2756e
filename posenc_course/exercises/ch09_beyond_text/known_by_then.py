"""What was known by then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import Generator
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _known_cases(rng: Generator) -> Iterator[Case]:
    def arrays(*lists: Sequence[int]) -> tuple[Array, ...]:
        return tuple(np.array(each) for each in lists)

    yield Case("three numbers, no revision", arrays([5, 15, 25], [1, 2, 3], [10, 20, 30]))
    yield Case("a number and its revision", arrays([9, 10, 19, 20, 99], [3, 3], [10, 20]))
    yield Case("revisions in any order", arrays([5, 10, 15, 25], [1, 2, 1, 2, 1], [14, 8, 3, 21, 9]))
    yield Case("a forecast", arrays([4, 6, 60], [50, 50], [5, 55]))
    yield Case("published late", arrays([12, 35], [10, 11, 12], [40, 13, 35]))
    for _ in range(4):
        n = int(rng.integers(7, 12))
        about = rng.integers(0, 60, size=4)[rng.integers(0, 4, size=n)]
        published = rng.permutation(60)[:n]
        now = np.concatenate([rng.integers(0, 70, size=4), published[:3]])
        yield Case("drawn", (now, about, published))
    yield Case("two days, published in one second", arrays([15, 25], [1, 2, 2], [10, 10, 20]))


def _known_with(
    seen: Callable[[Array, Array, Array], Array] = lambda now, about, published: published <= now,
    replaced: Callable[[Array, Array], Array] = lambda own, other: other > own,
    same: Callable[[Array, Array], Array] = lambda one, other: one == other,
) -> Callable[[Array, Array, Array], Array]:
    """Seen, and no number that is seen too and about the same day replaces it."""

    def known(now: Array, about: Array, published: Array) -> Array:
        visible = seen(now[:, None], about, published)
        better = same(about[:, None], about) & replaced(published[:, None], published)
        return np.asarray(visible & ~(visible[:, None, :] & better[None]).any(axis=-1))

    return known


_known = _known_with()


def _known_by_loops(now: Array, about: Array, published: Array) -> Array:
    out = np.zeros((len(now), len(about)), dtype=bool)
    for i, moment in enumerate(now.tolist()):
        newest: dict[int, int] = {}
        for j in np.argsort(published).tolist():
            if published[j] <= moment:
                newest[int(about[j])] = j
        out[i, list(newest.values())] = True
    return out


def _known_by_groups(now: Array, about: Array, published: Array) -> Array:
    rows = []
    for moment in now:
        stamps = np.where(published <= moment, published, -1)
        best = np.array([stamps[about == day].max() for day in about])
        rows.append((stamps == best) & (stamps >= 0))
    return np.array(rows)


def _last_ever(now: Array, about: Array, published: Array) -> Array:
    final = np.array([published[j] == published[about == about[j]].max() for j in range(len(about))])
    return np.asarray(final & (published <= now[:, None]))


def _newest_of_all(now: Array, about: Array, published: Array) -> Array:
    return _known_with(same=lambda one, other: one == one + 0 * other)(now, about, published)


def _known_in_order(now: Array, about: Array, published: Array) -> Array:
    """As if the list were in the order of publication."""
    visible, number = published <= now[:, None], np.arange(len(about))
    later = (about[:, None] == about) & (number > number[:, None])
    return np.asarray(visible & ~(visible[:, None, :] & later[None]).any(axis=-1))


KNOWN_BY_THEN = Exercise(
    id="09-beyond-text.known_by_then",
    title="What was known by then",
    signature="known_by_then(now: array of shape (queries,), about: array of shape (keys,), published: array "
    "of shape (keys,)) -> array of shape (queries, keys) of booleans",
    points=4,
    minutes=18,
    difficulty=4,
    draws=Draws(
        lambda known_by_then, rows, columns: heat_map(
            known_by_then(np.arange(30), np.array([5, 5, 12, 12, 25]), np.array([8, 16, 14, 20, 10])),
            rows=rows,
            columns=columns,
        ),
        axes=("time of the query", "number"),
        look="Each number is seen once it has been published, and until a revision of it comes.",
    ),
    reference=_known,
    make_cases=_known_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), len(args[1])),
            "There must be a row for each query and a column for each key.",
            about="form",
        ),
        Property(
            lambda args, value: not (np.asarray(value, dtype=bool) & (args[2] > args[0][:, None])).any(),
            "Your mask lets the future in: a query sees a number that was published after its own time.",
        ),
    ),
    mistakes=(
        Mistake(
            "by-what-it-is-about",
            _known_with(seen=lambda now, about, published: about <= now),
            "You let a number in as soon as its day has come, in its last revision. What counts is when "
            "it was published, which may be weeks later.",
        ),
        Mistake(
            "last-revision-alone",
            _last_ever,
            "You wait for the very last revision. Until it came out, an earlier number was known, and "
            "you hide that.",
        ),
        Mistake(
            "all-revisions",
            lambda now, about, published: published <= now[:, None],
            "You let nothing in from the future. But a number that has been revised stays next to its "
            "revision: show only the newest one that is known.",
        ),
        Mistake(
            "first-stays",
            _known_with(replaced=lambda own, other: other < own),
            "Of several numbers about one day you keep the oldest. Keep the newest one that is known.",
        ),
        Mistake(
            "strictly-before",
            _known_with(seen=lambda now, about, published: published < now),
            "What is published in the very second of the query is known already. You make the query wait.",
        ),
        Mistake(
            "no-forecasts",
            _known_with(seen=lambda now, about, published: (published <= now) & (about <= now)),
            "You hide forecasts, numbers about a day to come. Whatever has been published is known, "
            "whichever day it is about.",
        ),
        Mistake(
            "one-for-all-days",
            _newest_of_all,
            "You keep only the newest number of all. A revision replaces only numbers about its own day.",
        ),
        Mistake(
            "what-is-hidden",
            lambda *args: ~_known(*args),
            "Your answers are reversed: True is for what a query may see.",
        ),
        Mistake(
            "turned",
            lambda *args: _known(*args).T,
            "Rows and columns are swapped: rows are queries, columns are keys.",
        ),
        Mistake(
            "the-future",
            _known_with(seen=lambda now, about, published: published >= now),
            "Your comparison is the wrong way round: queries see what is published later.",
        ),
        Mistake(
            "last-in-the-list",
            lambda now, about, published: _known_in_order(now, about, published),
            "Of several known numbers about one day you keep the last in the list. Nothing is in order "
            "here: keep the one that was published last.",
        ),
        Mistake(
            "revision-one-late",
            lambda now, about, published: (
                _known(now, about, published)
                | ((published <= now[:, None]) & _known(now - 1e-6, about, published))
            ),
            "A revision replaces the earlier number in the very second it is published. In yours, both "
            "are seen in that second.",
        ),
        Mistake(
            "both-times-passed",
            lambda now, about, published: (published <= now[:, None]) & (about <= now[:, None]),
            "You hide forecasts, and a number that has been revised stays next to its revision. What has "
            "been published is known, until a newer number about the same day is.",
        ),
    ),
    alternatives=(_known_by_loops, _known_by_groups, lambda *args: _known(*args).tolist()),
    hints=(
        "First the plain mask: `published <= now[:, None]`. Which of those numbers have been replaced?",
        "A number is replaced for a query if another one is about the same day, was published later, and is "
        "visible to this query too.",
        "A loop over the queries is fine: for each day in `about`, find the largest `published` among those "
        "that are visible.",
    ),
)
