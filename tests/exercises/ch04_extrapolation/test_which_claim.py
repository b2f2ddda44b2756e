"""`04-extrapolation.which_claim`: its reference, and answers that no list foresaw."""

from __future__ import annotations

NOT_KNOWN = (
    ("which_claim", ("none", "works", "defined", "uses", "works", "none"), "number 1 is wrong"),
    ("which_claim", ("defined", "works", "works", "uses", "works", "works"), "the model raises no error"),
)
