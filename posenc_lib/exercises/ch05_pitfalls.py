"""Exercises of `05-pitfalls`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from posenc_lib._arrays import Array
from posenc_lib.added.sinusoidal import sinusoidal
from posenc_lib.angles import frequencies
from posenc_lib.attention import attention
from posenc_lib.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each
from posenc_lib.rotated.rotary import apply_rotary

BASE = 10000.0
CHAPTER = "05-pitfalls"

Generator = np.random.Generator


# --- moves_with_the_token --------------------------------------------------------------------
# The implementations that the learner's test is put to. Each takes and gives (batch, seq_len, dim).


def _table(length: int, dim: int) -> Array:
    return sinusoidal(length, dim)


def _along_the_tokens(x: Array, seed: int) -> Array:
    return x + _table(x.shape[1], x.shape[2])


def _scaled_first(x: Array, seed: int) -> Array:
    return x * np.sqrt(x.shape[2]) + _table(x.shape[1], x.shape[2])


def _learned(x: Array, seed: int) -> Array:
    rows = np.random.default_rng(seed).normal(size=(64, 64))
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


@dataclass(frozen=True)
class Adder:
    """An implementation that a learner's test is tried on. Equal to another of the same rule and seed."""

    rule: Callable[[Array, int], Array]
    seed: int

    def __call__(self, x: Array) -> Array:
        return self.rule(x, self.seed)


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


def _alone_as_in_a_batch(add: Callable[[Array], Array]) -> bool:
    x = np.linspace(-1, 1, 2 * 5 * 6).reshape(2, 5, 6)
    together = np.asarray(add(x))
    alone = np.asarray(add(x[1:]))[0]
    swapped = np.asarray(add(x[:, ::-1]))[:, ::-1]
    return bool(np.allclose(together[1], alone)) and not np.allclose(swapped, together)


def _by_the_spread(add: Callable[[Array], Array]) -> bool:
    out = _zeros(add, batch=2, seq_len=7)
    return bool(np.ptp(out, axis=0).max() < 1e-9 < np.ptp(out, axis=1).max())


def _row_by_row(add: Callable[[Array], Array]) -> bool:
    added = _zeros(add, batch=4, seq_len=3, dim=4)
    distinct = {tuple(row) for row in added[0].round(6).tolist()}
    return len(distinct) == 3 and all((sentence == added[0]).all() for sentence in added)


CATCHES = Exercise(
    id=f"{CHAPTER}.adds_along_the_tokens",
    title="A test that catches the wrong axis",
    signature="adds_along_the_tokens(add: function from (batch, seq_len, dim) to (batch, seq_len, dim)) -> "
    "bool",
    points=3,
    minutes=10,
    difficulty=3,
    reference=_adds_along_the_tokens,
    make_cases=_implementations,
    mistakes=(
        Mistake(
            "accepts-everything",
            lambda add: _zeros(add).shape == (3, 4, 8),
            "Your test lets every implementation pass, the wrong ones too. The shape is right whichever axis "
            "the positions run along. Compare numbers: two tokens of one sentence, and two sentences.",
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
            "sentences of a batch get the same vectors.",
        ),
        Mistake(
            "sentences-agree-alone",
            lambda add: _sentences_agree(_zeros(add)),
            "Your test asks whether all sentences get the same vectors. That is half of it: an "
            "implementation that adds nothing passes. Ask as well whether the tokens of one sentence get "
            "different vectors.",
        ),
        Mistake(
            "sinusoidal-alone",
            lambda add: bool(np.allclose(_zeros(add), _table(4, 8))),
            "Your test compares with one particular encoding, so it rejects a learned table that is added "
            "just as it should be. Test what any encoding must do, not which numbers it has.",
        ),
        Mistake(
            "verdict-turned-round",
            lambda add: not _adds_along_the_tokens(add),
            "Your verdict is turned round: you return True for the wrong implementations. Return True where "
            "the encoding runs along the tokens.",
        ),
    ),
    alternatives=(_alone_as_in_a_batch, _by_the_spread, _row_by_row),
    hints=(
        "Embeddings of zeros show what is added and nothing else: `add(np.zeros((3, 4, 8)))`.",
        "Two things must hold. What may not be equal within one sentence? What must be equal across the "
        "sentences of a batch?",
        "Use `np.allclose` twice: `out[0, 0]` and `out[0, 1]` must differ, `out[0]` and every other "
        "`out[b]` must agree.",
    ),
)


# --- positions_from_mask ---------------------------------------------------------------------


def _mask(*rows: str) -> Array:
    """One row per sentence: t is a token, and a dot is padding."""
    return np.array([[int(letter == "t") for letter in row] for row in rows])


def _mask_cases(rng: Generator) -> Iterator[Case]:
    yield Case("two sentences, the first padded on the left", (_mask("..ttt", "ttttt"),))
    yield Case("three sentences, padded on the left", (_mask("ttt", ".tt", "..t"),))
    yield Case("no padding", (_mask("tttt", "tttt"),))
    yield Case("padded on the right", (_mask("tt...", "tttt."),))
    yield Case("padding on both sides", (_mask("..tt.", ".tttt", "ttt.."),))
    yield Case("a row of padding alone", (_mask("....", ".ttt"),))
    yield Case("one sentence of one token", (_mask("t"),))
    pads, tokens = rng.integers(1, 9, size=(2, 4, 1))
    yield Case("random left padding", ((np.arange(9) >= pads).astype(np.int64),))
    yield Case("random right padding", ((np.arange(11) < tokens).astype(np.int64),))


