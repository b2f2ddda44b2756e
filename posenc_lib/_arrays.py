"""The one seam between the maths and the array libraries (NumPy, PyTorch, CuPy, JAX).

Everything else in the library is written against the array API standard. Here is what the
standard leaves open: which library an array belongs to, what its default real type is,
where float64 arithmetic can be done for it, and whether someone traces it. All that PyTorch keeps private and
the library asks for nevertheless is asked for here.
"""

from __future__ import annotations

import math
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import numpy as np

Array = Any
"""An array of any library that follows the array API standard."""
ArrayT = TypeVar("ArrayT", bound=Any)
"""The same, for a type checker: what is returned is of the kind that was given."""


def namespace(*arrays: Array) -> Any:
    """The array API functions for these arrays; they must all come from one library."""
    if all(type(a) is np.ndarray or isinstance(a, np.generic) for a in arrays):
        return np
    for array in arrays:
        is_array = torch_of(array) is not None or (hasattr(array, "shape") and hasattr(array, "dtype"))
        if not is_array or isinstance(array, type):
            raise TypeError(_no_array(array))
        _require_plain(array)
    if all(isinstance(a, (np.ndarray, np.generic)) for a in arrays):
        return np
    try:
        if all(torch_of(a) is not None for a in arrays):
            import array_api_compat.torch  # known already: the search below costs as much as a small kernel

            return array_api_compat.torch
        from array_api_compat import array_namespace
    except ModuleNotFoundError as error:
        package = "array-api-compat" if torch_of(arrays[0]) is None else "'posenc_lib[torch]'"
        raise ModuleNotFoundError(
            f"arrays of type {type(arrays[0]).__name__} need the package array-api-compat: "
            f"pip install {package}"
        ) from error
    libraries = sorted({_library(a) for a in arrays})
    if len(libraries) > 1:
        raise TypeError(
            f"the arrays come from different libraries, {' and '.join(libraries)}; "
            "convert them to one library first"
        )
    try:
        return array_namespace(*arrays)
    except TypeError as error:
        raise TypeError(_no_array(arrays[0])) from error


def is_plain_tensor(array: Any) -> bool:
    """Whether this is a tensor of PyTorch whose numbers lie in it as they are."""
    torch = torch_of(array)
    return (
        torch is not None and not array.is_nested and array.layout == torch.strided and not array.is_quantized
    )


def _require_plain(array: Array) -> None:
    """Raise TypeError for an array whose numbers do not lie in it as they are."""
    kind = None
    torch = torch_of(array)
    if isinstance(array, (np.ma.MaskedArray, np.matrix)):
        kind, remedy = f"a numpy.{type(array).__name__}", "numpy.asarray of it, and a mask as an argument"
    elif torch is not None and array.is_nested:
        kind, remedy = "a nested tensor", "a padded one, with a mask"
    elif torch is not None and array.layout != torch.strided:
        kind, remedy = f"a tensor of layout {array.layout}", "its to_dense()"
    elif torch is not None and array.is_quantized:
        kind, remedy = f"a quantized tensor, {array.dtype}", "its dequantize()"
    if kind:
        raise TypeError(f"this is {kind}, which the formulas cannot use; give {remedy}")


def device_of(array: Array) -> Any:
    """The device that holds the array, for `xp.asarray(..., device=...)`.

    None where it is bound to none: JAX moves such arrays by itself, spreads others over several devices, and
    those that it traces are nowhere yet.
    """
    if _library(array) == "jax":
        import jax

        bound = not _is_traced_by_jax(array) and array.committed and isinstance(array.device, jax.Device)
        return array.device if bound else None
    return getattr(array, "device", None)


def is_floating(array: Array) -> bool:
    """Whether the array holds real floating-point numbers, bfloat16 included."""
    return bool(namespace(array).isdtype(array.dtype, "real floating"))


def default_float(xp: Any) -> Any:
    """The real type that the library gives to an array of Python floats."""
    if xp is np:
        return np.float64
    return xp.__array_namespace_info__().default_dtypes()["real floating"]


def default_integer(xp: Any) -> Any:
    """The integer type that the library gives to an array of Python ints."""
    return xp.__array_namespace_info__().default_dtypes()["integral"]


