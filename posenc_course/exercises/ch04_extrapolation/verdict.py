"""Measure and conclude: does it extrapolate?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch04_extrapolation._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each
from posenc_lib._arrays import Array

UP, STAY, LITTLE, DOWN = (1.4, 4.0), (-0.7, 0.7), (-0.7, -0.2), (-4.0, -1.4)
"""How far a loss moves past the training length, in slacks, from and to."""


CURVES = {
    "breaks": {
        "all seeds rise": ((UP, UP), (UP, UP), (UP, UP)),
        "one seed of three rises": ((DOWN, DOWN), (DOWN, DOWN), (STAY, (1.4, 2.0))),
        "one seed of three rises far": ((STAY, STAY), (STAY, STAY), ((6.0, 7.0), (6.0, 7.0))),
        "it stays at first, and rises at last": ((STAY, UP), (STAY, UP)),
        # The mean over both lengths stays below the slack: it must not decide.
        "it rises in between and comes back": (((1.4, 1.6), (-0.7, 0.3)), ((1.4, 1.6), (-0.7, 0.3))),
        "it rises far in between and comes back": (((3.2, 4.0), STAY), ((3.2, 4.0), STAY)),
        "it rises in between and ends lower": ((UP, DOWN), (UP, DOWN)),
        "large losses and a small rise": ((UP, STAY), (UP, UP)),
    },
    "holds": {
        "all seeds stay": (((0.2, 0.7), STAY), (STAY, STAY), (STAY, STAY)),
        "two seeds of three fall": ((DOWN, DOWN), (DOWN, DOWN), (STAY, STAY)),
        "it falls, and comes back to where it was": ((DOWN, STAY), (DOWN, STAY)),
        "all seeds fall a little": ((LITTLE, LITTLE), (LITTLE, LITTLE)),
    },
    "gains": {
        "all seeds fall": ((DOWN, DOWN), (DOWN, DOWN), (DOWN, DOWN)),
        "lengths in another order": ((DOWN, DOWN), (DOWN, DOWN)),
        "it stays at first, and falls at last": ((STAY, DOWN), (STAY, DOWN), (STAY, DOWN)),
    },
}
"""The word, what happens, and for each seed how the loss moves at twice and at four times the length."""


def _verdict_cases(rng: Generator) -> Iterator[Case]:
    moves = {label: seeds for kinds in CURVES.values() for label, seeds in kinds.items()}
    for label in enough_of_each(rng, *(list(kinds) for kinds in CURVES.values())):
        trained, slack = int(2 ** rng.integers(5, 9)), round(float(rng.uniform(0.03, 0.07)), 3)
        lengths = trained // 2 * np.array([1, 2, 4, 8])
        low = 4.5 if label.startswith("large") else 1.2
        base = rng.uniform(low, 6.0, size=(len(moves[label]), 1))
        # With half of the context the loss is higher, by more than any rise past the training length.
        before = rng.uniform(0.3, 0.5, size=base.shape)
        after = slack * np.array([[rng.uniform(*each) for each in seed] for seed in moves[label]])
        losses = base + np.concatenate([before, 0 * before, after], axis=1)
        order = [3, 1, 2, 0] if label == "lengths in another order" else [0, 1, 2, 3]
        yield Case(label, (lengths[order], losses[:, order], trained, slack))
    lengths, before = np.array([128, 256, 512]), np.array([[2.5, 2.0], [2.25, 1.5]])
    for label, ends in {
        "it rises by just the slack": [2.5, 1.5],
        "it falls by just the slack": [1.5, 0.5],
    }.items():
        yield Case(label, (lengths, np.column_stack([before, ends]), 256, 0.5))
    losses = np.array([[2.0, 2.25], [1.5, 1.25]])
    yield Case("trained is the shortest length", (lengths[1:], losses, 256, 0.5))


def _judge(
    lengths: Array,
    losses: Array,
    trained: int,
    slack: float,
    *,
    breaks: Callable[[Array], Any] = np.any,
    gains: Callable[[Array], Any] = np.all,
) -> str:
    base = losses[:, lengths == trained]
    change = losses[:, lengths > trained] - base
    longest = losses[:, np.argmax(lengths)] - base[:, 0]
    if breaks(change.max(axis=1) > slack):
        return "breaks"
    return "gains" if gains(longest < -slack) else "holds"


def _judge_mean(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    return _judge(lengths, losses.mean(axis=0, keepdims=True), trained, slack)


def _judge_longest(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    keep = (lengths == trained) | (lengths == lengths.max())
    return _judge(lengths[keep], losses[:, keep], trained, slack)


def _judge_shortest(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    return _judge(lengths, losses, int(lengths.min()), slack)


def _judge_all_lengths(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    base = losses[:, lengths == trained]
    if ((losses - base).max(axis=1) > slack).any():
        return "breaks"
    return _judge(lengths, losses, trained, slack)


def _judge_last_column(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    base = losses[:, lengths == trained]
    if _judge(lengths, losses, trained, slack) == "breaks":
        return "breaks"
    return "gains" if (losses[:, -1:] - base < -slack).all() else "holds"


def _judge_relative(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    return _judge(lengths, losses / losses[:, lengths == trained], trained, slack)


def _judge_any_length(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    change = losses[:, lengths > trained] - losses[:, lengths == trained]
    if (change > slack).any():
        return "breaks"
    return "gains" if (change.min(axis=1) < -slack).all() else "holds"


def _judge_by_loop(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    every_seed_gains = True
    for row in losses.tolist():
        by_length = dict(sorted(zip(lengths.tolist(), row, strict=True)))
        base = by_length[trained]
        if any(loss > base + slack for length, loss in by_length.items() if length > trained):
            return "breaks"
        every_seed_gains &= row[lengths.tolist().index(max(lengths))] < base - slack
    return "gains" if every_seed_gains else "holds"


def _judge_sorted(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    order = np.argsort(lengths)
    start = int(np.searchsorted(lengths[order], trained))
    change = (losses[:, order] - losses[:, order][:, [start]])[:, start + 1 :]
    if change.max() > slack:
        return "breaks"
    return "holds" if change[:, -1].max() >= -slack else "gains"


def _judge_gains_first(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    longest = losses[:, lengths == lengths.max()] - losses[:, lengths == trained]
    return "gains" if (longest < -slack).all() else _judge(lengths, losses, trained, slack)


def _judge_step_by_step(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    order = np.argsort(lengths)
    steps = np.diff(losses[:, order], axis=1)[:, lengths[order][1:] > trained]
    if (steps > slack).any():
        return "breaks"
    return "gains" if (steps[:, -1] < -slack).all() else "holds"


def _judge_mean_of_lengths(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    longer = losses[:, lengths > trained].mean(axis=1, keepdims=True)
    if (longer - losses[:, lengths == trained] > slack).any():
        return "breaks"
    return "gains" if _judge_gains_first(lengths, losses, trained, slack) == "gains" else "holds"


def _judge_without_slack_above(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    right = _judge(lengths, losses, trained, slack)
    return "breaks" if _judge(lengths, losses, trained, 0.0) == "breaks" else right


def _judge_without_slack_below(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    if _judge(lengths, losses, trained, slack) == "breaks":
        return "breaks"
    return _judge_gains_first(lengths, losses, trained, 0.0).replace("breaks", "holds")


def _judge_either_way(lengths: Array, losses: Array, trained: int, slack: float) -> str:
    change = losses[:, lengths > trained] - losses[:, lengths == trained]
    return "breaks" if (np.abs(change) > slack).any() else "holds"


def _not_said_where_right(said: str, right: str) -> Callable[[tuple[Any, ...], str], bool]:
    return lambda args, value: value != said or _judge(*args) != right


VERDICT = Exercise(
    id="04-extrapolation.verdict",
    title="Measure and conclude: does it extrapolate?",
    signature="verdict(lengths: (n,) whole numbers, losses: (seeds, n) in nats, trained: int, slack: float) "
    "-> text",
    points=3,
    minutes=12,
    difficulty=3,
    reference=_judge,
    make_cases=_verdict_cases,
    properties=(
        Property(
            lambda args, value: value in ("breaks", "holds", "gains"),
            "Return one of the three words: breaks, holds or gains.",
            about="form",
        ),
        Property(
            _not_said_where_right("gains", "breaks"),
            "Here the loss of some seed, at some length above trained, is more than slack above its loss at "
            "trained. That is a break, whatever happens at the longest length.",
        ),
        Property(
            _not_said_where_right("holds", "breaks"),
            "Here the loss of some seed, at some length above trained, is more than slack above its loss at "
            "trained. One such place is a break.",
        ),
        Property(
            _not_said_where_right("breaks", "holds"),
            "Here no seed is ever more than slack above its loss at trained. Do you compare with that loss, "
            "at longer lengths only, and count only what rises?",
        ),
        Property(
            _not_said_where_right("breaks", "gains"),
            "Here the loss falls, in every seed. Do you compare with the loss at trained, at longer lengths "
            "only, and count only what rises?",
        ),
        Property(
            _not_said_where_right("holds", "gains"),
            "Here nothing breaks, and every seed is more than slack below its loss at trained, at the "
            "longest length. A gain needs nothing more than that.",
        ),
        Property(
            _not_said_where_right("gains", "holds"),
            "Here some seed is not more than slack below its loss at trained, at the longest length. A gain "
            "has to be there in every seed.",
        ),
    ),
    mistakes=(
        Mistake(
            "mean-over-seeds",
            _judge_mean,
            "A seed that breaks goes unnoticed behind others that do not. Do you average over the seeds, or "
            "look at one of them only? The rule looks at every seed.",
        ),
        Mistake(
            "longest-only",
            _judge_longest,
            "You look at the longest length only. A loss that rises in between and comes back is a break "
            "too: compare every length above trained.",
        ),
        Mistake(
            "shortest-as-base",
            _judge_shortest,
            "You compare with the shortest length, where context is scarce and the loss high, so the rise "
            "past the training length goes unseen. Compare with the loss at trained.",
        ),
        Mistake(
            "shorter-lengths-too",
            _judge_all_lengths,
            "You also count shorter lengths against the model. Their loss is higher because there is less "
            "context. Only lengths above trained say anything about extrapolation.",
        ),
        Mistake(
            "gains-before-breaks",
            _judge_gains_first,
            "You ask for a gain before you ask for a break. A loss that rises in between and ends lower is a "
            "break: a gain must not break anywhere.",
        ),
        Mistake(
            "one-length-after-the-other",
            _judge_step_by_step,
            "You compare each length with the one before it. Compare every length with trained: a loss that "
            "falls and comes back has not risen above it.",
        ),
        Mistake(
            "mean-over-lengths",
            _judge_mean_of_lengths,
            "You average over the longer lengths, so a loss that rises at one of them hides behind the "
            "others. Compare each length above trained by itself.",
        ),
        Mistake(
            "gains-without-slack",
            _judge_without_slack_below,
            "You call any fall a gain, however small. It has to be larger than slack, as a rise has to be "
            "for a break.",
        ),
        Mistake(
            "falls-as-breaks",
            _judge_either_way,
            "You call every change larger than slack a break. Only a loss that rises is one: leave out the "
            "absolute value.",
        ),
        Mistake(
            "last-column-as-longest",
            _judge_last_column,
            "You take the last column for the longest length. The lengths may come in any order: look for "
            "their maximum.",
        ),
        Mistake(
            "no-slack",
            lambda lengths, losses, trained, slack: _judge(lengths, losses, trained, 0.0),
            "You compare with 0 in place of slack, for breaks and for gains. A change of at most slack is "
            "noise.",
        ),
        Mistake(
            "breaks-without-slack",
            _judge_without_slack_above,
            "You call every rise a break, however small. A change of at most slack is noise.",
        ),
        Mistake(
            "relative-slack",
            _judge_relative,
            "You treat slack as a share of the loss. It is given in nats: compare it with the difference of "
            "two losses.",
        ),
        Mistake(
            "gains-in-any-seed",
            lambda lengths, losses, trained, slack: _judge(lengths, losses, trained, slack, gains=np.any),
            "One seed that falls was enough for you to say gains. By the rule, it has to fall in every seed.",
        ),
        Mistake(
            "gains-at-any-length",
            _judge_any_length,
            "You say gains where the loss falls at any longer length. The rule looks at the longest one.",
        ),
        Mistake(
            "breaks-in-every-seed",
            lambda lengths, losses, trained, slack: _judge(lengths, losses, trained, slack, breaks=np.all),
            "You say breaks only where every seed rises. One seed is enough: a method that fails one time in "
            "three cannot be relied on.",
        ),
    ),
    alternatives=(_judge_by_loop, _judge_sorted, lambda *args: _judge(*args).upper() + " "),
    hints=(
        "For each seed, subtract the loss at `trained` from the losses at all longer lengths. A mask such "
        "as `lengths == trained` picks a column.",
        "If one of these differences is above `slack`, in any seed, the word is `breaks`.",
        "Otherwise look at the longest length: below minus `slack` in every seed is `gains`. Anything else "
        "is `holds`.",
    ),
)
