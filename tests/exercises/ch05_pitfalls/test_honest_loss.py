"""`05-pitfalls.honest_loss`: its reference, and answers that no list foresaw."""

from __future__ import annotations

NOT_KNOWN = (("honest_loss", lambda losses, mask: losses.max(), None),)


WRITTEN_IN_ANOTHER_WAY = (
    ("honest_loss", lambda losses, mask: losses.sum() / losses.size, "padding-counted"),
)