def result_dtype(array: Array, dtype: Any = None) -> Any:
    """The dtype of a result: as asked, else the array's own if real, else the library's default.

    Raises:
        TypeError: `dtype` is not a real floating-point dtype of the array's library.
    """
    xp = namespace(array)
    if dtype is None:
        return array.dtype if is_floating(array) else default_float(xp)
    try:
        real = torch_of(dtype) is None and xp.isdtype(dtype, "real floating")  # a tensor would pass for one
    except (AttributeError, TypeError):
        real = False
    if not real:
        library = _library(array)
        raise TypeError(
            f"dtype={dtype!r} is not a real floating-point dtype of {library}, the library of the positions; "
            f"give one such as {library}.float32 (for a result in another library, give positions of that "
            "library)"
        )
    return dtype


def widen(array: Array) -> Array:
    """The same numbers in float64, on a device (and in a library) that has float64.

    Apple's GPUs have no float64, and JAX has none unless told so: there the numbers are taken to
    the host, and `narrow` takes the result back.

    Raises:
        TypeError: JAX without float64 is tracing, so that there are no numbers to take to the host.
    """
    if _lacks_float64(array):
        if _is_traced_by_jax(array):
            raise TypeError(
                "JAX is tracing without float64, in which angles would be wrong far from 0; set "
                "jax.config.update('jax_enable_x64', True), or make the table outside jit, grad and vmap"
            )
        array = array.cpu() if torch_of(array) is not None else np.asarray(array)
    xp = namespace(array)
    return xp.astype(array, xp.float64)


def widen_all(*arrays: Array) -> list[Array]:
    """`widen` for numbers that make no angles: all in JAX's float32 where it traces one without float64."""
    traced = next((array for array in arrays if _lacks_float64(array) and _is_traced_by_jax(array)), None)
    if traced is None:
        return [widen(array) for array in arrays]
    xp = namespace(traced)
    return [xp.asarray(array, dtype=xp.float32) for array in arrays]


def widest(array: Array) -> Array:
    """The same numbers in float64 where the array's library and device have it, in float32 otherwise.

    It stays where it is, unlike by `widen`: for sums that are learned through.
    """
    xp = namespace(array)
    return xp.astype(array, xp.float32 if _lacks_float64(array) else xp.float64, copy=False)


def narrow(wide: Array, like: Array, dtype: Any) -> Array:
    """A float64 result in `dtype`, in the library and on the device of `like`."""
    xp = namespace(like)
    if not _lacks_float64(like):
        return xp.astype(wide, dtype, copy=False)
    if torch_of(like) is not None:
        return xp.astype(wide, dtype).to(like.device)
    return xp.asarray(wide.astype(np.float32), dtype=dtype, device=device_of(like))


def in_order(array: Array) -> Array:
    """The same numbers, in memory in the order of their axes: strided, they are read many times slower."""
    if torch_of(array) is not None:
        return array if is_compiling() else array.contiguous()  # a compiler lays memory out itself
    return np.asarray(array, order="C") if isinstance(array, np.ndarray) else array


def constant(values: np.ndarray, like: Array) -> Array:
    """NumPy values as an array of the library and device of `like`, known even while JAX traces."""
    xp = namespace(like)
    if xp is np:
        return values
    if _library(like) == "jax":
        import jax

        with jax.ensure_compile_time_eval():
            return xp.asarray(values, device=device_of(like))
    return xp.asarray(values, device=device_of(like))


def while_known(*arrays: Array) -> AbstractContextManager[Any]:
    """Where JAX computes with known arrays even inside `jit`, which would only record it: what is made of
    them stays known."""
    if any(_library(array) != "jax" or _is_traced_by_jax(array) for array in arrays):
        return nullcontext()
    import jax

    now: AbstractContextManager[Any] = jax.ensure_compile_time_eval()
    return now


def count_up(count: int, like: Array | None = None) -> Array:
    """0 .. count-1 in the library and on the device of `like`; in NumPy by default."""
    if like is None:  # NumPy could not count to a symbol
        return sys.modules["torch"].arange(count) if is_open(count) else np.arange(int(count))
    if _library(like) in ("numpy", "jax"):
        return constant(np.arange(count), like)
    return namespace(like).arange(count, device=device_of(like))  # the count may be an exporter's symbol