def _counted(mask: Array) -> Array:
    return np.cumsum(mask, axis=1) - 1


def _columns(mask: Array) -> Array:
    return np.broadcast_to(np.arange(mask.shape[1]), mask.shape)


def _positions_from_mask(mask: Array) -> Array:
    return np.where(mask == 1, _counted(mask), 0)


def _positions_by_loop(mask: Array) -> list[list[int]]:
    rows = []
    for row in mask:
        seen, positions = 0, []
        for is_token in row:
            positions.append(seen if is_token else 0)
            seen += int(is_token)
        rows.append(positions)
    return rows


def _positions_by_start(mask: Array) -> Array:
    """The first token of each row stands at position 0, and none is missing between two tokens."""
    start = np.argmax(mask, axis=1)[:, None]
    return (np.arange(mask.shape[1]) - start) * mask


def _positions_by_matrix(mask: Array) -> Array:
    return mask @ np.triu(np.ones((mask.shape[1],) * 2), k=1) * mask


POSITIONS_FROM_MASK = Exercise(
    id=f"{CHAPTER}.positions_from_mask",
    title="Positions under padding",
    signature="positions_from_mask(mask: array of shape (batch, seq_len), 1 for a token and 0 for padding) "
    "-> whole numbers of shape (batch, seq_len)",
    points=2,
    minutes=8,
    difficulty=2,
    reference=_positions_from_mask,
    make_cases=_mask_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one position for each element of the mask, padding included.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value) >= 0)),
            "No position may be negative: in a table, row -1 is the last row, and no error is raised.",
        ),
        Property(
            lambda args, value: all(
                np.array_equal(np.asarray(row)[real == 1], np.arange(real.sum()))
                for row, real in zip(value, args[0], strict=True)
            ),
            "The tokens of each sentence must stand at 0, 1, 2, ..., whatever padding is beside them.",
        ),
    ),
    mistakes=(
        Mistake(
            "columns",
            _columns,
            "You number the columns, padding included, so a padded sentence starts late. Count the tokens of "
            "each row: np.cumsum(mask, axis=1).",
        ),
        Mistake(
            "from-1",
            lambda mask: np.cumsum(mask, axis=1) * mask,
            "The tokens are counted from 1. The running count includes the token itself: take 1 away from "
            "it.",
        ),
        Mistake(
            "padding-at-minus-1",
            _counted,
            "The tokens of a left-padded sentence are right, but padding before them gets -1, and padding "
            "after them a token's position. In a table, row -1 is the last row, without an error. Give "
            "padding position 0.",
        ),
        Mistake(
            "padding-at-1",
            lambda mask: np.where(mask == 1, _counted(mask), 1),
            "The tokens are right. Padding got 1, a filler that some libraries use; masked, it would do no "
            "harm. Here padding is to get 0.",
        ),
        Mistake(
            "padding-keeps-counting",
            lambda mask: np.maximum(_counted(mask), 0),
            "The tokens are right, and padding on the left too. Padding on the right has the position of the "
            "last token. Choose by the mask, not by the sign: np.where(mask == 1, count, 0).",
        ),
        Mistake(
            "padding-subtracted",
            lambda mask: np.maximum(_columns(mask) - (mask == 0).sum(axis=1, keepdims=True), 0),
            "You take the number of paddings of a row away from the column numbers. That is right only where "
            "all of them stand on the left. Count the tokens instead: np.cumsum(mask, axis=1).",
        ),
        Mistake(
            "negative-padding",
            lambda mask: _columns(mask) - (mask == 0).sum(axis=1, keepdims=True),
            "You take the number of paddings of a row away from the column numbers. Left padding then gets "
            "negative positions, and padding on the right moves the tokens too. Count the tokens instead: "
            "np.cumsum(mask, axis=1).",
        ),
        Mistake(
            "one-row-for-all",
            lambda mask: np.broadcast_to(_positions_from_mask(mask)[:1], mask.shape),
            "Every sentence got the positions of the first one. Each row has its own padding, so each row "
            "needs its own positions.",
        ),
        Mistake(
            "counted-down-the-batch",
            lambda mask: np.where(mask == 1, np.cumsum(mask, axis=0) - 1, 0),
            "You count down the batch: np.cumsum runs along axis 0. The tokens of a sentence lie along "
            "axis 1.",
        ),
        Mistake(
            "counted-through-the-batch",
            lambda mask: np.where(mask == 1, np.cumsum(mask).reshape(mask.shape) - 1, 0),
            "You count on from one sentence to the next: np.cumsum without an axis runs through the whole "
            "array. Give it axis=1.",
        ),
        Mistake(
            "mask-inverted",
            lambda mask: np.where(mask == 0, np.cumsum(1 - mask, axis=1) - 1, 0),
            "You count the padding and give 0 to the tokens. In this mask 1 is a token and 0 is padding.",
        ),
    ),
    alternatives=(
        lambda mask: (mask.cumsum(1) - 1) * mask,
        _positions_by_loop,
        _positions_by_start,
        _positions_by_matrix,
    ),
    hints=(
        "Write down the mask `0 0 1 1 1` and, below it, the positions that the tokens should have.",
        "`np.cumsum(mask, axis=1)` counts, for each element, the tokens up to and including it.",
        "The first token's count is 1 and its position 0. `np.where(mask == 1, ..., 0)` leaves padding at 0.",
    ),
)


