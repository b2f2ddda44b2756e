"""The seam to the array libraries: what is read, where float64 is done, what comes back."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from typing import Any

import array_api_compat.torch
import array_api_strict
import mpmath
import numpy as np
import pytest
import torch

from posenc_lib import _arrays, attention, shift_matrix, similarity, sinusoidal
from posenc_lib import _require as require
from posenc_lib._arrays import (
    constant,
    default_float,
    default_integer,
    device_of,
    is_floating,
    namespace,
    narrow,
    result_dtype,
    torch_of,
    values_are_known,
    widen,
)
from posenc_lib.added import fourier_features, grid_sinusoidal, hybrid, learned


class Subclass(torch.Tensor):
    """A tensor of a class that is defined outside torch."""


SUBCLASS = torch.arange(3).as_subclass(Subclass)
PARAMETER = torch.nn.Parameter(torch.ones(3))


def test_the_namespace_of_each_library() -> None:
    assert namespace(np.ones(2), np.float64(1)) is np
    for tensors in ([torch.ones(2)], [PARAMETER, torch.ones(2)], [SUBCLASS, torch.ones(2)]):
        assert namespace(*tensors) is array_api_compat.torch
    assert namespace(array_api_strict.ones(2)).__name__ == "array_api_strict"


@pytest.mark.parametrize(
    "mixed",
    [(np.ones(2), torch.ones(2)), (torch.ones(2), array_api_strict.ones(2)), (SUBCLASS, np.ones(2))],
)
def test_libraries_do_not_mix(mixed: tuple[Any, Any]) -> None:
    with pytest.raises(TypeError, match=r"different libraries, \w+ and \w+; convert them"):
        namespace(*mixed)


@pytest.mark.parametrize("given", ["text", None, 1j, {}, object(), range(3), [1]])
def test_what_is_no_array(given: Any) -> None:
    with pytest.raises(TypeError, match=f"{type(given).__name__} is not an array; give an array"):
        namespace(given)


def test_what_looks_like_an_array_but_is_of_no_library() -> None:
    class Lookalike:
        shape, dtype = (2,), float

    with pytest.raises(TypeError, match="Lookalike is not an array"):
        namespace(Lookalike())


@pytest.mark.parametrize("given", [3, 2.5, np.float32(2.5), [1, 2], ((1.5, 2), (3, 4)), []])
def test_numbers_and_lists_become_numpy(given: Any) -> None:
    found = require.numbers(given, "offsets")
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, np.asarray(given))


@pytest.mark.parametrize("array", [np.arange(3), torch.arange(3), SUBCLASS, array_api_strict.arange(3)])
def test_arrays_stay_what_they_are(array: Any) -> None:
    assert require.numbers(array, "offsets") is array
    assert require.positions(array) is array


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (True, TypeError, "offsets have dtype bool; give integers or real numbers"),
        (np.asarray([1j]), TypeError, "offsets have dtype complex128"),
        (torch.tensor([True]), TypeError, "offsets have dtype torch.bool"),
        (Fraction(1, 3), TypeError, "offsets have dtype object"),
        (float("nan"), ValueError, "NaN or infinity in offsets"),
        ([1.0, float("-inf")], ValueError, "NaN or infinity in offsets"),
        (torch.tensor([float("nan")]), ValueError, "NaN or infinity in offsets"),
        (
            torch.tensor([float("inf")], dtype=torch.bfloat16),
            ValueError,
            "NaN or infinity in offsets",
        ),
        (array_api_strict.asarray([float("nan")]), ValueError, "NaN or infinity in offsets"),
        ([[1], [2, 3]], ValueError, "offsets have different lengths"),
    ],
)
def test_what_are_no_numbers(given: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        require.numbers(given, "offsets")


@pytest.mark.parametrize("count", [0, 3, np.int32(3), np.uint8(3)])
def test_an_int_is_a_number_of_positions(count: Any) -> None:
    np.testing.assert_array_equal(require.positions(count), np.arange(int(count)))


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (-3, ValueError, "positions=-3 asks for a negative number"),
        (True, TypeError, "positions is a boolean"),
        (2.0, TypeError, "positions=2.0 is a single real number"),
        (np.float32(2.0), TypeError, "is a single real number"),
    ],
)
def test_what_is_no_number_of_positions(given: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        require.positions(given)


def test_the_dtype_of_a_result() -> None:
    assert result_dtype(np.arange(3)) == np.float64
    assert result_dtype(np.ones(3, np.float16)) == np.float16
    assert result_dtype(torch.arange(3)) == torch.float32
    assert result_dtype(torch.ones(3, dtype=torch.bfloat16)) == torch.bfloat16
    assert result_dtype(torch.arange(3), torch.bfloat16) == torch.bfloat16
    assert result_dtype(np.arange(3), np.dtype("float32")) == np.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert result_dtype(torch.arange(3)) == default_float(array_api_compat.torch) == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (np.arange(3), np.int32),
        (np.arange(3), torch.float32),
        (np.arange(3), "float32"),
        (np.arange(3), complex),
        (torch.arange(3), np.float32),
        (torch.arange(3), torch.int64),
        (torch.arange(3), torch.complex64),
        (torch.arange(3), "float32"),
        (array_api_strict.arange(3), np.float32),
    ],
)
def test_dtypes_that_no_result_can_have(array: Any, dtype: Any) -> None:
    with pytest.raises(TypeError, match=r"is not a real floating-point dtype of .*; give one such as"):
        result_dtype(array, dtype)


def test_real_types() -> None:
    assert is_floating(torch.ones(1, dtype=torch.bfloat16))
    assert is_floating(np.ones(1, np.float16))
    assert not is_floating(torch.ones(1, dtype=torch.complex64))
    assert not is_floating(np.arange(3))


def test_whether_values_can_be_looked_at() -> None:
    assert values_are_known(np.ones(1))
    assert values_are_known(torch.ones(1))
    assert not values_are_known(torch.ones(1, device="meta"))
    seen = []

    def look(x: torch.Tensor) -> torch.Tensor:
        seen.append(values_are_known(x))
        return x

    torch.func.vmap(look)(torch.ones(2, 3))
    torch.compile(lambda x: x + values_are_known(x), backend="eager", fullgraph=True)(torch.ones(1))
    compiled = torch.compile(lambda x: x + values_are_known(x), backend="eager", fullgraph=True)
    assert seen == [False]
    assert compiled(torch.ones(1)).item() == 1.0


def test_devices() -> None:
    require.same_device(a=torch.ones(1), b=torch.ones(2))
    require.same_device(a=np.ones(1), b=np.ones(2))
    with pytest.raises(ValueError, match="a on cpu, b on meta; move them to one device"):
        require.same_device(a=torch.ones(1), b=torch.ones(2, device="meta"))
    assert constant(np.ones(2), torch.ones(1, device="meta")).device.type == "meta"
    assert str(device_of(np.ones(1))) == "cpu"


def test_default_integers() -> None:
    assert default_integer(np) == np.int64
    assert default_integer(array_api_compat.torch) == torch.int64


def test_only_tensors_belong_to_torch() -> None:
    assert torch_of(PARAMETER) is torch_of(SUBCLASS) is torch
    assert torch_of(np.ones(1)) is torch_of(3) is torch_of(None) is None


@pytest.mark.parametrize("dim", [2, 64, np.int64(8)])
def test_even_widths(dim: Any) -> None:
    assert require.even_dim(dim) == dim
    assert type(require.even_dim(dim)) is int


@pytest.mark.parametrize(
    ("dim", "error"),
    [
        (0, ValueError),
        (-2, ValueError),
        (3, ValueError),
        (2.0, TypeError),
        ("2", TypeError),
        (True, TypeError),
    ],
)
def test_widths_that_are_refused(dim: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=rf"head_dim='?{dim}'? .*give an even integer"):
        require.even_dim(dim, "head_dim")


def test_positive_numbers() -> None:
    assert require.positive(np.float32(0.5), "scale") == 0.5
    assert require.positive(Fraction(1, 2), "scale") == 0.5
    for given in (0, -1, float("inf"), float("nan")):
        with pytest.raises(ValueError, match=r"scale=.* is not allowed; give a finite number above 0"):
            require.positive(given, "scale")
    for other in ("1", None, 1j, True):
        with pytest.raises(TypeError, match=r"scale=.* is not a real number; give a positive number"):
            require.positive(other, "scale")


@pytest.mark.parametrize("given", ["c", None, ["a"], np.asarray(["a", "b"]), "A"])
def test_names_that_are_unknown(given: Any) -> None:
    with pytest.raises(ValueError, match=r"order=.* is unknown; choose one of 'a', 'b'"):
        require.choice(given, "order", ("a", "b"))


# ---- a device without float64


@pytest.fixture
def cpu_without_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat the CPU as Apple's GPUs are treated: float64 is done on the host, and the result comes back."""
    monkeypatch.setattr(_arrays, "_WITHOUT_FLOAT64", {"cpu"})


