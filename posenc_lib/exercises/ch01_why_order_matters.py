"""Exercises of `01-why-order-matters`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_lib._arrays import Array
from posenc_lib.attention import attention
from posenc_lib.exercises.drawing import Draws, curve, heat_map
from posenc_lib.exercises.exercise import BASIC, Case, Exercise, Mistake, Property, enough_of_each

Generator = np.random.Generator


def _plain_softmax(scores: Array, axis: int | None = -1) -> Array:
    """Right wherever a row has a finite score."""
    with np.errstate(all="ignore"):
        raised = np.exp(scores - scores.max(axis=axis, keepdims=True))
        return raised / raised.sum(axis=axis, keepdims=True)


def _softmax(scores: Array) -> Array:
    """Rows of minus infinity alone get weights of 0."""
    return np.nan_to_num(_plain_softmax(scores))


def _careless_softmax(scores: Array) -> Array:
    """Right on paper; infinity over infinity, or 0 over 0, where scores are large."""
    with np.errstate(all="ignore"):
        raised = np.exp(scores)
        return raised / raised.sum(axis=-1, keepdims=True)


def _quietly(compute: Callable[[], Array]) -> Array:
    with np.errstate(all="ignore"):
        return compute()


# --- the root of d ---------------------------------------------------------------------------------

ROOT = "How loud may one score be?"


def _margin(keys: int, share: float) -> float:
    return math.log(share / (1 - share) * (keys - 1))


def _share_won(keys: int, margin: float) -> float:
    return 1 / (1 + (keys - 1) * math.exp(min(-margin, 700.0)))


def _share_cases(rng: Generator) -> Iterator[Case]:
    yield Case("two keys, half of the weight", (2, 0.5))
    yield Case("eight keys, half of the weight", (8, 0.5))
    yield Case("eight keys, 99% of the weight", (8, 0.99))
    yield Case("a hundred keys, a weight below an even share", (100, 0.001))
    yield Case("a hundred thousand keys, half of the weight", (100_000, 0.5))
    for _ in range(4):
        yield Case("random keys and share", (int(rng.integers(3, 5000)), float(rng.uniform(0.3, 0.999))))


WINNING_MARGIN = Exercise(
    id="01-why-order-matters.winning_margin",
    title="The score that wins",
    step_of=ROOT,
    signature="winning_margin(keys: int, share: float) -> float",
    points=1,
    minutes=7,
    difficulty=2,
    reference=lambda keys, share: _margin(keys, share),
    make_cases=_share_cases,
    properties=(
        Property(
            lambda args, value: bool(np.isclose(_share_won(args[0], float(value)), args[1])),
            "Test your margin: the softmax of one such score and of keys - 1 zeros must give the winner the "
            "weight that is asked for. Yours gives another.",
        ),
    ),
    mistakes=(
        Mistake(
            "counts-itself",
            lambda keys, share: math.log(share / (1 - share) * keys),
            "You let the winner compete with itself: of all the keys, one is the winner, and the others are "
            "one fewer than keys.",
        ),
        Mistake(
            "one-rival",
            lambda keys, share: math.log(share / (1 - share)),
            "This is right for two keys, where the winner has one rival. With more keys, the rivals share "
            "what is left among them, and each of them adds an exponential to the sum below.",
        ),
        Mistake(
            "half-alone",
            lambda keys, share: math.log(keys - 1),
            "This is the margin for half of the weight, whatever share is asked for. Solve "
            "share = exp(m) / (exp(m) + keys - 1) for m.",
        ),
        Mistake(
            "share-without-the-rest",
            lambda keys, share: math.log(share * (keys - 1)),
            "On one side of your equation, the winner itself is missing from the sum: the weight is exp(m) "
            "divided by exp(m) and the others together, not by the others alone.",
        ),
        Mistake(
            "no-logarithm",
            lambda keys, share: share / (1 - share) * (keys - 1),
            "That is exp(m), the exponential of the margin. The score itself is its logarithm.",
        ),
        Mistake(
            "base-ten",
            lambda keys, share: math.log10(share / (1 - share) * (keys - 1)),
            "You take the logarithm to the base 10. The softmax raises e to the scores, so its inverse is "
            "the natural logarithm: np.log.",
        ),
        Mistake(
            "base-two",
            lambda keys, share: math.log2(share / (1 - share) * (keys - 1)),
            "You take the logarithm to the base 2. The softmax raises e to the scores, so its inverse is the "
            "natural logarithm: np.log.",
        ),
        Mistake(
            "sign",
            lambda keys, share: -_margin(keys, share),
            "The sign is turned: a key that is to get more than its even share must stand above the others.",
        ),
        Mistake(
            "share-itself",
            lambda keys, share: math.log(share),
            "The logarithm of the share is not yet a score: how far the winner must stand out depends on how "
            "many others there are as well.",
        ),
        Mistake(
            "weight",
            lambda keys, share: math.exp(share) / (math.exp(share) + keys - 1),
            "You put the share in as if it were a score, and give back a weight. It is asked the other way "
            "round: the weight is known, and the score is not.",
        ),
    ),
    alternatives=(
        lambda keys, share: np.log(share) - np.log(1 - share) + np.log(keys - 1),
        lambda keys, share: -math.log((1 / share - 1) / (keys - 1)),
        lambda keys, share: np.log(share * (keys - 1) / (1 - share)),
    ),
    hints=(
        "Take the winner's score as m and all others as 0: what is the softmax of that row?",
        "The winner's weight is exp(m) divided by exp(m) + keys - 1. Set that equal to share.",
        "Multiply by the denominator, and bring the two terms with exp(m) to one side: it becomes "
        "share * (keys - 1) / (1 - share).",
    ),
)


def _width(keys: int, share: float) -> int:
    return max(1, math.ceil(max(0.0, _margin(keys, share)) ** 2))


SATURATING_WIDTH = Exercise(
    id="01-why-order-matters.saturating_width",
    title="The width that saturates",
    step_of=ROOT,
    signature="saturating_width(keys: int, share: float) -> int",
    points=1,
    minutes=6,
    difficulty=3,
    reference=lambda keys, share: _width(keys, share),
    make_cases=_share_cases,
    properties=(
        Property(
            lambda args, value: bool(value >= 1 and value == round(value)),
            "A head is a whole number of columns wide, and at least one: give a whole number, 1 or more.",
        ),
    ),
    mistakes=(
        Mistake(
            "no-square",
            lambda keys, share: math.ceil(_margin(keys, share)),
            "You take the margin itself for the width. An unscaled score stands out by the root of head_dim, "
            "so the width is the square of the margin.",
        ),
        Mistake(
            "rounded-down",
            lambda keys, share: int(_margin(keys, share) ** 2),
            "You cut the fraction off, so the width is one too small: at it, the weight is still below the "
            "share. And ask what happens where the margin is negative.",
        ),
        Mistake(
            "rounded",
            lambda keys, share: round(_margin(keys, share) ** 2),
            "You round to the nearest whole number, which is at times one too small: the first width at "
            "which the weight reaches the share is the next whole number above. And ask what happens where "
            "the margin is negative.",
        ),
        Mistake(
            "rounded-down-to-at-least-1",
            lambda keys, share: max(1, int(max(0.0, _margin(keys, share)) ** 2)),
            "You cut the fraction off, so the width is one too small: at it, the weight is still below the "
            "share. Take the next whole number above.",
        ),
        Mistake(
            "rounded-to-at-least-1",
            lambda keys, share: max(1, round(max(0.0, _margin(keys, share)) ** 2)),
            "You round to the nearest whole number, and where that is the one below, the weight has not "
            "reached the share yet. Take the next whole number above.",
        ),
        Mistake(
            "not-whole",
            lambda keys, share: _margin(keys, share) ** 2,
            "That is the square of the margin, as it comes. A head has a whole number of columns: take the "
            "first whole number at which the share is reached. And ask what happens where the margin is "
            "negative.",
        ),
        Mistake(
            "negative-margin-squared",
            lambda keys, share: max(1, math.ceil(_margin(keys, share) ** 2)),
            "It is right wherever the margin is positive. A negative margin means that the key may even "
            "stand below the others, so every width will do, and the smallest is 1. The square forgets the "
            "sign.",
        ),
        Mistake(
            "plain-square",
            lambda keys, share: math.ceil(_margin(keys, share) ** 2),
            "It is right wherever the margin is positive. Where it is 0 or negative, the key need not stand "
            "out at all: every width will do, and the smallest is 1. The square forgets the sign.",
        ),
        Mistake(
            "counts-itself",
            lambda keys, share: math.ceil(math.log(share / (1 - share) * keys) ** 2),
            "The margin that you square is that of one key too many: the winner does not compete with "
            "itself. Call winning_margin of the step before.",
        ),
        Mistake(
            "one-rival",
            lambda keys, share: math.ceil(math.log(share / (1 - share)) ** 2),
            "The margin that you square does not depend on the number of keys. Call winning_margin of the "
            "step before.",
        ),
        Mistake(
            "exponential",
            lambda keys, share: math.ceil(share / (1 - share) * (keys - 1)),
            "You ask for a width at which head_dim itself is the ratio of weights. The softmax raises e to "
            "the score: take the logarithm first, which is winning_margin of the step before, and then the "
            "square.",
        ),
    ),
    alternatives=(
        lambda keys, share: next(
            d
            for d in range(1, 100_000)
            if math.exp(math.sqrt(d)) >= share * (math.exp(math.sqrt(d)) + keys - 1) - 1e-12
        ),
        lambda keys, share: int(np.ceil(np.maximum(_margin(keys, share), 1e-9) ** 2)),
        lambda keys, share: max(1, -int(-(max(_margin(keys, share), 0.0) ** 2) // 1)),
    ),
    hints=(
        "By how much does the score stand out at width d, if nothing is divided? By the root of d.",
        "You need the first whole number d with root of d at least `winning_margin(keys, share)`.",
        "`np.ceil` gives the next whole number above. What if the margin is negative?",
    ),
)


# --- same_bag --------------------------------------------------------------------------------------

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
        "dog chases cat",
        "the dog sleeps",
        "cat chases dog",
    ]
    yield Case("who chases whom", (few, 1))
    yield Case("the same letters in other words", (["tea is late", "is eat late", "late is tea"], 1))
    for n, left, right, decoys_first in (
        *((1, 2, 3, True), (1, 1, 3, False), (2, 1, 1, True), (2, 2, 1, False)),
        *((2, 1, 3, False), (3, 1, 1, True), (3, 2, 1, False)),
    ):
        words = iter(rng.permutation(_VOCABULARY.split()).tolist())
        alike = _alike(words, n, left, right)
        decoys = [*_counted_otherwise(words, n), " ".join(next(words) for _ in range(4))]
        if n > 1:
            decoys += [*_shaken(words), *_turned_round(words)]
        if n > 2:
            decoys += _alike(words, n - 1, 1, 1)
        sentences = [*decoys, *alike]
        if not decoys_first:
            sentences = [sentences[place] for place in rng.permutation(len(sentences))]
        label = {1: "single words", 2: "neighbours", 3: "runs of three words"}[n]
        yield Case(label, (sentences, n))


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

# --- restore_rows, noticed --------------------------------------------------------------------------

SHUFFLE = "Who noticed the shuffle?"


def _restore_cases(rng: Generator) -> Iterator[Case]:
    def case(label: str, order: list[int] | Array, width: int) -> Case:
        order = np.asarray(order)
        return Case(label, (rng.normal(size=(len(order), width)), order))

    yield case("three rows, each moved by one", [2, 0, 1], 4)
    yield case("three rows, two of them swapped", [1, 0, 2], 3)
    yield case("one row", [0], 3)
    yield case("nothing was moved", [0, 1, 2, 3], 2)
    yield case("four rows of width 4", [1, 2, 3, 0], 4)
    yield case("five rows of width 1", [4, 2, 0, 1, 3], 1)
    yield case("nine rows in random order", rng.permutation(9), 3)


def _restore_by_matrix(shuffled: Array, order: Array) -> Array:
    return np.eye(len(order))[order].T @ shuffled


def _restore_by_writing(shuffled: Array, order: Array) -> Array:
    rows = np.empty_like(shuffled)
    rows[order] = shuffled
    return rows


def _restore_by_search(shuffled: Array, order: Array) -> list[list[float]]:
    return [list(shuffled[list(order).index(row)]) for row in range(len(order))]


RESTORE_ROWS = Exercise(
    id="01-why-order-matters.restore_rows",
    title="Undo a shuffle",
    step_of=SHUFFLE,
    signature="restore_rows(shuffled: array of shape (n, width), order: n whole numbers) "
    "-> array of shape (n, width)",
    points=1,
    minutes=6,
    difficulty=2,
    reference=lambda shuffled, order: shuffled[np.argsort(order)],
    make_cases=_restore_cases,
    properties=(
        Property(
            lambda args, value: bool(np.allclose(np.asarray(value)[args[1]], args[0])),
            "Shuffle your answer again as a test: answer[order] must be equal to shuffled. It is not.",
        ),
    ),
    mistakes=(
        Mistake(
            "shuffled-again",
            lambda shuffled, order: shuffled[order],
            "That applies the same shuffle a second time. It undoes a swap, but not a shuffle in which "
            "three or more rows trade places. Use the inverse permutation: np.argsort(order).",
        ),
        Mistake(
            "unchanged",
            lambda shuffled, order: shuffled,
            "The rows come back as they were given, still shuffled. Put row i of shuffled where it came "
            "from, at row order[i].",
        ),
        Mistake(
            "rows-sorted",
            lambda shuffled, order: np.sort(shuffled, axis=0),
            "You sort the numbers inside the columns, which tears the rows apart. Sort the order, not the "
            "values: np.argsort(order) says which row goes where.",
        ),
        Mistake(
            "rows-reversed",
            lambda shuffled, order: shuffled[::-1],
            "You turn the rows upside down, whatever the order was. Where each row has to go is written in "
            "order: use its inverse, np.argsort(order).",
        ),
        Mistake(
            "order-reversed",
            lambda shuffled, order: shuffled[order[::-1]],
            "You read the order backwards. The inverse of a permutation is not the same list reversed: it "
            "is the list that says where each number stands in order, np.argsort(order).",
        ),
        Mistake(
            "columns",
            lambda shuffled, order: shuffled[:, np.argsort(order)],
            "The inverse permutation is right, but it is applied to the columns. The tokens are the rows: "
            "use it as the first index, shuffled[inverse].",
        ),
    ),
    alternatives=(_restore_by_matrix, _restore_by_writing, _restore_by_search),
    hints=(
        "Row i of `shuffled` is row `order[i]` of the original. So where does row i of it have to go?",
        "Try `order = [2, 0, 1]` on paper with the rows a, b, c. Shuffle twice: is it a, b, c again?",
        "You may write into an empty array, `rows[order] = shuffled`, or ask `np.argsort` for the inverse.",
    ),
)


def _noticed_cases(rng: Generator) -> Iterator[Case]:
    def layer(x: Array, causal: bool = False) -> Array:
        return attention(x, x, x, causal=causal)

    turn, five = np.array([2, 0, 1]), np.array([3, 0, 4, 1, 2])
    three_tokens, five_tokens = rng.normal(size=(3, 4)), rng.normal(size=(5, 2))
    yield Case("attention on three tokens", (layer(three_tokens), layer(three_tokens[turn]), turn))
    yield Case(
        "attention with a causal mask, all five tokens moved",
        (layer(five_tokens, causal=True), layer(five_tokens[five], causal=True), five),
    )
    later = np.array([0, 1, 4, 2, 3])
    yield Case(
        "attention with a causal mask, the last three tokens moved",
        (layer(five_tokens, causal=True), layer(five_tokens[later], causal=True), later),
    )
    yield Case("one token", (np.array([[1.0, 2.0]]), np.array([[1.0, 2.5]]), np.array([0])))
    output = rng.normal(size=(6, 3))
    order = rng.permutation(6)
    output[0, 0] = 2.0
    rounding = 1e-13 * rng.choice([-1.0, 1.0], size=output.shape)
    yield Case("nothing but rounding", (output, output[order] + rounding, order))
    spoiled = output[order] + rounding
    spoiled[order == 2, 1] -= 3.0  # one entry, and too small
    spoiled[order == 5] += np.array([0.5, -0.5, 0.0])  # its mean stays
    spoiled[order == 0, 0] += 1e-6
    spoiled[order == 3, 2] += 5e-4
    yield Case("four tokens with another row", (output, spoiled, order))
    swaps = np.array([1, 0, 3, 2])
    yield Case("two swaps, and nothing but rounding", (output[:4], output[swaps] + rounding[:4], swaps))
    for _ in range(3):
        n = int(rng.integers(5, 9))
        output, order, changed = rng.normal(size=(n, 4)), rng.permutation(n), rng.random(n) < 0.4
        spoiled = output + changed[:, None] * rng.normal(size=(n, 4))
        yield Case("some tokens with another row, drawn at random", (output, spoiled[order], order))


def _gaps(output: Array, output_of_shuffled: Array, order: Array) -> Array:
    """Absolute differences, (n, width), each row at its token's old place."""
    difference: Array = np.abs(output_of_shuffled[np.argsort(order)] - output)
    return difference