# --- padded_weights --------------------------------------------------------------------------


def _softmax(scores: Array, axis: int = -1) -> Array:
    with np.errstate(all="ignore"):
        raised = np.exp(scores - scores.max(axis=axis, keepdims=True))
        return raised / raised.sum(axis=axis, keepdims=True)


def _padded_score_cases(rng: Generator) -> Iterator[Case]:
    def scores(batch: int, queries: int, keys: int) -> Array:
        return rng.normal(size=(batch, queries, keys))

    yield Case("two sentences, one padded on the right", (scores(2, 3, 5), _mask("ttt..", "ttttt")))
    yield Case("padded on the left, one query", (scores(2, 1, 4), _mask("..tt", "tttt")))
    yield Case("as many sentences as queries and keys", (scores(3, 3, 3), _mask("tt.", "t..", "ttt")))
    yield Case("no padding", (scores(2, 2, 3), _mask("ttt", "ttt")))
    yield Case("all scores far below 0", (scores(2, 3, 3) - 9, _mask("tt.", ".tt")))
    loud = scores(1, 2, 4)
    loud[..., -1] = 1000.0
    yield Case("the padding has scores of 1000", (loud, _mask("ttt.")))
    yield Case("the tokens have scores near 1000", (scores(2, 2, 3) + 1000, _mask("tt.", ".tt")))
    yield Case("a sentence of padding alone", (scores(2, 2, 3), _mask("...", "tt.")))


def _without_padding(scores: Array, allowed: Array) -> Array:
    return _softmax(np.where(allowed, scores, -np.inf))


def _padded_weights(scores: Array, mask: Array) -> Array:
    allowed = np.broadcast_to(mask[:, None, :] == 1, scores.shape)
    return np.where(allowed, _without_padding(scores, allowed), 0.0)


def _padded_row_by_row(scores: Array, mask: Array) -> Array:
    weights = np.zeros_like(scores)
    for sentence, real in enumerate(mask.astype(bool)):
        for query, row in enumerate(scores[sentence]):
            if real.any():
                weights[sentence, query, real] = _softmax(row[real])
    return weights


def _padded_by_multiplying(scores: Array, mask: Array) -> Array:
    """Masked after exp, and safe: the largest score is looked for among the tokens alone."""
    keep = mask[:, None, :].astype(float)
    peak = np.where(keep == 1, scores, -1e300).max(axis=-1, keepdims=True)
    raised = np.exp(np.where(keep == 1, scores - peak, 0.0)) * keep
    total = raised.sum(axis=-1, keepdims=True)
    return raised / np.where(total == 0, 1.0, total)


def _careless(scores: Array, mask: Array) -> Array:
    """Right but for scores so large that exp overflows."""
    with np.errstate(all="ignore"):
        raised = np.exp(np.where(mask[:, None, :] == 1, scores, -np.inf))
        total = raised.sum(axis=-1, keepdims=True)
        return raised / np.where(total == 0, 1.0, total)


def _divided_again(scores: Array, mask: Array) -> Array:
    with np.errstate(all="ignore"):
        weights = _softmax(scores) * mask[:, None, :]
        return weights / weights.sum(axis=-1, keepdims=True)


