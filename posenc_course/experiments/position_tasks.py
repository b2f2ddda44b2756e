"""Tasks that ask for positions, learned short and tested up to eight times as long: which runs count."""

from __future__ import annotations

from typing import Any

from posenc_course.experiments import byte_models, decoder, position_task, results
from posenc_course.experiments.gates import Gate
from posenc_course.experiments.position_task import TASKS, measure

__all__ = ["measure"]

QUESTION = "Which encodings let a model find a token by its place, at lengths that no training had?"

LEAST = 0.99


def _shortfall(run: dict[str, Any], result: dict[str, Any]) -> str | None:
    if result["exact"][0] >= LEAST:
        return None
    return (
        f"{result['exact'][0]:.2%} of the answers right at the trained sizes, after {result['steps']:,} steps"
    )


GATE = Gate("At the trained sizes, at least 99% of the answers right from end to end.", _shortfall)

STORES_EACH = HAS_FULL = True
SWEEP = "position-task-rates"
PARTS = (position_task, decoder)

SMALL = {
    "dim": 64,
    "layers": 2,
    "heads": 4,
    "base": 100.0,
    "rows": 64,
    "steps": 2400,
    "test_rows": 500,
}
FULL = SMALL | {"layers": 4, "steps": 4000, "test_rows": 2000}
FAST = SMALL | {"dim": 16, "rows": 16, "steps": 20, "test_rows": 40}


def encodings(full: bool = False) -> tuple[str, ...]:
    """Those that run, the most important first."""
    return byte_models.ENCODINGS if full else ("rope", "none", "alibi", "sinusoidal")


def runs(
    *, steps: int | None = None, seeds: int | None = None, fast: bool = False, full: bool = False
) -> list[dict[str, Any]]:
    """The settings of every run."""
    size = FAST if fast else FULL if full else SMALL
    size = size | ({"steps": steps} if steps else {})
    rates = {"rope": 0.01} if fast else best_rates(full)
    return [
        {"task": task, "encoding": name, "seed": seed, "rate": rates.get(name), **size}
        for seed in range(seeds or (1 if fast else 5))
        for task in TASKS
        for name in (rates if fast else encodings(full))
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
