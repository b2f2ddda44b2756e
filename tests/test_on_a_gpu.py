"""On a GPU the library computes what it computes on a CPU, there, in the dtype that it was given.

What is right is taken from the CPU, in float64. With DEVICE = "cpu" the file tests itself: all of it passes
then, but for what only a GPU has. Compilers take most of the time: `-k "not compile"` leaves them out.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.attention.flex_attention import flex_attention

import posenc_lib as p
from posenc_lib import rotated
from posenc_lib.nn import (
    ENCODINGS,
    Attention,
    AxialRotary,
    Cache,
    EncoderLayer,
    FourierFeatures,
    Learned,
    MultimodalRotary,
    PositionalEncoding,
    Rotary,
    Sinusoidal,
    Sizes,
    make_encoding,
)
from tests.nn.test_transformer import (
    DIM,
    FACTS,
    HEADS,
    LENGTH,
    VOCABULARY,
    WITH_CACHE,
    close,
    model_with,
    some_tokens,
    with_padding,
)
from tests.test_autocast import FUNCTIONS
from tests.test_wrong_calls import RIGHT

DEVICE = "cuda"

pytestmark = [
    pytest.mark.skipif(DEVICE == "cuda" and not torch.cuda.is_available(), reason="there is no GPU"),
    pytest.mark.filterwarnings("ignore:flex_attention called without"),
]
on_a_gpu_alone = pytest.mark.skipif(DEVICE == "cpu", reason="a CPU has no such thing")
names = pytest.mark.parametrize("name", ENCODINGS)
sixteen_bits = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
layouts = pytest.mark.parametrize("layout", ["interleaved", "half"])

FAR = 1_000_000
HEAD_DIM = DIM // HEADS
SIZES = Sizes(dim=DIM, heads=HEADS, length=36)
RULES: dict[str, Any] = {
    "linear": rotated.LinearScaling(4.0),
    "ntk": rotated.NTKScaling(4.0),
    "dynamic-ntk": rotated.DynamicNTKScaling(4.0, 64, 128),
    "ntk-by-parts": rotated.NTKByPartsScaling(4.0, 64),
    "yarn": rotated.YaRNScaling(4.0, 64),
    "llama3": rotated.Llama3Scaling(4.0, 64),
    "longrope": rotated.LongRoPEScaling((1.0,) * 4, (1.0, 2.0, 4.0, 8.0), 64, factor=4.0, length=256),
    "proportional": rotated.ProportionalScaling(0.5),
    "a dict": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64},
}


@pytest.fixture(autouse=True)
def _in_full_precision() -> Iterator[None]:
    """Products of float32 are products of float32, not of the 19 bits of TF32."""
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.manual_seed(0)
    yield
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before


def of_heads(length: int = LENGTH, dtype: torch.dtype = torch.float32, batch: int = 2) -> Tensor:
    return torch.randn(batch, HEADS, length, HEAD_DIM).to(dtype)


def agrees(got: Tensor, wanted: Tensor, tolerance: float, dtype: torch.dtype | None = None) -> None:
    """Whether a result lies on the device, in its dtype, and is what float64 on the CPU gives."""
    assert got.device.type == DEVICE
    assert dtype is None or got.dtype == dtype
    torch.testing.assert_close(
        got.detach().cpu().double(), wanted.detach().double(), rtol=tolerance, atol=tolerance
    )


def loss_of(model: Any, tokens: Tensor, padding: Tensor | None, **options: Any) -> tuple[Tensor, Tensor]:
    """The logits of what is no padding, and a loss in which each of them counts differently."""
    logits = model(tokens, padding_mask=padding, **options)
    logits = logits.flatten(0, 1) if padding is None else logits[~padding]
    weights = torch.linspace(-1, 1, logits.numel(), dtype=torch.float64).view(logits.shape).sin()
    return logits, (logits * weights.to(logits)).sum()


def gradients_agree(got: torch.nn.Module, wanted: torch.nn.Module, tolerance: float) -> None:
    """Each gradient is right as measured by its own size, or by a hundredth of the largest one's: that of
    what a softmax does not see is nothing but rounding."""
    exact = {key: each.grad for key, each in wanted.named_parameters() if each.grad is not None}
    largest = max(float(each.abs().max()) for each in exact.values())
    for key, parameter in got.named_parameters():
        assert (parameter.grad is not None) == (key in exact), key
        if parameter.grad is not None:
            allowed = tolerance * max(float(exact[key].abs().max()), 0.01 * largest)
            missed = (parameter.grad.cpu().double() - exact[key].double()).abs().max()
            assert missed <= allowed, (key, float(missed), allowed)


# ---- models


@names
@pytest.mark.parametrize("causal", [True, False], ids=["causal", "both ways"])
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float32, 1e-4), (torch.float64, 1e-10)], ids=["float32", "float64"]
)
def test_a_model_and_its_gradients_are_those_of_a_cpu(name, causal, dtype, tolerance):
    if FACTS[name].causal_only and not causal:
        pytest.skip("for causal attention alone")
    given = model_with(name, causal=causal)
    wide, here = copy.deepcopy(given).double(), copy.deepcopy(given).to(DEVICE, dtype)
    padded = with_padding(some_tokens(3), [0, 2, 4], [4, 2, 0])
    for tokens, padding in ((some_tokens(), None), padded):
        wanted, loss = loss_of(wide, tokens, padding)
        loss.backward()
        got, loss = loss_of(here, tokens.to(DEVICE), None if padding is None else padding.to(DEVICE))
        loss.backward()
        agrees(got, wanted, tolerance, dtype)
        gradients_agree(here, wide, tolerance)


@pytest.mark.parametrize("rule", RULES)
def test_a_scaled_rotation_in_a_model_is_that_of_a_cpu(rule):
    given = model_with(Rotary(HEAD_DIM, scaling=RULES[rule]), kv_heads=2)
    wide, here, tokens = copy.deepcopy(given).double(), copy.deepcopy(given).to(DEVICE), some_tokens()
    for at in (None, torch.arange(LENGTH) + FAR, torch.arange(LENGTH) / 2):
        wanted = wide(tokens, positions=at)
        got = here(tokens.to(DEVICE), positions=None if at is None else at.to(DEVICE))
        agrees(got, wanted, 1e-4, torch.float32)


COORDINATES: dict[str, tuple[Callable[[], PositionalEncoding], Tensor]] = {
    "axial": (lambda: AxialRotary(HEAD_DIM, axes=3, sections=(1, 1, 2)), torch.arange(30).view(3, 2, 5)),
    "mrope": (lambda: MultimodalRotary(HEAD_DIM, (2, 1, 1)), torch.arange(15).view(3, 1, 5)),
    "fourier": (lambda: FourierFeatures(DIM, axes=2, scale=1.0), torch.arange(20).view(2, 2, 5) / 7),
    "times": (lambda: Rotary(HEAD_DIM), torch.arange(10).view(2, 5).sqrt()),
    "beyond a table": (
        lambda: Learned(4, DIM, beyond="interpolate", stretch_to=9),
        torch.arange(5) * 1.5,
    ),
}


@pytest.mark.parametrize("name", COORDINATES)
def test_coordinates_and_times_are_tensors_of_the_device(name):
    make, at = COORDINATES[name]
    tokens = some_tokens(length=5)
    given = model_with(make())
    wanted = copy.deepcopy(given).double()(tokens, positions=at)
    agrees(given.to(DEVICE)(tokens.to(DEVICE), positions=at.to(DEVICE)), wanted, 1e-4, torch.float32)


@names
def test_packed_texts_are_those_of_a_cpu(name):
    given, tokens, ends = model_with(name), some_tokens(1), torch.tensor([0, 3, 3, 4, LENGTH])
    wanted = copy.deepcopy(given).double()(tokens, cu_seqlens=ends)
    got = given.to(DEVICE)(tokens.to(DEVICE), cu_seqlens=ends.to(DEVICE))
    agrees(got, wanted, 1e-4, torch.float32)


@pytest.mark.parametrize(
    "options",
    [{"window": 3}, {"softcap": 2.0}, {"sinks": True}, {"qk_norm": 1e-6}, {"kv_heads": 1}, {"scale": 0.5}],
    ids=str,
)
@pytest.mark.parametrize("encoding", ["rope", "t5", "cope"])  # no bias, a bias, one that reads the mask
def test_attention_with_more_than_the_usual_is_that_of_a_cpu(options, encoding):
    given, door = Attention(DIM, HEADS, **options), make_encoding(encoding, SIZES)
    x = torch.randn(2, LENGTH, DIM)
    wanted = copy.deepcopy(given).double()(
        x.double(), encoding=copy.deepcopy(door).double(), causal=True, mask=x[:, None, None, :, 0] < 1
    )
    x = x.to(DEVICE)
    got = given.to(DEVICE)(x, encoding=door.to(DEVICE), causal=True, mask=x[:, None, None, :, 0] < 1)
    agrees(got, wanted, 1e-4, torch.float32)


@pytest.mark.parametrize("name", [each for each in ENCODINGS if "added" not in FACTS[each].doors])
def test_an_encoder_layer_made_on_the_device_is_that_of_a_cpu(name):
    causal = FACTS[name].causal_only
    here = EncoderLayer(
        DIM, HEADS, 64, batch_first=True, encoding=name, causal=causal, length=36, device=DEVICE
    ).eval()
    assert {each.device.type for each in here.parameters()} == {DEVICE}
    x, padding = torch.randn(2, LENGTH, DIM), torch.arange(LENGTH) > torch.tensor([[20], [9]])
    wanted = copy.deepcopy(here).cpu().double()(x.double(), src_key_padding_mask=padding, is_causal=causal)
    got = here(x.to(DEVICE), src_key_padding_mask=padding.to(DEVICE), is_causal=causal)
    agrees(got[~padding.to(DEVICE)], wanted[~padding], 1e-4, torch.float32)


@pytest.mark.parametrize("name", WITH_CACHE)
@torch.no_grad()
def test_token_by_token_with_a_cache_is_all_at_once(name):
    model, tokens = model_with(name).to(DEVICE), some_tokens().to(DEVICE)
    cache, after_padding = Cache(), Cache()
    steps = [model(token, cache=cache) for token in tokens.split(1, dim=1)]
    whole = model(tokens)
    close(torch.cat(steps, dim=1), whole)
    prompt, padding = (each.to(DEVICE) for each in with_padding(some_tokens()[:, :6], [3, 0], [0, 3]))
    model(prompt, padding_mask=padding, cache=after_padding)
    later = [model(token, cache=after_padding) for token in tokens[:, 6:].split(1, dim=1)]
    close(torch.cat(later, dim=1), whole[:, 6:])


@sixteen_bits
@pytest.mark.parametrize("kind", ["booleans", "numbers", "alibi"])
def test_a_token_that_may_look_at_no_other_gets_the_bias_of_the_output(kind, dtype):
    """Kernels for 16 bits differ on such a token."""
    attention, x = Attention(DIM, HEADS).to(DEVICE, dtype), torch.randn(2, LENGTH, DIM).to(DEVICE, dtype)
    torch.nn.init.ones_(attention.out_proj.bias)
    mask = torch.ones(LENGTH, LENGTH, dtype=torch.bool, device=DEVICE)
    mask[3] = False
    given = torch.zeros(LENGTH, LENGTH, device=DEVICE).masked_fill(~mask, -torch.inf)
    encoding = make_encoding("alibi", SIZES).to(DEVICE) if kind == "alibi" else None
    got = attention(x, encoding=encoding, mask=given if kind == "numbers" else mask)
    assert (got[:, 3] == 1).all()
    assert got.isfinite().all()
    got.square().sum().backward()
    assert all(each.grad is not None and each.grad.isfinite().all() for each in attention.parameters())


@names
@sixteen_bits
@torch.no_grad()
def test_a_model_in_16_bits_is_off_by_its_own_rounding(name, dtype):
    given, tokens = model_with(name), some_tokens()
    here = copy.deepcopy(given).to(DEVICE, dtype)
    wanted = given.double()(tokens)
    agrees(here(tokens.to(DEVICE)), wanted, 60 * torch.finfo(dtype).eps, dtype)
    padded, padding = with_padding(tokens, [2, 1], [0, 1])
    got = here(padded.to(DEVICE), padding_mask=padding.to(DEVICE))[~padding.to(DEVICE)]
    agrees(got, wanted.flatten(0, 1), 60 * torch.finfo(dtype).eps, dtype)


@names
@pytest.mark.parametrize("padded", [False, True], ids=["", "padded"])
def test_a_model_trains_inside_autocast(name, padded):
    given = model_with(name)
    tokens, padding = with_padding(some_tokens(), [2, 1], [0, 1]) if padded else (some_tokens(), None)
    here = copy.deepcopy(given).to(DEVICE)
    wanted, _ = loss_of(given.double(), tokens, padding)
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        got, loss = loss_of(here, tokens.to(DEVICE), None if padding is None else padding.to(DEVICE))
    loss.backward()
    agrees(got, wanted, 60 * torch.finfo(torch.bfloat16).eps, torch.bfloat16)
    assert all(each.grad is not None and each.grad.isfinite().all() for each in here.parameters())


# ---- doors of the modules


def through(encoding: PositionalEncoding, x: Tensor, q: Tensor, at: Any) -> list[Tensor | None]:
    """What comes out of the doors add and rotate, and last of bias."""
    return [encoding.add(x, at), *encoding.rotate(q, q, at, at), encoding.bias(q, q, at, at)]


@names
@sixteen_bits
@torch.no_grad()
def test_angles_and_biases_in_16_bits_are_rounded_once(name, dtype):
    wide, at = make_encoding(name, SIZES).double(), range(20, 26)
    for parameter in wide.parameters():
        parameter.copy_((parameter + 0.1).to(dtype))  # so that both have the same numbers
    x, q = torch.randn(2, 6, DIM).to(dtype), of_heads(6, dtype)
    *wanted, wanted_bias = through(wide, x.double(), q.double(), at)
    *got, bias = through(copy.deepcopy(wide).to(DEVICE, dtype), x.to(DEVICE), q.to(DEVICE), at)
    step = torch.finfo(dtype).eps
    for one, other in zip(got, wanted, strict=True):
        assert one is not None
        assert other is not None
        assert (one.device.type, one.dtype) == (DEVICE, dtype)
        torch.testing.assert_close(one.cpu().double(), other, rtol=0.6 * step, atol=1e-6)
    assert (bias is None) == (wanted_bias is None)
    if bias is not None and wanted_bias is not None:
        agrees(bias, wanted_bias, 6 * step)


@names
def test_positions_on_the_device_are_positions(name):
    encoding = make_encoding(name, SIZES).to(DEVICE)
    x, q = torch.randn(2, 6, DIM, device=DEVICE), of_heads(6).to(DEVICE)
    straight = torch.arange(6, device=DEVICE)
    for at in (straight, straight.int(), straight.expand(2, -1)):
        for got, wanted in zip(through(encoding, x, q, at), through(encoding, x, q, 6), strict=True):
            assert (got is None) == (wanted is None)
            if got is not None and wanted is not None:
                torch.testing.assert_close(got, wanted.expand_as(got), rtol=1e-5, atol=1e-6)


# ---- functions

NUMPY_ALONE = {
    "mrope_positions": "it is given numbers of patches",
    "laplacian_eigenvectors": "a ring has many bases of them; as a module it is tested above",
    "augment_coordinates": "it draws with a generator of its own",
    "flip_signs": "so does it",
    "sign_invariant": "it calls what it is given",
    "mixed_rates": "they are drawn, by NumPy",
    "alibi_columns": "how many there are hangs on the dtype; `alibi_attention` is tested below",
}
COUNTS = ("positions", "queries", "keys")
"""Positions that are given as their number stand on no device: here they are tensors."""


def on_device(
    name: str, device: str, dtype: torch.dtype, rounded_to: torch.dtype | None = None
) -> dict[str, Any]:
    """The arguments of a right call, with tensors on the device; what was all ones differs in each place."""
    drawn = np.random.default_rng(0)

    def placed(given: Any, key: str = "") -> Any:
        if isinstance(given, (tuple, list)) and not all(isinstance(each, (int, float)) for each in given):
            return type(given)(placed(each) for each in given)
        if type(given) is int and key in COUNTS and name != "relative_shift":
            return torch.arange(given, device=device)
        if isinstance(given, rotated.RotaryTables):
            return rotated.rotary_tables(torch.arange(6, device=device), 8, dtype=dtype)
        if not isinstance(given, (np.ndarray, Tensor)):
            return given
        array = np.asarray(given)
        if array.dtype.kind == "f" and key != "adjacency":
            array = array * drawn.uniform(0.5, 1.0, array.shape).astype(np.float32)  # no sign changes
        tensor = torch.tensor(array, device=device)
        return tensor.to(rounded_to or dtype).to(dtype) if tensor.is_floating_point() else tensor

    call = {key: placed(given, key) for key, given in RIGHT[name].items() if key != "dtype"}
    asked = dtype == torch.float64 and "dtype" in inspect.signature(getattr(p, name)).parameters
    return {**call, "dtype": dtype} if asked else call


def tensors_in(found: Any) -> list[Tensor]:
    """All tensors that a result is made of."""
    if isinstance(found, Tensor):
        return [found]
    if dataclasses.is_dataclass(found) and not isinstance(found, type):
        return tensors_in([getattr(found, field.name) for field in dataclasses.fields(found)])
    if isinstance(found, (tuple, list)):
        return [each for part in found for each in tensors_in(part)]
    return []


def takes_tensors(name: str) -> bool:
    function = name[0].islower() and name not in {*NUMPY_ALONE, "make_encoding", "packed_mask_mod"}
    return (
        function
        and not name.endswith("_score_mod")
        and bool(tensors_in(list(on_device(name, "cpu", torch.float64).values())))
    )


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 2e-5), (torch.float64, 1e-11)], ids=str)
@pytest.mark.parametrize("name", [each for each in RIGHT if takes_tensors(each)])
def test_a_function_gives_on_the_device_what_it_gives_on_a_cpu(name, dtype, tolerance):
    function = getattr(p, name)
    wanted = tensors_in(function(**on_device(name, "cpu", torch.float64)))
    given = on_device(name, DEVICE, dtype)
    got = tensors_in(function(**given))
    assert wanted
    assert len(got) == len(wanted)
    real = any(each.is_floating_point() for each in tensors_in(list(given.values())))
    for one, other in zip(got, wanted, strict=True):
        kept = dtype if real and other.is_floating_point() else None
        agrees(one, other, tolerance, kept)
        assert one.is_floating_point() == other.is_floating_point()


@sixteen_bits
@pytest.mark.parametrize("name", [each for each in RIGHT if takes_tensors(each)])
def test_a_function_of_16_bits_is_off_by_their_rounding(name, dtype):
    function = getattr(p, name)
    wanted = tensors_in(function(**on_device(name, "cpu", torch.float64, rounded_to=dtype)))
    kept = [each.dtype for each in tensors_in(function(**on_device(name, "cpu", dtype)))]
    got = tensors_in(function(**on_device(name, DEVICE, dtype)))
    for one, other, kind in zip(got, wanted, kept, strict=True):
        agrees(one, other, 4 * torch.finfo(dtype).eps, kind)


@pytest.mark.parametrize(
    "name", ["alibi", "kerple", "fire", "sandwich", "shaw", "t5", "transformer_xl"], ids=str
)
def test_flex_attention_takes_our_biases_on_the_device(name):
    def attended(device: str, dtype: torch.dtype) -> Tensor:
        function = f"{name}_score_mod"
        given = on_device(function, device, dtype)
        given |= {key: 6 for key in ("queries", "keys") if key in given}
        if "device" in inspect.signature(getattr(p, function)).parameters:
            given["device"] = device  # numbers of queries and keys do not say where q is
        torch.manual_seed(0)
        q, k, v = torch.randn(3, 2, 4, 6, 8).to(device, dtype)
        given |= {key: each for key, each in {"q": q, "k": k}.items() if key in given}
        found: Tensor = flex_attention(q, k, v, score_mod=getattr(p, function)(**given))
        return found

    agrees(attended(DEVICE, torch.float32), attended("cpu", torch.float64), 1e-5, torch.float32)


@pytest.mark.parametrize("first", [0, FAR, 10 * FAR])
def test_sinusoids_are_exact_at_any_distance(first):
    at = torch.arange(first, first + 100)
    wanted = torch.from_numpy(p.sinusoidal(at.numpy(), 64))
    agrees(p.sinusoidal(at.to(DEVICE), 64), wanted, 6e-8, torch.float32)
    added = Sinusoidal(64).to(DEVICE)(torch.zeros(1, 100, 64, device=DEVICE), at.to(DEVICE))
    agrees(added[0], wanted, 6e-8, torch.float32)
    for dtype in (torch.bfloat16, torch.float16):
        got = p.sinusoidal(at.to(DEVICE), 64, dtype=dtype).cpu()
        torch.testing.assert_close(got.double(), wanted, rtol=0.501 * torch.finfo(dtype).eps, atol=1e-7)


@layouts
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("first", [0, FAR])
def test_a_rotation_is_exact_at_any_distance(layout, dtype, first):
    x, at = of_heads(64, dtype), torch.arange(first, first + 64)
    wanted = torch.from_numpy(p.apply_rotary(x.double().numpy(), at.numpy(), layout=layout))
    tables = p.rotary_tables(at.to(DEVICE), HEAD_DIM)
    for got in (
        p.apply_rotary(x.to(DEVICE), at.to(DEVICE), layout=layout),
        p.rotate(x.to(DEVICE), tables, layout=layout),
        p.rotate(x.to(DEVICE).mT.contiguous().mT, tables, layout=layout),
        Rotary(HEAD_DIM, layout=layout).rotate(x.to(DEVICE), x.to(DEVICE), at.to(DEVICE), at.to(DEVICE))[1],
    ):
        assert (got.device.type, got.dtype) == (DEVICE, dtype)
        step = max(0.51 * torch.finfo(dtype).eps, 5e-7)
        torch.testing.assert_close(got.cpu().double(), wanted, rtol=step, atol=1e-6)


@layouts
@pytest.mark.parametrize("rotary_dim", [48, 64])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_large_rotation_is_right_and_so_is_its_gradient(layout, rotary_dim, dtype):
    """Above 2^19 numbers another way is taken, and one in place where `out` is x itself."""
    x = torch.randn(2, 8, 1100, 64).to(dtype)
    wanted = torch.from_numpy(p.apply_rotary(x.double().numpy(), 1100, layout=layout, rotary_dim=rotary_dim))
    back = torch.from_numpy(
        p.apply_rotary(x.double().numpy(), -np.arange(1100), layout=layout, rotary_dim=rotary_dim)
    )
    here = x.to(DEVICE, copy=True).requires_grad_()
    tables = p.rotary_tables(torch.arange(1100, device=DEVICE), rotary_dim)
    got = p.rotate(here, tables, layout=layout)
    (gradient,) = torch.autograd.grad(got, here, x.to(DEVICE))
    in_place = x.to(DEVICE, copy=True)
    assert p.rotate(in_place, tables, layout=layout, out=in_place) is in_place
    step = max(0.51 * torch.finfo(dtype).eps, 5e-7)
    for one, other in ((got, wanted), (gradient, back), (in_place, wanted)):
        assert (one.device.type, one.dtype) == (DEVICE, dtype)
        torch.testing.assert_close(one.detach().cpu().double(), other, rtol=step, atol=1e-6)


@pytest.mark.parametrize("rule", RULES)
def test_tables_of_a_scaling_rule_are_those_of_numpy(rule):
    at = torch.tensor([0, 1, 4095, FAR])
    got = p.rotary_tables(at.to(DEVICE), HEAD_DIM, scaling=RULES[rule])
    wanted = p.rotary_tables(at.numpy(), HEAD_DIM, scaling=RULES[rule])
    for one, other in zip(got, wanted, strict=True):
        agrees(one, torch.from_numpy(other), 2e-7, torch.float32)


ALIBI: dict[str, dict[str, Any]] = {
    "causal": {},
    "both ways": {"causal": False},
    "masked": {"mask": torch.arange(300) % 7 != 3},
    "slopes": {"slopes": torch.tensor([0.9, 0.3, 0.03, 0.003])},
    "packed": {"cu_seqlens": torch.tensor([0, 100, 100, 300])},
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("queries", [1, 37, 300], ids=lambda n: f"{n} queries")
@pytest.mark.parametrize("name", ALIBI)
def test_fused_alibi_is_alibi(name, queries, dtype):
    options = ALIBI[name]
    if "cu_seqlens" in options and queries < 300:
        pytest.skip("packed queries are as many as their keys")
    q, k, v = of_heads(queries, dtype), of_heads(300, dtype)[:, :2], of_heads(300, dtype)[:, :2]
    wanted = p.alibi_attention(q.double(), k.double(), v.double(), **options)
    here: dict[str, Any] = {
        key: each.to(DEVICE) if isinstance(each, Tensor) else each for key, each in options.items()
    }
    got = p.alibi_attention(q.to(DEVICE), k.to(DEVICE), v.to(DEVICE), **here)
    agrees(got, wanted, max(2 * torch.finfo(dtype).eps, 5e-6), dtype)


def test_learned_slopes_of_fused_alibi_get_their_gradients():
    def learned(device: str, dtype: torch.dtype) -> tuple[Tensor, ...]:
        torch.manual_seed(0)
        q, k, v = (of_heads(100).to(device, dtype).requires_grad_() for _ in range(3))
        slopes = torch.tensor([0.9, 0.3, 0.03, 0.003]).to(device, dtype).requires_grad_()
        weights = of_heads(100).to(device, dtype)
        loss = (p.alibi_attention(q, k, v, slopes) * weights).sum()
        return torch.autograd.grad(loss, [q, k, v, slopes])

    for got, wanted in zip(learned(DEVICE, torch.float32), learned("cpu", torch.float64), strict=True):
        scale = float(wanted.abs().max())
        agrees(got / scale, wanted / scale, 1e-4, torch.float32)


# ---- autocast


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_autocast_rounds_nothing_that_is_promised_in_float32(name, dtype):
    q, k = torch.randn(2, 1, 2, 6, 8, device=DEVICE).to(dtype)
    plain = FUNCTIONS[name](q, k)
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        cast = FUNCTIONS[name](q, k)
    torch.testing.assert_close(cast, plain, rtol=1e-6, atol=1e-6)


def test_autocast_leaves_alibi_and_rotations_exact():
    q, k, v = torch.randn(3, 1, HEADS, 600, HEAD_DIM, device=DEVICE)
    at = torch.arange(FAR, FAR + 600, device=DEVICE)
    plain = p.alibi_attention(q, k, v), p.apply_rotary(q, at), p.sinusoidal(at, 64)
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        cast = p.alibi_attention(q, k, v), p.apply_rotary(q, at), p.sinusoidal(at, 64)
    torch.testing.assert_close(cast, plain, rtol=1e-6, atol=1e-6)


# ---- wrong calls

X = torch.ones(2, HEADS, 6, HEAD_DIM)
BAD: dict[str, tuple[Callable[[Tensor], Any], type[Exception], str]] = {
    "booleans as positions": (
        lambda x: p.apply_rotary(x, torch.ones(6, dtype=torch.bool, device=DEVICE)),
        TypeError,
        "positions have dtype torch.bool",
    ),
    "too many positions": (
        lambda x: p.apply_rotary(x, torch.arange(7, device=DEVICE)),
        ValueError,
        "do not broadcast",
    ),
    "positions of NumPy": (lambda x: p.apply_rotary(x, np.arange(6)), TypeError, "convert them to x's"),
    "tables of NumPy": (lambda x: p.rotate(x, p.rotary_tables(6, 8)), TypeError, "make the tables from"),
    "tables that are too wide": (
        lambda x: p.rotate(x, p.rotary_tables(torch.arange(6, device=DEVICE), 16)),
        ValueError,
        "tables turn 16 columns",
    ),
    "integers as vectors": (lambda x: p.apply_rotary(x.long(), 6), TypeError, "dtype"),
    "an unknown layout": (lambda x: p.apply_rotary(x, 6, layout="halves"), ValueError, "layout"),  # type: ignore[arg-type]
    "real numbers for a table": (
        lambda x: p.learned(x[0, 0], torch.arange(6.0, device=DEVICE)),
        TypeError,
        "rows for whole positions only",
    ),
    "more queries than keys": (
        lambda x: p.alibi_attention(x, x[:, :, :3], x[:, :, :3]),
        ValueError,
        "6 queries, but only 3 keys",
    ),
    "two dtypes": (lambda x: p.alibi_attention(x, x, x.double()), TypeError, "dtypes differ"),
    "a mask of numbers": (
        lambda x: p.alibi_attention(x, x, x, mask=x[..., :6]),
        TypeError,
        "mask has dtype",
    ),
    "real numbers for buckets": (
        lambda x: p.t5_bias(torch.ones(32, 4, device=DEVICE), torch.arange(6.0, device=DEVICE), 6),
        TypeError,
        "whole numbers",
    ),
}
APART: dict[str, Callable[[Tensor], Any]] = {
    "positions": lambda x: p.apply_rotary(x, torch.arange(6)),
    "tables": lambda x: p.rotate(x, p.rotary_tables(torch.arange(6), 8)),
    "out": lambda x: p.rotate(x, p.rotary_tables(torch.arange(6).to(DEVICE), 8), out=X.clone()),
    "values": lambda x: p.alibi_attention(x, x, X),
    "slopes": lambda x: p.alibi_attention(x, x, x, torch.ones(4)),
    "mask": lambda x: p.attention(x, x, x, mask=torch.ones(6, 6, dtype=torch.bool)),
    "a table": lambda x: p.t5_bias(torch.ones(32, 4), torch.arange(6, device=DEVICE), 6),
    "positions of a module": lambda x: Rotary(8).rotate(x, x, torch.arange(6), torch.arange(6)),
    "vectors of a layer": lambda x: Attention(8, 2, device=DEVICE)(X[0]),
    "a mask of a layer": lambda x: Attention(8, 2, device=DEVICE)(x[0], mask=torch.ones(6, 6).bool()),
}


@pytest.mark.parametrize("name", BAD)
def test_wrong_calls_are_refused_in_the_same_words(name):
    call, error, words = BAD[name]
    with pytest.raises(error, match=words):
        call(X.to(DEVICE))


@on_a_gpu_alone
@pytest.mark.parametrize("name", APART)
def test_what_lies_on_two_devices_is_refused(name):
    with pytest.raises(ValueError, match=r"different devices: .*cuda"):
        APART[name](X.to(DEVICE))


# ---- what a GPU waits for, and what it records


@on_a_gpu_alone
@layouts
def test_a_rotation_by_tables_makes_nobody_wait(layout):
    x, tables = of_heads().to(DEVICE), p.rotary_tables(torch.arange(LENGTH, device=DEVICE), HEAD_DIM)
    encoding = Rotary(HEAD_DIM, layout=layout)
    encoding.rotate(x, x, LENGTH, LENGTH)  # keeps its tables
    torch.cuda.set_sync_debug_mode("error")
    try:
        p.rotate(x, tables, layout=layout)
        encoding.rotate(x, x, LENGTH, LENGTH)
    finally:
        torch.cuda.set_sync_debug_mode("default")


@on_a_gpu_alone
@layouts
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_captured_rotation_turns_what_comes_later(layout, dtype):
    x = of_heads(dtype=dtype).to(DEVICE)
    tables = p.rotary_tables(torch.arange(LENGTH, device=DEVICE), HEAD_DIM)
    turned, graph = captured(lambda: p.rotate(x, tables, layout=layout))
    for _ in range(2):
        x.copy_(of_heads(dtype=dtype))
        graph.replay()
        torch.testing.assert_close(turned, p.rotate(x, tables, layout=layout), rtol=0, atol=0)


@on_a_gpu_alone
@layouts
def test_tables_that_a_capture_used_first_are_right_outside_of_it(layout):
    """What is recorded is not yet computed: nothing of it may be kept for a call before the first replay."""
    x = of_heads().to(DEVICE)
    tables, others = (p.rotary_tables(torch.arange(LENGTH, device=DEVICE), HEAD_DIM) for _ in range(2))
    captured(lambda: p.rotate(x, tables, layout=layout), warm_up=lambda: p.rotate(x, others, layout=layout))
    wanted = p.rotate(x, others, layout=layout)
    torch.testing.assert_close(p.rotate(x, tables, layout=layout), wanted, rtol=0, atol=0)


def captured(
    act: Callable[[], Tensor], warm_up: Callable[[], Tensor] | None = None
) -> tuple[Tensor, torch.cuda.CUDAGraph]:
    """The result of a recorded call, and the record; beforehand it runs on a stream of its own."""
    beside = torch.cuda.Stream()
    beside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(beside):
        (warm_up or act)()
    torch.cuda.current_stream().wait_stream(beside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = act()
    return result, graph


# ---- compilers


@layouts
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_compile_makes_the_same_rotation(layout, dtype):
    x, at = of_heads(dtype=dtype).to(DEVICE), torch.arange(LENGTH, device=DEVICE)
    tables = p.rotary_tables(at, HEAD_DIM)

    def both(x: Tensor) -> tuple[Tensor, Tensor]:
        return p.rotate(x, tables, layout=layout), p.apply_rotary(x, at + FAR, layout=layout)

    got, wanted = torch.compile(both, fullgraph=True)(x), both(x)
    torch.testing.assert_close(got, wanted, rtol=torch.finfo(dtype).eps, atol=1e-6)


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "both ways"])
def test_compile_makes_the_same_alibi(causal):
    q, k, v = (of_heads(100).to(DEVICE) for _ in range(3))

    def attended(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return p.alibi_attention(q, k, v, causal=causal)

    got = torch.compile(attended, fullgraph=True)(q, k, v)
    torch.testing.assert_close(got, attended(q, k, v), rtol=1e-5, atol=1e-5)


@on_a_gpu_alone
def test_compile_makes_flex_attention_with_alibi():
    q, k, v = torch.randn(3, 1, HEADS, 256, 32, device=DEVICE)
    score_mod = p.alibi_score_mod(HEADS, 256, 256, causal=False, device=DEVICE)
    got = torch.compile(flex_attention)(q, k, v, score_mod=score_mod)
    wanted = p.alibi_attention(q, k, v, causal=False)
    torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-4)  # by default its products are TF32's


def test_compile_makes_a_model_of_each_kind():
    tokens = some_tokens().to(DEVICE)
    for name in ("rope", "t5", "cope"):  # no bias, a bias, and one that reads the mask
        model = model_with(name).to(DEVICE)
        with torch.no_grad():
            got = torch.compile(model, fullgraph=True, dynamic=False)(tokens)
            close(got, model(tokens))


def test_logits_of_a_vocabulary_come_from_the_device():
    """As people call it: a loss, a step, and the next loss is lower."""
    model, tokens = model_with("rope").to(DEVICE), some_tokens().to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(3):
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[2] < losses[0]
    assert model(tokens).shape == (*tokens.shape, VOCABULARY)


@on_a_gpu_alone
@pytest.mark.parametrize("name", ["none", "rope"])
@torch.no_grad()
def test_a_captured_model_reads_what_comes_later(name):
    """The last test, because a capture that fails may leave the device in no state for another."""
    model, tokens = model_with(name).to(DEVICE), some_tokens().to(DEVICE)
    logits, graph = captured(lambda: model(tokens))
    model(tokens.repeat(1, 9))  # whose larger tables take the place of those that the graph reads
    tokens.copy_(tokens.flip(1))
    graph.replay()
    close(logits, model(tokens))
