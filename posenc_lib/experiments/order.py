"""Does order matter? A task about a bag and two about order, with and without positions, with and without a
causal mask; and a linear probe that tries to read the position out of the hidden states.

Each sequence has one A and one B, the rest C or D. Test sequences come with their mirror images, so that a
model that sees a bag answers the questions about order right exactly half of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from posenc_lib.experiments.training import Bench, thinned
from posenc_lib.nn import Transformer

QUESTION = "Which tasks need positions, and what does a causal mask tell of them?"

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


def runs(
    *, steps: int | None = None, seeds: int | None = None, fast: bool = False
) -> Iterator[dict[str, Any]]:
    """Every task, without and with positions, bidirectional and causal."""
    for task in ["bag", "order"] if fast else TASKS:
        for encoding in ["none"] if fast else ["none", "sinusoidal"]:
            for causal in (False, True):
                for seed in range(seeds or (1 if fast else 3)):
                    yield {
                        "task": task,
                        "encoding": encoding,
                        "causal": causal,
                        "seed": seed,
                        "steps": steps or (120 if fast else 250),
                        "rows": 64,
                        "dim": 32,
                        "layers": 2,
                        "heads": 4,
                        "length": LENGTH,
                    }


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train on yes and no, one score a sequence: the mean over its tokens.

    Returns:
        training: `thinned` curve of the loss, nats a sequence;
        accuracy: share of 1,000 unseen sequences, 500 and their mirror images;
        probe, probe_untrained: R2 of `position_read_out`, one a layer, the embeddings first; of the trained
            model and of the same model before training.
    """
    question = TASKS[run["task"]]
    model = Transformer(
        4, run["dim"], run["layers"], run["heads"], encoding=run["encoding"], causal=run["causal"]
    )
    model.to(bench.device)
    before = position_read_out(model, run["seed"])

    def score(letters: Tensor) -> Tensor:
        scores: Tensor = model(letters.to(bench.device))[..., 0].mean(dim=1)
        return scores

    def loss(generator: torch.Generator) -> Tensor:
        letters = sequences(run["rows"], generator)
        return F.binary_cross_entropy_with_logits(score(letters), question(letters).float().to(bench.device))

    losses = bench.train(model, loss, run["steps"], seed=run["seed"])
    forwards = sequences(500, torch.Generator().manual_seed(10_000 + run["seed"]))
    with torch.no_grad():
        # The mirror image of a bag is the same bag: its score differs by rounding alone.
        scores = torch.cat([score(forwards), score(forwards.flip(1))]).cpu()
    unseen = torch.cat([forwards, forwards.flip(1)])
    return {
        "training": thinned(losses),
        "accuracy": ((scores > 0) == question(unseen)).double().mean().item(),
        "probe": position_read_out(model, run["seed"]),
        "probe_untrained": before,
    }


def position_read_out(model: Transformer, seed: int, rows: int = 512) -> list[float]:
    """How well a linear probe reads the position of a token out of its hidden state.

    The sequences are coin flips of C and D: nothing but the place of a token tells its position.

    Returns:
        R2 on the half of the sequences that the probe was not fitted to; for the embeddings (with what door
        1 adds), then for the output of each layer. 1: exactly; 0: no better than the mean position.
    """
    coins = torch.randint(C, D + 1, (rows, LENGTH), generator=torch.Generator().manual_seed(20_000 + seed))
    positions = torch.arange(LENGTH, dtype=torch.float64).repeat(rows // 2)
    fitted, unseen = slice(0, rows // 2), slice(rows // 2, None)
    found = []
    for states in hidden_states(model, coins):
        with_constant = F.pad(states.double().cpu(), (0, 1), value=1.0)
        # Ridge, so light that it only steadies directions in which the states do not vary.
        inputs = with_constant[fitted].flatten(0, 1)
        square = inputs.T @ inputs + 1e-6 * len(inputs) * torch.eye(inputs.shape[1], dtype=torch.float64)
        weights = torch.linalg.solve(square, inputs.T @ positions)
        error = with_constant[unseen].flatten(0, 1) @ weights - positions
        found.append(1 - (error.square().mean() / positions.var(correction=0)).item())
    return found


def hidden_states(model: Transformer, tokens: Tensor) -> list[Tensor]:
    """What each block reads, and what the last one gives: (batch, length, dim) each, one more than layers."""
    states: list[Tensor] = []

    def keep(_: Any, inputs: tuple[Tensor, ...]) -> None:
        states.append(inputs[0])

    hooks = [part.register_forward_pre_hook(keep) for part in (*model.blocks, model.norm)]
    try:
        with torch.no_grad():
            model(tokens.to(next(model.parameters()).device))
    finally:
        for hook in hooks:
            hook.remove()
    return states
