"""What makes a loss rise beyond the length of training? Each alleged cause is taken away, or put in.

Two kinds of runs, beside the byte models (`byte-models`, to be run first: their weights are used here):

* trained: the model is trained once more with its encoding changed (`ablations.py`), by the same recipe, on
  the same text, from the same seeds. Its twin is the byte model, whose weights are taken from there.
* read: the weights of a byte model, read differently beyond the length of training (`readings.py`).

The rule was written before the first run. A *rise* is the loss in windows of four times the length of
training, less that of the same bytes in windows of the length of training. Of two conditions, one with the
alleged cause and one without, `outcome` says:

* "no rise": with it, the loss does not rise by more than the uncertainty: there is nothing to explain;
* "not the cause": it rises, and without it by as much, or the difference is below the uncertainty;
* "a part of it": without it, it rises less, and more than `LEFT` of the rise is left: the sentence may be
  said with "in part";
* "the cause": without it, it rises by no more than the uncertainty, and by no more than `LEFT` of the rise.

The last clause is younger than the first runs. Without it, what was left had only to lie inside an interval,
and the wider that was, the more was called the cause.

`CAUSES` names, for each, the sentence that its outcome may carry, and what refutes it. What none of them can
say: that a cause found in a model of this size and text is that of a large one.

Of slow clocks, two runs ask the same in two ways. Trained without them, a model may have learnt something
else altogether. Read with clocks that stop, it is the same model, which then sees times together that never
stood together: what gets better does so in spite of that. The mirror image, fast clocks that stop, tells
whether it matters which ones stop: where both help as much, neither sentence is about speed. And
Transformer-XL feeds the same slow clocks offsets that it never saw: where its loss does not rise, a clock's
unseen times alone do no harm, and the sentence is one about RoPE, not about clocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posenc_course.experiments import (
    ablations,
    byte_model,
    byte_models,
    decoder,
    gates,
    ngram,
    readings,
    results,
    source_text,
    uncertainty,
    wrapped,
)
from posenc_course.experiments.readings import AS_IT_IS, READ, measure
from posenc_course.experiments.uncertainty import Finding

__all__ = ["measure"]

QUESTION = "What makes the loss rise beyond the length of training?"

GATE = gates.BYTE_MODELS
STORES_EACH = HAS_FULL = True
SWEEP = "byte-model-rates"
PARTS = (byte_model, decoder, ngram, source_text, wrapped, ablations, readings)

NO_RISE, NOT_THE_CAUSE, A_PART, THE_CAUSE = "no rise", "not the cause", "a part of it", "the cause"


LEFT = 0.1
"""What is left of a rise that is gone is at most this share of it."""


class Cause(NamedTuple):
    """What is alleged of an encoding, and how it is tested."""

    encoding: str
    change: str
    """Of `ablations.CHANGES`, or of `readings.readings`."""
    takes_away: bool
    """Whether the change takes the alleged cause away; else it puts it in."""
    sentence: str
    carried_by: tuple[str, ...]
    refuted_by: str

    @property
    def trained(self) -> bool:
        """Whether another model is trained, or the same one read differently."""
        return (self.encoding, self.change) in ablations.CHANGES


RISES = (THE_CAUSE, A_PART)

CAUSES = (
    Cause(
        "rope",
        "no slow clocks",
        True,
        "RoPE breaks because of clocks that did not turn once in training.",
        RISES,
        "Trained without them, it breaks as much.",
    ),
    Cause(
        "sinusoidal",
        "no slow clocks",
        True,
        "The sinusoidal encoding breaks because of clocks that did not turn once in training.",
        RISES,
        "Trained without them, it breaks as much.",
    ),
    Cause(
        "none",
        "first token marked",
        False,
        "A model without an encoding breaks because it counts from a mark on the first token.",
        RISES,
        "Where no token is marked, it breaks as much.",
    ),
    Cause(
        "none",
        "log n",
        True,
        "A model without an encoding breaks because more keys share one softmax.",
        RISES,
        "Trained with scores that grow with log n, it breaks as much.",
    ),
    Cause(
        "t5",
        "buckets beyond the training",
        False,
        "T5's bias breaks because of buckets that no training reached.",
        RISES,
        "With buckets that were all trained, it breaks as much; or it breaks with neither.",
    ),
    Cause(
        "alibi",
        "windows",
        False,
        "A short reach is enough to hold as ALiBi does: with windows the loss does not rise either.",
        (NO_RISE,),
        "With windows of the same reach, the loss rises.",
    ),
    Cause(
        "rope",
        "log n",
        True,
        "RoPE breaks because more keys share one softmax.",
        RISES,
        "Trained with scores that grow with log n, it breaks as much.",
    ),
    *(
        Cause(
            encoding,
            f"{which} clocks stop",
            True,
            f"{name} breaks because {clocks} go on past what they showed in training.",
            RISES,
            "With these clocks stopped, the same model breaks as much.",
        )
        for encoding, name in (
            ("rope", "RoPE"),
            ("sinusoidal", "The sinusoidal encoding"),
            ("transformer-xl", "Transformer-XL"),
        )
        for which, clocks in (
            ("slow", "its slow clocks"),
            ("fast", "its fast clocks"),
            ("all", "all its clocks"),
        )
    ),
    Cause(
        "alibi",
        "slopes stop",
        False,
        "ALiBi holds because far keys fade ever more: where its bias stops falling, the loss rises.",
        RISES,
        "The loss does not rise where the bias stops falling.",
    ),
    *(
        Cause(
            encoding,
            "log n beyond",
            True,
            f"{name} breaks because more keys share one softmax.",
            RISES,
            "With scores that grow with log n beyond the training, the same model breaks as much.",
        )
        for encoding, name in (
            ("rope", "RoPE"),
            ("sinusoidal", "The sinusoidal encoding"),
            ("none", "A model without an encoding"),
            ("t5", "T5's bias"),
        )
    ),
    *(
        Cause(
            encoding,
            "far keys hidden",
            True,
            f"{name} breaks because of keys that are farther than any in training.",
            RISES,
            "With these keys hidden, the same model breaks as much.",
        )
        for encoding, name in (
            ("rope", "RoPE"),
            ("sinusoidal", "The sinusoidal encoding"),
            ("transformer-xl", "Transformer-XL"),
            ("none", "A model without an encoding"),
            ("t5", "T5's bias"),
            ("alibi", "ALiBi"),
        )
    ),
)

TRAINED = tuple(ablations.CHANGES)
READ_ONES = ("rope", "sinusoidal", "none", "t5", "alibi", "transformer-xl")


def runs(
    *, steps: int | None = None, seeds: int | None = None, fast: bool = False, full: bool = False
) -> list[dict[str, Any]]:
    """The settings of every run, a byte model's and a change: all seeds of one change, then the next."""
    changes = [*((encoding, READ) for encoding in READ_ONES), *TRAINED]
    if fast:
        changes = [("rope", READ), ("none", "first token marked")]
    models = byte_models.longest(byte_models.runs(steps=steps, seeds=seeds, fast=fast, full=full))
    return [
        model | {"change": change}
        for name, change in changes
        for model in models
        if model["encoding"] == name
    ]


