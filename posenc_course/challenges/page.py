"""What the page of challenges asks, and what it is told: plain data, with sentences for the reader.

The page says with every request how many tries or questions went before; nothing is kept here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from posenc_course.challenges import breaking, mystery
from posenc_course.translation import _


def answer(challenge: str, act: str, seed: int, **given: Any) -> dict[str, Any]:
    """The answer to one request.

    Args:
        challenge: "break" or "mystery".
        act: "draw"; of the first "judge" too, of the other "ask", "name" and "reveal".
        seed: which challenge.
        given: what the act needs.
    """
    acts: dict[tuple[str, str], Callable[..., dict[str, Any]]] = {
        ("break", "draw"): _promise,
        ("break", "judge"): _example,
        ("mystery", "draw"): _checkpoint,
        ("mystery", "ask"): _measurement,
        ("mystery", "name"): _name,
        ("mystery", "reveal"): _reveal,
    }
    return acts[challenge, act](seed, **given)


def _promise(seed: int) -> dict[str, Any]:
    drawn = breaking.draw(seed)
    return {
        "title": drawn.title,
        "promise": drawn.promise,
        "asked": drawn.asked,
        "code": drawn.code,
        "fields": [field.label for field in drawn.fields],
    }


def _example(seed: int, typed: list[str], tries: int) -> dict[str, Any]:
    """`tries`: how many examples before this one kept the promise."""
    drawn = breaking.draw(seed)
    found = drawn.judge(typed)
    return {
        "broken": found.broken,
        "counts": found.counts,
        "too_large": found.too_large,
        "sentence": found.sentence,
        "size": found.size,
        "smallest": found.broken and found.size <= drawn.smallest,
        "points": drawn.points(found, tries),
    }


def _checkpoint(seed: int) -> dict[str, Any]:
    return {
        "questions": [{"name": q.name, "title": q.title, "how": q.how} for q in mystery.QUESTIONS],
        "encodings": [{"name": each.name, "title": each.title} for each in mystery.ENCODINGS],
        "least": mystery.LEAST_QUESTIONS,
    }


def _measurement(seed: int, question: str) -> dict[str, Any]:
    return asdict(mystery.draw(seed).ask(question))


def _name(seed: int, name: str, questions: int, wrong: int) -> dict[str, Any]:
    """`questions` that were asked, and `wrong` names that were given before."""
    if questions < mystery.LEAST_QUESTIONS:
        return {"right": False, "sentence": _("Measure first: ask at least two questions."), "counts": False}
    drawn = mystery.draw(seed)
    right = drawn.encoding.name == name
    told: dict[str, Any] = {"right": right, "counts": True, "points": mystery.points(questions, wrong)}
    return told | _reveal(seed) if right else told


def _reveal(seed: int) -> dict[str, Any]:
    drawn = mystery.draw(seed)
    return {"title": drawn.encoding.title, "why": drawn.why()}
