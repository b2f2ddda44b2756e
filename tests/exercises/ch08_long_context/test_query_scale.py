"""`08-long-context.query_scale`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch08_long_context.query_scale import QUERY_SCALE
from posenc_lib import layers_from_config
from tests.present import present


def test_queries_grow_as_those_of_llama_4():
    temperature = layers_from_config({"model_type": "llama4_text", "num_hidden_layers": 48})[3].temperature
    positions = np.array([0, 8190, 8191, 100_000, 10_000_000])
    assert QUERY_SCALE.reference(positions, 0.1, 8192) == pytest.approx(present(temperature)(positions))


NOT_KNOWN = (("query_scale", lambda positions, beta, length: np.ones(len(positions)), None),)
