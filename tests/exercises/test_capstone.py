"""The capstone: what its models learn, what an answer is worth, and what is said of no encoding."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest

from posenc_course.checking import report_on
from posenc_course.checking.judge import judge
from posenc_course.checking.run import Outcome, run
from posenc_course.exercises import boxes, capstone, exercise
from posenc_course.exercises.capstone import ENCODING, LEVELS
from posenc_course.experiments import results
from posenc_course.experiments.capstone import ENCODINGS
from posenc_course.grading.judging.attempts import earned
from tests.present import present

ROOT = Path(__file__).resolve().parents[2]
ID = "capstone.encoding"


RELEASED = nbformat.read(ROOT / "exercises" / "capstone" / "capstone.ipynb", as_version=4)
[CELL] = (cell.source for cell in RELEASED.cells if "def encoding(positions):" in cell.source)
TOGETHER = CELL[CELL.index("def encoding(positions):") :]


@pytest.mark.parametrize(("token", "doors"), [(None, set()), ({}, set()), ({"added": 0}, {"added"})])
@pytest.mark.parametrize(("pair", "door"), [(None, set()), (np.zeros((2, 3, 3)), {"biased"})])
def test_the_third_function_as_it_is_released_takes_none_for_a_door_that_stays_shut(token, doors, pair, door):
    there: dict[str, Any] = {"each_token": lambda positions: token, "each_pair": lambda queries, keys: pair}
    exec(TOGETHER, there)
    assert there["encoding"](np.arange(3)).keys() == doors | door


# --- The task and the model --------------------------------------------------------------------


@pytest.mark.parametrize("length", [32, 128])
def test_what_is_to_be_told_is_the_card_that_was_put_into_this_box_last(length):
    texts = boxes.draw(np.random.default_rng(0), 40, length)
    for row in zip(*(each.tolist() for each in texts), strict=True):
        on_top: dict[int, int] = {}
        for box, card, before, known in zip(*row, strict=True):
            assert known == (box in on_top)
            assert not known or before == on_top[box]
            on_top[box] = card


def test_the_gradients_are_those_of_the_loss():
    rng = np.random.default_rng(0)
    model, texts = boxes.Model(rng), boxes.draw(rng, 3, 32)
    model.weights["head"] *= 20  # nearly nothing to begin with, and so would be all other gradients
    angles = rng.normal(size=(32, boxes.HEAD_DIM // 2))
    tables = {"added": rng.normal(size=(32, boxes.DIM)), "rotated": angles, "cos": np.cos(angles)}
    tables |= {"sin": np.sin(angles), "biased": rng.normal(size=(boxes.HEADS, 32, 32))}

    def loss() -> float:
        scores = model.forward(texts, tables)
        of_right = np.take_along_axis(scores, texts.before[..., None], axis=-1)[..., 0]
        return float((np.log(np.exp(scores).sum(axis=-1)) - of_right)[texts.known].mean())

    for name, gradient in model.gradients(texts, tables).items():
        weight, way = model.weights[name], rng.normal(size=gradient.shape)
        weight += 1e-6 * way
        above = loss()
        weight -= 2e-6 * way
        slope = (above - loss()) / 2e-6
        weight += 1e-6 * way
        assert slope == pytest.approx((gradient * way).sum(), rel=1e-4, abs=1e-8), name


def test_no_step_sees_a_later_one():
    rng = np.random.default_rng(0)
    model, texts = boxes.Model(rng), boxes.draw(rng, 2, 32)
    changed = texts._replace(cards=np.where(np.arange(32) == 20, (texts.cards + 1) % 16, texts.cards))
    one, other = (model.forward(each, {}) for each in (texts, changed))
    np.testing.assert_array_equal(one[:, :20], other[:, :20])
    assert not np.allclose(one[:, 20:], other[:, 20:])


SAME = """
import numpy as np
from posenc_course.exercises import boxes, capstone
tables = [capstone.tables_of(capstone.ENCODING.reference(np.arange(n)), n) for n in (32, 128)]
print(repr(boxes.accuracies(*tables, seed=3, steps=40)))
"""


def test_the_same_seed_gives_the_same_numbers_however_many_threads_there_are():
    told = {
        subprocess.run(
            [sys.executable, "-c", SAME],
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    }
    assert len(told) == 1, told


def test_what_is_stored_is_what_comes_out():
    """A few steps fewer or another bug of the model would move it by more."""
    [stored] = results.runs("capstone", encoding="alibi", seed=0)
    found = capstone.scores(ENCODINGS["alibi"], seeds=[0])
    assert found.trained[0] == pytest.approx(stored["result"]["trained"], abs=0.02)
    assert found.tested[0] == pytest.approx(stored["result"]["tested"], abs=0.02)


# --- What it is worth ----------------------------------------------------------------------------


def stored(name: str) -> capstone.Scores:
    found = {each["run"]["seed"]: each["result"] for each in results.runs("capstone", encoding=name)}
    of_mark = [found[seed] for seed in capstone.SEEDS]
    return capstone.Scores(*(tuple(each[key] for each in of_mark) for key in ("trained", "tested")))


def worth(scores: capstone.Scores) -> float:
    passed = [scores.mean(level.steps) >= level.least for level in LEVELS]
    return earned(ENCODING, ENCODING.cases(), passed) * ENCODING.points


@pytest.mark.parametrize("name", ENCODINGS)
def test_no_seed_decides_on_a_step_of_credit(name):
    """For each encoding of the course, all five seeds together lie clear of every step."""
    scores = stored(name)
    for level in LEVELS:
        each = scores.trained if level.steps == boxes.TRAINED else scores.tested
        error = np.std(each, ddof=1) / len(each) ** 0.5
        assert abs(np.mean(each) - level.least) > max(3 * error, 0.015), level.label


def test_alibi_gets_a_part_and_what_beats_it_gets_all():
    points = {name: round(worth(stored(name)), 3) for name in ENCODINGS}
    assert points["none"] == points["own step left out"] == 0
    assert points["sinusoidal"] == 3
    assert points["rope"] == points["alibi"] == 6
    for name in ("kerple", "alibi, one steep slope", "alibi, own step left out"):
        assert points[name] == ENCODING.points
        assert stored(name).mean(boxes.TESTED) > stored("alibi").mean(boxes.TESTED) + 0.05


@pytest.fixture
def one_seed(monkeypatch):
    """One model in place of five."""
    monkeypatch.setattr(capstone, "SEEDS", (0,))


@pytest.mark.parametrize("answer", [ENCODING.reference, *ENCODING.alternatives])
def test_right_answers_get_all_points(answer, one_seed):
    report = report_on(ID, answer)
    assert report.passed, report


@pytest.mark.parametrize("mistake", ENCODING.mistakes, ids=lambda each: each.name)
def test_an_encoding_of_the_course_is_known_by_its_name_and_shown_its_number(mistake, one_seed):
    report = report_on(ID, mistake.answer)
    assert report.mistake is mistake
    assert "The models got " in str(report)


SLOPES = 2.0 ** (-8 * np.arange(1, 3) / 2)[:, None, None]
ALIBI = {
    "by the distance": lambda back: -SLOPES * abs(back),
    "with later keys hidden": lambda back: np.where(back >= 0, -SLOPES * back, -np.inf),
    "with nothing for later keys": lambda back: -SLOPES * np.maximum(back, 0),
}


@pytest.mark.parametrize("bias", ALIBI.values(), ids=ALIBI)
def test_alibi_is_known_whatever_it_holds_for_keys_that_no_model_sees(bias, monkeypatch):
    trained = []

    def one(*keys):
        trained.append(keys)
        return 0.9, 0.5

    monkeypatch.setattr(capstone, "_one", one)
    report = report_on(ID, lambda p: {"biased": bias(p[:, None] - p)})
    assert present(report.mistake).name == "alibi"
    theirs = set(trained)
    report_on(ID, present(report.mistake).answer)
    assert set(trained) == theirs, "the same models, trained again"


def test_check_says_what_a_right_answer_reached(one_seed, capsys):
    from posenc_course import check

    check(ID, ENCODING.reference)
    assert "Cards that five models got right: 99." in capsys.readouterr().out


# --- What is no encoding ---------------------------------------------------------------------------


@pytest.fixture
def untrained(monkeypatch):
    """Whatever is asked of a model here is a mistake: what comes in is refused before."""

    def train(*_arguments: object, **_named: object) -> None:
        raise AssertionError("a model was trained")

    monkeypatch.setattr(capstone, "_one", train)


def bias(n: int) -> np.ndarray:
    return np.zeros((2, n, n))


def hides_all(n: int) -> np.ndarray:
    return np.where(np.arange(n)[:, None] == 5, -np.inf, bias(n))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda p: None, "It returned None"),
        (lambda p: bias(len(p)), "return a dict"),
        (lambda p: {"bias": bias(len(p))}, "There is no door 'bias'"),
        (lambda p: {"biased": None}, "'biased' is not a table of real numbers"),
        (lambda p: {"biased": "a bias"}, "'biased' is not a table of real numbers"),
        (lambda p: {"biased": bias(len(p)) > 0}, "'biased' is not a table of real numbers"),
        (
            lambda p: {"rotated": np.exp(1j * np.ones((len(p), 8)))},
            "'rotated' is not a table of real numbers",
        ),
        (lambda p: {"added": [[1.0], [1.0, 2.0]]}, "'added' is not a table of real numbers"),
        (
            lambda p: {"added": np.zeros((len(p), 31))},
            "'added' has shape (32, 31), but shape (32, 32) was expected",
        ),
        (lambda p: {"biased": bias(32)}, "For 128 positions, 'biased' has shape (2, 32, 32)"),
        (lambda p: {"added": np.full((len(p), 32), np.nan)}, "not finite"),
        (lambda p: {"added": np.full((len(p), 32), -np.inf)}, "not finite"),
        (lambda p: {"rotated": np.full((len(p), 8), 1e300)}, "beyond a million"),
        (lambda p: {"biased": bias(len(p)) + np.inf}, "not finite"),
        (lambda p: {"biased": hides_all(len(p))}, "A query sees no key"),
        (lambda p: {"biased": np.random.default_rng().normal(size=(2, len(p), len(p)))}, "different numbers"),
        (lambda p: 1 / 0, "It raised ZeroDivisionError"),
    ],
)
def test_what_is_no_encoding_is_refused_in_a_sentence_and_earns_nothing(answer, words, untrained):
    report = judge(ENCODING, run(answer, ENCODING.cases()))
    assert words in str(report)
    assert earned(ENCODING, ENCODING.cases(), [each.passed for each in report.results]) == 0


def test_a_window_may_hide_keys(untrained):
    near = np.where(np.tri(32, k=-5, dtype=bool), -np.inf, bias(32))
    assert capstone.tables_of({"biased": near}, 32)["biased"][0, 20, 3] == -np.inf


def test_an_unwritten_answer_is_told_apart_from_a_wrong_one():
    outcomes = [Outcome("raised", error_type="NotImplementedError")] * len(LEVELS)
    assert judge(ENCODING, outcomes).mistake is None


def test_it_is_found_by_its_id_and_is_none_of_the_chapters():
    from posenc_course.exercises import all_exercises, assignments, exercises_of

    assert exercise(ID) is ENCODING
    assert assignments()[-1] == "capstone"
    assert exercises_of("capstone") == capstone.EXERCISES
    assert ENCODING not in all_exercises()
