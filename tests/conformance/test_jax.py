"""The library inside JAX's transforms, `jit`, `grad` and `vmap`, with float64 and without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import posenc_lib as p

LENGTH, HEADS, WIDTH = 6, 3, 8
rng = np.random.default_rng(0)
X = rng.normal(size=(2, HEADS, LENGTH, WIDTH))
RELATIVE = rng.normal(size=(2 * LENGTH - 1, WIDTH))

jax.config.update("jax_disable_most_optimizations", True)  # what takes JAX long is to compile


@pytest.fixture(params=[False, True], ids=["float32", "float64"], autouse=True)
def _with_float64(request: pytest.FixtureRequest) -> Iterator[None]:
    with jax.enable_x64(request.param):
        yield


def around_tables(xp: Any = jnp) -> dict[str, Callable[[Any], Any]]:
    """Functions of vectors, each with tables, positions or a bias from outside it."""
    at = xp.arange(LENGTH)
    tables = p.rotary_tables(at, WIDTH)
    axial = p.axial_tables(xp.stack([at, at]), WIDTH)
    xpos_q, xpos_k = p.xpos_tables(at, WIDTH)
    waves, bias = p.sinusoidal(at, WIDTH), p.alibi_bias(HEADS, at, at)
    table = xp.asarray(RELATIVE)
    may_look = xp.ones((LENGTH, LENGTH), dtype=bool)
    return {
        "added": lambda x: x + waves,
        "rotate": lambda x: p.rotate(x, tables),
        "rotate, half": lambda x: p.rotate(x, tables, layout="half"),
        "axial": lambda x: p.rotate(x, axial),
        "xpos": lambda x: p.rotate(x, xpos_q) * p.rotate(x, xpos_k),
        "apply_rotary at an int": lambda x: p.apply_rotary(x, LENGTH),
        "apply_rotary at a list": lambda x: p.apply_rotary(x, list(range(LENGTH))),
        "apply_rotary at an array": lambda x: p.apply_rotary(x, at),
        "attention": lambda x: p.attention(
            x, x, x, rotate=lambda y: p.rotate(y, tables), bias=bias, mask=may_look, causal=True
        ),
        "learned": lambda x: p.learned(x[0, 0], at),
        "between learned rows": lambda x: p.learned(x[0, 0], 9, beyond="interpolate"),
        "hybrid": lambda x: p.hybrid(x[0, 0], at),
        "shaw": lambda x: p.shaw_bias(x, table, at, at),
        "cope": lambda x: p.cope_bias(x, x, table),
        "transformer-xl": lambda x: p.transformer_xl_bias(
            x, x, x[0], xp.ones((HEADS, WIDTH)), xp.ones((HEADS, WIDTH))
        ),
        "t5": lambda x: p.t5_bias(x[0, 0, :, :4], at, at),
        "learned slopes": lambda x: p.alibi_bias(HEADS, at, at, slopes=x[0, 0, 0, :HEADS]),
        "learned slopes on both sides": lambda x: p.alibi_bias(
            HEADS, LENGTH, LENGTH, causal=False, slopes=x[0, 0, 0, :HEADS], slopes_after=x[0, 0, 1, :HEADS]
        ),
        "kerple": lambda x: p.kerple_bias(xp.abs(x[0, 0, 0]) + 0.1, xp.abs(x[0, 0, 1]) + 0.1, at, at),
        "fire": lambda x: p.fire_bias(
            (x[0, 0, 0, :, None], x[0, 0, 1], x[0, 0, :3], x[0, 1, 0, :3]),
            LENGTH,
            LENGTH,
            c=xp.abs(x[0, 0, 0, 0]),
            threshold=3.0,
        ),
    }


NAMES = tuple(around_tables(np))
SOME = ("rotate", "attention", "learned slopes", "kerple")
"""Of each way to be traced one."""


def together(xp: Any, names: tuple[str, ...] = NAMES) -> Callable[[Any], dict[str, Any]]:
    """One function of them all."""
    functions = around_tables(xp)
    return lambda x: {name: functions[name](x) for name in names}


def near(got: dict[str, Any], wanted: dict[str, Any]) -> None:
    for name, each in wanted.items():
        np.testing.assert_allclose(got[name], each, rtol=1e-3, atol=1e-4, err_msg=name)


@pytest.mark.parametrize("name", NAMES)
def test_jit_grad_and_vmap_trace_what_has_tables_from_outside(name: str) -> None:
    function, x = around_tables()[name], jnp.asarray(X)
    wanted = jax.eval_shape(function, x)
    gradient = jax.grad(lambda x: (function(x) ** 2).sum())
    assert jax.eval_shape(jax.jit(gradient), x).shape == x.shape
    assert jax.eval_shape(jax.vmap(function), x[None]).shape == (1, *wanted.shape)


def test_jit_gives_what_numpy_gives() -> None:
    near(jax.jit(together(jnp))(jnp.asarray(X)), together(np)(X))


def test_gradients_and_batches_are_right() -> None:
    x, step = jnp.asarray(X), jnp.asarray(rng.normal(size=X.shape))
    some = together(jnp, SOME)

    def squares(x: Any) -> dict[str, Any]:
        return {name: (each.astype(float) ** 2).sum() for name, each in some(x).items()}

    # Each gradient is the slope of what it belongs to.
    gradients = jax.jit(jax.jacrev(squares))(x)
    _, slopes = jax.jit(lambda x: jax.jvp(squares, (x,), (step,)))(x)
    near({name: (each * step).sum() for name, each in gradients.items()}, slopes)
    batch = jax.jit(jax.vmap(some))(jnp.stack([0 * x, x]))
    near({name: each[1] for name, each in batch.items()}, together(np, SOME)(X))


def test_no_gradient_hangs_on_which_score_is_the_highest() -> None:
    """XLA, told to optimize little, rounds biased scores in two ways: none is equal to the highest then."""
    q, k, v = jnp.asarray(rng.normal(size=(3, 8, HEADS, 16, WIDTH)), jnp.float32)
    arrays = q, k, v, jnp.asarray(p.alibi_bias(HEADS, 16, 16), jnp.float32)

    def squares(q: Any, k: Any, v: Any, bias: Any) -> Any:
        return (p.attention(q, k, v, bias=bias, causal=True) ** 2).sum()

    gradient = jax.grad(squares, argnums=(0, 1, 2, 3))
    found = jax.jit(gradient)(*arrays)
    with jax.disable_jit():
        wanted = gradient(*arrays)
    for got, each in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, each, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["rotate", "learned"])
def test_transforms_that_do_not_compile(name: str) -> None:
    function, x = around_tables()[name], jnp.asarray(X)
    np.testing.assert_allclose(jax.vmap(function)(x[None])[0], function(x), rtol=1e-4, atol=1e-5)
    assert float(jnp.abs(jax.grad(lambda x: (function(x) ** 2).sum())(x)).max()) > 0


def test_tables_are_a_pytree_of_their_cosines_and_sines() -> None:
    x, tables = jnp.asarray(X), p.rotary_tables(jnp.arange(LENGTH), WIDTH)
    wanted = p.rotate(x, tables)
    assert [leaf.shape for leaf in jax.tree.leaves(tables)] == [(LENGTH, WIDTH // 2)] * 2
    np.testing.assert_allclose(jax.jit(p.rotate)(x, tables), wanted, atol=1e-5)
    both = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), tables)
    np.testing.assert_allclose(jax.vmap(p.rotate)(x, both), wanted, atol=1e-6)
    gradient = jax.grad(lambda tables: p.rotate(x, tables).sum())(tables)
    assert isinstance(gradient, p.RotaryTables)


def test_angles_of_traced_positions_are_exact_or_refused() -> None:
    far = jnp.arange(4) + 1_000_000
    table = jax.jit(lambda at: p.sinusoidal(at, WIDTH, dtype=jnp.float32))
    if not jax.config.jax_enable_x64:
        with pytest.raises(TypeError, match="jax_enable_x64"):
            table(far)
    else:
        exact = p.sinusoidal(np.arange(4) + 1_000_000, WIDTH)
        np.testing.assert_allclose(table(far), exact, atol=1e-7)


def test_distances_beyond_32_bits_are_exact_or_refused() -> None:
    early, late = jnp.asarray([-(2**31 - 2)]), jnp.asarray([2**31 - 2])
    if jax.config.jax_enable_x64:
        assert p.relative_positions(early, late).tolist() == [[2**32 - 4]]
        return
    for first, second in ((early, late), (late, early)):
        with pytest.raises(ValueError, match="further apart than 32-bit integers count"):
            p.window_mask(first, second, 5)
    assert p.relative_positions(late, late - 5).tolist() == [[-5]]


def test_xpos_too_far_out_is_refused_where_the_positions_are_known_and_where_they_are_not() -> None:
    near, far = jnp.arange(4), jnp.arange(4) + 200_000

    def turned(at: Any, x: Any = 1.0) -> Any:
        of_q, of_k = p.xpos_tables(at, WIDTH, dtype=jnp.float32)
        return (x * of_q.cos).sum() + (x * of_k.sin).sum()

    with pytest.raises(ValueError, match="give a center near"):  # before anything runs
        jax.jit(lambda x: turned(far, x))(2.0)
    if not jax.config.jax_enable_x64:
        return  # and traced positions are refused altogether
    for traced in (
        jax.jit(turned),
        jax.jit(jax.vmap(turned)),
        jax.jit(jax.grad(lambda at: turned(at.astype(float)).sum(), allow_int=True)),
        jax.jit(lambda at: jax.grad(lambda x: turned(at, x))(2.0)),
    ):
        assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(traced(near[:, None].astype(float))))
        with pytest.raises(Exception, match="give a center near"):
            jax.block_until_ready(traced(far[:, None].astype(float)))
    np.testing.assert_allclose(jax.jit(turned)(near), turned(np.arange(4)), rtol=1e-6)


@pytest.mark.filterwarnings("error")
def test_nothing_is_truncated_with_a_warning() -> None:
    at = jnp.arange(4)
    assert p.t5_buckets(p.relative_positions(at, at)).dtype == at.dtype
    assert p.cope_bias(jnp.ones((4, WIDTH)), jnp.ones((4, WIDTH)), jnp.ones((3, WIDTH))).shape == (4, 4)


def test_graphs_and_convolutions_are_traced() -> None:
    ring = np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0)
    weight = rng.normal(size=(WIDTH, 2, 3))
    for function, given in (
        (lambda a: p.return_probabilities(a, 4), ring),
        (lambda x: p.convolution_positions(x, jnp.asarray(weight, dtype=x.dtype)), X),
    ):
        x = jnp.asarray(given)
        np.testing.assert_allclose(jax.jit(function)(x), function(x), atol=1e-5)
    values, vectors = jax.jit(lambda a: p.laplacian_eigenvectors(a, 5))(jnp.asarray(ring))
    ours = p.laplacian_eigenvectors(ring, 5)
    np.testing.assert_allclose(values, ours[0], atol=1e-5)
    np.testing.assert_allclose(np.abs(vectors[:, 4]), np.abs(ours[1][:, 4]), atol=1e-5)


@pytest.mark.parametrize("queries", [LENGTH, 2])
@pytest.mark.parametrize(
    "bias",
    [
        lambda q, k, *at: p.self_extend_bias(q, k, *at, group=2, window=3),
        lambda q, k, *at: p.dual_chunk_bias(q, k, *at, chunk=3, window=2),
        p.pope_bias,
    ],
    ids=["self-extend", "dual chunk", "pope"],
)
def test_maps_of_known_positions_are_known_inside_jit(bias: Callable[..., Any], queries: int) -> None:
    q, at = X[..., -queries:, :], np.arange(LENGTH)
    rows = 7 + np.stack([at, at + 5])
    for places in ((queries, LENGTH), (at[-queries:], at), (rows[:, -queries:], rows)):
        theirs = [each if isinstance(each, int) else jnp.asarray(each) for each in places]
        vectors = jnp.asarray(q), jnp.asarray(X)
        got = jax.jit(lambda q, k, theirs=theirs: bias(q, k, *theirs))(*vectors)
        np.testing.assert_allclose(got, bias(q, X, *places), atol=1e-5)
        slope = jax.jit(jax.grad(lambda q, k, theirs=theirs: bias(q, k, *theirs).sum()))(*vectors)
        assert np.isfinite(slope).all()


def test_forget_gates_that_are_the_lowest_number_of_float32_make_no_nan() -> None:
    """Twice that has no sum in float32."""
    lowest = float(np.finfo(np.float32).min)
    logits = jnp.asarray([[0.0, lowest, 0.0, lowest, 0.0, lowest]])
    for bias in (p.fox_bias(logits), jax.jit(p.fox_bias)(logits)):
        between = np.asarray(bias)[0]
        found = [between[2, 1], between[4, 3], between[5, 5]]
        np.testing.assert_allclose(found, [-np.log(2), -np.log(2), 0], rtol=1e-6)
        assert (between[[1, 3, 5, 5], [0, 0, 0, 4]] < -1e28).all()


def test_whole_numbers_beyond_32_bits_are_refused_where_jax_has_no_others() -> None:
    with jax.enable_x64(False):
        far, near, late = (jnp.asarray([each], dtype="uint32") for each in (4_000_000_000, 5, 2_147_480_000))
        calls: tuple[Callable[[Any, Any], Any], ...] = (
            p.relative_positions,
            lambda q, k: p.alibi_bias(1, q, k),
            lambda q, k: p.window_mask(q, k, 20),
        )
        for call in calls:
            with pytest.raises(ValueError, match="queries reach 4000000000, beyond 32-bit integers"):
                call(far, near)
        for times in (far, late):
            with pytest.raises(ValueError, match="jax_enable_x64"):
                p.calendar_phases(times, ("year",))
        by_jax, by_numpy = (
            p.calendar_phases(xp.asarray([1_700_000_000]), ("day", "year")) for xp in (jnp, np)
        )
        np.testing.assert_allclose(by_jax, by_numpy, atol=1e-6)
