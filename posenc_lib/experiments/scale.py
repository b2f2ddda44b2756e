"""How large should an encoding be beside the content? Too small and it is drowned, too large and it drowns.

Each sequence is 8 symbols in any order, and a question at its end: "where is this symbol?" or "what stands at
this place?". The first finds a token by its content and reads its place, the second the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from posenc_lib.experiments.training import Bench, thinned
from posenc_lib.nn import Block, Sinusoidal, Transformer

QUESTION = "How does what a model learns depend on the size of the encoding beside that of the content?"

LENGTH = 8
RATIOS = tuple(2.0**power for power in range(-6, 7, 2))


def sequences(rows: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Questions (rows, 9) and answers (rows,). Even rows ask where, odd rows ask what.

    Tokens 0 to 7 are symbols, 8 to 15 the places 0 to 7.
    """
    symbols = torch.rand(rows, LENGTH, generator=generator).argsort(dim=1)
    places = torch.randint(LENGTH, (rows, 1), generator=generator)
    symbol, place = symbols.gather(1, places), LENGTH + places
    where = (torch.arange(rows) % 2 == 0)[:, None]
    asked, answer = torch.where(where, symbol, place), torch.where(where, place, symbol)
    return torch.cat([symbols, asked], dim=1), answer[:, 0]


def runs(
    *, steps: int | None = None, seeds: int | None = None, fast: bool = False
) -> Iterator[dict[str, Any]]:
    """A sweep over the ratio of root mean squares, encoding to content."""
    for ratio in [2.0**-6, 1.0, 2.0**6] if fast else RATIOS:
        for seed in range(seeds or (1 if fast else 3)):
            yield {
                "ratio": ratio,
                "seed": seed,
                "steps": steps or (250 if fast else 500),
                "rows": 64,
                "dim": 64,
                "layers": 1,
                "heads": 4,
            }


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train with the encoding at this size; the content starts at a root mean square of 1.

    Returns:
        training: `thinned` curve of the loss, nats a question;
        where, what: share of right answers to the two kinds of question, of 1,000 each;
        entropy: of the attention weights of the question's token, as a share of the highest, log(9);
        by_position: share of the variance of these weights that the place of the key explains: 1 where
            attention no longer looks at the content;
        content_at_the_end: root mean square of the trained embeddings of the symbols.
    """
    # A sine or cosine has a root mean square of 1/sqrt(2).
    encoding = Sinusoidal(run["dim"], scale=math.sqrt(2) * run["ratio"])
    model = Transformer(
        2 * LENGTH, run["dim"], run["layers"], run["heads"], encoding=encoding, causal=False
    ).to(bench.device)

    def answers(rows: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        asked, answer = (part.to(bench.device) for part in sequences(rows, generator))
        return model(asked)[:, -1], answer

    losses = bench.train(
        model,
        lambda generator: F.cross_entropy(*answers(run["rows"], generator)),
        run["steps"],
        seed=run["seed"],
    )
    last = model.blocks[-1]
    assert isinstance(last, Block)
    last.attention.record_weights = True
    with torch.no_grad():
        logits, answer = answers(2000, torch.Generator().manual_seed(10_000 + run["seed"]))
        right = (logits.argmax(-1) == answer).double()
        content = model.embedding(torch.arange(LENGTH, device=bench.device)).square().mean().sqrt()
    assert last.attention.weights is not None
    weights = last.attention.weights[:, :, -1].double()  # (rows, heads, keys)
    return {
        "training": thinned(losses),
        "where": right[0::2].mean().item(),
        "what": right[1::2].mean().item(),
        "entropy": (torch.special.entr(weights).sum(-1).mean() / math.log(LENGTH + 1)).item(),
        "by_position": explained_by_place(weights),
        "content_at_the_end": content.item(),
    }


def explained_by_place(weights: Tensor) -> float:
    """Variance of the mean over sequences, by variance of all; (rows, heads, keys)."""
    return (weights.mean(dim=0).var(correction=0) / weights.transpose(0, 1).var(correction=0)).item()
