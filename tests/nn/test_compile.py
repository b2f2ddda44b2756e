"""torch.compile without graph breaks, and torch.export, for every encoding.

Many encodings go into one graph: a graph costs more than what is in it. Where one of them fails, the message
shows the line in its code.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import posenc_lib
from posenc_lib import rotated
from posenc_lib.catalogue import catalogue
from posenc_lib.nn import ENCODINGS, EncoderLayer, Rotary, Sizes, Transformer, make_encoding
from tests.compilers import BACKENDS

LENGTH, DIM, HEADS = 16, 32, 4
SIZES = Sizes(dim=DIM, heads=HEADS, length=LENGTH)

EACH_KIND = ("rope", "t5", "cope")
"""No bias, a bias, and one that reads the mask: what models tell apart."""

WITH_AN_END = tuple(name for name in ENCODINGS if catalogue().named(name).ends)

pytestmark = [
    pytest.mark.peers,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Dynamo detected a call to a `functools.lru_cache`"),
]


@pytest.fixture(autouse=True)
def _fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


class AllDoors(nn.Module):
    """All doors of some encodings, for tracers: results in a list, for positions in both forms."""

    def __init__(self, *names: str, sizes: Sizes = SIZES) -> None:
        super().__init__()
        self.encodings = nn.ModuleList(make_encoding(name, sizes) for name in names)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.add_(0.1)  # CoPE starts at 0

    def forward(self, x: torch.Tensor, q: torch.Tensor, rows: torch.Tensor) -> list[torch.Tensor]:
        results: list[torch.Tensor] = []
        encoding: Any
        for encoding in self.encodings:
            for positions in (x.shape[1], rows):
                bias = encoding.bias(q, q, positions, positions)
                results += [encoding.add(x, positions), *encoding.rotate(q, q, positions, positions)]
                results += [] if bias is None else [bias]
        return results


def inputs(length: int = 6, dtype: torch.dtype = torch.float32):
    x, q = torch.randn(2, length, DIM, dtype=dtype), torch.randn(2, HEADS, length, DIM // HEADS, dtype=dtype)
    return x, q, torch.arange(length).expand(2, -1)


class Models(nn.Module):
    """Transformers, with padding and without."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.models = nn.ModuleList(
            Transformer(11, DIM, 1, HEADS, encoding=name, length=LENGTH).eval() for name in names
        )

    def forward(self, tokens: torch.Tensor, padding: torch.Tensor) -> list[torch.Tensor]:
        return [model(tokens, padding_mask=mask) for model in self.models for mask in (None, padding)]


def tokens_and_padding(length: int = LENGTH) -> tuple[torch.Tensor, torch.Tensor]:
    padding = torch.zeros(2, length, dtype=torch.bool)
    padding[1, :3] = True
    return torch.randint(11, (2, length)), padding


def assert_same(got, wanted, **tolerances) -> None:
    for one, other in zip(got, wanted, strict=True):
        torch.testing.assert_close(one, other, **tolerances)


def test_all_encodings_compile_in_one_piece_with_the_same_results_and_gradients():
    doors, (x, q, rows) = AllDoors(*ENCODINGS), inputs()
    leaves = [*doors.parameters(), x.requires_grad_(), q.requires_grad_()]
    got = torch.compile(doors, fullgraph=True, backend="aot_eager")(x, q, rows)
    wanted = doors(x, q, rows)
    assert_same(got, wanted)
    gradients = [
        torch.autograd.grad(sum(each.square().sum() for each in made), leaves) for made in (got, wanted)
    ]
    assert_same(*gradients, rtol=1e-3, atol=1e-4)


def test_all_encodings_compile_once_with_all_sizes_open():
    doors = AllDoors(*ENCODINGS)
    compiled = torch.compile(doors, fullgraph=True, backend="eager", dynamic=True)
    torch._dynamo.utils.counters.clear()
    for length in (6, 9, LENGTH):
        given = inputs(length)
        assert_same(compiled(*given), doors(*given))
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


@pytest.mark.parametrize(
    ("names", "lengths"),
    [(tuple(set(ENCODINGS) - set(WITH_AN_END)), (5, 40)), (WITH_AN_END, (5, LENGTH))],
    ids=["without an end", "with an end"],
)
def test_all_encodings_are_exported_once_for_every_length(names, lengths):
    doors = AllDoors(*sorted(names))
    length = torch.export.Dim("length", min=2, max=LENGTH if names == WITH_AN_END else 100_000)
    shapes = {"x": {1: length}, "q": {2: length}, "rows": {1: length}}
    exported = torch.export.export(doors, inputs(), dynamic_shapes=shapes).module()
    for count in lengths:
        given = inputs(count)
        assert_same(exported(*given), doors(*given), rtol=1e-4, atol=1e-5)


