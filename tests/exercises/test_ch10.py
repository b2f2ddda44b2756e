"""`10-position-from-content`: the references against the library, SciPy and shipped code, and answers that no
list foresaw."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import expm

from posenc_lib import alibi_bias, apply_rotary, attention
from posenc_lib.biased import fox_bias, path_products, pope_bias, shaw_bias
from posenc_lib.exercises import ch10_position_from_content as ch10

SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions" / "10-position-from-content.md"


def cases(asked, seeds=(0, 1)):
    return [case.args for seed in seeds for case in asked.cases(seed)]


def right(asked, *args):
    return asked.reference(*args)


def test_log_gates_are_exact_however_far_a_gate_is_shut():
    mpmath = pytest.importorskip("mpmath")
    logits = np.array([-1e5, -750.0, -3.0, 0.0, 0.25, 36.0, 700.0])
    with mpmath.workdps(400):
        exact = [float(-mpmath.log(1 + mpmath.exp(-mpmath.mpf(x)))) for x in logits]
    assert right(ch10.LOG_GATES, logits) == pytest.approx(exact, rel=1e-14, abs=0)


def test_what_is_left_of_each_key_is_the_librarys_bias_and_attention():
    rng = np.random.default_rng(0)
    logits, (q, k, v) = rng.normal(size=(3, 7)), rng.normal(size=(3, 3, 7, 4))
    bias = fox_bias(logits, 5)
    gates = right(ch10.LOG_GATES, logits)
    assert right(ch10.FORGET_BIAS, gates, 5) == pytest.approx(bias)
    ours = right(ch10.GATED_ATTENTION, q[:, 2:], k, v, gates)
    assert ours == pytest.approx(attention(q[:, 2:], k, v, bias=bias, causal=True))


def test_a_text_read_token_by_token_is_the_text_read_at_once():
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 2, 9, 4))
    gates = -rng.exponential(size=(2, 9))
    kept = np.zeros((2, 0, 4)), np.zeros((2, 0, 4)), np.zeros((2, 0))
    found = []
    for t in range(9):
        row, *kept = right(ch10.GATED_STEP, q[:, t], k[:, t], v[:, t], gates[:, t], *kept)
        found.append(row)
    assert np.stack(found, axis=1) == pytest.approx(right(ch10.GATED_ATTENTION, q, k, v, gates))

    q, k, w = rng.normal(size=(3, 9, 4))
    beta, keys = rng.uniform(0, 2, size=9), np.zeros((0, 4))
    whole = right(ch10.PATH_SCORES, q, k, w, beta)
    for t in range(9):
        scores, keys = right(ch10.PATH_STEP, q[t], k[t], w[t], beta[t], keys)
        assert scores == pytest.approx(whole[t, : t + 1])


def test_gates_from_these_logits_are_alibi():
    slopes = np.array([0.5, 0.004, 3.0])
    logits = np.repeat(right(ch10.ALIBI_LOGITS, slopes)[:, None], 6, axis=1)
    expected = np.tril(-slopes[:, None, None] * np.subtract.outer(range(6), range(6)))
    assert fox_bias(logits) == pytest.approx(expected)
    halved = right(ch10.ALIBI_LOGITS, 2.0 ** -np.arange(1, 9))
    assert fox_bias(np.repeat(halved[:, None], 5, axis=1)) == pytest.approx(
        np.tril(alibi_bias(8, 5, 5)), abs=1e-12
    )


def test_a_head_sees_what_attention_gives_its_weight_to():
    for gates, share in cases(ch10.KEYS_SEEN):
        still = np.zeros((1, len(gates), 2))
        _, weights = attention(
            still,
            still,
            still,
            bias=right(ch10.FORGET_BIAS, gates[None], len(gates)),
            causal=True,
            return_weights=True,
        )
        held = np.cumsum(weights[0, -1, ::-1])
        n = right(ch10.KEYS_SEEN, gates, share)
        assert held[n - 1] >= share - 1e-12
        assert n == 1 or held[n - 2] < share + 1e-12


def test_a_path_is_the_librarys_and_reflections_keep_lengths_where_beta_is_2():
    for q, k, w, beta in cases(ch10.PATH_SCORES):
        units = w / np.linalg.norm(w, axis=1, keepdims=True)
        expected = path_products(q, k, units, beta) / math.sqrt(q.shape[1])
        assert right(ch10.PATH_SCORES, q, k, w, beta) == pytest.approx(expected)
    w = np.random.default_rng(0).normal(size=(3, 5))
    for matrix, along in zip(right(ch10.REFLECTIONS, w, np.array([2.0, 1.0, 0.0])), w, strict=True):
        assert np.linalg.det(matrix) == pytest.approx({0: -1, 1: 0, 2: 1}[w.tolist().index(along.tolist())])


def test_a_pair_looks_where_rope_makes_its_product_largest():
    rng = np.random.default_rng(0)
    base = 50.0
    rates = base ** (-np.arange(3) / 3)
    for _ in range(5):
        q, k = rng.normal(size=(2, 6))
        found = right(ch10.FAVOURITE_OFFSETS, q, k, rates)
        around = np.linspace(-math.pi, math.pi, 20_001) / rates[:, None]
        for pair, offsets in enumerate(around):
            alone = np.zeros(6)
            alone[2 * pair : 2 * pair + 2] = 1
            turned = apply_rotary(np.tile(k * alone, (len(offsets), 1)), offsets, base=base)
            best = offsets[np.argmax(turned @ q)]
            assert found[pair] == pytest.approx(best, abs=2 * (offsets[1] - offsets[0]))


def test_polar_scores_are_the_librarys_and_content_moves_no_peak():
    for q, k, delta, base in cases(ch10.POLAR_SCORES):
        dim = q.shape[1]
        if dim % 2 == 0:
            plain = q @ k.T / math.sqrt(dim)
            expected = plain + pope_bias(q, k, len(q), len(k), delta=delta, base=base)
            assert right(ch10.POLAR_SCORES, q, k, delta, base) == pytest.approx(expected)
    rng, delta = np.random.default_rng(0), np.array([-1.0])
    peaks = {
        int(np.argmax(right(ch10.POLAR_SCORES, np.full((9, 1), a), np.full((9, 1), b), delta, 9.0)[4]))
        for a, b in rng.normal(size=(20, 2))
    }
    assert peaks == {5}


def test_a_table_that_the_query_reads_is_shaws():
    for q, k, table in cases(ch10.TABLE_SCORES):
        expected = q @ k.T / math.sqrt(q.shape[1]) + shaw_bias(q, table, len(q), len(k))
        assert right(ch10.TABLE_SCORES, q, k, table) == pytest.approx(expected)


def test_a_state_is_attention_without_softmax_with_alibis_weights():
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 8, 3))
    weights = np.tril(np.exp(alibi_bias(8, 8, 8))[2])  # slope 1/8
    found, _ = right(ch10.FADING_STATE, q, k, v, np.full(8, math.exp(-1 / 8)), np.zeros((3, 3)))
    assert found == pytest.approx((q @ k.T * weights) @ v)


def test_a_state_that_corrects_itself_solves_what_it_was_told():
    """With beta 1 and keys at right angles nothing is lost; a key that comes again has its last value."""
    rng = np.random.default_rng(0)
    keys, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    k, v = np.vstack([keys, keys[:2]]), rng.normal(size=(6, 3))
    _, state = right(ch10.DELTA_STATE, k, k, v, np.ones(6), rng.normal(size=(3, 4)))
    assert keys @ state.T == pytest.approx(v[[4, 5, 2, 3]])


def test_a_latent_layer_of_deepseek_keeps_576_numbers_for_a_token():
    """kv_lora_rank and qk_rope_head_dim of DeepSeek-V3's configuration; the text says the number."""
    layer = {"kind": "latent", "rank": 512, "rope_dim": 64}
    assert right(ch10.CACHE_NUMBERS, [layer] * 61, 1000) == 61 * 576 * 1000


