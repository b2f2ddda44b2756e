"""Prove by test: does it use what is there?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_course.exercises.ch04_extrapolation._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each
from posenc_lib._arrays import Array


@dataclass(frozen=True)
class Reader:
    """A model that may be asked: tokens 0 .. 9, (n,), to one number for each token, (n,)."""

    reads: str
    reach: int = 1  # how many tokens back it looks, the token itself counted

    def __call__(self, tokens: Array) -> Array:
        given = np.asarray(tokens, dtype=np.int64)
        if ((given < 0) | (given > 9)).any():
            raise ValueError("give tokens from 0 to 9: this model knows no others")
        return np.array([self._last(given[: t + 1]) for t in range(len(given))])

    def _last(self, tokens: Array) -> float:
        near, far = tokens[-self.reach :], tokens[: -self.reach]
        here = float(near @ 1.5 ** -np.arange(len(near))[::-1])
        match self.reads:
            case "far in order":
                here += float(far @ 1.3 ** np.arange(len(far)))
            case "far as a bag":
                here += float((far**2).sum())
            case "far faintly":
                here += 2e-6 * float(far.sum())
            case "first":
                here += float(tokens[0])
            case "middle":
                here += float(far[len(far) // 2]) if len(far) else 0.0
            case "just past":
                here += float(far[-1]) if len(far) else 0.0
            case "difference":
                here += float((far[0] - far[1]) % 10) if len(far) > 1 else 0.0
            case "position":
                here += float(np.sin(len(tokens)))
            case "rounding":
                here += 1e-13 * float(far.sum())  # as a sum in another order may be off
        return here


DEAF = {
    "a model that reads its window only": "window",
    "a model that reads less than its window": "less",
    "a model that reads its window, and knows the position": "position",
    "a model that reads its window, and rounds a little differently each time": "rounding",
    "a text shorter than the window": "short",
}

LISTENING = {
    "a model that reads all tokens, in order": "far in order",
    "a model that adds up the far tokens": "far as a bag",
    "a model that reads the far tokens very faintly": "far faintly",
    "a model that reads its window and the first token": "first",
    "a model that reads its window and one token in the middle": "middle",
    "a model that reads one token past the window": "just past",
    "a model that compares two far tokens": "difference",
}

ONE_HEARD = ("first", "middle", "just past")
"""What a model may read that reads one far token only."""


def _tokens_for(reads: str, heard: int | None, length: int, window: int, rng: Generator) -> Array:
    """All differ, so that to exchange two of them is to change them; `heard` is where the model listens."""
    tokens = rng.permutation(10)
    if heard is not None:
        far = length - window
        place = {"first": 0, "middle": far // 2, "just past": far - 1}[reads]
        other = int(np.flatnonzero(tokens == heard)[0])
        tokens[[place, other]] = tokens[[other, place]]
    return tokens[:length]


def _reader_cases(rng: Generator) -> Iterator[Case]:
    many = [label for label, reads in LISTENING.items() if reads not in ONE_HEARD]
    one = [label for label, reads in LISTENING.items() if reads in ONE_HEARD]
    # Each token is heard somewhere: to set all to one and the same must not pass for changing them.
    listening = [*((label, None) for label in many), *((one[n % len(one)], n) for n in range(10))]
    for label, heard in enough_of_each(rng, [(label, None) for label in DEAF], listening):
        reads = {**DEAF, **LISTENING}[label]
        window = int(rng.integers(3, 7))
        # Three far tokens or more: the first, one in the middle, and the one just past the window.
        length = window - 2 if reads == "short" else int(rng.integers(window + 3, 11))
        reader = Reader(
            "window" if reads in ("less", "short") else reads, window - 2 if reads == "less" else window
        )
        yield Case(label, (reader, _tokens_for(reads, heard, length, window, rng), window))


def _last_of(predict: Callable[[Array], Any], tokens: Array) -> float:
    return float(np.asarray(predict(tokens))[-1])


def _changed(tokens: Array, place: int, by: int = 1) -> Array:
    other = tokens.copy()
    other[place] = (other[place] + by) % 10
    return other


def _deaf_to(
    places: Callable[[int, int], Any], slack: float = 1e-9
) -> Callable[[Callable[[Array], Any], Array, int], bool]:
    """Whether the last output stays when the tokens at these places are changed one by one."""

    def deaf(predict: Callable[[Array], Any], tokens: Array, window: int) -> bool:
        before = _last_of(predict, tokens)
        return all(
            abs(_last_of(predict, _changed(tokens, place)) - before) <= slack
            for place in places(len(tokens), window)
        )

    return deaf


_forgets = _deaf_to(lambda n, window: range(n - window))


def _set_to(token: int) -> Callable[[Callable[[Array], Any], Array, int], bool]:
    """Each far token is set to this one, by itself."""

    def deaf(predict: Callable[[Array], Any], tokens: Array, window: int) -> bool:
        before = _last_of(predict, tokens)
        return all(
            abs(_last_of(predict, np.where(np.arange(len(tokens)) == place, token, tokens)) - before) <= 1e-9
            for place in range(len(tokens) - window)
        )

    return deaf


def _wrong_about(reads: str) -> Callable[[tuple[Any, ...], bool], bool]:
    """Whether the verdict on a model that reads so is right."""
    return lambda args, value: args[0].reads != reads or value is _forgets(*args)


def _right_of_short(args: tuple[Any, ...], value: bool) -> bool:
    return value or len(args[1]) > args[2]


def _right_of_deaf(args: tuple[Any, ...], value: bool) -> bool:
    return value or args[0].reads != "window" or len(args[1]) <= args[2]


def _cut_off(predict: Callable[[Array], Any], tokens: Array, window: int) -> bool:
    return abs(_last_of(predict, tokens) - _last_of(predict, tokens[-window:])) <= 1e-9


def _far_reversed(predict: Callable[[Array], Any], tokens: Array, window: int) -> bool:
    far = max(len(tokens) - window, 0)
    other = np.concatenate([tokens[:far][::-1], tokens[far:]])
    return abs(_last_of(predict, tokens) - _last_of(predict, other)) <= 1e-9


def _all_at_once(predict: Callable[[Array], Any], tokens: Array, window: int) -> bool:
    other = np.where(np.arange(len(tokens)) < len(tokens) - window, (tokens + 1) % 10, tokens)
    return abs(_last_of(predict, tokens) - _last_of(predict, other)) <= 1e-9


def _every_output(predict: Callable[[Array], Any], tokens: Array, window: int) -> bool:
    return all(
        np.allclose(predict(_changed(tokens, place)), predict(tokens), rtol=0, atol=1e-9)
        for place in range(len(tokens) - window)
    )


def _forgets_by_batch(predict: Callable[[Array], Any], tokens: Array, window: int) -> Any:
    answers = {round(_last_of(predict, tokens), 7)}
    for place in range(max(0, len(tokens) - window)):
        for by in range(1, 10):
            answers.add(round(_last_of(predict, _changed(tokens, place, by)), 7))
    return len(answers) == 1


def _forgets_by_search(predict: Callable[[Array], Any], tokens: Array, window: int) -> bool:
    place = len(tokens) - window - 1
    while place >= 0:
        other = _last_of(predict, _changed(tokens, place, by=3))
        if not np.isclose(other, _last_of(predict, tokens), rtol=0, atol=1e-8):
            return False
        place -= 1
    return True


def _forgets_by_difference(predict: Callable[[Array], Any], tokens: Array, window: int) -> Any:
    before = _last_of(predict, tokens)
    moved = [abs(_last_of(predict, _changed(tokens, p, by=-1)) - before) for p in range(len(tokens) - window)]
    return np.max(moved, initial=0.0) < 1e-6


FORGETS = Exercise(
    id="04-extrapolation.forgets",
    title="Prove by test: does it use what is there?",
    signature="forgets(predict: from tokens of shape (n,) to numbers of shape (n,), tokens: array of shape "
    "(n,), window: int) -> bool",
    points=4,
    minutes=15,
    difficulty=4,
    reference=_forgets,
    make_cases=_reader_cases,
    properties=(
        Property(
            _right_of_short,
            "This text is no longer than the window, so it has no far token, and nothing can change the "
            "output: the answer is True.",
        ),
        Property(
            _right_of_deaf,
            "This model reads its window and nothing else, and your test says that it does not. Does it "
            "change a token inside the window, or compare another output than the last?",
        ),
        Property(
            _wrong_about("position"),
            "This model reads its window, and knows at which position it is. Does your test make the text "
            "shorter or longer?",
        ),
        Property(
            _wrong_about("first"),
            "This model reads one far token, the first of the text. Does your test change that one, and "
            "always to a different token?",
        ),
        Property(
            _wrong_about("middle"),
            "This model reads one far token, in the middle of the others. Does your test change every far "
            "token, and always to a different one?",
        ),
        Property(
            _wrong_about("just past"),
            "This model reads one far token, the last before the window. Does your test change that one, and "
            "always to a different token?",
        ),
        Property(
            _wrong_about("far faintly"),
            "This model reads the far tokens faintly: its output moves by less than 0.0001. Compare with "
            "1e-9. np.isclose and np.allclose allow more than that unless you set rtol=0.",
        ),
        Property(
            _wrong_about("difference"),
            "This model compares two far tokens, so a change that both share does not show. Change them one "
            "by one.",
        ),
        Property(
            _wrong_about("far as a bag"),
            "This model adds up the far tokens, in any order. Change a far token to one that was not there.",
        ),
    ),
    mistakes=(
        Mistake(
            "cut-off",
            _cut_off,
            "You take far tokens out. That also moves the others to new positions, and a model that knows "
            "positions may answer differently without reading a single far token. Leave the text as long as "
            "it is, and change a far token to a different one.",
        ),
        Mistake(
            "first-token-only",
            _deaf_to(lambda n, window: range(min(1, max(n - window, 0)))),
            "Only the first token decides. A model may ignore that one and read other far ones: try every "
            "token before the last window tokens. Is there a return inside your loop, in its first round?",
        ),
        Mistake(
            "nearest-far-token-only",
            _deaf_to(lambda n, window: range(max(n - window - 1, 0), n - window)),
            "Only the token just before the window decides. A model may read another one, the first say: try "
            "every token before the last window tokens. Does your loop overwrite what it found earlier?",
        ),
        *(
            Mistake(
                f"set-to-{token}",
                _set_to(token),
                f"A model that reads one far token goes unnoticed where that token is {token}. Do you set "
                f"each far token to {token}? Then nothing changes there. Change each one to a different "
                "token, (token + 1) % 10, and compare with abs().",
            )
            for token in (0, 1, 5, 9)
        ),
        Mistake(
            "reversed",
            _far_reversed,
            "You put the far tokens into another order. A model that adds them up reads all of them, and "
            "does not notice. Change a far token to a different one.",
        ),
        Mistake(
            "all-at-once",
            _all_at_once,
            "You change all far tokens at once and by the same step. A model that compares two of them does "
            "not notice. Change them one by one.",
        ),
        Mistake(
            "every-output",
            _every_output,
            "Wherever there is a far token, your test finds a change. Do you compare all outputs? Those of "
            "early tokens may change, since for them these tokens are near: compare the last one only. Or do "
            "you change tokens inside the window? The far ones are the first n - window.",
        ),
        Mistake(
            "middle-token-only",
            _deaf_to(lambda n, window: range((n - window) // 2, (n - window) // 2 + 1) if n > window else ()),
            "Only one far token is changed, in the middle. A model may ignore that one and read another: try "
            "every token before the last window tokens.",
        ),
        Mistake(
            "into-the-window",
            _deaf_to(lambda n, window: range(max(n - window + 1, 0))),
            "You also change the first token inside the window, which the model may read. The far ones are "
            "the first n - window tokens: range(n - window).",
        ),
        Mistake(
            "one-token-short",
            _deaf_to(lambda n, window: range(n - window - 1)),
            "The token just before the window is left out. The far ones are the first n - window tokens: "
            "range(n - window).",
        ),
        Mistake(
            "exactly-equal",
            _deaf_to(lambda n, window: range(n - window), slack=0.0),
            "You ask for exactly the same output. A difference of 1e-9 or less is rounding, and no change.",
        ),
        Mistake(
            "too-tolerant",
            _deaf_to(lambda n, window: range(n - window), slack=1e-2),
            "You overlook small changes. Far tokens are often read faintly, and faintly is not never: allow "
            "for rounding only, such as 1e-9. np.isclose and np.allclose allow more unless you set rtol=0.",
        ),
        Mistake(
            "opposite",
            lambda predict, tokens, window: not _forgets(predict, tokens, window),
            "The answer is the wrong way round: return True where no far token changes the last output.",
        ),
    ),
    alternatives=(_forgets_by_batch, _forgets_by_search, _forgets_by_difference),
    hints=(
        "The last output of `predict(tokens)` is your reference. Which tokens must not be able to change it?",
        "The far tokens are the first `n - window` ones. Copy `tokens`, change one of them to `(token + 1) "
        "% 10`, and ask `predict` again.",
        "Return `False` as soon as one change moves the last output, and `True` after the loop.",
    ),
)
