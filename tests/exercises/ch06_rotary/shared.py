"""What several tests of `06-rotary` share."""

from __future__ import annotations

from pathlib import Path

import mpmath

SOLUTIONS = Path(__file__).resolve().parents[3] / "solutions" / "06-rotary.md"


def exact_row(row, position, rotary_dim, base=10000):
    """One row turned with fifty digits."""
    with mpmath.workdps(50):
        out = [mpmath.mpf(x) for x in row]
        for j in range(rotary_dim // 2):
            angle = mpmath.mpf(position) / mpmath.power(base, mpmath.mpf(2 * j) / rotary_dim)
            turned = mpmath.mpc(out[2 * j], out[2 * j + 1]) * mpmath.expj(angle)
            out[2 * j], out[2 * j + 1] = turned.real, turned.imag
        return [float(x) for x in out]


def of_transformers(dim, base, factor, length):
    """YaRN's frequencies and factor, as the installed transformers computes them."""
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    config = LlamaConfig(
        hidden_size=dim,
        num_attention_heads=1,
        head_dim=dim,
        max_position_embeddings=round(length * factor),
        rope_parameters={
            "rope_type": "yarn",
            "rope_theta": base,
            "factor": factor,
            "original_max_position_embeddings": length,
        },
    )
    rates, louder = ROPE_INIT_FUNCTIONS["yarn"](config, "cpu")
    return rates.double().numpy(), louder
