"""Tasks that ask for positions, learned short and tested up to eight times as long: which runs count."""

from __future__ import annotations

from typing import Any

from posenc_lib.experiments import decoder, position_task, results
from posenc_lib.experiments.position_task import SIZES, measure

__all__ = ["measure"]

QUESTION = "Which encodings let a model find a token by its place, at lengths that no training had?"

LEAST = 0.99
GATE = "At the trained sizes, at least 99% of the answers right from end to end."

STORES_EACH = HAS_FULL = True
SWEEP = "position-task-rates"
PARTS = (position_task, decoder)

ENCODINGS = ("rope", "none", "alibi", "t5", "sinusoidal", "learned")

SMALL = {
    "dim": 64,
    "layers": 3,
    "heads": 4,
    "base": 100.0,
    "rows": 32,
    "steps": 1500,
    "test_rows": 500,
}
FULL = SMALL | {"steps": 20_000, "test_rows": 2000}
FAST = SMALL | {"steps": 30, "test_rows": 40, "dim": 16}


def runs(
    *, steps: int | None = None, seeds: int | None = None, fast: bool = False, full: bool = False
) -> list[dict[str, Any]]:
    """The settings of every run."""
    size = FAST if fast else FULL if full else SMALL
    size = size | ({"steps": steps} if steps else {})
    rates = dict.fromkeys(ENCODINGS, 0.01) if fast else best_rates(full)
    return [
        {"task": task, "encoding": name, "seed": seed, "rate": rates.get(name), **size}
        for seed in range(seeds or (1 if fast else 5))
        for task in SIZES
        for name in (ENCODINGS[:1] if fast else ENCODINGS)
    ]


def best_rates(full: bool = False) -> dict[str, float]:
    """Of each encoding whose sweep is stored, the learning rate with which its tasks were solved soonest.

    A task that was not solved counts as twice the steps, less the share of tokens that it had right.
    """
    needed: dict[str, dict[float, float]] = {}
    for each in results.stored_so_far(SWEEP, full):
        run, found = each["run"], each["result"]
        share = found["steps"] / run["steps"] if found["solved"] else 2 - found["tokens"][0]
        rates = needed.setdefault(run["encoding"], {})
        rates[run["rate"]] = rates.get(run["rate"], 0.0) + share
    return {name: min(rates, key=lambda rate: rates[rate]) for name, rates in needed.items()}


def shortfall(run: dict[str, Any], result: dict[str, Any]) -> str | None:
    """What a run lacks to be spoken of; None where it passes."""
    if result["exact"][0] >= LEAST:
        return None
    return (
        f"{result['exact'][0]:.2%} of the answers right at the trained sizes, after {result['steps']:,} steps"
    )
