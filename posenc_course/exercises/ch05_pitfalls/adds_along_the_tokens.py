"""A test that catches the wrong axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_course.exercises.ch05_pitfalls._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each
from posenc_lib._arrays import Array
from posenc_lib.added.sinusoidal import sinusoidal

MOST = 64
"""Tokens of a sentence, and columns of a vector."""


# The implementations that the learner's test is put to. Each takes and gives (batch, seq_len, dim).
def _table(length: int, dim: int) -> Array:
    return sinusoidal(length, dim)


def _along_the_tokens(x: Array, seed: int) -> Array:
    return x + _table(x.shape[1], x.shape[2])


def _scaled_first(x: Array, seed: int) -> Array:
    return x * np.sqrt(x.shape[2]) + _table(x.shape[1], x.shape[2])


def _learned(x: Array, seed: int) -> Array:
    rows = np.random.default_rng(seed).normal(size=(MOST, MOST))
    return x + rows[: x.shape[1], : x.shape[2]]


def _along_the_batch(x: Array, seed: int) -> Array:
    return x + _table(x.shape[0], x.shape[2])[:, None]


def _nothing_added(x: Array, seed: int) -> Array:
    return x


def _first_row_for_all(x: Array, seed: int) -> Array:
    return x + _table(1, x.shape[2])


def _counted_through_the_batch(x: Array, seed: int) -> Array:
    return x + _table(x.shape[0] * x.shape[1], x.shape[2]).reshape(x.shape)


def _first_sentence_only(x: Array, seed: int) -> Array:
    return np.concatenate([_along_the_tokens(x[:1], seed), x[1:]])


def _first_two_sentences_only(x: Array, seed: int) -> Array:
    return np.concatenate([_along_the_tokens(x[:2], seed), x[2:]])


def _every_other_sentence(x: Array, seed: int) -> Array:
    return np.where(np.arange(len(x))[:, None, None] % 2 == 0, _along_the_tokens(x, seed), x)


@dataclass(frozen=True)
class Adder:
    """An implementation that a learner's test is tried on. Equal to another of the same rule and seed.

    It looks at what it is given first: no error tells which one it is.
    """

    rule: Callable[[Array, int], Array]
    seed: int

    def __call__(self, x: Any) -> Array:
        given = np.asarray(x)
        if given.ndim != 3 or given.dtype.kind not in "iuf":
            raise ValueError("give real numbers: an array of shape (batch, seq_len, dim)")
        if given.shape[1] > MOST or given.shape[2] not in range(2, MOST + 1, 2):
            raise ValueError(f"give at most {MOST} tokens, and an even dim from 2 to {MOST}")
        return self.rule(given, self.seed)


_RIGHT = {
    "the encoding along the tokens": _along_the_tokens,
    "embeddings scaled, then the encoding along the tokens": _scaled_first,
    "a learned table along the tokens": _learned,
}


_WRONG = {
    "the encoding along the batch": _along_the_batch,
    "nothing is added": _nothing_added,
    "every token gets the row of position 0": _first_row_for_all,
    "positions are counted on from sentence to sentence": _counted_through_the_batch,
    "only the first sentence gets an encoding": _first_sentence_only,
    "only the first two sentences get an encoding": _first_two_sentences_only,
    "every other sentence gets an encoding": _every_other_sentence,
}


def _implementations(rng: Generator) -> Iterator[Case]:
    for label, rule in enough_of_each(rng, list(_RIGHT.items()), list(_WRONG.items())):
        yield Case(label, (Adder(rule, int(rng.integers(2**32))),))


def _zeros(add: Callable[[Array], Array], batch: int = 3, seq_len: int = 4, dim: int = 8) -> Array:
    """What is added: the output where all embeddings are 0."""
    return np.asarray(add(np.zeros((batch, seq_len, dim))))


def _tokens_differ(out: Array) -> bool:
    return not np.allclose(out[0, 0], out[0, 1])


def _sentences_agree(out: Array) -> bool:
    return bool(np.allclose(out, out[:1]))


def _adds_along_the_tokens(add: Callable[[Array], Array]) -> bool:
    out = _zeros(add)
    return _tokens_differ(out) and _sentences_agree(out)


def _of_batch_of_two(add: Callable[[Array], Array]) -> bool:
    out = _zeros(add, batch=2)
    return _tokens_differ(out) and _sentences_agree(out)


def _first_and_last_sentence(add: Callable[[Array], Array]) -> bool:
    out = _zeros(add)
    return _tokens_differ(out) and bool(np.allclose(out[0], out[-1]))


def _input_subtracted(add: Callable[[Array], Array]) -> bool:
    x = np.random.default_rng(0).normal(size=(3, 4, 8))
    out = np.asarray(add(x)) - x
    return _tokens_differ(out) and _sentences_agree(out)


def _wrong_about(rule: Callable[[Array, int], Array]) -> Callable[[tuple[Adder], bool], bool]:
    """Whether the verdict on this rule is right."""
    return lambda args, value: args[0].rule is not rule or value is (rule in _RIGHT.values())


def _alone_as_in_a_batch(add: Callable[[Array], Array]) -> bool:
    x = np.linspace(-1, 1, 3 * 5 * 6).reshape(3, 5, 6)
    together = np.asarray(add(x))
    alone = np.concatenate([np.asarray(add(sentence[None])) for sentence in x])
    swapped = np.asarray(add(x[:, ::-1]))[:, ::-1]
    return bool(np.allclose(together, alone)) and not np.allclose(swapped, together)


def _by_the_spread(add: Callable[[Array], Array]) -> bool:
    out = _zeros(add, batch=3, seq_len=7)
    return bool(np.ptp(out, axis=0).max() < 1e-9 < np.ptp(out, axis=1).max())


def _row_by_row(add: Callable[[Array], Array]) -> bool:
    added = _zeros(add, batch=4, seq_len=3, dim=4)
    distinct = {tuple(row) for row in added[0].round(6).tolist()}
    return len(distinct) == 3 and all((sentence == added[0]).all() for sentence in added)


ADDS_ALONG_THE_TOKENS = Exercise(
    id="05-pitfalls.adds_along_the_tokens",
    title="A test that catches the wrong axis",
    signature="adds_along_the_tokens(add: function from (batch, seq_len, dim) to (batch, seq_len, dim)) -> "
    "bool",
    points=3,
    minutes=10,
    difficulty=3,
    reference=_adds_along_the_tokens,
    make_cases=_implementations,
    properties=(
        Property(
            _wrong_about(_along_the_tokens),
            "Your test rejects the plain right one: x + posenc_lib.sinusoidal(seq_len, dim). Run your test "
            "on it, and print what it compares.",
        ),
        Property(
            _wrong_about(_learned),
            "Your test rejects a learned table that is added along the tokens. Its numbers are not known "
            "beforehand, and row 0 need not hold a 0: test what any encoding must do.",
        ),
        Property(
            _wrong_about(_scaled_first),
            "Your test rejects an implementation that scales the embeddings first, as the model of chapter 2 "
            "does. Feed it zeros: then only the encoding comes out.",
        ),
        Property(
            _wrong_about(_nothing_added),
            "An implementation that adds nothing passes your test. Two tokens of one sentence must get "
            "different vectors, even where their embeddings are the same.",
        ),
        Property(
            _wrong_about(_first_row_for_all),
            "An implementation that gives all tokens the row of position 0 passes your test. Compare what "
            "two tokens of one sentence get.",
        ),
        Property(
            _wrong_about(_along_the_batch),
            "An encoding that runs along the batch passes your test. There all tokens of a sentence get one "
            "row: which two tokens do you compare?",
        ),
        Property(
            _wrong_about(_counted_through_the_batch),
            "An implementation that counts on from sentence to sentence passes your test. Compare what the "
            "first tokens of two sentences get.",
        ),
        Property(
            _wrong_about(_first_sentence_only),
            "An implementation that leaves out all sentences but the first passes your test. Compare all "
            "sentences with each other.",
        ),
    ),
    mistakes=(
        Mistake(
            "accepts-everything",
            lambda add: _zeros(add).shape == (3, 4, 8),
            "Your test lets every implementation pass, the wrong ones too. A shape is right whichever axis "
            "the positions run along, and random embeddings differ from token to token by themselves. Feed "
            "it zeros, and compare two tokens of one sentence, and two sentences.",
        ),
        Mistake(
            "rejects-everything",
            lambda add: False,
            "Your test rejects every implementation, the right ones too. Run it on a right one first: "
            "x + posenc_lib.sinusoidal(seq_len, dim).",
        ),
        Mistake(
            "something-added",
            lambda add: bool(np.any(_zeros(add) != 0)),
            "Your test asks whether anything is added at all. That is true of the wrong axis as well. Ask "
            "whether two tokens of one sentence get different vectors, and two sentences the same ones.",
        ),
        Mistake(
            "tokens-differ-alone",
            lambda add: _tokens_differ(_zeros(add)),
            "Your test asks whether the tokens of one sentence get different vectors. That is half of it: an "
            "implementation that counts on from sentence to sentence passes. Ask as well whether all "
            "sentences of one batch get the same vectors, in a batch of at least three.",
        ),
        Mistake(
            "sentences-agree-alone",
            lambda add: _sentences_agree(_zeros(add)),
            "Your test finds out whether all sentences get the same vectors. That is half of it: an "
            "implementation that adds nothing passes. The tokens of one sentence must get different vectors "
            "even where their embeddings are the same: feed it zeros.",
        ),
        Mistake(
            "batch-of-two",
            _of_batch_of_two,
            "Your test looks at two sentences, so it misses an implementation that leaves out the third. Use "
            "a batch of at least three, and compare all of them.",
        ),
        Mistake(
            "first-and-last-sentence",
            _first_and_last_sentence,
            "Your test misses an implementation that leaves out every second sentence. Does it compare only "
            "the first sentence with the last? Compare all of them.",
        ),
        Mistake(
            "input-subtracted",
            _input_subtracted,
            "Your test rejects only the implementation that scales the embeddings first, as the model of "
            "chapter 2 does: x * sqrt(dim) + encoding. There, add(x) - x is more than the encoding. Feed it "
            "zeros: then only the encoding comes out.",
        ),
        Mistake(
            "sinusoidal-alone",
            lambda add: bool(np.allclose(_zeros(add), _table(4, 8))),
            "Your test compares with one particular encoding, so it rejects a learned table that is added "
            "exactly as it should be. Test what any encoding must do, not which numbers it holds.",
        ),
        Mistake(
            "verdict-turned-round",
            lambda add: not _adds_along_the_tokens(add),
            "Your verdict is the wrong way round: you return True for the wrong implementations. Return True "
            "where the encoding runs along the tokens.",
        ),
    ),
    alternatives=(_alone_as_in_a_batch, _by_the_spread, _row_by_row),
    hints=(
        "Embeddings of zeros show what is added and nothing else: `add(np.zeros((3, 4, 8)))`.",
        "Two things must hold. What must differ within one sentence? What must be equal across the sentences "
        "of a batch?",
        "Use `np.allclose` twice: `out[0, 0]` and `out[0, 1]` must differ, `out[0]` and every other "
        "`out[b]` must agree.",
    ),
)
