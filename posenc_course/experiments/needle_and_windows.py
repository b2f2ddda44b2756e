"""Who finds the needle far beyond the trained length: the windows, or the layer without positions?

Models of which three layers of four have RoPE in a window, and the fourth none, find needles at every depth
up to eight times their length (`needle_beyond_counting`). They differ from plain RoPE in both respects. Here
are the two kinds that differ in one: RoPE in three layers without windows and none in the fourth, and RoPE in
all four with windows in three. Models of the same round, the same tuning and maps, five seeds.

Written before the first run. Shares found, all depths together, are compared by `uncertainty.compare` at 2, 4
and 8 times the length of training, each length by itself:

* *what the windows do*: with windows against without, once where the fourth layer has no positions, once
  where it has RoPE;
* *what the layer without positions does*: that layer against RoPE in it, once with windows, once without.

All four comparisons are told at all three lengths. That "both are needed" may be said of a length where the
windows with the layer without positions are above each of the other three; that "the windows do it", where
windows with RoPE in the fourth layer are above plain RoPE, and no difference is found between them and the
windows with the layer without positions; that "the layer does it" likewise. A kind of which fewer than two
seeds pass the gate gives no verdict. Plain RoPE was trained and tuned at half the rate of the other three
(its own search found it so): a comparison with it says so. What the four know at the length of training,
before the tuning, stands beside.

Written after three seeds and before the rest. Of each kind two of three had passed, so that 0.91 of all
needles came to ± 0.97, and no comparison to a verdict. With the same spread, three that pass would give
± 0.33. Where two of three pass, at least three of five do in four cases of five. So there are two more seeds
of each kind, no fewer and no more whatever they show, and the rules above hold for all that pass.
"""

from __future__ import annotations

from typing import Any

from posenc_course.experiments import byte_models_beyond_counting, needle
from posenc_course.experiments.needle_beyond_counting import GATE, PARTS, SWEEP, measure

__all__ = ["GATE", "PARTS", "SWEEP", "measure"]

SEEDS = 5
QUESTION = "Do the windows find the needle, or the layer without positions?"

STORES_EACH = True

MAPS = (
    ("rope-and-none", "plain"),
    ("rope-window-and-rope", "plain"),
)


def runs(*, steps: int | None = None, seeds: int | None = None, fast: bool = False) -> list[dict[str, Any]]:
    """The settings of every run, as in `needle_beyond_counting`."""
    maps = MAPS[:1] if fast else MAPS
    models = byte_models_beyond_counting.runs_of(
        [encoding for encoding, _ in maps], steps=steps, seeds=seeds or (None if fast else SEEDS), fast=fast
    )
    return needle.runs_from(models, maps, needle.FAST if fast else needle.SMALL)
