"""Does order matter? Tasks about a bag and about order, with and without positions and a causal mask.

Each sequence has one A and one B, the rest C or D. Test sequences come with their mirror images, so that a
model that sees a bag answers the questions about order right exactly half of the time, however long it is
trained: that is no shortfall of the training, but what is to be shown. All others are trained until the task
is solved, or until the cap.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from posenc_course.experiments import decoder, recipes, untrained
from posenc_course.experiments.recipes import level, optimizers
from posenc_course.experiments.training import Bench, thinned
from posenc_course.experiments.untrained import hidden_states, probe
from posenc_lib.nn import Transformer

QUESTION = "Which tasks need positions, and what does a causal mask tell of them?"

LEAST = 0.99
GATE = (
    "At least 99% of unseen sequences right; or, of a model that sees a bag, exactly half on a task of order."
)

STORES_EACH = True
PARTS = (sys.modules[__name__], recipes, decoder, untrained)

ENOUGH = 0.995
"""Share of right answers at which a training ends. The gate, on other sequences, asks for less."""
LOOK_EVERY = 25


A, B, C, D = range(4)
LENGTH = 16


def sequences(rows: int, generator: torch.Generator) -> Tensor:
    """(rows, 16) letters: one A and one B at random places, the rest C or D."""
    letters = torch.randint(C, D + 1, (rows, LENGTH), generator=generator)
    places = torch.rand(rows, LENGTH, generator=generator).argsort(dim=1)[:, :2]
    return letters.scatter(1, places, torch.tensor([A, B]).expand(rows, 2))


def more_c_than_d(letters: Tensor) -> Tensor:
    """The bag task."""
    return (letters == C).sum(dim=1) > (letters == D).sum(dim=1)


def a_before_b(letters: Tensor) -> Tensor:
    """The order task: which of two comes first."""
    return (letters == A).int().argmax(dim=1) < (letters == B).int().argmax(dim=1)


def a_in_first_half(letters: Tensor) -> Tensor:
    """The place task: no other letter says where A stands, it takes counting."""
    return (letters == A).int().argmax(dim=1) < LENGTH // 2


TASKS: dict[str, Callable[[Tensor], Tensor]] = {
    "bag": more_c_than_d,
    "order": a_before_b,
    "place": a_in_first_half,
}


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """Every task, without and with positions, looking both ways and causal."""
    return [
        {
            "task": task,
            "encoding": encoding,
            "causal": causal,
            "seed": seed,
            "rate": 0.01,
            "steps": steps or (100 if fast else 600),
            "rows": 64,
            "dim": 32,
            "layers": 2,
            "heads": 4,
        }
        for task in (("order",) if fast else TASKS)
        for encoding in (("none",) if fast else ("none", "sinusoidal"))
        for causal in (False, True)
        for seed in range(seeds or (1 if fast else 5))
    ]


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train on yes and no, one score a sequence: the mean over its tokens.

    Returns:
        steps: how many it took; solved: whether it was learnt in them;
        curve: `thinned`, of the loss, nats a sequence;
        accuracy: share of 1,000 unseen sequences, 500 and their mirror images;
        probe, probe_untrained: R2 of a linear probe of the position on unseen sequences of Cs and Ds, for the
            embeddings and after every layer: of the trained model, and of the same model before training.
    """
    question = TASKS[run["task"]]
    model = Transformer(
        4, run["dim"], run["layers"], run["heads"], encoding=run["encoding"], causal=run["causal"]
    ).to(bench.device)

    def score(letters: Tensor) -> Tensor:
        scores: Tensor = model(letters.to(bench.device))[..., 0].mean(dim=1)
        return scores

    def loss(generator: torch.Generator) -> Tensor:
        letters = sequences(run["rows"], generator)
        return F.binary_cross_entropy_with_logits(score(letters), question(letters).float().to(bench.device))

    @torch.no_grad()
    def accuracy(seed: int) -> float:
        forwards = sequences(500, torch.Generator().manual_seed(seed + run["seed"]))
        unseen = torch.cat([forwards, forwards.flip(1)])
        # The mirror image of a bag is the same bag: its score differs by rounding alone.
        said = torch.cat([score(forwards), score(forwards.flip(1))]).cpu() > 0
        return float((said == question(unseen)).double().mean())

    def read_out() -> list[float]:
        coins = torch.randint(C, D + 1, (1024, LENGTH), generator=torch.Generator().manual_seed(run["seed"]))
        positions = torch.arange(LENGTH, dtype=torch.float64).expand(len(coins), -1)
        return [round(probe(each.double().cpu(), positions)[0], 5) for each in hidden_states(model, coins)]

    before = read_out()
    trained_by = optimizers(model, run["rate"])
    losses = bench.descend(
        model,
        loss,
        run["steps"],
        trained_by,
        level(trained_by),
        seed=run["seed"],
        solved=lambda: accuracy(20_000) >= ENOUGH,
        look_every=LOOK_EVERY,
    )
    return {
        "steps": len(losses),
        "solved": len(losses) < run["steps"] or accuracy(20_000) >= ENOUGH,
        "curve": thinned(losses),
        "accuracy": round(accuracy(10_000), 5),
        "probe": read_out(),
        "probe_untrained": before,
    }


def sees_a_bag(run: dict[str, Any]) -> bool:
    """Whether nothing tells the model of this run one order of the tokens from another."""
    return run["encoding"] == "none" and not run["causal"]


def shortfall(run: dict[str, Any], result: dict[str, Any]) -> str | None:
    """What a run lacks to be spoken of; None where it passes."""
    if result["accuracy"] >= LEAST or (
        sees_a_bag(run) and run["task"] != "bag" and result["accuracy"] == 0.5
    ):
        return None
    return f"{result['accuracy']:.1%} of the sequences right after {result['steps']:,} steps"
