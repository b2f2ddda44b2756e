"""`09-beyond-text.seen_frequency`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch09_beyond_text.seen_frequency import SEEN_FREQUENCY


@pytest.mark.parametrize("samples", [7, 12])
def test_the_seen_frequency_is_where_the_spectrum_of_the_samples_peaks(samples):
    units = 20
    for frequency in np.arange(0.05, 30, 0.85):
        wave = np.cos(2 * np.pi * frequency * np.arange(units * samples) / samples)
        peak = np.abs(np.fft.rfft(wave, n=64 * len(wave))).argmax() / (64 * units)
        seen = SEEN_FREQUENCY.reference(np.array([frequency]), samples)[0]
        assert seen == pytest.approx(peak, abs=0.02)


NOT_KNOWN = (
    ("seen_frequency", lambda frequencies, samples: frequencies / samples, None),
    (
        "seen_frequency",
        lambda frequencies, samples: [
            f % samples if f % samples <= samples // 2 else samples - f % samples for f in frequencies
        ],
        "half of samples is the most",
    ),
)


WRITTEN_IN_ANOTHER_WAY = (
    (
        "seen_frequency",
        lambda frequencies, samples: [abs((f + samples // 2) % samples - samples // 2) for f in frequencies],
        "half-cut-to-a-whole-number",
    ),
    (
        "seen_frequency",
        lambda frequencies, samples: [samples - f % samples for f in frequencies],
        "rest-of-the-turn",
    ),
)
