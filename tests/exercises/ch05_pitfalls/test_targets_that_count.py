"""`05-pitfalls.targets_that_count`: its reference, and answers that no list foresaw."""

from __future__ import annotations

NOT_KNOWN = (("targets_that_count", lambda texts: texts == 0, "one truth value fewer"),)
