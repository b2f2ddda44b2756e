"""Train a model; after a kill, go on where it was."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR
from tqdm import tqdm

SAVE_EVERY = 10.0
"""Seconds between two checkpoints."""

FALLING = 0.6
"""Share of the steps in which the rate of `level_then_down` falls."""


@dataclass(frozen=True)
class Bench:
    """Where a run is trained: the device, the place of its checkpoints, and whether a bar shows the steps.

    Trained models lie in the folder `models`, where all experiments find them; None keeps none.
    """

    device: torch.device
    folder: Path
    progress: bool = False
    models: Path | None = None

    def once(self, model: nn.Module, key: str, train: Callable[[], list[list[float]]]) -> list[list[float]]:
        """Train the model in place, or take the weights that are kept under this key; the loss's curve."""
        kept = None if self.models is None else self.models / f"{key}.pt"
        if kept is not None and kept.exists():
            state = torch.load(kept, map_location=self.device, weights_only=True)
            model.load_state_dict(state["model"])
            model.eval()
            found: list[list[float]] = state["curve"]
            return found
        curve = train()
        if kept is not None:
            _write({"model": model.state_dict(), "curve": curve}, kept)
        return curve

    def train(
        self,
        model: nn.Module,
        loss: Callable[[torch.Generator], Tensor],
        steps: int,
        *,
        name: str = "model",
        rate: float = 3e-3,
        seed: int = 0,
    ) -> list[float]:
        """Train the model in place: AdamW, warm-up over a tenth of the steps, then a cosine to a tenth.

        Args:
            model: on the device of this bench.
            loss: from a generator, on the CPU, for all that is random in a batch, to the batch's mean loss.
            steps: number of updates.
            name: tells the trainings of one run apart.
            rate: highest learning rate.
            seed: of the generator.

        Returns:
            The loss of every step. A run that was killed goes on from its last checkpoint, and ends where
            it would have ended.
        """
        warm = max(1, steps // 10)
        optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=0.01)
        schedule = torch.optim.lr_scheduler.SequentialLR(
            optimizer,
            [
                torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=1 / warm, total_iters=warm),
                torch.optim.lr_scheduler.CosineAnnealingLR(
                    optimizer, max(1, steps - warm), eta_min=rate / 10
                ),
            ],
            milestones=[warm],
        )
        return self.descend(model, loss, steps, [optimizer], [schedule], name=name, seed=seed)

    def descend(
        self,
        model: nn.Module,
        loss: Callable[[torch.Generator], Tensor],
        steps: int,
        optimizers: Sequence[torch.optim.Optimizer],
        schedules: Sequence[torch.optim.lr_scheduler.LRScheduler],
        *,
        name: str = "model",
        seed: int = 0,
        solved: Callable[[], bool] | None = None,
        look_every: int = 50,
    ) -> list[float]:
        """Train the model in place with these optimisers; arguments and outcome as in `train`.

        Args:
            schedules: one for each optimiser.
            solved: asked before the first step after each `look_every`: whether to end here. It must not
                depend on what was asked before, or a run that was killed would go on differently.
        """
        generator = torch.Generator().manual_seed(seed)
        parts: dict[str, Any] = {"model": model}
        for number, (optimizer, schedule) in enumerate(zip(optimizers, schedules, strict=True)):
            parts |= {f"optimizer {number}": optimizer, f"schedule {number}": schedule}
        checkpoint = self.folder / f"{name}.pt"
        losses = _resume(checkpoint, parts, generator, self.device)

        saved = time.monotonic()
        model.train()
        bar = tqdm(total=steps, initial=len(losses), desc=name, leave=False, disable=not self.progress)
        while len(losses) < steps:
            if solved and losses and len(losses) % look_every == 0 and solved():
                break
            for optimizer in optimizers:
                optimizer.zero_grad(set_to_none=True)
            value = loss(generator)
            value.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for optimizer, schedule in zip(optimizers, schedules, strict=True):
                optimizer.step()
                schedule.step()
            losses.append(value.item())
            bar.update()
            if time.monotonic() - saved > SAVE_EVERY or len(losses) == steps:
                _save(checkpoint, parts, generator, losses)
                saved = time.monotonic()
        bar.close()
        model.eval()
        return losses


def level_then_down(optimizers: Sequence[torch.optim.Optimizer], steps: int) -> list[LambdaLR]:
    """Schedules: the full rate for the first part of a training, then a straight line to zero."""
    return [
        LambdaLR(optimizer, lambda step: min(1.0, (1 - step / steps) / FALLING)) for optimizer in optimizers
    ]


def thinned(losses: list[float], points: int = 40) -> list[list[float]]:
    """The curve of a training in few points: [step, mean loss of the steps up to it since the last point]."""
    edges = sorted({len(losses) * k // points for k in range(points + 1)})
    return [[stop, round(sum(losses[start:stop]) / (stop - start), 5)] for start, stop in pairwise(edges)]


def _save(to: Path, parts: dict[str, Any], generator: torch.Generator, losses: list[float]) -> None:
    state = {key: part.state_dict() for key, part in parts.items()}
    _write(state | {"generator": generator.get_state(), "losses": losses}, to)


def _write(state: dict[str, Any], to: Path) -> None:
    """All of it or nothing."""
    to.parent.mkdir(parents=True, exist_ok=True)
    half_written = to.with_suffix(".part")
    torch.save(state, half_written)
    half_written.replace(to)


def _resume(
    checkpoint: Path, parts: dict[str, Any], generator: torch.Generator, device: torch.device
) -> list[float]:
    if not checkpoint.exists():
        return []
    state = torch.load(checkpoint, map_location=device, weights_only=True)
    for key, part in parts.items():
        part.load_state_dict(state[key])
    generator.set_state(state["generator"].cpu())
    losses: list[float] = state["losses"]
    return losses
