"""Waves of a point: The wave that the samples show."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import TURN, WAVES, Generator
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _seen_cases(rng: Generator) -> Iterator[Case]:
    yield Case("up to 16 turns, 8 samples a unit", (np.arange(17.0), 8))
    yield Case("half of the samples, and just beyond", (np.array([4.9, 5.0, 5.1, 9.9, 10.1]), 10))
    yield Case("NeRF's ten bands, 64 samples a unit", (2.0 ** np.arange(-1, 9), 64))
    yield Case("an odd number of samples", (np.array([1.0, 2, 2.4, 2.6, 3, 4, 5, 6, 7]), 5))
    for _ in range(3):
        samples = int(rng.integers(4, 60))
        yield Case("drawn", (rng.uniform(0, 4 * samples, size=8), samples))


def _seen(frequencies: Array, samples: int) -> Array:
    return np.asarray(np.abs(frequencies - samples * np.round(frequencies / samples)))


def _folded(frequencies: Array, samples: int) -> Array:
    rest = frequencies % samples
    return np.minimum(rest, samples - rest)


SEEN_FREQUENCY = Exercise(
    id="09-beyond-text.seen_frequency",
    title="The wave that the samples show",
    step_of=WAVES,
    signature="seen_frequency(frequencies: array of shape (n,), in turns per unit, samples: int) -> array of "
    "shape (n,), in turns per unit",
    points=3,
    minutes=14,
    difficulty=3,
    draws=Draws(
        lambda seen_frequency, across, up: curve(
            np.linspace(0, 32, 257),
            {"": seen_frequency(np.linspace(0, 32, 257), 8)},
            across=across,
            up=up,
        ),
        axes=("frequency of the wave", "frequency that is seen"),
        look="With 8 samples a wave is seen as it is up to a frequency of 4, and from there the line "
        "folds down and up again.",
    ),
    reference=_seen,
    make_cases=_seen_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "There must be one frequency for each one given.",
            about="form",
        ),
        Property(
            lambda args, value: bool((np.asarray(value) >= -1e-9).all()),
            "A frequency is not negative here.",
        ),
        Property(
            lambda args, value: bool((np.asarray(value) <= args[1] / 2 + 1e-9).all()),
            "No wave is seen faster than half a turn from sample to sample: half of samples is the most.",
        ),
    ),
    mistakes=(
        Mistake(
            "not-folded",
            lambda frequencies, samples: frequencies % samples,
            "You drop whole turns from sample to sample, and that is right. What remains may still be "
            "more than half a turn: then the samples show a slower wave that runs backwards.",
        ),
        Mistake(
            "as-it-is",
            lambda frequencies, samples: frequencies * 1.0,
            "These are the frequencies themselves. A wave that makes more than half a turn from sample to "
            "sample looks like a slower one.",
        ),
        Mistake(
            "cut",
            lambda frequencies, samples: np.minimum(frequencies, samples / 2),
            "You cut at half the samples. A wave that is too fast does not stop there: it looks slower "
            "again.",
        ),
        Mistake(
            "remainder-of-the-half",
            lambda frequencies, samples: frequencies % (samples / 2),
            "At half the samples yours jumps back to 0. It should go down the way it went up.",
        ),
        Mistake(
            "silent",
            lambda frequencies, samples: np.where(frequencies > samples / 2, 0, frequencies),
            "In yours, a wave that is too fast vanishes. It is still seen, as a slower one.",
        ),
        Mistake(
            "with-sign",
            lambda frequencies, samples: frequencies - samples * np.round(frequencies / samples),
            "The sign says that the wave runs backwards. Return the frequency without it.",
        ),
        Mistake(
            "folded-once",
            lambda frequencies, samples: np.where(
                frequencies > samples / 2, np.abs(samples - frequencies), frequencies
            ),
            "You fold once. A wave that makes several turns from sample to sample loses every one of them.",
        ),
        Mistake(
            "folded-at-the-samples",
            lambda frequencies, samples: np.abs(
                frequencies - 2 * samples * np.round(frequencies / (2 * samples))
            ),
            "You fold at the number of samples. A wave that makes exactly one turn from sample to sample "
            "looks like no wave at all.",
        ),
        Mistake(
            "turns-between-samples",
            lambda frequencies, samples: _seen(frequencies, samples) / samples,
            "These are turns from sample to sample. Return turns per unit.",
        ),
        Mistake(
            "wavelength",
            lambda frequencies, samples: 1 / np.maximum(_seen(frequencies, samples), 1e-3),
            "These are wavelengths. Return frequencies.",
        ),
        Mistake(
            "rest-of-the-turn",
            lambda frequencies, samples: samples - frequencies % samples,
            "Where less than half a turn remains, your wave goes the long way round. Take the smaller "
            "one of the remainder and of what is missing to a whole turn.",
        ),
        Mistake(
            "the-larger-one",
            lambda frequencies, samples: np.maximum(frequencies % samples, samples - frequencies % samples),
            "You take the faster of the two waves. The slower one is what is seen.",
        ),
        Mistake(
            "whole-numbers",
            lambda frequencies, samples: np.round(_seen(frequencies, samples)),
            "You round the frequency that is seen. Round only to find the nearest multiple of samples.",
        ),
        Mistake(
            "half-cut-to-a-whole-number",
            lambda frequencies, samples: np.abs((frequencies + samples // 2) % samples - samples // 2),
            "Where samples is odd, half of it is not a whole number: use samples / 2.",
        ),
    ),
    alternatives=(
        _folded,
        lambda frequencies, samples: np.arccos(np.cos(TURN * frequencies / samples)) * samples / TURN,
        lambda frequencies, samples: [
            min(abs(each - k * samples) for k in range(6)) for each in frequencies.tolist()
        ],
    ),
    absolute_tolerance=1e-5,
    hints=(
        "How many turns does the wave make from one sample to the next? Whole turns cannot be seen.",
        "Three quarters of a turn forwards look like one quarter backwards.",
        "So find the multiple of `samples` nearest to the frequency, with `np.round`. How far away is it?",
    ),
)
