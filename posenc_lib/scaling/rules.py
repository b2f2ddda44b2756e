"""Rules that change RoPE's frequencies, so that a model reads further than it was trained.

Every rule is a frozen dataclass with two things to offer: `scale(frequencies, *, dim, base)`, the
changed frequencies in rad/position, and `attention_scaling`, by which the tables of cosines and
sines are multiplied (1.0 for all but YaRN and LongRoPE). A rule holds all that its result depends
on: none of them remembers what was rotated before.

What they do to pair i of wavelength 2*pi/w_i, for a context s times as long:

| rule | fast pairs | slow pairs |
|---|---|---|
| `LinearScaling` | w/s | w/s |
| `NTKScaling`, `DynamicNTKScaling` | as they were | w/s, and in between a geometric series |
| `NTKByPartsScaling`, `YaRNScaling`, `Llama3Scaling` | as they were | w/s, and in between a ramp |
| `LongRoPEScaling` | w / a searched list of factors | the same |
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from posenc_lib import _require as require


@runtime_checkable
class Scaling(Protocol):
    """What `scaling=` takes: a rule from plain frequencies to changed ones."""

    @property
    def attention_scaling(self) -> float:
        """What cosines and sines are multiplied by, so that a score gets it squared."""

    def scale(self, frequencies: np.ndarray, *, dim: int, base: float) -> np.ndarray:
        """(dim/2,) plain frequencies to (dim/2,) changed ones, both in rad/position."""


@dataclass(frozen=True)
class LinearScaling:
    """Position interpolation (PI): every frequency divided by `factor`.

    Position p of the long context then looks like position p/factor of the short one.

    Args:
        factor: how many times longer the context becomes; above 0.

    Raises:
        TypeError: factor is not a number.
        ValueError: factor is not finite and above 0.

    Source: Chen et al. 2023, "Extending Context Window of Large Language Models via Positional
    Interpolation", section 2.3. What keras-hub 0.32 calls "dynamic" also divides every frequency alike;
    it is not dynamic NTK.

    Example:
        >>> import numpy as np
        >>> LinearScaling(4.0).scale(np.asarray([1.0, 0.01]), dim=4, base=10000.0)
        array([0.25  , 0.0025])
    """

    factor: float
    attention_scaling: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        require.positive(self.factor, "factor")

    def scale(self, frequencies: np.ndarray, *, dim: int, base: float) -> np.ndarray:
        """All frequencies divided by `factor`."""
        return frequencies / self.factor


@dataclass(frozen=True)
class NTKScaling:
    """NTK-aware scaling: the base grows to base * factor^(dim/(dim-2)).

    The exponent is chosen so that the slowest pair is divided by exactly `factor`, while the
    fastest keeps its frequency.

    Args:
        factor: how many times longer the context becomes; above 0.

    Raises:
        TypeError, ValueError: as `LinearScaling`; `scale` also refuses dim 2, which has one pair.

    Source: Peng et al. 2023, "YaRN", section 3.1. rotary-embedding-torch and x-transformers use the
    same exponent; diffusers' `ntk_factor` multiplies the base by the factor alone, without dim/(dim-2).

    Example:
        >>> import numpy as np
        >>> NTKScaling(4.0).scale(np.asarray([1.0, 0.01]), dim=4, base=10000.0)
        array([1.    , 0.0025])
    """

    factor: float
    attention_scaling: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        require.positive(self.factor, "factor")

    def scale(self, frequencies: np.ndarray, *, dim: int, base: float) -> np.ndarray:
        """The frequencies of the grown base."""
        return _with_base_times(self.factor, frequencies, dim)


@dataclass(frozen=True)
class DynamicNTKScaling:
    """NTK-aware scaling whose factor follows from the length to be read.

    Up to `original_length` nothing changes. Beyond it, with r = length / original_length:

    - `formula="transformers"`, the default: s = factor * r - (factor - 1), as Hugging Face's
      `rope_type="dynamic"`. At factor 4 and four times the length (dim 128) base 10,000 becomes 135,402.
    - `formula="paper"`: s = r, as the YaRN paper. In the same case base 10,000 becomes 40,890, and
      `factor` plays no part.

    The default agrees with the checkpoints. Keys rotated for one length do not fit queries rotated
    for another: choose the longest length that a cache of keys will hold, before it is filled.
    transformers instead lets the base grow with what it has seen, so that its result depends on
    what was run before (its issue 25104); here the length is given, and nothing else counts.

    Args:
        factor: Hugging Face's `factor`; above 0.
        original_length: positions the model was trained for (`max_position_embeddings`).
        length: positions it is to read.
        formula: "transformers" or "paper".

    Raises:
        TypeError: one of the three is not a number.
        ValueError: one of them is not finite and above 0, or the formula is unknown.

    Source: Peng et al. 2023, "YaRN", section 3.3; transformers, `modeling_rope_utils.py`.

    Example:
        >>> import numpy as np
        >>> rule = DynamicNTKScaling(2.0, original_length=4096, length=8192)
        >>> rule.scale(np.asarray([1.0, 0.01]), dim=4, base=10000.0).round(6)
        array([1.      , 0.003333])
    """

    factor: float
    original_length: int
    length: int
    formula: Literal["transformers", "paper"] = "transformers"
    attention_scaling: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        for name in ("factor", "original_length", "length"):
            require.positive(getattr(self, name), name)
        require.choice(self.formula, "formula", ("transformers", "paper"))

    def scale(self, frequencies: np.ndarray, *, dim: int, base: float) -> np.ndarray:
        """The frequencies of the base grown for `length`."""
        ratio = max(self.length, self.original_length) / self.original_length
        grown = ratio if self.formula == "paper" else self.factor * ratio - (self.factor - 1)
        return _with_base_times(grown, frequencies, dim)


@dataclass(frozen=True)
class NTKByPartsScaling:
    """Divide slow pairs by `factor`, leave fast ones alone, and ramp in between.

    How much of a pair is kept depends on how often it turned within the original context,
    r_i = original_length / wavelength_i: nothing at r <= alpha (divided by factor), all at
    r >= beta (unchanged), linear in r in between.

    Args:
        factor: how many times longer the context becomes; above 0.
        original_length: positions the model was trained for.
        alpha, beta: turns where the ramp begins and ends; a step where they are equal.

    Raises:
        TypeError: one of them is not a number.
        ValueError: one of them is not finite and above 0, or beta is below alpha.

    Source: Peng et al. 2023, "YaRN", section 3.2, equations 17-20 (alpha = 1, beta = 32 for LLaMA).

    Example:
        >>> import numpy as np
        >>> rule = NTKByPartsScaling(4.0, original_length=1000)
        >>> rule.scale(np.asarray([1.0, 0.1, 0.004]), dim=6, base=1e6).round(4)  # turns: 159, 16, 0.6
        array([1.    , 0.0611, 0.001 ])
    """

    factor: float
    original_length: int
    alpha: float = 1.0
    beta: float = 32.0
    attention_scaling: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        for name in ("factor", "original_length", "alpha", "beta"):
            require.positive(getattr(self, name), name)
        _require_order(alpha=self.alpha, beta=self.beta)

    def scale(self, frequencies: np.ndarray, *, dim: int, base: float) -> np.ndarray:
        """Each frequency between itself and itself / factor."""
        turns = self.original_length * frequencies / (2 * math.pi)
        return _between(frequencies, self.factor, _ramp(turns, self.alpha, self.beta))


@dataclass(frozen=True)
class Llama3Scaling:
    """The rule of Llama 3.1 and later: NTK-by-parts under other names.

    Pairs of wavelength above original_length / low_freq_factor are divided by `factor`, those
    below original_length / high_freq_factor stay, and in between the ramp is linear in the number
    of turns. That is `NTKByPartsScaling` with alpha = low_freq_factor and beta = high_freq_factor.

    Args:
        factor: how many times longer the context becomes; above 0.
        original_length: positions the model was trained for (8192).
        low_freq_factor, high_freq_factor: turns where the ramp begins and ends; a step where they are
            equal, as in Llama 4 Scout's config.

    Raises:
        TypeError, ValueError: as `NTKByPartsScaling`.

    Source: meta-llama/llama-models, `apply_scaling`; transformers' `rope_type="llama3"` agrees.

    Example:
        >>> import numpy as np
        >>> Llama3Scaling().scale(np.asarray([1.0, 0.0001]), dim=4, base=500000.0)
        array([1.00e+00, 1.25e-05])
    """

    factor: float = 8.0
    original_length: int = 8192
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    attention_scaling: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        for name in ("factor", "original_length", "low_freq_factor", "high_freq_factor"):
            require.positive(getattr(self, name), name)
        _require_order(low_freq_factor=self.low_freq_factor, high_freq_factor=self.high_freq_factor)

    def scale(self, frequencies: np.ndarray, *, dim: int, base: float) -> np.ndarray:
        """Each frequency between itself and itself / factor."""
        same = NTKByPartsScaling(
            self.factor, self.original_length, self.low_freq_factor, self.high_freq_factor
        )
        return same.scale(frequencies, dim=dim, base=base)


@dataclass(frozen=True)
class YaRNScaling:
    """YaRN: NTK-by-parts on the frequencies, and sharper attention.

    The paper and the code released with it ramp differently:

    - `ramp="pair"`, the default: linear in the pair's index, between the (fractional) indices of the
      pairs that turn `beta_fast` and `beta_slow` times, rounded outwards where `truncate`. The
      authors' code, transformers and keras-hub do this, so the checkpoints were trained with it.
    - `ramp="turns"`: linear in the number of turns, the paper's equations 17-20.

    Frequencies on the ramp differ by a good part between the two.

    Attention becomes sharper by a factor above 1 on cosines and sines, so that a score gets it squared:
    a softmax of lower temperature. The factor is `attention_factor` if given; else, with both `mscale`
    and `mscale_all_dim`, m(mscale) / m(mscale_all_dim) with m(k) = 0.1 * k * ln(factor) + 1; else
    0.1 * ln(factor) + 1, the paper's equation 22. It is 1 where factor <= 1. DeepSeek's models also
    multiply the softmax scale by m(mscale_all_dim)^2; that is the attention's part, not done here.

    Args:
        factor: how many times longer the context becomes; above 0.
        original_length: positions the model was trained for.
        beta_fast: pairs that turn more often than this within original_length stay as they are.
        beta_slow: pairs that turn less often than this are divided by factor.
        attention_factor: multiplies cosines and sines; by default from the rule above. The property
            `attention_scaling` holds the outcome.
        mscale, mscale_all_dim: see above; 0 and None both mean "not given", as in transformers.
        truncate: round the ramp's ends to whole pairs, outwards (only for `ramp="pair"`).
        ramp: "pair" or "turns".

    Raises:
        TypeError: a value is not a number, or truncate not a boolean.
        ValueError: a number out of range, beta_fast below beta_slow, or an unknown ramp.

    Source: Peng et al. 2023, "YaRN: Efficient Context Window Extension of Large Language Models",
    section 3; the authors' `LlamaYaRNScaledRotaryEmbedding.py`.

    Example:
        >>> round(YaRNScaling(16.0, original_length=4096).attention_scaling, 6)
        1.277259
    """

    factor: float
    original_length: int
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    attention_factor: float | None = None
    mscale: float | None = None
    mscale_all_dim: float | None = None
    truncate: bool = True
    ramp: Literal["pair", "turns"] = "pair"

    def __post_init__(self) -> None:
        for name in ("factor", "original_length", "beta_fast", "beta_slow"):
            require.positive(getattr(self, name), name)
        _require_order(beta_slow=self.beta_slow, beta_fast=self.beta_fast)
        require.choice(self.ramp, "ramp", ("pair", "turns"))
        if not isinstance(self.truncate, bool):
            raise TypeError(f"truncate={self.truncate!r} is not a boolean; give True or False")
        for name in ("mscale", "mscale_all_dim"):
            _require_weight(getattr(self, name), name)
        if self.attention_factor is not None:
            require.positive(self.attention_factor, "attention_factor")

    @property
    def attention_scaling(self) -> float:
        """What cosines and sines are multiplied by."""

        def m(weight: float) -> float:
            return 0.1 * weight * math.log(self.factor) + 1 if self.factor > 1 else 1.0

        if self.attention_factor is not None:
            return float(self.attention_factor)
        if self.mscale and self.mscale_all_dim:
            return m(self.mscale) / m(self.mscale_all_dim)
        return m(1.0)

    def scale(self, frequencies: np.ndarray, *, dim: int, base: float) -> np.ndarray:
        """Each frequency between itself and itself / factor."""
        if self.ramp == "turns":
            parts = NTKByPartsScaling(self.factor, self.original_length, self.beta_slow, self.beta_fast)
            return parts.scale(frequencies, dim=dim, base=base)
        first, last = self._ends(dim, base)
        return _between(
            frequencies, self.factor, 1 - _ramp(np.arange(dim // 2, dtype=np.float64), first, last)
        )

    def _ends(self, dim: int, base: float) -> tuple[float, float]:
        """The pairs between which the ramp runs."""
        if base == 1:
            raise ValueError("base=1.0 gives every pair the same frequency; YaRN needs a base above 1")
        first, last = (
            dim * math.log(self.original_length / (turns * 2 * math.pi)) / (2 * math.log(base))
            for turns in (self.beta_fast, self.beta_slow)
        )
        if self.truncate:
            first, last = math.floor(first), math.ceil(last)
        first, last = max(first, 0), min(last, dim - 1)  # dim - 1, not dim/2 - 1: as the released code
        return first, last + 0.001 if first == last else last  # no division by zero: as the released code


@dataclass(frozen=True)
class LongRoPEScaling:
    """LongRoPE: one searched divisor per pair, from a short list or a long one.

    The long list is used where `length` exceeds `original_length`, the short one up to it. Keys
    rotated with one list do not fit queries rotated with the other: choose the longest length
    that a cache of keys will hold, before it is filled.

    Args:
        short, long: (dim/2,) divisors of the frequencies, above 0.
        original_length: positions the model was trained for.
        length: positions it is to read.
        factor: how many times longer the context becomes (`max_position_embeddings` /
            `original_max_position_embeddings` in Phi-3); only for the attention factor.
        attention_factor: multiplies cosines and sines, whichever list is used; by default
            sqrt(1 + ln(factor) / ln(original_length)), or 1 where factor <= 1.

    Raises:
        TypeError: a value is not a number, or a list is not a list of numbers.
        ValueError: a number is not above 0, or neither factor nor attention_factor is given; from
            `scale`, a list whose length is not dim/2.

    Source: Ding et al. 2024, "LongRoPE"; microsoft/Phi-3's modelling code and transformers'
    `rope_type="longrope"` (formerly "su"). Unlike the paper, both scale the first tokens as well.

    Example:
        >>> import numpy as np
        >>> rule = LongRoPEScaling([1.0, 1.0], [1.0, 4.0], 4096, length=8192, factor=32.0)
        >>> rule.scale(np.asarray([1.0, 0.01]), dim=4, base=10000.0)
        array([1.    , 0.0025])
        >>> round(rule.attention_scaling, 6)
        1.190238
    """

    short: Sequence[float]
    long: Sequence[float]
    original_length: int
    length: int
    factor: float | None = None
    attention_factor: float | None = None

    def __post_init__(self) -> None:
        for name in ("short", "long"):
            object.__setattr__(self, name, _divisors(getattr(self, name), name))
        for name in ("original_length", "length"):
            require.positive(getattr(self, name), name)
        for name in ("factor", "attention_factor"):
            if getattr(self, name) is not None:
                require.positive(getattr(self, name), name)
        if self.factor is None and self.attention_factor is None:
            raise ValueError(
                "neither factor nor attention_factor is given; give factor, how many times longer the "
                "context became, or attention_factor=1.0 to leave attention as it is"
            )
        if self.original_length < 2:
            raise ValueError(
                f"original_length={self.original_length!r} has no logarithm above 0; give 2 or more"
            )

    @property
    def attention_scaling(self) -> float:
        """What cosines and sines are multiplied by."""
        if self.attention_factor is not None:
            return float(self.attention_factor)
        if self.factor is None or self.factor <= 1:
            return 1.0
        return math.sqrt(1 + math.log(self.factor) / math.log(self.original_length))

    def scale(self, frequencies: np.ndarray, *, dim: int, base: float) -> np.ndarray:
        """Each frequency divided by its divisor."""
        for name in ("short", "long"):
            if len(getattr(self, name)) != dim // 2:
                raise ValueError(
                    f"{name} has {len(getattr(self, name))} divisors, but dim={dim} has {dim // 2} pairs; "
                    "give one per pair"
                )
        divisors = self.long if self.length > self.original_length else self.short
        scaled: np.ndarray = frequencies / np.asarray(divisors, dtype=np.float64)
        return scaled


@dataclass(frozen=True)
class ProportionalScaling:
    """Turn the fastest pairs only, and let the others stand still (Gemma 4's "proportional" RoPE).

    Not the same as `rotary_dim`: the frequencies stay those of the whole dim, and in the "half"
    layout the pairs still reach across the whole head.

    Args:
        fraction: share of the pairs that turn, above 0 and at most 1.
        factor: divides the frequencies of those that turn; above 0.

    Raises:
        TypeError: one of them is not a number.
        ValueError: one of them is out of range.

    Source: Barbero et al. 2024, section 6.1 (p-RoPE); in transformers `rope_type="proportional"`.

    Example:
        >>> import numpy as np
        >>> ProportionalScaling(0.5).scale(np.asarray([1.0, 0.01]), dim=4, base=10000.0)
        array([1., 0.])
    """

    fraction: float
    factor: float = 1.0
    attention_scaling: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        if require.positive(self.fraction, "fraction") > 1:
            raise ValueError(
                f"fraction={self.fraction!r} is above 1; give the share of pairs that turn, 0 to 1"
            )
        require.positive(self.factor, "factor")

    def scale(self, frequencies: np.ndarray, *, dim: int, base: float) -> np.ndarray:
        """The first pairs' frequencies divided by `factor`, the others 0."""
        turning = np.arange(dim // 2) < int(self.fraction * dim // 2)
        return np.where(turning, frequencies / self.factor, 0.0)


def _with_base_times(factor: float, frequencies: np.ndarray, dim: int) -> np.ndarray:
    """The frequencies of base * factor^(dim/(dim-2)): pair i is divided by factor^(2i/(dim-2))."""
    if dim == 2:
        raise ValueError("dim=2 has a single pair, which NTK scaling never changes; give dim 4 or more")
    grown: np.ndarray = frequencies / factor ** (np.arange(0, dim, 2, dtype=np.float64) / (dim - 2))
    return grown


def _ramp(value: np.ndarray, low: float, high: float) -> np.ndarray:
    """0 up to low, 1 from high, linear in between; a step where the two are one."""
    if low == high:
        return np.where(value < low, 0.0, 1.0)
    return np.clip((value - low) / (high - low), 0, 1)


def _between(frequencies: np.ndarray, factor: float, kept: np.ndarray) -> np.ndarray:
    """frequencies where kept is 1, frequencies / factor where it is 0, a weighted mean in between."""
    mean: np.ndarray = (1 - kept) * frequencies / factor + kept * frequencies
    return mean


def _require_order(**ends: float) -> None:
    (low, at_low), (high, at_high) = ends.items()
    if at_high < at_low:
        raise ValueError(f"{high}={at_high!r} is below {low}={at_low!r}; give {high} >= {low}")


def _require_weight(value: Any, name: str) -> None:
    if value is None or value == 0:
        return
    require.positive(value, name)


def _divisors(given: Any, name: str) -> tuple[float, ...]:
    if type(given) not in (list, tuple, np.ndarray):
        raise TypeError(f"{name}={given!r} is not a list; give one divisor per pair, dim/2 numbers above 0")
    return tuple(require.positive(divisor, f"an element of {name}") for divisor in given)
