"""Names and texts of learners, as a terminal or a table may show them."""

from __future__ import annotations

import unicodedata

_JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
"""Invisible, but Persian and Indic names are written with them."""
_OBEYED = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Categories of Unicode that a terminal obeys, or that hide or turn what stands beside them."""


def visible(text: str, most: int = 2000) -> str:
    r"""The text on one line, where nothing is obeyed by a terminal, hidden, or turned around.

    Control characters, line breaks, overrides of the direction of writing and the like are written as Python
    writes them (`\x1b`). What is longer than `most` characters is cut.
    """
    cut = text if len(text) <= most else text[:most] + " ..."
    return "".join(
        ascii(each)[1:-1] if unicodedata.category(each) in _OBEYED and each not in _JOINERS else each
        for each in cut
    )
