"""The pictures of chapter 9: what they draw has the properties that the page and the alt texts claim."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from posenc_course.experiments import beyond_text as experiment
from posenc_course.experiments import results
from posenc_course.figures import beyond_text, interactive


def test_the_index_draws_a_bar_and_two_directions_a_cross():
    maps = beyond_text.likeness_maps()
    for found in maps.values():
        assert found.shape == (8, 8)
        assert found.max() == pytest.approx(found[3, 3]) == pytest.approx(1)
    flat = maps["the index"]
    assert flat[3, 2] > 0.9 > 0.7 > flat[2, 3]
    for name in ("added, two halves", "axial RoPE"):
        np.testing.assert_allclose(maps[name], maps[name].T, atol=1e-12)
        assert maps[name][3, 7] > maps[name][7, 7] + 0.1
    assert maps["mixed RoPE"][3, 7] < 0.5


def test_every_case_and_every_encoding_has_a_name():
    assert set(beyond_text.CASES) == set(experiment.VARIANTS) == set(experiment.CASES)
    for case, encodings in experiment.VARIANTS.items():
        assert list(beyond_text.found(case)) == list(encodings)
        assert len({beyond_text.name_of(case, each) for each in encodings}) == len(encodings)
        stored = {
            each["result"]["elsewhere"] is None for each in results.runs("beyond-text", every=True, case=case)
        }
        assert stored == {beyond_text.CASES[case][1] is None}


@pytest.mark.parametrize("case", beyond_text.CASES)
def test_every_run_has_its_mark_and_the_words_say_the_means(case):
    picture = beyond_text.learned(case)
    every = results.runs("beyond-text", every=True, case=case)
    elsewhere = [each for each in every if each["result"]["elsewhere"] is not None]
    marks = re.findall(r"<use [^>]*style=\"fill-opacity: 0|<use [^>]*stroke: #", picture.svg)
    assert len(marks) >= len(every) + len(elsewhere)
    for name in experiment.VARIANTS[case]:
        scores = [each["result"]["score"] for each in every if each["run"]["encoding"] == name]
        assert f"{beyond_text.name_of(case, name)}: {np.mean(scores):.2f}" in picture.alt
        out = sum(each["verdict"] != "admitted" for each in every if each["run"]["encoding"] == name)
        assert (f"{out} of 3 not admitted" in picture.alt) or not out


def test_a_run_that_is_not_admitted_is_drawn_as_a_cross(tmp_path, monkeypatch):
    before = beyond_text.learned("sound").svg
    found = json.loads(results.path_of("beyond-text").read_text(encoding="utf-8"))
    for each in found["runs"]:
        each["verdict"] = "not admitted"
    monkeypatch.setattr(results, "stored", lambda name, full=False: found)
    after = beyond_text.learned("sound")
    assert "3 of 3 not admitted" in after.alt
    assert after.svg != before


def test_waves_are_learned_slow_ones_first_and_the_picture_says_so():
    values = beyond_text.left_by_wave("none")
    assert values.shape == (3, 4, 5)
    ends = ", ".join(f"{100 * each:.0f}%" for each in values[:, -1].mean(axis=0))
    assert f"From the coordinate, at the end: {ends}." in beyond_text.spectral_bias().alt


def test_the_slowest_wave_tells_the_groups_apart():
    adjacency = beyond_text.two_clusters()
    assert (adjacency == adjacency.T).all()
    assert adjacency[:5, 5:].sum() == 1
    assert "Four times the same graph" in beyond_text.waves_of_a_graph().alt


def test_what_a_molecule_keeps():
    """Coordinates see all; differences a turn and a mirror; distances nothing; areas a mirror."""
    start = interactive.where_atoms_are(turn=0, across=0, mirror=0)

    def same(**moved):
        now = interactive.where_atoms_are(**{"turn": 0, "across": 0, "mirror": 0, **moved})
        return [bool(np.allclose(now[name], start[name])) for name in start]

    assert list(start) == ["coordinates", "difference", "distance", "area"]
    assert same(across=1) == [False, True, True, True]
    assert same(turn=90) == [False, False, True, True]
    assert same(mirror=1) == same(mirror=2) == [False, False, True, False]
    assert same(turn=180, mirror=1) == [False, False, True, False]
    assert "area, with its sign: " in interactive.FIGURES["molecule"].picture().alt
