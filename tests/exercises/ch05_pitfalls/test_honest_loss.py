"""`05-pitfalls.honest_loss`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

NOT_KNOWN = (("honest_loss", lambda losses, mask: losses.max(), None),)


def mean_of_padding(losses, mask):
    with np.errstate(all="ignore"):
        return losses[mask == 0].sum() / np.float64((mask == 0).sum())


WRITTEN_IN_ANOTHER_WAY = (
    ("honest_loss", lambda losses, mask: losses.sum() / losses.size, "padding-counted"),
    ("honest_loss", mean_of_padding, "padding-alone"),
)