PADDED_WEIGHTS = Exercise(
    id=f"{CHAPTER}.padded_weights",
    title="No weight for padding",
    signature="padded_weights(scores: array of shape (batch, queries, keys), mask: array of shape (batch, "
    "keys), 1 for a token and 0 for padding) -> array of shape (batch, queries, keys)",
    points=3,
    minutes=10,
    difficulty=3,
    reference=_padded_weights,
    make_cases=_padded_score_cases,
    where_not_finite="Mask before the softmax, and mind the sentence of padding alone: there is nothing to "
    "share out, so all its weights are 0.",
    properties=(
        Property(
            lambda args, value: bool(np.all(np.where(args[1][:, None, :] == 0, value, 0) == 0)),
            "Padding still gets weight. Its weight must be exactly 0, for every query.",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.sum(value, axis=-1)[args[1].any(axis=-1)], 1.0)),
            "The weights of each query must sum to 1 wherever its sentence has a token.",
        ),
    ),
    mistakes=(
        Mistake(
            "no-mask",
            lambda scores, mask: _softmax(scores),
            "The mask is not used: padding still gets weight. Set its scores to minus infinity before the "
            "softmax.",
        ),
        Mistake(
            "inverted",
            lambda scores, mask: _padded_weights(scores, 1 - mask),
            "The mask is read the wrong way round: the tokens are hidden, and padding is seen. Here 1 is a "
            "token. Libraries differ in this, so read what True means before you pass a mask on.",
        ),
        Mistake(
            "queries-masked",
            lambda scores, mask: np.where(
                mask[:, :, None] == 1, _without_padding(scores, np.asarray(mask[:, :, None] == 1)), 0.0
            ),
            "The mask hides queries where it should hide keys: it lies along axis 1 of the scores. The "
            "softmax shares out over the keys, the last axis: use mask[:, None, :].",
        ),
        Mistake(
            "after-softmax",
            lambda scores, mask: _softmax(scores) * mask[:, None, :],
            "The weights of padding are set to 0 after the softmax, so the others no longer sum to 1. Mask "
            "the scores before the softmax, with minus infinity.",
        ),
        Mistake(
            "divided-again",
            _divided_again,
            "On paper this is right: set the weights of padding to 0, then divide by what is left. But where "
            "padding has large scores, or a sentence has no token, what is left is 0, and 0 / 0 is NaN. Mask "
            "the scores before the softmax, and give 0 where there is no token.",
        ),
        Mistake(
            "zero-scores",
            lambda scores, mask: _softmax(scores * mask[:, None, :]),
            "The scores of padding are set to 0. A score of 0 is no lock: exp(0) is 1, and where the other "
            "scores are below 0 padding even gets the most. The score that gives weight 0 is minus infinity.",
        ),
        Mistake(
            "mask-added",
            lambda scores, mask: _softmax(scores + mask[:, None, :]),
            "The ones and zeros of the mask are added to the scores. That favours the tokens a little, and "
            "locks nothing. Add 0 for a token and minus infinity for padding.",
        ),
        Mistake(
            "nan-without-tokens",
            lambda scores, mask: _without_padding(scores, np.asarray(mask[:, None, :] == 1)),
            "It is right but for the sentence of padding alone: there all scores are minus infinity, and the "
            "softmax gives NaN, which spreads through the whole model. Give weight 0 there.",
        ),
        Mistake(
            "overflow",
            _careless,
            "The mask is right, but exp overflows for scores near 1000, and infinity over infinity is NaN. "
            "Take the largest score of each row away before exp.",
        ),
        Mistake(
            "even-without-tokens",
            lambda scores, mask: _softmax(np.where(mask[:, None, :] == 1, scores, -1e9)),
            "It is right but for the sentence of padding alone: all its scores are the same large negative "
            "number, so the softmax shares out evenly over padding. Give weight 0 there.",
        ),
        Mistake(
            "one-mask-for-all",
            lambda scores, mask: _padded_weights(scores, np.broadcast_to(mask[:1], mask.shape)),
            "Every sentence got the mask of the first one. Each has its own padding: keep the batch axis, "
            "mask[:, None, :].",
        ),
        Mistake(
            "softmax-over-queries",
            lambda scores, mask: np.where(mask[:, None, :] == 1, _softmax(scores, axis=1), 0.0),
            "The softmax runs over the queries. Each query shares out its weight over the keys: the last "
            "axis.",
        ),
    ),
    alternatives=(
        _padded_row_by_row,
        _padded_by_multiplying,
        lambda scores, mask: np.nan_to_num(_without_padding(scores, np.asarray(mask[:, None, :] > 0))),
        lambda scores, mask: _softmax(np.where(mask[:, None, :] == 1, scores, -1e30)) * mask[:, None, :],
    ),
    hints=(
        "Which axis of the scores do the keys lie along? The mask has one number per key.",
        "`mask[:, None, :]` has shape `(batch, 1, keys)` and broadcasts over the queries.",
        "`np.where(mask[:, None, :] == 1, scores, -np.inf)`, then the softmax over the last axis. What comes "
        "out for a sentence of padding alone? Set it to 0.",
    ),
)


# --- attend_with_cache -----------------------------------------------------------------------


def _cache_cases(rng: Generator) -> Iterator[Case]:
    def case(label: str, past: int, new: int, dim: int) -> Case:
        q, k, v = rng.normal(size=(3, new, dim))
        keys, values = rng.normal(size=(2, past, dim))
        return Case(label, (q, k, v, apply_rotary(keys, np.arange(past), layout="interleaved"), values))

    yield case("one token after a cache of five", 5, 1, 4)
    yield case("the first four tokens: the cache is empty", 0, 4, 4)
    yield case("three tokens at once after a cache of two", 2, 3, 4)
    yield case("as many new tokens as are in the cache", 3, 3, 8)
    yield case("one token after one", 1, 1, 2)
    yield case("two tokens after a cache of forty", 40, 2, 8)


def _joined(
    q: Array, k: Array, v: Array, keys: Array, values: Array, at: Array, *, causal: bool = True
) -> Array:
    """Attention of queries at positions `at` on the cache and on the keys at the same positions."""
    return attention(
        apply_rotary(q, at),
        np.concatenate([keys, apply_rotary(k, at)]),
        np.concatenate([values, v]),
        causal=causal,
    )


def _at_offset(offset: Callable[[int], int]) -> Callable[..., Array]:
    """The answer that lets the new tokens start at offset(past)."""
    return lambda q, k, v, keys, values: _joined(q, k, v, keys, values, offset(len(keys)) + np.arange(len(q)))


_attend_with_cache = _at_offset(lambda past: past)


def _rotated_again(q: Array, k: Array, v: Array, keys: Array, values: Array) -> Array:
    total = len(keys) + len(k)
    return attention(
        apply_rotary(q, np.arange(len(keys), total)),
        apply_rotary(np.concatenate([keys, k]), np.arange(total)),
        np.concatenate([values, v]),
        causal=True,
    )


def _as_given(q: Array, k: Array, v: Array, keys: Array, values: Array) -> Array:
    """The step with two bugs that the text asks to mend."""
    joined = np.concatenate([keys, k])
    return attention(
        apply_rotary(q, np.arange(len(q))),
        apply_rotary(joined, np.arange(len(joined))),
        np.concatenate([values, v]),
        causal=True,
    )


