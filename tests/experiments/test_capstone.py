"""The ladder of the capstone: its fast form trains, and every encoding has the five seeds of a mark."""

from __future__ import annotations

from posenc_course.exercises import capstone
from posenc_course.experiments import capstone as ladder
from posenc_course.experiments import results
from posenc_course.experiments.lab import perform


def test_the_fast_form_trains_and_tests(tmp_path):
    [run] = perform("capstone", fast=True, work=tmp_path)["runs"]
    assert 0 < run["result"]["tested"] < 1


def test_all_runs_are_stored():
    stored = results.runs("capstone")
    assert [each["run"] for each in stored] == ladder.runs()
    seeds = {each["run"]["seed"] for each in stored if each["run"]["encoding"] == "none"}
    assert seeds == set(capstone.SEEDS)
