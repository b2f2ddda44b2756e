"""The capstone: an encoding of the learner's own, judged by what a small model does that is trained with it.

What comes from the learner is plain tables, for texts of 32 and of 128 steps. The judge looks at their form,
trains (`boxes`), and gives credit in steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from posenc_course.exercises import boxes
from posenc_course.exercises.boxes import DIM, HEAD_DIM, HEADS, TESTED, TRAINED
from posenc_course.exercises.exercise import BASIC, Case, Exercise, Mistake
from posenc_course.translation import _
from posenc_lib._arrays import Array

CHAPTER = "capstone"
SEEDS = (0, 1, 2, 3, 4)
"""One model each. A mark counts their mean: the same ones for everybody, in `check` and in grading."""
LARGEST = 1e6
DOORS = ("added", "rotated", "biased")


class Level(NamedTuple):
    """One step of the credit."""

    group: str
    share: float
    """Of the points."""
    steps: int
    """Of the texts on which it is decided."""
    least: float
    """Share of the cards that the models have to tell, in the mean."""
    label: str


LEVELS = (
    Level(BASIC, 0.3, TRAINED, 0.6, "32 steps, as in the training"),
    Level("43% of the cards after 128 steps", 0.3, TESTED, 0.43, "128 steps: more than without positions"),
    Level("60% of the cards after 128 steps", 0.4, TESTED, 0.6, "128 steps: more than ALiBi"),
)


class Scores(NamedTuple):
    """Of each seed, the share of the cards that the model tells."""

    trained: tuple[float, ...]
    """After 32 steps, as in the training."""
    tested: tuple[float, ...]
    """After 128 steps."""

    def mean(self, steps: int) -> float:
        return float(np.mean(self.trained if steps == TRAINED else self.tested))


def scores(encoding: Callable[[Array], Any], seeds: Sequence[int] = SEEDS) -> Scores:
    """Train one model per seed with an encoding, about two seconds each, and test it.

    Args:
        encoding: from positions (n,) to a dict by door, as the capstone's notebook describes it.
        seeds: of the first weights and of the texts. A mark is given on 0 to 4.

    Raises:
        ValueError: a table has the wrong form; the message says which and why.

    Example:
        >>> nothing = scores(lambda positions: {}, seeds=[7])
        >>> 0.3 < nothing.tested[0] < 0.45
        True
    """
    trained, tested = (tables_of(encoding(np.arange(n)), n) for n in (TRAINED, TESTED))
    found = [_one(_key(trained), _key(tested), seed) for seed in seeds]
    return Scores(tuple(each[0] for each in found), tuple(each[1] for each in found))


def tables_of(value: Any, n: int) -> boxes.Tables:
    """The tables that an answer gave for texts of n steps, as float64.

    Raises:
        ValueError: the sentence for the learner.
    """
    if not isinstance(value, dict):
        raise ValueError(
            _("It returned {type}; return a dict with a table for each door that you open.").format(
                type=type(value).__name__
            )
        )
    if unknown := [key for key in value if key not in DOORS]:
        raise ValueError(
            _("There is no door {door!r}. The doors are {doors}.").format(
                door=str(unknown[0])[:50], doors=", ".join(map(repr, DOORS))
            )
        )
    return {door: _table(door, value[door], n) for door in DOORS if door in value}


def _table(door: str, value: Any, n: int) -> Array:
    from posenc_course.checking.plain import as_array  # which imports the exercises

    shape = {"added": (n, DIM), "rotated": (n, HEAD_DIM // 2), "biased": (HEADS, n, n)}[door]
    try:
        table = as_array(value)
    except ValueError:
        table = None
    if table is None or table.dtype.kind not in "fiu":
        raise ValueError(_("{door!r} is not a table of real numbers.").format(door=door))
    if table.shape != shape:
        raise ValueError(
            _("For {n} positions, {door!r} has shape {got}, but shape {want} was expected.").format(
                n=n, door=door, got=table.shape, want=shape
            )
        )
    table = table.astype(np.float64)
    hidden = np.isneginf(table) if door == "biased" else np.zeros(shape, bool)
    if not np.isfinite(table[~hidden]).all() or np.abs(table[~hidden]).max(initial=0.0) > LARGEST:
        raise ValueError(
            _(
                "For {n} positions, {door!r} contains a number that is not finite, or is beyond a million. "
                "Only a bias may be minus infinity, to hide a key."
            ).format(n=n, door=door)
        )
    if door == "biased" and (hidden | ~np.tri(n, dtype=bool)).all(axis=-1).any():
        raise ValueError(
            _(
                "A query sees no key: every bias of a row is minus infinity, up to the query's own column. "
                "Keys after the query are hidden from it anyway."
            )
        )
    return np.tril(table) if door == "biased" else table


def _seen(value: Any) -> Any:
    """With no bias for the keys after a query: whatever it is, they are hidden."""
    from posenc_course.checking.kinds import array_or_none  # which imports the exercises

    table = array_or_none(value.get("biased")) if isinstance(value, dict) else None
    return value if table is None or table.ndim < 2 else {**value, "biased": np.tril(table)}


Key = tuple[tuple[str, tuple[int, ...], bytes], ...]


def _key(tables: boxes.Tables) -> Key:
    return tuple((door, table.shape, table.tobytes()) for door, table in tables.items())


@lru_cache(maxsize=256)
def _one(trained: Key, tested: Key, seed: int) -> tuple[float, float]:
    of_training, of_test = (
        {door: np.frombuffer(data).reshape(shape) for door, shape, data in key} for key in (trained, tested)
    )
    return boxes.accuracies(of_training, of_test, seed)


def _lacks(values: Sequence[Any]) -> list[str | None]:
    """What an answer lacks at each level, out of what it returned for each."""
    try:
        tables = [tables_of(value, level.steps) for value, level in zip(values, LEVELS, strict=True)]
    except ValueError as error:
        return [str(error)] * len(LEVELS)
    if len({_key(each) for each, level in zip(tables, LEVELS, strict=True) if level.steps == TESTED}) > 1:
        changes = _(
            "Called again with the same positions, it gave different numbers. "
            "The same positions need the same encoding."
        )
        return [changes] * len(LEVELS)
    by_steps = {level.steps: value for value, level in zip(values, LEVELS, strict=True)}
    found = scores(lambda positions: by_steps[len(positions)], SEEDS)
    return [_too_few(level, found.mean(level.steps)) for level in LEVELS]


def _too_few(level: Level, share: float) -> str | None:
    if share >= level.least:
        return None
    return _(
        "The models got {share} of the cards right (the mean of {seeds}). At least {least} is needed."
    ).format(share=f"{share:.1%}", seeds=len(SEEDS), least=f"{level.least:.0%}")


def _afterwards(answer: Callable[..., Any]) -> str:
    found = scores(answer, SEEDS)
    return _("Cards that five models got right: {trained} after 32 steps, {tested} after 128.").format(
        trained=f"{found.mean(TRAINED):.1%}", tested=f"{found.mean(TESTED):.1%}"
    )


# --- Encodings that the course has built -------------------------------------------------------


def _back(positions: Array) -> Array:
    """(n, n): how many steps the key is behind the query."""
    return positions[:, None] - positions


def _sinusoidal(positions: Array) -> dict[str, Array]:
    angles = positions[:, None] * 10000.0 ** (-np.arange(0, DIM, 2) / DIM)
    return {"added": np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(-1, DIM)}


def _rope(positions: Array) -> dict[str, Array]:
    return {"rotated": positions[:, None] * 10000.0 ** (-np.arange(0, HEAD_DIM, 2) / HEAD_DIM)}


def _alibi(positions: Array) -> dict[str, Array]:
    slopes = 2.0 ** (-8 * np.arange(1, HEADS + 1) / HEADS)
    return {"biased": -slopes[:, None, None] * _back(positions)}


def _logarithm(positions: Array) -> dict[str, Array]:
    back = _back(positions)
    bias = -2 * np.log(np.maximum(back, 1)) - 10.0 * (back == 0)
    return {"biased": np.stack([bias, bias])}


def _hidden_self(positions: Array) -> dict[str, Array]:
    back = _back(positions)
    hidden = np.where((back == 0) & (positions[:, None] > 0), -np.inf, 0.0)
    return {"biased": np.stack([hidden - 3 * np.log1p(abs(back)), hidden - np.sqrt(abs(back))])}


def _steep(positions: Array) -> dict[str, Array]:
    return {"biased": -np.array([1.0, 1 / 256])[:, None, None] * _back(positions)}


def _steep_and_rope(positions: Array) -> dict[str, Array]:
    back = _back(positions)
    return {**_rope(positions), "biased": np.stack([-10.0 * (back == 0), -10.0 * (back == 0)])}


ENCODING = Exercise(
    id=f"{CHAPTER}.encoding",
    title="An encoding of your own",
    signature="encoding(positions: (n,)) -> dict: “added” (n, 32), “rotated” (n, 8), “biased” (2, n, n)",
    points=10,
    minutes=90,
    difficulty=5,
    reference=_logarithm,
    make_cases=lambda rng: (Case(each.label, (np.arange(each.steps),), each.group) for each in LEVELS),
    credit=tuple((each.group, each.share) for each in LEVELS),
    lacks=_lacks,
    seen=_seen,
    afterwards=_afterwards,
    alternatives=(_hidden_self, _steep, _steep_and_rope),
    mistakes=(
        Mistake(
            "no-positions",
            lambda positions: {},
            "No door is open: the model reads a bag of steps, and no card in it is the last one.",
        ),
        Mistake(
            "sinusoidal",
            _sinusoidal,
            "This is the sinusoidal encoding. After step 32 come vectors that no model was trained with.",
        ),
        Mistake(
            "rope",
            _rope,
            "This is RoPE. It goes by distance, and after 128 steps there are distances that never came up.",
        ),
        Mistake(
            "alibi",
            _alibi,
            "This is ALiBi with its own slopes, the one to beat. Which step does it favour most of all, and "
            "is the answer to be found there?",
        ),
        Mistake(
            "turned-round",
            lambda positions: {"biased": -_alibi(positions)["biased"]},
            "Your bias grows with distance. What is subtracted from what?",
        ),
    ),
    hints=(
        "Write down by hand, for one box, which of the earlier steps holds the answer. What must the bias "
        "make of that one, of the steps before it, and of the step that asks?",
        "After 128 steps there are four times as many boxes, so a box was last used about four times as far "
        "back. Which function of the distance keeps its shape when all distances are multiplied by four?",
        "Look at the diagonal: at distance 0 stands the card that is put in now. It is in the right box, and "
        "it is never the answer.",
    ),
)
EXERCISES = (ENCODING,)
