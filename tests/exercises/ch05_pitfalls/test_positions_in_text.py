"""`05-pitfalls.positions_in_text`: its reference, and answers that no list foresaw."""

from __future__ import annotations

NOT_KNOWN = (("positions_in_text", lambda texts: texts * 3 - 1, "negative"),)
