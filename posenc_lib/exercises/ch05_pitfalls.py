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
from posenc_lib.exercises.drawing import Draws, heat_map
from posenc_lib.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each

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

PADDING = "A batch for your decoder"


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
    step_of=PADDING,
    signature="positions_from_mask(mask: array of shape (batch, seq_len), 1 for a token and 0 for padding) "
    "-> whole numbers of shape (batch, seq_len)",
    points=2,
    minutes=8,
    difficulty=2,
    reference=lambda mask: _positions_from_mask(mask),
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
    step_of=PADDING,
    signature="padded_weights(scores: array of shape (batch, queries, keys), mask: array of shape (batch, "
    "keys), 1 for a token and 0 for padding) -> array of shape (batch, queries, keys)",
    points=3,
    minutes=10,
    difficulty=3,
    draws=Draws(
        lambda padded_weights, rows, columns: heat_map(
            np.asarray(padded_weights(np.zeros((1, 8, 8)), np.array([[0, 0, 1, 1, 1, 1, 1, 0]])))[0],
            rows=rows,
            columns=columns,
        ),
        axes=("query", "key"),
        look="No query gives weight to columns of padding, here the first two and the last.",
    ),
    reference=lambda scores, mask: _padded_weights(scores, mask),
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


# --- padded_attention ------------------------------------------------------------------------


def _padded_attention_cases(rng: Generator) -> Iterator[Case]:
    for label, heads, head_dim, mask in (
        ("one head, one sentence padded on the right", 1, 4, _mask("ttt..", "ttttt")),
        ("two heads, padded on the left", 2, 4, _mask("..ttt", "ttttt", ".tttt")),
        ("two heads, no padding", 2, 3, _mask("tttt", "tttt")),
        ("as many sentences as heads and tokens", 3, 2, _mask("tt.", ".tt", "ttt")),
        ("a sentence of padding alone", 2, 4, _mask("...", "ttt")),
        ("padding on both sides", 1, 4, _mask(".tt.", "tttt", "..tt")),
        (
            "random padding on the left",
            2,
            4,
            (np.arange(7) >= rng.integers(1, 7, size=(3, 1))).astype(np.int64),
        ),
    ):
        q, k, v = rng.normal(size=(3, len(mask), heads, mask.shape[1], head_dim))
        yield Case(label, (q, k, v, mask))


def _padded_by(allowed: Callable[[Array], Array], *, zeroed: bool = True) -> Callable[..., Array]:
    """The answer for another rule of who sees whom: from the mask to what broadcasts to the scores."""

    def attend(q: Array, k: Array, v: Array, mask: Array) -> Array:
        scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
        seen = np.broadcast_to(allowed(mask), scores.shape)
        weights = np.where(seen, _softmax(np.where(seen, scores, -1e30)), 0.0)
        return weights @ v * (mask[:, None, :, None] if zeroed else 1)

    return attend


def _past_of(mask: Array) -> Array:
    return np.tri(mask.shape[1], dtype=bool)


def _keys_of(mask: Array) -> Array:
    return np.asarray(mask[:, None, None, :] == 1)


_padded_attention = _padded_by(lambda mask: _keys_of(mask) & _past_of(mask))


def _padded_token_by_token(q: Array, k: Array, v: Array, mask: Array) -> Array:
    """Each sentence alone, without its padding, and put back to where it stood."""
    out = np.zeros_like(v)
    for sentence, real in enumerate(mask.astype(bool)):
        at = np.flatnonzero(real)
        for last in range(len(at)):
            here = at[: last + 1]
            scores = (k[sentence][:, here] @ q[sentence][:, at[last], :, None])[..., 0]
            weights = _softmax(scores / np.sqrt(q.shape[-1]))
            out[sentence][:, at[last]] = (weights[..., None] * v[sentence][:, here]).sum(axis=1)
    return out


def _padded_by_library(q: Array, k: Array, v: Array, mask: Array) -> Array:
    out = attention(q, k, v, causal=True, mask=mask[:, None, None, :] == 1)
    return np.asarray(np.where(mask[:, None, :, None] == 1, out, 0.0))


PADDED_ATTENTION = Exercise(
    id=f"{CHAPTER}.padded_attention",
    title="Attention with padding",
    step_of=PADDING,
    adds="Your decoder gets padding: sentences of different lengths share a batch, and none of them notices.",
    signature="padded_attention(q, k, v: arrays of shape (batch, heads, n, head_dim), mask: (batch, n)) "
    "-> array of shape (batch, heads, n, head_dim)",
    points=2,
    minutes=12,
    difficulty=3,
    reference=lambda q, k, v, mask: _padded_attention(q, k, v, mask),
    make_cases=_padded_attention_cases,
    where_not_finite="A token of padding on the left sees nobody: there is nothing to share out, and its row "
    "is to be zeros.",
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[2]),
            "There must be one row for each token of each head, padding included.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.all(np.where(args[3][:, None, :, None] == 0, value, 0) == 0)),
            "The rows of padding must be zeros.",
        ),
    ),
    mistakes=(
        Mistake(
            "padding-seen",
            _padded_by(_past_of),
            "Nobody looks ahead, but padding is seen. It must be hidden from all tokens, as in the step "
            "before.",
        ),
        Mistake(
            "looks-ahead",
            _padded_by(_keys_of),
            "Padding is hidden, but tokens look at what comes after them. The decoder's causal mask is "
            "missing.",
        ),
        Mistake(
            "no-mask-at-all",
            _padded_by(lambda mask: np.ones((mask.shape[1],) * 2, dtype=bool)),
            "Nothing is hidden: neither padding nor what comes after a token. Both masks are missing.",
        ),
        Mistake(
            "masked-after-softmax",
            lambda q, k, v, mask: (
                _softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))
                * (_keys_of(mask) & _past_of(mask))
                @ v
                * mask[:, None, :, None]
            ),
            "Weights are set to 0 after the softmax, so those that are left no longer sum to 1. Hide scores "
            "before the softmax.",
        ),
        Mistake(
            "rows-of-padding-kept",
            _padded_by(lambda mask: _keys_of(mask) & _past_of(mask), zeroed=False),
            "The rows of the tokens are right. A token of padding on the right still gets a mix of the "
            "tokens before it: set the rows of padding to 0.",
        ),
        Mistake(
            "values-alone-zeroed",
            lambda q, k, v, mask: _padded_by(_past_of)(q, k, v * mask[:, None, :, None], mask),
            "The values of padding are set to 0, but padding still takes its share of the weights, so the "
            "tokens get too little. Hide it before the softmax.",
        ),
        Mistake(
            "keys-alone-zeroed",
            lambda q, k, v, mask: _padded_by(_past_of)(q, k * mask[:, None, :, None], v, mask),
            "The keys of padding are set to 0. Then their score is 0, and a score of 0 is a weight like any "
            "other. Hide padding before the softmax.",
        ),
        Mistake(
            "inverted",
            _padded_by(lambda mask: ~_keys_of(mask) & _past_of(mask)),
            "The mask is read the wrong way round: tokens are hidden, and padding is seen. Here 1 is a "
            "token.",
        ),
        Mistake(
            "triangle-turned",
            _padded_by(lambda mask: _keys_of(mask) & _past_of(mask).T),
            "Each token looks at itself and at what comes after it: the triangle is turned round.",
        ),
        Mistake(
            "not-itself",
            _padded_by(lambda mask: _keys_of(mask) & np.tri(mask.shape[1], k=-1, dtype=bool)),
            "No token sees itself. A token may look at itself and at what came before it.",
        ),
        Mistake(
            "one-mask-for-all",
            _padded_by(lambda mask: _keys_of(mask)[:1] & _past_of(mask)),
            "Every sentence got the mask of the first one. Each has its own padding.",
        ),
        Mistake(
            "no-scale",
            lambda q, k, v, mask: _padded_attention(q * np.sqrt(q.shape[-1]), k, v, mask),
            "The masks are right. The scores are not divided by the root of head_dim.",
        ),
        Mistake(
            "weights-not-mixed",
            lambda q, k, v, mask: _padded_attention(q, k, k, mask),
            "The weights are right, but they mix the keys. What is mixed are the values.",
        ),
    ),
    alternatives=(
        _padded_token_by_token,
        _padded_by_library,
        lambda q, k, v, mask: _padded_attention(
            *(each.astype(np.longdouble) for each in (q, k, v)), mask
        ).astype(float),
    ),
    hints=(
        "Two things hide a key from a query: it is padding, or it comes later. Both can stand in one array "
        "of truth values that broadcasts to `(batch, heads, n, n)`.",
        "`mask[:, None, None, :]` lies along the keys; `np.tri(n, dtype=bool)` lets a query look back.",
        "Set the scores of what is hidden to a very large negative number such as `-1e30`: minus infinity "
        "gives NaN in a row where all is hidden. In the end multiply by `mask[:, None, :, None]`.",
    ),
)


# --- positions_in_text, may_look, targets_that_count -----------------------------------------

PACKED = "Three texts in one row"
NO_TEXT = -1


def _packed_cases(rng: Generator) -> Iterator[Case]:
    yield Case("a text of three and one of two", (np.array([0, 0, 0, 1, 1]),))
    yield Case("one text alone", (np.array([0, 0, 0, 0]),))
    yield Case("padding at the end", (np.array([0, 0, 1, 1, 1, -1, -1]),))
    yield Case("texts that are not numbered in order", (np.array([7, 7, 2, 2, 2, 5]),))
    yield Case("texts of one token each", (np.array([0, 1, 2, 3]),))
    yield Case("padding between two texts", (np.array([4, 4, 4, -1, -1, 6, 6]),))
    for label, padding in (("random lengths", 0), ("random lengths, then padding", 3)):
        lengths = rng.integers(1, 6, size=4).astype(np.intp)  # in a page, repeat takes 32 bits
        names = np.append(np.repeat(rng.permutation(20)[:4], lengths), np.full(padding, NO_TEXT))
        yield Case(label, (names.astype(np.int64),))


def _same_text(texts: Array) -> Array:
    return np.asarray((texts[:, None] == texts) & (texts != NO_TEXT))


def _positions_in_text(texts: Array) -> Array:
    return np.where(texts == NO_TEXT, 0, (np.tril(_same_text(texts), k=-1)).sum(axis=1))


def _positions_in_runs(texts: Array) -> list[int]:
    positions: list[int] = []
    before = None
    for each in texts.tolist():
        positions.append(positions[-1] + 1 if each == before and each != NO_TEXT else 0)
        before = each
    return positions


