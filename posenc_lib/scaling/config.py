"""Scaling rules from Hugging Face's `rope_scaling` and `rope_parameters` dicts, as they are in a
checkpoint's config.

Both spellings are read: the old one ("type", with `rope_theta` outside) and the new one
("rope_type", with `rope_theta` inside). Nothing in a dict is passed over: a key that is not
known for its rope type is an error, for it might change the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from posenc_lib import _require as require
from posenc_lib.scaling.rules import (
    DynamicNTKScaling,
    LinearScaling,
    Llama3Scaling,
    LongRoPEScaling,
    ProportionalScaling,
    Scaling,
    YaRNScaling,
)

DEFAULT_BASE = 10000.0
_ANYWHERE = {"type", "rope_type", "rope_theta", "partial_rotary_factor", "finetuned"}
_SECTIONS = {"mrope_section", "mrope_interleaved"}
_ORIGINAL = "original_max_position_embeddings"


@dataclass(frozen=True)
class _Given:
    """A dict, and what its rule needs from elsewhere."""

    parameters: Mapping[str, Any]
    max_length: int | None
    length: int | None

    def get(self, key: str, default: Any = None) -> Any:
        value = self.parameters.get(key)
        return default if value is None else value

    def original_length(self) -> Any:
        """Positions of the first training: written in the dict, else the config's maximum."""
        written = self.get(_ORIGINAL)
        return self.needed("max_length", "max_position_embeddings") if written is None else written

    def needed(self, name: str, meaning: str) -> Any:
        value = getattr(self, name)
        if value is None:
            raise ValueError(
                f"rope type {rope_type(self.parameters)!r} also needs {meaning}, which is outside the dict; "
                f"build the rule with scaling_from_config(..., {name}=...), or read the whole config with "
                "rope_from_config(config, length=...)"
            )
        return value


def _linear(given: _Given) -> Scaling:
    return LinearScaling(given.get("factor"))


def _dynamic(given: _Given) -> Scaling:
    return DynamicNTKScaling(
        given.get("factor"),
        original_length=given.needed("max_length", "max_position_embeddings"),
        length=given.needed("length", "the length of the longest sequence"),
    )


def _yarn(given: _Given) -> Scaling:
    original, factor = given.original_length(), given.get("factor")
    if factor is None:
        factor = given.needed("max_length", "max_position_embeddings") / original
    return YaRNScaling(
        factor,
        original,
        beta_fast=given.get("beta_fast", 32.0),
        beta_slow=given.get("beta_slow", 1.0),
        attention_factor=given.get("attention_factor"),
        mscale=given.get("mscale"),
        mscale_all_dim=given.get("mscale_all_dim"),
        truncate=given.parameters.get("truncate", True) or False,  # null is no, as in transformers
    )


def _llama3(given: _Given) -> Scaling:
    return Llama3Scaling(
        given.get("factor"),
        given.original_length(),
        low_freq_factor=given.get("low_freq_factor"),
        high_freq_factor=given.get("high_freq_factor"),
    )


def _longrope(given: _Given) -> Scaling:
    original = given.original_length()
    length = given.needed("length", "the length of the longest sequence")
    factor, attention_factor = given.get("factor"), given.get("attention_factor")
    if attention_factor is None:  # Phi-3.5-MoE names one factor per list instead
        attention_factor = given.get("long_mscale" if length > original else "short_mscale")
    if factor is None and attention_factor is None:
        factor = given.needed("max_length", "max_position_embeddings") / original
    return LongRoPEScaling(
        given.get("short_factor"),
        given.get("long_factor"),
        original,
        length=length,
        factor=factor,
        attention_factor=attention_factor,
    )


def _proportional(given: _Given) -> Scaling:
    return ProportionalScaling(given.get("partial_rotary_factor", 1.0), given.get("factor", 1.0))


def _plain(given: _Given) -> None:
    return None


@dataclass(frozen=True)
class _Kind:
    build: Callable[[_Given], Scaling | None]
    required: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()


def _kind(build: Callable[[_Given], Scaling | None], required: str = "", optional: str = "") -> _Kind:
    return _Kind(build, frozenset(required.split()), frozenset(optional.split()))


_KINDS = {
    "default": _kind(_plain),
    "mrope": _kind(_plain),  # Qwen2-VL's first configs; what is special is in mrope_section
    "linear": _kind(_linear, "factor"),
    "dynamic": _kind(_dynamic, "factor"),
    "yarn": _kind(
        _yarn,
        optional=f"factor {_ORIGINAL} attention_factor beta_fast beta_slow mscale mscale_all_dim truncate",
    ),
    "llama3": _kind(_llama3, "factor low_freq_factor high_freq_factor", _ORIGINAL),
    "longrope": _kind(
        _longrope,
        "short_factor long_factor",
        f"factor {_ORIGINAL} attention_factor short_mscale long_mscale",
    ),
    "proportional": _kind(_proportional, optional="factor"),
}
_KINDS["su"] = _KINDS["longrope"]  # Phi-3's first configs


