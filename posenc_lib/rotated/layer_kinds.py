"""What each layer of a model does, read from the many ways in which configs say so.

A kind is named as in Hugging Face's `layer_types`. Where a config has that list, it counts; for where it has
none, each family says how its layers follow from other keys (`posenc_lib.rotated.families`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from posenc_lib import _require as require

FULL, SLIDING, CHUNKED, LINEAR = (
    "full_attention",
    "sliding_attention",
    "chunked_attention",
    "linear_attention",
)
LETTERS = {
    "F": FULL,
    "s": SLIDING,
    "c": CHUNKED,
    "i": "indexed_attention",
    "H": "hybrid",
    "h": "hybrid_sliding",
    "C": "compressed_sparse_attention",
    "D": "heavily_compressed_attention",
    "r": "reference_sliding_attention",
    "3": "minimax_m3_sparse",
    "-": LINEAR,
    "v": "conv",
    "e": "moe",
}
"""The kinds, as the rows of a table write them."""

WITHOUT_ATTENTION = frozenset({LINEAR, "conv", "moe", "mlp"})
"""Kinds of layers with no queries and keys that could rotate: linear attention, state spaces, convolution."""

OLDER_NAMES = {
    "attention": FULL,
    "global": FULL,
    "global_attention": FULL,
    "local": SLIDING,
    "local_attention": SLIDING,
    "deepseek_sparse_attention": "indexed_attention",
    "qwen_sparse_attention": "indexed_attention",
    "mamba": LINEAR,
    "mamba2": LINEAR,
    "recurrent": LINEAR,
    "linear": LINEAR,
}
"""Names from before `layer_types` was one vocabulary; transformers, `configuration_utils.py`."""

KNOWN = frozenset(LETTERS.values()) | {"mlp"}

Kinds = Callable[[Mapping[str, Any], int], list[str]]
"""From a config and its number of layers to the kind of each layer."""


def each(pattern: str, period: str = "", *, last: str = "") -> Kinds:
    """The pattern's letters over and over; `period` names a key that sets another length for it.

    A longer period repeats the pattern's odd one out less often: "ssF" with period 4 is "sssF". Where `last`
    is given, the last layer is of that kind.
    """

    def kinds(config: Mapping[str, Any], layers: int) -> list[str]:
        letters, length = pattern, config.get(period) if period else None
        if isinstance(length, str):  # "LLLG", as EXAONE 4 writes it
            if not length or set(length) - set("LG"):
                raise ValueError(f"{period} must be a number or letters L and G, got {length!r}")
            letters = length.translate(str.maketrans("LG", "sF"))
        elif length is not None:
            often = pattern[1] if pattern[0] == "F" else pattern[0]
            seldom = pattern.replace(often, "")
            rest = often * (require.count(length, period) - 1)
            letters = seldom + rest if pattern[0] == seldom else rest + seldom
        found = [LETTERS[letters[i % len(letters)]] for i in range(layers)]
        return [*found[:-1], LETTERS[last]] if last and found else found

    return kinds


def all_alike(config: Mapping[str, Any], layers: int) -> list[str]:
    """Full attention, or a sliding window for every layer where the config has one."""
    return [SLIDING if config.get("sliding_window") else FULL] * layers


def from_the_end(config: Mapping[str, Any], layers: int) -> list[str]:
    """Muse: full attention in the last layer and in every fourth before it."""
    return [FULL if (layers - 1 - i) % 4 == 0 else SLIDING for i in range(layers)]


def only_where_used(config: Mapping[str, Any], layers: int) -> list[str]:
    """Qwen3-MoE: a sliding window for every layer, where `use_sliding_window`."""
    return all_alike(config, layers) if config.get("use_sliding_window") else [FULL] * layers


def from_max_window_layers(default: int, *, always: bool = False) -> Kinds:
    """Qwen 2 and 3: where `use_sliding_window`, the layers from `max_window_layers` on have a window.

    `default` is that key where it is left out; `always` is for models that do not read `use_sliding_window`.
    """

    def kinds(config: Mapping[str, Any], layers: int) -> list[str]:
        used = always or config.get("use_sliding_window")
        window = config.get("sliding_window") if used else None
        first = _max_window_layers(config, default)
        return [SLIDING if window is not None and i >= first else FULL for i in range(layers)]

    return kinds


def qwen2_moe(config: Mapping[str, Any], layers: int) -> list[str]:
    """Qwen2-MoE: where `use_sliding_window`, every other layer before `max_window_layers` has a window."""
    windows, last = bool(config.get("use_sliding_window")), _max_window_layers(config, 28)
    return [SLIDING if windows and i < last and (i + 1) % 2 else FULL for i in range(layers)]


def _max_window_layers(config: Mapping[str, Any], default: int) -> int:
    written = config.get("max_window_layers")
    return default if written is None else require.count(written, "max_window_layers", 0)


def smollm3(config: Mapping[str, Any], layers: int) -> list[str]:
    """SmolLM3: where `use_sliding_window`, the layers that do not rotate have a window."""
    windows = config.get("use_sliding_window") and config.get("sliding_window") is not None
    return [SLIDING if windows and not by_no_rope_layers(config, i) else FULL for i in range(layers)]


def by_no_rope_layers(config: Mapping[str, Any], index: int) -> bool:
    """Whether a layer rotates: `no_rope_layers` holds 0 for one that does not; else every fourth does not."""
    written = config.get("no_rope_layers")
    if written:
        return bool(of_layer(written, index, "no_rope_layers"))
    interval = config.get("no_rope_layer_interval")
    every = 4 if interval is None else require.count(interval, "no_rope_layer_interval")
    return (index + 1) % every != 0


def of_layer(value: Any, index: int, key: str) -> Any:
    """A value for all layers, or this layer's out of a list."""
    if not isinstance(value, (list, tuple)):
        return value
    if index >= len(value):
        raise ValueError(
            f"{key} holds {len(value)} values, but there is a layer {index}; give one for each layer"
        )
    return value[index]


