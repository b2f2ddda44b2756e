"""`09-beyond-text.three_positions`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

NOT_KNOWN = (("three_positions", lambda parts: np.zeros((3, 5)), None),)
