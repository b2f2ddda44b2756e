"""Translation of what a learner reads: whole sentences, looked up by gettext.

The language is that of the environment (LANGUAGE=de, say); the site's is `language` in _config.yml.
"""

from __future__ import annotations

import gettext
from pathlib import Path

DOMAIN, FOLDER = "posenc_course", Path(__file__).parent / "locale"

_catalogue = gettext.NullTranslations()


def speak(*languages: str) -> gettext.NullTranslations:
    """Use the first of these languages that there is a catalogue of, else English; return the catalogue."""
    global _catalogue
    _catalogue = gettext.translation(DOMAIN, FOLDER, languages or None, fallback=True)
    return _catalogue


def _(sentence: str) -> str:
    return _catalogue.gettext(sentence)


speak()