def _noticed_by_searching(output: Array, output_of_shuffled: Array, order: Array) -> list[bool]:
    return [
        not np.allclose(output_of_shuffled[list(order).index(token)], output[token], rtol=0, atol=1e-9)
        for token in range(len(output))
    ]


def _noticed_by_writing(output: Array, output_of_shuffled: Array, order: Array) -> Array:
    found = np.zeros(len(order), dtype=bool)
    for place, token in enumerate(order):
        found[token] = max(abs(output_of_shuffled[place] - output[token])) > 1e-9
    return found


NOTICED = Exercise(
    id="01-why-order-matters.noticed",
    title="Which tokens noticed it?",
    step_of=SHUFFLE,
    signature="noticed(output: (n, width), output_of_shuffled: (n, width), order: n whole numbers) "
    "-> n booleans",
    points=2,
    minutes=9,
    difficulty=3,
    reference=lambda output, output_of_shuffled, order: (
        _gaps(output, output_of_shuffled, order).max(axis=1) > 1e-9
    ),
    make_cases=_noticed_cases,
    mistakes=(
        Mistake(
            "places-compared",
            lambda output, output_of_shuffled, order: np.abs(output_of_shuffled - output).max(axis=1) > 1e-9,
            "You compare what stands at the same place before and after. Another token stands there now: "
            "undo the shuffle first, so that each token meets its own row.",
        ),
        Mistake(
            "in-the-new-order",
            lambda output, output_of_shuffled, order: (
                np.abs(output_of_shuffled - output[order]).max(axis=1) > 1e-9
            ),
            "You compare the right rows, but your answers stand in the shuffled order. Entry t is to be "
            "about the token that stood at t before the shuffle.",
        ),
        Mistake(
            "shuffled-again",
            lambda output, output_of_shuffled, order: (
                np.abs(output_of_shuffled[order] - output).max(axis=1) > 1e-9
            ),
            "The shuffle is applied a second time instead of undone. That is the same for a swap, but not "
            "where three or more tokens trade places. Call restore_rows of the step before.",
        ),
        Mistake(
            "exactly-equal",
            lambda output, output_of_shuffled, order: (
                _gaps(output, output_of_shuffled, order).max(axis=1) > 0
            ),
            "You ask whether the numbers are exactly the same. A sum in another order rounds otherwise in "
            "its last digits: count differences above 1e-9 only.",
        ),
        Mistake(
            "too-coarse",
            lambda output, output_of_shuffled, order: (
                _gaps(output, output_of_shuffled, order).max(axis=1) > 1e-3
            ),
            "You pass over a difference that is small and still far above rounding. The limit is 1e-9.",
        ),
        Mistake(
            "millionth-passed-over",
            lambda output, output_of_shuffled, order: (
                ~np.isclose(output_of_shuffled[np.argsort(order)], output).all(axis=1)
            ),
            "You pass over a difference of a millionth, which is small and still far above rounding. (By "
            "default, np.isclose and np.allclose do so too.) Count every difference above 1e-9.",
        ),
        Mistake(
            "sign-kept",
            lambda output, output_of_shuffled, order: (
                (output_of_shuffled[np.argsort(order)] - output).max(axis=1) > 1e-9
            ),
            "The right rows are compared, but without absolute values: a number that is far too small goes "
            "unnoticed.",
        ),
        Mistake(
            "rows-added-up",
            lambda output, output_of_shuffled, order: (
                np.abs((output_of_shuffled[np.argsort(order)] - output).sum(axis=1)) > 1e-9
            ),
            "You add up the differences of a row before you look at their size, so that a plus and a minus "
            "cancel. Take absolute values first, and the largest of each row.",
        ),
        Mistake(
            "every-number",
            lambda output, output_of_shuffled, order: (_gaps(output, output_of_shuffled, order) > 1e-9).all(
                axis=1
            ),
            "You ask whether all numbers of a row have changed. One that has changed is enough.",
        ),
        Mistake(
            "turned-round",
            lambda output, output_of_shuffled, order: (
                _gaps(output, output_of_shuffled, order).max(axis=1) <= 1e-9
            ),
            "Your answers are turned round: True is for a token that gets another row.",
        ),
        Mistake(
            "one-answer",
            lambda output, output_of_shuffled, order: bool(
                _gaps(output, output_of_shuffled, order).max() > 1e-9
            ),
            "You give one answer for all tokens together. Take the largest difference of each row, along "
            "axis 1.",
        ),
    ),
    alternatives=(
        _noticed_by_searching,
        _noticed_by_writing,
        lambda output, output_of_shuffled, order: (
            np.abs(np.eye(len(order))[order].T @ output_of_shuffled - output) > 1e-9
        ).any(axis=1),
    ),
    hints=(
        "Bring the rows of `output_of_shuffled` back to where their tokens stood: your `restore_rows` "
        "does that.",
        "Then row t of both arrays belongs to one token. How large is the largest difference in that row?",
        "Compare with 1e-9, not with 0: a sum in another order rounds otherwise.",
    ),
)


