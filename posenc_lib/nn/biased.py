"""Door 3 as modules: a bias on the scores.

Those of the offset alone (ALiBi, T5, KERPLE, sandwich) work out one number for each offset and head where
positions run on without a gap, and lay them out as a matrix: q + k numbers in place of q times k.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from posenc_lib import _require as require
from posenc_lib import sinusoidal
from posenc_lib._arrays import is_compiling, is_exporting, refuse_unless, values_are_known
from posenc_lib._heads import matmul_by_group
from posenc_lib.biased import (
    alibi_bias,
    alibi_slopes,
    cope_bias,
    fire_bias,
    fire_distances,
    kerple_bias,
    sandwich_bias,
    shaw_bias,
    t5_bias,
    transformer_xl_bias,
)
from posenc_lib.biased.kerple import KINDS, Kind
from posenc_lib.nn.base import for_tracer, is_plain, own_dtype, through, wide_dtype
from posenc_lib.nn.doors import ScoreBias
from posenc_lib.nn.positions import Places, Span, as_tensor
from posenc_lib.nn.tables import KeptTables

DIRECTIONS = ("causal", "symmetric", "asymmetric")
Direction = Literal["causal", "symmetric", "asymmetric"]


class _OffsetBias(ScoreBias):
    """A bias that depends on key - query alone."""

    heads: int

    def _bias(self, q: Tensor, k: Tensor, at_q: Places, at_k: Places, mask: Tensor | None) -> Tensor:
        dtype = wide_dtype(q)
        # A compiler fuses the whole matrix by itself, and may know no lengths yet.
        ready = 0 not in (q.shape[-2], k.shape[-2]) and not is_compiling()
        if ready and isinstance(at_q, Span) and isinstance(at_k, Span):
            offsets = torch.arange(at_k.start - at_q.stop + 1, at_k.stop - at_q.start, device=q.device)
            row = self._between(offsets.new_zeros(1), offsets, dtype)[:, 0]
            return row.unfold(-1, k.shape[-2], 1).flip(-2)  # each query begins an offset before the last one
        return self._between(as_tensor(at_q, q.device), as_tensor(at_k, k.device), dtype)

    def _between(self, queries: Tensor, keys: Tensor, dtype: torch.dtype) -> Tensor:
        """The bias of every query and key, (..., heads, queries, keys)."""
        raise NotImplementedError


class ALiBi(_OffsetBias):
    """ALiBi: a penalty on distance, one slope per head.

    Args:
        heads: number of attention heads.
        direction: "causal", for models that mask the future; "symmetric", the same penalty on both sides, for
            encoders; "asymmetric", slopes of its own for the keys after the query.
        slopes: (heads,) numbers; by default `posenc_lib.alibi_slopes(heads)`.
        slopes_after: (heads,) numbers, for "asymmetric".
        learned: let the slopes be trained, from these numbers on.

    Raises:
        TypeError, ValueError: as `posenc_lib.alibi_bias`; "asymmetric" with the same fixed slopes on both
            sides, which is "symmetric".

    Source: Press et al. 2022, "Train Short, Test Long"; for encoders, Press in issue 5 of
    ofirpress/attention_with_linear_biases.
    """

    def __init__(
        self,
        heads: int,
        *,
        direction: Direction = "causal",
        slopes: Any = None,
        slopes_after: Any = None,
        learned: bool = False,
    ) -> None:
        super().__init__()
        self.heads = require.count(heads, "heads")
        self.direction = require.choice(direction, "direction", DIRECTIONS)
        self.causal_only = direction == "causal"
        after = direction == "asymmetric"
        if after and slopes_after is None and not require.flag(learned, "learned"):
            raise ValueError(
                "direction='asymmetric' without slopes_after or learned=True is 'symmetric'; give one of the"
                " two"
            )
        if not after and slopes_after is not None:
            raise ValueError(f"slopes_after with direction={direction!r}; give direction='asymmetric'")
        before = alibi_slopes(heads) if slopes is None else _numbers(slopes)
        self._start = before, before if slopes_after is None else _numbers(slopes_after)
        self.slopes = _maybe_learned(before, learned)
        self.slopes_after = _maybe_learned(self._start[1], learned) if after else None
        with torch.no_grad():
            self._between(torch.arange(1), torch.arange(1), torch.float32)

    def reset_parameters(self) -> None:
        """Put learned slopes back to where they started."""
        for slopes, start in zip((self.slopes, self.slopes_after), self._start, strict=True):
            if isinstance(slopes, nn.Parameter):
                slopes.data.copy_(torch.from_numpy(start))

    def _between(self, queries: Tensor, keys: Tensor, dtype: torch.dtype) -> Tensor:
        bias: Tensor = alibi_bias(
            self.heads,
            queries,
            keys,
            causal=self.direction == "causal",
            slopes=for_tracer(self.slopes, queries.device),
            slopes_after=for_tracer(self.slopes_after, queries.device),
            dtype=dtype,
        )
        return bias

    def extra_repr(self) -> str:
        learned = isinstance(self.slopes, nn.Parameter)
        return f"{self.heads}, direction={self.direction!r}, learned={learned}"


class T5Bias(_OffsetBias):
    """T5's bias: one learned number per head and bucket of distance. One table serves all layers.

    T5 itself does not divide scores by sqrt(head_dim); `Attention` does.

    Args:
        heads: number of attention heads.
        buckets, max_distance: as in `posenc_lib.t5_buckets`.
        bidirectional: True for encoders; False for decoders, where keys after the query are masked.
        std: standard deviation of the numbers at the start. In transformers' T5 it is d_model^-0.5, with
            d_model = 512 in T5-small.

    Raises:
        TypeError, ValueError: as `posenc_lib.t5_buckets`; std not positive.

    Source: Raffel et al. 2020, section 2.1.
    """

    def __init__(
        self,
        heads: int,
        *,
        buckets: int = 32,
        max_distance: int = 128,
        bidirectional: bool = True,
        std: float = 512**-0.5,
    ) -> None:
        super().__init__()
        self.heads = require.count(heads, "heads")
        self.max_distance, self.bidirectional = max_distance, bidirectional
        self.causal_only = not require.flag(bidirectional, "bidirectional")
        self.std = require.positive(std, "std")
        self.table = nn.Parameter(torch.empty(require.count(buckets, "buckets"), self.heads))
        self.reset_parameters()
        with torch.no_grad():
            self._between(torch.arange(1), torch.arange(1), torch.float32)

    def reset_parameters(self) -> None:
        """Draw the table again."""
        nn.init.normal_(self.table, std=self.std)

    def _between(self, queries: Tensor, keys: Tensor, dtype: torch.dtype) -> Tensor:
        bias: Tensor = t5_bias(
            self.table.to(dtype),
            queries,
            keys,
            max_distance=self.max_distance,
            bidirectional=self.bidirectional,
        )
        return bias

    def extra_repr(self) -> str:
        sizes = f"{self.heads}, buckets={self.table.shape[0]}, max_distance={self.max_distance}"
        return f"{sizes}, bidirectional={self.bidirectional}"


class KERPLE(_OffsetBias):
    """KERPLE: a penalty on distance with two learned numbers per head. One pair per head serves all layers.

    The numbers r1 and r2 must be positive. Here their logarithms are learned (for r2 of the power variant,
    which ends at 2, the logit of r2/2); the authors' code clamps them to 0.01 or more in each step.

    Args:
        heads: number of attention heads.
        kind: "log" or "power", as in `posenc_lib.kerple_bias`.

    Raises:
        TypeError, ValueError: heads below 1, unknown kind.

    Source: Chi et al. 2022. The start, r1 uniform in (0, 2) and r2 in (0, 1) for "log", the other way
    round for "power", is that of megatron/mpu/layers.py in chijames/KERPLE.
    """

    def __init__(self, heads: int, *, kind: Kind = "log") -> None:
        super().__init__()
        self.heads = require.count(heads, "heads")
        self.kind = require.choice(kind, "kind", KINDS)
        self.raw_r1 = nn.Parameter(torch.empty(self.heads))
        self.raw_r2 = nn.Parameter(torch.empty(self.heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw r1 and r2 again."""
        least = 0.01
        with torch.no_grad():
            if self.kind == "log":
                self.raw_r1.uniform_(least, 2.0).log_()
                self.raw_r2.uniform_(least, 1.0).log_()
            else:
                self.raw_r1.uniform_(least, 1.0).log_()
                self.raw_r2.uniform_(least, 2.0 - least).div_(2.0).logit_()

    @property
    def r1(self) -> Tensor:
        """(heads,), positive."""
        return self.raw_r1.to(wide_dtype(self.raw_r1)).exp()

    @property
    def r2(self) -> Tensor:
        """(heads,), positive; below 2 for "power"."""
        raw = self.raw_r2.to(wide_dtype(self.raw_r2))
        return raw.exp() if self.kind == "log" else 2.0 * raw.sigmoid()

    def _between(self, queries: Tensor, keys: Tensor, dtype: torch.dtype) -> Tensor:
        bias: Tensor = kerple_bias(self.r1, self.r2, queries, keys, kind=self.kind, dtype=dtype)
        return bias

    def extra_repr(self) -> str:
        return f"{self.heads}, kind={self.kind!r}"


