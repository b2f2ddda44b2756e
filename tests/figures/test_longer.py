"""Pictures of texts longer than the training: they show the stored runs, all seeds of them."""

import json
import re
from typing import Any

import pytest

from posenc_course.experiments import needle, rescaled
from posenc_course.experiments.results import path_of
from posenc_course.figures import longer
from tests.present import present


@pytest.fixture(scope="module")
def every():
    """The runs of the RoPE model by rule, as they are stored."""
    found: dict[str, list[Any]] = {}
    for each in json.loads(path_of("rescaled").read_text())["runs"]:
        if each["run"]["encoding"] == "rope":
            found.setdefault(each["run"]["rule"], []).append(each["result"])
    return found


def form_of(result, factor, share):
    (found,) = (each for each in result["forms"] if (each["factor"], each["share"]) == (factor, share))
    return found


def test_each_length_is_read_with_the_factor_that_just_reaches_it(every):
    alt = longer.stretched().alt
    for rule, name in (("pi", "PI"), ("ntk", "NTK"), ("yarn", "YaRN")):
        told = re.search(rf"without tuning, {name}: (.*?)\. ", alt)
        for column, factor in enumerate((2, 4, 8, 16), start=1):
            rows = [form_of(result, factor, 0)["by_length"][column] for result in every[rule]]
            mean = sum(sum(row) / len(row) for row in rows) / len(rows)
            assert f"{mean:.2f} at {256 * factor:,}" in present(told)[1]
    plain = [form_of(result, 1, 0)["by_length"][-1] for result in every["plain"]]
    mean = sum(sum(row) / len(row) for row in plain) / len(plain)
    assert f"{mean:.2f} at 4,096" in present(re.search(r"without tuning, RoPE as it is: (.*?)\. ", alt))[1]


def test_the_window_slides_over_the_bytes_that_the_rules_read(every):
    runs = json.loads(path_of("byte-models").read_text())["runs"]
    tested = [each["result"]["longer"] for each in runs if each["run"]["encoding"] == "rope"]
    by_seed = []
    for seed, plain in zip(tested, every["plain"], strict=True):
        own = form_of(plain, 1, 0)["by_length"]
        files = len(own[-1])
        assert [row[:files] for row in seed["by_length"]] == own  # the same bytes, and the same weights
        found = [
            [whole[0], *slides[1:]] for whole, slides in zip(seed["whole"], seed["sliding"], strict=True)
        ]
        by_seed.append(mean(found[:files]))
    assert rescaled.in_a_window(4096).mean(axis=1) == pytest.approx(by_seed, abs=1e-3)
    told = re.search(r"in a window of 256 bytes that slides: (.*)\.$", longer.stretched().alt)
    assert f"{sum(by_seed) / len(by_seed):.2f} at 4,096" in present(told)[1]


def test_a_rule_is_compared_with_the_window_of_the_same_seed(every):
    found = rescaled.above_the_window("yarn", factor=16, length=4096)
    yarn = mean([form_of(result, 16, 0)["by_length"][-1] for result in every["yarn"]])
    assert found.difference == pytest.approx(yarn - rescaled.in_a_window(4096).mean())
    assert found.verdict == "higher"


def test_a_form_is_compared_with_the_same_seed_as_it_was_trained(every):
    found = rescaled.difference("yarn", factor=16, length=4096)
    own = [
        sum(form_of(stretched, 16, 0)["by_length"][-1]) - sum(form_of(plain, 1, 0)["by_length"][-1])
        for stretched, plain in zip(every["yarn"], every["plain"], strict=True)
    ]
    files = len(form_of(every["yarn"][0], 16, 0)["by_length"][-1])
    assert found.difference == pytest.approx(sum(own) / len(own) / files, abs=1e-9)
    assert found.verdict == "lower"


def test_a_form_that_was_not_run_is_refused_with_those_that_were():
    with pytest.raises(ValueError, match=r"pi has no form of factor 3, share 0; it has \[\(2, 0\)"):
        rescaled.difference("pi", factor=3)


@pytest.fixture(scope="module")
def needles():
    """The runs of the needles by encoding and rule, as they are stored."""
    found: dict[tuple[str, str], list[Any]] = {}
    for each in json.loads(path_of("needle").read_text())["runs"]:
        found.setdefault((each["run"]["encoding"], each["run"]["rule"]), []).append(each)
    return found


def mean(rows):
    return sum(map(sum, rows)) / sum(map(len, rows))


def test_a_map_of_needles_is_the_mean_of_the_admitted_seeds(needles):
    alt = longer.needles().alt
    for way, every in needles.items():
        admitted = [each["result"] for each in every if each["verdict"] == "admitted"]
        told = re.search(
            rf"{longer.MAPS[way]}, {len(admitted)} of {len(every)} runs admitted: (.*?)\.(?: |$)", alt
        )
        shown = admitted or [each["result"] for each in every]
        for row, length in enumerate(shown[0]["lengths"]):
            assert (
                f"{100 * mean([result['exact'][row] for result in shown]):.0f}% at {length:,}"
                in present(told)[1]
            )


def test_a_kind_of_needle_counts_the_seeds_that_can_do_it(needles):
    alt = longer.kinds_of_needles().alt
    for way in needle.HARDER:
        for kind, title in longer.KINDS.items():
            able = [
                each["result"]["harder"]["exact"][kind]
                for each in needles[way]
                if each["result"]["harder"]["trained"][kind] >= 0.99
            ]
            if not able:
                assert f"{title}, {longer.MAPS[way]}: no run can do it at the trained length." in alt
                continue
            told = re.search(rf"{title}, {longer.MAPS[way]}, {len(able)} of \d runs: (.*?)\.(?: |$)", alt)
            assert f"{100 * mean([found[-1] for found in able]):.0f}% at 2,048" in present(told)[1]
