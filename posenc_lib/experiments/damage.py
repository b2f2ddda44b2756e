"""What four common mistakes cost, in loss, each beside its mended version.

The models read 64 bytes of the language reference that every Python carries. One kind says the next byte, the
other, which looks both ways, the bytes that were blanked out.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from posenc_lib.experiments.text import source_of, split
from posenc_lib.experiments.training import Bench, thinned
from posenc_lib.nn import Attention, Learned, Rotary, Transformer
from posenc_lib.rotated import convert_layout

QUESTION = "What do mistakes with padding, layouts and dtypes cost?"

LENGTH = 64
BLANK, PAD = 256, 257
"""The tokens that stand for a byte to be said, and for none. No training text is padded."""

PADDED = (0, 2, 8, 32)
"""How many tokens of padding, before or after texts of half the length: no position is new to a model."""

OFFSETS = (0, 128, 256, 1024, 4096, 65536)
"""Where the first token of a text stands, for RoPE in bfloat16."""


def runs(
    *, steps: int | None = None, seeds: int | None = None, fast: bool = False
) -> Iterator[dict[str, Any]]:
    """One model for all mistakes that can be made with it."""
    models = {
        "forwards": ["sinusoidal", "rope"] if fast else ["learned", "sinusoidal", "rope", "alibi"],
        "both ways": ["sinusoidal"] if fast else ["sinusoidal", "rope", "alibi"],
    }
    for reads, encodings in models.items():
        for encoding in encodings:
            for seed in range(seeds or (1 if fast else 3)):
                yield {
                    "reads": reads,
                    "encoding": encoding,
                    "seed": seed,
                    "steps": steps or (200 if fast else 300),
                    "rows": 8,
                    "test_rows": 64 if fast else 256,
                    "dim": 32 if fast else 64,
                    "layers": 2,
                    "heads": 4,
                    "length": LENGTH,
                }


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train a model without any mistake, then read held-out text with each mistake and without.

    Returns:
        training: `thinned` curve of the loss, nats a byte;
        right: loss on held-out text, read as in training;
        cases: by the name of the mistake (`MISTAKES`), for each `at` (tokens of padding, or the place of the
            first token) {"at", "wrong": loss, "mended": loss on the same text}.
    """
    to_learn, held_out = (part.to(bench.device) for part in split(source_of(), least=LENGTH + 1))
    both_ways = run["reads"] == "both ways"
    encoding = Learned(LENGTH, run["dim"], std=1.0) if run["encoding"] == "learned" else run["encoding"]
    model = Transformer(
        PAD + 1, run["dim"], run["layers"], run["heads"], encoding=encoding, causal=not both_ways
    ).to(bench.device)

    def loss(generator: torch.Generator) -> Tensor:
        windows = _windows(to_learn, run["rows"], generator)
        return _fill_in(model, windows, generator) if both_ways else _continue(model, windows)

    losses = bench.train(model, loss, run["steps"], seed=run["seed"])
    unseen = torch.Generator().manual_seed(10_000 + run["seed"])
    windows = _windows(held_out, run["test_rows"], unseen)
    with torch.no_grad():
        right = _fill_in(model, windows, unseen) if both_ways else _continue(model, windows)
        cases = {name: try_it(model, windows) for name, try_it in mistakes(run).items()}
    return {"training": thinned(losses), "right": right.item(), "cases": cases}


def _windows(text: Tensor, rows: int, generator: torch.Generator) -> Tensor:
    """(rows, 65) bytes: 64 to read, and one more to say."""
    starts = torch.randint(len(text) - LENGTH, (rows, 1), generator=generator).to(text.device)
    return text[starts + torch.arange(LENGTH + 1, device=text.device)]


def _continue(model: Transformer, windows: Tensor, **how: Any) -> Tensor:
    """Loss of each next byte; `how` goes to the model."""
    return _mean_loss(model(windows[:, :-1], **how), windows[:, 1:])