def _mask_from_the_left(q: Array, k: Array, v: Array, keys: Array, values: Array) -> Array:
    at = len(keys) + np.arange(len(q))
    return attention(
        apply_rotary(q, at),
        np.concatenate([keys, apply_rotary(k, at)]),
        np.concatenate([values, v]),
        mask=np.tri(len(q), len(keys) + len(k), dtype=bool),
    )


def _cache_behind(q: Array, k: Array, v: Array, keys: Array, values: Array) -> Array:
    at = len(keys) + np.arange(len(q))
    return attention(
        apply_rotary(q, at),
        np.concatenate([apply_rotary(k, at), keys]),
        np.concatenate([v, values]),
        causal=True,
    )


def _turned(x: Array, at: Array) -> Array:
    """RoPE with complex numbers: pair j is one number, and turns by position times frequency."""
    turn = np.exp(1j * np.outer(at, frequencies(x.shape[1])))
    pairs = (x[:, 0::2] + 1j * x[:, 1::2]) * turn
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(x.shape)


def _cache_one_by_one(q: Array, k: Array, v: Array, keys: Array, values: Array) -> Array:
    """Token by token, as a model writes."""
    out = []
    for query, key, value in zip(q, k, v, strict=True):
        at = np.array([len(keys)])
        keys, values = np.vstack([keys, _turned(key[None], at)]), np.vstack([values, value])
        weights = _softmax(keys @ _turned(query[None], at)[0] / np.sqrt(q.shape[1]))
        out.append(weights @ values)
    return np.array(out)


def _cache_with_a_mask(q: Array, k: Array, v: Array, keys: Array, values: Array) -> Array:
    past, new = len(keys), len(q)
    at = np.arange(past, past + new)
    scores = _turned(q, at) @ np.vstack([keys, _turned(k, at)]).T / q.shape[1] ** 0.5
    seen = np.arange(past + new) <= at[:, None]
    return _softmax(np.where(seen, scores, -np.inf)) @ np.vstack([values, v])


def _cache_turned_back(q: Array, k: Array, v: Array, keys: Array, values: Array) -> Array:
    """Only distance counts: turn the cache back by `past` instead of the new tokens on."""
    past = len(keys)
    turned_back = _turned(keys, np.full(past, -past))
    return _joined(q, k, v, turned_back, values, np.arange(len(q)))


ATTEND_WITH_CACHE = Exercise(
    id=f"{CHAPTER}.attend_with_cache",
    title="Mend a step with a cache",
    signature="attend_with_cache(q, k, v: (new, head_dim), not rotated yet; cached_keys: (past, head_dim), "
    "rotated; cached_values: (past, head_dim)) -> array of shape (new, head_dim)",
    points=4,
    minutes=12,
    difficulty=3,
    reference=_attend_with_cache,
    make_cases=_cache_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one row for each new token, as wide as a value.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "as-given",
            _as_given,
            "Both bugs are still there: the queries are rotated as if the text began with them, and the "
            "cached keys are rotated a second time. Which positions do the new tokens have, and which keys "
            "are new?",
        ),
        Mistake(
            "no-offset",
            _at_offset(lambda past: 0),
            "The new tokens are rotated at positions 0, 1, 2, ..., as if the text began with them. They come "
            "after the cache: start at len(cached_keys).",
        ),
        Mistake(
            "one-late",
            _at_offset(lambda past: past + 1),
            "The new tokens stand one position too far on. The cache holds positions 0 to past - 1, so the "
            "next one is past, which is len(cached_keys).",
        ),
        Mistake(
            "one-early",
            _at_offset(lambda past: past - 1),
            "The new tokens stand one position too early: the first of them shares its position with the "
            "last cached key. The next free position is len(cached_keys).",
        ),
        Mistake(
            "all-at-one-position",
            lambda q, k, v, keys, values: _joined(q, k, v, keys, values, np.full(len(q), len(keys))),
            "All new tokens got the same position. That is right for a single one. Several that come at once "
            "stand at past, past + 1, past + 2, ...",
        ),
        Mistake(
            "cache-rotated-again",
            _rotated_again,
            "The cached keys are rotated a second time. They were rotated when they entered the cache: "
            "rotate the new keys alone, then join the two.",
        ),
        Mistake(
            "keys-not-rotated",
            lambda q, k, v, keys, values: attention(
                apply_rotary(q, len(keys) + np.arange(len(q))),
                np.concatenate([keys, k]),
                np.concatenate([values, v]),
                causal=True,
            ),
            "The new keys are not rotated. Every key must be turned by its own position before it is "
            "compared with a query.",
        ),
        Mistake(
            "queries-not-rotated",
            lambda q, k, v, keys, values: attention(
                q,
                np.concatenate([keys, apply_rotary(k, len(keys) + np.arange(len(k)))]),
                np.concatenate([values, v]),
                causal=True,
            ),
            "The queries are not rotated. A query must be turned by its own position too, or the score does "
            "not depend on the distance alone.",
        ),
        Mistake(
            "looks-ahead",
            lambda q, k, v, keys, values: _joined(
                q, k, v, keys, values, len(keys) + np.arange(len(q)), causal=False
            ),
            "Where several tokens come at once, the earlier ones look at the later ones. Each may see the "
            "cache, itself and what came before it: give causal=True.",
        ),
        Mistake(
            "mask-from-the-left",
            _mask_from_the_left,
            "The causal mask starts at the first key of the cache, so the first new token sees one key "
            "alone. The last query belongs to the last key: shift the triangle, np.tri(new, total, k=past).",
        ),
        Mistake(
            "cache-forgotten",
            lambda q, k, v, keys, values: _joined(
                q, k, v, keys[:0], values[:0], len(keys) + np.arange(len(q))
            ),
            "The new tokens look at each other alone. The cache holds the keys and values of the whole past: "
            "put it before the new ones.",
        ),
        Mistake(
            "cache-behind",
            _cache_behind,
            "The cache was put behind the new keys. It holds what came before them, and the causal mask "
            "counts on that order: np.concatenate([cached_keys, new_keys]).",
        ),
    ),
    alternatives=(_cache_one_by_one, _cache_with_a_mask, _cache_turned_back),
    lends=("apply_rotary", "attention"),
    hints=(
        "The cache holds the positions 0 to `past - 1`. At which position does the first new token stand?",
        "`posenc_lib.apply_rotary(x, positions)` takes an array of positions. Which of the keys need it, and "
        "which have it already?",
        "`posenc_lib.attention(q, k, v, causal=True)` lets the last query stand at the last key, which is "
        "just what a cache needs.",
    ),
)


