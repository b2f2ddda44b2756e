"""`01-why-order-matters.saturating_width`: its reference, and answers that no list foresaw."""

from __future__ import annotations

NOT_KNOWN = (
    ("saturating_width", lambda keys, share: 0, "at least one"),
    ("saturating_width", lambda keys, share: keys + 0.5, "at least one"),
    ("saturating_width", lambda keys, share: 1, "the head must be wider"),
    ("saturating_width", lambda keys, share: 400, "one column narrower"),
)
