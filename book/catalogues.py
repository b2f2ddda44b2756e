"""The catalogues of other languages: what is translated of each page, and of what programs say.

    python -m book.catalogues             # after English has changed: what is to do, in every language
    python -m book.catalogues --add de    # begin another language

One file a page, in gettext's form, which Poedit and its like open: `book/locale/<language>/`, and of the text
notebooks `book/locale/<language>/solutions/`. What pages and the judge say is in
`posenc_course/locale/<language>/`, one file a chapter. Entries stand in the order of their source.

Where an English sentence has changed, its translation becomes *fuzzy*: it is kept beside the new sentence,
and readers see English until somebody renews it and takes the mark away.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from babel.core import Locale, UnknownLocaleError
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, denormalize, read_po, write_po

from book.agreement import disagreements
from book.passages import passages

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("book/*.md", "book/instructors/*.md", "book/reference/*.md", "solutions/*.md")
"""What is translated, below the root; `README`s and the like are not."""
DOMAIN = "posenc_course"
COURSE = "course"
"""The catalogue of what programs say outside of a chapter's exercises."""
OTHER_NUMBERS = "other-numbers"
"""Flag of an entry whose numbers are rightly others: a number that its language writes in another way."""


class CatalogueError(Exception):
    """A catalogue cannot be used; the message names the file and the entry."""


@dataclass(frozen=True)
class Part:
    """One catalogue: where it lies below a language's folder, and whether its entries are plain messages."""

    folder: str
    name: str
    plain: bool

    def path(self, root: Path, language: str) -> Path:
        return root / self.folder / "locale" / language / f"{self.name}.po"


CELL_PROMPTS = "nb_code_prompt_show", "nb_code_prompt_hide"
"""Settings of _config.yml: what stands on a folded cell."""
SITE = Part("book", "site", plain=True)
"""Of the book's title and its contents."""
PICTURES = Part("book", "pictures", plain=True)
"""Of the words in what cells show; the English build keeps them (book/_ext/edition.py)."""


@dataclass(frozen=True)
class Coverage:
    """How much of a catalogue is translated: entries, and those of which English has changed since."""

    name: str
    translated: int
    changed: int
    entries: int


def languages(root: Path = ROOT) -> list[str]:
    """Those that there are catalogues of, such as zh_CN."""
    return sorted(each.name for each in (root / "book" / "locale").glob("*") if each.is_dir())


def folder_of(language: str) -> str:
    """The folder of a language's edition in the site: zh of zh_CN."""
    return language.partition("_")[0]


def tag_of(language: str) -> str:
    """A language as browsers name it: zh-CN of zh_CN."""
    return language.replace("_", "-")


# --- what there is to translate


def pages(root: Path = ROOT) -> list[Path]:
    return sorted(path for pattern in PAGES for path in root.glob(pattern))


def part_of(page: Path, root: Path = ROOT) -> Part:
    """The catalogue of a page."""
    below = page.relative_to(root).with_suffix("")
    name = below.relative_to("book") if below.parts[0] == "book" else below
    return Part("book", name.as_posix(), plain=False)


def english(root: Path = ROOT, *, pictures: bool = True) -> Iterator[tuple[Part, Catalog]]:
    """Every catalogue as the sources have it, without translations.

    Args:
        root: of the project.
        pictures: also that of the words in pictures, for which the book has to be built.

    Raises:
        CatalogueError: it was not built yet.
    """
    for page in pages(root):
        yield part_of(page, root), _catalogue(each.text for each in passages(page.read_text()))
    if pictures:
        yield PICTURES, _catalogue(_picture_words(root))
    yield SITE, _catalogue(_site_words(root))
    chapters: dict[str, list[Message]] = {}
    for message in _messages(root):
        path = Path(message.locations[0][0])
        chapter = path.parts[2] if "exercises" in path.parts[:2] and len(path.parts) > 3 else COURSE
        chapters.setdefault(chapter, []).append(message)
    for chapter, found in sorted(chapters.items()):
        yield Part(DOMAIN, chapter, plain=True), _catalogue(_id(each) for each in found)


def _id(message: Message) -> str | tuple[str, ...]:
    return message.id if isinstance(message.id, str) else tuple(message.id)


def _picture_words(root: Path) -> Iterator[str]:
    """Each once, in the order of the pages.

    Raises:
        CatalogueError: the book was not built yet.
    """
    kept = root / "_build" / "edition.json"
    if not kept.exists():
        raise CatalogueError(f"{kept} is not there; build the English book first: make book")
    for words in json.loads(kept.read_text())["picture_words"].values():
        yield from words


