"""Better than counting?: What counting alone knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from posenc_course.exercises.ch04_extrapolation._shared import BETTER_THAN_COUNTING, Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


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
    id="04-extrapolation.bigram_losses",
    title="What counting alone knows",
    step_of=BETTER_THAN_COUNTING,
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
