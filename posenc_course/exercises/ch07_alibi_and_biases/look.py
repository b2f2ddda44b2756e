"""A trained decoder, of your own functions: A layer looks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch07_alibi_and_biases._decoder import (
    WHOLE,
    Generator,
    Model,
    _layer,
    _look,
    _normed,
    _turned,
    attend,
    looked_by_einsum,
    settings,
)
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _look_cases(rng: Generator) -> Iterator[Case]:
    for label, encoding, heads, width, kept, n in (
        ("RoPE, from the start", "rope", 2, 4, 0, 5),
        ("ALiBi, from the start", "alibi", 2, 4, 0, 5),
        ("RoPE, one new row after six", "rope", 2, 4, 6, 1),
        ("ALiBi, one new row after six", "alibi", 2, 4, 6, 1),
        ("RoPE, three new rows after four", "rope", 4, 2, 4, 3),
        ("ALiBi, three new rows after four", "alibi", 4, 4, 4, 3),
    ):
        past = rng.normal(size=(2, heads, kept, width))
        x = rng.normal(size=(n, heads * width))
        yield Case(
            label, (x, _layer(rng, heads, width), settings(encoding, heads, 50.0 if kept else 300.0), past)
        )


def _looked_head_by_head(x: Array, layer: Model, model: Model, past: Array) -> tuple[Any, Any]:
    heads, width = past.shape[1], past.shape[3]
    q, k, v = np.split(x @ layer["qkv"].T, 3, axis=1)
    found, keys, values = [], [], []
    for h in range(heads):
        own = slice(h * width, (h + 1) * width)
        q_h, k_h = _normed(q[:, own], layer["norm_q"]), _normed(k[:, own], layer["norm_k"])
        if model["encoding"] == "rope":
            q_h, k_h = (_turned(each[None], past.shape[2], model["base"])[0] for each in (q_h, k_h))
        keys.append(np.concatenate([past[0, h], k_h]))
        values.append(np.concatenate([past[1, h], v[:, own]]))
        slope = 2.0 ** (-8 * (h + 1) / heads) if model["encoding"] == "alibi" else 0.0
        found.append(attend(q_h[None], keys[h][None], values[h][None], np.array([slope]))[0])
    return np.concatenate(found, axis=1) @ layer["out"].T, [keys, values]


LOOK = Exercise(
    id="07-alibi-and-biases.look",
    title="A layer looks",
    step_of=WHOLE,
    adds="Your decoder gets trained heads, with normed queries and keys, and a cache.",
    signature="look(x: (n, dim), layer: dict of arrays, model: dict, past: (2, heads, m, width)) "
    "-> (rows (n, dim), kept (2, heads, m + n, width))",
    points=3,
    minutes=18,
    difficulty=4,
    reference=lambda x, layer, model, past: _look(x, layer, model, past),
    make_cases=_look_cases,
    parts=("what the layer adds to the rows", "keys and values that are kept"),
    properties=(
        Property(
            lambda args, value: np.allclose(value[1][:, :, : args[-1].shape[2]], args[-1]),
            "What you keep must begin with what was kept before, as it was: new keys and values go behind "
            "it.",
        ),
    ),
    mistakes=(
        Mistake(
            "queries-and-keys-not-normed",
            lambda x, layer, model, past: _look(x, layer, model, past, normed=""),
            "Queries and keys were not brought to one size. Each row of a head goes through your normed, "
            "with the gains norm_q and norm_k.",
        ),
        Mistake(
            "queries-alone-normed",
            lambda x, layer, model, past: _look(x, layer, model, past, normed="q"),
            "Only the queries were normed. The keys have gains of their own, norm_k.",
        ),
        Mistake(
            "values-normed",
            lambda x, layer, model, past: _look(x, layer, model, past, normed="qkv"),
            "The values were normed too. They stay as they are.",
        ),
        Mistake(
            "turned-before-normed",
            lambda x, layer, model, past: _look(x, layer, model, past, turn_first=True),
            "You turned queries and keys first and normed them afterwards, so the gains of the columns come "
            "after the turn. Norm first.",
        ),
        Mistake(
            "never-turned",
            lambda x, layer, model, past: _look(x, layer, model, past, turned=""),
            "Nothing turns where the model has RoPE. Send queries and keys through your turned.",
        ),
        Mistake(
            "values-turned",
            lambda x, layer, model, past: _look(x, layer, model, past, turned="qkv"),
            "The values turned too. RoPE turns queries and keys alone.",
        ),
        Mistake(
            "turned-from-zero",
            lambda x, layer, model, past: _look(x, layer, model, past, start=0),
            "New rows turn as if they began at position 0. They come after what is kept: start at the "
            "number of keys in past.",
        ),
        Mistake(
            "past-not-read",
            lambda x, layer, model, past: _look(x, layer, model, past, remember=False),
            "You did not read what is kept. The new keys and values go behind the kept ones, and the "
            "queries see all of them.",
        ),
        Mistake(
            "new-ones-alone-kept",
            lambda x, layer, model, past: _look(x, layer, model, past, keep="new"),
            "Only the new keys and values are returned as kept. Put them behind the old ones: the next token "
            "needs all.",
        ),
        Mistake(
            "raw-keys-kept",
            lambda x, layer, model, past: _look(x, layer, model, past, keep="raw"),
            "The keys were kept as they came out of the product. Keep them as the queries saw them, normed "
            "and turned.",
        ),
        Mistake(
            "no-slopes",
            lambda x, layer, model, past: _look(x, layer, model, past, slopes=np.zeros),
            "Nothing fades where the model has ALiBi. Its heads have the slopes of chapter 7.",
        ),
        Mistake(
            "slopes-of-eight-heads",
            lambda x, layer, model, past: _look(
                x, layer, model, past, slopes=lambda heads: 2.0 ** -np.arange(1, heads + 1)
            ),
            "The slopes are 1/2, 1/4 and so on, as for eight heads. For a power of two they are 2 to the "
            "power of -8 h / heads, for h from 1.",
        ),
        Mistake(
            "both-doors",
            lambda x, layer, model, past: _look(x, layer, model, past, both_doors=True),
            "Your layer always turns and always fades. Which of the two a model does is in its encoding.",
        ),
        Mistake(
            "heads-not-joined",
            lambda x, layer, model, past: _look(
                x, layer, model, past, columns=lambda found: found.reshape(found.shape[1], -1)
            ),
            "The heads were joined without bringing the tokens to the front: rows of different tokens are "
            "mixed. Swap the first two axes before reshape.",
        ),
        Mistake(
            "without-out",
            lambda x, layer, model, past: _look(x, layer, model, past, last=False),
            "The last product is missing: what the heads found, side by side, goes through out.",
        ),
        Mistake(
            "keys-first",
            lambda x, layer, model, past: _look(x, layer, model, past, order="kqv"),
            "Queries and keys were exchanged. The first third of the rows of the matrix makes the queries.",
        ),
        Mistake(
            "heads-cut-from-tokens",
            lambda x, layer, model, past: _look(
                x, layer, model, past, split=lambda rows, heads: rows.reshape(heads, len(rows), -1)
            ),
            "You reshaped rows straight to (heads, n, width), so a head gets the numbers of several tokens. "
            "Reshape to (n, heads, width), then swap the first two axes.",
        ),
        Mistake(
            "heads-take-turns",
            lambda x, layer, model, past: _look(
                x,
                layer,
                model,
                past,
                split=lambda rows, heads: rows.reshape(len(rows), -1, heads).transpose(2, 0, 1),
            ),
            "Your heads take turns column by column. Head 0 gets the first columns, as in chapter 3: "
            "reshape to (n, heads, width).",
        ),
        Mistake(
            "gains-exchanged",
            lambda x, layer, model, past: _look(
                x, {**layer, "norm_q": layer["norm_k"], "norm_k": layer["norm_q"]}, model, past
            ),
            "The gains are swapped: norm_q belongs to the queries, norm_k to the keys.",
        ),
        Mistake(
            "one-gain-for-both",
            lambda x, layer, model, past: _look(x, {**layer, "norm_k": layer["norm_q"]}, model, past),
            "The keys were normed with the gains of the queries. They have gains of their own, norm_k.",
        ),
        Mistake(
            "out-not-transposed",
            lambda x, layer, model, past: _look(x, {**layer, "out": layer["out"].T}, model, past),
            "The last product is with out as it is. A matrix of the file has a row for each number that "
            "comes out: multiply by out.T.",
        ),
        Mistake(
            "x-added",
            lambda x, layer, model, past: (
                x + _look(x, layer, model, past)[0],
                _look(x, layer, model, past)[1],
            ),
            "Your result contains the rows that came in. The whole decoder adds them later; return only "
            "what will be added.",
        ),
        Mistake(
            "normed-before",
            lambda x, layer, model, past: _look(_normed(x, layer["norm1"]), layer, model, past),
            "You normed the rows x with norm1. The whole decoder does that; look gets them as they should "
            "be.",
        ),
        Mistake(
            "heads-as-start",
            lambda x, layer, model, past: _look(x, layer, model, past, start=past.shape[1]),
            "New rows begin at the number of heads. They come after what is kept: past.shape[2].",
        ),
        Mistake(
            "one-too-far",
            lambda x, layer, model, past: _look(x, layer, model, past, start=past.shape[2] + 1),
            "New rows begin one position too far. What is kept holds positions 0 to m - 1, so the next one "
            "is m.",
        ),
        Mistake(
            "slopes-from-zero",
            lambda x, layer, model, past: _look(
                x, layer, model, past, slopes=lambda heads: 2.0 ** (-8 * np.arange(heads) / heads)
            ),
            "Your slopes begin with h = 0, so the first is 1. Count h from 1 to heads.",
        ),
        Mistake(
            "base-10000",
            lambda x, layer, model, past: _look(x, layer, {**model, "base": 10000.0}, past),
            "You used base 10,000. Use the base of the model.",
        ),
    ),
    alternatives=(
        _looked_head_by_head,
        looked_by_einsum,
        lambda x, layer, model, past: list(_look(np.asarray(x, dtype=np.float64), dict(layer), model, past)),
    ),
    hints=(
        'Cut `layer["qkv"]` into three with `np.split`, multiply, and split each into heads as in chapter 3.',
        "Then norm queries and keys, and turn them if the model has RoPE. The new rows begin at position "
        "`past.shape[2]`.",
        "`np.concatenate([past, [k, v]], axis=2)` is what is kept, and what `attend` sees. Without ALiBi all "
        "slopes are 0.",
    ),
)
