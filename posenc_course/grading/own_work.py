"""What somebody wrote in the folders of exercises, kept while these are made anew."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from posenc_course.translation import _

KEPT = "my-answers"
"""The folder in `exercises/`: JupyterLab shows it, and nbgrader hands nothing of it out."""
RELEASED = "posenc_released"
"""In the metadata of a notebook: the state in which it was handed out."""


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


def state_of(notebook: NotebookNode) -> str:
    """Of all that somebody who works in it changes, in any language."""
    cells = [
        (cell.get("id"), cell["source"], cell.get("execution_count"), bool(cell.get("outputs")))
        for cell in notebook["cells"]
    ]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()[:16]


def _keep(before: Path, folder: Path) -> None:
    notebook = Path(f"{folder.name}.ipynb")
    for path in sorted(each for each in before.rglob("*") if each.is_file()):
        name = path.relative_to(before)
        if ".ipynb_checkpoints" in name.parts or (name == notebook and not _has_work(path)):
            continue
        to = _free(folder.parent / KEPT / folder.name / name)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, to)
        told = _("note: {path} was replaced; what you wrote there is now in {to}")
        print(told.format(path=folder / name, to=to), file=sys.stderr)
    shutil.rmtree(before, ignore_errors=True)


def _has_work(notebook: Path) -> bool:
    """Whether it is other than it was handed out; it may be, too, where nobody can read it."""
    try:
        found = nbformat.read(notebook, as_version=nbformat.NO_CONVERT)
        return bool(found["metadata"].get(RELEASED) != state_of(found))
    except Exception:  # what reading a file that is no notebook runs into has no common name
        return True


def _free(path: Path) -> Path:
    """This path, or one with a number where something lies there."""
    numbered = (path.with_stem(f"{path.stem}-{number}") for number in count(2))
    return path if not path.exists() else next(each for each in numbered if not each.exists())