# --- what the runs say


class Verdict(NamedTuple):
    """What was found of one cause."""

    cause: Cause
    outcome: str
    carried: bool
    """Whether the sentence may be said."""
    with_it: Finding
    """The rise with the alleged cause, above none."""
    without: Finding
    """The rise without it, above none."""
    difference: Finding
    """The rise without it, less that with it."""
    at_the_training: Finding | None
    """At the length of training, the changed model's loss less its twin's; None where nothing was trained."""


def verdicts(full: bool = False, *, name: str = "causes") -> Iterator[Verdict]:
    """Of each cause whose runs are stored and admitted, by two seeds or more, what they say.

    Args:
        full: of the large form.
        name: the experiment that the runs are of.
    """
    for cause in CAUSES:
        if enough(cause, full, name=name):
            yield judge(cause, full, name=name)


def verdict_on(encoding: str, change: str, full: bool = False, *, name: str = "causes") -> Verdict:
    """What the stored runs say of the cause that this change tests.

    Raises:
        ValueError: there is no such cause, or too few of its runs are stored and admitted.
    """
    for cause in CAUSES:
        if (cause.encoding, cause.change) == (encoding, change) and enough(cause, full, name=name):
            return judge(cause, full, name=name)
    known = sorted(f"{each.encoding}: {each.change}" for each in CAUSES if enough(each, full, name=name))
    raise ValueError(
        f"there is no verdict on {encoding!r}, {change!r}; there are verdicts on: {', '.join(known)}"
    )