# --- softmax, causal_weights, attention -------------------------------------------------------------

DECODER = "Attention for your decoder"
ONE_SCORE = np.arange(-4, 4.1, 0.25)
SENTENCE = ["the", "dog", "chases", "the", "cat"]


def _words_that_attend() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of SENTENCE. The k-th value is the k-th unit vector, so that the output is the weights."""
    draw = np.random.default_rng(4)
    vectors = {word: draw.normal(size=(2, 4)) for word in sorted(set(SENTENCE))}
    q, k = np.stack([vectors[word] for word in SENTENCE], axis=1)
    return q, k, np.eye(len(SENTENCE))


def _softmax_cases(rng: Generator) -> Iterator[Case]:
    yield Case("five scores", (rng.normal(size=5),))
    yield Case("one score", (np.array([-3.7]),))
    yield Case("two rows of three scores", (rng.normal(size=(2, 3)),))
    yield Case("four rows of four scores", (rng.normal(size=(4, 4)),))
    yield Case("two heads, each with three rows of four scores", (rng.normal(size=(2, 3, 4)),))
    yield Case("a score of minus infinity", (np.array([0.5, -np.inf, 1.0]),))
    yield Case("scores around 1000", (np.array([1000.0, 1001.0, 999.5]),), group="large scores")
    yield Case("scores around -1000", (np.array([-1000.0, -1001.0, -1000.5]),), group="large scores")
    yield Case(
        "one row around 1000, one around 0", (np.array([[1000.0, 1001.0], [0.0, 1.0]]),), group="large scores"
    )
    nothing = "rows that may see nothing"
    yield Case("a row of minus infinity alone", (np.full(4, -np.inf),), group=nothing)
    some = rng.normal(size=(2, 3, 4))
    some[0, 1] = some[1, 2] = -np.inf
    some[1, 0, :3] = -np.inf
    yield Case("two heads, in each a row of minus infinity", (some,), group=nothing)


def _global_peak(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        raised = np.exp(scores - scores.max())
        return raised / raised.sum(axis=-1, keepdims=True)


def _axes_lost(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        raised = np.exp(scores - scores.max(axis=-1))
        return raised / raised.sum(axis=-1)


def _sum_axis_lost(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return raised / raised.sum(axis=-1)


def _without_exponential(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        return scores / scores.sum(axis=-1, keepdims=True)


def _softmax_over_first_axis(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        return _plain_softmax(scores, axis=0)


def _softmax_by_log(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.nan_to_num(np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)))


def _softmax_by_rows(scores: Array) -> Array:
    def one_row(row: Array) -> Array:
        if max(row) == -np.inf:
            return np.zeros(len(row))
        raised = np.exp(row - max(row))
        return raised / sum(raised)

    return np.apply_along_axis(one_row, -1, scores)


def _softmax_by_replacing(scores: Array) -> Array:
    """The largest score, or 0 where there is none; a sum of 0 becomes 1."""
    peak = scores.max(axis=-1, keepdims=True)
    raised = np.exp(scores - np.where(np.isinf(peak), 0.0, peak))
    total = raised.sum(axis=-1, keepdims=True)
    return raised / np.where(total == 0, 1.0, total)


SOFTMAX = Exercise(
    id="01-why-order-matters.softmax",
    title="A softmax that survives everything",
    step_of=DECODER,
    adds="Your decoder gets its softmax: scores become weights.",
    signature="softmax(scores: array of shape (..., keys)) -> array of shape (..., keys)",
    points=2,
    minutes=10,
    difficulty=2,
    draws=Draws(
        lambda softmax, across, up: curve(
            ONE_SCORE,
            {"": [np.asarray(softmax(np.array([score, 0.0, 0.0, 0.0])))[0] for score in ONE_SCORE]},
            across=across,
            up=up,
        ),
        axes=("score of one key, where three others score 0", "its weight"),
        look="Among equal scores it takes a quarter; each point more or less moves the weight along an S.",
    ),
    reference=lambda scores: _softmax(scores),
    make_cases=_softmax_cases,
    credit=((BASIC, 0.5), ("large scores", 0.25), ("rows that may see nothing", 0.25)),
    where_not_finite="Softmax does not change when the same number is taken from every score of a row. So "
    "take the row's largest score away before you raise: then no exponential is too large. A row of minus "
    "infinity alone has no largest score to take away: minus infinity less minus infinity is NaN.",
    properties=(
        Property(
            lambda args, value: bool(np.allclose(np.sum(value, axis=-1), np.isfinite(args[0]).any(axis=-1))),
            "The weights of each row, along the last axis, must sum to 1, or to 0 where the row may see "
            "nothing. Yours do not.",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value) >= 0)),
            "No weight can be negative: each is an exponential divided by a sum of exponentials.",
        ),
    ),
    mistakes=(
        Mistake(
            "overflow",
            _careless_softmax,
            "The formula is right, but exp(1000) is infinity, exp(-1000) is 0, and dividing such numbers "
            "gives NaN. Take each row's largest score away from the row before you call exp: the weights "
            "stay the same and nothing overflows.",
        ),
        Mistake(
            "global-peak",
            _global_peak,
            "You take the largest score of the whole array away from every row. A row far below it then "
            "becomes all zeros, and 0 / 0 is NaN. Take each row's own largest score: "
            "scores.max(axis=-1, keepdims=True).",
        ),
        Mistake(
            "first-axis",
            _softmax_over_first_axis,
            "Your columns sum to 1, not your rows: the softmax runs over the first axis. Each query "
            "shares out its attention over the keys, and the keys are the last axis. Use axis=-1.",
        ),
        Mistake(
            "all-elements",
            lambda scores: _plain_softmax(scores, axis=None),
            "All your weights together sum to 1, because max and sum run over the whole array. Each row "
            "must sum to 1 by itself: give axis=-1 and keepdims=True to both.",
        ),
        Mistake(
            "axes-lost",
            _axes_lost,
            "Without keepdims=True, max and sum drop the last axis. NumPy then lines their result up with "
            "the columns instead of the rows. Give keepdims=True to both.",
        ),
        Mistake(
            "sum-axis-lost",
            _sum_axis_lost,
            "The largest score is taken away row by row, as it should be. But the sum drops the last axis, "
            "so NumPy divides column j by the sum of row j. Give keepdims=True to sum as well.",
        ),
        Mistake(
            "no-exponential",
            _without_exponential,
            "You divide the scores by their sum. Softmax raises them first: exp makes every weight "
            "positive, and only then are they divided by their sum.",
        ),
        Mistake(
            "not-normalised",
            lambda scores: _quietly(lambda: np.exp(scores - scores.max(axis=-1, keepdims=True))),
            "The exponentials are right, but they do not sum to 1 yet. Divide each row by its own sum.",
        ),
        Mistake(
            "empty-row",
            _plain_softmax,
            "All is right but the row that may see nothing. Its largest score is minus infinity, and minus "
            "infinity less minus infinity is NaN. Give such a row weights of 0.",
        ),
        Mistake(
            "empty-row-shared-out",
            lambda scores: _plain_softmax(np.where(np.isinf(scores), -1e9, scores)),
            "A row that may see nothing shares its weight out evenly here: all its scores are the same large "
            "negative number, and the softmax sees only differences. Such a row must get weights of 0.",
        ),
        Mistake(
            "nan-painted-over",
            lambda scores: np.nan_to_num(_careless_softmax(scores)),
            "You turn every NaN into 0, those of the large scores too. Where scores are around 1000, the "
            "weights are ordinary numbers: take each row's largest score away before exp.",
        ),
    ),
    alternatives=(
        _softmax_by_log,
        _softmax_by_rows,
        _softmax_by_replacing,
        lambda scores: np.nan_to_num(_plain_softmax(scores)),
    ),
    hints=(
        "Write it for one row first: raise every score with `exp`, then divide by the sum.",
        "What does NumPy give for `exp(1000)`? Show on paper that softmax stays the same when you take the "
        "same number away from every score of a row.",
        "`scores.max(axis=-1, keepdims=True)` has one number per row and still broadcasts against `scores`. "
        "The sum needs the same two arguments.",
        "For a row of minus infinity alone, take 0 away instead of its largest score: then all "
        "exponentials are 0. What must the sum be replaced by, so that 0 divided by it is 0?",
    ),
)


def _causal_cases(rng: Generator) -> Iterator[Case]:
    yield Case("three tokens", (rng.normal(size=(3, 3)),))
    yield Case("one token", (np.array([[2.5]]),))
    yield Case("seven tokens", (rng.normal(size=(7, 7)),))
    yield Case("four tokens, all scores 0", (np.zeros((4, 4)),))
    yield Case("a score of 1000 in the future", (np.array([[0.0, 1000.0], [0.0, 1.0]]),))
    yield Case("all scores near 1000", (1000.0 + rng.normal(size=(3, 3)),))
    yield Case("all scores near -1000", (-1000.0 + rng.normal(size=(3, 3)),))
    yield Case("two heads of three tokens", (rng.normal(size=(2, 3, 3)),))
    yield Case("the two newest of five tokens ask", (rng.normal(size=(2, 5)),))
    yield Case("four heads, the newest of six tokens asks", (rng.normal(size=(4, 1, 6)),))


def _past(scores: Array, diagonal: int = 0) -> Array:
    queries, keys = scores.shape[-2:]
    return np.tri(queries, keys, k=keys - queries + diagonal, dtype=bool)


def _turned(array: Array) -> Array:
    return np.swapaxes(array, -1, -2)


def _masked(scores: Array, allowed: Array) -> Array:
    with np.errstate(all="ignore"):
        return _plain_softmax(np.where(allowed, scores, -np.inf))


def _masked_then_divided(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        weights = _past(scores) * _plain_softmax(scores)
        return weights / weights.sum(axis=-1, keepdims=True)


def _causal_row_by_row(scores: Array) -> Array:
    weights = np.zeros_like(scores)
    before = scores.shape[-1] - scores.shape[-2]
    for t in range(scores.shape[-2]):
        weights[..., t, : before + t + 1] = _softmax(scores[..., t, : before + t + 1])
    return weights


def _causal_by_adding(scores: Array) -> Array:
    queries, keys = scores.shape[-2:]
    return _softmax(scores + np.triu(np.full(scores.shape, -np.inf), k=keys - queries + 1))


def _causal_by_multiplying(scores: Array) -> Array:
    """Masked after exp, and safe: the largest score is looked for among the allowed ones only."""
    queries, keys = scores.shape[-2:]
    allowed = np.arange(keys - queries, keys)[:, None] >= np.arange(keys)
    lowest = scores.min()
    peak = np.where(allowed, scores, lowest).max(axis=-1, keepdims=True)
    raised = np.exp(np.minimum(scores - peak, 0.0)) * allowed
    return raised / raised.sum(axis=-1, keepdims=True)


CAUSAL_WEIGHTS = Exercise(
    id="01-why-order-matters.causal_weights",
    title="Weights under a causal mask",
    step_of=DECODER,
    adds="Your decoder stops looking ahead.",
    signature="causal_weights(scores: array of shape (..., queries, keys)) -> array of the same shape",
    points=2,
    minutes=10,
    difficulty=3,
    draws=Draws(
        lambda causal_weights, rows, columns: heat_map(
            causal_weights(np.random.default_rng(1).normal(size=(8, 8))), rows=rows, columns=columns
        ),
        axes=("query", "key"),
        look="Nothing stands above the diagonal: no query looks at what comes after it.",
    ),
    reference=lambda scores: _masked(scores, _past(scores)),
    make_cases=_causal_cases,
    where_not_finite="Mask the scores with minus infinity before the softmax, and take each row's largest "
    "remaining score away before exp.",
    properties=(
        Property(
            lambda args, value: bool(np.all(value[..., ~_past(args[0])] == 0)),
            "A token looks into its future: the weight of every key behind the query must be exactly 0.",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.sum(value, axis=-1), 1.0)),
            "Each row of weights must sum to 1 after the mask. Yours do not.",
        ),
    ),
    mistakes=(
        Mistake(
            "no-mask",
            lambda scores: _softmax(scores),
            "There is no mask: every token still sees the whole sequence. Set the scores above the "
            "diagonal to minus infinity before the softmax.",
        ),
        Mistake(
            "future-kept",
            lambda scores: _masked(scores, ~_past(scores, -1)),
            "The triangle is the wrong one: each token sees itself and its future. The rows are the "
            "queries, so the past lies below the diagonal. Keep the lower triangle, np.tril or np.tri.",
        ),
        Mistake(
            "self-hidden",
            lambda scores: _masked(scores, _past(scores, -1)),
            "The triangle is strict: no token sees itself, and the first one sees nothing at all, so its "
            "softmax is 0 / 0. A token may look at itself: keep the diagonal.",
        ),
        Mistake(
            "one-ahead",
            lambda scores: _masked(scores, _past(scores, 1)),
            "Each token sees one token of its future: the triangle is one diagonal too large. Keep the "
            "diagonal itself and what is below it.",
        ),
        Mistake(
            "masked-after-softmax",
            lambda scores: _past(scores) * _softmax(scores),
            "You set weights to 0 after the softmax, so the rows no longer sum to 1. Mask the scores "
            "before the softmax, with minus infinity.",
        ),
        Mistake(
            "divided-again",
            _masked_then_divided,
            "On paper this is right: mask the weights, then divide each row by its sum. But one large "
            "score in the future takes all the weight, what is left of the past is 0, and 0 / 0 is NaN. "
            "Mask the scores before the softmax.",
        ),
        Mistake(
            "zero-scores",
            lambda scores: _softmax(_past(scores) * scores),
            "You set the future's scores to 0. A score of 0 is no lock: exp(0) is 1, so the future still "
            "gets weight. The score that gives weight 0 is minus infinity.",
        ),
        Mistake(
            "mask-added",
            lambda scores: _softmax(scores + _past(scores)),
            "You add the mask's ones and zeros to the scores. That only favours the past a little. Add 0 "
            "where a token may look and minus infinity where it may not.",
        ),
        Mistake(
            "softmax-over-queries",
            lambda scores: _turned(_masked(_turned(scores), _turned(_past(scores)))),
            "The mask is right, but the softmax runs over the queries: your columns sum to 1. Each query, "
            "a row, shares out its attention: axis=-1.",
        ),
        Mistake(
            "first-query-at-first-key",
            lambda scores: _masked(scores, np.tri(*scores.shape[-2:], dtype=bool)),
            "It is right where there are as many queries as keys. Where there are fewer, the queries are the "
            "newest tokens: the last query stands at the last key, and the triangle moves to the right. "
            "np.tri takes k=keys - queries for that.",
        ),
        Mistake(
            "leading-axis-counted",
            lambda scores: _masked(scores, np.tri(len(scores), dtype=bool)),
            "It is right for one head. len(scores) is the first axis, and with several heads that is the "
            "number of heads: take queries and keys from scores.shape[-2:].",
        ),
        Mistake(
            "overflow",
            lambda scores: _careless_softmax(np.where(_past(scores), scores, -np.inf)),
            "The mask is right, but exp overflows for scores near 1000 and vanishes near -1000, and the "
            "division gives NaN. Take each row's largest score away before exp.",
        ),
    ),
    alternatives=(
        _causal_row_by_row,
        _causal_by_adding,
        _causal_by_multiplying,
        lambda scores: _plain_softmax(np.where(_past(scores), scores, -1e9)),
    ),
    hints=(
        "With as many queries as keys, row t is the query at position t. Which columns may it look at?",
        "`np.tri(queries, keys, dtype=bool)` is `True` on the diagonal and below it. Its argument `k` "
        "moves the diagonal to the right.",
        "The softmax gives weight 0 to a score of minus infinity: `np.where(allowed, scores, -np.inf)`, then "
        "the softmax over the last axis.",
    ),
)


def _attention_cases(rng: Generator) -> Iterator[Case]:
    def case(
        label: str,
        causal: bool,
        *axes: int,
        queries: int,
        keys: int,
        head_dim: int,
        value_dim: int,
        size: float = 1.0,
    ) -> Case:
        q = size * rng.normal(size=(*axes, queries, head_dim))
        k = size * rng.normal(size=(*axes, keys, head_dim))
        return Case(label, (q, k, rng.normal(size=(*axes, keys, value_dim)), causal))

    yield case("one head of three tokens", False, queries=3, keys=3, head_dim=4, value_dim=4)
    yield case("one head of three tokens, causal", True, queries=3, keys=3, head_dim=4, value_dim=4)
    yield case("one query, one key", False, queries=1, keys=1, head_dim=2, value_dim=3)
    yield case("two queries, five keys", False, queries=2, keys=5, head_dim=3, value_dim=4)
    yield case("the two newest of five tokens ask, causal", True, queries=2, keys=5, head_dim=3, value_dim=4)
    yield case("every matrix is square", False, queries=4, keys=4, head_dim=4, value_dim=4)
    yield case("head_dim 1", True, queries=4, keys=4, head_dim=1, value_dim=2)
    yield case("head_dim 64", False, queries=4, keys=6, head_dim=64, value_dim=5)
    yield case("scores in the thousands", True, queries=4, keys=4, head_dim=16, value_dim=2, size=60.0)
    yield case("two heads of four tokens", False, 2, queries=4, keys=4, head_dim=3, value_dim=3)
    yield case("two heads of four tokens, causal", True, 2, queries=4, keys=4, head_dim=3, value_dim=2)
    yield case("three heads of three tokens, causal", True, 3, queries=3, keys=3, head_dim=3, value_dim=3)
    yield case("two sentences of two heads, causal", True, 2, 2, queries=3, keys=3, head_dim=2, value_dim=4)


def _scores(q: Array, k: Array) -> Array:
    return q @ _turned(k) / np.sqrt(q.shape[-1])


def _weights(scores: Array, causal: bool) -> Array:
    return _masked(scores, _past(scores)) if causal else _softmax(scores)


def _attention_in_loops(q: Array, k: Array, v: Array, causal: bool) -> Array:
    out = np.zeros((*q.shape[:-1], v.shape[-1]))
    before = k.shape[-2] - q.shape[-2]
    for head in np.ndindex(*q.shape[:-2]):
        for t, query in enumerate(q[head]):
            seen = before + t + 1 if causal else k.shape[-2]
            scores = np.array([sum(query * key) for key in k[head][:seen]]) / len(query) ** 0.5
            weights = np.exp(scores - max(scores))
            for weight, value in zip(weights / sum(weights), v[head], strict=False):
                out[head][t] += weight * value
    return out


def _attention_by_einsum(q: Array, k: Array, v: Array, causal: bool) -> Array:
    scores = np.einsum("...id,...jd->...ij", q * q.shape[-1] ** -0.5, k)
    if causal:
        scores = np.where(_past(scores), scores, -np.inf)
    return np.einsum("...ij,...jd->...id", _softmax_by_log(scores), v)


def _attention_on_columns(q: Array, k: Array, v: Array, causal: bool) -> Array:
    """Keys down, queries across: the softmax then runs over axis -2, and is right."""
    scores = k @ _turned(q) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(_turned(_past(_turned(scores))), scores, -np.inf)
    return _turned(_plain_softmax(scores, axis=-2)) @ v


ATTENTION = Exercise(
    id="01-why-order-matters.attention",
    title="Attention, with heads and a mask",
    step_of=DECODER,
    adds="Your decoder gets its attention: several heads at once, and no look ahead.",
    signature="attention(q: (..., queries, head_dim), k: (..., keys, head_dim), v: (..., keys, value_dim), "
    "causal: bool) -> array of shape (..., queries, value_dim)",
    points=3,
    minutes=12,
    difficulty=3,
    draws=Draws(
        lambda attention, rows, columns: heat_map(
            attention(*_words_that_attend(), False), rows=rows, columns=columns, words=SENTENCE
        ),
        axes=("query", "key"),
        look="Both rows of “the” are alike: the head knows the words, and not where they stand.",
    ),
    reference=lambda q, k, v, causal: attention(q, k, v, causal=causal),
    make_cases=_attention_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (*args[0].shape[:-1], args[2].shape[-1]),
            "The output has one row per query, and each row is as wide as a value: (..., queries, "
            "value_dim).",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.all(value >= args[2].min(axis=-2, keepdims=True) - 1e-9)
                and np.all(value <= args[2].max(axis=-2, keepdims=True) + 1e-9)
            ),
            "Each row of the output is a weighted average of the rows of v, so no entry can leave the "
            "range that v's column covers. Yours does: do the weights of each query sum to 1?",
        ),
    ),
    mistakes=(
        Mistake(
            "no-scale",
            lambda q, k, v, causal: _weights(q @ _turned(k), causal) @ v,
            "The scale is missing: divide the scores by the square root of head_dim before the softmax.",
        ),
        Mistake(
            "scale-by-dim",
            lambda q, k, v, causal: _weights(q @ _turned(k) / q.shape[-1], causal) @ v,
            "You divide the scores by head_dim. Divide by its square root: the scores of random queries "
            "and keys spread like sqrt(head_dim), not like head_dim.",
        ),
        Mistake(
            "scale-upwards",
            lambda q, k, v, causal: _weights(q @ _turned(k) * np.sqrt(q.shape[-1]), causal) @ v,
            "You multiply the scores by sqrt(head_dim). Divide by it: the scale is there to keep large "
            "scores from pushing all the attention onto one key.",
        ),
        Mistake(
            "scale-by-keys",
            lambda q, k, v, causal: _weights(q @ _turned(k) / np.sqrt(k.shape[-2]), causal) @ v,
            "You divide by the square root of the number of keys. The scale belongs to the width of the "
            "vectors: use q.shape[-1].",
        ),
        Mistake(
            "scale-by-second-axis",
            lambda q, k, v, causal: _weights(q @ _turned(k) / np.sqrt(q.shape[1]), causal) @ v,
            "It is right for one head. With axes in front, q.shape[1] is no longer head_dim: count from the "
            "end, q.shape[-1].",
        ),
        Mistake(
            "scale-after-softmax",
            lambda q, k, v, causal: _weights(q @ _turned(k), causal) / np.sqrt(q.shape[-1]) @ v,
            "The scale comes after the softmax, so the weights no longer sum to 1. Divide the scores by "
            "sqrt(head_dim) first, then take the softmax.",
        ),
        Mistake(
            "softmax-over-queries",
            lambda q, k, v, causal: (
                _plain_softmax(
                    np.where(_past(_scores(q, k)), _scores(q, k), -np.inf) if causal else _scores(q, k),
                    axis=-2,
                )
                @ v
            ),
            "The softmax runs over the queries (axis -2), so each key shares itself out. Each query must "
            "share out its attention over the keys: axis -1 of the scores.",
        ),
        Mistake(
            "no-softmax",
            lambda q, k, v, causal: (_past(_scores(q, k)) if causal else 1) * _scores(q, k) @ v,
            "The raw scores are used as weights. Turn each row of scores into weights with a softmax first.",
        ),
        Mistake(
            "all-axes-turned",
            lambda q, k, v, causal: _weights(q @ k.T / np.sqrt(q.shape[-1]), causal) @ v,
            "It is right for one head. With more axes in front, k.T turns all axes round, the heads too. "
            "Swap the last two alone: np.swapaxes(k, -1, -2).",
        ),
        Mistake(
            "no-transpose",
            lambda q, k, v, causal: _weights(q @ k / np.sqrt(q.shape[-1]), causal) @ v,
            "You multiply q by k without the transpose. Every query must meet every key: the scores have the "
            "shape (..., queries, keys).",
        ),
        Mistake(
            "causal-ignored",
            lambda q, k, v, causal: _softmax(_scores(q, k)) @ v,
            "All is right without the mask, but causal makes no difference. Where it is True, a query gives "
            "weight to itself and to what came before it only.",
        ),
        Mistake(
            "always-causal",
            lambda q, k, v, causal: _weights(_scores(q, k), True) @ v,
            "The mask is always on. Where causal is False, every query may look at every key.",
        ),
        Mistake(
            "self-hidden",
            lambda q, k, v, causal: (
                _softmax(np.where(_past(_scores(q, k), -1) | (not causal), _scores(q, k), -np.inf)) @ v
            ),
            "Under the mask, no token sees itself, and the first one sees nothing at all. A token may "
            "look at itself and at what came before it.",
        ),
        Mistake(
            "causal-turned-round",
            lambda q, k, v, causal: _weights(_scores(q, k), not causal) @ v,
            "You mask where causal is False, and do not where it is True.",
        ),
        Mistake(
            "first-query-at-first-key",
            lambda q, k, v, causal: (
                (
                    _masked(_scores(q, k), np.tri(q.shape[-2], k.shape[-2], dtype=bool))
                    if causal
                    else _softmax(_scores(q, k))
                )
                @ v
            ),
            "It is right where there are as many queries as keys. Where there are fewer, the queries are "
            "the newest tokens, and the last query stands at the last key: call causal_weights of the "
            "step before.",
        ),
        Mistake(
            "masked-after-softmax",
            lambda q, k, v, causal: (_past(_scores(q, k)) if causal else 1) * _softmax(_scores(q, k)) @ v,
            "You set weights to 0 after the softmax, so the rows no longer sum to 1. Mask the scores before "
            "the softmax, or call causal_weights of the step before.",
        ),
        Mistake(
            "weights-returned",
            lambda q, k, v, causal: _weights(_scores(q, k), causal),
            "These are the attention weights, and they are right. One step is left: mix the values with "
            "them, weights @ v.",
        ),
        Mistake(
            "keys-mixed",
            lambda q, k, v, causal: _weights(_scores(q, k), causal) @ k,
            "The weights are right, but they mix the keys. Keys are only there to be compared with; what "
            "is mixed are the values: weights @ v.",
        ),
    ),
    alternatives=(_attention_in_loops, _attention_by_einsum, _attention_on_columns),
    hints=(
        "Four steps: compare each query with each key, scale, turn each row into weights, mix the values.",
        "Shapes tell you the products: `(queries, head_dim)` times `(head_dim, keys)` gives `(queries, "
        "keys)`, and that times `(keys, value_dim)` gives the output. Axes in front come along by "
        "themselves.",
        "For several heads, `k.T` turns too much. `np.swapaxes(k, -1, -2)` turns the last two axes alone.",
        "With `causal`, your `causal_weights` of the step before; without, your `softmax`.",
    ),
)


# --- find_the_bug ----------------------------------------------------------------------------------

FIND_THE_BUG = Exercise(
    id="01-why-order-matters.find_the_bug",
    title="Five programs, five broken lines",
    signature="find_the_bug: five whole numbers, the broken line of each of the listings A to E",
    points=3,
    minutes=15,
    difficulty=3,
    kind="value",
    parts=("listing A", "listing B", "listing C", "listing D", "listing E"),
    reference=lambda: (9, 12, 9, 3, 14),
    make_cases=lambda rng: iter([Case("your five line numbers")]),
    mistakes=(
        Mistake(
            "a-the-join",
            lambda: (23, 12, 9, 3, 14),
            "Four of five are right. In listing A, line 23 is innocent: line 22 has put the heads of one "
            "token side by side, and 23 only joins them. Where are the heads of one token pulled apart?",
        ),
        Mistake(
            "a-the-turn-back",
            lambda: (22, 12, 9, 3, 14),
            "Four of five are right. In listing A, line 22 brings the heads of one token together again, "
            "as it should. Where are they pulled apart?",
        ),
        Mistake(
            "a-the-mask",
            lambda: (18, 12, 9, 3, 14),
            "Four of five are right. In listing A the mask is as it should be: with one head nobody looks "
            "ahead. Ask what each row of q holds when there are two heads.",
        ),
        Mistake(
            "b-where-it-is-used",
            lambda: (9, 13, 9, 3, 14),
            "Four of five are right. In listing B, line 13 uses a number that is already wrong. Which "
            "line makes it?",
        ),
        Mistake(
            "b-the-softmax",
            lambda: (9, 22, 9, 3, 14),
            "Four of five are right. In listing B every row sums to 1, so line 22 does its work. The "
            "weights are too even because the scores are too small.",
        ),
        Mistake(
            "c-the-loop",
            lambda: (9, 12, 8, 3, 14),
            "Four of five are right. In listing C the loop visits every token. What may the token at t "
            "see in there?",
        ),
        Mistake(
            "c-the-mix",
            lambda: (9, 12, 13, 3, 14),
            "Four of five are right. In listing C, line 13 mixes the values of the tokens that are seen, "
            "with the right weights. Which tokens are these?",
        ),
        Mistake(
            "d-the-exponential",
            lambda: (9, 12, 9, 4, 14),
            "Four of five are right. In listing D, line 4 takes away what it is given. What it is given "
            "is wrong for some rows.",
        ),
        Mistake(
            "d-the-division",
            lambda: (9, 12, 9, 6, 14),
            "Four of five are right. In listing D, line 6 divides 0 by 0 and so gives the NaN, but it is "
            "not to blame. Why are all exponentials of a row 0?",
        ),
        Mistake(
            "e-the-heads",
            lambda: (9, 12, 9, 3, 15),
            "Four of five are right. In listing E, line 15 splits each of the three into heads, rightly. "
            "Are the three what their names say?",
        ),
        Mistake(
            "e-the-stack",
            lambda: (9, 12, 9, 3, 12),
            "Four of five are right. In listing E, line 12 stacks the three matrices in the usual order. "
            "Are they taken apart again in the same order?",
        ),
        Mistake(
            "counted-from-zero",
            lambda: (8, 11, 8, 2, 13),
            "You count from 0. The lines are numbered from 1, in the comment at the end of each.",
        ),
    ),
    alternatives=(
        lambda: [9, 12, 9, 3, 14],
        lambda: np.array([9, 12, 9, 3, 14]),
        lambda: (9.0, 12.0, 9.0, 3.0, 14.0),
    ),
    hints=(
        "Read the symptom first, and ask which lines could bring it about. In A, for example: which lines "
        "behave otherwise with two heads than with one?",
        "Write the shape of each array behind its line, for `n = 3`, `dim = 4` and two heads. What does "
        "row 0 of head 0 hold?",
        "You may copy a listing into a cell and run it: compare its output with that of your own "
        "`attention`.",
    ),
)


# --- distinct_rows ---------------------------------------------------------------------------------


def _with_number_of_rows(args: tuple[Any, ...], value: Any) -> bool:
    return all(1 <= number <= 6 for number in value)


DISTINCT_ROWS = Exercise(
    id="01-why-order-matters.distinct_rows",
    title="Predict: how many different rows?",
    signature="distinct_rows: two whole numbers, (without a mask, with the causal mask)",
    points=1,
    minutes=4,
    difficulty=1,
    kind="value",
    parts=("without a mask", "with the causal mask"),
    reference=lambda: (5, 6),
    make_cases=lambda rng: iter([Case("your prediction")]),
    properties=(
        Property(
            _with_number_of_rows,
            "Six tokens go in, so six rows come out. Count how many of these six rows differ: each of your "
            "two numbers is at least 1 and at most 6.",
        ),
    ),
    mistakes=(
        Mistake(
            "every-row-its-own",
            lambda: (6, 6),
            "Without a mask, the two tokens 'the' are the same vector and look at the same six tokens. "
            "Nothing tells them apart, so their rows are equal. Only the mask gives them different "
            "company.",
        ),
        Mistake(
            "mask-changes-nothing",
            lambda: (5, 5),
            "Your first number is right. With the causal mask, the first 'the' sees only itself, and the "
            "second one sees five tokens. Their rows are averages of different things.",
        ),
        Mistake(
            "invariance-without-mask",
            lambda: (1, 6),
            "Your second number is right. The first would mean that all tokens get the same row. The "
            "output is not invariant: each token's own query mixes the values in its own way. Which tokens "
            "share a query?",
        ),
        Mistake(
            "invariance-everywhere",
            lambda: (1, 1),
            "You expect all rows to be equal. Attention without positions does not give the same row to "
            "every token: it gives the same row to equal tokens. Then ask what each 'the' can see under "
            "the mask.",
        ),
        Mistake(
            "swapped",
            lambda: (6, 5),
            "The two numbers are swapped. Without a mask the two tokens 'the' cannot be told apart; with "
            "the mask they see different tokens.",
        ),
        Mistake(
            "twins-left-out",
            lambda: (4, 6),
            "Your second number is right. The two tokens 'the' share one row, and that row counts once: it "
            "is different from the other four.",
        ),
    ),
    alternatives=(lambda: [5, 6], lambda: (5.0, 6.0), lambda: (len({"the", "cat", "sat", "on", "mat"}), 6)),
    hints=(
        "Without a mask, what does a row of the output depend on? On the token's own query, and on the set "
        "of all keys and values.",
        "Which two tokens of the sentence have the same query? Do they see the same tokens once the mask "
        "is on?",
    ),
)


# --- changed_rows ----------------------------------------------------------------------------------


def _changed(tokens: Array, i: int, j: int, causal: bool, layers: int) -> Array:
    rows = np.arange(len(tokens))
    first, last = min(i, j), max(i, j)
    if tokens[i] == tokens[j]:
        return np.zeros(len(rows), dtype=bool)
    if not causal:
        return (rows == first) | (rows == last)
    return (rows >= first) & ((rows <= last) | (layers > 1))


def _changed_cases(rng: Generator) -> Iterator[Case]:
    six = np.array([7, 1, 4, 2, 9, 3])
    yield Case("no mask, one layer", (six, 1, 4, False, 1))
    yield Case("no mask, three layers", (six, 1, 4, False, 3))
    yield Case("causal mask, one layer", (six, 1, 4, True, 1))
    yield Case("causal mask, two layers", (six, 1, 4, True, 2))
    yield Case("causal mask, one layer, two neighbours", (six, 2, 3, True, 1))
    yield Case("causal mask, one layer, the later place is given first", (six, 4, 1, True, 1))
    yield Case("causal mask, three layers, the last two", (six, 5, 4, True, 3))
    yield Case("no mask, first and last", (six, 5, 0, False, 2))
    yield Case("causal mask, two layers, the same place twice", (six, 2, 2, True, 2))
    twins = np.array([5, 8, 5, 8, 1])
    yield Case("no mask, two equal tokens", (twins, 0, 2, False, 1))
    yield Case("causal mask, two layers, two equal tokens", (twins, 1, 3, True, 2))
    yield Case("causal mask, one layer, two tokens with an equal one between", (twins, 1, 4, True, 1))
    for _ in range(5):
        n = int(rng.integers(4, 9))
        i, j = (int(place) for place in rng.choice(n, size=2, replace=False))
        causal = bool(rng.random() < 0.7)
        layers = int(rng.integers(1, 4))
        yield Case("drawn at random", (rng.permutation(20)[:n], i, j, causal, layers))


def _rows_by_hand(
    tokens: Array, i: int, j: int, causal: bool, layers: int, *, seen: Callable[[int, int, int], bool]
) -> Array:
    """Under a mask, the rows for which `seen(row, first, last)`; without, the two that trade places."""
    first, last = min(i, j), max(i, j)
    if tokens[i] == tokens[j]:
        return np.zeros(len(tokens), dtype=bool)
    if not causal:
        return np.isin(np.arange(len(tokens)), [first, last])
    return np.array([seen(row, first, last) for row in range(len(tokens))])


def _changed_by_experiment(tokens: Array, i: int, j: int, causal: bool, layers: int) -> Array:
    """Random vectors for the tokens, random weights, and a look at what comes out."""
    rng = np.random.default_rng(0)
    vectors = {token: rng.normal(size=4) for token in sorted({*np.asarray(tokens).tolist()})}
    weights = rng.normal(size=(layers, 3, 4, 4)) / 3

    def model(tokens: list[int]) -> Array:
        x = np.array([vectors[token] for token in tokens])
        for w_q, w_k, w_v in weights:
            x = x + attention(x @ w_q, x @ w_k, x @ w_v, causal=causal)
        return x

    swapped = list(np.asarray(tokens).tolist())
    swapped[i], swapped[j] = swapped[j], swapped[i]
    return np.abs(model(swapped) - model(list(np.asarray(tokens).tolist()))).max(axis=1) > 1e-9


def _changed_in_a_loop(tokens: Array, i: int, j: int, causal: bool, layers: int) -> list[bool]:
    """Layer by layer: a row changes if it is another token's, or if the set of what it sees has changed."""

    def layer(rows: list[str]) -> list[str]:
        seen = [rows[: t + 1] if causal else rows for t in range(len(rows))]
        return [f"{row} sees {sorted(others)}" for row, others in zip(rows, seen, strict=True)]

    now = [str(token) for token in tokens]
    then = list(now)
    then[i], then[j] = then[j], then[i]
    for _ in range(layers):
        now, then = layer(now), layer(then)
    return [one != other for one, other in zip(now, then, strict=True)]


