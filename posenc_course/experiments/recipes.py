"""How the small Transformers of the experiments are trained that are no language models."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from posenc_course.experiments.decoder import ADAM, Muon
from posenc_lib.nn import Attention

WARM = 50
"""Steps in which the rate rises."""


def optimizers(model: nn.Module, rate: float) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of attention and of the networks, Adam for all the rest."""
    attentions = [part for part in model.modules() if isinstance(part, Attention)]
    networks = [part for part in model.modules() if isinstance(part, nn.Sequential)]
    stacked = [part.in_proj_weight for part in attentions]
    plain = [part.out_proj.weight for part in attentions]
    plain += [each for network in networks for each in network.parameters() if each.ndim > 1]
    matrices = {id(each) for each in (*stacked, *plain)}
    rest = [each for each in model.parameters() if id(each) not in matrices]
    return [
        Muon([{"params": stacked, "parts": 3}, {"params": plain, "parts": 1}], rate=rate),
        torch.optim.Adam(rest, lr=rate * ADAM, betas=(0.9, 0.95)),
    ]


def level(optimizers: Sequence[torch.optim.Optimizer]) -> list[LambdaLR]:
    """Schedules: a short rise, then one rate for ever: steps to solve do not hang on when a training ends."""
    return [LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / WARM)) for optimizer in optimizers]