def _site_words(root: Path) -> Iterator[str]:
    """The title of the book, whose it is, and the parts of its contents."""
    config = yaml.safe_load((root / "_config.yml").read_text())
    yield from (config["title"], config["author"])
    yield from (config["sphinx"]["config"][name] for name in CELL_PROMPTS)
    yield from (part["caption"] for part in yaml.safe_load((root / "_toc.yml").read_text())["parts"])


def _catalogue(entries: Iterable[str | tuple[str, ...]]) -> Catalog:
    made = Catalog(fuzzy=False)
    for each in entries:
        made.add(each)
    return made


def _messages(root: Path) -> list[Message]:
    """What programs say, as Babel finds it (book/babel.cfg)."""
    extract = [sys.executable, "-m", "babel.messages.frontend", "--quiet", "extract"]
    names = ("say", "set_xlabel", "set_ylabel", "set_title", "suptitle")
    options = ["--mapping", "book/babel.cfg", "--sort-by-file", "--ignore-dirs", ".* _build node_modules"]
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder) / f"{DOMAIN}.pot"
        keywords = [f"--keywords={each}" for each in names]
        subprocess.run([*extract, *options, *keywords, f"--output={to}", "."], cwd=root, check=True)
        with to.open("rb") as file:
            return [message for message in read_po(file) if _first(message.id).strip()]


# --- what is translated


def read(path: Path) -> Catalog:
    """A catalogue; an empty one where there is no such file.

    Raises:
        CatalogueError: it cannot be read.
    """
    if not path.exists():
        return Catalog()
    try:
        with path.open("rb") as file:
            catalogue = read_po(file, abort_invalid=True)
    except (PoFileError, UnicodeDecodeError, ValueError) as error:
        raise CatalogueError(f"{path}: {error}") from error
    for message in catalogue:
        _take_previous(message)
    return catalogue


def _take_previous(message: Message) -> None:
    """The English that a fuzzy entry had before, which Babel writes, and reads as lines of a comment."""
    lines = [each for each in message.user_comments if each.startswith("|")]
    if lines:
        written = " ".join(each.removeprefix("|").strip() for each in lines)
        message.previous_id = [denormalize(written.removeprefix("msgid "))]
        message.user_comments = [each for each in message.user_comments if each not in lines]


def translated(path: Path, *, plain: bool = False) -> dict[str, str]:
    """Each sentence of a catalogue that is translated, with its translation.

    Args:
        path: of the catalogue.
        plain: its entries are messages, and no Markdown.

    Raises:
        CatalogueError: it cannot be read, or a translation does not say the same.
    """
    found = {}
    for message in _valid(path, plain=plain):
        found[_first(message.id)] = _first(message.string)
    return found


def _valid(path: Path, *, plain: bool) -> Iterator[Message]:
    for message in read(path):
        if not message.id or message.fuzzy or not _first(message.string):
            continue
        source = message.id if isinstance(message.id, str) else message.id[-1]
        numbers = OTHER_NUMBERS not in message.flags
        if wrong := disagreements(source, _first(message.string), plain=plain, numbers=numbers):
            raise CatalogueError(
                f"{path}: the translation of {source!r} does not say the same: {'; '.join(wrong)}. "
                f"Mend it, or, where only its language writes a number otherwise, flag it {OTHER_NUMBERS}"
            )
        yield message


def _first(words: object) -> str:
    return str(words[0] if isinstance(words, (tuple, list)) else words or "")


def words_of_page(page: Path, language: str, root: Path = ROOT) -> Callable[[str], str | None]:
    """From a passage of the page to its translation, or None."""
    return translated(part_of(page, root).path(root, language)).get


def words_of_pictures(language: str, root: Path = ROOT) -> Callable[[str], str | None]:
    """From a piece of text in what a cell shows to its translation, or None."""
    return translated(PICTURES.path(root, language), plain=True).get


def words_of_site(language: str, root: Path = ROOT) -> Callable[[str], str | None]:
    """From the book's title, or the name of a part of it, to its translation, or None."""
    return translated(SITE.path(root, language), plain=True).get