CHANGED_ROWS = Exercise(
    id="01-why-order-matters.changed_rows",
    title="Two tokens trade places",
    signature="changed_rows(tokens: (n,), i: int, j: int, causal: bool, layers: int) -> n booleans",
    points=2,
    minutes=12,
    difficulty=4,
    reference=lambda tokens, i, j, causal, layers: _changed(tokens, i, j, causal, layers),
    make_cases=_changed_cases,
    properties=(
        Property(
            lambda args, value: bool(
                args[0][args[1]] == args[0][args[2]] or (value[args[1]] and value[args[2]])
            ),
            "At the places i and j other tokens stand now. So both rows change, with a mask and without.",
        ),
        Property(
            lambda args, value: bool(not args[3] or not np.any(value[: min(args[1], args[2])])),
            "Under a causal mask, nobody who stands before both places can see that anything has changed.",
        ),
    ),
    mistakes=(
        Mistake(
            "mask-changes-nothing",
            lambda tokens, i, j, causal, layers: _changed(tokens, i, j, False, layers),
            "You treat the causal mask as if it were not there. Under it, a token between the two places "
            "sees another word than before.",
        ),
        Mistake(
            "layers-ignored",
            lambda tokens, i, j, causal, layers: _changed(tokens, i, j, causal, 1),
            "It is right for one layer. The second layer does not read the tokens but the rows of the first, "
            "and some of those have changed. What does a token see that stands behind both places?",
        ),
        Mistake(
            "one-layer-as-many",
            lambda tokens, i, j, causal, layers: _changed(tokens, i, j, causal, 2),
            "It is right for two and more layers. In a single causal layer, a token behind both places sees "
            "the same tokens as before, only in another order, and it takes an average of them.",
        ),
        Mistake(
            "all-without-mask",
            lambda tokens, i, j, causal, layers: (
                _changed(tokens, i, j, causal, layers)
                if causal or tokens[i] == tokens[j]
                else np.ones(len(tokens), dtype=bool)
            ),
            "Without a mask you let every row change. The tokens that stay where they are see the same "
            "tokens as before, in another order.",
        ),
        Mistake(
            "none-without-mask",
            lambda tokens, i, j, causal, layers: _changed(tokens, i, j, causal, layers) & causal,
            "Without a mask you let no row change: that would be invariance. It is asked what stands at each "
            "place, and at the two places other tokens stand now.",
        ),
        Mistake(
            "last-place-left-out",
            lambda tokens, i, j, causal, layers: _rows_by_hand(
                tokens,
                i,
                j,
                causal,
                layers,
                seen=lambda t, first, last: first <= t and (t < last or layers > 1),
            ),
            "In a causal layer, the row at the later of the two places changes as well: another token asks "
            "there now.",
        ),
        Mistake(
            "first-place-left-out",
            lambda tokens, i, j, causal, layers: _rows_by_hand(
                tokens,
                i,
                j,
                causal,
                layers,
                seen=lambda t, first, last: first < t and (t <= last or layers > 1),
            ),
            "In a causal layer, the row at the earlier of the two places changes as well: another token "
            "stands there now.",
        ),
        Mistake(
            "mask-turned-round",
            lambda tokens, i, j, causal, layers: _rows_by_hand(
                tokens,
                i,
                j,
                causal,
                layers,
                seen=lambda t, first, last: t <= last and (first <= t or layers > 1),
            ),
            "Your mask is turned round: you let rows change that stand before both places, and a causal mask "
            "lets nobody look ahead.",
        ),
        Mistake(
            "equal-tokens",
            lambda tokens, i, j, causal, layers: _changed(np.arange(len(tokens)), i, j, causal, layers),
            "You do not look at the tokens themselves. Where the two are equal, the sequence is what it was, "
            "and no row changes.",
        ),
        Mistake(
            "earlier-place-taken-to-be-first",
            lambda tokens, i, j, causal, layers: (
                _changed(tokens, i, j, causal, layers)
                if not causal
                else (np.arange(len(tokens)) >= i)
                & ((np.arange(len(tokens)) <= j) | (layers > 1))
                & (tokens[i] != tokens[j])
            ),
            "It is right where i comes before j. They may be given the other way round: sort the two first.",
        ),
        Mistake(
            "turned-round",
            lambda tokens, i, j, causal, layers: ~_changed(tokens, i, j, causal, layers),
            "Your answers are turned round: True is for a row that changes.",
        ),
    ),
    alternatives=(
        _changed_by_experiment,
        _changed_in_a_loop,
        lambda tokens, i, j, causal, layers: [
            bool(
                tokens[i] != tokens[j]
                and (row in (i, j) if not causal else min(i, j) <= row and (layers > 1 or row <= max(i, j)))
            )
            for row in range(len(tokens))
        ],
    ),
    hints=(
        "Take one place and ask two questions: does the same token ask there as before? Does it see the same "
        "tokens as before, whatever their order?",
        "With a causal mask, do this for a place before both, for the two places, for one between them, "
        "and for one behind both.",
        "In the second layer, the rows of the first layer take the part of the tokens. Ask the same two "
        "questions once more.",
        "Or let a machine answer: give each token a random vector, run `layers` layers of your own attention "
        "on both sequences, and compare row with row. Small weights, of about 0.3, keep the softmax from "
        "saturating.",
    ),
)


