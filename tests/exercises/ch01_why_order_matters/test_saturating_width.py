"""`01-why-order-matters.saturating_width`: its reference, and answers that no list foresaw."""

from __future__ import annotations

NOT_KNOWN = (
    ("saturating_width", lambda keys, share: 0, "at least one"),
    ("saturating_width", lambda keys, share: keys + 0.5, "at least one"),
)
