"""What an untrained causal model without an encoding knows of position, and by what.

Chi et al. 2023 (arXiv 2305.13571) have shown two things: position can be read from the states of a model that
was never trained; and the variance of what attention gives shrinks with the position, since it is a mean over
more and more tokens. What is ours:

* how much a probe reads, R2 on sequences that it was not fitted to, by length, depth, number of tokens there
  are and size of the first weights: a linear probe, and one that may also square each column of the states,
  as it takes to read a variance;
* the explanation, tested. What attention gives at one place differs from that at another in three ways: in
  its mean over sequences, in its variance, and in how much of the place's own token is in it, 1/n of n. In
  every layer some of the three are made the same everywhere: what is `left` tells how much it explains by
  itself. Where nothing is left, a probe has to find nothing. (With two tokens it does find something: the
  few states that there are have another shape at each place. So those are not taken apart.);
* controls: a model that looks both ways; a probe that is asked for shuffled positions; a probe with more
  features than samples, which fits anything and knows nothing.

Tokens are drawn at random, each as likely as any other: nothing but the place of a token tells its position.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from posenc_course.experiments.training import Bench
from posenc_lib.nn import Attention, Block, Transformer

QUESTION = "What does an untrained causal model know of position, and why?"

NOTHING = 0.02
GATE = (
    f"The same probe, asked for shuffled positions, finds nothing: R2 below {NOTHING} on unseen sequences. "
    "Nor does it where nothing is left that tells positions apart."
)

STORES_EACH = True
PARTS = (sys.modules[__name__],)

BASE = {
    "encoding": "none",
    "dim": 128,
    "heads": 4,
    "layers": 4,
    "length": 128,
    "scale": 1.0,
    "causal": True,
    "left": "all",
    "tokens": 16384,
}
"""`scale` multiplies the first weights of all layers; `left` is what tells places apart (`LEFT`); `tokens` is
how many the probe is fitted to."""

VOCABULARIES = (2, 16, 256, 4096)
IN_DEPTH = (16, 256)
"""Those with which all else is varied."""


def varied(fast: bool) -> list[dict[str, Any]]:
    """What is varied, one after the other; all else stays as in `BASE`."""
    ways: dict[str, tuple[Any, ...]] = {
        "length": (16, 32, 64, 256, 512),
        "layers": (1, 2, 8),
        "scale": (0.25, 0.5, 2.0, 4.0),
        "causal": (False,),
        "left": tuple(LEFT),
    }
    if fast:
        ways = {"causal": (False,), "left": ("variance", "nothing")}
    plain = [
        {"vocabulary": count, "varied": "vocabulary"} for count in (IN_DEPTH[:1] if fast else VOCABULARIES)
    ]
    return plain + [
        {"vocabulary": count, "varied": name, name: value}
        for name, values in ways.items()
        for value in values
        for count in (IN_DEPTH[:1] if fast else IN_DEPTH)
    ]


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """The settings of every run. Nothing is trained: steps make no difference."""
    base = BASE | ({"dim": 64, "layers": 2, "length": 16, "tokens": 8192} if fast else {})
    return [
        base | which | {"seed": seed} for which in varied(fast) for seed in range(seeds or (1 if fast else 5))
    ]


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """A new model reads random tokens; a probe reads its states.

    Returns:
        r2, fitted: of the linear probe on unseen sequences, and on those that it was fitted to; each for the
            embeddings and after every layer;
        squares: on unseen sequences, of a probe of the states and their squares;
        shuffled: on unseen sequences, of a probe that was fitted to shuffled positions;
        few: [r2, fitted] after the last layer, of a probe fitted to half as many tokens as it has features;
        places, variance: of what the first layer's attention gives, at these positions, over sequences, as a
            share of that at position 0.
    """
    model = Transformer(
        run["vocabulary"], run["dim"], run["layers"], run["heads"], encoding="none", causal=run["causal"]
    ).to(bench.device)
    with torch.no_grad():
        for parameter in model.blocks.parameters():
            if parameter.ndim > 1:
                parameter.mul_(run["scale"])
    generator = torch.Generator().manual_seed(10_000 + run["seed"])
    rows = max(32, run["tokens"] // run["length"])
    tokens = torch.randint(run["vocabulary"], (2 * rows, run["length"]), generator=generator)

    given: list[Tensor] = []
    attentions = [block.attention for block in model.blocks if isinstance(block, Block)]
    hooks = [attentions[0].register_forward_hook(lambda _, __, output: given.append(output))]
    if run["left"] != "all":
        hooks += [each.register_forward_hook(_only(run["left"], generator)) for each in attentions]
    try:
        states = [each.double().cpu() for each in hidden_states(model.eval(), tokens)]
    finally:
        for hook in hooks:
            hook.remove()
    positions = torch.arange(run["length"], dtype=torch.float64).expand(2 * rows, -1)
    shuffled = torch.stack([row[torch.randperm(len(row), generator=generator)] for row in positions])
    asked = [probe(each, positions) for each in states]
    few = torch.randperm(rows * run["length"], generator=generator)[: run["dim"] // 2]
    places = [0] + [2**k for k in range(run["length"].bit_length() - 1)]
    variance = given[0].double().var(dim=0).mean(dim=-1).cpu()
    return {
        "r2": [_rounded(unseen) for unseen, _ in asked],
        "fitted": [_rounded(fitted) for _, fitted in asked],
        "squares": [
            _rounded(probe(torch.cat([each, each.square()], dim=-1), positions)[0]) for each in states
        ],
        "shuffled": [_rounded(probe(each, shuffled)[0]) for each in states],
        "few": [_rounded(each) for each in probe(states[-1], positions, few)],
        "places": places,
        "variance": [_rounded(each) for each in variance[places] / variance[0]],
    }


def shortfall(run: dict[str, Any], result: dict[str, Any]) -> str | None:
    """What a run lacks to be spoken of; None where it passes."""
    worst = max(result["shuffled"])
    if worst >= NOTHING:
        return f"R2 of shuffled positions is {worst:.3f}"
    found = max(result["r2"] + result["squares"])
    if run["left"] == "nothing" and found >= NOTHING:
        return f"R2 is {found:.3f} where nothing is left that tells positions apart"
    return None


def probe(states: Tensor, positions: Tensor, only: Tensor | None = None) -> tuple[float, float]:
    """R2 of a linear map from states to positions: on the unseen half of the sequences, and on what it saw.

    Args:
        states: (sequences, length, dim), float64.
        positions: (sequences, length).
        only: numbers of the tokens of the first half to fit it to; all by default.

    Returns:
        1: exactly; 0: no better than the mean position; below: worse.
    """
    half = len(states) // 2
    inputs = F.pad(states, (0, 1), value=1.0)
    seen, known = inputs[:half].flatten(0, 1), positions[:half].flatten()
    if only is not None:
        seen, known = seen[only], known[only]
    # Ridge, so light that it only steadies directions in which the states do not vary.
    square = seen.T @ seen + 1e-6 * len(seen) * torch.eye(seen.shape[1], dtype=seen.dtype)
    weights = torch.linalg.solve(square, seen.T @ known)

    def r2(of: Tensor, wanted: Tensor) -> float:
        return 1 - float((of @ weights - wanted).square().mean() / wanted.var(correction=0))

    return r2(inputs[half:].flatten(0, 1), positions[half:].flatten()), r2(seen, known)


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


Change = Callable[[Tensor, torch.Generator], Tensor]
"""Of what attention gives, (sequences, length, dim): makes one thing the same at all positions."""


def same_mean(given: Tensor, generator: torch.Generator) -> Tensor:
    """Over sequences, each position has the mean of the first."""
    mean = given.mean(dim=0)
    return given - mean + mean[:1]


def same_variance(given: Tensor, generator: torch.Generator) -> Tensor:
    """Over sequences, each position varies as little around its mean as the last.

    Not as much as the first: that would make small differences between later positions large.
    """
    mean = given.mean(dim=0)
    spread = (given - mean).square().mean(dim=(0, 2), keepdim=True).sqrt()
    return mean + (given - mean) * (spread[:, -1:] / spread)


def foreign(given: Tensor, generator: torch.Generator) -> Tensor:
    """Each position gets what attention gave there in some other sequence: its own token is not in it."""
    order = torch.rand(given.shape[:2], generator=generator).argsort(dim=0).to(given.device)
    return given.gather(0, order[..., None].expand_as(given))


LEFT: dict[str, tuple[Change, ...]] = {
    "mean": (same_variance, foreign),
    "variance": (same_mean, foreign),
    "own token": (same_mean, same_variance),
    "all but variance": (same_variance,),
    "nothing": (same_mean, same_variance, foreign),
}
"""What still tells positions apart -> what is made the same."""


def _only(left: str, generator: torch.Generator) -> Callable[[Attention, Any, Tensor], Tensor]:
    def hook(_: Attention, __: Any, output: Tensor) -> Tensor:
        for change in LEFT[left]:
            output = change(output, generator)
        return output

    return hook


def _rounded(value: Any) -> float:
    return round(float(value), 5)
