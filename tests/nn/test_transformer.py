"""The small Transformer, with every encoding by name."""

from __future__ import annotations

import copy
import io
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from posenc_lib import rotated
from posenc_lib.catalogue import catalogue
from posenc_lib.nn import (
    ENCODINGS,
    AxialRotary,
    Block,
    Cache,
    FourierFeatures,
    Learned,
    MultimodalRotary,
    NoPE,
    Rotary,
    Shaw,
    Transformer,
)
from tests.present import present

FACTS = {entry.name: entry for entry in catalogue()}
VOCABULARY, DIM, LAYERS, HEADS, LENGTH = 11, 32, 2, 4, 16


def model_with(name, *, seed: int = 0, causal: bool = True, **options) -> Transformer:
    torch.manual_seed(seed)
    options = {"length": 64, **options}
    model = Transformer(VOCABULARY, DIM, LAYERS, HEADS, encoding=name, causal=causal, **options)
    with torch.no_grad():
        for parameter in model.encodings.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))  # so that what starts at 0 counts as well
    return model.eval()


def some_tokens(batch: int = 2, length: int = LENGTH) -> torch.Tensor:
    return torch.randint(VOCABULARY, (batch, length), generator=torch.Generator().manual_seed(5))


def with_padding(tokens: torch.Tensor, left: list[int], right: list[int]):
    """Each row between so many padding tokens; the rows must come out equally long."""
    rows, masks = [], []
    for row, before, after in zip(tokens, left, right, strict=True):
        rows.append(F.pad(row, (before, after), value=3))
        masks.append(F.pad(torch.zeros(len(row), dtype=torch.bool), (before, after), value=True))
    return torch.stack(rows), torch.stack(masks)


def close(got: torch.Tensor, wanted: torch.Tensor) -> None:
    torch.testing.assert_close(got, wanted, rtol=1e-4, atol=2e-5)


names = pytest.mark.parametrize("name", ENCODINGS)
WITH_CACHE = [name for name in ENCODINGS if name != "convolution"]
"""All but what looks at the tokens beside each one."""
bidirectional = pytest.mark.parametrize("name", [name for name in ENCODINGS if not FACTS[name].causal_only])