# --- serve -----------------------------------------------------------------------------------


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
    id=f"{CHAPTER}.serve",
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
    ),
    mistakes=(
        Mistake(
            "nothing-remembered",
            lambda make, calls: (tuple(np.asarray(make(*call)) for call in calls), len(calls)),
            "The tables are right, but each call makes its own. Remember each table, and make one only for "
            "arguments that you have not seen.",
        ),
        Mistake(
            "length-alone",
            _serve_by(lambda length, dim, base: length),
            "The cache is keyed on the length alone. A call with another width or base then gets a table "
            "that was made for somebody else. Key on all that the table depends on: length, dim and base.",
        ),
        Mistake(
            "dim-alone",
            _serve_by(lambda length, dim, base: dim),
            "The cache is keyed on the width alone, so the length and the base of the first call win. Key on "
            "all that the table depends on: length, dim and base.",
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
            "The cache forgets the length: the first table is served whatever is asked for. Put length into "
            "the key.",
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
            "The tables are right. The number is that of the calls that needed no new table. Return how "
            "often make was called.",
        ),
    ),
    alternatives=(_serve_by_lru_cache, _serve_by_list, _serve_in_two_passes),
    hints=(
        "Keep the tables in a dictionary. What must its key hold, so that two calls with the same key may "
        "share a table?",
        "A tuple is a good key: it keeps the order of its parts, and their borders.",
        "For each call: if `(length, dim, base)` is not in the cache, put `make(length, dim, base)` there "
        "and count one. Then append `cache[length, dim, base]`.",
    ),
)


# --- closest_offset --------------------------------------------------------------------------


TWINS = {2: (6, 19, 25, 44, 333, 710), 4: (6, 19, 622), 6: (6, 132), 8: (63,)}
"""For narrow encodings, the offsets that are closer than all smaller ones."""


def _alias_cases(rng: Generator) -> Iterator[Case]:
    twins = [(dim, twin) for dim, offsets in TWINS.items() for twin in offsets]
    for dim, length in (
        (2, 10),
        (2, 100),
        (2, 710),
        (2, 711),
        (2, 1000),
        (4, 800),
        (8, 3000),
        (64, 500),
        (512, 20),
        (2, 2),
        (2, int(rng.integers(60, 600))),
        (6, int(rng.integers(20, 2000))),
        # A twin that is just within reach, or just out of it: no input of the like tells which.
        *((dim, twin + int(rng.integers(2))) for dim, twin in rng.choice(twins, size=24).tolist()),
    ):
        yield Case(f"dim {dim}, {length} positions", (dim, length))


def _distances(dim: int, length: int, columns: slice = slice(None)) -> Array:
    """From position 0 to positions 0 .. length - 1."""
    table = sinusoidal(length, dim)[:, columns]
    return np.asarray(np.linalg.norm(table - table[0], axis=1))


def _closest(dim: int, length: int, columns: slice = slice(None)) -> int:
    return int(np.argmin(_distances(dim, length, columns)[1:])) + 1


def _closest_by_cosines(dim: int, length: int) -> int:
    """The dot product of two encodings is the sum of the cosines of the offset's angles."""
    likeness = [np.cos(offset * frequencies(dim)).sum() for offset in range(1, length)]
    return 1 + likeness.index(max(likeness))


def _closest_of_all_pairs(dim: int, length: int) -> int:
    """From the middle: which position it starts at does not matter."""
    start = 5000
    table = sinusoidal(np.arange(start, start + length), dim)
    return min(range(1, length), key=lambda offset: float(((table[offset] - table[0]) ** 2).sum()))


def _closest_by_half_angles(dim: int, length: int) -> Any:
    offsets = np.arange(1, length)
    chords = 2 * np.sin(np.outer(offsets, frequencies(dim)) / 2)
    return offsets[np.argmin((chords**2).sum(axis=1))]


