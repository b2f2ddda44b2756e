"""Trained byte models that are read beyond the length of their training, as they are and differently.

Where a model is read differently, no weight changes, and nothing changes within the length of training: what
becomes better or worse is owed to what was changed beyond it. See `causes.py`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from posenc_course.experiments import ablations, byte_model, source_text
from posenc_course.experiments.ablations import turning
from posenc_course.experiments.byte_model import cut, losses_of, rounded
from posenc_course.experiments.decoder import Decoder
from posenc_course.experiments.training import Bench
from posenc_course.experiments.wrapped import Around, LogLength, with_encodings
from posenc_lib import apply_rotary, frequencies, sinusoidal
from posenc_lib.nn import ALiBi, PositionalEncoding, Rotary, Sinusoidal, TransformerXL
from posenc_lib.nn.positions import Positions, as_tensor, read_places

TIMES = 4
"""How many times the length of training is read."""
STRETCHES = 16
"""Into so many parts of equal length the losses of the long windows are put, by position."""

AS_IT_IS = "as it is"
READ = "read differently"
"""The change of a run that trains nothing: a byte model is read in several ways."""


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train the changed model of a run, and read it as it is; or read a byte model in several ways.

    Returns:
        trained: as `byte_model.at_the_trained_length`, of the model as it is;
        curve: of the training's loss;
        length: the longer one;
        short: of each file the loss in windows of the length of training;
        read: the name of the reading -> for each file the loss in a window of the longer length, over the
            same bytes, in `STRETCHES` parts by position.
    """
    text = source_text.require(run["text"])
    if run["change"] == READ:
        model, curve = byte_model.trained(run, bench)
        ways = readings(run["encoding"], run)
    else:
        model, curve = byte_model.trained(run, bench, make=ablations.build, settings=ablations.SETTINGS)
        ways = {AS_IT_IS: lambda model: model}
    trained, longest = run["length"], run["longest"]
    long = TIMES * trained
    # The files of `byte_model.beyond`, and of each passage the beginning.
    places = source_text.windows(text.held_out, trained + longest + 1, most=1)[: run["windows"]]
    passages = cut(text.held_out, places, long + 1).to(bench.device)

    def losses(model: Decoder, length: int) -> Tensor:
        """(files, bytes)"""
        windows = passages.unfold(1, length + 1, length).flatten(0, 1)
        # Few at once: some readings keep whole tables of scores.
        return losses_of(model, windows, at_once=2 * long).view(len(passages), -1)

    def by_position(found: Tensor) -> list[list[float]]:
        return [rounded(row) for row in found.view(len(passages), STRETCHES, -1).mean(dim=2).tolist()]

    return {
        "trained": byte_model.at_the_trained_length(model, text.held_out, run),
        "curve": curve,
        "length": long,
        "short": rounded(losses(model, trained).mean(dim=1).tolist()),
        "read": {name: by_position(losses(change(model), long)) for name, change in ways.items()},
    }


Reading = Callable[[Decoder], Decoder]
"""From a trained model to one of the same weights that reads long texts differently."""


def readings(encoding: str, run: dict[str, Any]) -> dict[str, Reading]:
    """The ways in which a model of that encoding is read, by name."""
    last = run["length"] - 1  # the farthest offset, and the last position, that the training had
    ways: dict[str, Reading] = {
        AS_IT_IS: lambda model: model,
        "far keys hidden": lambda model: _near_sighted(model, run["length"]),
    }
    if encoding in ("none", "t5", "rope", "sinusoidal"):
        ways["log n beyond"] = _changing(lambda encoding: LogLength(encoding, run["length"], least=1.0))
    if encoding == "alibi":
        ways["slopes stop"] = _changing(lambda encoding: _SlopesStop(encoding, last))
    if encoding in STOPPED:
        base = run["base"] if encoding == "rope" else 10000.0
        dim = run["dim"] // run["heads"] if encoding == "rope" else run["dim"]
        fast = torch.from_numpy(turning(frequencies(dim, base=base), run["length"]))
        for name, pairs in (("slow", ~fast), ("fast", fast), ("all", torch.ones_like(fast))):
            ways[f"{name} clocks stop"] = _stopping(STOPPED[encoding], last, pairs.repeat_interleave(2))
    return ways


def _changing(change: Callable[[Any], PositionalEncoding]) -> Reading:
    return lambda model: with_encodings(model, change)


