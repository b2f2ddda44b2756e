"""Read these layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from posenc_course.exercises.ch10_position_from_content._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake

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
            "In layer B a token's content decides as well. Which token's, and does it stand between?",
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
            "In layer E, what is left of a token after three more: does it hang on which three?",
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
            "You take all that walks through the tokens for a fading. Compare what D, E and F do to the "
            "state before they add to it.",
        ),
        Mistake(
            "all-gates-alike",
            _but(a="content", b="content"),
            "A, B and C all have gates from content. Of whom, and how many for one token?",
        ),
        Mistake(
            "gates-of-all",
            _but(d="content"),
            "In layer D, how often does the gate of one token work on what another one has left?",
        ),
    ),
    alternatives=(
        lambda: list(RIGHT),
        lambda: tuple(word[:] for word in RIGHT),
        lambda: tuple(str(word) for word in RIGHT),
    ),
    hints=(
        "Take three tokens and write down what the first one counts for the last, layer by layer.",
        "Now put another token between the two, and then yet another. What changes?",
    ),
)
