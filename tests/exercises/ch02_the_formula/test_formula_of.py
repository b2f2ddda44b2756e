"""`02-the-formula.formula_of`: its reference, and answers that no list foresaw."""

from __future__ import annotations

NOT_KNOWN = (("formula_of", lambda rows: ("paper", 10000.0), None),)
