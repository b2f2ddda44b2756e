"""`08-long-context.llama3_rates`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc_course.exercises.ch08_long_context.llama3_rates import LLAMA3_RATES
from posenc_lib import frequencies


def test_llama3_is_what_transformers_computes():
    torch = pytest.importorskip("torch")
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    config = LlamaConfig(
        hidden_size=4096,
        num_attention_heads=32,
        max_position_embeddings=131_072,
        rope_parameters={
            "rope_type": "llama3",
            "rope_theta": 500_000.0,
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        },
    )
    shipped, _ = ROPE_INIT_FUNCTIONS["llama3"](config, torch.device("cpu"))
    ours = LLAMA3_RATES.reference(frequencies(128, base=500_000.0), 8.0, 8192, 1.0, 4.0)
    assert ours == pytest.approx(shipped.double().numpy(), rel=1e-5)


NOT_KNOWN = (
    ("llama3_rates", lambda rates, factor, length, low, high: rates, None),
    ("llama3_rates", lambda rates, factor, length, low, high: rates / math.sqrt(factor), None),
)


def _mixed_the_wrong_way_round(rates, factor, length, low, high):
    """In the three branches of the released code."""
    waves = 2 * math.pi / rates
    share = (length / waves - low) / (high - low)
    mixed = (1 - share) * rates + share * rates / factor
    return np.where(waves < length / high, rates, np.where(waves > length / low, rates / factor, mixed))


def _mixed_by_turns(rates, factor, length, low, high):
    turns = length * rates / math.tau
    share = np.clip((turns - low) / (high - low), 0, 1)
    share = np.where((turns > low) & (turns < high), 1 - share, share)
    return share * rates + (1 - share) * rates / factor


WRITTEN_IN_ANOTHER_WAY = (
    (
        "llama3_rates",
        lambda rates, factor, length, low, high: (
            rates * np.interp((length - 1) * rates / math.tau, [low, high], [1 / factor, 1])
        ),
        "largest-offset-for-length",
    ),
    ("llama3_rates", _mixed_the_wrong_way_round, "ramp-turned-round"),
    ("llama3_rates", _mixed_by_turns, "line-turned-round"),
)
