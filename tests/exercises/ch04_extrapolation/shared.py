"""What several tests of `04-extrapolation` share."""

from __future__ import annotations

SEEDS = range(4)
