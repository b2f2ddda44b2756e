"""Right submissions, however oddly written or saved: none loses a point.

Each file in `honest/` holds a few answers; `SAVED` holds what editors and people do to a notebook's file.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from posenc_course.grading.verdicts import SubmissionGrade, Verdict
from tests.checking import forms
from tests.grading.conftest import model_answers, submission
from tests.grading.samples import USUAL, Sample, by_name, graded, samples, solved

HONEST = samples("honest")
Notebook = dict[str, Any]
HEAD = "import math\nimport numpy as np"


@pytest.mark.parametrize("sample", HONEST, ids=lambda each: each.name)
def test_an_odd_answer_loses_nothing(grader, tmp_path, sample: Sample):
    assert_all_right(graded(grader, sample.notebook(), tmp_path, sample.limits))


def assert_all_right(grade: SubmissionGrade) -> None:
    found = by_name(grade)
    assert {name: each.feedback for name, each in found.items() if each.verdict is not Verdict.RIGHT} == {}
    assert grade.points == grade.max_points
    json.dumps(grade.to_json(), ensure_ascii=False).encode()


# --- The right thing in another form: `check` takes the same, in tests/checking/test_forms.py ------------

FORMS = {
    "loss_by_position": ("ARRAYS", tuple(forms.ARRAYS)[0::2]),
    "stretch": ("ARRAYS", tuple(forms.ARRAYS)[1::2]),
    "far_gap": ("NUMBERS", tuple(forms.NUMBERS)),
    "blocks_and_sliding": ("TUPLES", tuple(forms.TUPLES)),
    "early_share": ("TUPLES", tuple(forms.TUPLES)),
    "forgets": ("TRUTHS", tuple(forms.TRUTHS)),
    "verdict": ("TEXTS", tuple(forms.TEXTS)),
}
MOST_FORMS = max(len(names) for _, names in FORMS.values())


@pytest.mark.parametrize("number", range(MOST_FORMS))
def test_a_right_answer_loses_nothing_in_any_form(grader, number):
    """All of a chapter in other forms at once: numbers, arrays, tuples, truths, texts, a value."""
    chapter = "04-extrapolation"
    model = [cell.source for cell in model_answers(chapter).cells if "### BEGIN SOLUTION" in cell.source]
    last = []
    for name, (kind, names) in FORMS.items():
        form = f"{kind}[{names[number % len(names)]!r}]"
        last.append(
            f"{name} = {form}({name})" if name == "early_share" else f"{name} = changed({name}, {form})"
        )
    work = submission(Path(forms.__file__).read_text(), HEAD, *model, "\n".join(last))
    assert_all_right(grader.grade(work, student="ada", assignment=chapter, seed=number, limits=USUAL))


def test_there_are_enough_of_them():
    assert len(HONEST) + len(SAVED) >= 40


# --- What editors and people do to the file -----------------------------------------------------------


def is_check(cell: Notebook) -> bool:
    return cell["cell_type"] == "code" and "".join(cell["source"]).startswith("check(")


def is_tracked(cell: Notebook) -> bool:
    return "nbgrader" in cell["metadata"]


def checks_deleted(notebook: Notebook) -> None:
    notebook["cells"] = [cell for cell in notebook["cells"] if not is_check(cell)]


def checks_edited(notebook: Notebook) -> None:
    for cell in filter(is_check, notebook["cells"]):
        cell["source"] = "# I have looked at this already\nprint('fine')"


def checks_that_fail(notebook: Notebook) -> None:
    for cell in filter(is_check, notebook["cells"]):
        cell["source"] = "raise ValueError('no time left')"


def everything_twice(notebook: Notebook) -> None:
    notebook["cells"] += [dict(cell, id=f"{cell['id']}-again") for cell in notebook["cells"]]


def checks_first(notebook: Notebook) -> None:
    notebook["cells"].sort(key=lambda cell: not is_check(cell))


def shuffled(notebook: Notebook) -> None:
    """Imports stay at the top: in another order it would not run anywhere."""
    imports = [cell for cell in notebook["cells"] if "import" in "".join(cell["source"])]
    others = [cell for cell in notebook["cells"] if cell not in imports]
    random.Random(0).shuffle(others)
    notebook["cells"] = imports + others


def one_cell(notebook: Notebook) -> None:
    sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    notebook["cells"] = [new_code_cell("\n\n".join(sources))]


def ids_lost(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"] = {}


def ids_swapped(notebook: Notebook) -> None:
    """As where answers were copied from one cell to the other, with their metadata."""
    tracked = [cell for cell in notebook["cells"] if is_tracked(cell)]
    settings = [cell["metadata"] for cell in tracked]
    for cell, other in zip(tracked, reversed(settings), strict=True):
        cell["metadata"] = other


def answers_as_text_cells(notebook: Notebook) -> None:
    """As by one key too many in Jupyter: the cell with the cursor becomes a text."""
    for cell in notebook["cells"]:
        if is_tracked(cell) and not is_check(cell):
            cell["cell_type"] = "markdown"
            cell.pop("outputs", None)
            cell.pop("execution_count", None)


def cells_added(notebook: Notebook) -> None:
    notebook["cells"][1:1] = [new_markdown_cell("My notes"), new_code_cell("1 / 0"), new_code_cell("if if")]


def colab(notebook: Notebook) -> None:
    notebook["metadata"] = {
        "colab": {"provenance": [], "toc_visible": True, "gpuType": "T4"},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": {"name": "python"},
        "accelerator": "GPU",
    }
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"] |= {"id": f"x{number}", "colab": {"base_uri": "https://localhost:8080/"}}
        cell.pop("id", None)


def vs_code(notebook: Notebook) -> None:
    notebook["metadata"] = {
        "kernelspec": {"name": "python3", "display_name": ".venv (3.12.1)", "language": "python"},
        "language_info": {"name": "python", "version": "3.12.1", "codemirror_mode": {"name": "ipython"}},
        "orig_nbformat": 4,
        "vscode": {"interpreter": {"hash": "31f2aee4e71d21fbe5cf8b01ff0e069b"}},
    }
    for cell in notebook["cells"]:
        cell["metadata"]["vscode"] = {"languageId": "python"}
        cell["source"] = "".join(cell["source"]).splitlines(keepends=True)


def jupyterlite(notebook: Notebook) -> None:
    notebook["metadata"] = {
        "kernelspec": {"name": "python", "display_name": "Python (Pyodide)", "language": "python"},
        "language_info": {"name": "python", "codemirror_mode": {"name": "python", "version": 3}},
    }


def no_metadata(notebook: Notebook) -> None:
    notebook["metadata"] = {}


def widgets(notebook: Notebook) -> None:
    notebook["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": 3}}
    notebook["cells"][1]["outputs"] = [{"output_type": "display_data", "data": {}, "metadata": {}}, "odd"]


def windows_lines(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")


def pasted_blanks(notebook: Notebook) -> None:
    """Blank lines at the ends, and no newline at the last."""
    for cell in notebook["cells"]:
        cell["source"] = "\n\n" + "".join(cell["source"]) + "  \n\t\n"


SAVED: tuple[Callable[[Notebook], None], ...] = (
    checks_deleted,
    checks_edited,
    checks_that_fail,
    checks_first,
    everything_twice,
    shuffled,
    one_cell,
    ids_lost,
    ids_swapped,
    answers_as_text_cells,
    cells_added,
    colab,
    vs_code,
    jupyterlite,
    no_metadata,
    widgets,
    windows_lines,
    pasted_blanks,
)


@pytest.mark.parametrize("change", SAVED, ids=lambda each: each.__name__)
def test_an_odd_notebook_loses_nothing(grader, tmp_path, change):
    notebook = json.loads(nbformat.writes(solved()))
    change(notebook)
    assert_all_right(graded(grader, json.dumps(notebook).encode(), tmp_path))


@pytest.mark.parametrize("minor", range(6))
def test_every_version_of_the_format_is_read(grader, tmp_path, minor):
    notebook = json.loads(nbformat.writes(solved()))
    notebook["nbformat_minor"] = minor
    if minor < 5:
        for cell in notebook["cells"]:
            cell.pop("id", None)
    assert_all_right(graded(grader, json.dumps(notebook).encode(), tmp_path))


@pytest.mark.parametrize(
    "written",
    [
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.encode("utf-8-sig"),
        lambda text: text.encode("utf-16"),
        lambda text: json.dumps(json.loads(text), separators=(",", ":")).encode(),
        lambda text: text.rstrip("\n").encode(),
    ],
    ids=["windows-lines", "byte-order-mark", "utf-16", "one-line", "no-last-newline"],
)
def test_every_way_to_write_json_is_read(grader, tmp_path, written):
    assert_all_right(graded(grader, written(nbformat.writes(solved())), Path(tmp_path)))
