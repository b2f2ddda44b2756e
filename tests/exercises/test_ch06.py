"""`06-rotary`: the references against independent values, and answers that no list foresaw."""

import math
import re
from pathlib import Path

import jupytext
import mpmath
import numpy as np
import pytest
import torch

from posenc_lib import NTKScaling, apply_rotary, convert_layout, frequencies
from posenc_lib.checking import report_on
from posenc_lib.exercises import ch06_rotary as ch06

SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions" / "06-rotary.md"


def exact_row(row, position, rotary_dim, base=10000):
    """One row turned with fifty digits."""
    with mpmath.workdps(50):
        out = [mpmath.mpf(x) for x in row]
        for j in range(rotary_dim // 2):
            angle = mpmath.mpf(position) / mpmath.power(base, mpmath.mpf(2 * j) / rotary_dim)
            turned = mpmath.mpc(out[2 * j], out[2 * j + 1]) * mpmath.expj(angle)
            out[2 * j], out[2 * j + 1] = turned.real, turned.imag
        return [float(x) for x in out]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rotations_against_fifty_digits(seed):
    for case in ch06.APPLY_ROTARY.cases(seed):
        x, positions, rotary_dim = case.args
        expected = [
            exact_row(row, at, rotary_dim) for row, at in zip(x.tolist(), positions.tolist(), strict=True)
        ]
        # At a million the angle itself is good to about 1e-10 rad.
        assert np.asarray(ch06.APPLY_ROTARY.reference(*case.args)) == pytest.approx(
            np.array(expected), abs=1e-9
        )
    for case in ch06.TURN_PAIR.cases(seed):
        pair, position, frequency = case.args
        with mpmath.workdps(50):
            turned = mpmath.mpc(*pair) * mpmath.expj(mpmath.mpf(position) * mpmath.mpf(frequency))
        expected = [float(turned.real), float(turned.imag)]
        assert ch06.TURN_PAIR.reference(*case.args) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_conversion_against_that_of_the_llama_checkpoints(seed):
    for case in ch06.TO_HALF.cases(seed):
        weight, heads = case.args
        rows, width = weight.shape
        # transformers, convert_llama_weights_to_hf.py
        permuted = torch.from_numpy(weight).view(heads, rows // heads // 2, 2, width).transpose(1, 2)
        expected = permuted.reshape(rows, width).numpy()
        assert np.array_equal(ch06.TO_HALF.reference(weight, heads), expected)
        assert np.array_equal(
            convert_layout(weight, heads=heads, source="interleaved", target="half"), expected
        )


@pytest.mark.parametrize("seed", [0, 1])
def test_a_converted_layer_has_the_scores_of_the_old_one(seed):
    """With each query head beside the head of keys that it shares, in the layout of the weights."""
    for case in ch06.CONVERT_LAYER.cases(seed):
        *layer, heads, kv_heads = case.args
        *turned, heads, kv_heads = *ch06.CONVERT_LAYER.reference(*layer, heads, kv_heads), heads, kv_heads
        assert np.array_equal(turned[2], layer[2])
        x = np.random.default_rng(seed).normal(size=(5, layer[0].shape[1])) / 100
        found = []
        for (w_q, w_k, _, b_q, b_k), layout in ((layer, "interleaved"), (turned, "half")):
            q, k = (
                apply_rotary((x @ w.T + b).reshape(5, count, -1).swapaxes(0, 1), 5, layout=layout)
                for w, b, count in ((w_q, b_q, heads), (w_k, b_k, kv_heads))
            )
            found.append(q @ np.repeat(k, heads // kv_heads, axis=0).swapaxes(1, 2))
        assert found[0] == pytest.approx(found[1])


def test_an_aimed_query_scores_nowhere_higher():
    for case in ch06.AIMED_QUERY.cases():
        key, offset, base = case.args
        query = ch06.AIMED_QUERY.reference(key, offset, base)
        tried = np.arange(offset - 300, offset + 301)
        turned = apply_rotary(np.repeat(query[None], len(tried), axis=0), tried, base=base)
        assert (turned @ key).max() == pytest.approx(key @ key)
        assert turned[300] @ key == pytest.approx(key @ key)


def test_the_facts_of_a_checkpoint_are_those_it_was_made_from():
    for seed in (0, 1):
        for case in ch06.CHECKPOINT_FACTS.cases(seed):
            made, head_dim = case.args
            facts = ch06.CHECKPOINT_FACTS.reference(made, head_dim)
            assert facts == (made.layout, pytest.approx(made.base, rel=1e-4), made.columns)


@pytest.mark.parametrize("seed", [0, 1])
def test_writing_with_a_cache_is_reading_everything_at_once(seed):
    """Against rows turned with fifty digits, and PyTorch's own attention."""
    for case in ch06.ROTARY_ATTENTION.cases(seed):
        q, k, v, cached_k, cached_v, base = case.args
        past, head_dim = cached_k.shape[1:]
        if past > 100:
            continue
        output, keys, values = ch06.ROTARY_ATTENTION.reference(*case.args)
        assert np.array_equal(values, np.concatenate([cached_v, v], axis=1))
        assert np.array_equal(keys[:, :past], cached_k)
        turned = [
            [
                [exact_row(row, past + r, head_dim, base) for r, row in enumerate(head)]
                for head in each.tolist()
            ]
            for each in (q, k)
        ]
        assert keys[:, past:] == pytest.approx(np.array(turned[1]))
        mask = torch.ones(q.shape[1], past + q.shape[1], dtype=torch.bool).tril(past)
        expected = torch.nn.functional.scaled_dot_product_attention(
            *(torch.from_numpy(np.array(each)) for each in (turned[0], keys, values)), attn_mask=mask
        )
        assert output == pytest.approx(expected.numpy())


def test_rounding_is_that_of_the_formats():
    numbers = np.concatenate([np.random.default_rng(0).normal(size=500), np.arange(3000.0)])
    for bits, dtype in ((8, torch.bfloat16), (11, torch.float16)):
        assert np.array_equal(
            ch06._to_bits(numbers.astype(np.float32), bits),
            torch.from_numpy(numbers.astype(np.float32)).to(dtype).double().numpy(),
        )


def test_each_rounding_is_found_by_brute_force():
    """Against the angles themselves, at many positions."""
    rows = np.zeros((4, ch06.WIDTH))
    rows[np.arange(4), 2 * np.arange(4)] = 1
    for _, rotate in (each for group in ch06._ROUNDED for each in group):
        arrows = np.array(
            [rotate(rows, np.full(4, at))[range(4), ::2][range(4), range(4)] for at in (1, 5001)]
        )
        exact = np.cos(np.outer((1, 5001), 10000.0 ** (-np.arange(4) / 4)))
        right = [np.allclose(a, b, rtol=0, atol=1e-8) for a, b in zip(arrows, exact, strict=True)]
        expected = {"nothing": [True, True], "positions": [True, False]}.get(rotate.what, [False, False])
        assert right == expected
        assert ch06.WHAT_WAS_ROUNDED.reference(rotate) == rotate.what


def test_the_stretched_base_slows_its_pair_and_is_that_of_ntk_for_the_last():
    for case in ch06.STRETCHED_BASE.cases():
        dim, pair, factor, base = case.args
        found = ch06.STRETCHED_BASE.reference(*case.args)
        with mpmath.workdps(30):
            old, new = (mpmath.power(each, mpmath.mpf(-2 * pair) / dim) for each in (base, found))
            assert float(old / new) == pytest.approx(factor)
    assert NTKScaling(8.0).scale(frequencies(128), dim=128, base=10000.0) == pytest.approx(
        frequencies(128, base=ch06.STRETCHED_BASE.reference(128, 63, 8.0, 10000.0))
    )


def of_transformers(dim, base, factor, length):
    """YaRN's frequencies and factor, as the installed transformers computes them."""
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    config = LlamaConfig(
        hidden_size=dim,
        num_attention_heads=1,
        head_dim=dim,
        max_position_embeddings=round(length * factor),
        rope_parameters={
            "rope_type": "yarn",
            "rope_theta": base,
            "factor": factor,
            "original_max_position_embeddings": length,
        },
    )
    rates, louder = ROPE_INIT_FUNCTIONS["yarn"](config, "cpu")
    return rates.double().numpy(), louder


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_yarn_is_that_of_transformers(seed):
    for case in ch06.YARN_FREQUENCIES.cases(seed):
        assert ch06.YARN_FREQUENCIES.reference(*case.args) == pytest.approx(
            of_transformers(*case.args)[0], rel=1e-5, abs=0
        )
    for case in ch06.YARN_ROTATE.cases(seed):
        x, positions, base, factor, length = case.args
        rates, louder = of_transformers(x.shape[1], base, factor, length)
        turned = louder * (x[:, 0::2] + 1j * x[:, 1::2]) * np.exp(1j * np.outer(positions, rates))
        expected = np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)
        # transformers' frequencies are float32: at position 5,000 an angle is off by 3e-4.
        assert ch06.YARN_ROTATE.reference(*case.args) == pytest.approx(expected, abs=5e-3)


def test_the_answers_in_the_text_are_yarn_as_well():
    """The solution that learners see, against transformers and not against our own rule."""
    names = {"np": np, "math": math}
    for function in ("pair_that_turns", "yarn_frequencies"):
        exec(solution_of(function), names)
    for case in ch06.YARN_FREQUENCIES.cases():
        assert names["yarn_frequencies"](*case.args) == pytest.approx(
            of_transformers(*case.args)[0], rel=1e-5, abs=0
        )


def test_the_pair_that_turns_so_often_does():
    for case in ch06.PAIR_THAT_TURNS.cases():
        turns, length, dim, base = case.args
        pair = ch06.PAIR_THAT_TURNS.reference(*case.args)
        with mpmath.workdps(30):
            assert float(length * mpmath.power(base, -2 * pair / dim) / (2 * mpmath.pi)) == pytest.approx(
                turns
            )


# --- The five listings: each has the symptom that is told, and is right with one line mended -------


def solution_of(function):
    cells = jupytext.read(SOLUTIONS).cells
    [found] = [
        cell.source for cell in cells if cell.cell_type == "code" and f"def {function}(" in cell.source
    ]
    return found


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
    names = {}
    exec(code, names)
    return names["scores"]


LINES = dict(zip("ABCDE", ch06.BROKEN_ROTATIONS.reference(), strict=True))


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


@pytest.mark.parametrize(("past", "right"), [(0, True), (2, True), (3, False)])
def test_listing_b(past, right):
    q, k = drawn(2, past + 3, 8)
    cache = apply_rotary(k[:, :past], past)
    expected = in_layout(q, k)[:, past:]
    for scores, works in ((listing("B"), right), (listing("B", LINES["B"]), True)):
        assert np.allclose(scores(q[:, past:], k[:, past:], cache)[0], expected) == works


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


RELATIVE = ("interleaved", "half", "large_base", "interpolated", "clockwise", "in_part")


def test_six_functions_are_relative_and_six_have_a_bug():
    """Each by brute force: the matrix of scores of all basis vectors at many places."""
    basis = np.eye(ch06.WIDTH)

    def product(rotate, query, key):
        at = [rotate(basis, np.full(ch06.WIDTH, place)) for place in (query, key)]
        return at[0] @ at[1].T

    assert len(ch06._RELATIVE) == len(ch06._NOT_RELATIVE) == 6
    for _, rotate in (*ch06._RELATIVE, *ch06._NOT_RELATIVE):
        shifted = [product(rotate, 30 + s, 10 + s) for s in (0, 1, 17, 495, 3000)]
        relative = all(np.allclose(shifted[0], other, atol=1e-7) for other in shifted)
        moves = not np.allclose(product(rotate, 30, 10), product(rotate, 30, 11))
        assert (relative and moves) == (rotate.__name__ in RELATIVE), rotate
        assert ch06.IS_RELATIVE.reference(rotate) == (rotate.__name__ in RELATIVE), rotate


def float32_angles(x, positions, rotary_dim):
    rates = np.float32(10000) ** (-np.arange(0, rotary_dim, 2, dtype=np.float32) / np.float32(rotary_dim))
    theta = positions.astype(np.float32)[:, None] * rates
    out, a, b = x.copy(), x[:, 0:rotary_dim:2], x[:, 1:rotary_dim:2]
    out[:, 0:rotary_dim:2] = a * np.cos(theta) - b * np.sin(theta)
    out[:, 1:rotary_dim:2] = b * np.cos(theta) + a * np.sin(theta)
    return out


def test_float32_angles_pass_near_and_fail_far_with_the_reason():
    report = report_on("06-rotary.apply_rotary", float32_angles)
    failed = [result.label for result in report.results if not result.passed]
    assert failed == ["position 1,000,000, head_dim 8"]
    assert report.mistake is None
    assert "float64" in " ".join(report.explanation)


# Judged in test_every_exercise, as are those below.
NOT_KNOWN = (
    ("turn_pair", lambda pair, position, frequency: 2 * pair, None),
    ("apply_rotary", lambda x, positions, rotary_dim: -x, None),
    ("is_relative", lambda rotate: True, None),
    ("to_half", lambda weight, heads: weight[::-1], None),
    ("convert_layer", lambda *layer: (*layer[:2], -layer[2], *layer[3:5]), None),
    ("aimed_query", lambda key, offset, base: np.roll(key, 1), "as long as that pair of the key"),
    ("checkpoint_facts", lambda rotate, dim: ("half", 7.0, 6), "the base"),
    ("rotate_heads", lambda x, positions, base: -x, None),
    ("rotary_attention", lambda q, k, v, old_k, old_v, base: (v, old_k, old_v), None),
    ("what_was_rounded", lambda rotate: "Tables", "in small letters"),
    ("what_was_rounded", lambda rotate: "tables", None),
    ("stretched_base", lambda dim, pair, factor, base: base + factor, None),
    ("pair_that_turns", lambda turns, length, dim, base: dim / 4, None),
    ("yarn_frequencies", lambda dim, base, factor, length: base ** (-np.arange(0, dim, 2) / dim), None),
    ("yarn_frequencies", lambda dim, base, factor, length: np.full(dim // 2, 2.0), "must lie between"),
    ("yarn_rotate", lambda x, positions, base, factor, length: 2 * x, None),
    ("broken_rotations", (5, 13, 11, 12, 2), "listing E"),
)


def test_a_base_of_9999_is_told_apart():
    def almost(x, positions, rotary_dim):
        theta = positions[:, None] * 9999.0 ** (-np.arange(0, rotary_dim, 2) / rotary_dim)
        return ch06._turned(x, theta)

    assert not report_on("06-rotary.apply_rotary", almost).passed


def half_as_transformers_writes_it(x, positions, rotary_dim):
    part = torch.from_numpy(x[:, :rotary_dim])
    rates = 1 / 10000 ** (torch.arange(0, rotary_dim, 2, dtype=torch.float64) / rotary_dim)
    theta = torch.cat([torch.from_numpy(positions)[:, None] * rates] * 2, dim=-1)
    rotated = torch.cat([-part[:, rotary_dim // 2 :], part[:, : rotary_dim // 2]], dim=-1)
    turned = part * theta.cos() + rotated * theta.sin()
    return torch.cat([turned, torch.from_numpy(x[:, rotary_dim:])], dim=-1)


def moves_both_but_forgets_the_other_half(rotate):
    x = np.random.default_rng(3).normal(size=(2, 8))
    here, there = (rotate(x, np.array(places)) for places in ([40, 11], [9040, 9011]))
    return bool(abs(here[0] @ here[1] - there[0] @ there[1]) < 1e-6)


def even_rows_first(weight, heads):
    rows = np.arange(len(weight))
    return weight[np.lexsort((rows, rows % 2))]


def cache_as_if_empty(q, k, v, cached_k, cached_v, base):
    """With PyTorch, and its own mask of the lower right corner."""
    at = torch.arange(q.shape[1])[:, None]
    turns = torch.polar(
        torch.ones(1).double(), at * base ** (-torch.arange(0, q.shape[2], 2).double() / q.shape[2])
    )
    q, k = (
        torch.view_as_real(torch.view_as_complex(torch.tensor(each).unflatten(-1, (-1, 2))) * turns).flatten(
            -2
        )
        for each in (q, k)
    )
    keys = torch.cat([torch.from_numpy(cached_k), k], dim=1)
    values = torch.from_numpy(np.concatenate([cached_v, v], axis=1))
    mask = torch.ones(q.shape[1], keys.shape[1], dtype=torch.bool).tril(cached_k.shape[1])
    output = torch.nn.functional.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
    return output, keys, values


def rows_flipped_in_sign(x, positions, base):
    theta = np.outer(positions, base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1]))
    cos, sin = np.cos(theta), np.sin(theta)
    a, b = x[..., 0::2], x[..., 1::2]
    return np.stack([a * cos + b * sin, b * cos - a * sin], axis=-1).reshape(x.shape)


WRITTEN_IN_ANOTHER_WAY = (
    ("apply_rotary", half_as_transformers_writes_it, "half-layout"),
    ("is_relative", moves_both_but_forgets_the_other_half, "ignores-nothing"),
    ("to_half", even_rows_first, "whole-matrix"),
    ("rotary_attention", cache_as_if_empty, "positions-from-0"),
    ("rotate_heads", rows_flipped_in_sign, "clockwise"),
    (
        "aimed_query",
        lambda key, offset, base: apply_rotary(key[None], [offset], base=base)[0],
        "the-other-way",
    ),
    ("stretched_base", lambda dim, pair, factor, base: factor * base, "factor-alone"),
    (
        "yarn_frequencies",
        lambda dim, base, factor, length: NTKScaling(factor).scale(
            frequencies(dim, base=base), dim=dim, base=base
        ),
        "ntk",
    ),
    ("broken_rotations", [4, 12, 10, 11, 14], "counted-from-zero"),
)


def test_no_exercise_borrows_the_rotation():
    """They are there to be written."""
    assert {asked.function for asked in ch06.EXERCISES if asked.lends} == set()
