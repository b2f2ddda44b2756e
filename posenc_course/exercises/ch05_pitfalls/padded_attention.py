"""A batch for your decoder: Attention with padding."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch05_pitfalls._shared import PADDING, Generator, _mask, softmax
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.attention import attention


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
        weights = np.where(seen, softmax(np.where(seen, scores, -1e30)), 0.0)
        return weights @ v * (mask[:, None, :, None] if zeroed else 1)

    return attend


def _past_of(mask: Array) -> Array:
    return np.tri(mask.shape[1], dtype=bool)


def _keys_of(mask: Array) -> Array:
    return np.asarray(mask[:, None, None, :] == 1)


_padded_attention = _padded_by(lambda mask: _keys_of(mask) & _past_of(mask))


def _padded_attention_without_past(q: Array, k: Array, v: Array, mask: Array) -> Array:
    """Later tokens get the score 0, and are not hidden."""
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]) * _past_of(mask)
    weights = softmax(np.where(_keys_of(mask), scores, -1e30))
    return np.asarray(weights @ v * mask[:, None, :, None])


def _first_token_keeps_its_value(args: tuple[Array, Array, Array, Array], value: Array) -> bool:
    first = (args[3] == 1) & (np.cumsum(args[3], axis=1) == 1)
    return np.allclose(np.moveaxis(value, 1, 2)[first], np.moveaxis(args[2], 1, 2)[first])


def _padded_token_by_token(q: Array, k: Array, v: Array, mask: Array) -> Array:
    """Each sentence alone, without its padding, and put back to where it stood."""
    out = np.zeros_like(v)
    for sentence, real in enumerate(mask.astype(bool)):
        at = np.flatnonzero(real)
        for last in range(len(at)):
            here = at[: last + 1]
            scores = (k[sentence][:, here] @ q[sentence][:, at[last], :, None])[..., 0]
            weights = softmax(scores / np.sqrt(q.shape[-1]))
            out[sentence][:, at[last]] = (weights[..., None] * v[sentence][:, here]).sum(axis=1)
    return out


def _padded_by_library(q: Array, k: Array, v: Array, mask: Array) -> Array:
    out = attention(q, k, v, causal=True, mask=mask[:, None, None, :] == 1)
    return np.asarray(np.where(mask[:, None, :, None] == 1, out, 0.0))


PADDED_ATTENTION = Exercise(
    id="05-pitfalls.padded_attention",
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
    where_not_finite="Padding on the left sees nobody. If all scores of a row are minus infinity, the "
    "softmax is 0 / 0. Take a large negative number such as -1e30 instead, and set the rows of padding to 0 "
    "at the end.",
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
        Property(
            _first_token_keeps_its_value,
            "The first token of each sentence sees only itself, so its row must be its own v. Which keys "
            "does it see, and along which axis do its weights sum to 1?",
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
                softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))
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
            "The rows of the tokens are right. Padding on the right still gets a mix of the tokens before "
            "it: set the rows of padding to 0.",
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
            "Each token looks at itself and at what comes after it: the triangle is the wrong way round.",
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
            "divided-by-the-width",
            lambda q, k, v, mask: _padded_attention(q / np.sqrt(q.shape[-1]), k, v, mask),
            "The masks are right. The scores are divided by head_dim itself. Divide by its root.",
        ),
        Mistake(
            "multiplied-by-the-root",
            lambda q, k, v, mask: _padded_attention(q * q.shape[-1], k, v, mask),
            "The masks are right. The scores are multiplied by the root of head_dim. Divide by it.",
        ),
        Mistake(
            "scale-of-the-tokens",
            lambda q, k, v, mask: _padded_attention(q * np.sqrt(q.shape[-1] / q.shape[-2]), k, v, mask),
            "The masks are right. The scores are divided by the root of n. What counts is the width of a "
            "head, q.shape[-1].",
        ),
        Mistake(
            "causal-after-softmax",
            lambda q, k, v, mask: (
                _padded_by(_keys_of, zeroed=False)(q, k, np.eye(mask.shape[1]), mask)
                * _past_of(mask)
                @ v
                * mask[:, None, :, None]
            ),
            "Padding is hidden before the softmax, as it should be, but later tokens only after it, so the "
            "weights that are left no longer sum to 1. Hide both before the softmax.",
        ),
        Mistake(
            "later-scores-at-0",
            lambda q, k, v, mask: _padded_attention_without_past(q, k, v, mask),
            "The scores of later tokens are multiplied by 0. A score of 0 is a weight like any other: give "
            "them a very large negative number.",
        ),
        Mistake(
            "queries-and-keys-swapped",
            lambda q, k, v, mask: _padded_attention(k, q, v, mask),
            "Queries and keys are swapped: the scores are q @ k.swapaxes(-1, -2), a row for each query.",
        ),
        Mistake(
            "weights-not-mixed",
            lambda q, k, v, mask: _padded_attention(q, k, k, mask),
            "The weights are right, but they mix the keys. Mix the values.",
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
        "Two things hide a key from a query: it is padding, or it comes later. One array of truth values can "
        "hold both, if it broadcasts to `(batch, heads, n, n)`.",
        "`mask[:, None, None, :]` is along the keys; `np.tri(n, dtype=bool)` lets a query look back.",
        "Set the scores of what is hidden to a very large negative number such as `-1e30`: minus infinity "
        "gives NaN in a row where all is hidden. At the end multiply by `mask[:, None, :, None]`.",
    ),
)