def enough(cause: Cause, full: bool = False, *, name: str = "causes") -> bool:
    """Whether two seeds of the change, and of the model as it is, are stored and admitted."""
    return all(len(group) >= 2 for group in _groups(cause, full, name))


def judge(cause: Cause, full: bool = False, *, name: str = "causes") -> Verdict:
    """What the stored runs say of a cause.

    Raises:
        ValueError: the changed runs and their twins were not trained alike.
    """
    changed, twins = _groups(cause, full, name)
    _require_twins(changed, twins)
    rises = _rises(changed, AS_IT_IS if cause.trained else cause.change), _rises(twins, AS_IT_IS)
    with_it, without = rises[::-1] if cause.takes_away else rises
    found = outcome(with_it, without, paired=not cause.trained)
    return Verdict(
        cause,
        found,
        found in cause.carried_by,
        _above_none(with_it),
        _above_none(without),
        _difference(without, with_it, paired=not cause.trained),
        _at_the_training(changed, twins) if cause.trained else None,
    )


def _at_the_training(changed: list[dict[str, Any]], twins: list[dict[str, Any]]) -> Finding:
    one, other = (
        [each["result"]["trained"]["by_file"]["loss"] for each in group] for group in (changed, twins)
    )
    return uncertainty.compare(one, other, twins[0]["result"]["trained"]["by_file"]["bytes"])


def outcome(with_it: NDArray[np.float64], without: NDArray[np.float64], *, paired: bool) -> str:
    """What two conditions say of a cause: the rule of this module.

    Args:
        with_it, without: (seeds, files) the rises with the alleged cause and without it.
        paired: whether rows of the two are of the same weights.
    """
    if _above_none(with_it).verdict != "higher":
        return NO_RISE
    if _difference(without, with_it, paired=paired).verdict != "lower":
        return NOT_THE_CAUSE
    gone = _above_none(without).verdict != "higher" and without.mean() <= LEFT * with_it.mean()
    return THE_CAUSE if gone else A_PART


def _above_none(rises: NDArray[np.float64]) -> Finding:
    return uncertainty.compare(rises, np.zeros_like(rises), np.ones(rises.shape[1]))


def _difference(a: NDArray[np.float64], b: NDArray[np.float64], *, paired: bool) -> Finding:
    """Of the same weights, what differs is each seed's own difference."""
    return _above_none(a - b) if paired else uncertainty.compare(a, b, np.ones(a.shape[1]))


def _rises(group: list[dict[str, Any]], reading: str) -> NDArray[np.float64]:
    """(seeds, files)"""
    found = [
        np.subtract(np.mean(each["result"]["read"][reading], axis=1), each["result"]["short"])
        for each in group
    ]
    return np.array(found)


def _groups(cause: Cause, full: bool, name: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The admitted runs of the change, those stored by now, and of the model as it is."""
    changed, twins = (
        [
            each
            for each in results.stored_so_far(name, full)
            if (each["run"]["encoding"], each["run"]["change"]) == (cause.encoding, change)
            and each["verdict"] == "admitted"
        ]
        for change in (cause.change if cause.trained else READ, READ)
    )
    return changed, twins


def _require_twins(changed: list[dict[str, Any]], twins: list[dict[str, Any]]) -> None:
    """Raise ValueError unless all were trained alike."""
    apart = {"seed", "change"}
    settings = [
        {key: value for key, value in each["run"].items() if key not in apart} for each in (*changed, *twins)
    ]
    for each in settings:
        if each != settings[0]:
            unlike = sorted(key for key in each.keys() | settings[0] if each.get(key) != settings[0].get(key))
            raise ValueError(
                f"the runs of {settings[0]['encoding']} differ in {', '.join(unlike)}, besides the change; "
                "run all of them again"
            )
