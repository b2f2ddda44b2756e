"""`04-extrapolation.token_losses`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import torch


def cross_entropy_of_what_was_read(logits, tokens):
    weights = torch.from_numpy(logits).log_softmax(-1)
    return -weights[torch.arange(1, len(tokens)), torch.from_numpy(tokens)[1:]].numpy()


NOT_KNOWN = (("token_losses", lambda logits, tokens: np.full(len(tokens) - 1, 0.7), None),)


WRITTEN_IN_ANOTHER_WAY = (("token_losses", cross_entropy_of_what_was_read, "reads-the-answer"),)
