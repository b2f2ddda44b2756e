"""The model of the experiments, and its optimiser: small, and as good as is known today.

RMSNorm, squared ReLU, normalised queries and keys, projections that start at zero; Muon for matrices and
Adam for all the rest. These are choices of modded-nanogpt (github.com/KellerJordan/modded-nanogpt, June 2026)
that tell a model nothing of positions. Those that do (a token mixed with the one before it, embeddings of
pairs) are left out: here the encoding alone is to know where a token stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from posenc_lib.nn import (
    FIRE,
    KERPLE,
    ALiBi,
    Attention,
    FoX,
    LayerCache,
    Learned,
    NoPE,
    PaTH,
    PoPE,
    PositionalEncoding,
    Rotary,
    Sinusoidal,
    T5Bias,
    TransformerXL,
)
from posenc_lib.nn.positions import Positions, Span


class _Normalised(PositionalEncoding):
    """An encoding for queries and keys of length sqrt(head_dim), times a learned gain for each column.

    Normalised before they turn: so scores stay of one size however the weights grow. As in Henry et al. 2020,
    "Query-Key Normalization for Transformers", with the RMSNorm of today's models.
    """

    def __init__(self, encoding: PositionalEncoding, head_dim: int) -> None:
        super().__init__()
        self.encoding = encoding
        self.norm_q, self.norm_k = nn.RMSNorm(head_dim), nn.RMSNorm(head_dim)

    def rotate(
        self,
        q: Tensor,
        k: Tensor,
        q_positions: Positions,
        k_positions: Positions,
        *,
        seq_axis: int = -2,
    ) -> tuple[Tensor, Tensor]:
        q, k = self.norm_q(q), self.norm_k(k)
        return self.encoding.rotate(q, k, q_positions, k_positions, seq_axis=seq_axis)

    def bias(
        self,
        q: Tensor,
        k: Tensor,
        q_positions: Positions,
        k_positions: Positions,
        mask: Tensor | None = None,
        *,
        seq_axis: int = -2,
    ) -> Tensor | None:
        return self.encoding.bias(q, k, q_positions, k_positions, mask, seq_axis=seq_axis)


class _Layer(nn.Module):
    def __init__(self, dim: int, heads: int, encoding: PositionalEncoding, window: int | None) -> None:
        super().__init__()
        self.window = window
        self.norm1, self.norm2 = nn.RMSNorm(dim), nn.RMSNorm(dim)
        self.attention = Attention(dim, heads, bias=False)
        self.encoding = _Normalised(encoding, dim // heads)
        self.widen = nn.Linear(dim, 4 * dim, bias=False)
        self.narrow = nn.Linear(4 * dim, dim, bias=False)
        nn.init.zeros_(self.attention.out_proj.weight)
        nn.init.zeros_(self.narrow.weight)

    def forward(self, x: Tensor, positions: Span, cache: LayerCache | None) -> Tensor:
        mask = None if self.window is None else _near(positions, self.window, x.device)
        x = x + self.attention(self.norm1(x), positions, self.encoding, mask=mask, causal=True, cache=cache)
        y: Tensor = x + self.narrow(F.relu(self.widen(self.norm2(x))).square())
        return y


class Decoder(nn.Module):
    """From tokens to the logits of the next ones.

    Args:
        vocabulary, dim, heads: sizes.
        encodings: one for each layer; the first one's `add` is the model's. Layers may share one.
        windows: how far each layer looks back, itself included; None for all the way.
    """

    def __init__(
        self,
        vocabulary: int,
        dim: int,
        heads: int,
        encodings: Sequence[PositionalEncoding],
        windows: Sequence[int | None] | None = None,
    ) -> None:
        super().__init__()
        windows = [None] * len(encodings) if windows is None else windows
        self.embedding = nn.Embedding(vocabulary, dim)
        layers = [
            _Layer(dim, heads, encoding, window) for encoding, window in zip(encodings, windows, strict=True)
        ]
        self.layers = nn.ModuleList(layers)
        self.stacked = [layer.attention.in_proj_weight for layer in layers]
        self.plain = [
            part.weight for layer in layers for part in (layer.attention.out_proj, layer.widen, layer.narrow)
        ]
        self.encodings = list(encodings)
        self.norm = nn.RMSNorm(dim)
        self.head = nn.Linear(dim, vocabulary, bias=False)
        nn.init.zeros_(self.head.weight)

    def forward(self, tokens: Tensor, cache: list[LayerCache] | None = None) -> Tensor:
        """(batch, length) to (batch, length, vocabulary); with a cache, tokens are what comes after it."""
        past = 0 if cache is None else cache[0].length
        positions = Span(past, past + tokens.shape[1])
        x = self.encodings[0].add(self.embedding(tokens), positions)
        for number, layer in enumerate(self.layers):
            x = layer(x, positions, None if cache is None else cache[number])
        logits: Tensor = self.head(self.norm(x))
        return logits

    def optimizers(self, rate: float) -> list[torch.optim.Optimizer]:
        """Muon for the layers' matrices, Adam for embedding, head, gains and all that the encoding learns."""
        matrices = {id(each) for each in (*self.stacked, *self.plain)}
        rest = [each for each in self.parameters() if id(each) not in matrices]
        return [
            Muon([{"params": self.stacked, "parts": 3}, {"params": self.plain, "parts": 1}], rate=rate),
            torch.optim.Adam(rest, lr=rate * ADAM, betas=(0.9, 0.95)),
        ]