def _stopping(stopped: Callable[..., PositionalEncoding], last: int, columns: Tensor) -> Reading:
    return _changing(lambda encoding: stopped(encoding, last, columns))


def _near_sighted(model: Decoder, window: int) -> Decoder:
    """No layer looks further back than the training let it."""
    other = copy.deepcopy(model)
    for layer in other.layers:
        layer.window = window  # type: ignore[assignment]
    return other


class _RotaryStops(Around):
    """RoPE, some of whose clocks stop at an offset: a key further back shows what it showed there.

    A score is a sum over pairs, each of which sees the offset through its own angle. For keys beyond `last`,
    the sum over these columns is taken with queries at `last` and keys at 0.
    """

    def __init__(self, encoding: Rotary, last: int, columns: Tensor) -> None:
        super().__init__(encoding)
        self.last, self.columns = last, columns

    def bias(
        self,
        q: Tensor,
        k: Tensor,
        q_positions: Positions,
        k_positions: Positions,
        mask: Tensor | None = None,
        *,
        seq_axis: int = -2,
    ) -> Tensor:
        """(batch, heads, queries, keys): the difference that the stop makes."""
        at_q, at_k = (
            as_tensor(read_places(at, x), x.device) for at, x in ((q_positions, q), (k_positions, k))
        )
        columns = self.columns.to(q.device)

        def score(queries: Tensor, keys: Tensor) -> Tensor:
            return queries[..., columns] @ keys[..., columns].mT / math.sqrt(q.shape[-1])

        stopped = score(
            apply_rotary(q, self.last - at_q, base=self.encoding.base),
            apply_rotary(k, -at_k, base=self.encoding.base),
        )
        return torch.where(at_q[:, None] - at_k > self.last, stopped - score(q, k), 0.0)


class _SinusoidalStops(PositionalEncoding):
    """The sinusoidal encoding, some of whose clocks stop at a position."""

    def __init__(self, encoding: Sinusoidal, last: int, columns: Tensor) -> None:
        super().__init__()
        self.dim, self.last, self.columns = encoding.dim, last, columns

    def add(self, x: Tensor, positions: Positions) -> Tensor:
        """x + p(position)"""
        places = as_tensor(read_places(positions, x), x.device)
        going, stopped = (
            sinusoidal(at, self.dim, dtype=x.dtype) for at in (places, places.clamp(max=self.last))
        )
        return x + torch.where(self.columns.to(x.device), stopped, going)


class _TransformerXLStops(TransformerXL):
    """Transformer-XL, some of whose clocks stop at an offset."""

    def __init__(self, encoding: TransformerXL, last: int, columns: Tensor) -> None:
        super().__init__(encoding.dim, encoding.heads, causal=encoding.causal, base=encoding.base)
        self.load_state_dict(encoding.state_dict())
        self.last, self.columns = last, columns

    def _encoded(self, first: int, last: int, like: Tensor) -> Tensor:
        encoded = super()._encoded(first, last, like)
        distances = -torch.arange(first, last + 1, device=encoded.device)
        at_the_stop = super()._encoded(-self.last, -self.last, like)
        stopped = (distances > self.last)[:, None] & self.columns.to(encoded.device)
        return torch.where(stopped, at_the_stop, encoded)


class _SlopesStop(Around):
    """ALiBi whose bias falls no further than it fell in training."""

    def __init__(self, encoding: ALiBi, last: int) -> None:
        super().__init__(encoding)
        self.last = last

    def bias(
        self,
        q: Tensor,
        k: Tensor,
        q_positions: Positions,
        k_positions: Positions,
        mask: Tensor | None = None,
        *,
        seq_axis: int = -2,
    ) -> Tensor:
        """(heads, queries, keys)"""
        lowest = -self.last * torch.as_tensor(self.encoding.slopes, dtype=torch.float32, device=q.device)
        bias = self.encoding.bias(q, k, q_positions, k_positions, mask, seq_axis=seq_axis)
        return torch.maximum(bias, lowest[:, None, None])  # keys to come are masked by the attention


STOPPED: dict[str, Callable[..., PositionalEncoding]] = {
    "rope": _RotaryStops,
    "sinusoidal": _SinusoidalStops,
    "transformer-xl": _TransformerXLStops,
}
"""Encodings made of clocks -> the same with clocks that stop."""