def test_one_generator_gives_rope_and_alibi_at_once():
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(2, 6, 4))
    base, slope = 50.0, 0.25
    matrix = right(ch10.GENERATOR, base ** (-np.arange(2) / 2), slope)
    lifted_q = np.hstack([q, np.tile([1.0, 0.0], (6, 1))])
    lifted_k = np.hstack([k, np.tile([0.0, 1.0], (6, 1))])
    rope = apply_rotary(q, 6, base=base) @ apply_rotary(k, 6, base=base).T
    offsets = -np.subtract.outer(range(6), range(6))
    ours = right(ch10.GROUP_SCORES, lifted_q, lifted_k, matrix)
    assert ours == pytest.approx(rope + slope * offsets)
    assert ours == pytest.approx(right(ch10.GROUP_SCORES, lifted_q, lifted_k, matrix))


def test_exponentials_are_scipys():
    for (matrix,) in cases(ch10.ONE_STEP):
        assert right(ch10.ONE_STEP, matrix) == pytest.approx(expm(matrix), rel=1e-9, abs=1e-9)


def layers():
    """The six of the text, by their letters."""
    code = re.search(r"```python\n(def sigmoid.*?)```", SOLUTIONS.read_text(), re.DOTALL)[1]
    namespace = {"np": np}
    exec(code, namespace)
    return [namespace[f"layer_{letter}"] for letter in "abcdef"]


