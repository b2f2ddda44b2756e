"""Two sentences that fool a bag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from posenc_course.exercises.ch01_why_order_matters._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake
from posenc_lib._arrays import Array

_VOCABULARY = (
    "dog cat bird fish horse mouse fox bear wolf hare chases sees hears finds leaves likes meets warns "
    "follows helps and while then when near under over beyond the a one this some each my your old young "
    "quick lazy small large brown grey black white"
)


def _runs(sentence: str, n: int) -> list[tuple[str, ...]]:
    words = sentence.split()
    return [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]


def _first_equal(sentences: Sequence[str], of: Callable[[str], Any]) -> tuple[int, int] | None:
    seen = [of(sentence) for sentence in sentences]
    for first in range(len(seen)):
        for second in range(first + 1, len(seen)):
            if seen[first] == seen[second]:
                return first, second
    return None


def _same_bag(sentences: Sequence[str], n: int) -> tuple[int, int] | None:
    return _first_equal(sentences, lambda each: Counter(_runs(each, n)))


def _alike(words: Iterator[str], n: int, left: int, right: int) -> tuple[str, str]:
    """Two sentences of new words with one bag of runs of n: u x u y u, and u y u x u."""
    shared = [next(words) for _ in range(n - 1)]
    x, y = [next(words) for _ in range(left)], [next(words) for _ in range(right)]
    return (
        " ".join([*shared, *x, *shared, *y, *shared]),
        " ".join([*shared, *y, *shared, *x, *shared]),
    )


def _counted_otherwise(words: Iterator[str], n: int) -> tuple[str, str]:
    """As long as each other, and of the same runs; how often each occurs differs."""
    shared, x, y = [next(words) for _ in range(n - 1)], next(words), next(words)
    return (
        " ".join([*shared, x, *shared, x, *shared, y, *shared]),
        " ".join([*shared, x, *shared, y, *shared, y, *shared]),
    )


def _another_end(words: Iterator[str], n: int) -> tuple[str, str]:
    """As long as each other; only the last run differs."""
    shared = [next(words) for _ in range(n + 1)]
    return " ".join([*shared, next(words)]), " ".join([*shared, next(words)])


def _blocks_exchanged(words: Iterator[str], n: int) -> tuple[str, str]:
    """Two blocks of n words that trade places; the runs across the border differ."""
    one, other = ([next(words) for _ in range(n)] for _ in range(2))
    return " ".join([*one, *other]), " ".join([*other, *one])


def _round_a_ring(words: Iterator[str]) -> tuple[str, str]:
    """One bag of pairs, and two bags of words: a b c a and b c a b."""
    a, b, c = (next(words) for _ in range(3))
    return f"{a} {b} {c} {a}", f"{b} {c} {a} {b}"


def _shaken(words: Iterator[str]) -> tuple[str, str]:
    """One bag of words; hardly any two that stood side by side still do."""
    some = [next(words) for _ in range(4)]
    return " ".join(some), " ".join(some[place] for place in (1, 3, 0, 2))


def _turned_round(words: Iterator[str]) -> tuple[str, str]:
    """One bag of words; of each two neighbours, the other comes first."""
    some = [next(words) for _ in range(4)]
    return " ".join(some), " ".join(some[::-1])


def _bag_cases(rng: Generator) -> Iterator[Case]:
    few = [
        "the dog sees the cat",
        "dog chases cat and bird",
        "dog chases cat",  # a part of the one before, and of the next
        "dog chases cat and fish",
        "the dog sleeps",
        "cat chases dog",
    ]
    yield Case("who chases whom", (few, 1))
    yield Case(
        "the same letters in other words", (["tea is late", "is eat late", "tea is eat", "late is tea"], 1)
    )
    yield Case(
        "the same letters, cut at another place",
        (["now here", "dog sees cat dog", "no where", "sees cat dog sees"], 2),
    )
    for n, left, right, decoys_first in (
        *((1, 2, 3, True), (1, 1, 3, False), (2, 1, 1, True), (2, 2, 1, False)),
        *((2, 1, 3, False), (3, 1, 1, True), (3, 2, 1, False)),
    ):
        words = iter(rng.permutation(_VOCABULARY.split()).tolist())
        alike = _alike(words, n, left, right)
        decoys = [*_counted_otherwise(words, n), *_another_end(words, n)]
        if n > 1:
            decoys += [*_shaken(words), *_turned_round(words), *_blocks_exchanged(words, n)]
        if n > 2:
            decoys += _alike(words, n - 1, 1, 1)
        sentences = [*decoys, *alike]
        if not decoys_first:
            sentences = [sentences[place] for place in rng.permutation(len(sentences))]
        label = {1: "single words", 2: "neighbours", 3: "runs of three words"}[n]
        yield Case(label, (sentences, n))
    words = iter(rng.permutation(_VOCABULARY.split()).tolist())
    ring = [*_another_end(words, 2), *_turned_round(words), *_round_a_ring(words)]
    yield Case(
        "the same pairs, another bag of words", ([ring[place] for place in rng.permutation(len(ring))], 2)
    )


def _bag_by_sorting(sentences: Sequence[str], n: int) -> tuple[int, int] | None:
    found: dict[Hashable, int] = {}
    for number, sentence in enumerate(sentences):
        words = sentence.split()
        bag = tuple(sorted(zip(*(words[start:] for start in range(n)), strict=False)))
        if bag in found:
            return found[bag], number
        found[bag] = number
    return None


def _bag_by_text(sentences: Sequence[str], n: int) -> list[int]:
    def bag(sentence: str) -> list[str]:
        return sorted(" ".join(run) for run in _runs(sentence, n))

    bags = [bag(sentence) for sentence in sentences]
    return [number for number, each in enumerate(bags) if bags.count(each) > 1]


def _bag_by_matrix(sentences: Sequence[str], n: int) -> Array:
    every = sorted({run for sentence in sentences for run in _runs(sentence, n)})
    counts = np.array([[_runs(sentence, n).count(run) for run in every] for sentence in sentences])
    alike = (counts[:, None] == counts[None]).all(axis=-1)
    return np.argwhere(np.triu(alike, k=1))[0]


SAME_BAG = Exercise(
    id="01-why-order-matters.same_bag",
    title="Two sentences that fool a bag",
    signature="same_bag(sentences: list of str, n: int) -> two whole numbers, the smaller one first",
    points=2,
    minutes=12,
    difficulty=3,
    parts=("the first sentence", "the second sentence"),
    reference=lambda sentences, n: _same_bag(sentences, n),
    make_cases=_bag_cases,
    mistakes=(
        Mistake(
            "set",
            lambda sentences, n: _first_equal(sentences, lambda each: set(_runs(each, n))),
            "You compare sets, and a set forgets how often each thing occurs. A bag counts: use Counter, or "
            "sort the runs.",
        ),
        Mistake(
            "single-words",
            lambda sentences, n: _same_bag(sentences, 1),
            "You compare bags of single words, whatever n is. With n = 2 the bag holds pairs of neighbours, "
            "and these see some of the order.",
        ),
        Mistake(
            "letters",
            lambda sentences, n: _first_equal(sentences, sorted),
            "You compare bags of letters: a text is a sequence of letters for Python. Split it into words "
            "first: sentence.split().",
        ),
        Mistake(
            "order-in-a-run-lost",
            lambda sentences, n: _first_equal(
                sentences, lambda each: Counter(tuple(sorted(run)) for run in _runs(each, n))
            ),
            "You forget the order inside each run: “dog chases” and “chases dog” are two different runs. "
            "Only the order of the runs among each other is lost.",
        ),
        Mistake(
            "last-run-left-out",
            lambda sentences, n: _first_equal(sentences, lambda each: Counter(_runs(each, n)[:-1])),
            "The last run of each sentence is missing: range stops one before its end. The last run begins "
            "at len(words) - n, so go up to range(len(words) - n + 1).",
        ),
        Mistake(
            "blocks",
            lambda sentences, n: _first_equal(
                sentences,
                lambda each: Counter(
                    tuple(each.split()[start : start + n]) for start in range(0, len(each.split()), n)
                ),
            ),
            "You cut each sentence into blocks of n words. Runs overlap: one begins at every word, as long "
            "as n words are left.",
        ),
        Mistake(
            "runs-of-letters",
            lambda sentences, n: _first_equal(
                sentences, lambda each: Counter(each[start : start + n] for start in range(len(each) - n + 1))
            ),
            "Your runs are made of letters: a text is a sequence of letters for Python. Split it into words "
            "first: sentence.split().",
        ),
        Mistake(
            "runs-glued-together",
            lambda sentences, n: _first_equal(
                sentences, lambda each: Counter("".join(run) for run in _runs(each, n))
            ),
            "You join the words of a run with nothing in between, so “no where” and “now here” look the "
            "same. Keep each run as a tuple of words, or put a space between them.",
        ),
        Mistake(
            "shorter-runs-too",
            lambda sentences, n: _first_equal(
                sentences, lambda each: Counter(run for k in range(1, n + 1) for run in _runs(each, k))
            ),
            "Your bag holds runs of fewer than n words as well. It must hold runs of exactly n words: two "
            "sentences can share those without sharing the shorter ones.",
        ),
        Mistake(
            "one-shorter",
            lambda sentences, n: _same_bag(sentences, max(1, n - 1)),
            "Your runs are one word too short: with n = 2 a run has two words, words[start : start + n].",
        ),
        Mistake(
            "counted-from-one",
            lambda sentences, n: tuple(each + 1 for each in _same_bag(sentences, n) or ()),
            "You count the sentences from 1. Python counts from 0, and so does everything in this book.",
        ),
        Mistake(
            "larger-first",
            lambda sentences, n: (_same_bag(sentences, n) or ())[::-1],
            "These are the right two sentences. Give the smaller of the two numbers first.",
        ),
        Mistake(
            "the-sentences",
            lambda sentences, n: tuple(sentences[each] for each in _same_bag(sentences, n) or ()),
            "You return the two sentences. Return their numbers in the list, counted from 0.",
        ),
        Mistake(
            "lengths",
            lambda sentences, n: _first_equal(sentences, lambda each: len(each.split())),
            "You compare how many words the sentences have. A bag holds which runs there are, and how often.",
        ),
        Mistake(
            "how-often-alone",
            lambda sentences, n: _first_equal(
                sentences, lambda each: sorted(Counter(_runs(each, n)).values())
            ),
            "You compare how often things occur, and forget which things: Counter(...).values() has no words "
            "in it any more. Compare the Counters themselves.",
        ),
    ),
    alternatives=(_bag_by_sorting, _bag_by_text, _bag_by_matrix),
    hints=(
        "Write the bag of one sentence first: a list of its runs of n words, as tuples, in a `Counter`.",
        "A run begins at every word that has n - 1 more after it: at 0, 1, ... up to `len(words) - n`.",
        "Two `Counter` are equal when they hold the same things equally often. Compare each sentence with "
        "each later one.",
    ),
)
