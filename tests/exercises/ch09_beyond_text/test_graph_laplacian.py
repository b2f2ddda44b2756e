"""`09-beyond-text.graph_laplacian`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

NOT_KNOWN = (("graph_laplacian", lambda adjacency: np.zeros(adjacency.shape), None),)