def counts(layer, x, q, k):
    """What the first token counts, beside the last: how the output moves with their values."""
    first, last = (layer(x, q, k, np.eye(len(x))[:, [token]]).item() for token in (0, -1))
    return first / last


def test_the_layers_of_the_text_do_what_is_said_of_them():
    """Tokens between the first and the last are changed, and one more is put there."""
    rng = np.random.default_rng(0)
    x, q, k = rng.normal(size=(3, 5, 3))
    other = [array.copy() for array in (x, q, k)]
    for array in other:
        array[1:4] = rng.normal(size=(3, 3))
    longer = [np.insert(array, 2, rng.normal(size=3), axis=0) for array in (x, q, k)]
    found = []
    for layer in layers():
        here, changed, further = (counts(layer, *given) for given in ((x, q, k), other, longer))
        if not math.isclose(here, changed):
            found.append("content")
        else:
            found.append("nothing" if math.isclose(here, further) else "distance")
    assert tuple(found) == ch10.WHERE_FROM.reference()


def test_nobody_is_better_than_the_one_that_is_chosen():
    for losses, errors, admitted, costs in cases(ch10.CHOOSE, range(5)):
        chosen = right(ch10.CHOOSE, losses, errors, admitted, costs)
        assert (chosen == -1) == (not admitted.any())
        best = losses[admitted].min(initial=np.inf)
        for n in np.flatnonzero(admitted):
            error_of_best = errors[admitted][losses[admitted].argmin()]
            if losses[n] - best <= math.hypot(errors[n], error_of_best):
                assert (costs[chosen], losses[chosen]) <= (costs[n], losses[n])


def parted(answer, part):
    """The right answer of the step, with one of its parts spoiled."""
    return lambda *args: tuple(
        answer(each) if number == part else each for number, each in enumerate(right(ch10.GATED_STEP, *args))
    )


