"""What several tests of `01-why-order-matters` share."""

from __future__ import annotations

SEEDS = range(3)