def compiled(language: str, root: Path = ROOT) -> Path:
    """What programs say in a language, as gettext reads it; made anew where a catalogue is newer.

    Raises:
        CatalogueError: a catalogue cannot be read, or a translation does not say the same.
    """
    folder = root / DOMAIN / "locale" / language
    to = folder / "LC_MESSAGES" / f"{DOMAIN}.mo"
    sources = sorted(folder.glob("*.po"))
    if to.exists() and to.stat().st_mtime >= max((each.stat().st_mtime for each in sources), default=0):
        return to
    whole = Catalog(locale=language)
    for path in sources:
        for message in _valid(path, plain=True):
            whole.add(message.id, message.string)
    to.parent.mkdir(parents=True, exist_ok=True)
    with to.open("wb") as file:
        write_mo(file, whole)
    return to


# --- keeping up with the English


def renewed(path: Path, source: Catalog, language: str) -> Catalog:
    """The catalogue with the entries of the source alone; a changed one keeps its old words, as fuzzy."""
    made = Catalog(locale=language, fuzzy=False)
    old = read(path)
    old.locale = made.locale
    before = {_id(each): each.previous_id for each in old}
    old.update(source, no_fuzzy_matching=False, keep_user_comments=True, update_header_comment=False)
    for message in source:
        if not message.id:
            continue
        known = old.get(message.id)
        assert known is not None
        flags = {each for each in known.flags if each != "python-format" and each != "python-brace-format"}
        made.add(
            message.id,
            known.string,
            flags=flags,
            user_comments=known.user_comments,
            previous_id=(known.previous_id or before.get(_id(known), ())) if "fuzzy" in flags else (),
        )
    return made


def write(catalogue: Catalog, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(written(catalogue))


def written(catalogue: Catalog) -> bytes:
    """A catalogue's file, without dates and places in sources: these would change with every edit."""
    buffer = io.BytesIO()
    write_po(buffer, catalogue, width=0, omit_header=True, ignore_obsolete=True, include_previous=True)
    header = (
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n'
        f'"Language: {catalogue.locale_identifier}\\n"\n"Plural-Forms: {catalogue.plural_forms}\\n"\n\n'
    )
    return header.encode() + buffer.getvalue().lstrip()


def renew(language: str, root: Path = ROOT) -> list[Coverage]:
    """Bring every catalogue of a language up to the sources; one whose page is gone goes."""
    found, kept = [], set()
    for part, source in list(english(root)):  # all of it can be read, or nothing is written
        path = part.path(root, language)
        made = renewed(path, source, language)
        write(made, path)
        kept.add(path)
        found.append(_coverage(part, made))
    for folder in ("book", DOMAIN):
        for path in set((root / folder / "locale" / language).rglob("*.po")) - kept:
            path.unlink()
    return found


def coverage(language: str, root: Path = ROOT) -> list[Coverage]:
    """Of each catalogue, as its file has it."""
    parts = [*(part_of(page, root) for page in pages(root)), SITE, PICTURES]
    folder = root / DOMAIN / "locale" / language
    parts += [Part(DOMAIN, path.stem, plain=True) for path in sorted(folder.glob("*.po"))]
    return [_coverage(part, read(part.path(root, language))) for part in parts]


def _coverage(part: Part, catalogue: Catalog) -> Coverage:
    entries = [message for message in catalogue if message.id]
    changed = [message for message in entries if message.fuzzy]
    done = [message for message in entries if _first(message.string) and not message.fuzzy]
    return Coverage(f"{part.folder}/{part.name}", len(done), len(changed), len(entries))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--add", metavar="LANGUAGE", help="begin a language, such as de or pt_BR")
    parser.add_argument("--compile", action="store_true", help="only make what gettext reads of them")
    options = parser.parse_args()
    wanted = languages()
    if options.compile:
        try:
            for language in wanted:
                compiled(language)
        except CatalogueError as error:
            sys.exit(f"error: {error}")
        return
    if options.add:
        try:
            wanted = [str(Locale.parse(options.add))]
        except (UnknownLocaleError, ValueError):
            sys.exit(f"error: {options.add!r} is no language that is known; give one such as de or pt_BR")
    for language in wanted:
        try:
            found = renew(language)
        except CatalogueError as error:
            sys.exit(f"error: {error}")
        done, entries = sum(each.translated for each in found), sum(each.entries for each in found)
        print(f"{language}: {done} of {entries} entries are translated")
        for each in found:
            if each.translated < each.entries:
                changed = f", {each.changed} of which the English has changed" if each.changed else ""
                print(f"  {each.name}: {each.entries - each.translated} to do{changed}")


if __name__ == "__main__":
    main()