NOT_KNOWN = (
    ("log_gates", lambda x: np.log(1 / (1 + np.exp(-x))), "Do not make the gate first"),
    ("log_gates", lambda x: np.log(1 / (1 + np.exp(-x)) + 1e-9), "did the gate become 0 on its way"),
    ("log_gates", lambda x: -np.log1p(np.exp(-np.clip(x, -30, 30))), "or is it cut"),
    ("log_gates", lambda x: np.log1p(1 / (1 + np.exp(-x))), "A gate is at most 1"),
    (
        "forget_bias",
        lambda gates, queries: np.where(
            np.arange(gates.shape[1]) > np.arange(gates.shape[1])[-queries:, None],
            -np.inf,
            right(ch10.FORGET_BIAS, gates, queries),
        ),
        "Keys after the query get 0 here",
    ),
    (
        "forget_bias",
        lambda gates, queries: right(ch10.FORGET_BIAS, gates, queries) - 0.5,
        "this key must get 0",
    ),
    ("forget_bias", lambda gates, queries: right(ch10.FORGET_BIAS, gates, queries) / 2, None),
    (
        "gated_attention",
        lambda q, k, v, gates: right(ch10.GATED_ATTENTION, q, k, 3 * v, gates),
        "out of the range",
    ),
    ("gated_attention", lambda q, k, v, gates: right(ch10.GATED_ATTENTION, q, k, v[:, ::-1], gates), None),
    ("gated_step", parted(np.exp, 3), "the kept sums"),
    ("gated_step", lambda *args: right(ch10.GATED_STEP, *args)[0], "There should be 4 values"),
    (
        "alibi_logits",
        lambda slopes: np.log(np.exp(-slopes) / (1 - np.exp(-slopes))),
        "np.expm1 is exact near 0",
    ),
    ("alibi_logits", lambda slopes: -np.log1p(slopes), None),
    ("alibi_logits", lambda slopes: np.sqrt(slopes), "a larger slope has a smaller logit"),
    ("keys_seen", lambda gates, share: 0, "At least one key"),
    ("keys_seen", lambda gates, share: right(ch10.KEYS_SEEN, gates, 1 - share), None),
    ("reflections", lambda w, beta: np.triu(right(ch10.REFLECTIONS, w, beta)), "is symmetric"),
    ("reflections", lambda w, beta: right(ch10.REFLECTIONS, np.abs(w), beta), None),
    ("path_scores", lambda q, k, w, beta: right(ch10.PATH_SCORES, q, k, w, beta / 2), None),
    ("path_scores", lambda q, k, w, beta: np.tril(np.ones((len(q), len(q)))), "there is no reflection"),
    (
        "path_step",
        lambda *args: (np.exp(right(ch10.PATH_STEP, *args)[0]), right(ch10.PATH_STEP, *args)[1]),
        "the scores",
    ),
    ("favourite_offsets", lambda q, k, rates: np.round(right(ch10.FAVOURITE_OFFSETS, q, k, rates)), None),
    ("favourite_offsets", lambda q, k, rates: 1e6 * np.ones(len(rates)), "never further than half a turn"),
    ("polar_scores", lambda q, k, delta, base: right(ch10.POLAR_SCORES, q, k, delta, base) ** 2, None),
    ("table_scores", lambda q, k, table: right(ch10.TABLE_SCORES, q, k, table) * len(table), None),
    ("fading_state", lambda *args: right(ch10.FADING_STATE, *args)[0], "There should be 2 values"),
    ("fading_state", lambda q, k, v, gates, state: right(ch10.FADING_STATE, q, k, v, gates**2, state), None),
    ("delta_state", lambda q, k, v, beta, state: right(ch10.DELTA_STATE, q, k, v, beta / 2, state), None),
    ("cache_numbers", lambda layers, tokens: 2 * right(ch10.CACHE_NUMBERS, layers, tokens), None),
    ("cache_numbers", lambda layers, tokens: right(ch10.CACHE_NUMBERS, layers[:1], tokens), None),
    (
        "generator",
        lambda rates, slope: np.diag(np.append(np.repeat(rates, 2), [slope, slope])),
        "it holds zeros",
    ),
    ("generator", lambda rates, slope: right(ch10.GENERATOR, rates, slope) / 2, None),
    (
        "one_step",
        lambda matrix: sum(np.linalg.matrix_power(matrix, n) / math.factorial(n) for n in range(15)),
        "cancel",
    ),
    ("one_step", lambda matrix: right(ch10.ONE_STEP, matrix) + 0.01, "keeps all lengths"),
    (
        "group_scores",
        lambda q, k, matrix: right(ch10.GROUP_SCORES, q, k, matrix) + 1,
        "At offset 0 nothing moves",
    ),
    ("group_scores", lambda q, k, matrix: right(ch10.GROUP_SCORES, q, k, matrix / 2), None),
    ("where_from", ("none", "distance", "content", "nothing", "distance", "content"), "layer A"),
    ("where_from", ("distance",) * 6, "Numbers 1, 3, 4, 6 are"),
    (
        "choose",
        lambda losses, errors, admitted, costs: int(np.argmin(losses)),
        "What you chose was not admitted",
    ),
    ("choose", lambda losses, errors, admitted, costs: -1, "for nothing else"),
    (
        "choose",
        lambda losses, errors, admitted, costs: int(np.argmin(np.where(admitted, losses, 9))),
        "-1 stands",
    ),
)


WRITTEN_IN_ANOTHER_WAY = (
    ("log_gates", lambda x: np.where(x < 0, x, 0.0), "corner"),
    (
        "log_gates",
        lambda x: np.log(1 + np.exp(-x)) if abs(x).max() < 30 else np.logaddexp(-x, 0),
        "minus-left-out",
    ),
    (
        "forget_bias",
        lambda gates, queries: np.array(
            [
                [
                    [row[j:i].sum() if j < i else 0.0 for j in range(len(row))]
                    for i in range(len(row) - queries, len(row))
                ]
                for row in gates
            ]
        ),
        "keys-gate-for-the-querys",
    ),
    ("alibi_logits", lambda slopes: [math.log(1 / m) for m in slopes.tolist()], "for-small-slopes"),
    ("keys_seen", lambda gates, share: right(ch10.KEYS_SEEN, gates, share) + -1, "one-too-few"),
    (
        "reflections",
        lambda w, beta: [np.eye(len(r)) - b * np.outer(r, r) for r, b in zip(w, beta, strict=True)],
        "not-of-length-one",
    ),
    (
        "path_step",
        lambda q, k, w, beta, keys: (
            np.append(keys @ q, k @ q) / math.sqrt(len(q)),
            np.concatenate([keys, k[None]]),
        ),
        "old-keys-stay",
    ),
    (
        "polar_scores",
        lambda q, k, delta, base: right(ch10.POLAR_SCORES, k, q, delta, base).T,
        "offset-turned-round",
    ),
    (
        "delta_state",
        lambda q, k, v, beta, state: right(
            ch10.FADING_STATE, q, k, v * beta[:, None], np.ones(len(q)), state
        ),
        "nothing-erased",
    ),
    ("one_step", lambda matrix: math.e**matrix, "each-number"),
    (
        "where_from",
        ("nothing", "distance", "content", "nothing", "distance", "distance"),
        "erases-by-distance",
    ),
)
