"""`05-pitfalls.attend_cached`: its reference, and answers that no list foresaw."""

from __future__ import annotations

NOT_KNOWN = (("attend_cached", lambda q, k, v, keys, values: (q * 2, keys * 2, values * 2), "Number 1"),)
