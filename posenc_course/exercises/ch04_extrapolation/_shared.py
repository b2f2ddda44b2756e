"""What several exercises of `04-extrapolation` share."""

from __future__ import annotations

import numpy as np

from posenc_lib._arrays import Array

TABLE = "A learned table, and its end"


EARLY_TOKENS = "How a long window flatters a model"


LOSS = "Your decoder gets its loss"


BETTER_THAN_COUNTING = "Better than counting?"


Generator = np.random.Generator


def corners(rows: int, length: int) -> Array:
    """Where each position lies between the rows, the ends kept."""
    return np.arange(length) * ((rows - 1) / (length - 1))


def read_between(table: Array, places: Array) -> Array:
    below = np.clip(np.floor(places).astype(int), 0, len(table) - 2)
    share = (places - below)[:, None]
    return table[below] * (1 - share) + table[below + 1] * share


def _stretch(table: Array, length: int) -> Array:
    return read_between(table, corners(len(table), length))


def stretch_by_tents(table: Array, length: int) -> Array:
    places = np.linspace(0, len(table) - 1, length)
    weights = np.maximum(0, 1 - np.abs(places[:, None] - np.arange(len(table))))
    return np.asarray(weights @ table)


WAYS = ("clamp", "zero", "interpolate")


def token_losses_by_loop(logits: Array, tokens: Array) -> list[float]:
    losses = []
    for row, token in zip(logits[:-1], tokens[1:], strict=True):
        peak = row.max()
        losses.append(float(peak + np.log(sum(np.exp(each - peak) for each in row)) - row[token]))
    return losses
