"""`02-the-formula.encode_times`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch02_the_formula._shared import encode_times

NOT_KNOWN = (
    ("encode_times", lambda times, periods: -encode_times(times, periods), None),
    ("encode_times", lambda times, periods: encode_times(np.sort(times), periods), None),
    ("encode_times", lambda times, periods: encode_times(times, np.sort(periods)), None),
    ("encode_times", lambda times, periods: encode_times(times - 12, periods), "all hands must be at twelve"),
)
