"""What a checkpoint's config comes to: the rotation of a layer, and what else a layer does with positions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from posenc_lib import _require as require
from posenc_lib._arrays import Array, constant, namespace, widen
from posenc_lib.rotated.axial import owners, tables_by_owner
from posenc_lib.rotated.rotary import rotary_tables, rotate
from posenc_lib.rotated.tables import Layout, RotaryTables
from posenc_lib.rotated.turn import LAYOUTS
from posenc_lib.scaling.config import read_scaling
from posenc_lib.scaling.rules import Scaling


@dataclass(frozen=True)
class RopeSettings:
    """What a model's config says about its rotation.

    Attributes:
        head_dim: width of the vectors that carry the rotation. With latent attention (DeepSeek) and in
            DeepSeek-V4 that is the part of each head that turns, `qk_rope_head_dim`, its last columns.
        rotary_dim: how many of their columns turn, from the first.
        base: `rope_theta`.
        scaling: the scaling rule, or None.
        layout: "interleaved" or "half".
        sections: pairs per axis of M-RoPE, as `mrope_section` has them: for time, height and width, with
            time_last for height, width and time. None where positions are one number per token.
        sections_interleaved: whether M-RoPE deals its sections out in turn.
        time_last: whether M-RoPE gives height and width the fast pairs, in turn, and time the rest (ERNIE
            4.5 VL).
        backwards: whether vectors turn the other way (nanochat).

    Raises:
        TypeError, ValueError: as `rotary_tables`; a section below 1, or sections that do not share out
            rotary_dim/2 pairs; sections_interleaved or time_last without sections, or both.

    Example:
        >>> import numpy as np
        >>> settings = RopeSettings(64, 16, 10000.0, None, "half")  # GPT-NeoX's: a quarter turns
        >>> q = np.random.default_rng(0).normal(size=(8, 10, 64))  # heads, tokens, head_dim
        >>> turned = settings.rotate(q, settings.tables(10))
        >>> np.array_equal(turned[..., 16:], q[..., 16:])  # the rest passes
        True
    """

    head_dim: int
    rotary_dim: int
    base: float
    scaling: Scaling | None
    layout: Layout
    sections: tuple[int, ...] | None = None
    sections_interleaved: bool = False
    time_last: bool = False
    backwards: bool = False

    def __post_init__(self) -> None:
        require.even_dim(self.rotary_dim, "rotary_dim")
        require.rotary_dim(self.rotary_dim, require.count(self.head_dim, "head_dim"))
        read_scaling(self.scaling, self.base)
        require.choice(self.layout, "layout", LAYOUTS)
        for name in ("sections_interleaved", "time_last", "backwards"):
            require.flag(getattr(self, name), name)
        if self.sections_interleaved and self.time_last:
            raise ValueError(
                "sections_interleaved=True deals out the pairs to all axes in turn, time_last=True only to "
                "height and width; give one of the two"
            )
        if self.sections is not None:
            self._read_sections(self.sections)
        elif self.sections_interleaved or self.time_last:
            raise ValueError(
                "sections_interleaved and time_last say how sections are dealt out, but there are no "
                "sections; give sections, or leave both False"
            )

    def _read_sections(self, given: Any) -> None:
        if not isinstance(given, (tuple, list)):
            raise TypeError(f"sections={given!r}; give the pairs of each axis, such as (16, 24, 24), or None")
        sections = tuple(require.count(n, "an element of sections") for n in given)
        if sum(sections) != self.rotary_dim // 2:
            raise ValueError(
                f"sections={sections} add up to {sum(sections)} pairs; give {self.rotary_dim // 2} in all, "
                f"half of rotary_dim={self.rotary_dim}"
            )
        owners(sections, self._dealt())
        object.__setattr__(self, "sections", sections)

    def _dealt(self) -> str:
        """How the pairs are dealt out to the axes."""
        return "time last" if self.time_last else "in turn" if self.sections_interleaved else "in runs"

    def tables(self, positions: int | Array, *, dtype: Any = None, like: Array | None = None) -> RotaryTables:
        """Tables for positions of one number per token, as `rotary_tables`.

        For a model with M-RoPE these are its tables for plain text. Where positions are a number of them, the
        tables are of the library and device of the array `like`, such as the queries; NumPy by default.
        """
        if like is not None and require.is_count(positions):
            positions = constant(require.positions(positions), like)
        return self._turned(
            rotary_tables(positions, self.rotary_dim, base=self.base, scaling=self.scaling, dtype=dtype)
        )

    def section_tables(self, positions: Array, *, dtype: Any = None) -> RotaryTables:
        """Tables for positions of one number per axis, (axes, ...), as `mrope_tables`.

        Raises:
            ValueError: the model has no sections.
        """
        if self.sections is None:
            raise ValueError("this model's config has no mrope_section; use tables(positions)")
        return self._turned(
            tables_by_owner(
                positions,
                self.rotary_dim,
                self.sections,
                self._dealt(),
                base=self.base,
                scaling=self.scaling,
                dtype=dtype,
            )
        )

    def rotate(
        self, x: Array, tables: RotaryTables, *, seq_axis: int = -2, out: Array | None = None
    ) -> Array:
        """Rotate in the model's layout; arguments as in `rotate`.

        Raises:
            ValueError: the last axis of x is not head_dim wide.
        """
        namespace(x)
        if x.ndim and x.shape[-1] != self.head_dim:
            raise ValueError(
                f"x of shape {tuple(x.shape)} has {x.shape[-1]} columns; these settings are for head_dim="
                f"{self.head_dim}. If a head has more columns, give only the part that turns"
            )
        return rotate(x, tables, layout=self.layout, seq_axis=seq_axis, out=out)

    def _turned(self, tables: RotaryTables) -> RotaryTables:
        return RotaryTables(tables.cos, -tables.sin) if self.backwards else tables


FORMULAS = ("llama4", "ministral3", "beam", "inkling", "log", "clipped log")
"""Of the temperature of queries."""
Formula = Literal["llama4", "ministral3", "beam", "inkling", "log", "clipped log"]


@dataclass(frozen=True)
class QueryTemperature:
    """By what a layer multiplies a query, so that attention stays sharp in long texts.

    Call it with positions; it gives a factor for each.

    Attributes:
        formula: "llama4": 1 + beta * ln(1 + floor((p + 1) / length)). "ministral3": 1 + beta * ln(1 +
            floor(p / length)). "beam": (1 + p / length)^beta. "inkling": 1 + beta * ln((p + 1) / length),
            and 1 where it would be less. "log": beta * ln(p + 1) / ln(length), where p + 1 is how many keys a
            causal query sees. "clipped log": the same, and 1 where it would be less.
        beta: the first number in it.
        length: the second. With "log", beta = 1 and the length of training are Su's, and a beta per layer
            with length = e is Scalable-Softmax.

    Raises:
        TypeError, ValueError: an unknown formula; a beta that is not finite; a length not above 0, or not
            above 1 for a logarithm; from a call, positions as for `rotary_tables`, or below 0.

    Source: transformers 5.24.0, `modeling_llama4.py`, `modeling_ministral3.py`, `modeling_beam.py` and
    `modeling_inkling.py`;
    Nakanishi 2025, "Scalable-Softmax Is Superior for Attention" (arXiv 2501.19399); Su 2021, "Entropy
    invariance of attention" (kexue.fm/archives/8823). Qwen's first `modeling_qwen.py` has the clipped form
    (`use_logn_attn`), as has the code of Self-Extend (`scale_base`).

    Example:
        >>> import numpy as np
        >>> QueryTemperature("llama4", 0.1, 8192)(np.asarray([0, 8191, 100_000])).round(4)
        array([1.    , 1.0693, 1.2565])
    """

    formula: Formula
    beta: float
    length: float

    def __post_init__(self) -> None:
        require.choice(self.formula, "formula", FORMULAS)
        require.finite(self.beta, "beta", "give a number such as 0.1")
        require.positive(self.length, "length")
        if "log" in self.formula and self.length <= 1:
            raise ValueError(f"length={self.length!r} has no logarithm above 0; give a length above 1")

    def __call__(self, positions: int | Array) -> Array:
        """(...,) factors for positions (...,), in float64 where the library has it."""
        p = widen(require.positions(positions))
        xp = namespace(p)
        require.all_hold(p >= 0, positions, "positions must be 0 or more: a query sees position + 1 keys")
        if self.formula == "beam":
            return (1 + p / self.length) ** self.beta
        if "log" in self.formula:
            factor = xp.log1p(p) * (self.beta / math.log(self.length))
            return factor if self.formula == "log" else xp.where(factor > 1, factor, xp.ones_like(factor))
        if self.formula == "inkling":
            share = (p + 1) / self.length
            return 1 + self.beta * xp.log(xp.where(share > 1, share, xp.ones_like(share)))
        steps = xp.floor((p + 1 if self.formula == "llama4" else p) / self.length)
        return 1 + self.beta * xp.log(1 + steps)


@dataclass(frozen=True)
class LayerPositions:
    """What one layer of a model does with positions.

    Attributes:
        index: the layer's number, from 0.
        kind: "full_attention", "sliding_attention", "chunked_attention", "linear_attention" or another name
            of Hugging Face's `layer_types`.
        rope: its rotation; None for a layer that does not rotate.
        window: how many keys a query of this layer sees going back, itself among them, and as far ahead in
            a model that looks both ways: what `window_mask` takes. Configs count it in several ways
            (ModernBERT on both sides, so that its 128 is 65 here). Of "chunked_attention" the length of a
            chunk. None for all.
        temperature: by what a query is multiplied, by its position; None for nothing.
        softmax_scale: by what scores are multiplied before the softmax, where it can be told from the
            config; None for a layer without such scores. With MLA it includes YaRN's square of 0.1 *
            mscale_all_dim * ln(factor) + 1.
        softmax_factor: softmax_scale * sqrt(width of a head's queries): 1.0 in most models.
        also: what else this layer does with positions that no other attribute holds, in words: this entry
            is then not all of it. "" where nothing is known.

    Example:
        >>> LayerPositions(3, "full_attention").rotates
        False
    """

    index: int
    kind: str
    rope: RopeSettings | None = None
    window: int | None = None
    temperature: QueryTemperature | None = None
    softmax_scale: float | None = None
    softmax_factor: float = 1.0
    also: str = ""

    @property
    def rotates(self) -> bool:
        """Whether this layer turns its queries and keys."""
        return self.rope is not None
