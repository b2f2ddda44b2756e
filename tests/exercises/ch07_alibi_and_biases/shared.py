"""What several tests of `07-alibi-and-biases` share."""

from __future__ import annotations

SEEDS = range(3)
