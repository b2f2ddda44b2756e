"""`08-long-context.largest_offsets`: its reference, and answers that no list foresaw."""

from __future__ import annotations

NOT_KNOWN = (("largest_offsets", (131_071, 4095, 8191, 2000, 2047), "model D"),)
