"""Functions of PyTorch arrays, exported and compiled once for every length."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

import posenc_lib as p

HEADS, WIDTH = 4, 8
TABLES = p.rotary_tables(torch.arange(200), WIDTH)
FIRE = (torch.ones(8, 1), torch.ones(8), torch.ones(HEADS, 8), torch.ones(HEADS))

pytestmark = [pytest.mark.peers, pytest.mark.slow]

Function = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]

FUNCTIONS: dict[str, Function] = {
    "attention": lambda q, k, v, mask: p.attention(q, k, v),
    "attention, causal": lambda q, k, v, mask: p.attention(q, k, v, mask=mask, causal=True),
    "attention, biased": lambda q, k, v, mask: p.attention(
        q, k, v, bias=p.alibi_bias(HEADS, q.shape[2], k.shape[2], slopes=torch.ones(HEADS))
    ),
    "cope_bias": lambda q, k, v, mask: p.cope_bias(q, k, torch.ones(5, WIDTH), mask=mask),
    "alibi_attention": lambda q, k, v, mask: p.alibi_attention(q, k, v),
    "alibi_attention, both sides": lambda q, k, v, mask: p.alibi_attention(q, k, v, causal=False),
    "alibi_attention, masked": lambda q, k, v, mask: p.alibi_attention(q, k, v, mask=mask),
    "transformer_xl_bias": lambda q, k, v, mask: p.transformer_xl_bias(
        q, k, k[0], torch.ones(HEADS, WIDTH), torch.ones(HEADS, WIDTH)
    ),
    "relative_shift": lambda q, k, v, mask: p.relative_shift(q @ k.mT, k.shape[2]),
    "shaw_bias": lambda q, k, v, mask: p.shaw_bias(q, torch.ones(9, WIDTH), q.shape[2], k.shape[2]),
    "t5_bias": lambda q, k, v, mask: p.t5_bias(torch.ones(32, HEADS), q.shape[2], k.shape[2]),
    "kerple_bias": lambda q, k, v, mask: p.kerple_bias(
        torch.ones(HEADS), torch.ones(HEADS), q.shape[2], k.shape[2]
    ),
    "fire_bias": lambda q, k, v, mask: p.fire_bias(FIRE, q.shape[2], k.shape[2], c=0.1, threshold=3.0),
    "apply_rotary": lambda q, k, v, mask: p.apply_rotary(k, k.shape[2]),
    "rotate": lambda q, k, v, mask: p.rotate(k, TABLES[: k.shape[2]]),
    "sinusoidal": lambda q, k, v, mask: k + p.sinusoidal(torch.arange(k.shape[2]), WIDTH),
    "learned": lambda q, k, v, mask: k + p.learned(torch.ones(200, WIDTH), k.shape[2]),
}


COMPILED = ("attention, causal", "cope_bias", "alibi_attention", "alibi_attention, both sides", "rotate")


class Every(nn.Module):
    """All of them, or some, for one tracing."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.names = names or tuple(FUNCTIONS)

    def forward(self, *given: torch.Tensor) -> list[torch.Tensor]:
        return [FUNCTIONS[name](*given) for name in self.names]


def inputs(batch: int, queries: int, keys: int) -> tuple[torch.Tensor, ...]:
    q, k, v = (torch.randn(batch, HEADS, length, WIDTH) for length in (queries, keys, keys))
    return q, k, v, torch.rand(batch, 1, 1, keys) > 0.3


def assert_alike(
    every: Every, traced: Callable[..., list[torch.Tensor]], given: tuple[torch.Tensor, ...]
) -> None:
    for name, got, wanted in zip(every.names, traced(*given), every(*given), strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-5, msg=lambda text, n=name: f"{n}: {text}")


@pytest.mark.parametrize("as_many", [True, False], ids=["a query for each key", "fewer queries"])
def test_exported_once_for_every_batch_and_length(as_many: bool) -> None:
    batch, keys = torch.export.Dim("batch", min=2, max=64), torch.export.Dim("keys", min=2, max=190)
    queries = keys if as_many else torch.export.Dim("queries", min=2, max=190)
    shapes = [{0: batch, 2: queries}, {0: batch, 2: keys}, {0: batch, 2: keys}, {0: batch, 3: keys}]
    given = inputs(2, 7 if as_many else 3, 7)
    every = Every()
    program = torch.export.export(every, given, dynamic_shapes={"given": tuple(shapes)}).module()
    for size, length in ((2, 2), (3, 40), (5, 129)):
        assert_alike(every, program, inputs(size, length if as_many else 2, length))


@pytest.mark.filterwarnings("ignore:Dynamo detected a call to a `functools.lru_cache`")
def test_compiled_once_more_for_all_other_lengths() -> None:
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    every = Every(*COMPILED)
    compiled = torch.compile(every, fullgraph=True, backend="eager")
    for length in (6, 9, 17, 150):
        assert_alike(every, compiled, inputs(2, length, length))
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 2