@pytest.mark.slow
@names
def test_it_learns_to_copy(name):
    """In the second half stands what stood in the first; the loss falls, and gradients are finite."""
    torch.manual_seed(0)
    model = Transformer(VOCABULARY, DIM, LAYERS, HEADS, encoding=name, length=LENGTH)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    half = torch.randint(VOCABULARY, (16, LENGTH // 2))
    tokens = torch.cat([half, half], dim=1)
    losses = []
    for _ in range(30):
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits[:, LENGTH // 2 - 1 :].flatten(0, 1), half.flatten())
        optimizer.zero_grad()
        loss.backward()
        for key, parameter in model.named_parameters():
            assert parameter.grad is not None, key
            assert torch.isfinite(parameter.grad).all(), key
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.6 * losses[0]
    idle = {key for key, parameter in model.encodings.named_parameters() if not present(parameter.grad).any()}
    # The softmax does not see one number for all keys; the queries of this loss are past FIRE's threshold.
    # PoPE's angles wait at the end of their range, where they begin.
    allowed = {"fire": {"second.bias", "stretch"}, "pope": {"delta"}}.get(name, set())
    assert {key.partition(".")[2] for key in idle} <= allowed


@names
def test_no_look_ahead(name):
    model, tokens = model_with(name), some_tokens()
    changed = tokens.clone()
    changed[:, 9:] = (changed[:, 9:] + 1) % VOCABULARY
    before, after = model(tokens), model(changed)
    close(after[:, :9], before[:, :9])
    assert (after[:, 9:] - before[:, 9:]).abs().amax(dim=(0, 2)).min() > 1e-3


@bidirectional
def test_both_directions_when_not_causal(name):
    model, tokens = model_with(name, causal=False), some_tokens()
    changed = tokens.clone()
    changed[:, -1] = (changed[:, -1] + 1) % VOCABULARY
    assert (model(changed) - model(tokens)).abs().amax(dim=(0, 2)).min() > 1e-4


@bidirectional
def test_without_an_encoding_tokens_are_a_bag_and_with_one_they_are_not(name):
    model, tokens = model_with(name, causal=False), some_tokens()
    order = torch.randperm(LENGTH, generator=torch.Generator().manual_seed(1))
    difference = (model(tokens[:, order]) - model(tokens)[:, order]).abs().max()
    assert difference < 1e-5 if name == "none" else difference > 1e-2


@names
@pytest.mark.parametrize("causal", [True, False])
def test_padding_changes_nothing(name, causal):
    if FACTS[name].causal_only and not causal:
        pytest.skip("for causal attention alone")
    model, tokens = model_with(name, causal=causal), some_tokens(3)
    alone = model(tokens)
    for left, right in (([4, 4, 4], [0, 0, 0]), ([0, 2, 4], [4, 2, 0]), ([0, 0, 0], [4, 4, 4])):
        padded, mask = with_padding(tokens, left, right)
        assert padded.shape == (3, LENGTH + 4)
        close(model(padded, padding_mask=mask)[~mask].view(3, LENGTH, -1), alone)
        other = padded.masked_fill(mask, 7)  # whatever stands there
        close(model(other, padding_mask=mask)[~mask].view(3, LENGTH, -1), alone)


def test_padding_that_is_not_masked_does_change_it():
    model, tokens = model_with("rope"), some_tokens(1)
    padded, _ = with_padding(tokens, [4], [0])
    assert (model(padded)[:, 4:] - model(tokens)).abs().max() > 0.1


@names
def test_a_row_of_padding_alone_is_finite_and_harms_no_other(name):
    model, tokens = model_with(name), some_tokens(2)
    mask = torch.zeros(2, LENGTH, dtype=torch.bool)
    mask[1] = True
    model.train()
    logits = model(tokens, padding_mask=mask)
    logits[0].sum().backward()
    assert torch.isfinite(logits).all()
    assert all(torch.isfinite(present(parameter.grad)).all() for parameter in model.parameters())
    close(logits[:1], model(tokens[:1]))
    block: Any
    for block in model.blocks:
        block.attention.record_weights = True
    model(tokens, padding_mask=mask)
    for block in model.blocks:  # padding looks at itself: a softmax over nothing is NaN on some devices
        torch.testing.assert_close(block.attention.weights.sum(-1), torch.ones(2, HEADS, LENGTH))


@pytest.mark.parametrize("name", WITH_CACHE)
@pytest.mark.parametrize("chunks", [(1,) * LENGTH, (7, 1, 1, 7), (LENGTH,), (1, LENGTH - 1)], ids=str)
def test_step_by_step_with_a_cache_as_in_one_go(name, chunks):
    model, tokens, cache = model_with(name), some_tokens(), Cache()
    steps = [model(chunk, cache=cache) for chunk in tokens.split(chunks, dim=1)]
    close(torch.cat(steps, dim=1), model(tokens))
    assert cache.length == LENGTH
    assert cache.counts() == LENGTH


@pytest.mark.parametrize("name", WITH_CACHE)
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_cache_after_padded_prompts(name, side):
    """Prompts of 3, 5 and 6 tokens in one batch, then five tokens more for each."""
    model, tokens, lengths = model_with(name), some_tokens(3), [3, 5, 6]
    prompts = [row[:length] for row, length in zip(tokens, lengths, strict=True)]
    missing = [6 - length for length in lengths]
    left, right = (missing, [0] * 3) if side == "left" else ([0] * 3, missing)
    padded = [with_padding(p[None], [a], [b]) for p, a, b in zip(prompts, left, right, strict=True)]
    cache = Cache()
    first = model(
        torch.cat([one for one, _ in padded]),
        padding_mask=torch.cat([mask for _, mask in padded]),
        cache=cache,
    )
    following = torch.stack([row[length : length + 5] for row, length in zip(tokens, lengths, strict=True)])
    later = [model(step, cache=cache) for step in following.split([1, 1, 3], dim=1)]
    counts = cache.counts()
    assert isinstance(counts, torch.Tensor)
    assert counts.flatten().tolist() == [8, 10, 11]
    for i, length in enumerate(lengths):
        whole = model(tokens[i : i + 1, : length + 5])[0]
        close(torch.cat([step[i] for step in later]), whole[length:])
        close(first[i, left[i] : left[i] + length], whole[:length])


def test_what_looks_at_neighbours_refuses_a_cache_which_does_not_keep_them():
    with pytest.raises(ValueError, match="reads the neighbours of each token, which a cache does not keep"):
        model_with("convolution")(some_tokens(), cache=Cache())


def test_padding_in_the_middle_of_decoding():
    """A row that has ended is padded on while the others go on."""
    model, tokens, cache = model_with("cope"), some_tokens(2), Cache()
    model(tokens[:, :5], cache=cache)
    model(tokens[:, 5:6], padding_mask=torch.tensor([[False], [True]]), cache=cache)
    last = model(tokens[:, 6:7], cache=cache)
    close(last[:1, 0], model(tokens[:1, :7])[:, -1])
    close(last[1:, 0], model(torch.cat([tokens[1:, :5], tokens[1:, 6:7]], dim=1))[:, -1])


@given(shift=st.integers(-40, 1000))
@settings(max_examples=5, derandomize=True)
@pytest.mark.parametrize("name", [name for name in ENCODINGS if FACTS[name].relative])
def test_relative_encodings_see_no_common_shift(name, shift):
    model, tokens = model_with(name), some_tokens(1)
    at = torch.arange(LENGTH)
    torch.testing.assert_close(model(tokens, positions=at + shift), model(tokens), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", [name for name in ENCODINGS if not FACTS[name].relative])
def test_the_others_do(name):
    length = 128 if name in ("self-extend", "dual-chunk") else LENGTH  # within their window they are RoPE
    model, tokens = model_with(name), some_tokens(1, length)
    at = torch.arange(length)
    shift = 1000 if name == "fire" else 7  # below its threshold FIRE is relative as well
    assert (model(tokens, positions=at + shift) - model(tokens, positions=at)).abs().max() > 1e-2


def test_axial_rotation_sees_no_common_shift_of_coordinates():
    torch.manual_seed(0)
    model = Transformer(
        None, DIM, LAYERS, HEADS, encoding=AxialRotary(DIM // HEADS, axes=3, sections=(1, 1, 2))
    )
    x, points = torch.randn(2, 5, DIM), torch.randint(9, (3, 2, 5))
    moved = points + torch.tensor([100, -7, 30])[:, None, None]
    close(model(x, positions=moved), model(x, positions=points))
    assert (
        model(x, positions=points + torch.randint(2, (3, 2, 5))) - model(x, positions=points)
    ).abs().max() > 1e-3


def test_coordinates_and_times_reach_the_encoding():
    torch.manual_seed(0)
    x = torch.randn(2, 5, DIM)
    for encoding, positions in (
        (FourierFeatures(DIM, axes=2, scale=1.0), torch.rand(2, 2, 5)),
        (FourierFeatures(DIM, scale=1.0), torch.rand(2, 5)),
        (MultimodalRotary(8, (2, 1, 1)), torch.randint(9, (3, 1, 5))),
        (Rotary(8), torch.rand(5) * 10),
    ):
        model = Transformer(None, DIM, LAYERS, HEADS, encoding=encoding).eval()
        assert model(x, positions=positions).shape == (2, 5, DIM)
        difference = model(x, positions=positions * 2) - model(x, positions=positions)
        assert difference.abs().max() > 1e-3


def test_given_positions_with_a_cache():
    model, tokens, cache = model_with("rope"), some_tokens(), Cache()
    at = torch.arange(LENGTH) * 2 + 100
    steps = [model(tokens[:, i : i + 4], positions=at[i : i + 4], cache=cache) for i in range(0, LENGTH, 4)]
    close(torch.cat(steps, dim=1), model(tokens, positions=at))


@names
def test_state_dict_round_trip(name):
    model, other, tokens = model_with(name), model_with(name, seed=1), some_tokens()
    before = model(tokens)
    assert set(model.state_dict()) == {key for key, _ in model.named_parameters()}
    assert not torch.allclose(other(tokens), before)  # kept tables of another model's settings stay its own
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(other(tokens), before)
    assert torch.equal(copy.deepcopy(model)(tokens), before)


@names
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64], ids=str)
def test_dtype_moves(name, dtype):
    model, tokens = model_with(name), some_tokens()
    padded, mask = with_padding(tokens, [2, 1], [0, 1])
    before = model(tokens)
    moved = copy.deepcopy(model).to(dtype)
    with torch.no_grad():
        got, got_padded = moved(tokens), moved(padded, padding_mask=mask)
    assert got.dtype == dtype
    tolerance = 1e-4 if dtype == torch.float64 else 60 * torch.finfo(dtype).eps
    torch.testing.assert_close(got.double(), before.double(), rtol=tolerance, atol=tolerance)
    real = got_padded[~mask].view_as(before).double()
    torch.testing.assert_close(real, before.double(), rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(moved.float()(tokens), before, rtol=tolerance, atol=tolerance)


@names
def test_layers_share_the_encoding_unless_its_source_says_otherwise(name):
    model = model_with(name)
    assert len(model.encodings) == (LAYERS if model.encoding.per_layer else 1)


def test_an_encoding_of_your_own_serves_all_layers():
    shared = Shaw(DIM // HEADS)
    model = Transformer(VOCABULARY, DIM, LAYERS, HEADS, encoding=shared)
    assert list(model.encodings) == [shared]
    assert model.encoding is shared


def test_settings_may_change_after_training():
    model, tokens = model_with("rope"), some_tokens()
    before = model(tokens)
    assert isinstance(model.encoding, Rotary)
    model.encoding.scaling = rotated.LinearScaling(2.0)
    close(model(tokens), model_with(Rotary(8, scaling=rotated.LinearScaling(2.0)))(tokens))
    assert (model(tokens) - before).abs().max() > 1e-3
    half = torch.arange(LENGTH) / 2
    model.encoding.scaling = None
    close(model(tokens, positions=half), model_with(Rotary(8, scaling=rotated.LinearScaling(2.0)))(tokens))


def test_a_learned_table_is_refused_stretched_or_clamped_past_its_end():
    tokens = some_tokens(1, 40)
    with pytest.raises(ValueError, match="past the last"):
        model_with("learned", length=32)(tokens)
    for beyond in ("clamp", "zero", "interpolate"):
        encoding = Learned(32, DIM, beyond=beyond, stretch_to=40 if beyond == "interpolate" else None)
        assert torch.isfinite(model_with(encoding)(tokens)).all()


def test_as_a_stack_between_your_own_input_and_output():
    torch.manual_seed(0)
    model = Transformer(None, DIM, LAYERS, HEADS, causal=False)
    assert not any("embedding" in key or "head" in key for key in model.state_dict())
    assert model(torch.randn(2, 5, DIM)).shape == (2, 5, DIM)


def test_int32_tokens_are_tokens():
    model, tokens = model_with("rope"), some_tokens()
    assert torch.equal(model(tokens.int()), model(tokens))


def test_a_causal_model_without_encoding_still_tells_order():
    model, tokens = model_with("none"), some_tokens(1)
    swapped = tokens.clone()
    swapped[:, [2, 4]] = tokens[:, [4, 2]]
    assert tokens[0, 2] != tokens[0, 4]
    # One layer sees a bag of what came before, two layers see bags of bags.
    assert (model(swapped)[:, -1] - model(tokens)[:, -1]).abs().max() > 1e-4
    one_layer = Transformer(VOCABULARY, DIM, 1, HEADS, encoding=NoPE()).eval()
    close(one_layer(swapped)[:, -1], one_layer(tokens)[:, -1])


@torch.no_grad()
def test_a_cache_keeps_positions_and_padding_as_they_were_given():
    model, tokens = Transformer(50, 32, 2, 4, encoding="alibi").eval(), torch.randint(50, (2, 4))
    cache, at, steps = Cache(), torch.tensor([0]), []
    for step in range(4):
        steps.append(model(tokens[:, step : step + 1], positions=at, cache=cache))
        at += 1  # the caller's own tensor
    torch.testing.assert_close(torch.cat(steps, dim=1), model(tokens), atol=1e-5, rtol=1e-5)
    padding = torch.tensor([[True, False, False, False], [False] * 4])
    one, other = Cache(), Cache()
    model(tokens, padding_mask=padding.clone(), cache=one)
    model(tokens, padding_mask=padding, cache=other)
    padding.zero_()
    after = [model(tokens[:, :1], cache=each) for each in (one, other)]
    torch.testing.assert_close(*after)


def test_positions_that_were_refused_are_not_those_of_the_cache():
    model, tokens, cache = Transformer(50, 32, 2, 4), torch.zeros(1, 4, dtype=torch.long), Cache()
    with pytest.raises(ValueError, match="positions"):
        model(tokens, positions=torch.arange(3), cache=cache)
    model(tokens, cache=cache)


def test_dropout_of_a_block_follows_its_attention_and_its_network():
    block, seen = Block(8, 2, dropout=0.5), list[None]()
    block.dropout.register_forward_hook(lambda *_: seen.append(None))
    block(torch.randn(1, 3, 8), range(3), NoPE())
    assert len(seen) == 2


@pytest.mark.parametrize("name", ["data-dependent-alibi", "fox", "path"])
def test_padding_of_a_later_turn_does_not_count(name):
    """A chat of two rows: the second turn of one of them is shorter, and padded on the left."""
    torch.manual_seed(0)
    model = Transformer(50, 32, 2, 4, encoding=name).double().eval()
    for parameter in model.encodings.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    first, second = torch.randint(50, (2, 4)), torch.randint(50, (2, 3))
    cache, padding = Cache(), torch.zeros(2, 3, dtype=torch.bool)
    padding[1, 0] = True
    with torch.no_grad():
        model(first, cache=cache)
        logits = model(second, cache=cache, padding_mask=padding)[1, 1:]
        alone = model(torch.cat([first[1], second[1, 1:]])[None])[0, 4:]
    torch.testing.assert_close(logits, alone)


@pytest.mark.parametrize("name", ["rope", "axial", "xpos", "self-extend", "dual-chunk"])
def test_a_batch_of_no_rows_trains(name):
    model = Transformer(50, 32, 2, 4, encoding=name, length=16)
    model(torch.zeros(0, 16, dtype=torch.long)).sum().backward()