def _positions_by_starts(texts: Array) -> Array:
    begins = np.append(True, texts[1:] != texts[:-1])
    start = np.maximum.accumulate(np.where(begins, np.arange(len(texts)), 0))
    return (np.arange(len(texts)) - start) * (texts != NO_TEXT)


def _positions_by_dictionary(texts: Array) -> list[int]:
    seen: dict[int, int] = {NO_TEXT: 0}
    positions = []
    for each in texts.tolist():
        positions.append(seen.setdefault(each, 0))
        seen[each] += each != NO_TEXT
    return positions


POSITIONS_IN_TEXT = Exercise(
    id=f"{CHAPTER}.positions_in_text",
    title="Each text counts from 0",
    step_of=PACKED,
    signature="positions_in_text(texts: whole numbers of shape (n,), -1 for padding) -> whole numbers of "
    "shape (n,)",
    points=1,
    minutes=8,
    difficulty=2,
    reference=lambda texts: _positions_in_text(texts),
    make_cases=_packed_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one position for each token, padding included.",
            about="form",
        ),
        Property(lambda args, value: bool(np.all(np.asarray(value) >= 0)), "No position may be negative."),
    ),
    mistakes=(
        Mistake(
            "columns",
            lambda texts: np.arange(len(texts)),
            "The columns are numbered, so only the first text counts from 0. Each text is to begin at 0.",
        ),
        Mistake(
            "columns-without-padding",
            lambda texts: np.where(texts == NO_TEXT, 0, np.arange(len(texts))),
            "Padding got 0, but the columns are numbered: only the first text counts from 0. Each text is "
            "to begin at 0.",
        ),
        Mistake(
            "from-1",
            lambda texts: np.where(texts == NO_TEXT, 0, _positions_in_text(texts) + 1),
            "The tokens of each text are counted from 1. The first of them stands at 0.",
        ),
        Mistake(
            "padding-counts",
            lambda texts: np.asarray(_positions_in_runs(np.where(texts == NO_TEXT, 99, texts))),
            "The texts are right. Padding counts on by itself: it is to get position 0.",
        ),
        Mistake(
            "number-of-the-text",
            lambda texts: np.where(texts == NO_TEXT, 0, np.cumsum(np.append(0, texts[1:] != texts[:-1]))),
            "These are the numbers of the texts in their order. Asked for is the place of each token in its "
            "own text.",
        ),
        Mistake(
            "counted-from-the-end",
            lambda texts: np.where(
                texts == NO_TEXT, 0, _same_text(texts).sum(axis=1) - 1 - _positions_in_text(texts)
            ),
            "Each text is counted from its end. The first token of a text stands at 0.",
        ),
        Mistake(
            "sorted",
            lambda texts: np.asarray(_positions_in_text(np.sort(texts))),
            "The positions are those of the texts in the order of their numbers. The tokens stay where they "
            "are.",
        ),
    ),
    alternatives=(_positions_in_runs, _positions_by_starts, _positions_by_dictionary),
    hints=(
        "Where does a text begin? Where its number differs from the one before it.",
        "The position of a token is the number of tokens of the same text that stand before it.",
        "`(texts[:, None] == texts)` says which tokens belong together; `np.tril(..., k=-1)` keeps those "
        "before. Count along axis 1, and give padding 0.",
    ),
)


def _may_look(texts: Array) -> Array:
    return np.tril(_same_text(texts))


def _may_look_by_loops(texts: Array) -> list[list[bool]]:
    n = len(texts)
    return [
        [bool(key <= query and texts[key] == texts[query] and texts[key] >= 0) for key in range(n)]
        for query in range(n)
    ]


def _may_look_in_blocks(texts: Array) -> Array:
    allowed = np.zeros((len(texts),) * 2, dtype=bool)
    for each in set(texts.tolist()) - {NO_TEXT}:
        at = np.flatnonzero(texts == each)
        allowed[np.ix_(at, at)] = np.tri(len(at), dtype=bool)
    return allowed


MAY_LOOK = Exercise(
    id=f"{CHAPTER}.may_look",
    title="No look into another text",
    step_of=PACKED,
    signature="may_look(texts: whole numbers of shape (n,), -1 for padding) -> truth values of shape (n, n)",
    points=1,
    minutes=8,
    difficulty=2,
    draws=Draws(
        lambda may_look, rows, columns: heat_map(
            may_look(np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, -1, -1])), rows=rows, columns=columns
        ),
        axes=("query", "key"),
        look="Each text is a triangle of its own, and padding sees and shows nothing.",
    ),
    reference=lambda texts: _may_look(texts),
    make_cases=_packed_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]),) * 2,
            "There must be one row for each query and one column for each key: (n, n).",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "causal-alone",
            lambda texts: np.tri(len(texts), dtype=bool),
            "Nobody looks ahead, but the later texts look into the earlier ones.",
        ),
        Mistake(
            "looks-ahead",
            _same_text,
            "Each text is by itself, but within it tokens look ahead. The decoder is causal.",
        ),
        Mistake(
            "padding-with-padding",
            lambda texts: np.tril(texts[:, None] == texts),
            "The texts are right. Padding looks at padding: it is no text, and sees and is seen by nobody.",
        ),
        Mistake(
            "padding-and-ahead",
            lambda texts: np.asarray(texts[:, None] == texts),
            "Each text is by itself, but tokens look ahead, and padding looks at padding.",
        ),
        Mistake(
            "not-itself",
            lambda texts: np.tril(_same_text(texts), k=-1),
            "No token sees itself. A token may look at itself and at what came before it in its text.",
        ),
        Mistake(
            "other-texts",
            lambda texts: np.tril(texts[:, None] != texts),
            "Tokens look at the other texts, and not at their own: it is turned round.",
        ),
        Mistake(
            "triangle-turned",
            lambda texts: np.triu(_same_text(texts)),
            "Each token looks at itself and at what comes after it: the triangle is turned round.",
        ),
        Mistake(
            "neighbours-alone",
            lambda texts: _same_text(texts) & (np.tri(len(texts)) - np.tri(len(texts), k=-2) > 0),
            "A token sees itself and the one before it. It may look at all of its text that came before.",
        ),
    ),
    alternatives=(
        _may_look_by_loops,
        _may_look_in_blocks,
        lambda texts: (np.subtract.outer(texts, texts) == 0) & np.tri(len(texts), dtype=bool) & (texts > -1),
    ),
    hints=(
        "Three conditions: the same text, no later key, and no padding.",
        "`texts[:, None] == texts` is True where query and key have the same number; padding has the number "
        "-1 in common, too.",
        "Join truth values with `&`: the same text, `np.tri(n, dtype=bool)`, and `texts != -1`.",
    ),
)


def _targets_that_count(texts: Array) -> Array:
    return np.asarray((texts[1:] == texts[:-1]) & (texts[1:] != NO_TEXT))


TARGETS_THAT_COUNT = Exercise(
    id=f"{CHAPTER}.targets_that_count",
    title="Which answers count",
    step_of=PACKED,
    signature="targets_that_count(texts: whole numbers of shape (n,), -1 for padding) -> truth values of "
    "shape (n - 1,)",
    points=1,
    minutes=6,
    difficulty=2,
    reference=lambda texts: _targets_that_count(texts),
    make_cases=_packed_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]) - 1,),
            "The last token has nobody after it, so there must be one truth value fewer than tokens.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "across-the-border",
            lambda texts: (texts[1:] != NO_TEXT) & (texts[:-1] != NO_TEXT),
            "Padding is left out. But the last token of a text is asked for the first one of the next, which "
            "it cannot know.",
        ),
        Mistake(
            "padding-counts",
            lambda texts: np.asarray(texts[1:] == texts[:-1]),
            "The borders are right. But padding that follows padding counts: it is easy to foretell, and "
            "makes the loss look better than it is.",
        ),
        Mistake(
            "all",
            lambda texts: np.ones(len(texts) - 1, dtype=bool),
            "Everything counts: padding, and the first token of the next text, which nobody can know.",
        ),
        Mistake(
            "the-target-alone",
            lambda texts: np.asarray(texts[1:] != NO_TEXT),
            "You ask only whether the target is padding. Ask as well whether it belongs to the same text as "
            "the token that is to foretell it.",
        ),
        Mistake(
            "the-token-alone",
            lambda texts: np.asarray(texts[:-1] != NO_TEXT),
            "You ask whether the token itself is padding. What counts is the target, the token after it, and "
            "whether both belong to one text.",
        ),
        Mistake(
            "borders",
            lambda texts: np.asarray(texts[1:] != texts[:-1]),
            "You marked the borders, where a target does not count. It is turned round.",
        ),
        Mistake(
            "turned-round",
            lambda texts: ~_targets_that_count(texts),
            "It is turned round: True is to mean that the target counts.",
        ),
    ),
    alternatives=(
        lambda texts: [a == b >= 0 for a, b in zip(texts.tolist(), texts.tolist()[1:], strict=False)],
        lambda texts: np.diagonal(_may_look(texts), offset=-1),
        lambda texts: (np.diff(texts) == 0) & (texts[:-1] >= 0),
    ),
    hints=(
        "Token t is asked for token t + 1. Compare the two: `texts[:-1]` and `texts[1:]`.",
        "Which two kinds of target must not count? One lies behind a border; the other is no text at all.",
        "`(texts[1:] == texts[:-1])` and not padding, joined with `&`.",
    ),
)


# --- seen, attend_cached, cached_step --------------------------------------------------------

CACHE = "Your decoder gets a cache"


def _seen_cases(rng: Generator) -> Iterator[Case]:
    for label, past, new in (
        ("one token after a cache of five", 5, 1),
        ("three tokens after a cache of two", 2, 3),
        ("the first four tokens: the cache is empty", 0, 4),
        ("as many new tokens as are in the cache", 3, 3),
        ("a random cache", int(rng.integers(4, 30)), int(rng.integers(2, 9))),
        ("another random cache", int(rng.integers(4, 30)), int(rng.integers(2, 9))),
    ):
        yield Case(label, (past, new))


def _seen(past: int, new: int) -> Array:
    return np.tri(new, past + new, k=past, dtype=bool)