class Sandwich(_OffsetBias):
    """Sandwich: the dot product of two sinusoidal encodings, as a bias. Nothing is learned.

    Args:
        heads: number of attention heads.
        dim, base, first_pair: as in `posenc_lib.sandwich_bias`.

    Raises:
        TypeError, ValueError: as `posenc_lib.sandwich_bias`.

    Source: Chi et al. 2023, "Dissecting Transformer Length Extrapolation via the Lens of Receptive Field
    Analysis".
    """

    def __init__(self, heads: int, *, dim: int = 128, base: float = 10000.0, first_pair: int = 0) -> None:
        super().__init__()
        self.heads = require.count(heads, "heads")
        self.dim, self.base, self.first_pair = dim, base, first_pair
        self._between(torch.arange(1), torch.arange(1), torch.float32)

    def _between(self, queries: Tensor, keys: Tensor, dtype: torch.dtype) -> Tensor:
        bias: Tensor = sandwich_bias(
            self.heads,
            queries,
            keys,
            dim=self.dim,
            base=self.base,
            first_pair=self.first_pair,
            dtype=dtype,
        )
        return bias

    def extra_repr(self) -> str:
        return f"{self.heads}, dim={self.dim}, base={self.base:g}"


class FIRE(ScoreBias):
    """FIRE: a small network reads the distance as a share of how far back there is to look.

    A function of two positions, not of their offset alone: to queries past the threshold L, distances look
    shorter by as much as they themselves are further on.

    Args:
        heads: number of attention heads.
        hidden: units of the network.
        c: start of the learned c.
        threshold: start of the learned L, in positions. The paper starts at 512 for training length 2,048.

    Raises:
        TypeError, ValueError: heads or hidden below 1, c or threshold not positive.

    Source: Li et al. 2024, "Functional Interpolation for Relative Positions improves Long Context
    Transformers", section 3; hidden, c, L and that both are used by their absolute value are from the code
    in its appendix.
    """

    per_layer = True
    heads: int

    def __init__(self, heads: int, *, hidden: int = 32, c: float = 0.1, threshold: float = 512.0) -> None:
        super().__init__()
        self.heads = require.count(heads, "heads")
        self.start = require.positive(c, "c"), require.positive(threshold, "threshold")
        self.first = nn.Linear(1, require.count(hidden, "hidden"))
        self.second = nn.Linear(hidden, self.heads)
        # One number each, in an axis of its own: fully_shard takes no parameter without one.
        self.c = nn.Parameter(torch.empty(1))
        self.stretch = nn.Parameter(torch.empty(1))  # L in units of its start, for one learning rate
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the network again, and put c and L to their start."""
        self.first.reset_parameters()
        self.second.reset_parameters()
        nn.init.constant_(self.c, self.start[0])
        nn.init.ones_(self.stretch)

    def _bias(self, q: Tensor, k: Tensor, at_q: Places, at_k: Places, mask: Tensor | None) -> Tensor:
        dtype = wide_dtype(q)
        c, threshold = self.c[0].to(dtype).abs(), self.stretch[0].to(dtype).abs() * self.start[1]
        queries, keys = as_tensor(at_q, q.device), as_tensor(at_k, k.device)
        if not (is_plain(self.first) and is_plain(self.second)):
            x = fire_distances(queries, keys, c=c, threshold=threshold, dtype=dtype)
            by_head = through(self.second, through(self.first, x[..., None]).relu())
            return by_head.movedim(-1, -3)
        w1, b1, w2, b2 = (
            parameter.to(dtype)
            for layer in (self.first, self.second)
            for parameter in (layer.weight, layer.bias)
        )
        bias: Tensor = fire_bias((w1, b1, w2, b2), queries, keys, c=c, threshold=threshold)
        return bias

    def extra_repr(self) -> str:
        return f"{self.heads}, c={self.start[0]:g}, threshold={self.start[1]:g}"


class Shaw(ScoreBias):
    """Shaw's relative keys: a learned vector for each clipped distance, met by the query.

    The term on the values, which no bias can express and which the authors found to add little, is left
    out; `posenc_lib.biased.shaw_values` has it.

    Args:
        head_dim: width of a head's queries.
        distance: longer ones count as this. The paper's base model has 16.
        heads: for a table per head, of queries or, with grouped queries, of keys; by default all share one.

    Raises:
        TypeError, ValueError: one of them below 1.

    Source: Shaw et al. 2018, equations 2, 4 and 5. It does not say how the vectors start: here they are
    Glorot-uniform, as the weights of `Attention`.
    """

    per_layer = True

    def __init__(self, head_dim: int, *, distance: int = 16, heads: int | None = None) -> None:
        super().__init__()
        self.head_dim, self.heads = require.count(head_dim, "head_dim"), heads
        rows = 2 * require.count(distance, "distance") + 1
        shape = (rows, head_dim) if heads is None else (require.count(heads, "heads"), rows, head_dim)
        self.table = nn.Parameter(torch.empty(shape))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the vectors again."""
        rows, head_dim = self.table.shape[-2:]
        bound = (6 / (rows + head_dim)) ** 0.5
        nn.init.uniform_(self.table, -bound, bound)

    def _query_heads(self) -> None:
        """Any number: `heads` may be those of the keys."""

    def _bias(self, q: Tensor, k: Tensor, at_q: Places, at_k: Places, mask: Tensor | None) -> Tensor:
        bias: Tensor = shaw_bias(
            q, self.table.to(q.dtype), as_tensor(at_q, q.device), as_tensor(at_k, k.device)
        )
        return bias

    def extra_repr(self) -> str:
        return f"{self.head_dim}, distance={self.table.shape[-2] // 2}, heads={self.heads}"


