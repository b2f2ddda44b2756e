"""`05-pitfalls.seen`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

NOT_KNOWN = (("seen", lambda past, new: np.eye(new, past + new) > 0, None),)


WRITTEN_IN_ANOTHER_WAY = (("seen", lambda past, new: [[True] * (past + new)] * new, "all-seen"),)
