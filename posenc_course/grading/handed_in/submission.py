"""Read what a learner handed in: a file that nobody vouches for.

What happens by accident (cells deleted, doubled, moved, added; a check edited; a `grade_id` lost) is repaired
or ignored, with a note: answers are found by their names once all cells ran. What is no notebook is
`Unreadable`, with a sentence that says why and what to do.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from posenc_course.exercises import assignments, exercises_of
from posenc_course.grading.processes.aside import OverLimit, aside
from posenc_course.grading.untrusted import pictures, visible
from posenc_course.translation import _

MAX_FILE_BYTES = 32 * 2**20
"""A notebook with all its pictures has a few megabytes."""
MAX_CELLS = 5_000
MOST_NAMED = 100
"""Characters of a name that a sentence repeats."""


class Unreadable(Exception):
    """A file that cannot be graded; `reason` is what its learner reads."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class HandedIn:
    """A submitted file as it was found. It is read once, so that what was looked at is what is graded."""

    fingerprint: str
    """Tells one state of it from another: SHA-256 of its bytes, where they can be read."""
    data: bytes = b""
    problem: str = ""
    """Why there is nothing to grade, for its learner; empty where there is."""


@dataclass(frozen=True)
class Cell:
    """One cell, as far as grading needs it."""

    place: int
    """Counted from 0 in the submitted file."""
    source: str
    grade_id: str | None
    kind: Literal["code", "markdown", "raw"]
    attachments: Mapping[str, Any] = field(default_factory=dict)
    """Pictures pasted into a text cell, in nbformat's form."""


@dataclass(frozen=True)
class Submission:
    """A submitted notebook that can be graded."""

    cells: tuple[Cell, ...]
    digest: str
    """SHA-256 of the file."""
    notes: tuple[str, ...] = ()
    """What was repaired or ignored, in sentences that the learner reads too."""


def read_file(path: Path) -> HandedIn:
    """The file at `submitted/<student>/<assignment>/<assignment>.ipynb`, whatever lies there.

    No link is followed in the last three parts of the path, and nothing is read of a file that is too big.
    """
    try:
        data = _bytes(path)
    except Unreadable as error:
        return HandedIn(_fingerprint_unread(path), problem=error.reason)
    empty = "" if data else _("The file is empty. Save your notebook and hand it in again.")
    return HandedIn(hashlib.sha256(data).hexdigest(), data, empty)


def parse(found: HandedIn, assignment: str) -> Submission:
    """The notebook in a file.

    Raises:
        Unreadable: there is no file that can be read, or it is no notebook, or no Python notebook.
    """
    if found.problem:
        raise Unreadable(found.problem)
    notebook = _notebook(found.data)
    _require_python(notebook)
    cells, notes = _cells(notebook["cells"])
    return Submission(cells, found.fingerprint, (*notes, *_unexpected(cells, assignment)))


def parse_aside(found: HandedIn, assignment: str) -> Submission:
    """`parse` where no file can cost more than it may; Unreadable where it does."""
    if found.problem:
        raise Unreadable(found.problem)
    try:
        return aside(parse, found, assignment)
    except OverLimit as error:
        raise Unreadable(
            _(
                "Reading the file takes too long, or too much memory. "
                "Clear the outputs of all cells, save, and hand it in again."
            )
        ) from error


def _fingerprint_unread(path: Path) -> str:
    """Tells one state from another of what cannot be read."""
    try:
        facts = path.lstat()
        described = f"{facts.st_mode} {facts.st_size} {facts.st_mtime_ns} {facts.st_ino}"
    except OSError as error:
        # What else lies there decides what the learner is told.
        described = f"{error.errno} {_neighbours(path)}"
    return hashlib.sha256(described.encode()).hexdigest()


def _bytes(path: Path) -> bytes:
    try:
        with _opened(path) as file:
            size = os.fstat(file).st_size
            if size > MAX_FILE_BYTES:
                raise Unreadable(
                    _(
                        "The file has {size} MB; at most {limit} MB are allowed. "
                        "Clear the outputs of all cells, save, and hand it in again."
                    ).format(size=round(size / 2**20), limit=MAX_FILE_BYTES // 2**20)
                )
            return _all_bytes(file)
    except FileNotFoundError as error:
        raise Unreadable(_missing(path)) from error
    except OSError as error:
        raise Unreadable(
            _("The file cannot be read: {problem}. Hand it in again.").format(problem=error.strerror)
        ) from error


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """The file, opened one folder after the other so that no link leads elsewhere."""
    student, assignment = path.parent.parent, path.parent
    folder = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    steps = [(str(student), folder), (assignment.name, folder)]
    # A pipe that nobody writes to would never open without O_NONBLOCK.
    steps.append((path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK))
    opened: list[int] = []
    try:
        for name, flags in steps:
            try:
                opened.append(os.open(name, flags | os.O_CLOEXEC, dir_fd=opened[-1] if opened else None))
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.ENOTDIR):
                    raise Unreadable(
                        _(
                            "The file or its folder is a link to another place, or its folder is a file. "
                            "Links are not followed. Hand in the notebook itself."
                        )
                    ) from error
                raise
        if not stat.S_ISREG(os.fstat(opened[-1]).st_mode):
            raise Unreadable(
                _("There is something of that name, but it is not a file. Hand in the notebook.")
            )
        yield opened[-1]
    finally:
        for each in reversed(opened):
            os.close(each)


def _all_bytes(file: int) -> bytes:
    with os.fdopen(os.dup(file), "rb") as stream:
        # One byte more than allowed, so that a file that grows meanwhile is noticed.
        data = stream.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise Unreadable(_("The file grew while it was being read. Hand it in again."))
    return data


