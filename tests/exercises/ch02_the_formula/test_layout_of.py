"""`02-the-formula.layout_of`: its reference, and answers that no list foresaw."""

from __future__ import annotations

NOT_KNOWN = (("layout_of", lambda rows: "interleaved", "The one that you were given does not"),)


WRITTEN_IN_ANOTHER_WAY = (
    ("layout_of", lambda rows: ["split", "interleaved"][int(rows[0, 1])], "second-column-alone"),
)