CLOSEST_OFFSET = Exercise(
    id=f"{CHAPTER}.closest_offset",
    title="Find the twin",
    signature="closest_offset(dim: int, length: int) -> int",
    points=3,
    minutes=10,
    difficulty=3,
    reference=_closest,
    make_cases=_alias_cases,
    properties=(
        Property(
            lambda args, value: 1 <= value < args[1],
            "The offset must be at least 1 and less than length: two different positions, both in the text.",
        ),
    ),
    mistakes=(
        Mistake(
            "itself",
            lambda dim, length: int(np.argmin(_distances(dim, length))),
            "You found offset 0: every position is closest to itself. Leave it out and search from offset 1.",
        ),
        Mistake(
            "index-for-offset",
            lambda dim, length: _closest(dim, length) - 1,
            "The search is right, but it began at offset 1, so index 0 stands for offset 1. Add 1 to the "
            "index.",
        ),
        Mistake(
            "farthest",
            lambda dim, length: int(np.argmax(_distances(dim, length))),
            "This is the offset at which two encodings are farthest apart. The distance must be smallest, or "
            "the dot product largest.",
        ),
        Mistake(
            "neighbour",
            lambda dim, length: 1,
            "You took it for granted that neighbours are closest. In few dimensions they are not: measure "
            "the distance to every offset.",
        ),
        Mistake(
            "sines-alone",
            lambda dim, length: _closest(dim, length, slice(0, None, 2)),
            "Only the sines were compared. A sine takes each value twice a turn, so half a turn looks like a "
            "whole one. Compare whole rows.",
        ),
        Mistake(
            "first-pair-alone",
            lambda dim, length: _closest(dim, length, slice(0, 2)),
            "Only the first pair was compared. Where there are more, they tell apart what the first one "
            "confuses: compare whole rows.",
        ),
        Mistake(
            "one-turn",
            lambda dim, length: min(6, length - 1),
            "This is one turn of the first pair, rounded to whole positions. Later turns can come much "
            "closer to a whole number, and wider encodings have more pairs. Measure the distance to every "
            "offset.",
        ),
        Mistake(
            "last-position-left-out",
            lambda dim, length: _closest(dim, length - 1) if length > 2 else 1,
            "The last position was left out. Of length positions the largest offset is length - 1.",
        ),
        Mistake(
            "one-position-too-many",
            lambda dim, length: _closest(dim, length + 1),
            "The search went one too far: of length positions the largest offset is length - 1.",
        ),
    ),
    alternatives=(_closest_by_cosines, _closest_of_all_pairs, _closest_by_half_angles),
    lends=("sinusoidal",),
    hints=(
        "The distance between two encodings depends on their offset alone, so it is enough to compare with "
        "position 0.",
        "`posenc_lib.sinusoidal(length, dim)` is the table. `np.linalg.norm(table - table[0], axis=1)` is "
        "the distance of every row from the first.",
        "`np.argmin` gives the index of the smallest. Leave out index 0, and mind what that does to the "
        "others.",
    ),
)


# --- half_table ------------------------------------------------------------------------------


def _half_cases(rng: Generator) -> Iterator[Case]:
    for label, positions, dim in (
        ("positions 0 to 9, dim 8", np.arange(10), 8),
        ("around 2048, dim 8", np.arange(2046, 2052), 8),
        ("position 40,000, dim 4", np.array([39_999, 40_000, 40_001]), 4),
        ("position 70,000, dim 4", np.array([70_000]), 4),
        ("around 1,000,000, dim 16", np.arange(999_999, 1_000_002), 16),
        ("random positions, dim 64", rng.integers(500, 9000, size=5), 64),
    ):
        yield Case(label, (positions, dim))


def _half(theta: Array) -> Array:
    """Sine and cosine of angles (n, dim/2), side by side, in float16."""
    with np.errstate(all="ignore"):
        pairs = np.stack([np.sin(theta), np.cos(theta)], axis=-1)
    return pairs.reshape(len(theta), -1).astype(np.float16)


def _half_table(positions: Array, dim: int) -> Array:
    return _half(np.outer(np.asarray(positions, dtype=np.float64), frequencies(dim)))


def _half_with(positions_as: type, rates_as: type, angles_as: type) -> Callable[[Array, int], Array]:
    """The table whose positions, frequencies and angles are held in these types."""

    def table(positions: Array, dim: int) -> Array:
        with np.errstate(all="ignore"):
            places = np.asarray(positions).astype(positions_as).astype(np.float64)
            theta = np.outer(places, frequencies(dim).astype(rates_as).astype(np.float64))
            return _half(theta.astype(angles_as).astype(np.float64))

    return table


def _half_by_turns(positions: Array, dim: int) -> Array:
    """Whole turns are taken away in float64; what is left fits into a narrow type."""
    theta = np.outer(positions, 1 / BASE ** (np.arange(0, dim, 2) / dim))
    return _half(np.mod(theta, 2 * np.pi).astype(np.float32))