SEEN = Exercise(
    id=f"{CHAPTER}.seen",
    title="Who sees whom",
    step_of=CACHE,
    signature="seen(past: int, new: int) -> truth values of shape (new, past + new)",
    points=1,
    minutes=8,
    difficulty=2,
    draws=Draws(
        lambda seen, rows, columns: heat_map(seen(5, 4), rows=rows, columns=columns),
        axes=("new query", "key"),
        look="The cache holds five keys: the first new query sees them and itself, and each next one "
        "sees one more.",
    ),
    reference=lambda past, new: _seen(past, new),
    make_cases=_seen_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[1], args[0] + args[1]),
            "There must be one row for each new token and one column for each key, those of the cache first.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "triangle-from-the-left",
            lambda past, new: np.tri(new, past + new, dtype=bool),
            "The triangle starts at the first key of the cache, so the first new token sees one key alone. "
            "The first new token stands behind the whole cache.",
        ),
        Mistake(
            "all-seen",
            lambda past, new: np.ones((new, past + new), dtype=bool),
            "Every new token sees all keys. Where several come at once, the earlier ones must not see the "
            "later ones.",
        ),
        Mistake(
            "not-itself",
            lambda past, new: np.tri(new, past + new, k=past - 1, dtype=bool),
            "No new token sees itself. Each may look at itself and at all that came before it.",
        ),
        Mistake(
            "one-ahead",
            lambda past, new: np.tri(new, past + new, k=past + 1, dtype=bool),
            "Each new token sees the one after it too. The triangle lies one column too far to the right.",
        ),
        Mistake(
            "moved-by-the-new",
            lambda past, new: np.tri(new, past + new, k=new, dtype=bool),
            "The triangle was moved by the number of new tokens. What stands before the first of them is the "
            "cache: its length decides.",
        ),
        Mistake(
            "hidden",
            lambda past, new: ~_seen(past, new),
            "It is turned round: True is to mean that the token may look at the key.",
        ),
        Mistake(
            "cache-behind",
            lambda past, new: np.hstack([_seen(0, new), np.ones((new, past), dtype=bool)]),
            "The new keys come first here, and the cache behind them. Keys stand in the order of the text: "
            "the cache first.",
        ),
        Mistake(
            "cache-hidden",
            lambda past, new: np.hstack([np.zeros((new, past), dtype=bool), _seen(0, new)]),
            "No new token sees the cache. It holds what came before, and all of it may be seen.",
        ),
        Mistake(
            "triangle-turned",
            lambda past, new: np.triu(np.ones((new, past + new), dtype=bool), k=past),
            "The new tokens see themselves and what comes after them: the triangle is turned round.",
        ),
    ),
    alternatives=(
        lambda past, new: np.arange(past + new) <= past + np.arange(new)[:, None],
        lambda past, new: np.tri(past + new, dtype=bool)[past:],
        lambda past, new: [[key <= past + row for key in range(past + new)] for row in range(new)],
    ),
    hints=(
        "Write down past = 2 and new = 3: three rows and five columns. Which keys may the first new token "
        "see, and which the last?",
        "New token number i stands at position `past + i`, and key number j at position `j`.",
        "`np.tri(rows, columns, k=...)` is a triangle whose edge can be moved; or compare two ranges with "
        "`<=`.",
    ),
)


def _cached_cases(rng: Generator) -> Iterator[Case]:
    for label, heads, past, new, head_dim in (
        ("one head, one token after a cache of five", 1, 5, 1, 4),
        ("two heads, the cache is empty", 2, 0, 4, 4),
        ("two heads, three tokens after a cache of two", 2, 2, 3, 4),
        ("three heads, as many new tokens as are in the cache", 3, 3, 3, 3),
        ("four heads, one token after one", 4, 1, 1, 2),
        ("two heads, two tokens after a cache of forty", 2, 40, 2, 8),
    ):
        q, k, v = rng.normal(size=(3, heads, new, head_dim))
        keys, values = rng.normal(size=(2, heads, past, head_dim))
        yield Case(label, (q, k, v, keys, values))


Kept = tuple[Array, Array, Array]


def _attend_to(q: Array, keys: Array, values: Array, allowed: Array) -> Array:
    scores = q @ np.swapaxes(keys, -1, -2) / np.sqrt(q.shape[-1])
    return np.asarray(_softmax(np.where(allowed, scores, -np.inf)) @ values)


def _joined(cache: Array, new: Array) -> Array:
    return np.concatenate([cache, new], axis=-2)


def _attend_cached(q: Array, k: Array, v: Array, keys: Array, values: Array) -> Kept:
    past, new = keys.shape[-2], q.shape[-2]
    keys, values = _joined(keys, k), _joined(values, v)
    return _attend_to(q, keys, values, _seen(past, new)), keys, values


def _attended_under(allowed: Callable[[int, int], Array]) -> Callable[..., Kept]:
    """The answer with another mask."""

    def attend(q: Array, k: Array, v: Array, keys: Array, values: Array) -> Kept:
        past, new = keys.shape[-2], q.shape[-2]
        keys, values = _joined(keys, k), _joined(values, v)
        return _attend_to(q, keys, values, allowed(past, new)), keys, values

    return attend


def _cached_one_by_one(q: Array, k: Array, v: Array, keys: Array, values: Array) -> Kept:
    """Token by token, as a model writes."""
    rows = []
    for t in range(q.shape[1]):
        keys, values = _joined(keys, k[:, t : t + 1]), _joined(values, v[:, t : t + 1])
        weights = _softmax((keys @ q[:, t, :, None])[..., 0] / np.sqrt(q.shape[2]))
        rows.append((weights[:, :, None] * values).sum(axis=1))
    return np.stack(rows, axis=1), keys, values


def _cached_head_by_head(q: Array, k: Array, v: Array, keys: Array, values: Array) -> Kept:
    heads = [_attend_cached(*(each[h : h + 1] for each in (q, k, v, keys, values))) for h in range(len(q))]
    outputs, all_keys, all_values = (np.concatenate(each) for each in zip(*heads, strict=True))
    return outputs, all_keys, all_values


def _cached_by_library(q: Array, k: Array, v: Array, keys: Array, values: Array) -> Kept:
    keys, values = np.append(keys, k, axis=1), np.append(values, v, axis=1)
    return np.asarray(attention(q, keys, values, causal=True)), keys, values


ATTEND_CACHED = Exercise(
    id=f"{CHAPTER}.attend_cached",
    title="Attend, and keep",
    step_of=CACHE,
    signature="attend_cached(q, k, v: (heads, new, head_dim); keys, values: (heads, past, head_dim)) "
    "-> (output (heads, new, head_dim), keys and values (heads, past + new, head_dim))",
    points=2,
    minutes=12,
    difficulty=3,
    parts=("the output", "the keys to keep", "the values to keep"),
    reference=lambda q, k, v, keys, values: _attend_cached(q, k, v, keys, values),
    make_cases=_cached_cases,
    mistakes=(
        Mistake(
            "triangle-from-the-left",
            _attended_under(lambda past, new: np.tri(new, past + new, dtype=bool)),
            "The keys and values are right. The causal mask starts at the first key of the cache, so the "
            "first new token sees one key alone: use seen(past, new).",
        ),
        Mistake(
            "looks-ahead",
            _attended_under(lambda past, new: np.ones((new, past + new), dtype=bool)),
            "The keys and values are right. Where several tokens come at once, the earlier ones look at the "
            "later ones: the mask is missing.",
        ),
        Mistake(
            "cache-unread",
            lambda q, k, v, keys, values: (
                _attend_to(q, k, v, _seen(0, q.shape[-2])),
                _joined(keys, k),
                _joined(values, v),
            ),
            "What you keep is right, but the new tokens look at each other alone. Join the keys first, and "
            "attend to all of them.",
        ),
        Mistake(
            "cache-not-grown",
            lambda q, k, v, keys, values: (_attend_cached(q, k, v, keys, values)[0], keys, values),
            "The output is right. You hand back the cache as you got it, so the new tokens are forgotten at "
            "the next call. Hand back the joined keys and values.",
        ),
        Mistake(
            "new-ones-alone-kept",
            lambda q, k, v, keys, values: (_attend_cached(q, k, v, keys, values)[0], k, v),
            "The output is right. You keep the new keys and values alone, so the past is gone at the next "
            "call. Keep the joined ones.",
        ),
        Mistake(
            "cache-behind",
            lambda q, k, v, keys, values: (
                _attend_to(q, _joined(k, keys), _joined(v, values), _seen(keys.shape[-2], q.shape[-2])),
                _joined(k, keys),
                _joined(v, values),
            ),
            "The cache was put behind the new keys. It holds what came before them, and the mask counts on "
            "that order.",
        ),
        Mistake(
            "keys-and-values-swapped",
            lambda q, k, v, keys, values: (
                _attend_cached(q, k, v, keys, values)[0],
                _joined(values, v),
                _joined(keys, k),
            ),
            "The output is right. The keys and the values that you hand back have changed places.",
        ),
        Mistake(
            "old-values",
            lambda q, k, v, keys, values: (
                _attend_to(
                    q, _joined(keys, k), _joined(values, np.zeros_like(v)), _seen(keys.shape[-2], q.shape[-2])
                ),
                _joined(keys, k),
                _joined(values, np.zeros_like(v)),
            ),
            "The new keys are there, and the new values are zeros. Each new token brings both: join v as "
            "you join k.",
        ),
        Mistake(
            "no-scale",
            lambda q, k, v, keys, values: _attend_cached(q * np.sqrt(q.shape[-1]), k, v, keys, values),
            "The keys and values are right. The scores are not divided by the root of head_dim.",
        ),
        Mistake(
            "scale-of-all-keys",
            lambda q, k, v, keys, values: _attend_cached(
                q * np.sqrt(q.shape[-1] / (keys.shape[-2] + k.shape[-2])), k, v, keys, values
            ),
            "The keys and values are right. The scores are divided by the root of the number of keys. What "
            "counts is the width of a head, q.shape[-1].",
        ),
    ),
    alternatives=(_cached_one_by_one, _cached_head_by_head, _cached_by_library),
    hints=(
        "Two joins come first: `np.concatenate([keys, k], axis=1)`, and the same for the values. Heads lie "
        "along axis 0.",
        "Then it is the attention of chapter 1 of `q` on the joined keys, with `seen(past, new)` as its "
        "mask.",
        "`past` is `keys.shape[1]` before the join. Hand back the joined keys and values beside the output.",
    ),
)


