"""How large should an encoding be beside the content? Steps until a model has learnt to use both.

Each sequence is 8 symbols in any order, and a question at its end: "where is this symbol?" or "what stands at
this place?". The first finds a token by its content and reads its place, the second the other way round. The
model looks both ways, so that no causal mask tells places: without the encoding neither can be answered.

It is trained until both are answered, or until the cap. Every learning rate is shown, none is chosen: what
holds at one of them alone is no finding.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from posenc_course.experiments import decoder, recipes
from posenc_course.experiments.recipes import level, optimizers
from posenc_course.experiments.training import Bench, thinned
from posenc_lib.nn import Block, Sinusoidal, Transformer

QUESTION = "How many steps does it take to learn, by the size of the encoding beside that of the content?"

LEAST = 0.99
GATE = "At least 99% of each of the two kinds of question answered right, on unseen sequences."

STORES_EACH = True
PARTS = (sys.modules[__name__], recipes, decoder)

LENGTH = 8
RATIOS = tuple(2.0**power for power in range(-6, 7, 2))
RATES = (0.01, 0.02)

ENOUGH = 0.995
"""Share of right answers at which a training ends. The gate, on other questions, asks for less."""
LOOK_EVERY = 25


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


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """A sweep over the ratio of root mean squares, encoding to content, at each learning rate."""
    return [
        {
            "ratio": ratio,
            "rate": rate,
            "seed": seed,
            "steps": steps or (60 if fast else 800),
            "rows": 64,
            "dim": 64,
            "layers": 1,
            "heads": 4,
        }
        for rate in (RATES[1:] if fast else RATES)
        for ratio in ((1.0, 2.0**6) if fast else RATIOS)
        for seed in range(seeds or (1 if fast else 5))
    ]


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train with the encoding at this size; the content starts at a root mean square of 1.

    Returns:
        steps: how many it took; solved: whether it was learnt in them;
        curve: `thinned`, of the loss, nats a question;
        where, what: share of right answers to the two kinds of question, of 1,000 each;
        by_position: share of the variance of the question's attention weights that the place of the key
            explains: 1 where attention no longer looks at the content;
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

    @torch.no_grad()
    def right(seed: int) -> Tensor:
        """Shares of "where" and of "what"."""
        logits, answer = answers(2000, torch.Generator().manual_seed(seed))
        return (logits.argmax(-1) == answer).double().view(-1, 2).mean(dim=0)

    trained_by = optimizers(model, run["rate"])
    losses = bench.descend(
        model,
        lambda generator: F.cross_entropy(*answers(run["rows"], generator)),
        run["steps"],
        trained_by,
        level(trained_by),
        seed=run["seed"],
        solved=lambda: bool((right(20_000 + run["seed"]) >= ENOUGH).all()),
        look_every=LOOK_EVERY,
    )
    last = model.blocks[-1]
    assert isinstance(last, Block)
    last.attention.record_weights = True
    where, what = right(10_000 + run["seed"]).tolist()
    with torch.no_grad():
        content = model.embedding(torch.arange(LENGTH, device=bench.device))
    assert last.attention.weights is not None
    return {
        "steps": len(losses),
        "solved": len(losses) < run["steps"] or bool((right(20_000 + run["seed"]) >= ENOUGH).all()),
        "curve": thinned(losses),
        "where": round(where, 4),
        "what": round(what, 4),
        "by_position": round(explained_by_place(last.attention.weights[:, :, -1].double()), 4),
        "content_at_the_end": round(float(content.square().mean().sqrt()), 4),
    }


def explained_by_place(weights: Tensor) -> float:
    """Variance of the mean over sequences, by variance of all; (rows, heads, keys)."""
    return (weights.mean(dim=0).var(correction=0) / weights.transpose(0, 1).var(correction=0)).item()


def shortfall(run: dict[str, Any], result: dict[str, Any]) -> str | None:
    """What a run lacks to be spoken of; None where it passes."""
    if min(result["where"], result["what"]) >= LEAST:
        return None
    return (
        f'{result["where"]:.1%} of "where" and {result["what"]:.1%} of "what" right after '
        f"{result['steps']:,} steps"
    )