def clip(array: Array, least: int | None, most: int) -> Array:
    """The numbers, none below `least` nor above `most`, which may be an exporter's symbols.

    array-api-compat's own looks whether a limit is NaN, which breaks a graph where sizes are open.
    """
    if torch_of(array) is not None:
        return array.clamp(least, most)
    return namespace(array).clip(array, least, most)


def move_axis(array: Array, source: int, target: int) -> Array:
    """The array with one axis in another place."""
    if torch_of(array) is not None:  # of its two names for it, `vmap` knows one
        return array.movedim(source, target)
    return namespace(array).moveaxis(array, source, target)


def take_along_last_axis(array: Array, index: Array) -> Array:
    """array[..., index], one index for each place."""
    if torch_of(array) is not None:  # take_along_dim would tie an exported graph to one length
        return array.gather(-1, index)
    return namespace(array, index).take_along_axis(array, index, axis=-1)


def unlearned(array: Array) -> Array:
    """The same numbers, as constants: no gradient goes through them."""
    if torch_of(array) is not None:
        return array.detach()
    if _library(array) == "jax":
        import jax

        return jax.lax.stop_gradient(array)
    return array


def without_autocast(array: Array) -> AbstractContextManager[Any]:
    """Where PyTorch multiplies in the dtypes that it is given, whatever autocast says."""
    torch = torch_of(array)
    if torch is None or array.is_meta:  # there is no autocast for "meta"
        return nullcontext()
    if not torch.is_autocast_enabled(array.device.type):  # as in most calls
        return nullcontext()
    within: AbstractContextManager[Any] = torch.autocast(array.device.type, enabled=False)
    return within


def erf(array: Array) -> Array:
    """The error function, which the array API standard lacks."""
    torch = torch_of(array)
    if torch is not None:
        return torch.special.erf(array)
    if _library(array) == "jax":
        import jax

        return jax.scipy.special.erf(array)
    one_by_one = np.frompyfunc(math.erf, 1, 1)(np.asarray(array)).astype(np.float64)
    return namespace(array).asarray(one_by_one, dtype=array.dtype)


def moved(array: Array, *where: Any, **options: Any) -> Array:
    """The array on another device or in another real dtype, which are given as for `torch.Tensor.to`."""
    if torch_of(array) is not None:
        return array.to(*where, **options)
    return _moved(array, *where, **options)


def _moved(array: Array, device: Any = None, dtype: Any = None) -> Array:
    """`moved` for all libraries but PyTorch."""
    if dtype is None and device is not None and _is_dtype(device, array):
        device, dtype = None, device
    if dtype is not None:
        array = namespace(array).astype(array, result_dtype(array, dtype), copy=False)
    if device is None:
        return array
    from array_api_compat import to_device

    try:
        return to_device(array, device)
    except (TypeError, ValueError) as error:
        library = _library(array)
        raise TypeError(
            f"{device!r} is neither a device nor a real floating-point dtype of {library}; give one such as "
            f"{library}.float32"
        ) from error


def _is_dtype(given: Any, array: Array) -> bool:
    try:
        namespace(array).isdtype(given, "real floating")
    except (AttributeError, TypeError):
        return False
    return True


def register_pytree(kind: type, array: Array) -> None:
    """Tell the array's library, once, that such an object is made of the arrays that it unpacks to."""
    library = _library(array)
    if library not in ("torch", "jax") or (kind, library) in _REGISTERED or is_compiling():
        return
    _REGISTERED.add((kind, library))

    def rebuilt(arrays: Any) -> Any:
        new: Any = object.__new__(kind)  # unchecked: a transform also puts in what is not an array
        new.__dict__.update(zip(names, arrays, strict=True))
        return new

    names = kind.__match_args__  # type: ignore[attr-defined]
    if library == "jax":
        import jax

        jax.tree_util.register_pytree_node(
            kind, lambda whole: (tuple(whole), None), lambda _, arrays: rebuilt(arrays)
        )
        return
    import torch
    from torch.utils import _pytree

    torch.serialization.add_safe_globals([kind])
    _pytree.register_pytree_node(
        kind,
        lambda whole: (list(whole), None),
        lambda arrays, _: rebuilt(arrays),
        flatten_with_keys_fn=lambda whole: (
            [(_pytree.GetAttrKey(name), each) for name, each in zip(names, whole, strict=True)],
            None,
        ),
        serialized_type_name=f"{kind.__module__}.{kind.__qualname__}",
    )


