"""The pictures of the experiments are drawn from the stored results, every seed of them."""

from __future__ import annotations

import json
import re

import pytest

from posenc_course.experiments import results
from posenc_course.figures import experiments as pictures
from posenc_course.figures.shoot_out import TITLES

PICTURES = {
    "bags": pictures.bags,
    "sizes": pictures.sizes,
    "confusions": pictures.confusions,
    "confused": lambda: pictures.confused(pairs=1, noise=0.1),
    "tasks": pictures.tasks,
    "tasks by distance": pictures.tasks_by_distance,
}


@pytest.fixture
def copied_results(tmp_path, monkeypatch):
    """A copy of the stored results whose every number of a result is a little less."""

    def less(part):
        if isinstance(part, dict):
            return {key: less(value) for key, value in part.items()}
        if isinstance(part, list):
            return [less(value) for value in part]
        return 0.9 * part if isinstance(part, float) else part

    for path in results.FOLDER.glob("*.json"):
        found = json.loads(path.read_text(encoding="utf-8"))
        for each in found["runs"]:
            each["result"] = less(each["result"])
        (tmp_path / path.name).write_text(json.dumps(found), encoding="utf-8")

    def use():
        monkeypatch.setattr(results, "FOLDER", tmp_path)
        results.stored.cache_clear()

    yield use
    results.stored.cache_clear()


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_drawn_from_the_stored_numbers(name, copied_results):
    before = PICTURES[name]()
    assert "currentColor" in before.svg
    assert "nan" not in before.alt
    copied_results()
    after = PICTURES[name]()
    assert after.svg != before.svg
    assert after.alt != before.alt


@pytest.mark.parametrize("name", ["sizes", "confusions"])
def test_marks_differ_by_more_than_colour(name):
    markers = set(re.findall(r'<path id="p\w+-m\w+" d="([^"]+)"', PICTURES[name]().svg))
    assert len(markers) >= 2


def test_every_seed_has_a_marker():
    svg = pictures.bags().svg
    seeds = len({each["run"]["seed"] for each in results.stored("bags")["runs"]})
    assert seeds >= 5
    markers = re.findall(r'<use [^>]*style="fill-opacity: 0; stroke: #', svg)
    assert len(markers) == 12 * seeds  # three tasks, four models


def test_the_alt_text_of_the_sizes_says_who_solved_it_and_how_soon():
    solved = sorted(each["result"]["steps"] for each in results.runs("sizes", ratio=1.0, rate=0.02))
    told = f"Size 1, rate 0.02: solved by {len(solved)} of 5 within {solved[0]} to {solved[-1]} steps"
    assert told in pictures.sizes().alt


def test_one_wave_confuses_what_lies_44_apart():
    assert "the one that this reader confuses most is 44:" in pictures.confused(pairs=1, noise=0.1).alt


def test_what_is_not_admitted_is_said(monkeypatch):
    found = [each | {"verdict": "not admitted"} for each in results.runs("bags", task="bag")]
    others = [each for each in results.stored("bags")["runs"] if each["run"]["task"] != "bag"]
    monkeypatch.setattr(results, "stored", lambda name, full=False: {"runs": found + others})
    alt = pictures.bags().alt
    assert alt.count("5 of 5 not admitted") == 4


def test_every_run_of_a_task_is_drawn_or_marked_as_not_admitted():
    every = results.stored("position-tasks")["runs"]
    alt = pictures.tasks().alt
    passed = {(each["run"]["task"], each["run"]["encoding"]): 0 for each in every}
    for each in every:
        passed[each["run"]["task"], each["run"]["encoding"]] += each["verdict"] == "admitted"
    for (task, encoding), count in passed.items():
        assert f"{pictures.TASKS[task]}, {TITLES[encoding]}: {count} of 5 admitted" in alt
