"""`08-long-context.kept_positions`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.checking import report_on
from posenc_course.exercises.ch08_long_context.kept_positions import KEPT_POSITIONS
from posenc_course.exercises.ch08_long_context.largest_offsets import LARGEST_OFFSETS
from posenc_lib import layers_from_config
from posenc_lib.biased import self_extend_distances
from tests.present import present


def test_a_stream_keeps_its_size_and_its_sinks():
    for tokens in range(1, 40):
        kept = KEPT_POSITIONS.reference(tokens, 4, 9)
        assert len(kept) == min(tokens, 13)
        assert kept[-1] == tokens - 1
        assert (kept[:4] == np.arange(min(tokens, 4))).all()


def test_the_five_largest_offsets_are_those_of_the_maps():
    a, b, c, d, e = LARGEST_OFFSETS.reference()
    mapped = self_extend_distances(np.array([19_999]), np.array([0]), group=16, window=1024)
    assert mapped.item() == d
    assert a == 131_072 - 1
    layers = layers_from_config({"model_type": "llama4_text", "num_hidden_layers": 48})
    assert c == max(present(layer.window) for layer in layers if layer.rope) - 1
    last = 20_000 - 1
    assert d == last // 16 + 1024 - 1024 // 16
    assert e == len(KEPT_POSITIONS.reference(131_072, 4, 2044)) - 1
    assert b == 4096 - 1


NOT_KNOWN = (
    ("kept_positions", lambda tokens, sinks, window: np.arange(min(tokens, sinks)), None),
    (
        "kept_positions",
        lambda tokens, sinks, window: np.concatenate([np.arange(sinks), np.arange(tokens - window, tokens)]),
        "No position is negative",
    ),
    (
        "kept_positions",
        lambda tokens, sinks, window: [
            *range(max(tokens - window, sinks), tokens),
            *range(min(sinks, tokens)),
        ],
        "Each position comes once, in rising order",
    ),
)


WRITTEN_IN_ANOTHER_WAY = (
    (
        "kept_positions",
        lambda tokens, sinks, window: [*range(max(0, tokens - window), tokens)],
        "no-sinks",
    ),
)


def test_a_slice_must_not_count_from_the_end():
    def by_slices(tokens, sinks, window):
        return np.asarray(sorted({*range(tokens)[:sinks], *range(tokens)[tokens - window :]}))

    assert not report_on(KEPT_POSITIONS.id, by_slices).passed