def _step_cases(rng: Generator) -> Iterator[Case]:
    for label, heads, past, new, dim in (
        ("one head, one token after a cache of five", 1, 5, 1, 4),
        ("two heads, the cache is empty", 2, 0, 4, 8),
        ("two heads, three tokens after a cache of two", 2, 2, 3, 8),
        ("as many new tokens as are in the cache", 2, 3, 3, 6),
        ("one token after one", 1, 1, 1, 4),
        ("two tokens after a cache of forty", 2, 40, 2, 8),
        ("a random cache", 2, int(rng.integers(6, 60)), int(rng.integers(2, 6)), 8),
    ):
        head_dim = dim // heads
        x = rng.normal(size=(new, dim))
        w_q, w_k, w_v = rng.normal(size=(3, heads, dim, head_dim))
        keys, values = rng.normal(size=(2, heads, past, head_dim))
        yield Case(label, (x, w_q, w_k, w_v, keys, values))


def _cached_step(
    x: Array,
    w_q: Array,
    w_k: Array,
    w_v: Array,
    keys: Array,
    values: Array,
    at: Callable[[int, int], Array] = lambda past, new: past + np.arange(new),
) -> Kept:
    """`at`: where the new tokens stand, from (past, new)."""
    h = x + sinusoidal(at(keys.shape[1], len(x)), x.shape[1])
    return _attend_cached(h @ w_q, h @ w_k, h @ w_v, keys, values)


def _step_at(at: Callable[[int, int], Array]) -> Callable[..., Kept]:
    return lambda x, w_q, w_k, w_v, keys, values: _cached_step(x, w_q, w_k, w_v, keys, values, at)


def _step_with(added_to: str) -> Callable[..., Kept]:
    """The encoding reaches some of queries, keys and values alone."""

    def step(x: Array, w_q: Array, w_k: Array, w_v: Array, keys: Array, values: Array) -> Kept:
        h = x + sinusoidal(keys.shape[1] + np.arange(len(x)), x.shape[1])
        q, k, v = ((h if name in added_to else x) @ w for name, w in (("q", w_q), ("k", w_k), ("v", w_v)))
        return _attend_cached(q, k, v, keys, values)

    return step


def _step_one_by_one(x: Array, w_q: Array, w_k: Array, w_v: Array, keys: Array, values: Array) -> Kept:
    rows = []
    for row in x:
        output, keys, values = _cached_step(row[None], w_q, w_k, w_v, keys, values)
        rows.append(output)
    return np.concatenate(rows, axis=1), keys, values


def _step_by_a_long_table(x: Array, w_q: Array, w_k: Array, w_v: Array, keys: Array, values: Array) -> Kept:
    """The table of all positions, of which the last rows are used."""
    past, new = keys.shape[1], len(x)
    h = (x + sinusoidal(past + new, x.shape[1])[past:])[None]
    return _cached_by_library(h @ w_q, h @ w_k, h @ w_v, keys, values)


def _step_by_einsum(x: Array, w_q: Array, w_k: Array, w_v: Array, keys: Array, values: Array) -> Kept:
    h = x + sinusoidal(np.arange(len(x)) + keys.shape[1], x.shape[1])
    q, k, v = (np.einsum("nd,hde->hne", h, w) for w in (w_q, w_k, w_v))
    return _cached_head_by_head(q, k, v, keys, values)


CACHED_STEP = Exercise(
    id=f"{CHAPTER}.cached_step",
    title="Read each token once",
    step_of=CACHE,
    adds="Your decoder gets a cache: it reads each token once, and keeps its keys and values.",
    signature="cached_step(x: (new, dim); w_q, w_k, w_v: (heads, dim, head_dim) each; keys, values: (heads, "
    "past, head_dim)) -> (output, keys, values), as attend_cached",
    points=2,
    minutes=12,
    difficulty=3,
    parts=("the output", "the keys to keep", "the values to keep"),
    reference=lambda x, w_q, w_k, w_v, keys, values: _cached_step(x, w_q, w_k, w_v, keys, values),
    make_cases=_step_cases,
    mistakes=(
        Mistake(
            "starts-again",
            _step_at(lambda past, new: np.arange(new)),
            "The new tokens stand at 0, 1, 2, ..., as if the text began with them. They come after the "
            "cache.",
        ),
        Mistake(
            "one-late",
            _step_at(lambda past, new: past + 1 + np.arange(new)),
            "The new tokens stand one position too far on. The cache holds positions 0 to past - 1: which "
            "one is free?",
        ),
        Mistake(
            "one-early",
            _step_at(lambda past, new: past - 1 + np.arange(new)),
            "The new tokens stand one position too early: the first of them shares its position with the "
            "last token of the cache.",
        ),
        Mistake(
            "heads-for-past",
            lambda x, w_q, w_k, w_v, keys, values: _cached_step(
                x, w_q, w_k, w_v, keys, values, lambda past, new: len(keys) + np.arange(new)
            ),
            "The new tokens start at len(keys), which is the number of heads. The cache has its tokens along "
            "axis 1.",
        ),
        Mistake(
            "all-at-one-position",
            _step_at(lambda past, new: np.full(new, past)),
            "All new tokens got the same position. That is right for a single one; several that come at "
            "once follow one another.",
        ),
        Mistake(
            "nothing-added",
            _step_with(""),
            "No position is added to the new tokens. Those in the cache had theirs when their keys were "
            "made, and the new ones need theirs too.",
        ),
        Mistake(
            "queries-alone",
            _step_with("q"),
            "Only the queries carry their position. In this decoder the encoding is added to x, before "
            "queries, keys and values are made of it.",
        ),
        Mistake(
            "keys-alone",
            _step_with("k"),
            "Only the keys carry their position. In this decoder the encoding is added to x, before "
            "queries, keys and values are made of it.",
        ),
        Mistake(
            "not-the-values",
            _step_with("qk"),
            "The values are made of x without its position. In this decoder the encoding is added to x, "
            "before queries, keys and values are made of it.",
        ),
        Mistake(
            "counted-from-the-end",
            _step_at(lambda past, new: past + np.arange(new)[::-1]),
            "The new tokens are counted backwards: the last of them got the smallest position.",
        ),
        Mistake(
            "cache-not-grown",
            lambda x, w_q, w_k, w_v, keys, values: (
                _cached_step(x, w_q, w_k, w_v, keys, values)[0],
                keys,
                values,
            ),
            "The output is right. The cache is handed back as it came, so the next call knows nothing of "
            "these tokens.",
        ),
    ),
    alternatives=(_step_one_by_one, _step_by_a_long_table, _step_by_einsum),
    lends=("sinusoidal",),
    hints=(
        "The cache holds positions 0 to `past - 1`, and `past` is `keys.shape[1]`. Where do the new tokens "
        "stand?",
        "`posenc_lib.sinusoidal(positions, dim)` takes an array of positions. Add its rows to `x` first of "
        "all.",
        "`h @ w_q` has the shape (heads, new, head_dim) by itself, since the heads lie in front. Then call "
        "your `attend_cached`.",
    ),
)


# --- honest_loss, how_far_ahead --------------------------------------------------------------

TOO_GOOD = "A loss that is too good"


def _loss_cases(rng: Generator) -> Iterator[Case]:
    def losses(mask: Array) -> Array:
        """Padding is easy to foretell, and a longer sentence is foretold better."""
        easier = 1 + mask.sum(axis=1, keepdims=True)
        return np.asarray(np.where(mask == 1, rng.uniform(1, 3, mask.shape) / np.sqrt(easier), 0.01))

    for label, mask in (
        ("a long sentence and a short one", _mask("tttttt", "tt....")),
        ("padded on the left", _mask("..tttt", "tttttt", ".....t")),
        ("no padding, one sentence", _mask("tttt")),
        ("a sentence of padding alone", _mask("....", "tttt", "tt..")),
        ("a square", _mask("t..", "tt.", "ttt")),
        ("random padding", (np.arange(12) < rng.integers(1, 12, size=(5, 1))).astype(np.int64)),
    ):
        yield Case(label, (losses(mask), mask))


def _honest_loss(losses: Array, mask: Array) -> float:
    return float((losses * mask).sum() / mask.sum())


def _mean_of_means(losses: Array, mask: Array) -> float:
    rows = mask.sum(axis=1) > 0
    return float(((losses * mask).sum(axis=1)[rows] / mask.sum(axis=1)[rows]).mean())


HONEST_LOSS = Exercise(
    id=f"{CHAPTER}.honest_loss",
    title="Count what counts",
    step_of=TOO_GOOD,
    signature="honest_loss(losses: array of shape (batch, n), mask: array of shape (batch, n)) -> float",
    points=1,
    minutes=6,
    difficulty=1,
    reference=lambda losses, mask: _honest_loss(losses, mask),
    make_cases=_loss_cases,
    where_not_finite="A sentence of padding alone has no mean of its own. Add up over the whole batch first.",
    mistakes=(
        Mistake(
            "padding-counted",
            lambda losses, mask: float(losses.mean()),
            "Padding is counted. It is easy to foretell, so the loss looks better than the model is.",
        ),
        Mistake(
            "padding-as-zeros",
            lambda losses, mask: float((losses * mask).mean()),
            "The losses of padding are set to 0, but they are still counted in the mean. Divide by the "
            "number of tokens.",
        ),
        Mistake(
            "mean-of-means",
            _mean_of_means,
            "This is the mean of the sentences' means: a token of a short sentence counts more than one of a "
            "long one. Every token is to count the same.",
        ),
        Mistake(
            "sum",
            lambda losses, mask: float((losses * mask).sum()),
            "This is the sum over all tokens. Divide it by their number.",
        ),
        Mistake(
            "by-sentences",
            lambda losses, mask: float((losses * mask).sum() / len(losses)),
            "The sum over all tokens is divided by the number of sentences. Divide it by the number of "
            "tokens.",
        ),
        Mistake(
            "padding-alone",
            lambda losses, mask: float((losses * (1 - mask)).sum() / max((1 - mask).sum(), 1)),
            "This is the mean over padding. In this mask 1 is a token.",
        ),
        Mistake(
            "first-sentence",
            lambda losses, mask: _honest_loss(losses[:1], mask[:1]) if mask[0].any() else 0.0,
            "Only the first sentence was counted. The mean runs over all tokens of the batch.",
        ),
        Mistake(
            "middle",
            lambda losses, mask: float(np.median(losses[mask == 1])),
            "This is the median of the tokens' losses. Asked for is their mean.",
        ),
    ),
    alternatives=(
        lambda losses, mask: losses[mask == 1].mean(),
        lambda losses, mask: np.average(losses, weights=mask),
        lambda losses, mask: (
            sum(
                loss
                for row, real in zip(losses.tolist(), mask.tolist(), strict=True)
                for loss, one in zip(row, real, strict=True)
                if one
            )
            / mask.sum()
        ),
    ),
    hints=(
        "Which numbers belong into the mean, and how many are they?",
        "`mask.sum()` is the number of tokens of the whole batch.",
        "Add up the losses of the tokens, and divide by how many they are. `losses[mask == 1]` holds just "
        "these.",
    ),
)


