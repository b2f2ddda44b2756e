"""`08-long-context.largest_offsets`: its reference, and answers that no list foresaw."""

from __future__ import annotations

from posenc_course.checking import report_on
from posenc_course.exercises.ch08_long_context.largest_offsets import LARGEST_OFFSETS

NOT_KNOWN = (
    ("largest_offsets", (131_071, 4095, 8191, 2000, 2047), "For model D: "),
    ("largest_offsets", (131_070, 4095, 8191, 2209, 2047), "For model A: "),
    ("largest_offsets", (131_071, 4094, 8190, 2209, 2046), "For model C: "),
)


WRITTEN_IN_ANOTHER_WAY = (("largest_offsets", [131_072, 4095, 8191, 2209, 2047], "keys-in-a"),)


def test_a_quotient_rounded_up_is_told_to_be_rounded_down():
    assert "rounded down" in str(report_on(LARGEST_OFFSETS.id, (131_071, 4095, 8191, 2210, 2047)))
