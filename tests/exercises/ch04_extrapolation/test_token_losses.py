"""`04-extrapolation.token_losses`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import torch


def cross_entropy_of_what_was_read(logits, tokens):
    weights = torch.from_numpy(logits).log_softmax(-1)
    return -weights[torch.arange(1, len(tokens)), torch.from_numpy(tokens)[1:]].numpy()


def from_weights(logits, tokens):
    """The weights are those of a softmax that nothing can break; only the logarithm comes too late."""
    weights = torch.from_numpy(logits).softmax(-1)
    return [-weights[t, token].log() for t, token in enumerate(tokens[1:])]


def safe_from_zero(least, clip):
    def losses(logits, tokens):
        p = np.exp(logits[:-1] - logits[:-1].max(axis=1, keepdims=True))
        p = (p / p.sum(axis=1, keepdims=True))[np.arange(len(tokens) - 1), tokens[1:]]
        return -np.log(np.maximum(p, least) if clip else p + least)

    return losses


NOT_KNOWN = (
    ("token_losses", lambda logits, tokens: np.full(len(tokens) - 1, 0.7), None),
    *(
        ("token_losses", safe_from_zero(least, clip), "Then no loss can be larger than a certain bound")
        for least in (1e-12, 1e-9, 1e-6)
        for clip in (False, True)
    ),
)


WRITTEN_IN_ANOTHER_WAY = (
    ("token_losses", cross_entropy_of_what_was_read, "reads-the-answer"),
    ("token_losses", from_weights, "log-of-a-weight"),
)
