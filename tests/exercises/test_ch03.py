"""`03-relative-position`: the references against independent values, and answers that no list foresaw."""

from itertools import pairwise, permutations
from pathlib import Path

import mpmath
import numpy as np
import pytest
import torch

from posenc_lib import attention, shift_matrix, sinusoidal
from posenc_lib.checking import report_on
from posenc_lib.exercises import ch03_relative_position as ch03

SEEDS = range(3)
TEXT = Path(__file__).resolve().parents[2] / "solutions" / "03-relative-position.md"


def exact_rows(positions, dim, base=10000):
    """To fifty digits, by the formula of the paper."""
    with mpmath.workdps(50):
        rates = [mpmath.power(base, -mpmath.mpf(2 * i) / dim) for i in range(dim // 2)]
        angles = [[mpmath.mpf(float(p)) * w for w in rates] for p in positions]
        return np.array([[float(f(a)) for a in row for f in (mpmath.sin, mpmath.cos)] for row in angles])


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
    code = TEXT.read_text().split("```python\n")[1].split("```")[0]
    namespace = {"np": np}
    exec(code, namespace)
    report = report_on("03-relative-position.shift_rows", namespace["shift_rows"])
    assert not report.passed
    assert report.mistake.name == "as-given"


@pytest.mark.parametrize("seed", SEEDS)
def test_doublings_and_offsets_are_powers_of_the_one_step(seed):
    for case in ch03.DOUBLINGS.cases(seed):
        one_step, m = case.args
        for j, matrix in enumerate(ch03.DOUBLINGS.reference(one_step, m)):
            assert matrix == pytest.approx(np.linalg.matrix_power(one_step, 2**j), abs=1e-8)
    for case in ch03.SHIFT_BY.cases(seed):
        one_step, offset = case.args
        power = np.linalg.matrix_power(one_step, offset)
        assert ch03.SHIFT_BY.reference(one_step, offset) == pytest.approx(power, abs=1e-7)


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
    assert f"is {ch03.PRODUCT:.4f}." in TEXT.read_text()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_true_distance_is_among_those_that_fit(seed):
    true = {"width 64, no doubt": 3, "the same place": 0, "the farthest distance": 40}
    for case in ch03.POSSIBLE_DISTANCES.cases(seed):
        product, dim, base, reach, tolerance = case.args
        fit = ch03.POSSIBLE_DISTANCES.reference(*case.args).tolist()
        rows = exact_rows(range(reach + 1), dim, base)
        expected = [k for k in range(reach + 1) if abs(rows[0] @ rows[k] - product) <= tolerance]
        assert fit == expected
        assert true.get(case.label, expected[0]) in fit
    asked = {
        case.label: len(ch03.POSSIBLE_DISTANCES.reference(*case.args))
        for case in ch03.POSSIBLE_DISTANCES.cases(seed)
    }
    assert asked["width 64, no doubt"] == 1
    assert asked["width 64, two candidates or more"] > 1


@pytest.mark.parametrize("seed", SEEDS)
def test_the_first_doubt_has_a_partner_and_none_before_it_has(seed):
    for case in ch03.FIRST_DOUBT.cases(seed):
        dim, base, reach, tolerance = case.args
        rows = sinusoidal(reach + 1, dim, base=base)
        kernel = rows @ rows[0]
        partners = [int((np.abs(kernel - each) <= tolerance).sum()) - 1 for each in kernel]
        first = ch03.FIRST_DOUBT.reference(*case.args)
        assert first == next((k for k, count in enumerate(partners) if count), -1)
        assert first == -1 or not case.label.endswith("no doubt")


def test_every_verdict_on_a_symmetry_is_that_of_all_moves():
    """Shifts over all diagonals, the mirror by its definition, reorderings by all those of five positions."""
    for kind, (verdict, _) in ch03._SCORES.items():
        for seed in SEEDS:
            matrix = ch03.Scores(kind, seed)(np.arange(64))
            shift = max(np.ptp(np.diagonal(matrix, k)) for k in range(-63, 64))
            mirror = np.abs(matrix - matrix[::-1, ::-1]).max()
            some = matrix[np.ix_([0, 9, 30, 50, 63], [0, 9, 30, 50, 63])]
            orders = max(np.abs(some[np.ix_(p, p)] - some).max() for p in permutations(range(5)))
            # Far from the border: no tolerance that a learner may choose decides.
            for broken, stays in zip((shift, mirror, orders), verdict, strict=True):
                assert broken < 1e-9 if stays else broken > 0.05, kind
            assert ch03.SYMMETRIES.reference(ch03.Scores(kind, seed)) == verdict


@pytest.mark.parametrize("positions", [[0, 64], [-1, 0], [[1, 2]], [0.5, 1.0], 3])
def test_scores_refuse_positions_that_they_do_not_have(positions):
    (scores,) = ch03.SYMMETRIES.cases(0)[0].args
    with pytest.raises(ValueError, match="give"):
        scores(positions)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_four_terms_add_up_to_what_torch_computes(seed):
    for case in ch03.FOUR_TERMS.cases(seed):
        head, words, places = case.args
        w_q, w_k = np.random.default_rng(head.seed).normal(size=(2, head.dim, head.head_dim))
        x = torch.from_numpy(words + places)
        identity = torch.eye(len(x), dtype=x.dtype)
        weights = torch.nn.functional.scaled_dot_product_attention(
            x @ torch.from_numpy(w_q), x @ torch.from_numpy(w_k), identity
        )
        terms = torch.from_numpy(ch03.FOUR_TERMS.reference(head, words, places))
        assert torch.allclose(terms.sum(dim=0).softmax(dim=-1), weights)
        assert np.allclose(terms[0], head(words))
        assert np.allclose(terms[3], head(places))


def test_a_closed_head_says_what_rows_it_takes():
    head = ch03.Head(4, 2, 0)
    for wrong in (np.zeros(4), np.zeros((2, 5)), [["a"] * 4]):
        with pytest.raises(ValueError, match="give rows of 4 real numbers"):
            head(wrong)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_head_looks_one_back_with_exact_rows(seed):
    for case in ch03.KEY_OF_NEXT.cases(seed):
        dim, base = case.args
        rows = exact_rows([0, 7, 8, 1000, 1001], dim, base)
        w_k = ch03.KEY_OF_NEXT.reference(dim, base)
        assert rows[[1, 3]] @ w_k == pytest.approx(rows[[2, 4]], abs=1e-10)
    for case in ch03.ONE_BACK.cases(seed):
        queries, keys, base = case.args
        weights = ch03.ONE_BACK.reference(queries, keys, base)
        assert weights.max(axis=1) == pytest.approx(1, abs=1e-3)
        found = keys[weights.argmax(axis=1)]
        assert found @ shift_matrix(1, keys.shape[1], base=base).T == pytest.approx(queries, abs=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_several_heads_are_those_of_torch(seed):
    for case in ch03.MULTI_HEAD.cases(seed):
        x, w_q, w_k, w_v, w_o, heads = case.args
        layer = torch.nn.MultiheadAttention(
            x.shape[1], heads, bias=False, batch_first=True, dtype=torch.float64
        )
        with torch.no_grad():
            layer.in_proj_weight.copy_(torch.from_numpy(np.concatenate([w_q.T, w_k.T, w_v.T])))
            layer.out_proj.weight.copy_(torch.from_numpy(w_o.T.copy()))
            tokens = torch.from_numpy(x)
            ahead = torch.ones(len(x), len(x), dtype=torch.bool).triu(1)
            out, _ = layer(tokens, tokens, tokens, attn_mask=ahead)
        assert ch03.MULTI_HEAD.reference(*case.args) == pytest.approx(out.numpy(), abs=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_notes_and_matches_come_out_of_the_library_s_attention(seed):
    for case in ch03.NOTE_BEFORE.cases(seed):
        tokens, vocab = case.args
        words, places = np.eye(vocab)[tokens], sinusoidal(len(tokens), 64)
        keys = places @ shift_matrix(1, 64).T
        _, weights = attention(800.0 * places, keys, places, causal=True, return_weights=True)
        expected = np.concatenate([words, weights @ words], axis=1)
        assert ch03.NOTE_BEFORE.reference(tokens, vocab) == pytest.approx(expected, abs=0.01)
    for case in ch03.MATCH.cases(seed):
        notes, vocab = case.args
        q, k = 5000.0 * notes[:, :vocab], notes[:, vocab:]
        _, weights = attention(q, k, k, causal=True, return_weights=True)
        assert ch03.MATCH.reference(notes, vocab) == pytest.approx(weights, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_repeated_passage_is_continued(seed):
    for case in ch03.CONTINUE_TEXT.cases(seed):
        tokens, steps, vocab = case.args
        written = ch03.CONTINUE_TEXT.reference(tokens, steps, vocab).tolist()
        if case.label.startswith("what followed"):
            followed = [int(b) for a, b in pairwise(tokens) if a == tokens[-1]]
            assert (
                followed.count(written[0]) == 2 > max(followed.count(w) for w in followed if w != written[0])
            )
        else:
            period = len(set(tokens[1:].tolist()))
            assert written == np.resize(tokens[1 : period + 1], len(tokens) - 1 + steps)[-steps:].tolist()


# Judged in test_every_exercise, as are those below.
NOT_KNOWN = (
    ("shift_rows", lambda rows, offset: -rows, None),
    ("doublings", lambda one_step, m: np.zeros((m, *one_step.shape)), "must be a rotation"),
    ("shift_by", lambda one_step, offset: np.eye(len(one_step)), None),
    ("extend_table", lambda first, n: np.zeros((n, first.shape[1])), None),
    ("three_products", (1.0, 2.0, 3.0), None),
    ("possible_distances", lambda product, dim, base, reach, tolerance: [3], None),
    ("first_doubt", lambda dim, base, reach, tolerance: reach // 2, None),
    ("symmetries", lambda scores: (True, True, False), None),
    ("four_terms", lambda head, words, places: np.zeros((4, len(words), len(words))), "must add up"),
    ("key_of_next", lambda dim, base: np.zeros((dim, dim)), "must be the row of position 1"),
    ("one_back", lambda queries, keys, base: np.full((len(queries), len(keys)), 1 / len(keys)), None),
    ("split_heads", lambda x, heads: np.zeros((heads, len(x), x.shape[1] // heads)), "must come back"),
    ("multi_head", lambda x, w_q, w_k, w_v, w_o, heads: x, "sees only itself"),
    ("note_before", lambda tokens, vocab: np.zeros((len(tokens), 2 * vocab)), "own word"),
    ("match", lambda notes, vocab: np.eye(len(notes))[::-1], "comes after it"),
    ("continue_text", lambda tokens, steps, vocab: np.full(steps, vocab), "nowhere in the text"),
)


def in_place_with_right_signs(rows, offset):
    a = offset / 10000.0 ** (np.arange(0, rows.shape[1], 2) / rows.shape[1])
    s, c = rows[:, ::2], rows[:, 1::2]
    rows[:, ::2] = s * np.cos(a) + c * np.sin(a)
    rows[:, 1::2] = c * np.cos(a) - s * np.sin(a)
    return rows


def one_product_more_each_time(one_step, m):
    matrices = [one_step]
    for _ in range(m - 1):
        matrices.append(one_step @ matrices[-1])
    return matrices


def never_transposes(one_step, offset):
    moved, square, left = np.eye(len(one_step)), one_step, abs(offset)
    while left:
        moved = moved @ square if left & 1 else moved
        square, left = square @ square, left >> 1
    return moved


def base_10000_again(first, n):
    return exact_rows(range(n), first.shape[1])


def one_candidate(product, dim, base, reach, tolerance):
    angles = np.outer(np.arange(reach + 1), base ** (-2 * np.arange(dim // 2) / dim))
    return [int(np.argmin(abs(np.cos(angles).sum(1) - product)))]


def transposed_for_the_mirror(scores):
    s = scores(np.arange(64))
    shift = all(np.allclose(np.diag(s, k), np.diag(s, k)[0]) for k in range(-63, 64))
    order = np.random.default_rng(1).permutation(64)
    return shift, bool(np.allclose(s, s.T)), bool(np.allclose(s[order][:, order], s))


def halves(head, words, places):
    ww, pp = head(words), head(places)
    rest = (head(words + places) - ww - pp) / 2
    return [ww, rest, rest, pp]


def not_transposed(dim, base):
    w = np.zeros((dim, dim))
    for j in range(0, dim, 2):
        a = 1 / base ** (j / dim)
        w[j, j] = w[j + 1, j + 1] = np.cos(a)
        w[j, j + 1], w[j + 1, j] = np.sin(a), -np.sin(a)
    return w


def quiet(queries, keys, base):
    turned = keys @ shift_matrix(1, keys.shape[1], base=base).T
    e = np.exp(queries @ turned.T / keys.shape[1] ** 0.5)
    return e / e.sum(1, keepdims=True)


def everybody_sees_everything(x, w_q, w_k, w_v, w_o, heads):
    out, w = [], x.shape[1] // heads
    for h in range(heads):
        q, k, v = (x @ each[:, h * w : h * w + w] for each in (w_q, w_k, w_v))
        e = np.exp(q @ k.T / w**0.5)
        out.append(e / e.sum(1, keepdims=True) @ v)
    return np.hstack(out) @ w_o


def notes_of_the_wrong_end(tokens, vocab):
    own = np.eye(vocab)[tokens]
    return np.hstack([own, np.roll(own, 1, axis=0)])


def finds_itself(notes, vocab):
    s = 500 * notes[:, :vocab] @ notes[:, :vocab].T
    s[np.triu_indices(len(s), 1)] = -1e9
    e = np.exp(s - s.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def latest_only(tokens, steps, vocab):
    text = list(tokens)
    for _ in range(steps):
        last = max(i for i in range(len(text) - 1) if text[i] == text[-1])
        text.append(text[last + 1])
    return text[-steps:]


WRITTEN_IN_ANOTHER_WAY = (
    ("shift_rows", in_place_with_right_signs, "still-in-place"),
    ("doublings", one_product_more_each_time, "one-step-more-each-time"),
    ("shift_by", never_transposes, "forwards-only"),
    ("extend_table", base_10000_again, "usual-frequencies"),
    ("three_products", [-23.264, 32, 4.1796], "sign-turned"),
    ("possible_distances", one_candidate, "nearest-alone"),
    ("symmetries", transposed_for_the_mirror, "mirror-is-transpose"),
    ("four_terms", halves, "both-mixed-halved"),
    ("key_of_next", not_transposed, "keys-of-the-place-before"),
    ("one_back", quiet, "not-loud"),
    ("multi_head", everybody_sees_everything, "not-causal"),
    ("note_before", notes_of_the_wrong_end, "first-notes-the-last"),
    ("match", finds_itself, "word-with-word"),
    ("continue_text", latest_only, "latest-alone"),
)
