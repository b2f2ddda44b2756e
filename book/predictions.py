"""How a prediction's answer is written: `book/_ext/predict.py` says what it means."""

from __future__ import annotations

import re

MARK = re.compile(r"\[(?P<mark>[ x])\] +")
"""Of an option: whether it is the right one."""
OPTION = re.compile(rf"- {MARK.pattern}(?P<text>\S.*)")
NUMBER = re.compile(
    r"= *(?P<value>-?[\d,]*\.?\d+(?:e-?\d+)?)(?: *± *(?P<within>\d*\.?\d+(?:e-?\d+)?)(?P<percent> *%)?)?"
)
