"""`07-alibi-and-biases.normed`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import torch


def with_the_larger_of_the_two(x, gain):
    """Instead of the sum."""
    return x / np.sqrt(np.maximum((x * x).mean(axis=-1, keepdims=True), 2.0**-23)) * gain


def as_in_torch(x, gain):
    return torch.nn.functional.rms_norm(torch.tensor(x), gain.shape, torch.tensor(gain), eps=1e-5).numpy()


NOT_KNOWN = (
    ("normed", with_the_larger_of_the_two, "In a row of tiny numbers"),
    (
        "normed",
        lambda x, gain: x / (np.sqrt((x * x).mean(-1)) + 1e-6)[..., None] * gain,
        "In a row of tiny numbers",
    ),
    ("normed", lambda x, gain: np.ones_like(x), None),
    ("normed", lambda x, gain: x * gain, "must be 1"),
)


WRITTEN_IN_ANOTHER_WAY = (("normed", as_in_torch, "another-small-number"),)
