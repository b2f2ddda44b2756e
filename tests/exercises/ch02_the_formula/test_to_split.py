"""`02-the-formula.to_split`: its reference, and answers that no list foresaw."""

from __future__ import annotations

NOT_KNOWN = (
    ("to_split", lambda table: table[:, ::-1], None),
    ("to_split", lambda table: table[:, ::-1], "The left half must hold the even columns"),
)
