"""Gates: what does not pass is stored, shown as such, and read by nobody who did not ask for it."""

from __future__ import annotations

import importlib.util
import json
import sys
import types

import pytest

from posenc_course.experiments import NAMES, NEXT, gates, lab, results, sizes
from posenc_course.experiments.gates import Gate
from posenc_course.experiments.lab import main, perform
from tests.present import present

TOY = """
from posenc_course.experiments.gates import Gate

QUESTION = "Which number is large?"
STORES_EACH = HAS_FULL = True
SWEEP = "toy-rates"
PARTS = ()

def runs(*, steps=None, seeds=None, fast=False, full=False):
    known = {"rope": 0.1, "none": RATE}
    return [
        {"encoding": name, "seed": seed, "rate": known[name], "size": 9 if full else 1}
        for seed in range(3) for name in known
    ]

def measure(run, bench):
    if run["seed"] == STOPS_AT:
        raise KeyboardInterrupt
    made.append(run)
    return {"number": run["seed"] + 1.0}

GATE = Gate(
    "The number is at least 2.",
    lambda run, result: None if result["number"] >= 2 else f"it is {result['number']:g}",
)
made, STOPS_AT, RATE = [], None, 0.2
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """An experiment whose runs are numbers, in the place of the stored results."""
    path = tmp_path / "toy.py"
    path.write_text(TOY)
    spec = importlib.util.spec_from_file_location("posenc_course.experiments.toy", path)
    module = importlib.util.module_from_spec(present(spec))
    monkeypatch.setitem(sys.modules, "posenc_course.experiments.toy", module)
    present(present(spec).loader).exec_module(module)
    monkeypatch.setitem(NEXT, "toy", "toy")
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    results.stored.cache_clear()
    yield module
    results.stored.cache_clear()


def run_it(tmp_path, *more):
    main(["toy", "--jobs", "1", "--device", "cpu", "--work", str(tmp_path / "work"), *more])


def test_a_run_that_does_not_pass_is_stored_shown_and_not_read(toy, tmp_path, capsys):
    run_it(tmp_path)
    stored = results.stored("toy")
    assert stored["gate"] == toy.GATE.words
    verdicts = [(each["run"]["seed"], each["verdict"], each.get("reason")) for each in stored["runs"]]
    assert verdicts[::2] == [(0, "not admitted", "it is 1"), (1, "admitted", None), (2, "admitted", None)]
    told = capsys.readouterr().out
    assert "not admitted: encoding rope, rate 0.1, seed 0: it is 1" in told
    assert told.count("not admitted") == 2

    assert {each["run"]["seed"] for each in results.runs("toy")} == {1, 2}
    assert {each["run"]["seed"] for each in results.runs("toy", every=True)} == {0, 1, 2}
    with pytest.raises(ValueError, match=r"passes the gate of its experiment \(it is 1\); give every=True"):
        results.runs("toy", seed=0)
    assert len(results.runs("toy", every=True, seed=0)) == 2


def test_a_gate_that_changes_is_applied_to_what_is_stored(toy, tmp_path):
    run_it(tmp_path)
    toy.GATE = Gate("Never.", lambda run, result: "never" if result["number"] == 3 else None)
    made = len(toy.made)
    run_it(tmp_path)
    assert len(toy.made) == made
    assert {each["run"]["seed"] for each in results.runs("toy")} == {0, 1}


def test_a_gate_may_be_said_as_two_names():
    """As by those whose stored runs are kept under their own code."""
    gate = gates.of(sizes)
    assert (present(gate).words, present(gate).shortfall) == (sizes.GATE, sizes.shortfall)
    verdict = lab.verdict(sizes, {"run": {}, "result": {"where": 1.0, "what": 0.5, "steps": 800}})
    assert verdict["verdict"] == "not admitted"


def test_what_begins_with_the_byte_models_has_their_gate():
    for name in ("byte-models", "causes", "mistakes"):
        assert gates.of(lab.module_of(name)) == gates.BYTE_MODELS
    for name in ("byte-models-larger", "rope-and-copying"):
        assert gates.of(lab.module_of(name)) == gates.BYTE_MODELS_BEYOND_COUNTING
    for name in ("needle", "rescaled"):
        assert gates.BYTE_MODELS.words in lab.module_of(name).GATE.words


def test_each_run_is_stored_and_what_is_stored_is_not_made_again(toy, tmp_path):
    """Not even where nothing but the stored result is left."""
    toy.STOPS_AT = 2
    with pytest.raises(SystemExit, match="give the same command again to continue"):
        run_it(tmp_path)
    so_far = json.loads(results.path_of("toy").read_text())
    assert [each["run"]["seed"] for each in so_far["runs"]] == [0, 0, 1, 1]
    assert so_far["runs_asked_for"] == 6
    toy.STOPS_AT = None
    main(["toy", "--jobs", "1", "--device", "cpu", "--work", str(tmp_path / "other")])
    assert [run["seed"] for run in toy.made] == [0, 0, 1, 1, 2, 2]
    stored = results.stored("toy")
    assert len(stored["runs"]) == stored["runs_asked_for"] == 6
    assert stored["processor_seconds"] == pytest.approx(
        sum(each["processor_seconds"] for each in stored["runs"]), abs=0.1
    )


def test_what_was_stored_with_other_code_is_made_again(toy, tmp_path, monkeypatch):
    run_it(tmp_path)
    monkeypatch.setattr(toy, "PARTS", (lab,))
    run_it(tmp_path)
    assert len(toy.made) == 12


def test_some_encodings_may_come_first(toy, tmp_path):
    run_it(tmp_path, "--only", "none")
    assert {run["encoding"] for run in toy.made} == {"none"}
    run_it(tmp_path, "--only", "rope")
    assert len(results.stored_so_far("toy")) == 6


def test_without_its_learning_rate_a_run_does_not_begin(toy, tmp_path):
    toy.RATE = None
    with pytest.raises(SystemExit, match=r"no learning rate is known yet for none; .* toy-rates"):
        run_it(tmp_path)
    assert not toy.made
    run_it(tmp_path, "--only", "rope")
    assert len(toy.made) == 3


def test_the_large_form_is_kept_beside_the_other(toy, tmp_path):
    run_it(tmp_path)
    run_it(tmp_path, "--full")
    assert {each["run"]["size"] for each in results.runs("toy")} == {1}
    assert {each["run"]["size"] for each in results.runs("toy", full=True)} == {9}
    assert "--full" in results.stored("toy", full=True)["command"]
    with pytest.raises(ValueError, match="'bags' has one size; leave out full"):
        perform("bags", full=True, work=tmp_path)


def test_all_in_full_is_every_experiment_in_the_largest_form_it_has(toy, tmp_path, monkeypatch):
    """Also what has one size, what takes days, and what the book does not quote yet."""
    toy_of_one_size = {key: value for key, value in vars(toy).items() if key != "HAS_FULL"}
    monkeypatch.setitem(
        sys.modules, "posenc_course.experiments.small", types.SimpleNamespace(**toy_of_one_size)
    )
    monkeypatch.setattr(lab, "NAMES", {"small": "small", "quoted": "toy"})
    monkeypatch.setattr(lab, "LONG", {"long": "small"})
    monkeypatch.setattr(lab, "NEXT", {"toy": "toy"})

    def stored_by(*words):
        folder = tmp_path / "-".join(words)
        main([*words, "--jobs", "1", "--device", "cpu", "--work", str(folder), "--out", str(folder / "out")])
        return sorted(path.stem for path in (folder / "out").iterdir())

    assert stored_by("all") == ["quoted", "small"]
    assert stored_by("all", "--full") == ["long", "quoted-full", "small", "toy-full"]


def test_asked_in_full_for_what_has_one_size_it_says_so_before_it_begins(toy, tmp_path):
    with pytest.raises(SystemExit, match="'bags' has one size; leave out full"):
        main(["toy", "bags", "--full", "--device", "cpu", "--work", str(tmp_path)])
    assert not toy.made


def test_the_list_says_what_each_experiment_took(capsys):
    main([])
    told = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    for name in NAMES:
        taken = sum(each["processor_seconds"] for each in results.stored(name)["runs"]) / 60
        assert f" {taken:.0f} min of a core " in told[name]