def _fill_in(model: Transformer, windows: Tensor, generator: torch.Generator) -> Tensor:
    """Loss of the bytes that were blanked out."""
    text = windows[:, :-1]
    asked = _asked(text, generator)
    return _mean_loss(model(text.masked_fill(asked, BLANK))[asked], text[asked])


def _asked(text: Tensor, generator: torch.Generator) -> Tensor:
    """Which bytes are blanked out: 15 in 100, as BERT has it."""
    return (torch.rand(text.shape, generator=generator) < 0.15).to(text.device)


def _mean_loss(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))


def _case(at: int, wrong: Tensor, mended: Tensor) -> dict[str, float]:
    return {"at": at, "wrong": wrong.item(), "mended": mended.item()}


def padding_leak(model: Transformer, windows: Tensor) -> list[dict[str, float]]:
    """Padding after the text; wrong: no padding mask, so that its tokens are read like any others."""
    text = windows[:, : LENGTH // 2]
    asked = _asked(text, torch.Generator().manual_seed(0))
    blanked = text.masked_fill(asked, BLANK)
    cases = []
    for count in PADDED:
        padded = F.pad(blanked, (0, count), value=PAD)
        wrong, mended = (
            _mean_loss(model(padded, padding_mask=mask)[:, : LENGTH // 2][asked], text[asked])
            for mask in (None, padded == PAD)
        )
        cases.append(_case(count, wrong, mended))
    return cases


def left_padding(model: Transformer, windows: Tensor) -> list[dict[str, float]]:
    """Padding before the text, masked out; wrong: the positions count it nevertheless."""
    text, targets = windows[:, : LENGTH // 2], windows[:, 1 : LENGTH // 2 + 1]
    cases = []
    for count in PADDED:
        padded = F.pad(text, (count, 0), value=PAD)
        wrong, mended = (
            _mean_loss(model(padded, padding_mask=padded == PAD, positions=positions)[:, count:], targets)
            for positions in (padded.shape[1], None)
        )
        cases.append(_case(count, wrong, mended))
    return cases


def layout(model: Transformer, windows: Tensor) -> list[dict[str, float]]:
    """Interleaved weights in a model that pairs halves; mended: the rows of its projections reordered."""
    half = copy.deepcopy(model)
    assert isinstance(half.encoding, Rotary)
    half.encoding.layout = "half"
    wrong = _continue(half, windows)
    for part in half.modules():
        if isinstance(part, Attention):
            _convert(part.in_proj_weight, part.heads)
            _convert(part.in_proj_bias, part.heads)
    return [_case(0, wrong, _continue(half, windows))]


def _convert(projection: nn.Parameter | None, heads: int) -> None:
    """From interleaved to half, in place: the rows of queries and keys, not those of values."""
    assert projection is not None
    dim = len(projection) // 3
    for rows in (slice(0, dim), slice(dim, 2 * dim)):
        projection.data[rows] = convert_layout(
            projection.data[rows].clone(), heads=heads, source="interleaved", target="half"
        )


def bfloat16_positions(model: Transformer, windows: Tensor) -> list[dict[str, float]]:
    """A text far from position 0; wrong: its positions are rounded to bfloat16, which has 8 bits."""
    cases = []
    for offset in OFFSETS:
        exact = torch.arange(offset, offset + LENGTH, device=windows.device)
        rounded = exact.to(torch.bfloat16).float()
        wrong, mended = (_continue(model, windows, positions=positions) for positions in (rounded, exact))
        cases.append(_case(offset, wrong, mended))
    return cases


Mistake = Callable[[Transformer, Tensor], list[dict[str, float]]]

MISTAKES: dict[str, Mistake] = {
    "padding-leak": padding_leak,
    "left-padding": left_padding,
    "layout": layout,
    "bfloat16": bfloat16_positions,
}


def mistakes(run: dict[str, Any]) -> dict[str, Mistake]:
    """Those that can be made with the model of this run."""
    if run["reads"] == "both ways":
        names = ["padding-leak"]
    else:
        names = ["left-padding", "layout", "bfloat16"] if run["encoding"] == "rope" else ["left-padding"]
    return {name: MISTAKES[name] for name in names}
