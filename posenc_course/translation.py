"""Translation of what a learner or a teacher reads: whole sentences, looked up by gettext.

The language is that of the environment (LANGUAGE=zh_CN, say); the site's is `language` in _config.yml. A
class's is that of POSENC_LANGUAGE, or else what its nbgrader_config.py gives to `speak_in`.
"""

from __future__ import annotations

import gettext
import os
import re
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

DOMAIN, FOLDER = "posenc_course", Path(__file__).parent / "locale"
ENGLISH = "en"
ASKED_FOR = "POSENC_LANGUAGE"
FULL_WIDTH = tuple("。！？：；，、）」")
"""Marks after which no space is written: their own width holds it."""

NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])[−-]?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?:e[−-]?\d+)?(?![A-Za-z0-9_])"
)

_catalogue = gettext.NullTranslations()


def speak(*languages: str) -> gettext.NullTranslations:
    """Use the first of these languages that there is a catalogue of, else English; return the catalogue."""
    global _catalogue
    _catalogue = gettext.translation(DOMAIN, FOLDER, languages or None, fallback=True)
    return _catalogue


def languages() -> list[str]:
    """Those that there is a catalogue of, such as zh_CN, beside English."""
    return sorted(each.parent.parent.name for each in FOLDER.glob(f"*/LC_MESSAGES/{DOMAIN}.mo"))


def spoken() -> str:
    """The language that is spoken."""
    return _catalogue.info().get("language", ENGLISH)


def speak_in(language: str) -> None:
    """Use the language of POSENC_LANGUAGE from here on, or else this one, in processes that are started, too.

    Args:
        language: English if it is not known; if neither asks for any, that of the environment stays.
    """
    if wanted := os.environ.get(ASKED_FOR) or language:
        os.environ["LANGUAGE"] = _known(wanted)
        speak(os.environ["LANGUAGE"])


@cache
def _known(language: str) -> str:
    """The language, if there is a catalogue of it; else English, and a line that says so, once."""
    if language in (ENGLISH, *languages()):
        return language
    known = ", ".join([ENGLISH, *languages()])
    print(
        f"posenc: the language {language!r} is not known; known are {known}. Using English", file=sys.stderr
    )
    return ENGLISH


def _(sentence: str) -> str:
    """The sentence in the language that is spoken; one with numbers may be known by its pattern."""
    if type(_catalogue) is gettext.NullTranslations:
        return sentence
    found = _catalogue.gettext(sentence)
    if found != sentence:
        return found
    pattern, numbers = without_numbers(sentence)
    return with_numbers(_catalogue.gettext(pattern), numbers) if numbers else sentence


def N_(words: str) -> str:
    """The words as they are: these are kept, or compared, and translated only where they are shown."""
    return words


def joined(*sentences: str | None) -> str:
    """Sentences one after another; between two of them the space that English has, and Chinese has not."""
    text = ""
    for each in filter(None, sentences):
        text += each if not text or text.endswith(FULL_WIDTH) else f" {each}"
    return text


def without_numbers(text: str) -> tuple[str, list[str]]:
    """A text with a place for each number, and the numbers: "dim 48" is ("dim {0}", ["48"])."""
    numbers = NUMBER.findall(text)
    places = iter(range(len(numbers)))
    return NUMBER.sub(lambda _: f"{{{next(places)}}}", text), numbers


def with_numbers(pattern: str, numbers: Sequence[str]) -> str:
    """The text again, or its translation, in which the places may come in another order."""

    def number(place: re.Match[str]) -> str:
        return numbers[int(place[1])] if int(place[1]) < len(numbers) else place[0]

    return re.sub(r"\{(\d+)\}", number, pattern)


def ngettext(one: str, many: str, count: int) -> str:
    """The sentence for one thing, or that for so many."""
    return _catalogue.ngettext(one, many, count)


speak()
