"""`06-rotary.broken_rotations`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from posenc_course.exercises.ch06_rotary.broken_rotations import BROKEN_ROTATIONS
from posenc_lib import apply_rotary
from tests.exercises.ch06_rotary.shared import SOLUTIONS

MENDED = {
    "A": "    return BASE ** (-2 * pairs / rotary_dim)",
    "B": "    past = cache.shape[-2]",
    "C": "    return np.concatenate([-second, first], axis=-1)",
    "D": "    theta = np.repeat(theta, 2, axis=-1)",
    "E": "    factor = LONGEST / TRAINED",
}


def listing(name, mend=None):
    """What a listing defines; `mend`: the number of a line to be put right."""
    [code] = re.findall(
        rf"<summary>Listing {name}</summary>\n\n```python\n(.*?)```", SOLUTIONS.read_text(), re.DOTALL
    )
    if mend is not None:
        code, count = re.subn(rf"^.*# {mend}$", MENDED[name], code, flags=re.MULTILINE)
        assert count == 1
    names: dict[str, Any] = {}
    exec(code, names)
    return names["scores"]


LINES = dict(zip("ABCDE", BROKEN_ROTATIONS.reference(), strict=True))


def in_layout(q, k, start=0, **options):
    at = start + np.arange(q.shape[-2])
    q, k = (apply_rotary(each, at, **options) for each in (q, k))
    return q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])


def drawn(*shape):
    return np.random.default_rng(3).normal(size=(2, *shape))


def test_listing_a():
    q, k = drawn(5, 8)
    broken, mended = listing("A"), listing("A", LINES["A"])
    assert broken(q, k, 8) == pytest.approx(in_layout(q, k))
    assert mended(q, k, 4) == pytest.approx(in_layout(q, k, rotary_dim=4))
    assert not np.allclose(broken(q, k, 4), mended(q, k, 4), atol=1e-3)


@pytest.mark.parametrize(("past", "right", "keeps"), [(0, True, False), (2, True, True), (3, False, False)])
def test_listing_b(past, right, keeps):
    q, k = drawn(2, past + 3, 8)
    cache = apply_rotary(k[:, :past], past)
    expected = in_layout(q, k)[:, past:]
    of_all = apply_rotary(k, past + 3)
    for scores, works in ((listing("B"), (right, keeps)), (listing("B", LINES["B"]), (True, True))):
        found, keys = scores(q[:, past:], k[:, past:], cache)
        assert (np.allclose(found, expected), np.allclose(keys, of_all)) == works


def test_listing_c():
    q, k = drawn(6, 8)
    found, right = listing("C")(q, k), in_layout(q, k, layout="half")
    assert not np.allclose(found, right, atol=1e-2)
    assert np.diagonal(found) == pytest.approx(np.diagonal(right))
    assert listing("C", LINES["C"])(q, k) == pytest.approx(right)
    same = np.ones((6, 8)) * q[0], np.ones((6, 8)) * k[0]
    assert listing("C")(*same)[4, 2] == pytest.approx(in_layout(*same, layout="half")[2, 4])


@pytest.mark.parametrize(("columns", "right"), [(2, True), (8, False)])
def test_listing_d(columns, right):
    q, k = drawn(6, columns)
    assert np.allclose(listing("D")(q, k), in_layout(q, k)) == right
    assert listing("D", LINES["D"])(q, k) == pytest.approx(in_layout(q, k))


def test_listing_e():
    same = np.ones((1, 3000, 1))
    q, k = (same * row for row in drawn(8))
    nothing = np.zeros((1, 0, 8))

    def in_two(scores):
        _, cache = scores(q[:, :1500], k[:, :1500], nothing)
        return scores(q[:, 1500:], k[:, 1500:], cache)[0]

    def depends_on_offset_alone(found, first):
        return np.allclose(found[0, 0, :-1], found[0, 1, 1:], atol=1e-6) and len(found[0]) == 3000 - first

    assert depends_on_offset_alone(listing("E")(q, k, nothing)[0], 0)
    assert not depends_on_offset_alone(in_two(listing("E")), 1500)
    mended = listing("E", LINES["E"])
    assert depends_on_offset_alone(in_two(mended), 1500)
    assert in_two(mended)[0, 0] == pytest.approx(mended(q, k, nothing)[0][0, 1500], abs=1e-6)


NOT_KNOWN = (
    ("broken_rotations", (5, 13, 11, 12, 19), "listing E"),
    ("broken_rotations", (4, 14, 11, 12, 15), "line 4 counts the pairs"),
    ("broken_rotations", (4, 14, 11, 12, 15), "line 14 starts from a number"),
)


WRITTEN_IN_ANOTHER_WAY = (
    ("broken_rotations", [4, 12, 10, 11, 14], "counted-from-zero"),
    ("broken_rotations", [5, 13, 11, 12, 17], "e-the-turn"),
)