def mimo(config: Mapping[str, Any], layers: int) -> list[str]:
    """MiMo-V2: `hybrid_layer_pattern` holds 1 for a window; else the first and every sixth layer are full."""
    pattern = config.get("hybrid_layer_pattern")
    if pattern is not None:
        return [SLIDING if sliding else FULL for sliding in pattern]
    return [FULL if i == 0 or (i + 1) % 6 == 0 else SLIDING for i in range(layers)]


def first_two_last_and_every_fourth(config: Mapping[str, Any], layers: int) -> list[str]:
    """Flint."""
    return [FULL if i < 2 or i % 4 == 1 or i == layers - 1 else SLIDING for i in range(layers)]


def dots3(config: Mapping[str, Any], layers: int) -> list[str]:
    """dots3: the first two layers and every fourth after the second look everywhere, others have a window."""
    wide = FULL if config.get("use_dsa") is False else LETTERS["i"]
    windows = config.get("use_sliding_window", True)
    return [wide if not windows or i < 2 or i % 4 == 1 else SLIDING for i in range(layers)]


def listed_as_full(key: str, *, others: str, default: str) -> Kinds:
    """`key` lists the layers with full attention; the letter `others` names the kind of the rest."""

    def kinds(config: Mapping[str, Any], layers: int) -> list[str]:
        listed = config.get(key)
        if listed is None:
            return [LETTERS[default]] * layers
        return [FULL if i in listed else LETTERS[others] for i in range(layers)]

    return kinds


def inkling(config: Mapping[str, Any], layers: int) -> list[str]:
    """Inkling: `local_layer_ids` lists the layers with a window; by default all but every sixth."""
    local = config.get("local_layer_ids")
    windows = (i in local if local is not None else (i + 1) % 6 for i in range(layers))
    return [LETTERS["h"] if window else LETTERS["H"] for window in windows]


def lfm3(config: Mapping[str, Any], layers: int) -> list[str]:
    """LFM3: convolutions, and every other layer attention, full and sliding in turn."""
    return [FULL if i % 4 == 2 else SLIDING if i % 4 == 0 and i else LETTERS["v"] for i in range(layers)]