_REGISTERED: set[tuple[type, str]] = set()


def on_cpu(array: Array) -> bool:
    """Whether this is an array of NumPy, or a tensor on the CPU."""
    return isinstance(array, np.ndarray) or (torch_of(array) is not None and array.device.type == "cpu")


def torch_of(array: Any) -> Any:
    """The module torch if the array is a tensor, else None. Never imports it."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(array, torch.Tensor) else None


def values_are_known(array: Array) -> bool:
    """Whether the values can be looked at: not while a compiler or `vmap` traces, nor where none exist."""
    torch = torch_of(array)
    if torch is not None:
        if is_compiling() or array.device.type == "meta" or _is_fake(array):
            return False
        while torch._C._functorch.is_functorch_wrapped_tensor(array):  # `grad` around `vmap`, say
            if torch._C._functorch.is_batchedtensor(array):
                return False
            array = torch._C._functorch.get_unwrapped(array)
        return True
    if _library(array) == "jax":
        return not _is_traced_by_jax(array) and not _jax_stages()
    return True


def extremes(array: Array) -> tuple[float, float] | None:
    """The least and the largest number; None where there are none, or none that are known.

    An array can be known where what is made of it is not: under JAX's `jit`, and under PyTorch's `vmap`.
    """
    torch = torch_of(array)
    if torch is not None:
        if is_compiling():
            return None
        while torch._C._functorch.is_functorch_wrapped_tensor(array):
            array = torch._C._functorch.get_unwrapped(array)
        if array.device.type == "meta" or _is_fake(array) or array.numel() == 0:
            return None
        known = array.detach()
        least, most = torch.aminmax(known if known.is_floating_point() else known.long())  # none of uint16
        return float(least), float(most)
    if _is_traced_by_jax(array) or 0 in array.shape:
        return None
    numbers = np.asarray(array)
    return float(numbers.min()), float(numbers.max())


def _is_fake(tensor: Any) -> bool:
    """Whether this is a tensor of `FakeTensorMode`, which has a shape and no values."""
    fakes = sys.modules.get("torch._subclasses.fake_tensor")
    return fakes is not None and isinstance(tensor, fakes.FakeTensor)


def is_compiling() -> bool:
    """Whether torch.compile or torch.export traces what runs now."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.compiler.is_compiling()


def is_open(size: Any) -> bool:
    """Whether a size is a symbol of PyTorch's, which stands for many."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(size, torch.SymInt)


def surely(condition: Any) -> bool:
    """The condition; False where it depends on sizes that a compiler leaves open, which it would tie down."""
    if not is_compiling():
        return bool(condition)
    from torch.fx.experimental.symbolic_shapes import statically_known_true

    return bool(statically_known_true(condition))


def is_exporting() -> bool:
    """Whether torch.export does."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.compiler.is_exporting()


def is_watched(tensor: Any) -> bool:
    """Whether someone follows what is done to a tensor, so that writing into it would fail or mislead."""
    import torch

    return (
        torch.compiler.is_compiling()
        or type(tensor) not in (torch.Tensor, torch.nn.Parameter)
        or not (tensor.is_cpu or tensor.is_cuda)
        or is_in_a_transform()
        or torch.autograd.forward_ad._current_level >= 0
    )


def may_look(array: Array) -> bool:
    """Whether a decision may depend on the numbers: NumPy's, or a CPU tensor's that nobody follows."""
    return on_cpu(array) and (isinstance(array, np.ndarray) or not is_watched(array))


def windows_from_the_last(row: Array, size: int) -> Array:
    """(..., n) as (..., n - size + 1, size): `size` neighbours in each row, those at the end first."""
    if torch_of(row) is not None:
        return row.unfold(-1, size, 1).flip(-2)
    return np.lib.stride_tricks.sliding_window_view(row, size, axis=-1)[..., ::-1, :].copy()


def is_in_a_transform() -> bool:
    """Whether one of `torch.func`'s transforms runs; in `grad`, `requires_grad` says nothing."""
    import torch

    return bool(torch._C._are_functorch_transforms_active())


