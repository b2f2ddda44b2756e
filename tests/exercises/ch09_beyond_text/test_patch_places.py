"""`09-beyond-text.patch_places`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

NOT_KNOWN = (
    ("patch_places", lambda height, width: np.zeros((height * width, 2)), None),
    ("patch_places", lambda height, width: np.zeros((height, width)), "one line for each patch"),
)


WRITTEN_IN_ANOTHER_WAY = (
    (
        "patch_places",
        lambda height, width: np.stack(np.meshgrid(range(height), range(width)), axis=-1).reshape(-1, 2),
        "down-the-columns",
    ),
)
