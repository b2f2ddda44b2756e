"""`07-alibi-and-biases.look`: its reference, and answers that no list foresaw."""

from __future__ import annotations

NOT_KNOWN = (
    ("look", lambda x, layer, model, past: (x, past), "All of your 2 values are wrong"),
    ("look", lambda x, layer, model, past: x, "There should be 2 values"),
)
