"""The code on a certificate: a checksum of what stands on it, the same in Python and in the page.

`book/web/src/certificate-code.js` computes the same. It is no signature: anyone can make one.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from posenc_course.translation import _

FORMAT = "posenc-certificate"
VERSION = 1
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base 32: nothing in it is taken for something else."""
LENGTH = 20
"""Characters of a code: 100 bits."""
_LOOKS_LIKE = str.maketrans("OIL", "011")
_HALVES = re.compile("[\ud800-\udfff]")


def code_of(name: str, date: str, answers: Mapping[str, str]) -> str:
    """The code of a certificate, in groups of five.

    Args:
        name: as it stands on the certificate.
        date: as 2026-11-23.
        answers: of each exercise's id, `fingerprint` of the answer that passed.

    Example:
        >>> code_of("Ada", "2026-11-23", {})
        'WAGCC-PZ2XB-Q89JX-KSY6W'
    """
    statement = {"format": FORMAT, "version": VERSION, "name": name, "date": date, "answers": dict(answers)}
    bits = int.from_bytes(sha256(canonical(statement).encode()).digest(), "big") >> (256 - 5 * LENGTH)
    letters = [ALPHABET[bits >> (5 * place) & 31] for place in reversed(range(LENGTH))]
    return "-".join("".join(letters[start : start + 5]) for start in range(0, LENGTH, 5))


def fingerprint(code: str) -> str:
    """SHA-256 of an answer's code."""
    return sha256(canonical(code).encode()).hexdigest()


def checksum(exported: Mapping[str, Any]) -> str:
    """What an exported file says of itself: SHA-256 of all else that is in it."""
    rest = {key: value for key, value in exported.items() if key != "checksum"}
    return sha256(canonical(rest).encode()).hexdigest()


def read_code(typed: str) -> str | None:
    """A code as people type it, in groups of five; None where it is none."""
    letters = "".join(each for each in typed.upper() if not each.isspace() and each not in "-–—_").translate(
        _LOOKS_LIKE
    )
    if len(letters) != LENGTH or not set(letters) <= set(ALPHABET):
        return None
    return "-".join(letters[start : start + 5] for start in range(0, LENGTH, 5))


def canonical(value: Any) -> str:
    """JSON in one form alone (RFC 8785): sorted keys, no spaces, numbers as JavaScript writes them."""
    if isinstance(value, dict):
        pairs = sorted(value.items(), key=lambda pair: pair[0].encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{canonical(key)}:{canonical(each)}" for key, each in pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, str):
        # Halves of characters, which no UTF-8 has, are written out, as in JavaScript.
        return _HALVES.sub(lambda half: f"\\u{ord(half[0]):04x}", json.dumps(value, ensure_ascii=False))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(float(value))
    return json.dumps(value)


def _number(value: float) -> str:
    """The shortest digits that give the number back, as ECMAScript sets them."""
    if not math.isfinite(value):
        raise ValueError(_("JSON has no infinity and no NaN"))
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _e, exponent = f"{abs(value)!r}".partition("e")
    whole, _point, part = mantissa.partition(".")
    digits = (whole + part).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + part) - len(digits))
    digits = digits.rstrip("0")
    if 0 < point <= 21:
        if len(digits) <= point:
            return sign + digits.ljust(point, "0")
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    more = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{more}e{point - 1:+d}"