@dataclass(frozen=True)
class Reader:
    """A model, (n,) tokens to (n, vocab): token t sees itself, the past, and `ahead` tokens more."""

    ahead: int
    seed: int
    volume: float = 1.0
    """How loud what it sees of the future is."""
    only_at: int = -1
    """The one place that looks ahead; -1: all do."""
    between: bool = True
    """Whether it sees the tokens up to there, too."""
    back: int = 99
    """How far it looks back."""

    def __call__(self, tokens: Array) -> Array:
        tokens = np.asarray(tokens)
        rng = np.random.default_rng(self.seed)
        words, mix = rng.normal(size=(64, 6)), rng.normal(size=(6, 64))
        n, vocab = len(tokens), 8
        place, other = np.arange(n)[:, None], np.arange(n)
        reach = np.where((place == self.only_at) | (self.only_at < 0), self.ahead, 0)
        past = (other <= place) & (other >= place - self.back)
        future = (other > place) & (other <= place + reach) & (self.between | (other == place + reach))
        share = np.where(past, 0.8 ** np.abs(place - other), np.where(future, self.volume, 0.0))
        return np.asarray(np.tanh(share @ words[tokens] / 3) @ mix[:, :vocab])


def _reader_cases(rng: Generator) -> Iterator[Case]:
    def model(n: int, ahead: int, **more: Any) -> tuple[Reader, int, int]:
        return Reader(ahead, int(rng.integers(2**32)), **more), n, 8

    yield Case("a model that sees the past alone", model(6, 0))
    yield Case("a model that sees the next token", model(6, 1))
    yield Case("a model that sees everything", model(7, 6))
    yield Case("what it sees of the future is faint", model(9, 4, volume=1e-4))
    yield Case("one place alone looks ahead", model(10, 3, only_at=5))
    yield Case("one place alone looks ahead, faintly", model(11, 2, volume=1e-3, only_at=6))
    yield Case("the first place alone looks ahead", model(9, 3, only_at=0))
    yield Case("one place alone sees the last token", model(9, 4, only_at=4))
    yield Case("it looks three ahead, and no nearer", model(8, 3, between=False))
    yield Case("it looks farther ahead than back", model(8, 4, back=1))
    yield Case("a text of two tokens, and the past alone", model(2, 0))
    for number in range(8):
        n = int(rng.integers(5, 13))
        ahead = int(rng.integers(0, n - 1))
        yield Case(f"random model {number}", model(n, ahead, volume=float(rng.choice([1.0, 1e-2]))))


Model = Callable[[Array], Array]


def _changes(model: Model, n: int, vocab: int) -> Array:
    """(n, n): how much row t changes when token s does."""
    tokens = np.arange(n) % vocab
    before = np.asarray(model(tokens))
    table = np.zeros((n, n))
    for s in range(n):
        other = tokens.copy()
        other[s] = (other[s] + 1) % vocab
        table[:, s] = np.abs(np.asarray(model(other)) - before).max(axis=1)
    return table


def _ahead(table: Array, least: float = 1e-9) -> int:
    t, s = np.nonzero(table > least)
    return int(max(0, (s - t).max(initial=0)))


def _how_far_ahead(model: Model, n: int, vocab: int) -> int:
    return _ahead(_changes(model, n, vocab))


def _by_shuffling(model: Model, n: int, vocab: int) -> int:
    """Changes everything from s on: the first row that reacts looks s - t ahead or more."""
    rng = np.random.default_rng(3)
    best = 0
    for _ in range(4):
        tokens = rng.integers(vocab, size=n)
        before = np.asarray(model(tokens))
        for s in range(1, n):
            other = tokens.copy()
            other[s:] = (other[s:] + rng.integers(1, vocab, size=n - s)) % vocab
            moved = np.abs(np.asarray(model(other)) - before).max(axis=1) > 1e-9
            first = int(np.argmax(moved)) if moved.any() else s
            best = max(best, s - first)
    return best


def _from_the_far_end(model: Model, n: int, vocab: int) -> int:
    table = _changes(model, n, vocab)
    return next((k for k in range(n - 1, 0, -1) if (np.diagonal(table, k) > 1e-10).any()), 0)


def _by_cutting(model: Model, n: int, vocab: int) -> int:
    """A row that sees k ahead changes when the text is cut right before what it sees."""
    tokens = np.arange(n)[::-1] % vocab
    rows, best = np.asarray(model(tokens)), 0
    for length in range(1, n):
        cut = np.asarray(model(tokens[:length]))
        longer = np.asarray(model(tokens[: length + 1]))
        moved = np.abs(longer[:length] - cut).max(axis=1) > 1e-10
        if moved.any():
            best = max(best, length - int(np.argmax(moved)))
    assert len(rows) == n
    return best


HOW_FAR_AHEAD = Exercise(
    id=f"{CHAPTER}.how_far_ahead",
    title="Find the leak",
    step_of=TOO_GOOD,
    signature="how_far_ahead(model: function from whole numbers (n,) to an array (n, vocab), n: int, "
    "vocab: int) -> int",
    points=3,
    minutes=15,
    difficulty=4,
    reference=_how_far_ahead,
    make_cases=_reader_cases,
    properties=(
        Property(
            lambda args, value: 0 <= value < args[1],
            "In a text of n tokens nobody can look further ahead than n - 1, and never less than 0.",
        ),
    ),
    mistakes=(
        Mistake(
            "yes-or-no",
            lambda model, n, vocab: int(_how_far_ahead(model, n, vocab) > 0),
            "You say whether there is a leak, 0 or 1. Say how many tokens ahead the farthest look goes.",
        ),
        Mistake(
            "by-the-largest-number",
            lambda model, n, vocab: _ahead_by_choice(model, n, vocab),
            "You compare only which word has the largest number. A faint leak does not change that, and "
            "training will make it louder: compare the numbers themselves.",
        ),
        Mistake(
            "loud-ones-alone",
            lambda model, n, vocab: _ahead(_changes(model, n, vocab), least=0.05),
            "You find the loud leaks and miss the faint ones. A row that does not look ahead does not change "
            "at all: a difference above rounding is a leak.",
        ),
        Mistake(
            "first-row-alone",
            lambda model, n, vocab: _ahead(_changes(model, n, vocab)[:1]),
            "You watch the first row alone. A leak may stand at one place only: watch every row.",
        ),
        Mistake(
            "last-token-alone",
            lambda model, n, vocab: _ahead(np.pad(_changes(model, n, vocab)[:, -1:], ((0, 0), (n - 1, 0)))),
            "You change the last token alone. A leak that stands further to the front does not reach it: "
            "change each token in turn.",
        ),
        Mistake(
            "next-token-alone",
            lambda model, n, vocab: int((np.diagonal(_changes(model, n, vocab), 1) > 1e-9).any()),
            "You ask only whether a row sees the very next token. A look may go farther, and leave the next "
            "one out.",
        ),
        Mistake(
            "shortest-look",
            lambda model, n, vocab: _nearest(_changes(model, n, vocab)),
            "This is the shortest look ahead. Asked for is the farthest.",
        ),
        Mistake(
            "looks-back",
            lambda model, n, vocab: _ahead(_changes(model, n, vocab).T),
            "You measured how far the rows look back. Which of the two is the later one, the row or the "
            "token that you changed?",
        ),
        Mistake(
            "either-way",
            lambda model, n, vocab: max(
                _ahead(_changes(model, n, vocab)), _ahead(_changes(model, n, vocab).T)
            ),
            "You count a look back as a look ahead. Only tokens after the row count.",
        ),
        Mistake(
            "itself-counted",
            lambda model, n, vocab: _how_far_ahead(model, n, vocab) + 1,
            "You count one too many: the token itself is no look ahead, and the next one is a look of 1.",
        ),
        Mistake(
            "rows-counted",
            lambda model, n, vocab: int((np.triu(_changes(model, n, vocab), k=1) > 1e-9).any(axis=1).sum()),
            "You count the rows that look ahead. Asked for is how far the farthest look goes.",
        ),
    ),
    alternatives=(_by_shuffling, _from_the_far_end, _by_cutting),
    hints=(
        "You need no look inside. Change one token, and see which rows change.",
        "If row t changes with token s, and s comes after t, then the model looks s - t ahead. The answer is "
        "the largest of these.",
        "Two loops or one table: `before = model(tokens)`; for each s, change `tokens[s]` to another word, "
        "and compare `np.abs(model(changed) - before).max(axis=1)` with a small number such as `1e-9`.",
    ),
)


def _ahead_by_choice(model: Model, n: int, vocab: int) -> int:
    tokens = np.arange(n) % vocab
    before, best = np.asarray(model(tokens)).argmax(axis=1), 0
    for s in range(1, n):
        other = tokens.copy()
        other[s] = (other[s] + 1) % vocab
        moved = np.flatnonzero(np.asarray(model(other)).argmax(axis=1)[:s] != before[:s])
        best = max(best, s - int(moved[0]) if len(moved) else 0)
    return best


def _nearest(table: Array) -> int:
    t, s = np.nonzero(np.triu(table, k=1) > 1e-9)
    return int((s - t).min()) if len(s) else 0


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


# --- padding_fault ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Summariser:
    """A model, (n,) tokens and their mask to one vector: the mean of what one layer makes of the tokens."""

    fault: str
    seed: int

    def __call__(self, tokens: Array, mask: Array) -> Array:
        tokens, real = np.asarray(tokens), np.asarray(mask) == 1
        rng = np.random.default_rng(self.seed)
        words, places = rng.normal(size=(2, 64, 8))
        w_q, w_k, w_v = rng.normal(size=(3, 8, 8)) / np.sqrt(8)
        counted = np.where(real, np.cumsum(real) - 1, 0)
        at = np.arange(len(tokens)) if self.fault == "moved" else counted
        h = words[tokens] + (places[at] if self.seed % 2 else sinusoidal(at, 8))
        scores = (h @ w_q) @ (h @ w_k).T / np.sqrt(8)
        if self.fault != "seen":
            scores = np.where(real, scores, -np.inf)
        rows = _softmax(scores) @ (h @ w_v)
        number = len(tokens) if self.fault == "counted" else real.sum()
        return np.asarray((rows * real[:, None]).sum(axis=0) / number)


