"""`09-beyond-text.known_by_then`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.checking import report_on
from posenc_course.exercises.ch09_beyond_text.known_by_then import KNOWN_BY_THEN


def test_what_was_known_by_then_does_not_change_when_the_future_does():
    """Whatever is published later, a query sees the same: that is what no leak means."""
    rng = np.random.default_rng(3)
    about, published, now = rng.integers(0, 5, 30), rng.permutation(100)[:30], np.arange(0, 100, 7)
    seen = KNOWN_BY_THEN.reference(now, about, published)
    for i, moment in enumerate(now):
        past = published <= moment
        alone = KNOWN_BY_THEN.reference(now[i : i + 1], about[past], published[past])[0]
        assert np.array_equal(seen[i, past], alone)
        assert not seen[i, ~past].any()
        assert sorted(about[seen[i]]) == sorted(set(about[past]))  # one a day


NOT_KNOWN = (
    ("known_by_then", lambda now, about, published: np.zeros((len(now), len(about)), dtype=bool), None),
    (
        "known_by_then",
        lambda now, about, published: np.ones((len(now), len(about)), dtype=bool),
        "the future",
    ),
)


def last_of_the_list(now, about, published):
    seen = np.zeros((len(now), len(about)), dtype=bool)
    for query, moment in enumerate(now):
        newest = {day: key for key, day in enumerate(about.tolist()) if published[key] <= moment}
        seen[query, list(newest.values())] = True
    return seen


WRITTEN_IN_ANOTHER_WAY = (
    (
        "known_by_then",
        lambda now, about, published: [[p <= moment for p in published] for moment in now],
        "all-revisions",
    ),
    ("known_by_then", last_of_the_list, "last-in-the-list"),
)


def test_a_stamp_belongs_to_its_day():
    def by_stamp(now, about, published):
        seen = [published <= t for t in now]
        newest = [[published[row & (about == day)].max() for day in set(about[row])] for row in seen]
        return [row & np.isin(published, stamps) for row, stamps in zip(seen, newest, strict=True)]

    assert not report_on(KNOWN_BY_THEN.id, by_stamp).passed
