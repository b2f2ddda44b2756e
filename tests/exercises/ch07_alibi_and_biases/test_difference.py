"""`07-alibi-and-biases.difference`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from posenc_course.checking import report_on
from posenc_course.exercises.ch07_alibi_and_biases.difference import COUNTS, DIFFERENCE


@pytest.mark.parametrize("seed", range(3))
def test_every_difference_is_what_it_was_made_to_be(seed):
    """Welch's error of the seeds and the paired one of the files, by SciPy's word."""
    for case in DIFFERENCE.cases(seed):
        a, b, t = case.args
        of_files = 1.96 * stats.sem(a.mean(axis=0) - b.mean(axis=0))
        of_seeds = t * np.hypot(stats.sem(a.mean(axis=1)), stats.sem(b.mean(axis=1)))
        gap = a.mean() - b.mean()
        counts = case.label in {*COUNTS, "more seeds of one"}
        assert (abs(gap) > np.hypot(of_files, of_seeds)) == counts
        expected = ("lower" if gap < 0 else "higher") if counts else "none"
        assert DIFFERENCE.reference(a, b, t) == expected


def with_the_factors_exchanged(a, b, t):
    files, seeds = t * stats.sem(a.mean(0) - b.mean(0)), [1.96 * stats.sem(m.mean(1)) for m in (a, b)]
    gap = a.mean() - b.mean()
    return "none" if abs(gap) <= np.hypot(files, np.hypot(*seeds)) else "lower" if gap < 0 else "higher"


def with_every_loss_by_itself(a, b, t):
    gap = a.mean() - b.mean()
    return "none" if abs(gap) <= 1.96 * stats.sem((a - b).ravel()) else "lower" if gap < 0 else "higher"


def with_the_variance_of_the_files_by_n(a, b, t):
    files, seeds = 1.96 * stats.sem(a.mean(0) - b.mean(0), ddof=0), [t * stats.sem(m.mean(1)) for m in (a, b)]
    gap = a.mean() - b.mean()
    return "none" if abs(gap) <= np.hypot(files, np.hypot(*seeds)) else "lower" if gap < 0 else "higher"


def with_two_for_1_96(a, b, t):
    files = a.mean(axis=0) - b.mean(axis=0)
    seeds = sum(each.mean(axis=1).var(ddof=1) / len(each) for each in (a, b))
    uncertainty = np.hypot(2 * files.std(ddof=1) / np.sqrt(len(files)), t * np.sqrt(seeds))
    return "none" if abs(files.mean()) <= uncertainty else "lower" if files.mean() < 0 else "higher"


def with_one_spread_for_the_seeds_of_both(a, b, t):
    """The pooled variance of Student's test, as if both models had seeds that spread alike."""
    files = a.mean(axis=0) - b.mean(axis=0)
    pooled = (a.mean(axis=1).var(ddof=1) + b.mean(axis=1).var(ddof=1)) / 2
    seeds = t * np.sqrt(pooled * (1 / len(a) + 1 / len(b)))
    gap, uncertainty = files.mean(), np.hypot(1.96 * stats.sem(files), seeds)
    return "none" if abs(gap) <= uncertainty else "lower" if gap < 0 else "higher"


NOT_KNOWN = (
    ("difference", with_one_spread_for_the_seeds_of_both, "more seeds of one, which agree"),
    ("difference", with_two_for_1_96, "yours is too wide"),
    ("difference", lambda a, b, t: "none", "yours is too wide"),
    ("difference", with_the_factors_exchanged, "yours is too wide"),
    ("difference", with_every_loss_by_itself, "yours is too small"),
    ("difference", lambda a, b, t: "better", "one of the three words"),
)


WRITTEN_IN_ANOTHER_WAY = (("difference", with_the_variance_of_the_files_by_n, "files-divided-by-n"),)


def of_files(a, b):
    return 1.96 * stats.sem(a.mean(axis=0) - b.mean(axis=0))


def of_seeds(a, b, t):
    return t * np.hypot(*(stats.sem(each.mean(axis=1)) for each in (a, b)))


@pytest.mark.parametrize(
    ("uncertainty", "asks"),
    [
        (lambda a, b, t: np.hypot(of_files(a, b) / 1.96, of_seeds(a, b, t)), "with its 1.96?"),
        (lambda a, b, t: np.hypot(of_files(a, b) / a.shape[1] ** 0.5, of_seeds(a, b, t)), "number of files?"),
        (lambda a, b, t: np.hypot(of_files(a, b) ** 2, of_seeds(a, b, t)), "not a variance"),
        (lambda a, b, t: np.hypot(of_files(a, b), of_seeds(a, b, 1.0)), "with its t?"),
        (lambda a, b, t: np.hypot(of_files(a, b), of_seeds(a, b, t) ** 2), "not a variance"),
        (lambda a, b, t: np.hypot(of_files(a, b), of_seeds(a, b, t) / 3**0.5), "number of seeds, not by"),
        (lambda a, b, t: of_files(a, b) ** 2 + of_seeds(a, b, t) ** 2, "is that the root"),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_of_a_small_uncertainty_the_cause_is_asked_and_not_claimed(uncertainty, asks, seed):
    """Seven slips, each of which leaves nothing out that the others have: verdicts do not tell them apart."""

    def answer(a, b, t):
        gap = a.mean() - b.mean()
        return "none" if abs(gap) <= uncertainty(a, b, t) else "lower" if gap < 0 else "higher"

    report = report_on(DIFFERENCE.id, answer, seed=seed)
    assert report.mistake is not None
    assert asks in report.mistake.message
    assert "You left out" not in report.mistake.message


@pytest.mark.parametrize(
    "spread",
    [
        lambda losses, t: t * losses.std(axis=0, ddof=1).mean() / len(losses) ** 0.5,
        lambda losses, t: t * losses[:, 0].std(ddof=1) / len(losses) ** 0.5,
        lambda losses, t: 4.303 * losses.mean(axis=1).std(ddof=1) / len(losses) ** 0.5,
        lambda losses, t: t * losses.mean(axis=1).std(ddof=1) / 3**0.5,
    ],
    ids=["file by file", "of one file", "of three seeds always", "of three runs always"],
)
def test_the_spread_of_seeds_is_that_of_their_means_with_the_t_that_is_given(spread):
    def answer(a, b, t):
        by_file = a.mean(axis=0) - b.mean(axis=0)
        of_the_text = 1.96 * by_file.std(ddof=1) / len(by_file) ** 0.5
        uncertainty = np.sqrt(of_the_text**2 + spread(a, t) ** 2 + spread(b, t) ** 2)
        return "none" if abs(by_file.mean()) <= uncertainty else "lower" if by_file.mean() < 0 else "higher"

    assert not report_on(DIFFERENCE.id, answer).passed