_FAULTS = {
    "none": "nothing is wrong",
    "seen": "attention sees padding",
    "moved": "padding takes up positions",
    "counted": "the mean counts padding",
}


def _summariser_cases(rng: Generator) -> Iterator[Case]:
    for fault in enough_of_each(rng, *([each] for each in _FAULTS)):
        yield Case(_FAULTS[fault], (Summariser(fault, int(rng.integers(2**32))),))


Summary = Callable[[Array, Array], Array]
_WORDS = np.array([3, 1, 4, 1, 5])


def _padded(model: Summary, padding: Sequence[int], *, left: bool = True) -> Array:
    tokens = [*padding, *_WORDS] if left else [*_WORDS, *padding]
    real = [0] * len(padding) + [1] * len(_WORDS) if left else [1] * len(_WORDS) + [0] * len(padding)
    return np.asarray(model(np.array(tokens), np.array(real)))


def _padding_fault(model: Summary) -> str:
    alone, padded, other = (_padded(model, each) for each in ([], [0, 0], [7, 9]))
    if np.allclose(padded, alone):
        return "none"
    if not np.allclose(padded, other):
        return "seen"
    return "counted" if np.allclose(padded * 7, alone * 5) else "moved"


def _fault_by_both_sides(model: Summary) -> str:
    alone, left, right = (
        _padded(model, []),
        _padded(model, [2, 6, 8]),
        _padded(model, [2, 6, 8], left=False),
    )
    if np.allclose(alone, left) and np.allclose(alone, right):
        return "none"
    if np.allclose(alone, right):
        return "moved"  # behind the tokens, padding moves nobody
    return "seen" if not np.allclose(right, _padded(model, [9, 9, 9], left=False)) else "counted"


def _fault_by_cosine(model: Summary) -> str:
    alone, padded, other = (_padded(model, each) for each in ([], [0] * 5, [1] * 5))
    if np.abs(padded - other).max() > 1e-9:
        return "seen"
    if np.abs(padded - alone).max() < 1e-9:
        return "none"
    cosine = padded @ alone / np.linalg.norm(padded) / np.linalg.norm(alone)
    return "counted" if cosine > 1 - 1e-9 else "moved"


def _fault_by_the_amount(model: Summary) -> str:
    """What counts padding halves with twice the length."""
    alone, five, fifteen = (_padded(model, [4] * n) for n in (0, 5, 15))
    if np.allclose(alone, five):
        return "none"
    if not np.allclose(five, _padded(model, [5] * 5)):
        return "seen"
    return "counted" if np.allclose(five, 2 * fifteen) else "moved"


PADDING_FAULT = Exercise(
    id=f"{CHAPTER}.padding_fault",
    title="Mystery padding",
    signature="padding_fault(model: function of (tokens (n,), mask (n,)) that returns a vector) "
    '-> "none", "seen", "moved" or "counted"',
    points=4,
    minutes=18,
    difficulty=4,
    reference=_padding_fault,
    make_cases=_summariser_cases,
    mistakes=(
        Mistake(
            "any-change-is-seen",
            lambda model: "none" if np.allclose(_padded(model, []), _padded(model, [0, 0])) else "seen",
            "You blame attention for every change that padding makes. If attention saw padding, other "
            "padding would make another change: try that.",
        ),
        Mistake(
            "any-change-is-moved",
            lambda model: "none" if np.allclose(_padded(model, []), _padded(model, [0, 0])) else "moved",
            "You blame the positions for every change that padding makes. Which changes remain when the "
            "padding stands behind the tokens?",
        ),
        Mistake(
            "behind-the-tokens-alone",
            lambda model: _behind_alone(model),
            "You put padding behind the tokens alone. There it moves nobody: put it before them, too.",
        ),
        Mistake(
            "mean-not-suspected",
            lambda model: "moved" if _padding_fault(model) == "counted" else _padding_fault(model),
            "You tell attention from the rest. But a mean that counts padding is taken for moved positions: "
            "it makes all numbers smaller by one factor.",
        ),
        Mistake(
            "positions-not-suspected",
            lambda model: "counted" if _padding_fault(model) == "moved" else _padding_fault(model),
            "You tell attention from the rest. But moved positions are taken for a mean that counts padding, "
            "which changes nothing but the size of the vector.",
        ),
        Mistake(
            "attention-not-suspected",
            lambda model: "moved" if _padding_fault(model) == "seen" else _padding_fault(model),
            "You never ask whether the padding's own tokens matter. Where attention sees them, they do.",
        ),
        Mistake(
            "moved-taken-for-seen",
            lambda model: "seen" if _padding_fault(model) == "moved" else _padding_fault(model),
            "You find the mean that counts padding, and blame attention for all the rest. Put other words "
            "into the padding: only attention would notice.",
        ),
        Mistake(
            "seen-and-counted-confused",
            lambda model: {"seen": "counted", "counted": "seen"}.get(
                _padding_fault(model), _padding_fault(model)
            ),
            "You find out that something is wrong, but confuse attention that sees padding with a mean that "
            "counts it. For which of the two does it matter what stands in the padding?",
        ),
        Mistake(
            "moved-and-counted-confused",
            lambda model: {"moved": "counted", "counted": "moved"}.get(
                _padding_fault(model), _padding_fault(model)
            ),
            "You confuse moved positions with a mean that counts padding. Which of the two only changes the "
            "size of the vector?",
        ),
    ),
    alternatives=(_fault_by_both_sides, _fault_by_cosine, _fault_by_the_amount),
    hints=(
        "Start with one sentence, alone and padded. Are the two vectors the same?",
        "If they differ: put other tokens into the padding. Only where attention sees padding does the "
        "vector change once more.",
        "Two suspects are left. One of them only divides by too large a number: then the padded vector is a "
        "multiple of the other, here 5/7 of it for five tokens and two paddings. Or put the padding behind "
        "the tokens, where it moves nobody.",
    ),
)


def _behind_alone(model: Summary) -> str:
    alone, padded, other = (_padded(model, each, left=False) for each in ([], [0, 0], [7, 9]))
    if np.allclose(padded, alone):
        return "none"
    return "counted" if np.allclose(padded, other) else "seen"


# --- what_was_rounded ------------------------------------------------------------------------

_ROUNDED = ("nothing", "positions", "frequencies", "table")


def _to_bfloat16(numbers: Array) -> Array:
    """The nearest numbers of eight significant bits; of two as near, the one that ends in 0."""
    significand, exponent = np.frexp(np.asarray(numbers, dtype=np.float64))
    return np.ldexp(np.round(significand * 256) / 256, exponent)


def _rounded_table(positions: Array, dim: int, rounded: str) -> Array:
    at, rates = np.asarray(positions, dtype=np.float64), frequencies(dim)
    at = _to_bfloat16(at) if rounded == "positions" else at
    rates = _to_bfloat16(rates) if rounded == "frequencies" else rates
    theta = np.outer(at, rates)
    table = np.stack([np.sin(theta), np.cos(theta)], axis=-1).reshape(len(at), dim)
    return _to_bfloat16(table) if rounded == "table" else table


def _rounded_cases(rng: Generator) -> Iterator[Case]:
    for rounded in enough_of_each(rng, *([each] for each in _ROUNDED)):
        dim, start = 2 * int(rng.integers(4, 17)), int(rng.integers(2000, 9000))
        positions = np.arange(start, start + int(rng.integers(60, 80)))
        table = _rounded_table(positions, dim, rounded)
        yield Case(f"dim {dim}, from position {start:,}", (positions, table))


def _exact_rows(positions: Array, table: Array) -> Array:
    return _rounded_table(positions, table.shape[1], "nothing")


def _some_rows_equal(table: Array) -> bool:
    return bool((np.abs(np.diff(table, axis=0)).max(axis=1) < 1e-9).any())


def _what_was_rounded(positions: Array, table: Array) -> str:
    error = np.abs(table - _exact_rows(positions, table)).max()
    if error < 1e-6:
        return "nothing"
    if error < 0.01:
        return "table"
    return "positions" if _some_rows_equal(table) else "frequencies"


def _rounded_by_trying(positions: Array, table: Array) -> str:
    errors = [np.abs(table - _rounded_table(positions, table.shape[1], each)).max() for each in _ROUNDED]
    return _ROUNDED[int(np.argmin(errors))]


def _rounded_by_steps(positions: Array, table: Array) -> str:
    """A step is a turn: of the same size everywhere, unless positions were rounded."""
    pairs = table[:, 0::2] + 1j * table[:, 1::2]
    if np.abs(np.abs(pairs) - 1).max() > 1e-6:
        return "table"  # rounded numbers lie beside the circle
    turns = np.angle(pairs[1:] / pairs[:-1])[:, 1:]
    if np.ptp(turns, axis=0).max() > 1e-6:
        return "positions"
    return "nothing" if np.allclose(table, _exact_rows(positions, table), atol=1e-6) else "frequencies"


def _rounded_by_digits(positions: Array, table: Array) -> str:
    if np.array_equal(_to_bfloat16(table), table):
        return "table"
    if len(np.unique(table.round(9), axis=0)) < len(table):
        return "positions"
    right = np.allclose(table, _exact_rows(positions, table), atol=1e-6)
    return "nothing" if right else "frequencies"


