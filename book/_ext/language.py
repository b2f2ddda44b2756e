"""The language of the site: `language` in _config.yml, for the pages, their scripts and the cells.

Sentences come from posenc_course's catalogue of that language. Comes first among our extensions: some of them
say their words as they are loaded.
"""

from __future__ import annotations

import gettext
import json
import os
from pathlib import Path
from typing import Any

from babel.messages.extract import extract_from_file
from babel.messages.mofile import read_mo
from sphinx.application import Sphinx

from posenc_course import translation

SCRIPTS = Path(__file__).resolve().parents[1] / "web" / "src"


def of_scripts(language: str) -> dict[str, Any]:
    """What words.js wants: each sentence with its forms, and the form of each number. {}: no catalogue."""
    found = gettext.find(translation.DOMAIN, translation.FOLDER, [language])
    if found is None:
        return {}
    with Path(found).open("rb") as file:
        catalogue = read_mo(file)
    sentences = {}
    for script in sorted(SCRIPTS.glob("words-*.js")):
        for _line, sentence, *_rest in extract_from_file("javascript", script):
            one = sentence if isinstance(sentence, str) else sentence[0]
            if known := catalogue.get(one):
                sentences[one] = [known.string] if isinstance(known.string, str) else list(known.string or ())
    return {"sentences": sentences, "forms": forms_of_numbers(catalogue.plural_expr)}


def forms_of_numbers(rule: str) -> list[int]:
    """The form that each number below 200 takes; from 100 on, a larger one takes that of its last two digits.

    As a list and not as the rule, since a page may be forbidden to make code of text.
    """
    form_of = gettext.c2py(rule)
    return [form_of(number) for number in range(200)]


def setup(app: Sphinx) -> dict[str, bool]:
    os.environ["LANGUAGE"] = app.config.language  # for the kernels that run the cells
    translation.speak(app.config.language)
    if words := of_scripts(app.config.language):
        told = json.dumps(words).replace("<", "\\u003c")  # nothing in it ends the script
        app.add_js_file(None, body=f"window.posencWords = {told};")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
