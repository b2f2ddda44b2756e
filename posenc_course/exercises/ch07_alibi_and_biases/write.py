"""A trained decoder, of your own functions: Write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_course.trained import COURSE, trained_model
from posenc_course.translation import _
from posenc_lib._arrays import Array


def _shares(row: Array, temperature: float) -> Array:
    raised = np.exp((row - row.max()) / temperature)
    return np.asarray(raised / raised.sum())


def _chosen(row: Array, draw: float, temperature: float) -> int:
    return min(int((np.cumsum(_shares(row, temperature)) <= draw).sum()), len(row) - 1)


def _write(
    tokens: Any,
    draws: Array,
    model: Model,
    temperature: float,
    *,
    heat: Callable[[float], float] = lambda temperature: temperature,
    choose: Callable[[Array, float, float], int] = _chosen,
    row: int = -1,
    forget: bool = False,
    read_again: bool = False,
    grow: bool = True,
) -> Array:
    """Token after token; what may be done differently has a name."""
    new, past, text = np.asarray(tokens), empty(model), []
    for draw in draws:
        scores, kept = decode(new, model, past)
        past = empty(model) if forget else kept
        text.append(choose(scores[row], float(draw), heat(temperature)))
        if read_again:
            new = np.concatenate([tokens, text])
        elif grow:
            new = np.asarray(text[-1:])
    return np.asarray(text)


def _write_cases(rng: Generator) -> Iterator[Case]:
    for label, encoding, layers, n, steps, temperature, size in (
        ("RoPE, warm", "rope", 1, 3, 12, 1.5, (4, 6)),
        ("ALiBi, warm", "alibi", 1, 3, 12, 1.5, (2, 4)),
        ("RoPE, cool, two layers", "rope", 2, 5, 4, 0.6, (2, 4)),
        ("one token to begin with", "alibi", 1, 1, 5, 0.8, (2, 4)),
        ("one token more", "alibi", 2, 5, 1, 1.0, (2, 4)),
    ):
        tokens, draws = rng.integers(0, 11, size=n), rng.random(steps)
        yield Case(label, (tokens, draws, _model(rng, encoding, *size, layers=layers), temperature))
    # With four alike, every sum of shares is exact.
    model = _model(rng, "rope", layers=1)
    model = {**model, "embedding": model["embedding"][:4], "head": np.zeros_like(model["head"][:4])}
    tokens, draws = rng.integers(0, 4, size=3), np.array([0.25, 0.5, 0.75, 0.0])
    yield Case("four tokens all alike, and draws on the borders", (tokens, draws, model, 1.0))


def _written_by_the_whole(tokens: Any, draws: Array, model: Model, temperature: float) -> list[int]:
    """Without a cache: the whole text is read again for each token."""
    text = [int(each) for each in tokens]
    for draw in draws:
        scores, _ = decoded_in_a_row(np.asarray(text), model, empty(model))
        shares = np.exp(scores[-1] / temperature)
        text.append(int(np.searchsorted(np.cumsum(shares) / shares.sum(), draw, side="right")))
    return text[len(tokens) :]


def _written_in_a_loop(tokens: Any, draws: Array, model: Model, temperature: float) -> list[int]:
    scores, past = decode(tokens, model, empty(model))
    text: list[int] = []
    for draw in draws.tolist():
        if text:
            scores, past = decode([text[-1]], model, past)
        row = scores[-1] / temperature
        shares = np.exp(row - row.max())
        left = draw * shares.sum()
        text.append(0)
        while (left := left - shares[text[-1]]) >= 0:
            text[-1] += 1
    return text


PROMPT = """\
class Timer:
    def __init__(self, name):
        self.name = name

    def \
"""
"""What the trained models are given to continue. It is in no file that they have read."""


WRITTEN = 72
"""Bytes: a page waits for them, on a slow telephone too."""


def _let_it_write(write: Callable[..., Any]) -> str:
    """What a learner's `write` makes of the trained weights."""
    parts = [_("Your decoder loads the trained weights, reads the beginning of a class, and goes on:")]
    for name, title in zip(COURSE, (_("with your RoPE"), _("with your ALiBi")), strict=True):
        draws = np.random.default_rng(0).random(WRITTEN)
        new = write(
            np.frombuffer(PROMPT.encode(), dtype=np.uint8).astype(int), draws, trained_model(name), 0.6
        )
        written = bytes(np.asarray(new).astype(np.uint8).tolist()).decode("latin-1")
        parts.append(f"—— {title} ——\n{PROMPT}{written}")
    return "\n\n".join(parts)


