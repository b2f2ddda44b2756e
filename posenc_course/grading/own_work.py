"""What somebody wrote in the folders of exercises, kept while these are made anew."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import nbformat

from posenc_course.translation import _

KEPT = "my-answers"
"""The folder in `exercises/`: JupyterLab shows it, and nbgrader hands nothing of it out."""
TO_WRITE = ("raise NotImplementedError", "YOUR ANSWER HERE")
"""What stands in a released answer where something is to be written: in programs, and in texts."""


@contextmanager
def own_work_kept(folder: Path) -> Iterator[None]:
    """While a chapter's folder is made anew.

    If that fails, the folder is as it was. Else what somebody wrote in it is in `KEPT` beside it.
    """
    before = folder.with_name(f".{folder.name}.before")
    if before.exists() and not folder.exists():  # as a run that was killed has left them
        before.rename(folder)
    _keep(before, folder)
    if folder.exists():
        folder.rename(before)
    try:
        yield
    except BaseException:
        if before.exists():
            shutil.rmtree(folder, ignore_errors=True)
            before.rename(folder)
        raise
    _keep(before, folder)


def id_of(grading: dict[str, Any], place: int) -> str:
    """The id that a cell is released with: from what it is, the same every time."""
    return str(grading.get("grade_id", f"cell-{place}")).replace("_", "-")


def _keep(before: Path, folder: Path) -> None:
    notebook = Path(f"{folder.name}.ipynb")
    for path in sorted(each for each in before.rglob("*") if each.is_file()):
        name = path.relative_to(before)
        if ".ipynb_checkpoints" in name.parts or (name == notebook and not _has_work(path, folder / name)):
            continue
        to = _free(folder.parent / KEPT / folder.name / name)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, to)
        told = _("note: {path} was replaced; what you wrote there is now in {to}")
        print(told.format(path=folder / name, to=to), file=sys.stderr)
    shutil.rmtree(before, ignore_errors=True)


def _has_work(notebook: Path, anew: Path) -> bool:
    """Whether a cell was run, answered, added or moved; it may have been, too, where nobody can read it."""
    try:
        cells = _cells(notebook)
        asked = {each["id"]: _to_write(each) for each in _cells(anew)}
        return any(
            each["id"] != id_of(each["metadata"].get("nbgrader", {}), place)
            or _to_write(each) < asked.get(each["id"], 0)
            or bool(each.get("outputs") or each.get("execution_count"))
            for place, each in enumerate(cells)
        )
    except Exception:  # what reading a file that is no notebook runs into has no common name
        return True


def _cells(notebook: Path) -> list[Any]:
    return list(nbformat.read(notebook, as_version=nbformat.NO_CONVERT)["cells"])


def _to_write(cell: Any) -> int:
    return sum(cell["source"].count(each) for each in TO_WRITE)


def _free(path: Path) -> Path:
    """This path, or one with a number where something lies there."""
    numbered = (path.with_stem(f"{path.stem}-{number}") for number in count(2))
    return path if not path.exists() else next(each for each in numbered if not each.exists())