ADAM = 0.3
"""Adam's learning rate as a share of Muon's."""


def _near(positions: Span, window: int, device: torch.device) -> Tensor:
    """(queries, keys): may the query look so far back? Keys begin at position 0."""
    keys = torch.arange(positions.stop, device=device)
    return keys[positions.start :, None] - keys < window


def layers_with(
    encoding: str, *, dim: int, heads: int, layers: int, length: int, base: float
) -> tuple[list[PositionalEncoding], list[int | None]]:
    """The encoding of each layer of a model, by name, and how far each layer looks back.

    Args:
        encoding: its name; "rope-partial" turns a quarter of the columns; "rope-and-none" leaves each fourth
            layer without; "rope-window-and-none" also lets the other three look back a quarter of the length;
            "rope-window-and-rope" has the same windows, and RoPE in every layer.
        dim, heads, layers: sizes of the model.
        length: of its training.
        base: of RoPE.
    """
    head_dim = dim // heads
    everywhere: list[int | None] = [None] * layers
    own: dict[str, Callable[[], PositionalEncoding]] = {  # their sources give every layer its own parameters
        "fire": lambda: FIRE(heads, threshold=length / 4),
        "transformer-xl": lambda: TransformerXL(dim, heads),
        "fox": lambda: FoX(head_dim, heads),
        "path": lambda: PaTH(head_dim, heads),
    }
    if encoding in own:
        return [own[encoding]() for _ in range(layers)], everywhere
    if encoding in ("rope-and-none", "rope-window-and-none", "rope-window-and-rope"):
        turned: PositionalEncoding = Rotary(head_dim, base=base)
        far = turned if encoding == "rope-window-and-rope" else NoPE()
        near = None if encoding == "rope-and-none" else length // 4
        looks_far = [layer % 4 == 3 for layer in range(layers)]
        return [far if each else turned for each in looks_far], [None if each else near for each in looks_far]
    makers: dict[str, Callable[[], PositionalEncoding]] = {
        "none": NoPE,
        "sinusoidal": lambda: Sinusoidal(dim),
        "learned": lambda: Learned(length, dim, std=1.0, beyond="clamp"),
        # its buckets end within the training, so that all of them are trained; 17 is the least that it takes
        "t5": lambda: T5Bias(heads, max_distance=max(17, length // 2), bidirectional=False, std=dim**-0.5),
        "alibi": lambda: ALiBi(heads),
        "kerple": lambda: KERPLE(heads),
        "pope": lambda: PoPE(head_dim, heads, base=base),
        "rope": lambda: Rotary(head_dim, base=base),
        "rope-partial": lambda: Rotary(head_dim, base=base, rotary_dim=head_dim // 4),
    }
    return [makers[encoding]()] * layers, everywhere


class Muon(torch.optim.Optimizer):
    """Momentum whose steps are made orthogonal: every direction of a matrix moves by the same amount.

    PyTorch's own works in bfloat16, for which many processors have no fast kernel; this one works in the
    matrix's dtype. A group's "parts" says how many matrices lie stacked in each of its parameters.

    Args:
        groups: parameter groups of matrices.
        rate: learning rate; a step has about sqrt(max(1, rows / columns)) times it as each singular value.
        momentum: of Nesterov's kind.

    Source: Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks".
    """

    def __init__(self, groups: Iterable[dict[str, Any]], rate: float, momentum: float = 0.95) -> None:
        super().__init__(groups, {"lr": rate, "momentum": momentum, "parts": 1})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                if not state:
                    state["mean"] = torch.zeros_like(parameter)
                mean = state["mean"].lerp_(parameter.grad, 1 - group["momentum"])
                ahead = parameter.grad.lerp(mean, group["momentum"])
                stacked = ahead.view(group["parts"], -1, ahead.shape[-1])
                scale = max(1.0, stacked.shape[1] / stacked.shape[2]) ** 0.5
                parameter.sub_(orthogonal(stacked).view_as(parameter), alpha=group["lr"] * scale)


def orthogonal(matrices: Tensor) -> Tensor:
    """About U V^T for each U S V^T of (count, rows, columns): five steps of Newton and Schulz.

    The singular values come out between 0.7 and 1.2, which is near enough for Muon.
    """
    wide = matrices.mT if matrices.shape[-2] > matrices.shape[-1] else matrices
    x = wide / (wide.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(5):
        square = x @ x.mT
        x = 3.4445 * x + (2.0315 * square @ square - 4.7750 * square) @ x
    orthogonal_ones: Tensor = x.mT if wide is not matrices else x
    return orthogonal_ones
