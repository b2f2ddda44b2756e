"""Beyond text at each encoding's own rate: which rate is its best, and who is compared with whom."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from posenc_course.experiments import beyond_text, beyond_text_rates
from posenc_course.experiments.lab import perform
from tests.present import present

USUAL, (LOW, HIGH) = beyond_text_rates.USUAL, beyond_text_rates.RATES


def test_the_best_rate_is_that_of_the_highest_mean():
    assert beyond_text_rates.highest({USUAL: [0.5, 0.5], LOW: [0.4, 0.4], HIGH: [0.2, 0.9]}) == HIGH
    assert beyond_text_rates.highest({USUAL: [0.5, 0.5], LOW: [0.4, 0.7], HIGH: [0.2, 0.7]}) == LOW


def test_where_rates_are_level_the_usual_one_is_the_best():
    assert beyond_text_rates.highest({LOW: [0.1, 0.2, 0.3], HIGH: [0.0] * 3, USUAL: [0.3, 0.2, 0.1]}) == USUAL
    assert beyond_text_rates.highest({HIGH: [1.0], LOW: [1.0], USUAL: [0.9]}) == LOW


@pytest.fixture
def by_hand(monkeypatch):
    """Encodings of one case: scores at each rate, and a reading elsewhere that is turned around.

    A run below 0.5 is not admitted.
    """
    scores = {
        "slow": {LOW: [0.90, 0.91, 0.92], USUAL: [0.60, 0.61, 0.62], HIGH: [0.5, 0.5, 0.5]},
        "usual": {LOW: [0.6, 0.6, 0.6], USUAL: [0.70, 0.71, 0.72], HIGH: [0.6, 0.6, 0.6]},
        "uneven": {LOW: [0.0, 0.0, 0.6], USUAL: [0.0, 0.0, 0.9], HIGH: [0.0, 0.98, 1.0]},
        "lost": {LOW: [0.0] * 3, USUAL: [0.0, 0.0, 0.9], HIGH: [0.0] * 3},
    }

    def at_rate(case, encoding, rate):
        return [
            {
                "result": {"score": score, "elsewhere": 1 - score},
                "verdict": "admitted" if score >= 0.5 else "not admitted",
            }
            for score in scores[encoding][rate]
        ]

    monkeypatch.setattr(beyond_text_rates, "at_rate", at_rate)
    monkeypatch.setattr(beyond_text, "VARIANTS", {"made up": tuple(scores)})


def test_each_is_compared_at_its_best_rate(by_hand):
    before = present(beyond_text_rates.compare("made up", "slow", "usual", rate=USUAL))
    after = present(beyond_text_rates.compare("made up", "slow", "usual"))
    assert (before.verdict, after.verdict) == ("lower", "higher")
    assert after.difference == pytest.approx(0.91 - 0.71)


def test_the_best_rate_is_chosen_by_the_score_and_holds_elsewhere(by_hand):
    elsewhere = present(beyond_text_rates.compare("made up", "slow", "usual", "elsewhere"))
    assert elsewhere.difference == pytest.approx((1 - 0.91) - (1 - 0.71))


def test_what_is_not_admitted_counts_for_the_rate_and_not_for_the_verdict(by_hand):
    assert beyond_text_rates.best_rate("made up", "uneven") == HIGH
    assert beyond_text_rates.admitted("made up", "uneven").tolist() == [0.98, 1.0]
    assert beyond_text_rates.best_rate("made up", "lost") == USUAL  # one run of three, yet the highest mean


def test_fewer_than_two_admitted_runs_have_no_verdict(by_hand):
    assert beyond_text_rates.compare("made up", "usual", "lost") is None
    assert beyond_text_rates.compare("made up", "usual", "uneven", rate=USUAL) is None
    assert beyond_text_rates.compare("made up", "usual", "uneven") is not None


def test_all_that_have_a_verdict_are_listed_before_and_after(by_hand):
    found = beyond_text_rates.before_and_after()
    assert set(found) == {("made up", key, "slow", "usual") for key in ("score", "elsewhere")}
    assert [each.verdict for each in found["made up", "score", "slow", "usual"]] == ["lower", "higher"]


def test_every_run_of_the_first_round_is_stored_at_both_other_rates():
    for case, encodings in beyond_text.VARIANTS.items():
        for encoding in encodings:
            of_rates = [beyond_text_rates.at_rate(case, encoding, rate) for rate in (LOW, USUAL, HIGH)]
            settings = [
                [{key: value for key, value in each["run"].items() if key != "rate"} for each in found]
                for found in of_rates
            ]
            assert len(settings[0]) == 3
            assert all(one == other for one, other in pairwise(settings))


def test_no_stored_encoding_has_a_better_rate_than_its_best():
    for case, encodings in beyond_text.VARIANTS.items():
        for encoding in encodings:
            best = beyond_text_rates.best_rate(case, encoding)
            means = {
                rate: np.mean(
                    [each["result"]["score"] for each in beyond_text_rates.at_rate(case, encoding, rate)]
                )
                for rate in (LOW, USUAL, HIGH)
            }
            assert means[best] == pytest.approx(max(means.values()))


def test_the_fast_form(tmp_path):
    week, waves = perform("beyond-text-rates", fast=True, work=tmp_path)["runs"]
    assert week["run"]["rate"] == waves["run"]["rate"] == LOW
    assert 0 < waves["result"]["score"] <= 1