WHAT_WAS_ROUNDED = Exercise(
    id=f"{CHAPTER}.what_was_rounded",
    title="What was rounded?",
    signature="what_was_rounded(positions: whole numbers of shape (n,), table: array of shape (n, dim)) "
    '-> "nothing", "positions", "frequencies" or "table"',
    points=3,
    minutes=15,
    difficulty=3,
    reference=_what_was_rounded,
    make_cases=_rounded_cases,
    mistakes=(
        Mistake(
            "any-error-is-the-table",
            lambda positions, table: (
                "table" if np.abs(table - _exact_rows(positions, table)).max() > 1e-6 else "nothing"
            ),
            "You blame the table for every error. What can rounding do to a number between -1 and 1? Its "
            "error is small; look at how large the error is.",
        ),
        Mistake(
            "any-error-is-the-positions",
            lambda positions, table: (
                "positions" if np.abs(table - _exact_rows(positions, table)).max() > 1e-6 else "nothing"
            ),
            "You blame the positions for every error. Where positions are rounded, some neighbours have "
            "the same row: ask that.",
        ),
        Mistake(
            "large-error-is-the-positions",
            lambda positions, table: _instead(positions, table, "frequencies", "positions"),
            "The table is told from the rest. But large errors have two causes: do neighbours share a row, "
            "or does each have its own?",
        ),
        Mistake(
            "large-error-is-the-frequencies",
            lambda positions, table: _instead(positions, table, "positions", "frequencies"),
            "Small errors are told from large ones. But not all large ones come from the frequencies: in "
            "some of these tables neighbours have the very same row.",
        ),
        Mistake(
            "positions-and-frequencies-confused",
            lambda positions, table: {"positions": "frequencies", "frequencies": "positions"}.get(
                _what_was_rounded(positions, table), _what_was_rounded(positions, table)
            ),
            "You confuse positions with frequencies. Which of the two makes neighbours equal, and which "
            "makes clocks that go at another speed?",
        ),
        Mistake(
            "table-not-noticed",
            lambda positions, table: _instead(positions, table, "table", "nothing"),
            "A table whose numbers were rounded passes for exact. Its error is small, but not as small as "
            "that of float64.",
        ),
        Mistake(
            "table-for-frequencies",
            lambda positions, table: _instead(positions, table, "table", "frequencies"),
            "You take a table whose numbers were rounded for other frequencies. Compare how large the error "
            "is: the one stays small everywhere.",
        ),
        Mistake(
            "frequencies-not-noticed",
            lambda positions, table: _instead(positions, table, "frequencies", "nothing"),
            "Other frequencies pass for none. All neighbours differ, as they should, but the rows are those "
            "of other clocks: compare with the exact ones.",
        ),
    ),
    alternatives=(_rounded_by_trying, _rounded_by_steps, _rounded_by_digits),
    lends=("sinusoidal",),
    hints=(
        "Compare with the exact table, `posenc_lib.sinusoidal(positions, dim)`. How large is the largest "
        "error?",
        "A rounded number between -1 and 1 is off by 0.004 at the most. A larger error has another cause.",
        "bfloat16 skips positions from 257 on. So look for two neighbours with the same row: that is what "
        "`np.diff(table, axis=0)` shows.",
    ),
)


def _instead(positions: Array, table: Array, found: str, said: str) -> str:
    right = _what_was_rounded(positions, table)
    return said if right == found else right


# --- two_checkpoints -------------------------------------------------------------------------


def _checkpoint_cases(rng: Generator) -> Iterator[Case]:
    for label, rows, met, decay in (
        ("half of the rows were met", 8, 4, 0.9),
        ("no decay", 10, 7, 1.0),
        ("one row was met", 6, 1, 0.5),
        ("all but two were met", 9, 7, 0.99),
        ("a long table", 64, int(rng.integers(20, 60)), float(rng.uniform(0.3, 0.99))),
        ("a random table", 16, int(rng.integers(2, 14)), float(rng.uniform(0.3, 0.99))),
        ("far rows were rarely met", 24, int(rng.integers(8, 20)), float(rng.uniform(0.5, 0.99))),
    ):
        before = rng.normal(size=(rows, 6))
        # Long texts are rare: the last rows that were met have hardly moved.
        # Where nearly all were met, all of them grew: what is usual there is not the decay.
        signs = np.sign(before[:met]) if met > rows / 2 else rng.choice([-1.0, 1.0], size=(met, 6))
        moved = signs * np.geomspace(0.5, 1e-4, met)[:, None]
        after = decay * before
        after[:met] += moved
        yield Case(label, (before, after))


def _two_checkpoints(before: Array, after: Array) -> tuple[int, float]:
    decay = float((after[-1] * before[-1]).sum() / (before[-1] ** 2).sum())
    met = np.abs(after - decay * before).max(axis=1) > 1e-9
    return int(met.sum()), decay


def _met_with(
    decay: Callable[[Array, Array], float], least: float = 1e-9
) -> Callable[..., tuple[int, float]]:
    def answer(before: Array, after: Array) -> tuple[int, float]:
        factor = decay(before, after)
        met = np.abs(after - factor * before).max(axis=1) > least
        return int(met.sum()), factor

    return answer


def _last_decay(before: Array, after: Array) -> float:
    return float(after[-1, 0] / before[-1, 0])


def _met_from_the_end(before: Array, after: Array) -> tuple[int, float]:
    factor = np.linalg.norm(after[-1]) / np.linalg.norm(before[-1])
    met = len(before)
    while np.allclose(after[met - 1], factor * before[met - 1], rtol=0, atol=1e-9):
        met -= 1
    return met, float(factor)


def _met_by_ratios(before: Array, after: Array) -> tuple[int, float]:
    ratios = after / before
    same = np.ptp(ratios, axis=1) < 1e-6
    return int((~same).sum()), float(ratios[-1].mean())


TWO_CHECKPOINTS = Exercise(
    id=f"{CHAPTER}.two_checkpoints",
    title="Two checkpoints",
    signature="two_checkpoints(before: array of shape (n, dim), after: array of shape (n, dim)) "
    "-> (how many rows training met, the factor of the decay)",
    points=3,
    minutes=12,
    difficulty=3,
    parts=("the rows that training met", "the factor of the decay"),
    reference=_two_checkpoints,
    make_cases=_checkpoint_cases,
    mistakes=(
        Mistake(
            "all-that-differ",
            lambda before, after: (
                int((np.abs(after - before).max(axis=1) > 1e-9).sum()),
                _last_decay(before, after),
            ),
            "The factor is right. But you count all rows that have changed, and the decay changes rows that "
            "no text ever met. Take it away first.",
        ),
        Mistake(
            "index-of-the-last",
            lambda before, after: (_two_checkpoints(before, after)[0] - 1, _last_decay(before, after)),
            "The factor is right. You give the index of the last row that was met, counted from 0. How many "
            "rows are that?",
        ),
        Mistake(
            "rows-never-met",
            lambda before, after: (
                len(before) - _two_checkpoints(before, after)[0],
                _last_decay(before, after),
            ),
            "The factor is right. You count the rows that training never met.",
        ),
        Mistake(
            "loud-moves-alone",
            _met_with(_last_decay, least=0.01),
            "The factor is right. You count the rows that have moved a lot. Long texts are rare, so the last "
            "rows that were met have moved little: anything above rounding counts.",
        ),
        Mistake(
            "factor-of-the-whole-table",
            _met_with(lambda before, after: float(np.linalg.norm(after) / np.linalg.norm(before))),
            "The factor was taken from the whole table, and most of it moved in training. Take it from a row "
            "that no text has met: the last one.",
        ),
        Mistake(
            "factor-of-the-first-row",
            _met_with(lambda before, after: float(np.linalg.norm(after[0]) / np.linalg.norm(before[0]))),
            "The factor was taken from the first row, which every text meets. Take it from a row that no "
            "text has met: the last one.",
        ),
        Mistake(
            "usual-factor",
            lambda before, after: (
                int((~np.isclose(after, np.median(after / before) * before)).any(axis=1).sum()),
                float(np.median(after / before)),
            ),
            "You took the usual ratio of new to old for the decay. Where training met most rows, the usual "
            "ratio is theirs. Take it from a row that no text has met: the last one.",
        ),
        Mistake(
            "factor-turned-round",
            lambda before, after: (_two_checkpoints(before, after)[0], 1 / _last_decay(before, after) + 1e-3),
            "The number of rows is right. The factor is turned round: it leads from the old table to the "
            "new one.",
        ),
        Mistake(
            "what-is-lost",
            lambda before, after: (_two_checkpoints(before, after)[0], 1 - _last_decay(before, after)),
            "The number of rows is right. Your second number is what the decay takes away. Asked for is the "
            "factor, what it leaves.",
        ),
        Mistake(
            "values-changed-places",
            lambda before, after: (_last_decay(before, after), _two_checkpoints(before, after)[0]),
            "The two answers have changed places: the number of rows comes first.",
        ),
        Mistake(
            "decay-overlooked",
            lambda before, after: (_two_checkpoints(before, after)[0], 2.0),
            "The number of rows is right, but the factor is not: compare the last row of both tables.",
        ),
    ),
    alternatives=(_met_from_the_end, _met_by_ratios, _met_with(_last_decay, least=1e-7)),
    hints=(
        "The last two rows were met by no text, so all that happened to them is the decay. Divide one by "
        "the other.",
        "Multiply the old table by that factor. Which rows of the new table differ from it?",
        "`np.abs(after - factor * before).max(axis=1) > 1e-9` is True for each row that training met.",
    ),
)


# --- diagnose --------------------------------------------------------------------------------

_TRACES = ("right", "columns counted", "starts again", "one too far", "one row for all")


def _trace(rng: Generator, fault: str) -> Case:
    batch, n, steps = int(rng.integers(2, 5)), int(rng.integers(5, 9)), int(rng.integers(2, 5))
    pads = np.append(rng.integers(1, n - 2, size=batch - 1), 0)
    pads[0] = max(1, pads[0])
    mask = (np.arange(n) >= pads[:, None]).astype(np.int64)
    prompt = np.where(mask == 1, np.cumsum(mask, axis=1) - 1, int(rng.integers(2)))
    lengths = mask.sum(axis=1, keepdims=True)
    written = lengths + np.arange(steps)
    if fault == "columns counted":
        prompt, written = np.tile(np.arange(n), (batch, 1)), np.tile(n + np.arange(steps), (batch, 1))
    elif fault == "starts again":
        written = np.tile(np.arange(steps) * int(rng.integers(2)), (batch, 1))
    elif fault == "one too far":
        written = written + 1
    elif fault == "one row for all":
        prompt, written = np.tile(prompt[:1], (batch, 1)), np.tile(written[:1], (batch, 1))
    return Case(
        f"{batch} sentences of up to {n} tokens, and {steps} more", (mask, prompt.astype(np.int64), written)
    )


def _trace_cases(rng: Generator) -> Iterator[Case]:
    for fault in enough_of_each(rng, *([each] for each in _TRACES)):
        yield _trace(rng, fault)


def _real_positions(mask: Array) -> Array:
    return np.cumsum(mask, axis=1) - 1


def _prompt_is(mask: Array, prompt: Array, expected: Array) -> bool:
    return bool((np.where(mask == 1, prompt - expected, 0) == 0).all())


def _diagnose(mask: Array, prompt: Array, written: Array) -> str:
    lengths = mask.sum(axis=1)
    if _prompt_is(mask, prompt, _real_positions(mask)):
        first = written[:, 0] - lengths
        if (first == 0).all():
            return "right"
        return "one too far" if (first == 1).all() else "starts again"
    if _prompt_is(mask, prompt, np.broadcast_to(np.arange(mask.shape[1]), mask.shape)):
        return "columns counted"
    return "one row for all"


