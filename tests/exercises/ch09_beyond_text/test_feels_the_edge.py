"""`09-beyond-text.feels_the_edge`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

NOT_KNOWN = (("feels_the_edge", lambda length, taps, layers: np.arange(length) == 0, None),)
