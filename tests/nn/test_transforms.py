"""Every encoding where there are no values yet, or no whole parameters: "meta", fakes, shards, `vmap`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import distributed
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

from posenc_lib.nn import (
    ENCODINGS,
    Attention,
    EncoderLayer,
    PositionalEncoding,
    Sizes,
    Transformer,
    XPos,
    make_encoding,
)

pytestmark = [pytest.mark.peers, pytest.mark.slow]

LENGTH, DIM, HEADS = 16, 32, 4
SIZES = Sizes(dim=DIM, heads=HEADS, length=LENGTH)
EVERY = pytest.mark.parametrize("name", ENCODINGS)


def all_doors(encoding: PositionalEncoding) -> list[torch.Tensor]:
    """What comes through each door, for positions in every form."""
    x, q = torch.ones(2, LENGTH, DIM), torch.ones(2, HEADS, LENGTH, DIM // HEADS)
    row, came = torch.arange(LENGTH), []
    for positions in (LENGTH, row, row.expand(2, -1)):
        came += [encoding.add(x, positions), *encoding.rotate(q, q, positions, positions)]
        bias = encoding.bias(q, q, positions, positions)
        came += [] if bias is None else [bias]
    return came


def model_of(name: str) -> Transformer:
    return Transformer(11, DIM, 2, HEADS, encoding=name, length=LENGTH)


@EVERY
def test_on_meta_and_back(name: str) -> None:
    with torch.device("meta"):
        encoding, model = make_encoding(name, SIZES), model_of(name)
        assert all(each.is_meta for each in all_doors(encoding))
        assert model(torch.zeros(2, LENGTH, dtype=torch.long)).is_meta
    encoding.to_empty(device="cpu")
    for module in encoding.modules():
        if reset := getattr(module, "reset_parameters", None):
            reset()
    assert all(each.isfinite().all() for each in all_doors(encoding))
    assert all(each.is_meta for each in _on_meta(encoding))  # after tables were kept elsewhere


def _on_meta(encoding: PositionalEncoding) -> list[torch.Tensor]:
    with torch.device("meta"):
        return all_doors(encoding.to("meta"))


@EVERY
def test_among_fake_tensors(name: str) -> None:
    with FakeTensorMode():
        encoding, model = make_encoding(name, SIZES), model_of(name)
        assert all(isinstance(each, FakeTensor) for each in all_doors(encoding))
        model(torch.zeros(2, LENGTH, dtype=torch.long)).sum().backward()

    real = make_encoding(name, SIZES)
    with FakeTensorMode(allow_non_fake_inputs=True):
        all_doors(real)
    assert not any(isinstance(each, FakeTensor) for each in all_doors(real))  # none was kept


@pytest.mark.parametrize("module", [Attention(DIM, HEADS), EncoderLayer(DIM, HEADS, 64, encoding="rope")])
def test_attention_on_meta_and_among_fake_tensors(module: torch.nn.Module) -> None:
    assert module.to("meta")(torch.ones(2, LENGTH, DIM, device="meta")).is_meta
    with FakeTensorMode():
        again = type(module)(DIM, HEADS, *([64] if isinstance(module, EncoderLayer) else []))
        assert isinstance(again(torch.ones(2, LENGTH, DIM)), FakeTensor)


@pytest.fixture(scope="module")
def mesh() -> Iterator[DeviceMesh]:
    """One process that shards among itself."""
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)  # type: ignore[attr-defined]
    yield init_device_mesh("cpu", (1,))
    distributed.destroy_process_group()


@EVERY
def test_sharded_models_compute_and_learn_the_same(name: str, mesh: DeviceMesh) -> None:
    torch.manual_seed(0)
    model, tokens = model_of(name), torch.randint(11, (2, LENGTH))
    wanted = model(tokens)
    wanted.square().mean().backward()
    gradients = {key: parameter.grad for key, parameter in model.named_parameters()}
    model.zero_grad()

    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    got = model(tokens)
    torch.testing.assert_close(got, wanted)
    got.square().mean().backward()
    for key, parameter in model.named_parameters():
        assert isinstance(parameter.grad, DTensor)
        torch.testing.assert_close(parameter.grad.full_tensor(), gradients[key])


def test_compiled_xpos_refuses_what_its_dtype_cannot_hold() -> None:
    encoding, q = XPos(8), torch.ones(1, 2, 4, 8)
    turned = torch.compile(
        lambda at: encoding.rotate(q, q, at, at)[1], fullgraph=True, backend="eager", dynamic=True
    )
    torch.testing.assert_close(turned(torch.arange(4)), encoding.rotate(q, q, 4, 4)[1])
    with pytest.raises(RuntimeError, match=r"reach so far from center .*give a center near"):
        turned(torch.arange(4) + 200_000)


@EVERY
def test_models_side_by_side_under_vmap(name: str) -> None:
    """An ensemble: the same model with several sets of weights, in one call, with a gradient for each."""
    models = [Transformer(11, 32, 1, 4, encoding=name, length=9) for _ in range(2)]
    weights, buffers = torch.func.stack_module_state(models)
    tokens = torch.randint(11, (2, 9))

    def loss(own: dict[str, torch.Tensor], its: dict[str, torch.Tensor]) -> torch.Tensor:
        return torch.func.functional_call(models[0], (own, its), (tokens,)).square().mean()

    gradients = torch.func.vmap(torch.func.grad(loss))(weights, buffers)
    models[1](tokens).square().mean().backward()
    for key, parameter in models[1].named_parameters():
        if parameter.grad is not None:
            torch.testing.assert_close(gradients[key][1], parameter.grad, rtol=1e-3, atol=1e-5)
