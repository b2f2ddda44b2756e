"""What comes from learners, made safe to store and to show: names, texts, pictures, outputs, replies."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from posenc_course.checking.plain import decode
from posenc_course.checking.run import Outcome
from posenc_course.translation import _

SHOWN = ("text/plain", "text/latex", "image/png", "image/jpeg")
"""What is kept of displayed data. HTML and scripts would run in the browser of whoever grades."""
TEXT_CHARACTERS = 1000
"""Of a sentence that a learner's process sends."""
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""What browsers show and never run; SVG is not among them."""
MOST_PICTURE_CHARACTERS = 12 * 2**20
"""All pictures pasted into one cell, in base64."""
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f\ud800-\udfff]")
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


def pictures(attachments: Any) -> dict[str, dict[str, str]]:
    """What was pasted into a text cell, as far as it is pictures, by name: each in one form, as base64."""
    found: dict[str, dict[str, str]] = {}
    left = MOST_PICTURE_CHARACTERS
    for name, forms in attachments.items() if isinstance(attachments, Mapping) else ():
        for kind in PICTURES if isinstance(forms, Mapping) else ():
            data = forms.get(kind)
            if name not in found and isinstance(data, str) and len(data) <= left and is_base64(data):
                found[without_unseen(name)] = {kind: "".join(data.split())}
                left -= len(data)
    return found


def is_base64(text: str) -> bool:
    try:
        base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def without_unseen(text: str) -> str:
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)


def outcome_of(reply: Any) -> Outcome:
    """An outcome, or one of kind "malformed" where the reply is none."""
    match reply:
        case ["value", value, str(), str(), (int() | None) as changed]:
            try:
                return Outcome("value", value=decode(value), changed=changed)
            except ValueError as error:
                return Outcome("malformed", text=storable(str(error)))
        case ["raised", None, str(error_type), str(text), None]:
            return Outcome("raised", error_type=storable(error_type[:100]), text=storable(text))
        case ["malformed", None, str(), str(text), None]:
            return Outcome("malformed", text=storable(text))
    return Outcome("malformed", text=_("the reply is not the outcome of a call"))


def storable(text: str, most: int | None = TEXT_CHARACTERS) -> str:
    """A text that files and databases can hold: no halves of characters, no NUL, not too long."""
    return text[:most].encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def clean_outputs(outputs: Any) -> list[dict[str, Any]]:
    """The outputs of a cell that are what nbformat allows, with data that is safe to show."""
    return [clean for each in (outputs if type(outputs) is list else []) if (clean := _clean_output(each))]


def _clean_output(output: Any) -> dict[str, Any] | None:
    match output:
        case {"output_type": "stream", "name": "stdout" | "stderr" as name, "text": str(text)}:
            return {"output_type": "stream", "name": name, "text": storable(text, None)}
        case {"output_type": "error", "ename": str(ename), "evalue": str(evalue), "traceback": [*lines]}:
            return {
                "output_type": "error",
                "ename": storable(ename, None),
                "evalue": storable(evalue, None),
                "traceback": [storable(str(line), None) for line in lines],
            }
        case {"output_type": "display_data" | "execute_result", "data": {**data}} if not _shown(data):
            return None
        case {"output_type": "display_data", "data": {**data}}:
            return {"output_type": "display_data", "data": _shown(data), "metadata": {}}
        case {"output_type": "execute_result", "data": {**data}, "execution_count": int(count)} if (
            type(count) is int and 0 <= count < 2**31
        ):
            return {
                "output_type": "execute_result",
                "data": _shown(data),
                "metadata": {},
                "execution_count": count,
            }
    return None


def _shown(data: Mapping[Any, Any]) -> dict[str, str]:
    return {
        kind: storable(data[kind], None)
        for kind in SHOWN
        if isinstance(data.get(kind), str) and (not kind.startswith("image/") or is_base64(data[kind]))
    }