WRITE = Exercise(
    id="07-alibi-and-biases.write",
    title="Write",
    step_of=WHOLE,
    adds="Your decoder writes, with trained weights, your own RoPE and your own ALiBi.",
    signature="write(tokens: whole numbers (n,), draws: (steps,) from 0 to 1, model: dict, "
    "temperature: float) -> whole numbers (steps,)",
    points=3,
    minutes=15,
    difficulty=3,
    reference=lambda tokens, draws, model, temperature: _write(tokens, draws, model, temperature),
    make_cases=_write_cases,
    afterwards=_let_it_write,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[1]),
            "Return the new tokens alone, one for each draw.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                (np.asarray(value) >= 0).all() and (np.asarray(value) < len(args[2]["head"])).all()
            ),
            "A token is a whole number from 0, below the number of rows of head.",
        ),
    ),
    mistakes=(
        Mistake(
            "the-likeliest",
            lambda tokens, draws, model, temperature: _write(
                tokens, draws, model, temperature, choose=lambda row, draw, heat: int(row.argmax())
            ),
            "You write the likeliest token each time, and the draws have no effect. Let the draw choose: "
            "write the first token at which the sum of the shares is above it.",
        ),
        Mistake(
            "temperature-forgotten",
            lambda tokens, draws, model, temperature: _write(
                tokens, draws, model, temperature, heat=lambda temperature: 1.0
            ),
            "The temperature has no effect. Divide the scores by it before the softmax.",
        ),
        Mistake(
            "temperature-multiplied",
            lambda tokens, draws, model, temperature: _write(
                tokens, draws, model, temperature, heat=lambda temperature: 1 / temperature
            ),
            "The scores were multiplied by the temperature, so that warm is cold. Divide by it.",
        ),
        Mistake(
            "first-row",
            lambda tokens, draws, model, temperature: _write(tokens, draws, model, temperature, row=0),
            "You read the scores of the first row. The last row says what comes next.",
        ),
        Mistake(
            "past-forgotten",
            lambda tokens, draws, model, temperature: _write(tokens, draws, model, temperature, forget=True),
            "Each new token is read without what came before it. Give decode what it kept the last time.",
        ),
        Mistake(
            "text-read-twice",
            lambda tokens, draws, model, temperature: _write(
                tokens, draws, model, temperature, read_again=True
            ),
            "The whole text is read again each time, although it is kept already. Read only the new token, "
            "together with what is kept.",
        ),
        Mistake(
            "what-is-written-is-not-read",
            lambda tokens, draws, model, temperature: _write(tokens, draws, model, temperature, grow=False),
            "What is written is never read. The next call of decode gets the token that was chosen.",
        ),
        Mistake(
            "one-too-low",
            lambda tokens, draws, model, temperature: _write(
                tokens,
                draws,
                model,
                temperature,
                choose=lambda row, draw, heat: max(_chosen(row, draw, heat) - 1, 0),
            ),
            "Each token is one too low. It is the first at which the sum, its own share included, is above "
            "the draw.",
        ),
        Mistake(
            "one-too-high",
            lambda tokens, draws, model, temperature: _write(
                tokens,
                draws,
                model,
                temperature,
                choose=lambda row, draw, heat: min(_chosen(row, draw, heat) + 1, len(row) - 1),
            ),
            "Each token is one too high. It is the first at which the sum, its own share included, is above "
            "the draw.",
        ),
        Mistake(
            "from-the-other-end",
            lambda tokens, draws, model, temperature: _write(
                tokens,
                draws,
                model,
                temperature,
                choose=lambda row, draw, heat: len(row) - 1 - _chosen(row[::-1], draw, heat),
            ),
            "The shares were added up from the last token on. Begin with token 0.",
        ),
        Mistake(
            "likeliest-first",
            lambda tokens, draws, model, temperature: _write(
                tokens,
                draws,
                model,
                temperature,
                choose=lambda row, draw, heat: int(np.argsort(-row)[_chosen(np.sort(row)[::-1], draw, heat)]),
            ),
            "The shares were sorted before they were added up. Add them in the order of the tokens, from 0.",
        ),
        Mistake(
            "text-given-back-too",
            lambda tokens, draws, model, temperature: np.concatenate(
                [tokens, _write(tokens, draws, model, temperature)]
            ),
            "The text that was given is returned too. Return the new tokens alone.",
        ),
        Mistake(
            "one-share-above-the-draw",
            lambda tokens, draws, model, temperature: _write(
                tokens,
                draws,
                model,
                temperature,
                choose=lambda row, draw, heat: int((_shares(row, heat) > draw).argmax()),
            ),
            "You look for a single share above the draw. Add the shares up, and take the first token at "
            "which their sum is above it.",
        ),
        Mistake(
            "nearest-share",
            lambda tokens, draws, model, temperature: _write(
                tokens,
                draws,
                model,
                temperature,
                choose=lambda row, draw, heat: int(np.abs(_shares(row, heat) - draw).argmin()),
            ),
            "You write the token whose share is nearest to the draw. Add the shares up, and take the first "
            "token at which their sum is above the draw.",
        ),
        Mistake(
            "all-tokens-alike",
            lambda tokens, draws, model, temperature: _write(
                tokens, draws, model, temperature, choose=lambda row, draw, heat: int(draw * len(row))
            ),
            "Each draw was multiplied by the number of tokens, so the scores have no effect. Add up the "
            "shares of the softmax.",
        ),
        Mistake(
            "last-token-alone-read",
            lambda tokens, draws, model, temperature: _write(tokens[-1:], draws, model, temperature),
            "Of the text that is given, only the last token was read. The first call of decode reads all of "
            "it.",
        ),
        Mistake(
            "one-draw-for-all",
            lambda tokens, draws, model, temperature: _write(
                tokens, np.full_like(draws, draws[0]), model, temperature
            ),
            "Every token was chosen with the first draw. Each has its own.",
        ),
    ),
    alternatives=(
        lambda tokens, draws, model, temperature: _written_by_the_whole(tokens, draws, model, temperature),
        lambda tokens, draws, model, temperature: _written_in_a_loop(tokens, draws, model, temperature),
        lambda tokens, draws, model, temperature: _write(tokens, draws, model, temperature).tolist(),
    ),
    hints=(
        "The cache begins empty: `np.zeros((layers, 2, heads, 0, width))`, with `width` the columns of one "
        "head.",
        "The last row of the scores, divided by the temperature, goes through a softmax. `np.cumsum` adds "
        "the shares up.",
        "First `decode` reads all tokens. From then on it reads the one that was just written, together with "
        "what is kept.",
    ),
)
