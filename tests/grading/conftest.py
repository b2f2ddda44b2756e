"""What the tests of grading share: warm parents behind real walls, and submissions from a few lines."""

from __future__ import annotations

import hashlib
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jupytext
import pytest

from posenc_course.grading.handed_in.submission import Cell, Submission
from posenc_course.grading.judging.grader import Grader
from posenc_course.grading.limits import Limits
from posenc_course.grading.sandbox.warm import WarmParent
from tests.grading.class_fixtures import CHAPTER, LIGHT, release_to

ROOT = Path(__file__).resolve().parents[2]
QUICK = Limits(wall_seconds=60, memory_bytes=192 * 2**20)


@pytest.fixture(scope="session")
def warm() -> Iterator[WarmParent]:
    """A warm parent with NumPy alone. Without bubblewrap its error says how to get it."""
    with WarmParent() as parent:
        yield parent


@pytest.fixture(scope="session")
def grader() -> Iterator[Grader]:
    with Grader() as one:
        yield one


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose chapter is released, with nothing handed in. Copy it."""
    return release_to(tmp_path_factory.mktemp("released"), [CHAPTER])


@pytest.fixture(scope="session")
def released_light(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same of the chapter that needs no PyTorch."""
    return release_to(tmp_path_factory.mktemp("released"), [LIGHT])


@pytest.fixture
def inside(warm) -> Callable[..., Any]:
    """Runs cells in one fresh session; returns the text that the last one printed, or its error's."""

    def run(*cells: str, limits: Limits = QUICK, parent: WarmParent = warm) -> str:
        with parent.open(limits) as session:
            for cell in cells:
                text = printed(tell(session, cell, limits))
        return text

    return run


def tell(session, cell: str, limits: Limits = QUICK) -> dict[str, Any]:
    deadline = time.monotonic() + limits.wall_seconds
    return session.ask({"cell": textwrap.dedent(cell)}, deadline=deadline, most_bytes=2**24)


def printed(reply: dict[str, Any]) -> str:
    return "".join(
        each.get("text", "") or f"{each.get('ename')}: {each.get('evalue')}" for each in reply["outputs"]
    ).strip()


def submission(*sources: str) -> Submission:
    """A submission of these code cells."""
    cells = tuple(Cell(place, textwrap.dedent(text), None, "code") for place, text in enumerate(sources))
    return Submission(cells, hashlib.sha256("\n".join(sources).encode()).hexdigest())


def model_answers(chapter: str, **changed: str) -> Submission:
    """The solutions' own notebook, with the cells changed that define these functions or values."""
    notebook = jupytext.read(ROOT / "solutions" / f"{chapter}.md")
    cells = []
    for place, cell in enumerate(notebook.cells):
        name = next((n for n in changed if is_answer(cell.source, n)), None)
        source = textwrap.dedent(changed[name]) if name else cell.source
        cells.append(Cell(place, source, name, cell.cell_type))
    return Submission(tuple(cells), "0" * 64)


def is_answer(source: str, name: str) -> bool:
    return "### BEGIN SOLUTION" in source and (f"def {name}(" in source or f"\n{name} = " in source)