# --- positions_from_mean ---------------------------------------------------------------------------


def _mean_cases(rng: Generator) -> Iterator[Case]:
    def case(label: str, positions: list[int] | Array, first: float, other: float) -> Case:
        t = np.asarray(positions)
        return Case(label, ((first + other * t) / (t + 1), first, other))

    yield case("positions 0 to 5, first value 1, all others 0", np.arange(6), 1.0, 0.0)
    yield case("out of order", [4, 1, 3, 0, 2], 1.0, 0.0)
    yield case("first value 5, all others 2", [3, 0, 7], 5.0, 2.0)
    yield case("first value below the others", [0, 6, 1, 2], -1.5, 3.0)
    yield case("only the token at position 0", [0], 2.0, 0.5)
    yield case("far away", [1_000_000, 1000, 10], 1.0, 0.0)
    yield case("random values", rng.integers(0, 50, size=8), 1.0 + rng.random(), -1.0 - rng.random())


def _positions_by_multiples(means: Array, first: float, other: float) -> list[float]:
    found = []
    for mean in means:
        share = (mean - other) / (first - other)  # 1 / (t + 1)
        found.append((1 - share) / share)
    return found


POSITIONS_FROM_MEAN = Exercise(
    id="01-why-order-matters.positions_from_mean",
    title="Read a position from an average",
    signature="positions_from_mean(means: array of shape (n,), first: float, other: float) "
    "-> array of shape (n,)",
    points=2,
    minutes=8,
    difficulty=3,
    reference=lambda means, first, other: (first - means) / (means - other),
    make_cases=_mean_cases,
    properties=(
        Property(
            lambda args, value: bool(np.allclose(np.asarray(value)[args[0] == args[1]], 0.0)),
            "The token at position 0 sees only itself: where the mean is equal to first, the position is 0.",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value) > -1e-6)),
            "Positions count from 0 upwards; some of yours are negative.",
        ),
    ),
    mistakes=(
        Mistake(
            "count",
            lambda means, first, other: (first - other) / (means - other),
            "That is the number of tokens that the query sees, itself included. Positions count from 0, so "
            "the position is one less.",
        ),
        Mistake(
            "other-ignored",
            lambda means, first, other: _quietly(lambda: np.divide(first, means)) - 1,
            "This is right while the other tokens hold 0. Here they hold the value other, and it is part "
            "of the mean: take other away from first and from the means before you divide.",
        ),
        Mistake(
            "mark-taken-as-one",
            lambda means, first, other: _quietly(lambda: np.divide(1.0, means)) - 1,
            "This is the formula for a first value of 1 and others of 0. Here both are arguments: solve "
            "mean = (first + t * other) / (t + 1) for t.",
        ),
        Mistake(
            "in-order",
            lambda means, first, other: np.arange(len(means)),
            "You number the means in the order in which they are given. They may come from any tokens, in "
            "any order: compute each position from its mean.",
        ),
        Mistake(
            "swapped",
            lambda means, first, other: _quietly(lambda: np.divide(other - means, means - first)),
            "The values first and other have changed places. At position 0 the mean is first, and far away "
            "it comes close to other.",
        ),
        Mistake(
            "share",
            lambda means, first, other: (first - means) / (first - other),
            "That is t / (t + 1), the share of the other tokens in the mean. Divide by means - other "
            "instead of first - other to get t itself.",
        ),
        Mistake(
            "negative",
            lambda means, first, other: (first - means) / (other - means),
            "The sign of the denominator is turned: your positions are negative. Divide by means - other.",
        ),
    ),
    alternatives=(
        lambda means, first, other: (first - other) / (means - other) - 1,
        lambda means, first, other: np.round((first - other) / (means - other)) - 1,
        _positions_by_multiples,
    ),
    hints=(
        "The token at position t sees t + 1 tokens: the first one, and t others. Write down their mean.",
        "`mean = (first + t * other) / (t + 1)`. Multiply by `t + 1` and bring everything with t to one "
        "side.",
        "With `first = 1` and `other = 0` your formula must become `1 / mean - 1`.",
    ),
)