class TransformerXL(ScoreBias):
    """Transformer-XL's relative attention: a learned projection of each distance's sinusoidal encoding.

    Every layer has parameters of its own; the authors' code shares u and v among them unless `untie_r`.

    Args:
        dim: width of the model, even: that of the sinusoidal encoding.
        heads: number of attention heads, a divisor of dim.
        causal: make relative keys for the past alone, which takes half the work; False for encoders.
        base: of the sinusoidal encoding.

    Raises:
        TypeError, ValueError: odd dim, heads that do not divide dim; from `bias`, real positions.

    Source: Dai et al. 2019, section 3.3. The start, normal with standard deviation 0.02, is the
    `init_std` of their code.
    """

    per_layer = True
    heads: int
    head_dim: int

    def __init__(self, dim: int, heads: int, *, causal: bool = True, base: float = 10000.0) -> None:
        super().__init__()
        self.dim, self.heads = require.even_dim(dim), require.count(heads, "heads")
        self.head_dim = require.head_width(dim, heads)
        self.causal, self.base = require.flag(causal, "causal"), require.positive(base, "base")
        self.causal_only = self.causal
        self.to_key = nn.Linear(dim, dim, bias=False)
        self.u = nn.Parameter(torch.empty(heads, self.head_dim))
        self.v = nn.Parameter(torch.empty(heads, self.head_dim))
        self._kept = KeptTables()
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters again."""
        for parameter in (self.to_key.weight, self.u, self.v):
            nn.init.normal_(parameter, std=0.02)

    def _bias(self, q: Tensor, k: Tensor, at_q: Places, at_k: Places, mask: Tensor | None) -> Tensor:
        u, v = self.u.to(q.dtype), self.v.to(q.dtype)
        if isinstance(at_q, Span) and isinstance(at_k, Span) and at_q.stop == at_k.stop:
            if not is_exporting() and q.shape[-2] == 1 and is_plain(self.to_key):
                return self._of_one(q, k, u, v)
            farthest = k.shape[-2] - 1
            nearest = 0 if self.causal else q.shape[-2] - 1
            relative_keys = self._relative_keys(-farthest, nearest, q)
            by_shift: Tensor = transformer_xl_bias(q, k, relative_keys, u, v)
            return by_shift
        # Any other positions: the same four terms, with the relative keys looked up by offset.
        at_q, at_k = as_tensor(at_q, q.device), as_tensor(at_k, k.device)
        reach = self._reach(at_q, at_k)
        relative_keys = self._relative_keys(-reach, 0 if self.causal else reach, q)
        if self.causal:  # no term for keys after the query, as above
            relative_keys = nn.functional.pad(relative_keys, (0, 0, 0, reach))
        by_offset: Tensor = shaw_bias(q + v[:, None], relative_keys, at_q, at_k)
        of_the_key: Tensor = matmul_by_group(torch, u[:, None], k.mT) * (q.shape[-1] ** -0.5)
        return by_offset + of_the_key

    def _of_one(self, q: Tensor, k: Tensor, u: Tensor, v: Tensor) -> Tensor:
        """The bias of one query that is last, as in decoding.

        The query is projected, in place of a relative key for each distance.
        """
        to_key = self.to_key.weight.view(self.heads, -1, self.dim)
        encoded = self._encoded(1 - k.shape[-2], 0, q)
        by_distance = ((q + v[:, None]).to(to_key.dtype) @ to_key) @ encoded.to(to_key.dtype).mT
        of_the_key: Tensor = matmul_by_group(torch, u[:, None], k.mT)
        bias: Tensor = (of_the_key + by_distance.to(q.dtype)) * (q.shape[-1] ** -0.5)
        return bias

    def _relative_keys(self, first: int, last: int, like: Tensor) -> Tensor:
        """(heads, distances, head_dim), for the relative positions key - query = first .. last."""
        encoded = self._encoded(first, last, like)
        projected = self.to_key(encoded.to(own_dtype(self.to_key, encoded.dtype))).to(like.dtype)
        by_head: Tensor = projected.view(-1, self.heads, self.head_dim).transpose(0, 1)
        return by_head

    def _encoded(self, first: int, last: int, like: Tensor) -> Tensor:
        """(distances, dim), the sinusoidal encoding of how far back first .. last are."""
        dtype = wide_dtype(like)
        backwards: Tensor = self._kept.rows(
            Span(-last, 1 - first),
            lambda at: sinusoidal(at, self.dim, base=self.base, dtype=dtype),
            settings=self.base,
            device=like.device,
            dtype=dtype,
            width=self.dim,
        )
        return backwards.flip(0)

    @staticmethod
    def _reach(at_q: Tensor, at_k: Tensor) -> int:
        """The longest distance between any of these positions."""
        for places in (at_q, at_k):
            require.whole(places)
        if at_q.numel() == 0 or at_k.numel() == 0:
            return 0
        if values_are_known(at_q) and values_are_known(at_k):
            first, last = min(int(at_q.min()), int(at_k.min())), max(int(at_q.max()), int(at_k.max()))
            return last - first
        reach = at_k.shape[-1] - 1  # as far as positions without gaps are apart
        span = torch.maximum(at_q.max(), at_k.max()) - torch.minimum(at_q.min(), at_k.min())
        refuse_unless(
            span <= reach,
            "positions are further apart than there are keys, which compiled code cannot know beforehand; "
            "give positions without gaps, or do not compile",
        )
        return reach

    def extra_repr(self) -> str:
        return f"{self.dim}, {self.heads}, causal={self.causal}"


class CoPE(ScoreBias):
    """CoPE: positions that count what the query finds worth counting. It looks at no positions at all.

    Args:
        head_dim: width of a head's queries.
        rows: counts that have a vector, 0 .. rows - 1; all above are as the last.

    Raises:
        TypeError, ValueError: one of them below 1.

    Source: Golovneva et al. 2024. The table starts at 0 and is the same for all heads, not for all layers, as
    in projects/cope of facebookresearch/RAM.
    """

    per_layer = True
    causal_only = True

    def __init__(self, head_dim: int, *, rows: int = 64) -> None:
        super().__init__()
        self.head_dim = require.count(head_dim, "head_dim")
        self.table = nn.Parameter(torch.empty(require.count(rows, "rows"), head_dim))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Put the table back to 0."""
        nn.init.zeros_(self.table)

    def _bias(self, q: Tensor, k: Tensor, at_q: Places, at_k: Places, mask: Tensor | None) -> Tensor:
        bias: Tensor = cope_bias(q, k, self.table.to(q.dtype), mask=mask)  # no key after the query counts
        return bias

    def extra_repr(self) -> str:
        return f"{self.head_dim}, rows={self.table.shape[0]}"


def _numbers(values: Any) -> np.ndarray:
    read = require.numbers(values, "slopes")
    if not values_are_known(read):
        raise ValueError("slopes have no values yet; give those to start from")
    read = read.detach().cpu() if isinstance(read, Tensor) else read
    return np.asarray(read, dtype=np.float64).copy()


def _maybe_learned(values: np.ndarray, learned: bool) -> nn.Parameter | np.ndarray:
    """A parameter, or plain float64 numbers, which no `.to(bfloat16)` rounds."""
    if not require.flag(learned, "learned"):
        return values
    return nn.Parameter(torch.tensor(values, dtype=torch.get_default_dtype()))
