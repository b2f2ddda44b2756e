"""`07-alibi-and-biases.bucket_starts`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from transformers.models.t5.modeling_t5 import T5Attention

from posenc_course.exercises.ch07_alibi_and_biases.bucket_starts import BUCKET_STARTS, _borders_meet_whole
from tests.exercises.ch07_alibi_and_biases.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_buckets_begin_where_transformers_begins_them(seed):
    for case in BUCKET_STARTS.cases(seed):
        buckets, max_distance = case.args
        distances = torch.arange(max_distance + 1)
        theirs = T5Attention._relative_position_bucket(-distances, False, buckets, max_distance).tolist()
        assert BUCKET_STARTS.reference(*case.args) == [theirs.index(b) for b in range(buckets)]
        assert not _borders_meet_whole(*case.args), "rounding would decide"


def test_the_last_bucket_begins_before_max_distance():
    assert BUCKET_STARTS.reference(16, 128)[8:] == [8, 12, 16, 23, 32, 46, 64, 91]  # the encoder's
    assert BUCKET_STARTS.reference(32, 128)[-1] == 113  # the decoder's


def starts_by_integers(buckets, max_distance):
    exact = buckets // 2
    return [
        int(exact * (max_distance / exact) ** (max(0, b - exact) / exact)) if b >= exact else b
        for b in range(buckets)
    ]


def starts_by_logarithms(buckets, max_distance):
    """Right on paper."""
    exact = buckets // 2
    borders = np.exp(np.linspace(np.log(exact), np.log(max_distance), exact + 1))[:-1]
    return [*range(exact), *np.ceil(borders).astype(int)]


def starts_by_powers_of_ten(buckets, max_distance):
    exact = buckets // 2
    borders = np.logspace(np.log10(exact), np.log10(max_distance), exact, endpoint=False)
    return [*range(exact), *np.ceil(borders).astype(int)]


NOT_KNOWN = (
    ("bucket_starts", starts_by_logarithms, "Take a hair off"),
    ("bucket_starts", starts_by_powers_of_ten, "Take a hair off"),
    ("bucket_starts", lambda buckets, max_distance: np.arange(1, buckets + 1), "begins at distance 0"),
    ("bucket_starts", lambda buckets, max_distance: np.zeros(buckets), "begins farther away"),
    ("bucket_starts", lambda buckets, max_distance: [0], "as many numbers as there are buckets"),
)


def starts_with_max_distance_as_factor(buckets, max_distance):
    exact = buckets // 2
    wide = [math.ceil(exact * math.exp(s / exact * math.log(max_distance)) - 1e-6) for s in range(exact)]
    return [*range(exact), *wide]


def starts_that_end_at_max_distance(buckets, max_distance):
    return [*BUCKET_STARTS.reference(buckets, max_distance)[: buckets - 1], max_distance]


WRITTEN_IN_ANOTHER_WAY = (
    ("bucket_starts", starts_by_integers, "rounded-down"),
    ("bucket_starts", starts_with_max_distance_as_factor, "factor-is-max-distance"),
    ("bucket_starts", starts_that_end_at_max_distance, "last-one-replaced"),
)
