"""Work that was handed in where nobody looks for it: a folder too high or too deep, or of a misspelt name."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path, PurePath

from posenc_course.exercises import assignments
from posenc_course.grading.untrusted import visible
from posenc_course.translation import _

DEPTH = 6
"""Folders below `submitted` that are looked into."""
MOST_ENTRIES = 200
"""Of one folder. An assignment is one notebook, and a class has its own listing."""
ALIKE = 0.8
"""From 0 to 1: names that are at least so alike mean the same assignment."""


@dataclass(frozen=True)
class Misplaced:
    """One find."""

    student: str | None
    """Whose it seems to be."""
    sentence: str


def misplaced(submitted: Path, assignment: str, students: Collection[str] = ()) -> Iterator[Misplaced]:
    """What seems to be of this assignment, and is not `<student>/<assignment>/<assignment>.ipynb`.

    Args:
        students: only theirs; everyone's if empty.
    """
    for parts in _candidates(submitted, assignment, students):
        student = _whose(parts, assignment)
        if students and student not in students:
            continue
        found = visible(os.fsencode(Path(*parts)).decode(errors="backslashreplace"))
        whose = visible(os.fsencode(student or "<student>").decode(errors="backslashreplace"))
        yield Misplaced(
            student,
            _("{found} is in the wrong place. If it belongs to {assignment}, move it to {place}").format(
                found=found, assignment=assignment, place=f"{whose}/{assignment}/{assignment}.ipynb"
            ),
        )


def _whose(parts: tuple[str, ...], assignment: str) -> str | None:
    """The folder above the assignment's, or the one in it where that is the uppermost."""
    *folders, last = parts
    like = next((place for place, each in enumerate(parts) if _means(each, assignment)), len(folders))
    if like:
        return parts[like - 1] if like < len(folders) else folders[0]
    stem = PurePath(last).stem
    return folders[1] if len(folders) > 1 else None if _means(stem, assignment) else stem


def others_beside(folder: Path, assignment: str) -> list[str]:
    """Other notebooks in the folder of a submission whose notebook is there."""
    names = sorted(each.name for each in _entries(folder) if each.name.endswith(".ipynb"))
    wanted = f"{assignment}.ipynb"
    return [visible(os.fsencode(n).decode(errors="backslashreplace")) for n in names if n != wanted]


def _candidates(submitted: Path, assignment: str, students: Collection[str]) -> Iterator[tuple[str, ...]]:
    """Paths of notebooks and of folders without one, seen from `submitted`."""
    for top in _entries(submitted, most=None):
        if not students or top.name in students or _means(top.name, assignment):
            yield from _below(top, (top.name,), assignment)


def _below(entry: os.DirEntry[str], parts: tuple[str, ...], assignment: str) -> Iterator[tuple[str, ...]]:
    name = parts[-1]
    if entry.is_symlink() or name.startswith(".") or name == "__pycache__":
        return
    if not entry.is_dir(follow_symlinks=False):
        about = any(_means(each, assignment) for each in (*parts[:-1], PurePath(name).stem))
        alone = len(parts) <= 2  # no folder says which assignment it is
        if name.endswith(".ipynb") and (about or alone):
            yield parts
        return
    if len(parts) > DEPTH or _of_another(name, assignment):
        return
    if len(parts) == 2 and name == assignment:
        # Here it belongs; what is wrong with the folder itself, its grade says.
        if not os.path.lexists(Path(entry.path, f"{assignment}.ipynb")):
            inner = (each for each in _entries(Path(entry.path)) if each.is_dir(follow_symlinks=False))
            for each in inner:
                yield from _below(each, (*parts, each.name), assignment)
        return
    found = False
    for each in _entries(Path(entry.path)):
        for candidate in _below(each, (*parts, each.name), assignment):
            found = True
            yield candidate
    if not found and len(parts) == 2 and _means(name, assignment):
        yield parts


@lru_cache(maxsize=10_000)
def _means(name: str, assignment: str) -> bool:
    """Whether a name is most like this assignment's, of all assignments that there are."""
    likeness = {each: _likeness(name, each) for each in {*_assignments(), assignment}}
    return likeness[assignment] >= ALIKE and likeness[assignment] == max(likeness.values())


def _of_another(name: str, assignment: str) -> bool:
    return name != assignment and name in _assignments()


def _likeness(name: str, assignment: str) -> float:
    plain, wanted = _plain(name), _plain(assignment)
    if plain == wanted or re.sub(r"^\d+", "", wanted) == plain:
        return 1.0
    if len(plain) > 2 * len(wanted) + 20:
        return 0.0
    return max(difflib.SequenceMatcher(None, plain, wanted).ratio(), 0.9 * (wanted in plain))


def _plain(name: str) -> str:
    """Without what differs by accident: case, spaces and signs, leading zeros, the number of a copy."""
    name = re.sub(r"(\.ipynb|\.zip)+$", "", name.casefold())
    name = re.sub(r"\(\d+\)$|[-_ ]copy\d*$", "", name.strip())
    return re.sub(r"[\W_]", "", name).lstrip("0")


@cache
def _assignments() -> set[str]:
    return set(assignments())


def _entries(folder: Path, most: int | None = MOST_ENTRIES) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(islice(entries, most), key=lambda each: each.name)
    except OSError:
        return []