HALF_TABLE = Exercise(
    id=f"{CHAPTER}.half_table",
    title="Cast last",
    signature="half_table(positions: whole numbers of shape (n,), dim: int) -> float16 array of shape (n, "
    "dim)",
    points=2,
    minutes=8,
    difficulty=2,
    reference=_half_table,
    make_cases=_half_cases,
    # Float16 holds numbers near 1 to 2.4e-4.
    absolute_tolerance=5e-4,
    where_not_finite="Float16 ends at 65504: a larger position becomes infinity in it, and infinity has no "
    "sine. Cast the finished table, not the positions.",
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), args[1]),
            "The table must have a row for each position and dim columns.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "positions-in-float16",
            _half_with(np.float16, np.float64, np.float64),
            "The positions were cast to float16. Above 2048 it holds no odd number, so neighbours become "
            "one, and above 65504 it holds infinity. Cast the finished table.",
        ),
        Mistake(
            "frequencies-in-float16",
            _half_with(np.float64, np.float16, np.float64),
            "The frequencies were cast to float16. Multiplied by a large position, a small error in a "
            "frequency becomes a large one in the angle. Cast the finished table.",
        ),
        Mistake(
            "angles-in-float16",
            _half_with(np.float64, np.float64, np.float16),
            "The angles were cast to float16 before the sine and the cosine. Near 2048 its numbers are a "
            "whole radian or more apart. Cast the finished table.",
        ),
        Mistake(
            "all-in-float16",
            _half_with(np.float16, np.float16, np.float16),
            "Everything was computed in float16, positions, frequencies and angles. Compute in float64, and "
            "cast the finished table.",
        ),
        Mistake(
            "angles-in-float32",
            _half_with(np.float32, np.float32, np.float32),
            "Near positions are right, far ones are not: the angles were computed in float32, whose numbers "
            "near one million are 0.0625 apart. Compute them in float64, and cast the finished table.",
        ),
        Mistake(
            "split-layout",
            lambda positions, dim: sinusoidal(np.asarray(positions), dim, layout="split"),
            "The numbers are right, but all sines come first. Put sine and cosine of a pair side by side.",
        ),
        Mistake(
            "whole-numbers",
            lambda positions, dim: _half_table(positions, dim).astype(np.int64),
            "The table took the integer type of the positions, which cuts every number down to 0, 1 or -1. "
            "Make it of floats.",
        ),
    ),
    alternatives=(
        lambda positions, dim: sinusoidal(np.asarray(positions), dim),
        _half_by_turns,
        lambda positions, dim: [
            [float(np.sin(int(p) / BASE ** (2 * (c // 2) / dim) + np.pi / 2 * (c % 2))) for c in range(dim)]
            for p in positions
        ],
        lambda positions, dim: sinusoidal(np.asarray(positions), dim, dtype=np.float32).astype(np.float16),
    ),
    hints=(
        "Which numbers of the computation are large, and which of them lie between -1 and 1?",
        "Float16 holds numbers between -1 and 1 well, and large ones badly. At which step is everything "
        "between -1 and 1?",
        "Leave positions and frequencies as they come, in float64. The last line is "
        "`table.astype(np.float16)`.",
    ),
)


# --- wrong_tables ----------------------------------------------------------------------------


WRONG_TABLES = Exercise(
    id=f"{CHAPTER}.wrong_tables",
    title="Five tables, three of them wrong",
    signature="wrong_tables: a list of three numbers out of 1 to 5, ascending",
    points=2,
    minutes=8,
    difficulty=2,
    kind="value",
    reference=lambda: np.asarray([2, 3, 5]),
    make_cases=lambda rng: iter([Case("your answer")]),
    mistakes=(
        Mistake(
            "the-right-ones",
            lambda: [1, 4],
            "These two are right. Name the other three.",
        ),
        Mistake(
            "short-text",
            lambda: [2, 3],
            "These two are wrong, but they are not alone. One table is right on a short text only. Compare "
            "all positions up to 4095.",
        ),
        Mistake(
            "phase-suspected",
            lambda: [2, 3, 4],
            "Table 4 looks odd and is right: a cosine is a sine a quarter turn later. One of the others is "
            "right on a short text only. Compare all positions up to 4095.",
        ),
        Mistake(
            "exponential-suspected",
            lambda: [1, 2, 3],
            "Table 1 is right: exp(-log(10000) x) is 10000 to the power -x. One of the others is right on a "
            "short text only. Compare all positions up to 4095.",
        ),
        Mistake(
            "layout-missed",
            lambda: [3, 5],
            "These two are wrong, but they are not alone. Look at the order of the columns: sine and cosine "
            "of a pair must stand side by side.",
        ),
        Mistake(
            "division-missed",
            lambda: [2, 5],
            "These two are wrong, but they are not alone. Look at the exponents: what does // do to a "
            "fraction?",
        ),
        Mistake(
            "counted-from-0",
            lambda: [1, 2, 4],
            "The tables are counted from 1, as their names are. You seem to have counted from 0.",
        ),
        Mistake(
            "all",
            lambda: [1, 2, 3, 4, 5],
            "Two of the five are right, although they are written in unusual ways. Compare each with "
            "posenc_lib.sinusoidal(4096, 8).",
        ),
    ),
    alternatives=(lambda: [2, 3, 5], lambda: (2, 3, 5), lambda: np.flatnonzero([0, 0, 1, 1, 0, 1])),
    lends=("sinusoidal",),
    hints=(
        "Do not judge by the looks: run each of them, and compare.",
        "`np.abs(table_1(4096, 8) - posenc_lib.sinusoidal(4096, 8)).max()` is the largest error of the "
        "first.",
    ),
)

EXERCISES = (
    CATCHES,
    POSITIONS_FROM_MASK,
    PADDED_WEIGHTS,
    ATTEND_WITH_CACHE,
    SERVE,
    HALF_TABLE,
    CLOSEST_OFFSET,
    WRONG_TABLES,
)
