"""The book in other languages: the same pages from translated sources, built after the English book.

    _build/zh/              a book of its own: translated pages and text notebooks, links to all else
    _build/html/zh/         its site, inside the English one: scripts, styles and Python are there once

    python -m book.editions zh_CN     put the learners' notebooks in this language into exercises/

Cells are not run again: the translated page has the same, so that what they showed in English is found in the
cache. Passages without a translation stay English; a page that has some says so.
"""

from __future__ import annotations

import gettext
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from book import catalogues
from book.catalogues import CELL_PROMPTS, Coverage, folder_of, languages, pages, words_of_page, words_of_site
from book.passages import passages, replaced
from book.run_sphinx import build_pages
from book.stamps import changed, keep

SOURCES = "_ext", "_static", "references.bib", "web", "lite", "locale"
"""Of `book/`: what every edition has in common."""
SHARED = "posenc_lib", "posenc_course", "benchmarks", "examples"
IMPORTED = "from posenc_course import check"
"""Where a text notebook learns of the judge: from there on, its translation asks for its language."""
SPEAKING = '\nfrom posenc_course.translation import speak as _speak\n\n_speak("{}")'
"""With a name that is not told to a learner who looks for one."""
GLOSSARY = re.compile(
    r"(?P<before>^```\{glossary\}\n)(?P<entries>.*?)(?P<after>^```$)", re.MULTILINE | re.DOTALL
)
ORDER: dict[str, Callable[[str], Any]] = {"zh": lambda term: term.encode("gb18030")}
"""How a language sorts, where not by letters: the common characters of GB 18030 stand by their pinyin."""
BEHIND_PAGES = "library.sha256", "formulas.sha256"
"""Stamps of the English build (book/build.py): of what its pages hang on beside their own text."""
TITLE = re.compile(r"^# .+\n(?:<!-- anchor: .*-->\n)?", re.MULTILINE)
"""With what keeps its address, which stays next to it."""
FROM_CODE = re.compile(r"^\.\. auto(?:function|class|module)::", re.MULTILINE)
"""What shows a docstring."""
COUNTED = "book/translation"
"""The page that says how much is translated."""


def build_editions(root: Path, environment: dict[str, str]) -> None:
    """Build the book of every language that there are catalogues of, into the English site.

    Raises:
        CatalogueError: a catalogue cannot be used.
        CalledProcessError, OSError: as `build_pages`.
    """
    for language in languages(root):
        tree = write_sources(root, language)
        forget_what_is_old(root, tree, language)
        release(root, tree, language, environment)
        print(f"building the pages of {language}", flush=True)
        try:
            build_pages(tree, environment)
        except (subprocess.CalledProcessError, OSError):
            shutil.rmtree(tree / "_build" / ".doctrees", ignore_errors=True)
            raise
        place(tree / "_build" / "html", root / "_build" / "html", folder_of(language))


def forget_what_is_old(root: Path, tree: Path, language: str) -> None:
    """Have every page read again where words of programs, the library or the setter of formulas are others.

    Sphinx sees that a page has changed, and not what extensions put into it.
    """
    behind = [catalogues.compiled(language, root)]
    behind += [path for name in BEHIND_PAGES if (path := root / "_build" / name).exists()]
    stamp = tree / "_build" / "behind.sha256"
    if changed(stamp, behind):
        shutil.rmtree(tree / "_build" / ".doctrees", ignore_errors=True)
        keep(stamp, behind)


# --- the sources


