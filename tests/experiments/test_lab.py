"""Real experiments in real processes: kept, killed, gone on with, shared among processes."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from posenc_course.experiments import LONG, NAMES, NEXT, bags, lab, results, source_text
from posenc_course.experiments.lab import keep, main, perform

NAME = "bags"
STEPS = 60
SMALL = ["--fast", "--seeds", "2", "--steps", str(STEPS), "--device", "cpu"]

# In its second run it stays where it is until it is killed, or nobody is there any more who would do so.
SAVE_AT_EVERY_STEP = """
import os
from posenc_course.experiments import lab, training
training.SAVE_EVERY = 0.0
save, above = training._save, os.getppid()
def save_until_killed(to, *state):
    save(to, *state)
    while os.getppid() == above and list(to.parents[1].glob("*.json")) and len(state[-1]) > 5:
        save(to, *state)
training._save = save_until_killed
lab.main()
"""


def words(work: Path) -> list[str]:
    return [NAME, *SMALL, "--jobs", "1", "--work", str(work), "--out", str(work / "out")]


def outcome(work: Path) -> dict:
    return json.loads((work / "out" / f"{NAME}.json").read_text(encoding="utf-8"))


def results_of(found: dict) -> list:
    return [(each["run"], each["result"]) for each in found["runs"]]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> dict:
    """Four small models, trained in one go."""
    work = tmp_path_factory.mktemp("undisturbed")
    main(words(work))
    return outcome(work)


def test_after_a_kill_it_goes_on_and_ends_with_the_same_numbers(tmp_path, undisturbed):
    work = tmp_path
    killed = subprocess.Popen(
        [sys.executable, "-c", SAVE_AT_EVERY_STEP, *words(work)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    kept = work / NAME
    # Not in the first run, so that there is a finished one to keep as well.
    while not (list(kept.glob("*.json")) and list(kept.glob("*/model.pt"))):
        assert killed.poll() is None, "it ended before it could be killed"
        time.sleep(0.005)
    os.kill(killed.pid, signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL

    finished = {path: path.stat().st_mtime_ns for path in kept.glob("*.json")}
    (checkpoint,) = kept.glob("*/model.pt")
    assert 0 < len(torch.load(checkpoint, weights_only=True)["losses"]) <= STEPS
    assert len(finished) - 1 <= len(outcome(work)["runs"]) <= len(finished)

    again = [sys.executable, "-m", "posenc_course.experiments", *words(work)]
    subprocess.run(again, check=True, capture_output=True)
    assert results_of(outcome(work)) == results_of(undisturbed)
    assert {path: path.stat().st_mtime_ns for path in finished} == finished  # none of them was made again
    assert not list(kept.glob("*/")), "checkpoints of finished runs are of no use"


def test_runs_at_the_same_time_give_the_same_numbers(tmp_path, undisturbed):
    found = perform(NAME, fast=True, seeds=2, steps=STEPS, jobs=2, work=tmp_path)
    assert results_of(found) == results_of(undisturbed)


def test_a_result_says_how_it_was_made(undisturbed):
    assert undisturbed["experiment"] == NAME
    assert undisturbed["question"] == bags.QUESTION
    given = ["--steps", str(STEPS), "--seeds", "2", "--fast", "--device", "cpu"]
    assert shlex.split(undisturbed["command"]) == ["python", "-m", "posenc_course.experiments", NAME, *given]
    assert undisturbed["versions"]["torch"] == torch.__version__
    assert set(undisturbed["versions"]) == {"posenc_lib", "python", "torch", "numpy"}
    assert undisturbed["hardware"]["cores"] == os.cpu_count()
    assert undisturbed["hardware"]["processor"]
    assert undisturbed["seconds"] == pytest.approx(sum(e["seconds"] for e in undisturbed["runs"]), abs=0.1)
    for each in undisturbed["runs"]:
        assert each["run"]["steps"] == STEPS
        steps, losses = zip(*each["result"]["curve"], strict=True)
        assert steps[-1] == each["result"]["steps"] <= STEPS
        if each["run"]["causal"]:
            assert losses[-1] < losses[0]


def test_other_settings_are_other_runs(tmp_path, undisturbed, monkeypatch):
    """A run that was kept is used again only where it would come out the same."""
    run = undisturbed["runs"][0]["run"]
    key = lab._key(bags, run, "cpu")
    assert key == lab._key(bags, json.loads(json.dumps(run)), "cpu")
    assert key != lab._key(bags, run | {"seed": 1}, "cpu")
    source = Path(bags.__file__).read_text(encoding="utf-8")
    changed = tmp_path / "changed.py"
    monkeypatch.setattr(bags, "__file__", str(changed))
    changed.write_text(source.replace('"""Bags', '"""Now bags') + "# said otherwise\n")
    assert key == lab._key(bags, run, "cpu")
    changed.write_text(source + "FLIPPED = 8\n")
    assert key != lab._key(bags, run, "cpu")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["train-short"],
            "there is no experiment 'train-short'; the experiments are: counting, byte-model-rates",
        ),
        ([NAME, "train-short"], "there is no experiment 'train-short'"),
        ([NAME, "--steps", "0"], "steps=0; give 1 or more"),
        ([NAME, "--seeds", "-1"], "seeds=-1; give 1 or more"),
        ([NAME, "--jobs", "0"], "jobs=0; give 1 or more"),
    ],
)
def test_a_wrong_call_is_refused_before_anything_runs(tmp_path, arguments, told):
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "--work", str(tmp_path), "--out", str(tmp_path)])
    assert told in str(stopped.value)
    assert not list(tmp_path.iterdir())


def test_a_trial_does_not_replace_the_result_that_the_book_quotes(tmp_path, capsys):
    before = {path: path.stat().st_mtime_ns for path in results.FOLDER.iterdir()}
    main([NAME, *SMALL, "--jobs", "1", "--work", str(tmp_path), "--steps", "1"])
    assert capsys.readouterr().out.startswith(f"{NAME}: 4 runs, {tmp_path / NAME}.json\n")
    assert len(json.loads((tmp_path / f"{NAME}.json").read_text())["runs"]) == 4
    assert {path: path.stat().st_mtime_ns for path in results.FOLDER.iterdir()} == before


def test_every_experiment_is_there_and_asks_something(capsys):
    main([])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [*NAMES, *LONG, *NEXT]
    assert all(line.endswith("?") for line in lines)
    marks = "(long: days, or a GPU)", "(new, not in the book yet)"
    told = [[mark in line for line in lines] for mark in marks]
    groups = [(False, False)] * len(NAMES) + [(True, False)] * len(LONG) + [(False, True)] * len(NEXT)
    assert list(zip(*told, strict=True)) == groups


@pytest.mark.parametrize("name", LONG | NEXT)
def test_what_is_long_or_comes_next_has_runs_of_its_own_and_stored_are_some_of_these(name):
    """Where this Python's library is the text of the stored ones, which are kept under it."""
    module, here = lab.module_of(name), source_text.source()
    keys = [lab._key(module, run, "cpu") for run in module.runs()]
    assert keys
    assert len(set(keys)) == len(keys)
    found = [each for each in results.stored_so_far(name) if each["run"].get("text", here) == here]
    assert {each["key"] for each in found} <= set(keys)


def test_a_number_that_is_not_finite_is_refused_and_what_was_there_stays(tmp_path):
    keep({"loss": 1.0}, tmp_path / "a.json")
    with pytest.raises(ValueError, match="not JSON compliant"):
        keep({"loss": float("nan")}, tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text()) == {"loss": 1.0}


def test_a_training_that_came_to_no_number_is_named_and_kept_out(tmp_path, monkeypatch):
    (run, *_) = bags.runs(fast=True)
    monkeypatch.setattr(bags, "runs", lambda **more: [run | {"rate": 1e30, "steps": 3}])
    with pytest.raises(ValueError, match=r"'encoding': 'none'.* not finite; try a lower rate"):
        perform(NAME, fast=True, work=tmp_path)
    assert not list((tmp_path / NAME).glob("*.json"))


def test_stored_results_are_found_by_their_settings():
    found = results.runs("byte-models", encoding="alibi", length=256)
    assert [each["run"]["seed"] for each in found] == [0, 1, 2]
    with pytest.raises(ValueError, match="no run of 'byte-models' has"):
        results.runs("byte-models", encoding="alibi", length=63)
    with pytest.raises(ValueError, match=r"no result 'nothing' is stored .*byte-models"):
        results.stored("nothing")
