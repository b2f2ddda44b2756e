"""Which learning rate suits each encoding on the tasks that ask for positions: two of them, one seed."""

from __future__ import annotations

from typing import Any

from posenc_course.experiments import decoder, position_task
from posenc_course.experiments.position_task import measure
from posenc_course.experiments.position_tasks import FAST, FULL, SMALL, encodings

__all__ = ["measure"]

QUESTION = "Which learning rate suits each encoding on tasks that ask for positions?"

STORES_EACH = HAS_FULL = True
PARTS = (position_task, decoder)

RATES = (0.01, 0.02, 0.04)
ON = ("copy", "recall")
STEPS = 1200
"""Of the usual form: half of what the tasks then have. The rate that is ahead by then is taken."""


def runs(
    *, steps: int | None = None, seeds: int | None = None, fast: bool = False, full: bool = False
) -> list[dict[str, Any]]:
    """The settings of every run."""
    size = FAST if fast else FULL if full else SMALL | {"steps": STEPS}
    size = size | ({"steps": steps} if steps else {})
    return [
        {"task": task, "encoding": name, "rate": rate, "seed": 1000 + seed, **size}
        for name in encodings(full)[: 1 if fast else None]
        for rate in RATES
        for task in ON
        for seed in range(seeds or 1)
    ]