def _neighbours(path: Path) -> list[str]:
    """The first other notebooks in the same folder."""
    try:
        with os.scandir(path.parent) as entries:
            names = [each.name for each in islice(entries, 100)]
        return sorted(name for name in names if name.endswith(".ipynb"))[:3]
    except OSError:
        return []


def _missing(path: Path) -> str:
    others = _neighbours(path)
    if others:
        return _wrong_name(others[0], path.name)
    return _("No notebook was handed in: {name} is missing.").format(name=path.name)


def _wrong_name(found: str, wanted: str) -> str:
    return _(
        "The file is called {found}; it must be called {wanted}. Rename it and hand it in again."
    ).format(found=visible(found, MOST_NAMED), wanted=wanted)


def _notebook(data: bytes) -> dict[str, Any]:
    try:
        notebook = json.loads(data)
    except RecursionError:
        notebook = None  # JSON, but nested deeper than any notebook
    except ValueError as error:  # UnicodeDecodeError and JSONDecodeError are ValueErrors
        raise Unreadable(
            _(
                "The file is not a notebook: it does not contain JSON. "
                "Save your notebook in Jupyter and hand it in again."
            )
        ) from error
    if not isinstance(notebook, dict) or not isinstance(
        notebook.get("cells", notebook.get("worksheets")), list
    ):
        raise Unreadable(
            _(
                "The file contains JSON, but not a notebook. Save your notebook in Jupyter and hand it in "
                "again."
            )
        )
    if notebook.get("nbformat") != 4 or "cells" not in notebook:
        raise Unreadable(
            _(
                "The notebook has an old or unknown format. "
                "Open it in a current Jupyter, save, and hand it in again."
            )
        )
    if len(notebook["cells"]) > MAX_CELLS:
        raise Unreadable(
            _("The notebook has {count} cells; at most {limit} are allowed.").format(
                count=len(notebook["cells"]), limit=MAX_CELLS
            )
        )
    return notebook


def _require_python(notebook: dict[str, Any]) -> None:
    metadata = _mapping(notebook.get("metadata"))
    stated = (
        _mapping(metadata.get("kernelspec")).get("language"),
        _mapping(metadata.get("language_info")).get("name"),
    )
    for language in stated:
        if isinstance(language, str) and language and language.lower() not in ("python", "ipython"):
            raise Unreadable(
                _(
                    "The notebook is for a kernel of another language ({language}). "
                    "Choose a Python kernel, save, and hand it in again."
                ).format(language=visible(language, MOST_NAMED))
            )


def _cells(raw_cells: list[Any]) -> tuple[tuple[Cell, ...], list[str]]:
    answers = {each.function for name in assignments() for each in exercises_of(name)}
    cells: list[Cell] = []
    no_code: list[str] = []
    for place, raw in enumerate(raw_cells):
        source = _source(raw)
        if source is None:
            raise Unreadable(
                _(
                    "Cell number {number} of the notebook is malformed. "
                    "Save it in Jupyter and hand it in again."
                ).format(number=place + 1)
            )
        grade_id = _mapping(_mapping(raw.get("metadata")).get("nbgrader")).get("grade_id")
        grade_id = _printable(grade_id) if isinstance(grade_id, str) and grade_id else None
        is_code = raw.get("cell_type") == "code"
        if not is_code and grade_id in answers:
            is_code = True
            no_code.append(grade_id)
        kind: Literal["code", "markdown", "raw"] = "code" if is_code else "raw"
        attachments: dict[str, dict[str, str]] = {}
        if raw.get("cell_type") == "markdown" and not is_code:
            kind = "markdown"
            attachments = pictures(raw.get("attachments"))
        cells.append(Cell(place, source, grade_id, kind, attachments))
    told = _("Answer cells that were no longer code cells: {names}. They were run as code.")
    return tuple(cells), [told.format(names=", ".join(no_code))] if no_code else []


def _source(raw: Any) -> str | None:
    """A cell's text, which nbformat also allows as a list of lines; None where there is none."""
    source = raw.get("source") if isinstance(raw, dict) else None
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    return _printable(source) if isinstance(source, str) else None


def _unexpected(cells: tuple[Cell, ...], assignment: str) -> Iterator[str]:
    """A sentence for each way in which cells of the assignment are missing, doubled or changed."""
    found = Counter(cell.grade_id for cell in cells if cell.grade_id is not None)
    sources = {cell.grade_id: cell.source for cell in cells}
    exercises = exercises_of(assignment)
    checks = {f"check-{each.function}": each for each in exercises}
    doubled = [
        f"{name} ({found[name]})"
        for each in exercises
        for name in (each.function, f"check-{each.function}")
        if found[name] > 1
    ]
    changed = [
        name
        for name, each in checks.items()
        if found[name] and f'check("{each.id}", {each.function})' not in sources[name]
    ]
    for names, sentence in (
        (
            [each.function for each in exercises if not found[each.function]],
            _("Answer cells that are missing: {names}. Each answer was looked for in all other cells."),
        ),
        (doubled, _("Cells that occur several times: {names}. All of them were run.")),
        (changed, _("Checks that were changed: {names}. The answers were judged as if they were not.")),
        (
            [name for name in checks if not found[name]],
            _("Checks that are missing: {names}. The answers were judged anyway."),
        ),
    ):
        if names:
            yield sentence.format(names=", ".join(names))


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _printable(text: str) -> str:
    """The text as it can be written to a file: JSON may hold halves of characters, which cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")
