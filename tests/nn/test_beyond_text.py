"""The modules for graphs, trees, times, sound, images and genomes do what their functions do."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
import torch
from torch import nn

from posenc_lib import added, biased, rotated
from posenc_lib.nn import (
    Calendar,
    ConvolutionPositions,
    Enformer,
    LaplacianEigenvectors,
    MixedRotary,
    RandomWalk,
    Time2Vec,
    Transformer,
    TransformerXL,
    TreePaths,
)
from tests.present import present

DIM = 32
RING = np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def zeros(length: int = 6, batch: int = 2) -> torch.Tensor:
    return torch.zeros(batch, length, DIM, dtype=torch.float64)


def mapped(layer: nn.Linear, described: np.ndarray) -> torch.Tensor:
    """(nodes, features) through a linear layer, for two rows of a batch."""
    row = layer.double()(torch.from_numpy(described))
    return row.expand(2, -1, -1)


@pytest.mark.parametrize(
    "given", [RING, torch.from_numpy(RING), RING.astype(int)], ids=["numpy", "torch", "int"]
)
def test_eigenvectors_of_a_graph(given):
    _, vectors = added.laplacian_eigenvectors(given, 4)  # a ring has many: those of this library
    vectors = np.asarray(vectors) * np.sqrt(6)
    fixed = LaplacianEigenvectors(given, DIM, count=4, signs="fixed").double()
    torch.testing.assert_close(fixed(zeros()), mapped(fixed.second, vectors))
    some = torch.tensor([[5, 0, 3], [1, 1, 2]])
    torch.testing.assert_close(fixed.add(zeros(3), some), mapped(fixed.second, vectors)[0][some])
    coordinates = torch.from_numpy(vectors).T[:, None].expand(-1, 2, -1)
    torch.testing.assert_close(fixed.add(zeros(), coordinates), fixed(zeros()))


def test_eigenvectors_are_normalized_as_they_are_asked_for():
    path = np.eye(6, k=1) + np.eye(6, k=-1)  # unlike on a ring, degrees differ
    _, vectors = added.laplacian_eigenvectors(path, 4, normalization="none")
    plain = LaplacianEigenvectors(path, DIM, count=4, signs="fixed", normalization="none").double()
    torch.testing.assert_close(plain(zeros()), mapped(plain.second, vectors * np.sqrt(6)))


def test_invariant_to_signs_and_sensitive_to_the_rest():
    encoding = LaplacianEigenvectors(None, DIM, count=4).double()
    coordinates = torch.randn(4, 2, 6, dtype=torch.float64)
    flipped = coordinates * torch.tensor([1, -1, -1, 1])[:, None, None]
    torch.testing.assert_close(encoding.add(zeros(), flipped), encoding.add(zeros(), coordinates))
    assert (encoding.add(zeros(), coordinates + 0.5) - encoding.add(zeros(), coordinates)).abs().max() > 1e-2
    fixed = LaplacianEigenvectors(None, DIM, count=4, signs="fixed").double()
    assert (fixed.add(zeros(), flipped) - fixed.add(zeros(), coordinates)).abs().max() > 1e-2


def test_random_signs_are_drawn_for_training_alone():
    encoding = LaplacianEigenvectors(RING, DIM, count=4, signs="random").double()
    with pytest.raises(RuntimeError, match=r"none have been drawn; call draw\(generator\)"):
        encoding(zeros())
    still = encoding.eval()(zeros())
    encoding.train()
    seen: list[torch.Tensor] = []
    for _ in range(12):
        encoding.draw(torch.Generator().manual_seed(len(seen)))
        seen.append(encoding(zeros()))
        torch.testing.assert_close(encoding(zeros()), seen[-1])  # until the next draw
    assert len({tuple(each[0].detach().flatten().tolist()) for each in seen}) > 4
    torch.testing.assert_close(encoding.eval()(zeros()), still)


def test_random_walks_and_trees():
    walk = RandomWalk(RING, DIM, steps=5).double()
    chances = added.return_probabilities(RING, 5)
    torch.testing.assert_close(walk(zeros()), mapped(walk.project, chances))
    with pytest.raises(ValueError, match=r"adjacency has 3 axes; give that of one graph"):
        RandomWalk(RING[None], DIM)

    parents = np.asarray([-1, 0, 1, 0, 3, 3])
    tree = TreePaths(parents, DIM, branching=2, depth=3).double()
    paths = added.tree_paths(parents, 2, 3)
    wanted = added.tree_features(torch.from_numpy(paths), torch.tanh(tree.decays), 2)
    torch.testing.assert_close(tree(zeros())[0, :, :30], wanted)
    assert not tree(zeros())[..., 30:].any()
    given = TreePaths(None, DIM, branching=2, depth=3).double()
    given.load_state_dict(tree.state_dict())
    coordinates = torch.from_numpy(paths).T[:, None].expand(-1, 2, -1)
    torch.testing.assert_close(given.add(zeros(), coordinates), tree(zeros()))
    with pytest.raises(ValueError, match="dim=4 is less than depth \\* branching = 6"):
        TreePaths(parents, 4, branching=2, depth=3)


@pytest.mark.parametrize(
    "encoding",
    [LaplacianEigenvectors(RING, DIM, count=4), RandomWalk(RING, DIM, steps=4)],
    ids=lambda e: type(e).__name__,
)
def test_what_describes_nodes_refuses_what_it_cannot_mean(encoding):
    with pytest.raises(ValueError, match="position 6 is outside the graph, whose nodes are 0 to 5"):
        encoding.add(zeros(7), 7)
    with pytest.raises(TypeError, match="numbers of nodes of the graph, so give integers"):
        encoding.add(zeros(), torch.rand(6))
    with pytest.raises(ValueError, match=r"by 3 numbers; give 4, as \(4, batch or 1, length\)"):
        encoding.add(zeros(), torch.rand(3, 1, 6))
    without = type(encoding)(None, DIM, **{"count" if "Lap" in type(encoding).__name__ else "steps": 4})
    with pytest.raises(ValueError, match=r"was made without a graph; give what describes each node"):
        without(zeros())


def test_times():
    hours = torch.tensor([[0, 5, 30, 24 * 400, 3, 1]])
    encoding = Calendar(DIM, circles=("day", "month", "year"), unit=3600).double()
    features = added.calendar_features(3600 * hours[0].numpy(), ("day", "month", "year"))
    torch.testing.assert_close(encoding.add(zeros(), hours), mapped(encoding.project, features))
    seconds = Calendar(DIM, circles=("week",)).double()
    now = 1_764_000_000 + torch.arange(6)
    torch.testing.assert_close(
        seconds.add(zeros(), now), mapped(seconds.project, added.calendar_features(now.numpy(), ("week",)))
    )
    minutes, today = Calendar(DIM, circles=("hour",), unit=60).double(), 29_400_000 + torch.arange(6)
    features = added.calendar_features(60 * today.numpy(), ("hour",))  # these seconds are no float32
    torch.testing.assert_close(minutes.add(zeros(), today), mapped(minutes.project, features))
    with pytest.raises(ValueError, match=r"cannot tell one second from the next; give integers, or float64"):
        seconds.add(zeros(), now.float())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_times_in_units_are_as_fine_as_seconds(dtype):
    days = Calendar(DIM, circles=("day",), unit=86400.0).double()
    for day in (20000.25, -20000.25):
        with pytest.raises(ValueError, match=r"units of 86400 seconds are in .* give integers, or float64"):
            days.add(zeros(1), torch.tensor([day]).to(dtype))
    # From 64 days on, float32 steps by 0.66 s: that is fine enough, up to the next power of two.
    torch.testing.assert_close(
        days.add(zeros(1), torch.tensor([127.0])), days.add(zeros(1), torch.tensor([0]))
    )
    late, early, five_seconds = (torch.tensor([at]).double() for at in (20000.25, 0.25, 2.0**-14))
    torch.testing.assert_close(days.add(zeros(1), late), days.add(zeros(1), early))
    torch.testing.assert_close(days.add(zeros(1), five_seconds.to(dtype)), days.add(zeros(1), five_seconds))


def test_time2vec():
    waves = Time2Vec(DIM, shortest=2.0, longest=500.0).double()
    with torch.no_grad():
        waves.phases.fill_(7.0)
    waves.reset_parameters()
    assert waves.phases[0] == 0
    assert waves.phases.max() < 2 * math.pi
    times = torch.rand(6, dtype=torch.float64) * 400
    wanted = added.time2vec(times, waves.rates, waves.phases)
    torch.testing.assert_close(waves.add(zeros(), times)[1], wanted)
    lengths = 2 * torch.pi / waves.rates[1:].detach()
    torch.testing.assert_close(lengths[[0, -1]], torch.tensor([2.0, 500.0]).double(), rtol=1e-5, atol=0)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("taps", [1, 2, 3, 4, 7])
def test_the_convolution(causal, taps):
    encoding = ConvolutionPositions(DIM, taps=taps, groups=4, causal=causal).double()
    nn.init.normal_(encoding.magnitude)
    nn.init.normal_(encoding.bias_of_columns)
    x = torch.randn(2, 3, 9, DIM, dtype=torch.float64)
    weight = added.convolution_weight(encoding.direction, encoding.magnitude)
    wanted = x + added.convolution_positions(x, weight, encoding.bias_of_columns, causal=causal)
    torch.testing.assert_close(encoding(x), wanted)
    torch.testing.assert_close(encoding(x[1, 2]), wanted[1, 2])
    changed = x.clone()
    changed[..., 5:, :] += 1.0
    assert encoding.looks_ahead is not torch.equal(encoding(changed)[..., :5, :], encoding(x)[..., :5, :])
    for empty in ((2, 0, DIM), (0, 9, DIM), (0, DIM)):
        assert encoding(torch.zeros(empty, dtype=torch.float64)).shape == empty
    with pytest.raises(ValueError, match="groups=5 do not divide dim=32"):
        ConvolutionPositions(DIM, groups=5)


def test_mixed_rotation_by_head_and_by_all():
    q, k = torch.randn(2, 2, 4, 6, 8, dtype=torch.float64)
    own = MixedRotary(8, (2, 3), heads=4).double()
    at = np.indices((2, 3)).reshape(2, -1)
    tables = rotated.mixed_tables(torch.from_numpy(at), own.rates, dtype=torch.float64)
    wanted = [rotated.rotate(each, tables) for each in (q, k)]
    for places in (6, torch.arange(6), torch.arange(6).expand(2, -1), torch.from_numpy(at)[:, None]):
        for got, each in zip(own.rotate(q, k, places, places), wanted, strict=True):
            torch.testing.assert_close(got, each)
    turned = own.rotate(q.transpose(1, 2), k.transpose(1, 2), 6, 6, seq_axis=-3)
    torch.testing.assert_close(turned[0].transpose(1, 2), wanted[0])
    with pytest.raises(ValueError, match="k has 2 heads, and heads=4 have rates of their own; give as many"):
        own.rotate(q, k[:, :2], 6, 6)
    shared = MixedRotary(8, (2, 3)).double()
    tables = rotated.mixed_tables(torch.from_numpy(at), shared.rates, dtype=torch.float64)
    torch.testing.assert_close(shared.rotate(q, k[:, :2], 6, 6)[1], rotated.rotate(k[:, :2], tables))
    with pytest.raises(ValueError, match="MixedRotary turns by 2 coordinates"):
        MixedRotary(8).rotate(q, k, 6, 6)


def test_layers_of_a_model_start_in_directions_of_their_own():
    model = Transformer(None, DIM, 2, 4, encoding="mixed", length=9)
    first, second = (encoding.get_parameter("rates").detach() for encoding in model.encodings)
    torch.testing.assert_close(first.norm(dim=-1), second.norm(dim=-1))
    assert (first - second).abs().max() > 1e-2


@pytest.mark.parametrize("causal", [False, True])
def test_enformer_is_transformer_xl_with_other_bases(causal):
    encoding = Enformer(DIM, 4, features=12, length=16, causal=causal).double()
    for parameter in encoding.parameters():
        nn.init.normal_(parameter)
    q, k = torch.randn(2, 2, 4, 6, 8, dtype=torch.float64)
    offsets = torch.arange(-5, 1 if causal else 6)
    features = biased.enformer_features(offsets, 12, length=16, dtype=torch.float64)
    relative_keys = encoding.to_key(features).unflatten(-1, (4, 8)).transpose(0, 1)
    wanted = biased.transformer_xl_bias(q, k, relative_keys, encoding.u, encoding.v)
    torch.testing.assert_close(encoding.bias(q, k, 6, 6), wanted)
    rows = torch.arange(6).expand(2, -1)
    torch.testing.assert_close(encoding.bias(q, k, rows, rows), wanted)
    assert isinstance(encoding, TransformerXL)


def test_a_padded_text_and_packed_texts_are_each_read_alone():
    """A convolution would see what stands beyond the end of a text."""
    model = Transformer(11, DIM, 1, 4, encoding="convolution", causal=False).eval()
    tokens = torch.randint(11, (1, 9))
    alone = model(tokens[:, 2:7])
    mask = torch.ones(1, 9, dtype=torch.bool)
    mask[:, 2:7] = False
    torch.testing.assert_close(model(tokens, padding_mask=mask)[:, 2:7], alone)
    packed = model(tokens, cu_seqlens=torch.tensor([0, 2, 7, 9]))
    torch.testing.assert_close(packed[:, 2:7], alone)


def test_what_is_written_into_the_nodes_counts_at_once():
    walk, x = RandomWalk(RING, DIM, steps=4), torch.zeros(1, len(RING), DIM)
    before = walk(x)
    present(walk.nodes)[:] = 0.5
    assert not torch.equal(walk(x), before)
    assert torch.equal(walk(x), copy.deepcopy(walk)(x))
