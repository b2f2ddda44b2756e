"""Read these layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from posenc_course.exercises.ch10_position_from_content._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property

RIGHT = ("nothing", "distance", "content", "nothing", "distance", "content")


def _but(**wrong: str) -> Callable[[], tuple[str, ...]]:
    """The right words, but for these layers."""
    return lambda: tuple(wrong.get(name, word) for name, word in zip("abcdef", RIGHT, strict=True))


def _value_case(rng: Generator) -> Iterator[Case]:
    yield Case("your answer")


WHERE_FROM = Exercise(
    id="10-position-from-content.where_from",
    title="Read these layers",
    signature="where_from = (layer A, layer B, layer C, layer D, layer E, layer F), each a word",
    points=3,
    minutes=12,
    difficulty=3,
    kind="value",
    reference=lambda: RIGHT,
    make_cases=_value_case,
    properties=(
        Property(
            lambda args, value: value[0] == RIGHT[0],
            "For layer A: how many gates work on one token, and from which tokens are they made?",
        ),
        Property(
            lambda args, value: value[1] == RIGHT[1],
            "For layer B: which token makes the gate, and how often does it work on one that is further "
            "back?",
        ),
        Property(
            lambda args, value: value[2] == RIGHT[2],
            "For layer C: write down the product of gates for the first of three tokens. Which tokens make "
            "them?",
        ),
        Property(
            lambda args, value: value[3] == RIGHT[3],
            "For layer D: swap two tokens in the middle. Does the last state change?",
        ),
        Property(
            lambda args, value: value[4] == RIGHT[4],
            "For layer E: what happens to the state at a token before anything is added, and does it depend "
            "on that token?",
        ),
        Property(
            lambda args, value: value[5] == RIGHT[5],
            "For layer F: what does a token add to the state if its key is one that was there before?",
        ),
    ),
    parts=("layer A", "layer B", "layer C", "layer D", "layer E", "layer F"),
    mistakes=(
        Mistake(
            "a-gate-is-a-gate",
            _but(a="content"),
            "Layer A has gates, like layer C. Look at how many of them are multiplied for one token.",
        ),
        Mistake(
            "content-gives-distance",
            _but(b="content"),
            "In layer B a token's content decides as well. Which token's, and is it between the two?",
        ),
        Mistake(
            "gates-by-distance",
            _but(c="distance"),
            "In layer C, put a token with a small gate between two others, and one with a large gate. Is "
            "it the same?",
        ),
        Mistake(
            "a-state-knows-order",
            _but(d="distance"),
            "Layer D goes through the tokens in their order. Does its sum know that?",
        ),
        Mistake(
            "a-state-knows-no-order",
            _but(e="nothing"),
            "In layer E, how much is left of a token after three more?",
        ),
        Mistake(
            "fades-by-content",
            _but(e="content"),
            "In layer E, what is left of a token after three more: does it depend on which three?",
        ),
        Mistake(
            "erases-by-distance",
            _but(f="distance"),
            "In layer F, let a token in between have the same key, and then a key at a right angle to it. "
            "Is it the same?",
        ),
        Mistake(
            "erases-nothing",
            _but(f="nothing"),
            "In layer F, what does a token do to what the state holds under its key?",
        ),
        Mistake(
            "all-states-alike",
            _but(d="distance", f="distance"),
            "You treat every layer that goes through the tokens as one that fades. Compare what D, E and "
            "F do to the state before they add to it.",
        ),
        Mistake(
            "all-gates-alike",
            _but(a="content", b="content"),
            "A, B and C all have gates made from content. Whose content, and how many gates for one token?",
        ),
        Mistake(
            "gates-of-all",
            _but(d="content"),
            "In layer D, how often does the gate of one token change what another one has left?",
        ),
    ),
    alternatives=(
        lambda: list(RIGHT),
        lambda: tuple(word[:] for word in RIGHT),
        lambda: tuple(str(word) for word in RIGHT),
    ),
    hints=(
        "Take three tokens and write down what the first one counts for the last, layer by layer.",
        "Now put another token between the first and the last, and then a different one. What changes?",
    ),
)
