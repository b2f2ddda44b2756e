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
    follow: Callable[[Array, Array], Array] = lambda pairs, once: pairs.sum(axis=1),
    never: Callable[[Array], Array] = lambda alone: alone,
) -> Array:
    """-ln P of each token but the first, Witten-Bell; each callable may get a part of it wrong.

    `kinds_of` counts T(a), `shorter` gives P(b), `follow` counts c(a), and `never` is for an a after which
    nothing came.
    """
    once = np.bincount(seen, minlength=vocab)
    kinds = (once > 0).sum()
    alone = (once + kinds / vocab) / (len(seen) + kinds)
    alone = alone if shorter is None else shorter(once)
    pairs = np.zeros((vocab, vocab))
    np.add.at(pairs, (seen[:-1], seen[1:]), 1)
    after = kinds_of(pairs)[:, None]
    with np.errstate(all="ignore"):
        p = (pairs + after * alone) / (follow(pairs, once)[:, None] + after)
        p = np.where(pairs.sum(axis=1, keepdims=True) > 0, p, never(alone))
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
    where_not_finite="Either a pair that was never seen got the probability 0: the mixture gives every token "
    "of the vocabulary something. Or nothing ever came after the token before, and both c(a) and T(a) are 0: "
    "there, take P(b).",
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[1]) - 1,),
            "There is one loss for each token of text except the first: n - 1 of them.",
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
            "You add 1 to every count of a pair. Here the counts are mixed with the probability of the token "
            "alone instead, and its share depends on how many kinds came after.",
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
            "You mix the counts of pairs with 1 / vocab. Mix them with P(b), the token alone: only P(b) "
            "itself is mixed with 1 / vocab.",
        ),
        Mistake(
            "floor-left-out",
            lambda seen, text, vocab: _bigram(seen, text, vocab, shorter=lambda once: once / once.sum()),
            "Your P(b) is the plain share of b in what was seen, so a token that was never seen gets 0. Mix "
            "it with 1 / vocab, as the first formula says.",
        ),
        Mistake(
            "times-for-kinds",
            lambda seen, text, vocab: _bigram(seen, text, vocab, kinds_of=lambda pairs: pairs.sum(axis=-1)),
            "Counts and P(b) get half each, as if T(a) were c(a). T(a) is how many different tokens came "
            "after a, each counted once.",
        ),
        Mistake(
            "one-for-kinds",
            lambda seen, text, vocab: _bigram(
                seen, text, vocab, kinds_of=lambda pairs: np.minimum(pairs.sum(axis=-1), 1)
            ),
            "For T(a) you took 1. It is how many different tokens came after a.",
        ),
        Mistake(
            "all-kinds-for-kinds",
            lambda seen, text, vocab: _bigram(
                seen, text, vocab, kinds_of=lambda pairs: np.full(vocab, len(np.unique(seen)))
            ),
            "For T(a) you took T, the kinds in the whole of seen. T(a) is how many different tokens came "
            "after a.",
        ),
        Mistake(
            "kinds-before",
            lambda seen, text, vocab: _bigram(
                seen, text, vocab, kinds_of=lambda pairs: (pairs > 0).sum(axis=0)
            ),
            "T(a) is how many different tokens came after a. You count how many came before it: the other "
            "axis of the table of pairs.",
        ),
        Mistake(
            "last-token-counted",
            lambda seen, text, vocab: _bigram(seen, text, vocab, follow=lambda pairs, once: once),
            "For c(a) you took how often a came in seen. The last token of seen has nothing after it: c(a) "
            "counts the tokens that came right after a, the sum of its row of pairs.",
        ),
        Mistake(
            "one-for-all-kinds",
            lambda seen, text, vocab: _bigram(
                seen, text, vocab, shorter=lambda once: (once + 1 / vocab) / (once.sum() + 1)
            ),
            "In P(b) you put 1 where T should be. T is how many different tokens came in seen.",
        ),
        Mistake(
            "add-one-to-the-token-alone",
            lambda seen, text, vocab: _bigram(
                seen, text, vocab, shorter=lambda once: (once + 1) / (once.sum() + vocab)
            ),
            "In P(b) you add 1 to every count. Here T is shared out evenly among the vocabulary: add "
            "T / vocab to each count, and T to the sum.",
        ),
        Mistake(
            "sum-without-kinds",
            lambda seen, text, vocab: _bigram(
                seen, text, vocab, shorter=lambda once: (once + (once > 0).sum() / vocab) / once.sum()
            ),
            "Your P(b) do not sum to 1. What is added to the counts has to be added to the sum below them as "
            "well: N + T.",
        ),
        Mistake(
            "even-where-nothing-came",
            lambda seen, text, vocab: _bigram(
                seen, text, vocab, never=lambda alone: np.full(vocab, 1 / vocab)
            ),
            "It is right, except where nothing ever came after the token before. There you took 1 / vocab; "
            "it is P(b).",
        ),
        Mistake(
            "probabilities",
            lambda seen, text, vocab: np.exp(-_bigram(seen, text, vocab)),
            "These are the probabilities. The loss is minus the natural logarithm of each.",
        ),
        Mistake(
            "context-after",
            _after_instead,
            "You look at the token that comes after. A language model knows only what came before.",
        ),
        Mistake(
            "counts-the-test",
            lambda seen, text, vocab: _bigram(np.concatenate([seen, text]), text, vocab),
            "You also counted the text that is tested. It must be held out, or the n-gram knows the answers.",
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
        "Two tables of counts are all you need: how often each token came, and how often each pair.",
        "`np.bincount(seen, minlength=vocab)` counts tokens; `np.add.at(pairs, (seen[:-1], seen[1:]), 1)` "
        "counts pairs. Kinds are the entries above 0.",
        "First P(b), the token alone, for all b. Then (pairs + T(a) P(b)) / (c(a) + T(a)), row by row. A row "
        "without any pair is P(b) itself.",
    ),
)
