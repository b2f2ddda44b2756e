"""`08-long-context.query_scale`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.checking import report_on
from posenc_course.exercises.ch08_long_context.query_scale import QUERY_SCALE
from posenc_lib import layers_from_config
from tests.present import present


def test_queries_grow_as_those_of_llama_4():
    temperature = layers_from_config({"model_type": "llama4_text", "num_hidden_layers": 48})[3].temperature
    positions = np.array([0, 8190, 8191, 100_000, 10_000_000])
    assert QUERY_SCALE.reference(positions, 0.1, 8192) == pytest.approx(present(temperature)(positions))


NOT_KNOWN = (("query_scale", lambda positions, beta, length: np.ones(len(positions)), None),)


WRITTEN_IN_ANOTHER_WAY = (
    (
        "query_scale",
        lambda positions, beta, length: 1 + beta * np.log(1 + positions // length + 1),
        "rounded-up",
    ),
    (
        "query_scale",
        lambda positions, beta, length: 1 + beta * np.log(np.ceil((positions + 1) / length)),
        "counted-from-zero",
    ),
)


def test_one_added_after_dividing_is_not_only_told_as_rounding_up():
    told = str(report_on(QUERY_SCALE.id, WRITTEN_IN_ANOTHER_WAY[0][1]))
    assert "add the 1 after dividing" in told


def test_a_quotient_rounded_up_in_place_of_one_more_is_told_so():
    told = str(report_on(QUERY_SCALE.id, WRITTEN_IN_ANOTHER_WAY[1][1]))
    assert "Rounding up instead is not the same" in told