def _diagnose_by_the_new(mask: Array, prompt: Array, written: Array) -> str:
    start, lengths = written[:, 0], mask.sum(axis=1)
    counted = np.where(mask == 1, np.cumsum(mask, axis=1) - 1, prompt)
    if np.array_equal(counted, prompt):
        found = {0: "right", 1: "one too far"}
        return found.get(int((start - lengths)[0]), "starts again")
    return "columns counted" if start[0] == mask.shape[1] else "one row for all"


def _diagnose_token_by_token(mask: Array, prompt: Array, written: Array) -> str:
    verdicts = set()
    for real, row, new in zip(mask.astype(bool), prompt, written, strict=True):
        n = int(real.sum())
        if row[real].tolist() == list(range(n)):
            verdicts.add({n: "right", n + 1: "one too far"}.get(int(new[0]), "starts again"))
    wrong_rows = [
        row[real].tolist() != list(range(int(real.sum())))
        for real, row in zip(mask == 1, prompt, strict=True)
    ]
    if not any(wrong_rows):
        return next(iter(verdicts))
    return "columns counted" if (prompt == np.arange(mask.shape[1])).all() else "one row for all"


def _diagnose_by_expectation(mask: Array, prompt: Array, written: Array) -> str:
    steps, n = written.shape[1], mask.shape[1]
    right = mask.sum(axis=1, keepdims=True) + np.arange(steps)
    if (prompt[mask == 1] == _real_positions(mask)[mask == 1]).all():
        for name, expected in (("right", right), ("one too far", right + 1)):
            if np.array_equal(written, expected):
                return name
        return "starts again"
    return (
        "columns counted"
        if np.array_equal(written, np.tile(n + np.arange(steps), (len(mask), 1)))
        else "one row for all"
    )


DIAGNOSE = Exercise(
    id=f"{CHAPTER}.diagnose",
    title="Read the traces",
    signature="diagnose(mask: (batch, n), prompt: (batch, n), written: (batch, steps)) -> "
    '"right", "columns counted", "starts again", "one too far" or "one row for all"',
    points=3,
    minutes=15,
    difficulty=3,
    reference=_diagnose,
    make_cases=_trace_cases,
    mistakes=(
        Mistake(
            "padding-judged",
            lambda mask, prompt, written: (
                _diagnose(mask, prompt, written)
                if _diagnose(mask, prompt, written) == "columns counted"
                or np.array_equal(prompt, _real_positions(mask) * mask)
                else "one row for all"
            ),
            "You judge the positions of padding, too. It is masked, so any filler will do there: look at "
            "the tokens alone.",
        ),
        Mistake(
            "prompt-alone",
            lambda mask, prompt, written: _only(mask, prompt, written, "columns counted", "one row for all"),
            "You look at the prompt alone. Where it is right, the new tokens may still stand at wrong "
            "positions.",
        ),
        Mistake(
            "new-tokens-alone",
            lambda mask, prompt, written: _new_alone(mask, written),
            "You look at the new tokens alone, and count the columns of the prompt as its length. The length "
            "of a sentence is the number of its tokens.",
        ),
        Mistake(
            "one-too-far-not-noticed",
            lambda mask, prompt, written: _rather(mask, prompt, written, "one too far", "right"),
            "A first new token that is one too far passes for right. The sentence has positions 0 to "
            "length - 1: which is the next?",
        ),
        Mistake(
            "one-early-expected",
            lambda mask, prompt, written: {"right": "one too far", "one too far": "starts again"}.get(
                _diagnose(mask, prompt, written), _diagnose(mask, prompt, written)
            ),
            "You expect the first new token at length - 1. That is the position of the last token of the "
            "prompt.",
        ),
        Mistake(
            "columns-not-noticed",
            lambda mask, prompt, written: _rather(mask, prompt, written, "columns counted", "right"),
            "Counted columns pass for right. With padding on the left, the first token of a sentence does "
            "not stand in column 0, and its position is 0 all the same.",
        ),
        Mistake(
            "columns-for-one-row",
            lambda mask, prompt, written: _rather(
                mask, prompt, written, "columns counted", "one row for all"
            ),
            "Counted columns are the same for all sentences, too. But they count from column 0; the row of "
            "the first sentence counts its tokens.",
        ),
        Mistake(
            "one-row-for-columns",
            lambda mask, prompt, written: _rather(
                mask, prompt, written, "one row for all", "columns counted"
            ),
            "You take the positions of the first sentence, used for all, for counted columns. Look at a row "
            "in which the prompt does not begin with 0, 1, 2.",
        ),
        Mistake(
            "starts-again-not-noticed",
            lambda mask, prompt, written: _rather(mask, prompt, written, "starts again", "right"),
            "New tokens that start again at 0 pass for right. They come after the prompt.",
        ),
    ),
    alternatives=(_diagnose_by_the_new, _diagnose_token_by_token, _diagnose_by_expectation),
    hints=(
        "Write down what is right: in each sentence the tokens stand at 0, 1, 2, ..., and the first new "
        "token at the number of tokens of its prompt.",
        "Is the prompt wrong? Then it is either the same in all rows and equal to the columns, or the row of "
        "the first sentence. Compare where the mask is 1 alone.",
        "Is the prompt right? Then take `written[:, 0] - mask.sum(axis=1)`: 0 is right, 1 is one too far.",
    ),
)


def _rather(mask: Array, prompt: Array, written: Array, found: str, said: str) -> str:
    right = _diagnose(mask, prompt, written)
    return said if right == found else right


def _only(mask: Array, prompt: Array, written: Array, *known: str) -> str:
    right = _diagnose(mask, prompt, written)
    return right if right in known else "right"


def _new_alone(mask: Array, written: Array) -> str:
    first = written[:, 0] - mask.shape[1]
    if (first == 0).all():
        return "right"
    return "one too far" if (first == 1).all() else "starts again"


# --- broken_lines ----------------------------------------------------------------------------

_LINES = (14, 13, 8, 7)


def _four(**changed: int) -> Callable[[], tuple[int, ...]]:
    """The right answer, with other lines for some of the listings."""
    return lambda: tuple(changed.get(name, line) for name, line in zip("abcd", _LINES, strict=True))


BROKEN_LINES = Exercise(
    id=f"{CHAPTER}.broken_lines",
    title="Four programs, four symptoms",
    signature="broken_lines: four whole numbers, the broken line of each of the listings A to D",
    points=4,
    minutes=20,
    difficulty=4,
    kind="value",
    parts=("listing A", "listing B", "listing C", "listing D"),
    reference=lambda: _LINES,
    make_cases=lambda rng: iter([Case("your four line numbers")]),
    mistakes=(
        Mistake(
            "a-the-last-keys",
            _four(a=19),
            "Three of four are right. In listing A, line 19 keeps the last keys, as it should. What is "
            "wrong from then on is where the next token is put.",
        ),
        Mistake(
            "a-the-counter",
            _four(a=21),
            "Three of four are right. In listing A, line 21 counts what was read, rightly. Which line "
            "should ask it?",
        ),
        Mistake(
            "a-the-mask",
            _four(a=22),
            "Three of four are right. In listing A, line 22 lets a single new token see all that is kept, "
            "and that is right. Look at what happens before.",
        ),
        Mistake(
            "a-where-it-is-added",
            _four(a=15),
            "Three of four are right. In listing A, line 15 adds the rows of the positions that it is "
            "given. Which line makes them?",
        ),
        Mistake(
            "b-what-is-asked",
            _four(b=12),
            "Three of four are right. In listing B, line 12 cuts what is known and what is asked, rightly: "
            "each token is asked for the next. Which of these are fair questions?",
        ),
        Mistake(
            "b-the-mask-is-made",
            _four(b=8),
            "Three of four are right. In listing B, line 8 marks the tokens, and only these. Is the mark "
            "used for the right ones later?",
        ),
        Mistake(
            "b-the-mean",
            _four(b=20),
            "Three of four are right. In listing B, line 20 takes the mean over what counts. What counts "
            "was decided before.",
        ),
        Mistake(
            "c-where-the-type-comes-from",
            _four(c=16),
            "Three of four are right. In listing C, line 16 hands on in which type the finished table is "
            "wanted, and that is right. Where is the type used too early?",
        ),
        Mistake(
            "c-the-table",
            _four(c=10),
            "Three of four are right. In listing C, line 10 makes room for numbers between -1 and 1, which "
            "float16 holds well. Which numbers does it not hold well?",
        ),
        Mistake(
            "c-the-angles",
            _four(c=9),
            "Three of four are right. In listing C, line 9 multiplies what it is given, in float64. What "
            "is it given?",
        ),
        Mistake(
            "d-the-mask",
            _four(d=15),
            "Three of four are right. In listing D, nobody reacts to the words of another text, so line 15 "
            "is innocent. What else does a text need to be as it would be alone?",
        ),
        Mistake(
            "d-the-difference",
            _four(d=9),
            "Three of four are right. In listing D, line 9 takes the start of its text away from each "
            "column, which is right if the starts are. Are they?",
        ),
        Mistake(
            "d-the-ends",
            _four(d=6),
            "Three of four are right. In listing D, line 6 adds the lengths up, and finds where each text "
            "ends. Is a start made of it rightly?",
        ),
        Mistake(
            "counted-from-zero",
            lambda: tuple(line - 1 for line in _LINES),
            "You count from 0. The lines are numbered from 1, in the comment at the end of each.",
        ),
    ),
    alternatives=(
        lambda: list(_LINES),
        lambda: np.array(_LINES),
        lambda: tuple(map(float, _LINES)),
    ),
    hints=(
        "Read the symptom first. Which lines run in the case that goes wrong, and not in the one that goes "
        "right?",
        "Write shapes and positions behind the lines, for the smallest case that shows the symptom.",
        "Copy a listing into a cell, and put to it the test of the chapter that belongs to its symptom.",
    ),
)

EXERCISES = (
    HONEST_LOSS,
    HOW_FAR_AHEAD,
    CATCHES,
    PADDING_FAULT,
    POSITIONS_FROM_MASK,
    PADDED_WEIGHTS,
    PADDED_ATTENTION,
    POSITIONS_IN_TEXT,
    MAY_LOOK,
    TARGETS_THAT_COUNT,
    SEEN,
    ATTEND_CACHED,
    CACHED_STEP,
    DIAGNOSE,
    WHAT_WAS_ROUNDED,
    HALF_TABLE,
    SERVE,
    TWO_CHECKPOINTS,
    BROKEN_LINES,
)
