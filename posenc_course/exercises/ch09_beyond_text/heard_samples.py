"""What a frame of sound hears: From which sample to which?"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import SOUND, Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake
from posenc_lib._arrays import Array

WAV2VEC = (np.array([10, 3, 3, 3, 3, 2, 2]), np.array([5, 2, 2, 2, 2, 2, 2]))


def _heard_cases(rng: Generator) -> Iterator[Case]:
    yield Case("one layer", (2, np.array([4]), np.array([3])))
    yield Case("two layers, first frame", (0, np.array([3, 3]), np.array([2, 2])))
    yield Case("two layers", (3, np.array([4, 2]), np.array([3, 1])))
    yield Case("wav2vec 2.0, first frame", (0, *WAV2VEC))
    yield Case("wav2vec 2.0, after a second", (50, *WAV2VEC))
    for _ in range(4):
        layers = int(rng.integers(2, 6))
        strides = rng.integers(1, 5, size=layers)
        yield Case("drawn", (int(rng.integers(1, 40)), strides + rng.integers(0, 4, size=layers), strides))


Heard = tuple[int, int]


def _heard_with(
    first: Callable[[int, Array, Array], int] = lambda frame, kernels, strides: frame * int(strides.prod()),
    reach: Callable[[Array, Array], int] = lambda kernels, strides: int(
        ((kernels - 1) * strides.cumprod() // strides).sum()
    ),
) -> Callable[[int, Array, Array], Heard]:
    def heard(frame: int, kernels: Array, strides: Array) -> Heard:
        start = first(frame, kernels, strides)
        return start, start + reach(kernels, strides)

    return heard


_heard = _heard_with()


def _heard_downwards(frame: int, kernels: Array, strides: Array) -> Heard:
    low = high = frame
    for kernel, stride in zip(kernels[::-1].tolist(), strides[::-1].tolist(), strict=True):
        low, high = low * stride, high * stride + kernel - 1
    return low, high


def _heard_by_sets(frame: int, kernels: Array, strides: Array) -> list[int]:
    inputs = {frame}
    for kernel, stride in zip(kernels[::-1].tolist(), strides[::-1].tolist(), strict=True):
        inputs = {at * stride + tap for at in inputs for tap in range(kernel)}
    return [min(inputs), max(inputs)]


HEARD_SAMPLES = Exercise(
    id="09-beyond-text.heard_samples",
    title="From which sample to which?",
    step_of=SOUND,
    signature="heard_samples(frame: int, kernels: array of shape (layers,), strides: array of shape "
    "(layers,)) -> two ints, the first and the last sample",
    points=3,
    minutes=14,
    difficulty=3,
    parts=("the first sample", "the last sample"),
    reference=lambda frame, kernels, strides: _heard(frame, kernels, strides),
    make_cases=_heard_cases,
    relative_tolerance=1e-9,
    mistakes=(
        Mistake(
            "one-past-the-end",
            _heard_with(reach=lambda kernels, strides: _heard(0, kernels, strides)[1] + 1),
            "Your last sample is one too far, as the end of a slice is. Return the last one that is heard.",
        ),
        Mistake(
            "kernels-added",
            _heard_with(reach=lambda kernels, strides: int((kernels - 1).sum())),
            "You add up the kernels as if all took steps of 1. The taps of a later layer are further "
            "apart: by the product of all strides below it.",
        ),
        Mistake(
            "own-stride-too",
            _heard_with(reach=lambda kernels, strides: int(((kernels - 1) * strides.cumprod()).sum())),
            "You widen each kernel by its own stride. How far apart its taps are depends only on the "
            "layers below it.",
        ),
        Mistake(
            "kernels-multiplied",
            _heard_with(reach=lambda kernels, strides: int(kernels.prod()) - 1),
            "You multiply the kernels, as if the pieces of a layer did not overlap.",
        ),
        Mistake(
            "kernels-for-strides",
            _heard_with(first=lambda frame, kernels, strides: frame * int(kernels.prod())),
            "Your frames begin too far apart: by the product of the kernels. They should move by the "
            "product of the strides.",
        ),
        Mistake(
            "whole-widths",
            _heard_with(first=lambda frame, kernels, strides: frame * (_heard(0, kernels, strides)[1] + 1)),
            "Your frames do not overlap: each begins where the one before it ends. They move by the product "
            "of the strides.",
        ),
        Mistake(
            "last-stride",
            _heard_with(first=lambda frame, kernels, strides: frame * int(strides[-1])),
            "You move by the stride of the last layer only. Each layer below multiplies that step.",
        ),
        Mistake(
            "strides-added",
            _heard_with(first=lambda frame, kernels, strides: frame * int(strides.sum())),
            "You add the strides. Multiply them.",
        ),
        Mistake(
            "layers-turned",
            lambda frame, kernels, strides: _heard(frame, kernels[::-1], strides[::-1]),
            "You take the layers in the wrong order: the first in the list is the one that the samples "
            "enter.",
        ),
        Mistake(
            "whole-kernels",
            _heard_with(reach=lambda kernels, strides: int((kernels * strides.cumprod() // strides).sum())),
            "Each layer reaches one tap too far: between the first and the last of n taps there are n - 1 "
            "steps.",
        ),
        Mistake(
            "last-layer-alone",
            _heard_with(reach=lambda kernels, strides: int(kernels[-1]) - 1),
            "You end after one kernel of the last layer, counted in samples. Its taps are frames of the "
            "layer below, and each of those hears more than one sample.",
        ),
        Mistake(
            "how-many",
            lambda frame, kernels, strides: (
                _heard(frame, kernels, strides)[0],
                _heard(0, kernels, strides)[1] + 1,
            ),
            "Your second number says how many samples are heard. Return the last of them.",
        ),
        Mistake(
            "first-stride",
            _heard_with(first=lambda frame, kernels, strides: frame * int(strides[0])),
            "You move by the stride of the first layer only. Each later layer multiplies that step.",
        ),
        Mistake(
            "up-to-the-next-frame",
            _heard_with(reach=lambda kernels, strides: int(strides.prod()) - 1),
            "Your frames end where the next one begins. Frames overlap: the last sample depends on the "
            "kernels.",
        ),
        Mistake(
            "counted-from-one",
            lambda frame, kernels, strides: _heard(frame - 1, kernels, strides),
            "You count frames from 1. The first frame has number 0.",
        ),
    ),
    alternatives=(_heard_downwards, _heard_by_sets, lambda *args: np.array(_heard(*args))),
    hints=(
        "Go down from the last layer. Frame n of a layer looks at the inputs from n * stride to n * "
        "stride + kernel - 1.",
        "Keep two numbers, the first and the last frame that you look at. What do they become one layer "
        "further down?",
        "The first becomes `first * stride`, and the last `last * stride + kernel - 1`.",
    ),
)
