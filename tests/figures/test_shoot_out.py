"""The pictures of the byte models: every run is drawn, and what is not admitted is marked."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from posenc_course.experiments import byte_models
from posenc_course.experiments.byte_models import ENCODINGS, LONGER
from posenc_course.experiments.results import stored
from posenc_course.figures import counting, shoot_out
from posenc_course.figures.shoot_out import (
    NAME,
    TITLES,
    admitted,
    at_the_trained_length,
    beside_the_paper,
    by_content,
    by_position,
    copying,
    rounds,
    while_training,
    whole_or_sliding,
)

PICTURES = (at_the_trained_length, by_position, whole_or_sliding)


@pytest.mark.parametrize("draw", PICTURES)
def test_every_encoding_is_on_it_and_says_whether_it_passed(draw):
    alt = draw().alt
    runs = stored(NAME)["runs"]
    usual = [each for each in runs if each["run"]["steps"] == runs[0]["run"]["steps"]]
    for name in {each["run"]["encoding"] for each in usual}:
        [told] = [part for part in alt.split(". ") if f"{TITLES[name]}: " in part]
        assert ("not admitted" in told) == (not admitted(name))


def test_every_seed_and_every_ngram_is_on_the_first():
    alt = at_the_trained_length().alt
    for each in stored(NAME)["runs"]:
        assert f"{each['result']['trained']['loss']:.2f}" in alt
    for order, loss in stored(NAME)["runs"][0]["result"]["trained"]["ngram"].items():
        assert f"{order}-gram {loss:.2f}" in alt
    assert f"Kneser-Ney {counting.found('Kneser-Ney', 1_200_000)['loss'][-1]:.2f}" in alt


@pytest.mark.parametrize("draw", PICTURES)
def test_one_seed_more_or_less_changes_the_picture(draw):
    result = copy.deepcopy(stored(NAME))
    whole = draw(result).svg
    assert whole == draw().svg
    result["runs"].pop()
    assert draw(result).svg != whole


@pytest.mark.parametrize("draw", PICTURES)
def test_the_lines_of_counting_are_in_each(draw):
    result = copy.deepcopy(stored(NAME))
    for each in result["runs"]:
        each["result"]["trained"]["ngram"]["5"] += 0.1
    assert draw(result).svg != draw().svg


def test_titles_and_panels_know_every_encoding_of_the_experiment():
    known = {*ENCODINGS, *(f"{name}+" for name in LONGER)}
    assert set(TITLES) == known == {name for names in shoot_out.PANELS.values() for name in names}


def test_what_was_trained_longer_is_a_line_of_its_own():
    result = copy.deepcopy(stored(NAME))
    long = copy.deepcopy(next(each for each in result["runs"] if each["run"]["encoding"] == "learned"))
    long["run"]["steps"] *= 3
    long |= {"verdict": "admitted"}
    long["result"]["trained"]["loss"] = 1.111
    others = [e for e in result["runs"] if e["run"]["steps"] == result["runs"][0]["run"]["steps"]]
    for draw in PICTURES:
        assert "learned, 3 times as long: " in draw({"runs": [*others, long]}).alt
    rows = at_the_trained_length({"runs": [*others, long]}).alt.partition(" Lines for")[0]
    assert rows.endswith("learned, 3 times as long: 1.11.")  # the lowest loss, and out of the contest


def test_beside_the_paper_stand_logarithms_of_its_ratios_and_every_seed_that_passes():
    paper = {"alibi": {512: 20.0, 1024: 10.0}, "rope": {512: 20.0, 1024: 40.0}}
    picture = beside_the_paper(paper)
    assert "ALiBi: theirs -0.69," in picture.alt
    assert "RoPE: theirs +0.69," in picture.alt
    result = copy.deepcopy(stored(NAME))
    one = next(each for each in result["runs"] if each["run"]["encoding"] == "rope")
    one["result"]["longer"]["by_length"][-1] = [9.0] * len(one["result"]["longer"]["by_length"][-1])
    assert beside_the_paper(paper, result).alt != picture.alt
    one["verdict"] = "not admitted"
    others = copy.deepcopy(result)
    others["runs"].remove(next(each for each in others["runs"] if each["key"] == one["key"]))
    assert beside_the_paper(paper, result).svg == beside_the_paper(paper, others).svg


def test_the_losses_by_length_are_those_of_the_runs_that_pass():
    alt = by_content().alt
    losses: dict[str, list[float]] = {}
    for each in stored(NAME)["runs"] + stored("by-content")["runs"]:
        if each["verdict"] == "admitted":
            by_file = each["result"]["longer"]["by_length"]
            losses.setdefault(each["run"]["encoding"], []).append(np.mean(by_file, axis=1))
    for name in ("rope", "alibi", *shoot_out.FROM_CONTENT):
        told = ", ".join(f"{mean:.2f}" for mean in np.mean(losses[name], axis=0))
        assert f"{(TITLES | shoot_out.FROM_CONTENT)[name]}: {told}." in alt


def test_each_round_is_a_panel_with_all_four():
    told = rounds().alt
    for experiment, title in shoot_out.ROUNDS.items():
        of_it = told.partition(f" {title}: ")[2]
        for name in shoot_out.FOUR:
            losses = byte_models.by_length(name, name=experiment).mean(axis=0)
            words = f"{TITLES[name]}: {', '.join(f'{loss:.2f}' for loss in losses)}."
            assert words in of_it


def test_who_was_asked_whether_it_copies_stands_with_its_own_loss_and_verdict():
    """From the files: a model's loss is that of the run with the same settings; of twins, the last."""
    found = shoot_out.who_copies()
    asked: dict[str, list[Any]] = {title: [] for title in found}
    for each in stored("copies")["runs"]:
        saved = np.mean(each["result"]["first"]) - np.mean(each["result"]["second"])
        for title, experiments in shoot_out.OF_COPIES.items():
            twins = [
                run
                for name in experiments
                for run in stored(name)["runs"]
                if {key: run["run"][key] for key in run["run"] if key != "again"} == each["run"]
            ]
            if twins:
                loss, verdict = twins[-1]["result"]["trained"]["loss"], twins[-1]["verdict"]
                told = each["run"]["encoding"], each["run"]["seed"], pytest.approx(saved), loss
                asked[title].append((*told, verdict == "admitted"))
    assert {title: [tuple(each) for each in models] for title, models in found.items()} == asked
    assert sum(map(len, found.values())) == len(stored("copies")["runs"])


def test_what_does_not_pass_is_marked_where_copying_is_shown():
    told = copying().alt
    lost = [each for models in shoot_out.who_copies().values() for each in models if not each.admitted]
    assert lost
    assert told.count(", not admitted") == len(lost)


def test_while_training_a_line_is_the_distance_to_rope_with_the_same_seed():
    lines = while_training().alt.partition("the end: ")[2].removesuffix(".").split(". ")
    curves = {
        (run["run"]["encoding"], run["run"]["seed"]): np.array(run["result"]["curve"])[:, 1]
        for name in ("byte-models-beyond-counting", "byte-models-beyond-counting-others")
        for run in stored(name)["runs"]
    }
    drawn = []
    for name in (*shoot_out.FOUR[1:], "rope-partial"):
        for seed in sorted(seed for encoding, seed in curves if encoding == name):
            less = (curves[name, seed] - curves["rope", seed])[9::10]
            drawn.append(f"{TITLES[name]}: {', '.join(f'{each:.2f}' for each in less)}")
    assert lines == drawn