@pytest.mark.usefixtures("cpu_without_float64")
def test_without_float64_results_are_as_exact() -> None:
    positions = [0, 1, 131_000, 1_000_000, 10_000_000]
    with mpmath.workdps(40):
        truth = [[float(mpmath.sin(p)), float(mpmath.cos(p))] for p in positions]
    found = sinusoidal(torch.tensor(positions), 2)
    assert found.dtype == torch.float32
    assert np.abs(found.double().numpy() - truth).max() < 6e-8
    narrowed = sinusoidal(torch.tensor(positions), 2, dtype=torch.bfloat16)
    assert torch.equal(narrowed, torch.tensor(truth, dtype=torch.float64).to(torch.bfloat16))
    table = sinusoidal(torch.arange(1_000_000 - 99_999, 1_000_001), 2)  # long enough to be made by shifts
    assert np.abs(table[-1].double().numpy() - truth[3]).max() < 6e-8


@pytest.mark.usefixtures("cpu_without_float64")
def test_without_float64_gradients_flow() -> None:
    positions = torch.tensor([0.5, 3.0], requires_grad=True)
    sinusoidal(positions, 2)[:, 0].sum().backward()
    torch.testing.assert_close(positions.grad, torch.cos(positions.detach()))


@pytest.mark.usefixtures("cpu_without_float64")
def test_without_float64_every_function_of_the_first_door_works() -> None:
    table = torch.randn(7, 6, requires_grad=True)
    places = torch.tensor([[0.5, 2.0], [6.0, 3.25]])
    assert shift_matrix(torch.tensor(2.5), 6).shape == (6, 6)
    assert similarity(torch.arange(4), 6).dtype == torch.float32
    assert learned(table, places, beyond="interpolate").shape == (2, 2, 6)
    assert hybrid(table, torch.arange(9), beyond="zero").shape == (9, 6)
    assert fourier_features(places, np.ones((3, 2))).shape == (2, 6)
    assert grid_sinusoidal((torch.arange(2), 3), 8).dtype == torch.float32
    assert attention(table, table, table).shape == (7, 6)


