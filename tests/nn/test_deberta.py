"""The module of DeBERTa's attention does what its function does, and refuses what does not fit."""

from __future__ import annotations

import pytest
import torch

from posenc_lib.nn import DeBERTa
from tests.present import present

HEADS, HEAD_DIM, LENGTH = 4, 8, 12


def by_head(x: torch.Tensor) -> torch.Tensor:
    return x.view(-1, HEADS, HEAD_DIM).transpose(0, 1)


@pytest.mark.parametrize("terms", [("c2p", "p2c"), ("c2p",), ("p2c",)], ids=str)
def test_with_the_score_it_is_the_papers_sum(terms):
    torch.manual_seed(0)
    encoding = DeBERTa(HEADS * HEAD_DIM, HEADS, buckets=4, max_distance=8, terms=terms)
    for parameter in encoding.parameters():
        torch.nn.init.normal_(parameter)
    q, k = torch.randn(2, 2, HEADS, LENGTH, HEAD_DIM)
    scores = q @ k.mT / HEAD_DIM**0.5 + encoding.bias(q, k, LENGTH, LENGTH)
    i, j = torch.arange(LENGTH)[:, None], torch.arange(LENGTH)
    ahead = i - j  # 0, 1 and 2 have a bucket each; those to 7 share the next, and all beyond another
    row = torch.where(ahead.abs() <= 2, ahead, torch.where(ahead.abs() < 8, 3, 4) * ahead.sign())
    row = (row + 4).clamp(0, 7)
    wanted = q @ k.mT
    if "c2p" in terms:
        wanted = wanted + torch.einsum(
            "bhid,hijd->bhij", q, by_head(present(encoding.to_key)(encoding.table))[:, row]
        )
    if "p2c" in terms:
        queries = by_head(present(encoding.to_query)(encoding.table))[:, row]
        wanted = wanted + torch.einsum("bhjd,hijd->bhij", k, queries)
    torch.testing.assert_close(scores, wanted / ((1 + len(terms)) * HEAD_DIM) ** 0.5)
    assert sorted(dict(encoding.named_children())) == sorted(
        {"c2p": "to_key", "p2c": "to_query"}[term] for term in terms
    )


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: DeBERTa(8, 3), ValueError, "dim=8 is not divisible by heads=3"),
        (lambda: DeBERTa(8, 2, buckets=7), ValueError, "buckets=7"),
        (lambda: DeBERTa(8, 2, max_distance=8), ValueError, "max_distance=8 is too small"),
        (lambda: DeBERTa(8, 2, terms=("p2p",)), ValueError, "'c2p'"),
        (lambda: DeBERTa(8, 2, terms=()), ValueError, "terms="),
        (lambda: DeBERTa(8, 2, terms="c2p"), ValueError, "terms='c2p'"),  # type: ignore[arg-type]
        (lambda: DeBERTa(8, 2, terms=("c2p", "c2p")), ValueError, "terms="),
        (
            lambda: DeBERTa(32, 4).bias(*torch.zeros(2, 1, 4, 3, 8), torch.arange(3.0), 3),  # type: ignore[arg-type, call-arg]
            TypeError,
            "distances must be whole numbers",
        ),
    ],
)
def test_bad_calls_raise_and_say_why(call, error, words):
    with pytest.raises(error, match=words):
        call()