def is_transformed() -> bool:
    """The same of what runs now, and is not compiled."""
    return not is_compiling() and is_in_a_transform()


def is_traced() -> bool:
    """Whether a tracer runs, which would bake a kept tensor in, or leave its own kind of tensor behind."""
    import torch

    return is_compiling() or torch._C._len_torch_dispatch_stack() > 0


def is_in_autograds_vmap(x: Any) -> bool:
    """Whether a tensor is a batch of autograd's own vmap, that of `jacobian(vectorize=True)`."""
    import torch

    return bool(torch._C._functorch.is_legacy_batchedtensor(x))


def is_captured(device: Any) -> bool:
    """Whether what this device is told to do is not done now, but recorded in a CUDA graph.

    Memory that is allocated meanwhile belongs to the graph, and holds nothing before the first replay.
    """
    if device.type != "cuda":
        return False
    import torch

    return bool(torch.cuda.is_current_stream_capturing())


def writes(*tensors: Any) -> tuple[int, ...] | None:
    """How often each tensor was written into; None where PyTorch does not count, in inference mode."""
    versions: list[int] = []
    for tensor in tensors:  # no comprehension: this is asked for every token
        if tensor.is_inference():
            return None
        versions.append(tensor._version)
    return tuple(versions)


def refuse_unless(holds: Any, message: str) -> None:
    """Raise where a tensor of one boolean is False; while a compiler traces, when the compiled code runs."""
    import torch

    torch._assert_async(holds, message)


def refused_unless(result: Array, holds: Array, message: str) -> Array:
    """The result of a trace, which is refused where `holds` turns out to be False once the traced code runs.

    JAX's compiled code cannot raise by itself: there the host is called, if it comes to that, and raises.
    Where nothing will ever run ("meta", fake tensors), nothing is refused.
    """
    if torch_of(result) is not None and is_compiling():
        refuse_unless(holds, message)
    if not _is_traced_by_jax(result):
        return result
    import jax

    def on_host(fine: Any) -> np.ndarray:
        if not np.all(fine):
            raise ValueError(message)
        return np.zeros(np.shape(fine), result.dtype)

    def refuse(fine: Any) -> Any:
        nothing = jax.ShapeDtypeStruct((), result.dtype)
        return jax.pure_callback(on_host, nothing, fine, vmap_method="expand_dims")

    return result + jax.lax.cond(holds, lambda fine: jax.numpy.zeros((), result.dtype), refuse, holds)


def _is_traced_by_jax(array: Array) -> bool:
    if _library(array) != "jax":
        return False
    import jax

    return isinstance(array, jax.core.Tracer)


def _jax_stages() -> bool:
    """Whether `jit` records what runs now, so that what is made of known arrays is unknown, too."""
    import jax.numpy as jnp

    return _is_traced_by_jax(jnp.zeros(()))


def _lacks_float64(array: Array) -> bool:
    if torch_of(array) is not None:
        return array.device.type in _WITHOUT_FLOAT64
    if _library(array) == "jax":
        import jax

        return not jax.config.jax_enable_x64
    return False


_WITHOUT_FLOAT64 = {"mps"}


def _library(array: Any) -> str:
    """The name of the library that the array belongs to."""
    if torch_of(array) is not None:
        return "torch"
    name = type(array).__module__.partition(".")[0]
    return "jax" if name == "jaxlib" else name


def _no_array(given: Any) -> str:
    return (
        f"{type(given).__name__} is not an array; give an array of NumPy, PyTorch or another library "
        "that follows the array API standard"
    )


def drawn_evenly(generator: Any, low: float, high: float, count: int) -> list[float]:
    """Numbers drawn evenly from low to high, by a generator of NumPy or of PyTorch."""
    if isinstance(generator, np.random.Generator):
        of_numpy: list[float] = generator.uniform(low, high, count).tolist()
        return of_numpy
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(generator, torch.Generator):
        raise TypeError(
            f"generator is of type {type(generator).__name__}; give numpy.random.default_rng(seed) or "
            "torch.Generator().manual_seed(seed), the same one in all steps"
        )
    empty = torch.empty(count, dtype=torch.float32, device=generator.device)
    of_torch: list[float] = empty.uniform_(low, high, generator=generator).tolist()
    return of_torch
