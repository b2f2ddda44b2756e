"""`03-relative-position.three_products`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.checking import report_on
from posenc_course.exercises.ch03_relative_position.three_products import PRODUCT, THREE_PRODUCTS
from tests.exercises.ch03_relative_position.shared import TEXT, exact_rows


def test_the_three_products_are_those_of_the_exact_rows():
    near, far = exact_rows([3, 5, 10], 64), exact_rows([1003, 1010], 64)
    assert near[0] @ near[2] == pytest.approx(PRODUCT, abs=1e-10)
    expected = far[1] @ far[0], near[1] @ near[1], np.linalg.norm(near[0] - near[2])
    assert THREE_PRODUCTS.reference() == pytest.approx(expected, abs=1e-9)


def test_three_digits_are_enough():
    assert report_on("03-relative-position.three_products", (23.3, 32, 4.18)).passed


def test_the_text_states_the_product_to_four_decimals():
    assert f"is {PRODUCT:.4f}." in TEXT.read_text()


NOT_KNOWN = (
    ("three_products", (1.0, 2.0, 3.0), None),
    ("three_products", (1007 / 7 * PRODUCT, 32, 4.18), "it is -7"),
    ("three_products", (PRODUCT, 25, 4.18), "How many pairs are there"),
    ("three_products", (PRODUCT, 32, 7), "write out (a - b) . (a - b)"),
    ("three_products", (23, 32, 4.2), "right but for its last digits"),
    ("three_products", (23.2, 32, 4.18), "right but for its last digits"),
    ("three_products", (23.3, 32, 4.17), "right but for its last digits"),
)


WRITTEN_IN_ANOTHER_WAY = (("three_products", [-23.264, 32, 4.1796], "sign-turned"),)
