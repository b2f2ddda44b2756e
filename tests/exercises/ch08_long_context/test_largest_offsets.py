"""`08-long-context.largest_offsets`: its reference, and answers that no list foresaw."""

from __future__ import annotations

NOT_KNOWN = (
    ("largest_offsets", (131_071, 4095, 8191, 2000, 2047), "For model D: "),
    ("largest_offsets", (131_070, 4095, 8191, 2209, 2047), "For model A: "),
    ("largest_offsets", (131_071, 4094, 8190, 2209, 2046), "For model C: "),
)


WRITTEN_IN_ANOTHER_WAY = (("largest_offsets", [131_072, 4095, 8191, 2209, 2047], "keys-in-a"),)
