"""`05-pitfalls.two_checkpoints`: its reference, and answers that no list foresaw."""

from __future__ import annotations


def nearly_unmoved_rows_left_out(before, after):
    factor = after[-1, 0] / before[-1, 0]
    return int((abs(after - factor * before).max(axis=1) > 1e-3).sum()), factor


NOT_KNOWN = (
    ("two_checkpoints", lambda before, after: (3, 0.5), None),
    ("two_checkpoints", nearly_unmoved_rows_left_out, "You count too few rows"),
)