def scaling_from_config(
    parameters: Mapping[str, Any] | None, *, max_length: int | None = None, length: int | None = None
) -> Scaling | None:
    """The scaling rule that a `rope_scaling` or `rope_parameters` dict describes.

    Args:
        parameters: the dict, or None for no scaling.
        max_length: the config's `max_position_embeddings`; needed by "dynamic", and by others
            where the dict names no `original_max_position_embeddings` or factor.
        length: the longest sequence to be read (prompt and what is generated); needed by
            "dynamic" and "longrope", whose frequencies depend on it.

    Returns:
        The rule, or None for "default" and for None.

    Raises:
        TypeError: parameters are not a dict, or a value has the wrong type.
        ValueError: an unknown rope type, a key that is missing or unknown, a value out of range, or
            max_length or length needed and not given.

    Source: transformers 5.24, `modeling_rope_utils.py`.

    Example:
        >>> scaling_from_config({"type": "linear", "factor": 2.0})
        LinearScaling(factor=2.0)
    """
    if parameters is None:
        return None
    if not isinstance(parameters, Mapping):
        raise TypeError(f"the rope parameters are {parameters!r}; give a dict, as in a checkpoint's config")
    for name, value in (("max_length", max_length), ("length", length)):
        if value is not None:
            require.positive(value, name)
    kind = _KINDS[rope_type(parameters)]
    _require_keys(parameters, kind)
    try:
        return kind.build(_Given(parameters, max_length, length))
    except (TypeError, ValueError) as error:
        raise type(error)(f"rope parameters {dict(parameters)!r}: {error}") from error


def rope_type(parameters: Mapping[str, Any]) -> str:
    """The name of the rule, from "rope_type" or "type"; "default" where a dict has neither and no rule."""
    new, old = parameters.get("rope_type"), parameters.get("type")
    allowed = tuple(sorted(_KINDS))
    for name in (new, old):
        if name == "axial":
            raise ValueError(
                "rope_type='axial' turns by several coordinates and is not a rule for frequencies; "
                "axial_tables(positions, head_dim, base=rope_theta) makes its tables for rows and columns"
            )
        if name is not None:
            require.choice(name, "rope_type", allowed)
    if new is not None and old is not None and _KINDS[new].build is not _KINDS[old].build:
        raise ValueError(f"rope_type={new!r} and type={old!r} contradict each other; keep the right one")
    if new is None and old is None:
        nested = [key for key, value in parameters.items() if isinstance(value, Mapping)]
        if nested:
            raise ValueError(
                f"the rope parameters hold one dict for each layer type, {', '.join(map(repr, nested))}; "
                "give one of these dicts, or rope_from_config(config, layer_type=...)"
            )
        if set(parameters) - _ANYWHERE - _SECTIONS:
            raise ValueError(
                f"the rope parameters have no rope_type; add one of {', '.join(map(repr, allowed))}"
            )
    return new or old or "default"


def read_scaling(scaling: Any, base: float) -> tuple[float, Scaling | None]:
    """What `scaling=` was given, as a base and a rule.

    A dict's own `rope_theta` replaces the default base, and must agree with any other.
    """
    base = require.positive(base, "base")
    if scaling is None:
        return base, None
    if isinstance(scaling, Mapping):
        rule = scaling_from_config(scaling)
        theta = scaling.get("rope_theta")
        if theta is None:
            return base, rule
        theta = require.positive(theta, "rope_theta")
        if base not in (DEFAULT_BASE, theta):
            raise ValueError(
                f"base={base!r} contradicts the scaling dict's rope_theta={theta!r}; leave out base"
            )
        return theta, rule
    if isinstance(scaling, type) or not callable(getattr(scaling, "scale", None)):
        raise TypeError(
            f"scaling={scaling!r} is not a scaling rule; give None, a rule such as YaRNScaling(4.0, 32768), "
            "an object with a method scale(frequencies, *, dim, base), or a rope_scaling dict"
        )
    return base, scaling


def partial_rotary_dim(parameters: Mapping[str, Any], head_dim: int) -> int:
    """How many columns of head_dim turn, by the dict's `partial_rotary_factor`."""
    share = parameters.get("partial_rotary_factor")
    if share is None or rope_type(parameters) == "proportional":
        return head_dim
    if require.positive(share, "partial_rotary_factor") > 1:
        raise ValueError(f"partial_rotary_factor={share!r} is above 1; give a share of head_dim")
    return int(head_dim * share)


def _require_keys(parameters: Mapping[str, Any], kind: _Kind) -> None:
    name = rope_type(parameters)
    missing = sorted(key for key in kind.required if parameters.get(key) is None)
    if missing:
        raise ValueError(
            f"rope type {name!r} needs {', '.join(map(repr, missing))}, but was given {sorted(parameters)!r}"
        )
    allowed = kind.required | kind.optional | _ANYWHERE | _SECTIONS
    unknown = sorted(set(parameters) - allowed)
    if "llama_4_scaling_beta" in unknown:
        raise ValueError(
            "llama_4_scaling_beta is not part of a rule for frequencies: it multiplies queries by their "
            "position; read the whole config with layers_from_config(config), whose layers have it as their "
            "temperature"
        )
    if unknown:
        raise ValueError(
            f"rope type {name!r} has no {', '.join(map(repr, unknown))}; its keys are "
            f"{', '.join(map(repr, sorted(allowed)))}. Remove a key that has nothing to do with rotation"
        )
