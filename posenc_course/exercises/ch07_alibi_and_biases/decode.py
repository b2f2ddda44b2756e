"""A trained decoder, of your own functions: From tokens to scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch07_alibi_and_biases._decoder import (
    WHOLE,
    Generator,
    Model,
    _model,
    decode,
    decoded_in_a_row,
    empty,
)
from posenc_course.exercises.ch07_alibi_and_biases._shared import softmax
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _decode_cases(rng: Generator) -> Iterator[Case]:
    for label, encoding, layers, kept, n in (
        ("RoPE, three layers", "rope", 3, 0, 3),
        ("ALiBi, two layers", "alibi", 2, 0, 4),
        ("RoPE, one new token after three", "rope", 2, 3, 1),
        ("ALiBi, two new tokens after two", "alibi", 2, 2, 2),
    ):
        model = _model(rng, encoding, layers=layers)
        tokens = rng.integers(0, 11, size=kept + n)
        past = empty(model)
        if kept:
            _, past = decode(tokens[:kept], model, past)
        yield Case(label, (tokens[kept:], model, past))


def _decoded_one_by_one(tokens: Any, model: Model, past: Array) -> tuple[Any, Any]:
    rows = []
    for token in tokens:
        scores, past = decode([token], model, past)
        rows.append(scores[0])
    return np.stack(rows), past


def _with_norms(model: Model, taken: dict[str, str]) -> Model:
    """The model whose layers have some gains in the place of others."""
    layers = [{**layer, **{name: layer[other] for name, other in taken.items()}} for layer in model["layers"]]
    return {**model, "layers": layers}


DECODE = Exercise(
    id="07-alibi-and-biases.decode",
    title="From tokens to scores",
    step_of=WHOLE,
    adds="Your decoder is whole: tokens go in, and a score for each token that may come next comes out.",
    signature="decode(tokens: whole numbers (n,), model: dict, past: (layers, 2, heads, m, width)) "
    "-> (scores (n, vocab), kept (layers, 2, heads, m + n, width))",
    points=3,
    minutes=15,
    difficulty=3,
    reference=lambda tokens, model, past: decode(tokens, model, past),
    make_cases=_decode_cases,
    parts=("the scores", "keys and values that are kept"),
    properties=(
        Property(
            lambda args, value: np.allclose(value[1][:, :, :, : args[-1].shape[3]], args[-1]),
            "What you keep must begin with what was kept before, as it was: new keys and values go behind "
            "it.",
        ),
    ),
    mistakes=(
        Mistake(
            "look-replaces",
            lambda tokens, model, past: decode(tokens, model, past, adds="t"),
            "What look finds replaces the rows. Add it to them.",
        ),
        Mistake(
            "think-replaces",
            lambda tokens, model, past: decode(tokens, model, past, adds="l"),
            "What think finds replaces the rows. Add it to them.",
        ),
        Mistake(
            "both-replace",
            lambda tokens, model, past: decode(tokens, model, past, adds=""),
            "What look and think find replaces the rows that came in. Add both to them.",
        ),
        Mistake(
            "no-first-norm",
            lambda tokens, model, past: decode(tokens, model, past, norms="2e"),
            "The rows were not normed before look. Each layer has the gains norm1 for that.",
        ),
        Mistake(
            "no-second-norm",
            lambda tokens, model, past: decode(tokens, model, past, norms="1e"),
            "The rows were not normed before think. Each layer has the gains norm2 for that.",
        ),
        Mistake(
            "no-last-norm",
            lambda tokens, model, past: decode(tokens, model, past, norms="12"),
            "The rows were not normed after the last layer. The model has the gains norm for that.",
        ),
        Mistake(
            "no-norms",
            lambda tokens, model, past: decode(tokens, model, past, norms=""),
            "All norms are missing: rows are normed before look, before think, and after the last layer.",
        ),
        Mistake(
            "first-layer-again",
            lambda tokens, model, past: decode(tokens, model, past, layer_of=lambda number: 0),
            "All layers have the weights of the first. Each has weights of its own in layers.",
        ),
        Mistake(
            "last-layer-first",
            lambda tokens, model, past: decode(
                tokens,
                model,
                past,
                layer_of=lambda number: len(model["layers"]) - 1 - number,
            ),
            "The layers came in the wrong order. Layer 0 reads the embeddings.",
        ),
        Mistake(
            "first-past-for-all",
            lambda tokens, model, past: decode(tokens, model, past, past_of=lambda number: 0),
            "All layers read what the first one kept. Layer number i reads past[i].",
        ),
        Mistake(
            "no-think",
            lambda tokens, model, past: decode(tokens, model, past, thinks=False),
            "Your layers look but do not think: the wide layer is missing.",
        ),
        Mistake(
            "think-first",
            lambda tokens, model, past: decode(tokens, model, past, think_first=True),
            "Each layer thinks before it has looked. First look, then think.",
        ),
        Mistake(
            "side-by-side",
            lambda tokens, model, past: decode(tokens, model, past, side_by_side=True),
            "Your think reads the rows as they were before look. Some models do that; these weights were "
            "trained one after the other.",
        ),
        Mistake(
            "embedding-for-head",
            lambda tokens, model, past: decode(tokens, model, past, matrix="embedding"),
            "You made the scores with the embedding. This model has a matrix of its own for that: head.",
        ),
        Mistake(
            "added-to-the-normed-rows",
            lambda tokens, model, past: decode(tokens, model, past, onto_normed=True),
            "What look and think find was added to the normed rows. Norm a copy for each of them, and add "
            "to the rows as they were before.",
        ),
        Mistake(
            "norms-exchanged",
            lambda tokens, model, past: decode(
                tokens, _with_norms(model, {"norm1": "norm2", "norm2": "norm1"}), past
            ),
            "The norms are swapped: norm1 comes before look, norm2 before think.",
        ),
        Mistake(
            "first-norm-twice",
            lambda tokens, model, past: decode(tokens, _with_norms(model, {"norm2": "norm1"}), past),
            "The rows were normed with norm1 before think too. There it is norm2.",
        ),
        Mistake(
            "embedding-scaled",
            lambda tokens, model, past: decode(
                tokens,
                {**model, "embedding": model["embedding"] * np.sqrt(model["embedding"].shape[1])},
                past,
            ),
            "The embeddings were multiplied by the root of their width, as in the first Transformer. These "
            "weights were trained without that.",
        ),
        Mistake(
            "softmax",
            lambda tokens, model, past: (
                softmax(decode(tokens, model, past)[0]),
                decode(tokens, model, past)[1],
            ),
            "You return shares, after a softmax. Return the scores themselves.",
        ),
        Mistake(
            "last-token-alone",
            lambda tokens, model, past: (
                decode(tokens, model, past)[0][-1],
                decode(tokens, model, past)[1],
            ),
            "You return the scores after the last token only. Return a row for each token.",
        ),
        Mistake(
            "past-returned-as-it-was",
            lambda tokens, model, past: (decode(tokens, model, past)[0], past),
            "The scores are right, but you return what was kept before. Return what look has kept, with the "
            "new tokens.",
        ),
    ),
    alternatives=(
        _decoded_one_by_one,
        decoded_in_a_row,
        lambda tokens, model, past: tuple(each.tolist() for each in decode(list(tokens), model, past)),
    ),
    hints=(
        'Begin with `x = model["embedding"][tokens]`. For each layer: norm, look, add; norm, think, add.',
        "Layer number i reads `past[i]`, and what it keeps goes into a list. `np.stack` makes one array.",
        'After the last layer: `normed(x, model["norm"])`, times `model["head"].T`.',
    ),
)