def zamba2(config: Mapping[str, Any], layers: int) -> list[str]:
    """Zamba 2: `hybrid_layer_ids` lists the layers with shared attention."""
    hybrid = config.get("hybrid_layer_ids")
    if hybrid is None:
        hybrid = (6, 12, 18, 24, 30, 36, 42, 47, 51)
    return [LETTERS["H"] if i in hybrid else LINEAR for i in range(layers)]


def kimi_linear(config: Mapping[str, Any], layers: int) -> list[str]:
    """Kimi-Linear: `linear_attn_config` lists the layers with full attention, counted from 1."""
    full = (config.get("linear_attn_config") or {}).get("full_attn_layers")
    if full is None:
        return [FULL if i % 4 == 3 else LINEAR for i in range(layers)]
    return [FULL if i + 1 in full else LINEAR for i in range(layers)]


def minimax_01(config: Mapping[str, Any], layers: int) -> list[str]:
    """MiniMax-01: `attn_type_list` holds 1 for softmax attention, 0 for lightning attention."""
    listed = config.get("attn_type_list")
    if listed is None:
        return each("F-")(config, layers)
    return [FULL if softmax else LINEAR for softmax in listed]


def deepseek_v4(config: Mapping[str, Any], layers: int) -> list[str]:
    """DeepSeek-V4: `compress_ratios`, 0 for a window alone, 4 sparse and 128 heavy compression beside it."""
    ratios = config.get("compress_ratios")
    if ratios is None:
        rest = [LETTERS["C"] if i % 2 else LETTERS["D"] for i in range(max(layers - 2, 0))]
        return [LETTERS["D"]] * min(layers, 2) + rest
    names = {0: SLIDING, 4: LETTERS["C"], 128: LETTERS["D"]}
    if unknown := [ratio for ratio in ratios[:layers] if ratio not in names]:
        raise ValueError(f"compress_ratios must be of {list(names)}, got {unknown[0]!r}")
    return [names[ratio] for ratio in ratios[:layers]]


def ultrabert(config: Mapping[str, Any], layers: int) -> list[str]:
    """UltraBERT: `attention_windows` holds a window, or null or 0 for none."""
    windows = config.get("attention_windows")
    return each("ssF")(config, layers) if windows is None else [SLIDING if w else FULL for w in windows]


def cohere2_moe(config: Mapping[str, Any], layers: int) -> list[str]:
    """Cohere2-MoE: its first dense layers count on their own."""
    dense = int(config.get("first_k_dense_replace") or 0)
    prefix = config.get("prefix_dense_sliding_window_pattern") or 1
    rest = config.get("sliding_window_pattern") or 4
    return [FULL if (i + 1) % prefix == 0 else SLIDING for i in range(dense)] + [
        FULL if (i + 1) % rest == 0 else SLIDING for i in range(layers - dense)
    ]


def jamba(config: Mapping[str, Any], layers: int) -> list[str]:
    """Jamba: attention in every `attn_layer_period`-th layer, from `attn_layer_offset` on."""
    period, offset = config.get("attn_layer_period", 8), config.get("attn_layer_offset", 4)
    return [FULL if i % period == offset else LINEAR for i in range(layers)]


def zamba(config: Mapping[str, Any], layers: int) -> list[str]:
    """Zamba: shared attention in the third layer, and from there on as in Jamba, with a period of 6."""
    period, offset = config.get("attn_layer_period", 6), config.get("attn_layer_offset", 4)
    rest = [LETTERS["H"] if i % period == offset else LINEAR for i in range(max(layers - 3, 0))]
    return [LINEAR, LINEAR, LETTERS["H"], *rest][:layers]


def nemotron_h(config: Mapping[str, Any], layers: int) -> list[str]:
    """Nemotron-H: `hybrid_override_pattern`, M for Mamba, * for attention, - and E for feed-forward."""
    letters = {"M": LINEAR, "*": FULL, "-": "mlp", "E": "moe"}
    pattern = config.get("hybrid_override_pattern")
    if not isinstance(pattern, str) or set(pattern) - set(letters):
        raise ValueError(
            "this config has neither layers_block_type nor hybrid_override_pattern; add one of them"
        )
    return [letters[letter] for letter in pattern]
