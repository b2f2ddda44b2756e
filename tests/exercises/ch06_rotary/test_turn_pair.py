"""`06-rotary.turn_pair`: its reference, and answers that no list foresaw."""

from __future__ import annotations

NOT_KNOWN = (("turn_pair", lambda pair, position, frequency: 2 * pair, None),)