def test_models_are_exported_once_for_every_length():
    models = Models(*EACH_KIND)
    length = torch.export.Dim("length", min=2, max=100_000)
    shapes = {"tokens": {1: length}, "padding": {1: length}}
    exported = torch.export.export(models, tokens_and_padding(), dynamic_shapes=shapes).module()
    for count in (5, 40):
        given = tokens_and_padding(count)
        assert_same(exported(*given), models(*given), rtol=1e-4, atol=1e-5)


def test_compiled_angles_are_exact_at_a_million():
    doors, (x, q, rows) = AllDoors("sinusoidal", "rope"), inputs()
    rows = rows + 1_000_000

    def in_both(x, q):
        return doors(x, q, rows), doors(x.bfloat16(), q.bfloat16(), rows)

    x, q = x.bfloat16().float(), q.bfloat16().float()
    wide, narrow = torch.compile(in_both, fullgraph=True, backend="aot_eager")(x, q)
    exact = doors(x.double(), q.double(), rows)
    assert_same([each.double() for each in wide], exact, rtol=5e-7, atol=1e-6)
    step = 0.51 * torch.finfo(torch.bfloat16).eps
    assert_same([each.double() for each in narrow], exact, rtol=step, atol=1e-6)


def test_changed_settings_count_in_compiled_code_too():
    rope, (_, q, _) = Rotary(DIM // HEADS), inputs()
    compiled = torch.compile(lambda q: rope.rotate(q, q, 6, 6)[0], fullgraph=True, backend="eager")
    before = compiled(q)
    for change in (
        lambda: setattr(rope, "base", 500.0),
        lambda: setattr(rope, "layout", "half"),
        lambda: setattr(rope, "scaling", rotated.LinearScaling(4.0)),
        lambda: setattr(rope, "scaling", rotated.LinearScaling(2.0)),
        lambda: setattr(rope, "scaling", {"rope_type": "linear", "factor": 3.0}),
        lambda: rope.scaling.update(factor=5.0),
    ):
        change()
        after = compiled(q)
        torch.testing.assert_close(after, rope.rotate(q, q, 6, 6)[0])
        assert not torch.allclose(after, before)
        before = after


def test_the_encoder_layer_compiles():
    layer = EncoderLayer(DIM, HEADS, 32, batch_first=True, encoding="rope").eval()
    encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)  # type: ignore[arg-type]
    src, mask = torch.randn(2, LENGTH, DIM), torch.arange(LENGTH).expand(2, -1) < 3

    def with_and_without_padding():
        return [encoder(src), encoder(src, src_key_padding_mask=mask)]

    compiled = torch.compile(with_and_without_padding, fullgraph=True, backend="eager")
    assert_same(compiled(), with_and_without_padding())


def test_positions_too_far_apart_for_compiled_transformer_xl_are_refused():
    encoding, (_, q, rows) = make_encoding("transformer-xl", SIZES), inputs()
    compiled = torch.compile(lambda at: encoding.bias(q, q, at, at), fullgraph=True, backend="eager")
    compiled(rows)
    with pytest.raises(RuntimeError, match="further apart"):
        compiled(rows * 2)


@pytest.mark.parametrize("backend", BACKENDS)
def test_models_compile_in_one_piece_with_the_same_results(backend):
    models, given = Models(*EACH_KIND), tokens_and_padding()
    with torch.no_grad():
        got, wanted = torch.compile(models, fullgraph=True, backend=backend)(*given), models(*given)
    assert_same(got, wanted, rtol=1e-4, atol=1e-5)


def test_functions_compile_for_every_length() -> None:
    """And none of their checks breaks a graph."""
    table, wide = torch.randn(32, HEADS), torch.randn(6, DIM)
    q = torch.randn(1, HEADS, 17, 8)
    functions = {
        "t5": lambda x: posenc_lib.t5_bias(table, x.shape[-2], x.shape[-2]),
        "cope": lambda x: posenc_lib.cope_bias(x, x, wide[:, :8]),
        "clamped": lambda x: posenc_lib.hybrid(wide, torch.arange(x.shape[-2]), beyond="clamp"),
        "hybrid": lambda x: posenc_lib.hybrid(wide, torch.arange(x.shape[-2]), beyond="zero"),
        "deberta": lambda x: posenc_lib.biased.deberta_buckets(torch.arange(x.shape[-2])),
        "fox": lambda x: posenc_lib.fox_bias(x[..., 0]),
    }
    for name, function in functions.items():
        compiled = torch.compile(function, backend="eager", fullgraph=True, dynamic=True)
        for length in (5, 9, 17):
            x = q[..., :length, :]
            torch.testing.assert_close(compiled(x), function(x), msg=name)