# --- symmetry_left ---------------------------------------------------------------------------------

_Layer = Callable[[Array], Array]

ALL, MIRROR, SHIFT, NONE = "all", "mirror", "shift", "none"


def _attends(rng: Generator, **options: Any) -> _Layer:
    w_q, w_k, w_v = rng.normal(size=(3, 4, 4)) / 2
    return lambda x: attention(x @ w_q, x @ w_k, x @ w_v, **options)


def _with_mlp(rng: Generator) -> _Layer:
    attend, inwards, outwards = _attends(rng), rng.normal(size=(4, 8)), rng.normal(size=(8, 4))
    return lambda x: x + attend(x) + np.maximum(x @ inwards, 0.0) @ outwards


def _between(places: int) -> Array:
    """Key minus query, (places, places)."""
    return np.arange(places)[None, :] - np.arange(places)[:, None]


def _round_a_ring(rng: Generator, places: int) -> Array:
    return 2.0 * rng.normal(size=places)[_between(places) % places]


def _neighbours(x: Array) -> Array:
    around = np.pad(x, ((1, 1), (0, 0)))
    return x + (around[:-2] + around[2:]) / 3


def _marked_ends(x: Array) -> Array:
    marked = x.copy()
    marked[[0, -1]] += 1.0
    return marked