def write_sources(root: Path, language: str) -> Path:
    """The folder of a book in this language; what did not change in it keeps its date.

    Raises:
        CatalogueError: a catalogue cannot be used.
    """
    tree = root / "_build" / folder_of(language)
    for name in SHARED:
        _lead(tree / name, root / name)
    for name in SOURCES:
        _lead(tree / "book" / name, root / "book" / name)
    (tree / "_build").mkdir(exist_ok=True)
    for name in ("web", "wheel", ".jupyter_cache"):
        _lead(tree / "_build" / name, root / "_build" / name)
    compiled = catalogues.compiled(language, root)
    say = _sayer(compiled)
    written = set()
    for page in pages(root):
        text = translated_page(page, language, root, say)
        written.add(_write(tree / page.relative_to(root), text))
    counted = page_of_coverage(catalogues.coverage(language, root), say)
    written.add(_write(tree / f"{COUNTED}.md", counted))
    for path in {*(tree / "book").glob("*.md"), *(tree / "solutions").glob("*.md")} - written:
        path.unlink()
    _write(tree / "nbgrader_config.py", (root / "nbgrader_config.py").read_text())  # its gradebook is its own
    contents = contents_in(language, yaml.safe_load((root / "_toc.yml").read_text()), root)
    [looked_up] = (part for part in contents["parts"] if {"file": "book/glossary"} in part["chapters"])
    looked_up["chapters"].append({"file": COUNTED})
    _write(tree / "_config.yml", _dumped(_config(root, language)))
    _write(tree / "_toc.yml", _dumped(contents))
    return tree


def translated_page(page: Path, language: str, root: Path, say: Callable[[str], str]) -> str:
    """A page in this language; below its title, what of it stands in English."""
    source, known = page.read_text(), words_of_page(page, language, root)
    every = {each.text for each in passages(source)}
    waiting = sum(known(each) is None for each in every)
    text = in_order(replaced(source, known), language)
    if page.parent.name == "solutions":
        return text.replace(IMPORTED, IMPORTED + SPEAKING.format(language))
    told = []
    if waiting:
        some = say(
            "{count} of {total} passages of this page are not translated yet, and stand here in English."
        )
        told.append(some.format(count=waiting, total=len(every)))
    if FROM_CODE.search(source):
        told.append(say("Functions and classes are described in English, and so are the library's errors."))
    notes = "".join(f"\n:::{{note}}\n{each}\n:::\n" for each in told)
    return TITLE.sub(lambda found: found[0] + notes, text, count=1)


def in_order(text: str, language: str) -> str:
    """The entries of a glossary, if there is one, as a reader of the language looks for them."""
    key = ORDER.get(folder_of(language), str.casefold)

    def sorted_entries(found: re.Match[str]) -> str:
        entries = sorted(
            found["entries"].strip("\n").split("\n\n"), key=lambda entry: key(entry.split("\n")[0])
        )
        return f"{found['before']}{chr(10).join(each + chr(10) for each in entries)}{found['after']}"

    return GLOSSARY.sub(sorted_entries, text)


def page_of_coverage(found: list[Coverage], say: Callable[[str], str]) -> str:
    """How much is translated, catalogue by catalogue."""
    done, entries = sum(each.translated for each in found), sum(each.entries for each in found)
    head = (say("catalogue"), say("translated"), say("changed since"), say("passages"))
    rows = [(each.name, each.translated, each.changed, each.entries) for each in found]
    lines = [
        "| " + " | ".join(map(str, row)) + " |" for row in [head, ("---", "---:", "---:", "---:"), *rows]
    ]
    share = say("{done} of {total} passages are translated.").format(done=f"{done:,}", total=f"{entries:,}")
    title = say("How much is translated")
    return f"# {title}\n\n{share}\n\n" + "\n".join(lines) + "\n"


def _sayer(compiled: Path) -> Callable[[str], str]:
    with compiled.open("rb") as file:
        return gettext.GNUTranslations(file).gettext


def _config(root: Path, language: str) -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load((root / "_config.yml").read_text())
    known = words_of_site(language, root)
    config |= {name: known(config[name]) or config[name] for name in ("title", "author")}
    own = config["sphinx"]["config"]
    own |= {name: known(own[name]) or own[name] for name in CELL_PROMPTS}
    own |= {"language": language, "posenc_english": str(root / "_build" / "edition.json")}
    if address := config.get("html", {}).get("baseurl"):
        config["html"]["baseurl"] = f"{address.rstrip('/')}/{folder_of(language)}/"
    return config


