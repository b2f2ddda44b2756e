"""The pictures of the language model are drawn from the stored result, all seeds of it."""

from __future__ import annotations

import copy
import functools
import json
import re

import pytest

from posenc_lib.experiments.results import stored
from posenc_lib.figures import language_model as pictures

FIGURES = {
    "loss_by_length": ("alibi", "as trained", "by_length"),
    "loss_by_position": ("alibi", "as trained", "by_position"),
    "sliding_or_whole": ("alibi", "as trained", "sampled_whole"),
    "rescaled_rope": ("rope", "yarn, tuned", "by_length"),
}


def drawn(name, result=None, **arguments):
    return getattr(pictures, name)(result, **arguments)


as_stored = functools.cache(drawn)


def texts(picture) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg)


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("seed", range(3))
def test_every_seed_of_the_result_is_on_the_picture(name, seed):
    encoding, way, what = FIGURES[name]
    changed = copy.deepcopy(stored(pictures.NAME))
    (run,) = [
        each
        for each in changed["runs"]
        if (each["run"]["encoding"], each["run"]["length"], each["run"]["seed"]) == (encoding, 64, seed)
    ]
    run["result"]["tests"][way][what][1] += 0.5
    assert drawn(name, changed).svg != as_stored(name).svg


@pytest.mark.parametrize("name", FIGURES)
def test_the_same_result_gives_the_same_picture(name):
    assert drawn(name, json.loads(json.dumps(stored(pictures.NAME)))).svg == as_stored(name).svg


def test_lines_end_where_the_alt_text_says():
    picture = as_stored("loss_by_length")
    found = [
        each["result"]["tests"]["as trained"]["by_length"]
        for each in stored(pictures.NAME)["runs"]
        if each["run"]["encoding"] == "sinusoidal" and each["run"]["length"] == 64
    ]
    first, last = (sum(losses[i] for losses in found) / len(found) for i in (0, -1))
    assert f"sinusoidal: from {first:.2f} to {last:.2f}." in picture.alt


def test_every_encoding_of_the_result_has_a_line():
    written = texts(as_stored("loss_by_length"))
    for each in stored(pictures.NAME)["runs"]:
        for way in each["result"]["tests"]:
            if "tuned" not in way:
                assert written.count(pictures._title((each["run"]["encoding"], way))) == 1


def test_models_trained_at_another_length_have_pictures_too():
    assert "2048" in texts(drawn("loss_by_length", trained=128))
    with pytest.raises(ValueError, match=r"trained=100: .* give one of \[64, 128\]"):
        drawn("loss_by_length", trained=100)


@pytest.mark.parametrize("name", FIGURES)
def test_lines_differ_by_more_than_colour(name):
    svg = as_stored(name).svg
    markers = {
        "".join(re.findall("[A-Z]", d.upper())) for d in re.findall(r'<path id="[^"]+" d="([^"]+)"', svg)
    }
    assert len([shape for shape in markers if shape not in ("ML",)]) >= 2
    assert "currentColor" in svg
