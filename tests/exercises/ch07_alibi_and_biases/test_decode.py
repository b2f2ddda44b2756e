"""`07-alibi-and-biases.decode`: its reference, and answers that no list foresaw."""

from __future__ import annotations

NOT_KNOWN = (("decode", lambda tokens, model, past: (model["embedding"][tokens], past), None),)