def _by_parity(rng: Generator) -> _Layer:
    size = 1.0 + rng.random()
    return lambda x: x + size * (np.arange(len(x)) % 2)[:, None]


_PLACES = 6

# From what the report calls it to how the box is made.
_BOXES: dict[str, dict[str, Callable[[Generator], _Layer]]] = {
    ALL: {
        "attention without positions": _attends,
        "attention, residual and MLP": _with_mlp,
        "each row less the mean of all": lambda rng: lambda x: x - x.mean(axis=0),
        "the mean of all rows, in the place of every row": lambda rng: (
            lambda x: np.repeat(x.mean(axis=0, keepdims=True), len(x), axis=0)
        ),
        "each row by itself": lambda rng: lambda x: np.tanh(x),
        "the largest number of each column, added to every row": lambda rng: lambda x: x + x.max(axis=0),
    },
    MIRROR: {
        "attention with a penalty on distance": lambda rng: _attends(rng, bias=-0.7 * abs(_between(_PLACES))),
        "attention with a very small penalty on distance": lambda rng: _attends(
            rng, bias=-0.001 * abs(_between(_PLACES))
        ),
        "each row with a part of its neighbours": lambda rng: _neighbours,
        "a mark on the first and the last row": lambda rng: _marked_ends,
    },
    SHIFT: {
        "each row with half of the row before it, round a ring": lambda rng: (
            lambda x: x + np.roll(x, 1, axis=0) / 2
        ),
        "each row with half of the row two places on, round a ring": lambda rng: (
            lambda x: x + np.roll(x, -2, axis=0) / 2
        ),
        "attention with a bias for each signed offset, round a ring": lambda rng: _attends(
            rng, bias=_round_a_ring(rng, _PLACES)
        ),
    },
    NONE: {
        "attention with a causal mask": lambda rng: _attends(rng, causal=True),
        "attention with a bias by signed offset": lambda rng: _attends(rng, bias=0.5 * _between(_PLACES)),
        "attention with a table added": lambda rng: _on_table(rng),
        "each row less the first one": lambda rng: lambda x: x - x[0],
        "each column in order of size": lambda rng: lambda x: np.sort(x, axis=0),
        "the mean of the first two rows, added to every row": lambda rng: lambda x: x + x[:2].mean(axis=0),
        "a mark on every second row": _by_parity,
    },
}
_BOX_OF = {label: make for boxes in _BOXES.values() for label, make in boxes.items()}


