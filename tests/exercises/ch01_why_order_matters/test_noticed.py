"""`01-why-order-matters.noticed`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch01_why_order_matters.noticed import NOTICED


def test_nobody_notices_a_shuffle_without_a_mask_and_only_who_sees_others_does_under_one():
    found = {case.label: NOTICED.reference(*case.args).tolist() for case in NOTICED.cases()}
    assert found["attention on three tokens"] == [False] * 3
    assert found["attention with a causal mask, all five tokens moved"] == [True] * 5
    # The first two still see the same tokens.
    assert found["attention with a causal mask, the last three tokens moved"] == [
        False,
        False,
        True,
        True,
        True,
    ]
    assert found["one token"] == [True]
    assert found["nothing but rounding"] == [False] * 6
    assert found["four tokens with another row"] == [True, False, True, True, False, True]


NOT_KNOWN = (
    *(
        (
            "noticed",
            lambda y, z, order, of=of: of(z[np.argsort(order)] - y) > 1e-9,
            "two swaps, and nothing but rounding",
        )
        for of in (lambda gaps: np.linalg.norm(gaps, axis=1), lambda gaps: np.abs(gaps).sum(axis=1))
    ),
    (
        "noticed",
        lambda y, z, order: ~np.isclose(z[np.argsort(order)], y, rtol=1e-9, atol=1e-9).all(axis=1),
        "You miss a difference",
    ),
    *(
        (
            "noticed",
            lambda y, z, order, least=least: np.abs(z[np.argsort(order)] - y).max(axis=1) > least,
            words,
        )
        for least, words in ((1e-8, "You miss a difference"), (1e-12, "has noticed nothing"))
    ),
    (
        "noticed",
        lambda y, z, order: np.abs(z[np.argsort(order)] - y).mean(axis=1) > 1e-9,
        "You miss a difference",
    ),
    ("noticed", lambda y, z, order: np.zeros(len(y), dtype=bool), None),
    ("noticed", lambda y, z, order: np.abs(z[np.argsort(order)] - y).max(axis=0) > 1e-9, "along axis 1"),
    ("noticed", lambda y, z, order: np.abs(z[np.argsort(order)] - y) > 1e-9, "along axis 1"),
    (
        "noticed",
        lambda y, z, order: np.abs(z[np.argsort(order)] - y).max(axis=1) > 1e-7,
        "You miss a difference",
    ),
)
