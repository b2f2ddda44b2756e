"""What several tests of `08-long-context` share."""

from __future__ import annotations

SEEDS = (0, 1, 2)
