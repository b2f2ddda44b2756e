"""Your decoder gets forgetting gates: The logarithm of a gate."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch10_position_from_content._shared import GATES, Generator
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _sigmoid(x: Array) -> Array:
    return np.exp(-np.logaddexp(0, -x))


def _logit_cases(rng: Generator) -> Iterator[Case]:
    yield Case("around 0", (np.array([[-2.0, -0.5, 0.0, 0.5, 2.0]]),))
    yield Case("gates that are wide open", (np.array([[40.0, 300.0], [750.0, 1e5]]),))
    yield Case("gates that are shut", (np.array([[-40.0, -300.0, -750.0, -1e5]]),))
    yield Case("a batch of two", (3 * rng.normal(size=(2, 3, 4)),))
    for _ in range(3):
        shape = (int(rng.integers(1, 5)), int(rng.integers(2, 9)))
        yield Case("logits, drawn", (rng.normal(size=shape) * rng.uniform(1, 20),))


def _log_gates(logits: Array) -> Array:
    return np.asarray(-np.logaddexp(0, -logits))


def _log_gates_in_two_halves(logits: Array) -> Array:
    """Nothing above 0 is ever raised."""
    return np.minimum(logits, 0) - np.log1p(np.exp(-np.abs(logits)))


LOG_GATES = Exercise(
    id="10-position-from-content.log_gates",
    title="The logarithm of a gate",
    step_of=GATES,
    signature="log_gates(logits: array of shape (..., heads, n)) -> array of the shape of logits",
    points=2,
    minutes=8,
    difficulty=2,
    draws=Draws(
        lambda log_gates, across, up: curve(
            np.linspace(-6, 6, 61),
            {"": np.ravel(log_gates(np.linspace(-6, 6, 61)[None]))},
            across=across,
            up=up,
        ),
        axes=("logit", "logarithm of the gate"),
        look="Far below 0 the logarithm is the logit itself, and far above 0 the gate is open and takes "
        "nothing away.",
    ),
    reference=_log_gates,
    make_cases=_logit_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one logarithm for each logit.",
            about="form",
        ),
        Property(
            lambda args, value: bool((np.asarray(value) <= 1e-9).all()),
            "A gate is at most 1, so its logarithm is never above 0.",
        ),
        Property(
            lambda args, value: bool((np.abs(value - args[0])[args[0] < -30] < 1e-3).all()),
            "Where a logit is far below 0, the logarithm of its gate is nearly the logit itself. Yours "
            "is not: did the gate become 0 on the way, or is it cut?",
        ),
    ),
    where_not_finite="A gate of e to the power of -750 is 0 in a computer, and 0 has no logarithm. Do "
    "not compute the gate first: find a form of its logarithm that never raises e to "
    "something large.",
    mistakes=(
        Mistake(
            "minus-left-out",
            lambda logits: np.logaddexp(0, -logits),
            "The sign is reversed. The gate is below 1, so its logarithm is below 0.",
        ),
        Mistake(
            "softplus",
            lambda logits: np.logaddexp(0, logits),
            "This is softplus of the logits, which grows where the gate opens. An open gate has a logarithm "
            "of nearly 0.",
        ),
        Mistake(
            "shut-for-open",
            lambda logits: -np.logaddexp(0, logits),
            "This is the logarithm of 1 minus the gate: your gate shuts where it should open.",
        ),
        Mistake("the-gate", _sigmoid, "These are the gates themselves. Return their logarithms."),
        Mistake(
            "logits",
            lambda logits: 1.0 * logits,
            "You return the logits. Put them through the sigmoid first, then take the logarithm.",
        ),
        Mistake(
            "corner",
            lambda logits: np.minimum(logits, 0),
            "Far from 0 this is right. Near 0 the logarithm of the sigmoid has no corner: at 0 it is the "
            "logarithm of a half.",
        ),
        Mistake(
            "log-of-two",
            lambda logits: _log_gates(logits) / math.log(2),
            "You took the logarithm to base 2. It is the natural one.",
        ),
        Mistake(
            "shared",
            lambda logits: logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True),
            "Your gates of a head sum to 1, as after a softmax. Each gate is independent of the others.",
        ),
        Mistake(
            "from-tanh",
            lambda logits: _log_gates(2 * logits),
            "Your gate is half of 1 + tanh(logit), which is the sigmoid of twice the logit.",
        ),
        Mistake(
            "twice-the-logit",
            lambda logits: logits - np.logaddexp(0, -logits),
            "You add the logit once too often. For a logit of 0 yours is right; try one of 2.",
        ),
        Mistake(
            "logarithm-of-plus",
            lambda logits: -np.log1p(np.exp(-np.abs(logits))),
            "Your result does not change with the sign of the logit. For a logit below 0, something is "
            "missing.",
        ),
        Mistake(
            "logit-below-0",
            lambda logits: np.where(logits > 0, -np.log1p(np.exp(-np.abs(logits))), logits),
            "Above 0 yours is right. Below 0 you return the logit itself, which is nearly right only far "
            "below 0.",
        ),
        Mistake(
            "one-for-its-logarithm",
            lambda logits: -np.logaddexp(1, -logits),
            "You add e to the power of 1. np.logaddexp takes logarithms, and that of 1 is 0.",
        ),
        Mistake(
            "running-sums",
            lambda logits: np.cumsum(_log_gates(logits), axis=-1),
            "These are running sums of the logarithms. Return one logarithm for each gate: sums come in "
            "the next step.",
        ),
        Mistake(
            "log-of-ten",
            lambda logits: _log_gates(logits) / math.log(10),
            "You took the logarithm to base 10. It is the natural one.",
        ),
    ),
    alternatives=(
        _log_gates_in_two_halves,
        lambda logits: logits - np.logaddexp(0, logits),
        lambda logits: -np.logaddexp(0, -logits).astype(float),
    ),
    hints=(
        "The gate is `1 / (1 + exp(-x))`. What is the logarithm of one over something?",
        "So you need minus the logarithm of `1 + exp(-x)`. For x = -750, `exp(-x)` is too large for a "
        "computer.",
        "`np.logaddexp(a, b)` is the logarithm of `exp(a) + exp(b)`, without computing either of them. "
        "Which a gives 1?",
    ),
)