def contents_in(language: str, contents: dict[str, Any], root: Path) -> dict[str, Any]:
    """A table of contents with the names of its parts in this language."""
    known = words_of_site(language, root)
    for part in contents["parts"]:
        part["caption"] = known(part["caption"]) or part["caption"]
        for each in part["chapters"]:
            for section in each.get("sections", ()):
                section.pop("title", None)  # the page has its own
    return contents


def _dumped(settings: dict[str, Any]) -> str:
    return str(yaml.safe_dump(settings, allow_unicode=True, sort_keys=False))


def _lead(link: Path, to: Path) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink():
        link.symlink_to(os.path.relpath(to, link.parent))


def _write(path: Path, text: str) -> Path:
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return path


def hand_out(root: Path, language: str) -> list[Path]:
    """Put the learners' notebooks in this language where nbgrader releases the English ones.

    Raises:
        CatalogueError: there is no such language, or a catalogue cannot be used.
        CalledProcessError: nbgrader refuses one.
    """
    if language not in languages(root):
        raise catalogues.CatalogueError(
            f"there are no catalogues of {language!r}; there are those of {', '.join(languages(root))}"
        )
    tree = write_sources(root, language)
    release(root, tree, language, dict(os.environ))
    made = sorted((tree / "exercises").glob("*/*.ipynb"))
    return [Path(shutil.copy(each, root / each.relative_to(tree))) for each in made]


def release(root: Path, tree: Path, language: str, environment: dict[str, str]) -> None:
    """Make the learners' notebooks of a tree, from its text notebooks.

    Raises:
        CalledProcessError: nbgrader refuses one.
    """
    sources = [*(tree / "solutions").glob("*.md"), catalogues.compiled(language, root)]
    sources += [
        *(root / "posenc_course" / "exercises").rglob("*.py"),
        *(root / "posenc_course" / "grading").glob("*.py"),
    ]
    stamp = tree / "_build" / "exercises.sha256"
    if changed(stamp, sources, tree / "exercises"):
        command = [sys.executable, "-m", "posenc_course.grading.release"]
        spoken = environment | {"POSENC_LANGUAGE": language}
        subprocess.run(command, cwd=tree, env=spoken, stdout=subprocess.DEVNULL, check=True)
        keep(stamp, sources)


# --- the site

REFERENCE = re.compile(r'(?P<before>\b(?:href|src|content)=")(?P<up>(?:\.\./)*)(?P<path>_static/[^"?#]+)')


def place(made: Path, site: Path, folder: str) -> None:
    """Put an edition's site into the English one. What both have stays there once, and pages lead to it."""
    to = site / folder
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(made, to, ignore=lambda here, names: _common(made, site, Path(here), names))
    for page in to.rglob("*.html"):
        text = page.read_text()

        def shared(found: re.Match[str]) -> str:
            up = found["up"] if (to / found["path"]).exists() else f"../{found['up']}"
            return f"{found['before']}{up}{found['path']}"

        page.write_text(REFERENCE.sub(shared, text))


def _common(made: Path, site: Path, here: Path, names: list[str]) -> set[str]:
    """Of a folder, what is the same in the English site."""
    below = here.relative_to(made)
    if below.parts[:1] != ("_static",) or below.parts[1:2] == ("lite",):  # JupyterLite is a site of its own
        return set()
    return {name for name in names if _same(here / name, site / below / name)}


def _same(one: Path, other: Path) -> bool:
    return one.is_file() and other.is_file() and one.read_bytes() == other.read_bytes()


if __name__ == "__main__":
    here, language = Path.cwd(), sys.argv[1]
    try:
        made = hand_out(here, language)
    except catalogues.CatalogueError as error:
        sys.exit(f"error: {error}")
    say = _sayer(catalogues.compiled(language, here))
    for path in made:
        print(say("released {path}").format(path=path.relative_to(here)))
