"""`10-position-from-content.path_scores`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc_course.exercises.ch10_position_from_content.path_scores import PATH_SCORES
from posenc_course.exercises.ch10_position_from_content.reflections import REFLECTIONS
from posenc_lib.biased import path_products
from tests.exercises.ch10_position_from_content.shared import cases, right


def test_a_path_is_the_librarys_and_reflections_keep_lengths_where_beta_is_2():
    for q, k, w, beta in cases(PATH_SCORES):
        units = w / np.linalg.norm(w, axis=1, keepdims=True)
        expected = path_products(q, k, units, beta) / math.sqrt(q.shape[1])
        assert right(PATH_SCORES, q, k, w, beta) == pytest.approx(expected)
    w = np.random.default_rng(0).normal(size=(3, 5))
    for matrix, along in zip(right(REFLECTIONS, w, np.array([2.0, 1.0, 0.0])), w, strict=True):
        assert np.linalg.det(matrix) == pytest.approx({0: -1, 1: 0, 2: 1}[w.tolist().index(along.tolist())])


NOT_KNOWN = (
    ("path_scores", lambda q, k, w, beta: right(PATH_SCORES, q, k, w, beta / 2), None),
    ("path_scores", lambda q, k, w, beta: np.tril(np.ones((len(q), len(q)))), "there is no reflection"),
)
