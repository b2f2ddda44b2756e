"""Heads that copy: what counts as followed before, and what removing a head removes."""

from __future__ import annotations

from typing import Any

import torch

from posenc_course.experiments import byte_model, byte_models, copying_heads
from posenc_course.experiments.copying_heads import ALIKE, followed_before, knocked_out, scores_of
from posenc_course.experiments.source_text import File

RUN: dict[str, Any] = byte_models.FAST


def test_what_followed_the_same_bytes_is_found():
    text = b"abcdX--abcdY+abcd"
    found = followed_before(torch.tensor([list(text)]))[0]
    pairs = {(query, key) for query, key in found.nonzero().tolist()}
    assert pairs == {(10, 4), (16, 4), (16, 11)}  # from each later "d": the X, and the Y
    assert ALIKE == 4


def test_no_place_sees_what_is_ahead():
    tokens = torch.randint(3, (5, 40), generator=torch.Generator().manual_seed(0))
    found = followed_before(tokens)
    assert found.any()
    assert not found.triu(1).any()
    for window, query, key in found.nonzero().tolist():
        before = tokens[window, key - ALIKE : key]
        assert (before == tokens[window, query - ALIKE + 1 : query + 1]).all()


def model_of(encoding="rope"):
    torch.manual_seed(0)
    model = byte_model.build(RUN | {"encoding": encoding})
    with torch.no_grad():
        for each in model.parameters():
            if not each.any():
                each.normal_(std=0.3)
    return model.eval()


def test_a_head_that_is_removed_gives_nothing_and_the_others_what_they_gave():
    model = model_of()
    attention: Any = model.layers[1].attention
    x = torch.randn(1, 9, RUN["dim"])
    without: Any = knocked_out(model, 1, 0).layers[1].attention
    kept: list[Any] = []
    for each in (attention, without):
        each.out_proj.register_forward_pre_hook(lambda _, given: kept.append(given[0]))
    with torch.no_grad():
        of_both = [each(x) for each in (attention, without)]
    of_second_head = kept[0].clone()
    of_second_head[..., : attention.head_dim] = 0
    assert torch.allclose(of_both[1], of_second_head @ attention.out_proj.weight.mT, atol=1e-6)
    assert not torch.allclose(*of_both)


def test_even_attention_scores_what_even_attention_scores():
    """Without an encoding, and with queries of zero, every head spreads evenly."""
    model = model_of("none")
    with torch.no_grad():
        for layer in model.layers:
            attention: Any = layer.attention
            attention.in_proj_weight.zero_()
    files = tuple(File(f"{n}.py", b"name = value\n" * 20) for n in range(3))
    scores, even = scores_of(model, files, RUN["length"])
    assert scores.shape == (4, 2)
    assert even > 0.02
    assert torch.allclose(torch.tensor(scores), torch.full((4, 2), even), atol=1e-5)
    heads: list[Any] = [layer.attention for layer in model.layers]
    assert not any(attention.record_weights for attention in heads)


def test_the_copying_head_is_the_one_with_the_highest_score():
    without = [
        {"layer": n, "head": m, "first": [1.0], "second": [n + m / 10]} for n in (0, 1) for m in (0, 1)
    ]
    result = {
        "scores": [[0.1, 0.2], [0.4, 0.3]],
        "first": [2.0, 1.0],
        "second": [1.0, 1.0],
        "without": without,
    }
    score, found = copying_heads.copying_head(result)
    assert (score, found["layer"], found["head"]) == (0.4, 1, 0)
    assert copying_heads.saved(result) == 0.5