@pytest.mark.usefixtures("cpu_without_float64")
def test_without_float64_numbers_go_to_the_host_and_back() -> None:
    assert widen(torch.tensor(2**24 + 1)).item() == 2**24 + 1  # which float32 does not hold
    wide = widen(torch.tensor([1.5], dtype=torch.bfloat16))
    assert wide.dtype == torch.float64
    back = narrow(wide, torch.ones(1), torch.float16)
    assert back.dtype == torch.float16
    assert back.item() == 1.5


def test_arrays_that_jax_places_itself_need_no_common_device() -> None:
    devices = "--xla_force_host_platform_device_count=2"
    code = (
        "import jax, jax.numpy as jnp, numpy as np, posenc_lib as p\n"
        "mesh = jax.sharding.Mesh(np.array(jax.devices()), 'x')\n"
        "spread = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec('x'))\n"
        "x = jax.device_put(jnp.ones((2, 3, 4, 8)), spread)\n"
        "tables = p.rotary_tables(jnp.arange(4), 8)\n"
        "assert p.rotate(x, tables).sharding.device_set == x.sharding.device_set\n"
        "assert p.apply_rotary(x, 4).shape == p.attention(x, x, x, causal=True).shape == x.shape\n"
        "first, second = (jax.device_put(x, device) for device in jax.devices())\n"
        "try:\n"
        "    p.attention(first, second, second)\n"
        "except ValueError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"XLA_FLAGS": devices, "JAX_PLATFORMS": "cpu"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("the arrays are on different devices: q on ")
