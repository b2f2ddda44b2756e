"""`03-relative-position`: the references against independent values, and answers that no list foresaw."""

import math
from pathlib import Path

import mpmath
import numpy as np
import pytest
import torch

from posenc_lib.checking import report_on
from posenc_lib.exercises import ch03_relative_position as ch03

SEEDS = range(3)
TEXT = Path(__file__).resolve().parents[2] / "solutions" / "03-relative-position.md"


def exact_rows(positions, dim):
    """To fifty digits, by the formula of the paper."""
    with mpmath.workdps(50):
        rates = [mpmath.power(10000, -mpmath.mpf(2 * i) / dim) for i in range(dim // 2)]
        angles = [[mpmath.mpf(float(p)) * w for w in rates] for p in positions]
        return np.array([[float(f(a)) for a in row for f in (mpmath.sin, mpmath.cos)] for row in angles])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_shift_matrix_moves_exact_rows(seed):
    positions = [0, 1, -7, 2.5, 400]
    for case in ch03.SHIFT_MATRIX.cases(seed):
        offset, dim = case.args
        before = exact_rows(positions, dim)
        after = exact_rows([p + offset for p in positions], dim)
        assert before @ np.asarray(ch03.SHIFT_MATRIX.reference(offset, dim)).T == pytest.approx(
            after, abs=1e-12
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_shifted_rows_are_the_exact_rows_of_the_new_positions(seed):
    """Known positions by the formula; random ones by going there and back."""
    known = {
        "positions 0 to 4, offset 3, dim 4": range(5),
        "positions 7, 2 and 100, offset -2, dim 8": (7, 2, 100),
        "one row, offset 1, dim 2": (5,),
        "offset 0, dim 6": (3, 1),
        "offset 0.5, dim 4": (0, 20, -4),
    }
    for case in ch03.SHIFT_ROWS.cases(seed):
        rows, offset = case.args
        if case.label in known:
            expected = exact_rows([p + offset for p in known[case.label]], rows.shape[1])
            assert ch03.SHIFT_ROWS.reference(rows, offset) == pytest.approx(expected, abs=1e-12), case.label
        there_and_back = ch03.SHIFT_ROWS.reference(ch03.SHIFT_ROWS.reference(rows, offset), -offset)
        assert there_and_back == pytest.approx(rows, abs=1e-12)


def test_the_code_that_is_to_be_debugged_is_the_code_in_the_text():
    """The text shows it, and `as-given` says so: both must be the same."""
    text = TEXT.read_text()
    code = text.split("```python\n")[1].split("```")[0]
    namespace = {"np": np}
    exec(code, namespace)
    report = report_on("03-relative-position.shift_rows", namespace["shift_rows"])
    assert not report.passed
    assert report.mistake.name == "as-given"


@pytest.mark.parametrize("seed", SEEDS)
def test_continued_tables_obey_the_recurrence_of_every_wave(seed):
    """x(p + 1) + x(p - 1) = 2 cos(w) x(p): true of sines and cosines of p w, and of nothing that grows."""
    for case in ch03.EXTEND_TABLE.cases(seed):
        first, n = case.args
        table = np.asarray(ch03.EXTEND_TABLE.reference(first, n))
        assert table.shape == (n, first.shape[1])
        assert table[: len(first)] == pytest.approx(first[:n], abs=1e-12)
        twice_cosine = 2 * np.repeat(first[1, 1::2], 2)
        assert table[2:] + table[:-2] == pytest.approx(twice_cosine * table[1:-1], abs=1e-10)


def test_the_three_products_are_those_of_the_exact_rows():
    near, far = exact_rows([3, 5, 10], 64), exact_rows([1003, 1010], 64)
    assert near[0] @ near[2] == pytest.approx(ch03.PRODUCT, abs=1e-10)
    expected = far[1] @ far[0], near[1] @ near[1], np.linalg.norm(near[0] - near[2])
    assert ch03.THREE_PRODUCTS.reference() == pytest.approx(expected, abs=1e-9)


def test_the_text_states_the_product_to_four_decimals():
    text = TEXT.read_text()
    assert f"is {ch03.PRODUCT:.4f}." in text


@pytest.mark.parametrize("seed", range(5))
def test_every_verdict_is_that_of_a_search_over_all_pairs(seed):
    for case in ch03.IS_RELATIVE.cases(seed):
        (scores,) = case.args
        matrix = np.asarray(scores(np.arange(256)))
        spread = max(np.ptp(np.diagonal(matrix, k)) for k in range(-255, 256))
        relative, _ = ch03._SCORES[case.label]
        assert ch03.IS_RELATIVE.reference(scores) is relative
        # Far from the border: no tolerance that a learner may choose decides.
        assert spread < 1e-9 if relative else spread > 0.05, case.label


def test_scores_may_be_asked_in_any_order_and_for_some_positions_only():
    for case in ch03.IS_RELATIVE.cases(3):
        (scores,) = case.args
        some = np.array([200, 0, 17, 255])
        assert np.allclose(scores(some), scores(np.arange(256))[np.ix_(some, some)])


@pytest.mark.parametrize("positions", [[0, 256], [-1, 0], [[1, 2]], [0.5, 1.0], 3])
def test_scores_refuse_positions_that_they_do_not_have(positions):
    (scores,) = ch03.IS_RELATIVE.cases(0)[0].args
    with pytest.raises(ValueError, match="give"):
        scores(positions)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_four_terms_add_up_to_what_torch_computes(seed):
    for case in ch03.FOUR_TERMS.cases(seed):
        words, places, w_q, w_k = (torch.from_numpy(each) for each in case.args)
        terms = torch.from_numpy(ch03.FOUR_TERMS.reference(*case.args))
        x = words + places
        identity = torch.eye(len(x), dtype=x.dtype)
        weights = torch.nn.functional.scaled_dot_product_attention(x @ w_q, x @ w_k, identity)
        assert torch.allclose(terms.sum(dim=0).softmax(dim=-1), weights)
        nothing = torch.zeros_like(places)
        alone = ch03.FOUR_TERMS.reference(*(each.numpy() for each in (words, nothing, w_q, w_k)))
        assert np.allclose(alone[0], terms[0])
        assert not alone[1:].any()


# Judged in test_every_exercise, as are those below.
NOT_KNOWN = (
    ("shift_matrix", lambda offset, dim: np.eye(dim), None),
    ("shift_rows", lambda rows, offset: -rows, None),
    ("extend_table", lambda first, n: np.zeros((n, first.shape[1])), None),
    ("three_products", (1.0, 2.0, 3.0), None),
    ("is_relative", lambda scores: False, None),
    ("four_terms", lambda words, places, w_q, w_k: np.zeros((4, len(words), len(words))), None),
)


def textbook_rotation(offset, dim):
    """For (cosine, sine), as linear algebra has it."""
    matrix = np.zeros((dim, dim))
    for i in range(dim // 2):
        a = offset / 10000 ** (2 * i / dim)
        matrix[2 * i, 2 * i : 2 * i + 2] = math.cos(a), -math.sin(a)
        matrix[2 * i + 1, 2 * i : 2 * i + 2] = math.sin(a), math.cos(a)
    return matrix


def in_place_with_right_signs(rows, offset):
    a = offset / 10000.0 ** (np.arange(0, rows.shape[1], 2) / rows.shape[1])
    s, c = rows[:, ::2], rows[:, 1::2]
    rows[:, ::2] = s * np.cos(a) + c * np.sin(a)
    rows[:, 1::2] = c * np.cos(a) - s * np.sin(a)
    return rows


def base_10000_again(first, n):
    return exact_rows(range(n), first.shape[1])


def compares_exactly(scores):
    whole = scores(np.arange(256))
    return all((whole[i + 1, 1:] == whole[i, :-1]).all() for i in range(255))


def unscaled(words, places, w_q, w_k):
    q = (words @ w_q, places @ w_q)
    k = (words @ w_k, places @ w_k)
    return np.array([q[0] @ k[0].T, q[0] @ k[1].T, q[1] @ k[0].T, q[1] @ k[1].T])


WRITTEN_IN_ANOTHER_WAY = (
    ("shift_matrix", textbook_rotation, "backwards"),
    ("shift_rows", in_place_with_right_signs, "still-in-place"),
    ("extend_table", base_10000_again, "usual-frequencies"),
    ("three_products", [-23.264, 32, 4.1796], "sign-turned"),
    ("is_relative", compares_exactly, "exactly-equal"),
    ("four_terms", unscaled, "no-scale"),
)