def _on_table(rng: Generator) -> _Layer:
    attend, table = _attends(rng), rng.normal(size=(_PLACES, 4))
    return lambda x: attend(x + table)


@dataclass(frozen=True)
class _Box:
    """A black box; two of one kind and one seed do the same."""

    kind: str
    seed: int

    def __call__(self, x: Array) -> Array:
        return _BOX_OF[self.kind](np.random.default_rng(self.seed))(x)


def _symmetry_cases(rng: Generator) -> Iterator[Case]:
    for kind in enough_of_each(rng, *(list(boxes) for boxes in _BOXES.values())):
        yield Case(kind, (_Box(kind, int(rng.integers(2**32))), rng.normal(size=(_PLACES, 4))))


_Holds = Callable[[_Layer, Array, Array], bool]


def _moves_along(layer: _Layer, x: Array, order: Array, limit: float = 1e-9) -> bool:
    return bool(np.abs(layer(x[order]) - layer(x)[order]).max() < limit)


def _turned_by(places: int, by: int = 1) -> Array:
    return np.roll(np.arange(places), by)


def _swapped(places: int, first: int) -> Array:
    order = np.arange(places)
    order[[first, first + 1]] = order[[first + 1, first]]
    return order


def _detect(
    layer: _Layer,
    x: Array,
    holds: _Holds = _moves_along,
    *,
    swaps: int | None = None,
    by: int = 1,
    names: Sequence[str] = (ALL, MIRROR, SHIFT),
) -> str:
    """The first of `names` that holds; all is all swaps of neighbours, or the first `swaps` of them."""
    n = len(x)
    orders = {
        ALL: [_swapped(n, first) for first in range(n - 1)][:swaps],
        MIRROR: [np.arange(n)[::-1]],
        SHIFT: [_turned_by(n, by)],
    }
    return next((name for name in names if all(holds(layer, x, each) for each in orders[name])), NONE)


def _detect_by_drawing(layer: _Layer, x: Array) -> str:
    rng, n = np.random.default_rng(0), len(x)
    if all(_moves_along(layer, x, rng.permutation(n)) for _ in range(20)):
        return ALL
    for name, order in ((MIRROR, np.arange(n)[::-1]), (SHIFT, (np.arange(n) + 1) % n)):
        if np.allclose(layer(x[order]), layer(x)[order], rtol=0, atol=1e-9):
            return name
    return NONE


def _detect_by_two(layer: _Layer, x: Array) -> str:
    """No box has both, unless it has all."""
    mirror = _moves_along(layer, x, np.arange(len(x))[::-1])
    shift = _moves_along(layer, x, _turned_by(len(x), -1))
    return {(True, True): ALL, (True, False): MIRROR, (False, True): SHIFT}.get((mirror, shift), NONE)


def _detect_by_two_generators(layer: _Layer, x: Array) -> str:
    """Every order is made of shifts and of swaps of the first two."""
    shift = _moves_along(layer, x, _turned_by(len(x)))
    if shift:
        return ALL if _moves_along(layer, x, _swapped(len(x), 0)) else SHIFT
    return MIRROR if _moves_along(layer, x, np.arange(len(x))[::-1]) else NONE


SYMMETRY_LEFT = Exercise(
    id="01-why-order-matters.symmetry_left",
    title="Symmetry detective",
    signature="symmetry_left(layer: a function from (n, width) to (n, width), x: (n, width)) "
    '-> "all", "mirror", "shift" or "none"',
    points=3,
    minutes=15,
    difficulty=4,
    reference=lambda layer, x: _detect(layer, x),
    make_cases=_symmetry_cases,
    properties=(
        Property(
            lambda args, value: value in (ALL, MIRROR, SHIFT, NONE),
            "Answer with one of four words, in small letters: all, mirror, shift or none.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "invariance",
            lambda layer, x: _detect(
                layer, x, lambda layer, x, order: bool(np.abs(layer(x[order]) - layer(x)).max() < 1e-9)
            ),
            "You ask whether the output stays where it was. That is invariance, and hardly any box has "
            "it. Ask whether the rows move along: compare with layer(x)[order].",
        ),
        Mistake(
            "exactly",
            lambda layer, x: _detect(
                layer, x, lambda layer, x, order: bool(np.array_equal(layer(x[order]), layer(x)[order]))
            ),
            "You ask for exact equality. A sum in another order rounds otherwise in its last digits: let "
            "differences below 1e-9 pass.",
        ),
        Mistake(
            "too-coarse",
            lambda layer, x: _detect(
                layer, x, lambda layer, x, order: _moves_along(layer, x, order, limit=0.05)
            ),
            "You let differences pass that are far above rounding. A very small penalty on distance "
            "breaks the symmetry too: the limit is 1e-9.",
        ),
        Mistake(
            "first-two-swapped",
            lambda layer, x: _detect(layer, x, swaps=1),
            "You swap the first two rows, and conclude that all orders are allowed. A box may treat these "
            "two alike and no others: try more orders.",
        ),
        Mistake(
            "mirror-before-all",
            lambda layer, x: _detect(layer, x, names=(MIRROR, SHIFT, ALL)),
            "A box that lets all orders pass lets the mirror pass too, and you stop there. Ask for all "
            "first.",
        ),
        Mistake(
            "shift-before-all",
            lambda layer, x: _detect(layer, x, names=(SHIFT, ALL, MIRROR)),
            "A box that lets all orders pass lets the shift pass too, and you stop there. Ask for all first.",
        ),
        Mistake(
            "shift-by-two",
            lambda layer, x: _detect(layer, x, by=2),
            "You shift by two places. A box may treat even and odd places in two ways: then a shift by two "
            "leaves it as it is, and a shift by one does not.",
        ),
        Mistake(
            "pooled",
            lambda layer, x: _detect(
                layer,
                x,
                lambda layer, x, order: bool(
                    np.abs(layer(x[order]).sum(axis=0) - layer(x).sum(axis=0)).max() < 1e-9
                ),
            ),
            "You add the rows up before you compare, and a sum forgets which row stood where. Compare row "
            "with row.",
        ),
        Mistake(
            "no-shift",
            lambda layer, x: _detect(layer, x, names=(ALL, MIRROR)),
            "You find all and mirror, and never the shift. If you ask for it, look at which way the "
            "output is moved: with order = np.roll(np.arange(n), 1), compare layer(x[order]) with "
            "layer(x)[order], and not with the rows moved back.",
        ),
    ),
    alternatives=(_detect_by_drawing, _detect_by_two, _detect_by_two_generators),
    hints=(
        "Write a small function first: for one `order`, the largest difference of `layer(x[order])` and "
        "`layer(x)[order]`. Below 1e-9 it is rounding.",
        "The mirror is `np.arange(n)[::-1]`, and the shift by one place is `np.roll(np.arange(n), 1)`.",
        "You need not try all orders to know that all are allowed: every order is made of swaps of two "
        "neighbours.",
        "A box that allows all orders allows the mirror and the shift as well. Which question comes first?",
    ),
)


EXERCISES = (
    WINNING_MARGIN,
    SATURATING_WIDTH,
    SAME_BAG,
    RESTORE_ROWS,
    NOTICED,
    SOFTMAX,
    CAUSAL_WEIGHTS,
    ATTENTION,
    FIND_THE_BUG,
    DISTINCT_ROWS,
    CHANGED_ROWS,
    POSITIONS_FROM_MEAN,
    SYMMETRY_LEFT,
)
