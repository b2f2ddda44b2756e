"""`02-the-formula.encode`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math


def sines_then_cosines(position, dim):
    angles = [position * 10000 ** (-2 * i / dim) for i in range(dim // 2)]
    return [math.sin(angle) for angle in angles] + [math.cos(angle) for angle in angles]


NOT_KNOWN = (("encode", lambda position, dim: [0.0, 1.0] * (dim // 2), None),)


WRITTEN_IN_ANOTHER_WAY = (("encode", sines_then_cosines, "halves"),)
