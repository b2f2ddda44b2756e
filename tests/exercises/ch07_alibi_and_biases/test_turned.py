"""`07-alibi-and-biases.turned`: its reference, and answers that no list foresaw."""

from __future__ import annotations

NOT_KNOWN = (
    ("turned", lambda x, start, base: x + start, "every row must be as long"),
    ("turned", lambda x, start, base: x, None),
    ("turned", lambda x, start, base: x[..., ::-1], "At position 0"),
)
