"""What several tests of `09-beyond-text` share."""

from __future__ import annotations

SEEDS = (0, 1, 2)
