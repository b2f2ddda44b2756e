"""`07-alibi-and-biases.t5_bucket`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import torch
from transformers.models.t5.modeling_t5 import T5Attention

from posenc_course.exercises.ch07_alibi_and_biases.t5_bucket import T5_BUCKET
from tests.exercises.ch07_alibi_and_biases.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_buckets_are_those_of_transformers_and_of_exact_arithmetic(seed):
    for case in T5_BUCKET.cases(seed):
        relative, buckets, max_distance, bidirectional = case.args
        theirs = T5Attention._relative_position_bucket(
            torch.from_numpy(relative), bidirectional, buckets, max_distance
        )
        got = T5_BUCKET.reference(*case.args)
        np.testing.assert_array_equal(got, theirs.numpy(), err_msg=case.label)

        side = buckets // 2 if bidirectional else buckets
        exact = side // 2
        with mpmath.workdps(40):
            for offset, bucket in zip(relative.ravel().tolist(), got.ravel().tolist(), strict=True):
                distance = abs(offset) if bidirectional else max(-offset, 0)
                grown = mpmath.log(mpmath.mpf(max(distance, 1)) / exact) / mpmath.log(
                    mpmath.mpf(max_distance) / exact
                )
                wide = min(exact + int(mpmath.floor(grown * (side - exact))), side - 1)
                ahead = side if bidirectional and offset > 0 else 0
                assert bucket == ahead + (distance if distance < exact else wide), (case.label, offset)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_case_of_the_buckets_lies_on_a_border_that_rounding_could_move(seed):
    """Or a right answer in float32 might fail by a hair."""
    for case in T5_BUCKET.cases(seed):
        relative, buckets, max_distance, bidirectional = case.args
        side = buckets // 2 if bidirectional else buckets
        exact = side // 2
        distance = np.abs(relative) if bidirectional else np.maximum(-relative, 0)
        wide = distance[(distance > exact) & (distance < max_distance)]
        place = np.log(wide / exact) / math.log(max_distance / exact) * (side - exact)
        assert np.abs(place - np.round(place)).min(initial=1.0) > 1e-4, case.label


def buckets_of_query_less_key(relative, buckets, max_distance, bidirectional):
    offsets = -torch.from_numpy(np.asarray(relative))
    return T5Attention._relative_position_bucket(offsets, bidirectional, buckets, max_distance)


def with_as_many_wide_buckets_as_others(relative, buckets, max_distance, bidirectional):
    n = buckets // 2 if bidirectional else buckets
    distance = np.abs(relative) if bidirectional else np.maximum(-relative, 0)
    exact = n // 2
    grown = np.log(np.maximum(distance, 1) / exact) / math.log(max_distance / exact)
    wide = exact + np.floor(grown * exact).astype(int)
    bucket = np.where(distance < exact, distance, np.minimum(wide, n - 1))
    return bucket + n * (relative > 0) if bidirectional else bucket


def with_the_numbers_of_t5_written_in(relative, buckets, max_distance, bidirectional):
    if bidirectional:
        return T5_BUCKET.reference(relative, buckets, max_distance, True)
    return T5_BUCKET.reference(relative, 32, 128, False)


NOT_KNOWN = (
    ("t5_bucket", with_as_many_wide_buckets_as_others, "10 buckets, max_distance 20"),
    ("t5_bucket", with_the_numbers_of_t5_written_in, "past only: far keys"),
    ("t5_bucket", lambda relative, *rest: np.abs(relative), "at least 0 and below"),
    ("t5_bucket", lambda relative, *rest: np.zeros_like(relative), None),
)


WRITTEN_IN_ANOTHER_WAY = (("t5_bucket", buckets_of_query_less_key, "sign-turned"),)
