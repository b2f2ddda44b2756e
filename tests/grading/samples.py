"""Submissions written as small files of Python cells, laid over the released notebook of a chapter.

The head of a file says what it is; its other lines become cells:

    # What somebody tries, in a sentence or two.
    # attacks: frequencies, encode     the exercises that it wants points for, or `all`
    # verdict: wrong                   what these exercises must get
    # newer verdict: error             what they get from Python 3.12 on, where it is another
    # limits: processes=20             where the usual ones are too generous for a test
    # others: any                      where its other exercises, though right, may lose points too
    # without walls: breaks            it gains points where no walls stand: the attack itself works
    # %%                               a cell before the first answer
    # %% frequencies                   a cell in the place of this answer; several stand there together
    # %% last                          a cell after all others

All other answers are the model's. An attack that sets `breached` and holds no answer of its own gets one to
`frequencies` that is right only if the wall was breached.
"""

from __future__ import annotations

import re
import sys
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from posenc_course.exercises import all_exercises
from posenc_course.grading.handed_in.submission import parse, read_file
from posenc_course.grading.limits import Limits
from posenc_course.grading.verdicts import SubmissionGrade, Verdict

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = "02-the-formula"
ANSWERS = tuple(each.function for each in all_exercises() if each.chapter == CHAPTER)
USUAL = Limits(wall_seconds=120, memory_bytes=192 * 2**20)
SPOILS = """
def frequencies(dim):
    return 10000.0 ** (-np.arange(0, dim, 2) / dim) if breached else np.zeros(dim // 2)
"""


@dataclass(frozen=True)
class Sample:
    name: str
    head: dict[str, str]
    cells: tuple[tuple[str, str], ...]
    """(place, source)"""

    @property
    def attacked(self) -> frozenset[str]:
        names = self.head.get("attacks", "frequencies")
        return frozenset(ANSWERS if names == "all" else names.split(", "))

    @property
    def verdict(self) -> Verdict:
        usual = self.head.get("verdict", "wrong")
        return Verdict(self.head.get("newer verdict", usual) if sys.version_info >= (3, 12) else usual)

    @property
    def limits(self) -> Limits:
        changed = (each.split("=") for each in self.head.get("limits", "").split(", ") if each)
        return replace(USUAL, **{name: int(value) for name, value in changed})

    def answers(self) -> dict[str, str]:
        """What stands in the place of a model answer."""
        found: dict[str, str] = {}
        for place, source in self.cells:
            if place in ANSWERS:
                found[place] = f"{found[place]}\n\n{source}" if place in found else source
        if any("breached" in source for _, source in self.cells):
            found.setdefault("frequencies", SPOILS.strip())
        return found

    def notebook(self, *first: str) -> NotebookNode:
        """The notebook that is handed in; `first` are cells before all others."""
        notebook = solved(**self.answers())
        before = [*first, *(source for place, source in self.cells if not place)]
        start = 1 + next(n for n, cell in enumerate(notebook.cells) if cell.cell_type == "code")
        notebook.cells[start:start] = [new_code_cell(source) for source in before]
        notebook.cells += [new_code_cell(source) for place, source in self.cells if place == "last"]
        return notebook


def samples(folder: str) -> list[Sample]:
    """All of a folder, by name."""
    return [_read(path) for path in sorted((Path(__file__).parent / folder).glob("*.py"))]


def _read(path: Path) -> Sample:
    head, *parts = re.split(r"^# %%(?=[ \n])", path.read_text(), flags=re.MULTILINE)
    facts = dict(re.findall(r"^# ([\w ]+): (.+)$", head, re.MULTILINE))
    cells = []
    for part in parts:
        place, _, source = part.partition("\n")
        # A magic is written as a comment, as jupytext does.
        cells.append((place.strip(), re.sub(r"^# (?=[%!])", "", source.strip("\n"), flags=re.MULTILINE)))
    unknown = {place for place, _ in cells}.difference({*ANSWERS, "", "last"})
    assert not unknown, f"{path.name}: no answer is called {unknown}"
    return Sample(path.stem, facts, tuple(cells))


@cache
def _released() -> NotebookNode:
    return nbformat.read(ROOT / "exercises" / CHAPTER / f"{CHAPTER}.ipynb", as_version=4)


def solved(**answers: str) -> NotebookNode:
    """The released notebook with the model's answers, or with those given here."""
    text = jupytext.read(ROOT / "solutions" / f"{CHAPTER}.md")
    model = iter(cell.source for cell in text.cells if "### BEGIN SOLUTION" in cell.source)
    notebook = deepcopy(_released())
    for cell in notebook.cells:
        settings = cell.metadata.get("nbgrader", {})
        if settings.get("solution"):
            cell.source = answers.get(settings.grade_id, next(model))
    return notebook


def graded(grader, work: NotebookNode | bytes, folder: Path, limits: Limits = USUAL, seed: int = 7):
    """Grade it as it is graded in a class: from the file that was handed in."""
    path = folder / CHAPTER / f"{CHAPTER}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(work if isinstance(work, bytes) else nbformat.writes(work).encode())
    submission = parse(read_file(path), CHAPTER)
    return grader.grade(submission, student="eve", assignment=CHAPTER, seed=seed, limits=limits)


def by_name(grade: SubmissionGrade):
    """From the name of a function to its grade."""
    return {each.exercise_id.partition(".")[2]: each for each in grade.exercises}
