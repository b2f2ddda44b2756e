"""Models of transformers made tiny, whose queries and keys are caught on their way into attention.

A model runs twice on the same tokens, with all positions 0 and with real ones. Attention gives back zeros, so
that in both runs each layer sees the same vectors: what differs of what reaches attention, positions did.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import importlib.util
import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import torch

POSITIONS = torch.tensor([[0, 1, 2, 5, 17, 130, 1000, 9000]])
LAYERS = 8
WITHOUT_DEFAULTS = {"gemma4_assistant", "nougat"}
"""Families whose config class refuses its own defaults."""

# fmt: off
SMALL = {
    "vocab_size": 40, "vocab_size_per_layer_input": 40, "hidden_size_per_layer_input": 8,
    "intermediate_size": 16, "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16,
    "shared_intermediate_size": 16, "intermediate_size_mlp": 16, "dense_intermediate_size": 16,
    "expert_ffn_hidden_size": 16, "n_inner": 16, "num_experts": 4, "n_routed_experts": 4,
    "num_local_experts": 4, "moe_num_experts": 4, "num_experts_per_tok": 2, "num_experts_per_token": 2,
    "moe_k": 2, "n_shared_experts": 1, "n_group": 1, "topk_group": 1, "q_lora_rank": 16,
    "kv_lora_rank": 16, "o_lora_rank": 16, "o_groups": 1, "index_n_heads": 2, "index_topk": 4,
    "laurel_rank": 4, "linear_num_key_heads": 2, "linear_num_value_heads": 2, "mamba_d_state": 8,
    "num_mem_blocks": 1, "loop_num_passes": 1,
}
# fmt: on


Pair = tuple[torch.Tensor, torch.Tensor]


@dataclasses.dataclass
class Seen:
    """One call of attention: the layer, queries and keys at 0 and in their places, the scale.

    Where the model's own function for rotation was called as often: what went in and what came out.
    """

    layer: int
    at_zero: Pair
    placed: Pair
    scale: float | None
    unrotated: Pair | None = None
    rotated: Pair | None = None


@functools.cache
def configs() -> dict[str, Any]:
    """The default config of every model_type of transformers, with all that stand inside others alone."""
    import transformers
    from transformers.configuration_utils import PreTrainedConfig

    transformers.logging.set_verbosity_error()
    names = sorted(set(transformers.CONFIG_MAPPING) - WITHOUT_DEFAULTS)
    found = {name: transformers.CONFIG_MAPPING[name]() for name in names}

    def visit(config: Any) -> None:
        for inner in vars(config).values():
            if isinstance(inner, PreTrainedConfig):
                found.setdefault(inner.model_type, inner)  # a class's own defaults come before a parent's
                visit(inner)

    for config in list(found.values()):
        visit(config)
    found.pop("", None)
    return found


def shrunk(config: Any, **more: Any) -> Any:
    """A config of the same class, with the defaults that count for positions and little else."""
    changes = {name: size for name, size in SMALL.items() if _number(config, name)}
    tokens = ("pad_token_id", "bos_token_id", "eos_token_id")
    changes |= {name: n for n, name in enumerate(tokens) if hasattr(config, name)}
    width, heads = _number(config, "hidden_size"), _number(config, "num_attention_heads")
    own = "head_dim" in vars(config) and _number(config, "head_dim")
    changes |= {"num_attention_heads": 2, "hidden_size": 2 * (own or width // heads)}
    changes |= {"num_hidden_layers": min(LAYERS, config.num_hidden_layers)}
    if _number(config, "num_key_value_heads"):
        changes["num_key_value_heads"] = 2 if config.num_key_value_heads == heads else 1
    return type(config)(**{**changes, **more})


def runs(config: Any) -> list[Seen]:
    """What reaches attention in each layer that has it."""
    module = model_code(config)
    with _caught() as caught, _rotations_of(module) as rotations:
        torch.manual_seed(0)
        config._attn_implementation = "caught"
        model = _model_class(module, config)(config).eval()
        both = []
        for positions in (torch.zeros_like(POSITIONS), POSITIONS):
            caught.clear()
            rotations.clear()
            with torch.no_grad():
                model(input_ids=torch.arange(3, 11)[None], position_ids=positions, use_cache=False)
            both.append(list(caught))
    if any(layer is not None for layer, *_ in both[0]):  # and what has no number is not a layer
        both = [[call for call in calls if call[0] is not None] for calls in both]
    found = [
        Seen(n if layer is None else layer, at_zero, placed, scale)
        for n, ((_, at_zero, _), (layer, placed, scale)) in enumerate(zip(*both, strict=True))
    ]
    if len(rotations) == len(found):
        for seen, (before, after) in zip(found, rotations, strict=True):
            seen.unrotated, seen.rotated = before, after
    return found


def masks(config: Any, length: int) -> list[tuple[int, torch.Tensor]]:
    """The number of each layer that has attention, and at which keys its queries may look."""
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, sdpa_mask
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    found: list[tuple[int, torch.Tensor]] = []

    def attention(
        module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **_: Any
    ) -> tuple[Any, None]:
        if attention_mask is not None:  # Inkling 2 also attends from block to block, of one token
            found.append((getattr(module, "layer_idx", len(found)), attention_mask[0, 0]))
        return query.new_zeros(query.shape[0], query.shape[2], query.shape[1], value.shape[-1]), None

    def whole_mask(*given: Any, **options: Any) -> Any:
        whole = {"allow_is_causal_skip": False, "allow_is_bidirectional_skip": False}
        return sdpa_mask(*given, **{**options, **whole})

    ALL_ATTENTION_FUNCTIONS.register("masks", attention)
    ALL_MASK_ATTENTION_FUNCTIONS.register("masks", whole_mask)
    module = model_code(config)
    torch.manual_seed(0)
    config._attn_implementation = "masks"
    with torch.no_grad():
        _model_class(module, config)(config).eval()(
            input_ids=torch.arange(length)[None] % 30 + 3, use_cache=False
        )
    return found


@contextlib.contextmanager
def _caught() -> Iterator[list[Any]]:
    """Attention that notes what it is given and gives back zeros."""
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    calls: list[Any] = []

    def attention(module: Any, query: Any, key: Any, value: Any, *_: Any, **options: Any) -> tuple[Any, None]:
        calls.append((getattr(module, "layer_idx", None), (query, key), options.get("scaling")))
        batch, heads, length, _ = query.shape
        return torch.zeros(batch, length, heads, value.shape[-1]), None

    ALL_ATTENTION_FUNCTIONS.register("caught", attention)
    yield calls


@contextlib.contextmanager
def _rotations_of(module: ModuleType) -> Iterator[list[tuple[Pair, Pair]]]:
    """Calls of the model's own functions for rotation, as long as they take queries and keys together."""
    calls: list[tuple[Pair, Pair]] = []

    def noting(function: Callable[..., Any]) -> Callable[..., Any]:
        def rotation(*given: Any, **named: Any) -> Any:
            result = function(*given, **named)
            pair = [*given, named.get("q"), named.get("k")]
            tensors = [each.clone() for each in pair if isinstance(each, torch.Tensor)][:2]
            if isinstance(result, tuple):
                calls.append(((tensors[0], tensors[1]), (result[0], result[1])))
            return result

        return rotation

    plain = {
        name: function
        for name, function in vars(module).items()
        if inspect.isfunction(function) and name.startswith("apply_rot")
    }
    vars(module).update({name: noting(function) for name, function in plain.items()})
    yield calls
    vars(module).update(plain)


def model_code(config: Any) -> ModuleType:
    """The module with the model of this config: its family's own, or another's that reads it."""
    from transformers import MODEL_MAPPING

    own = type(config).__module__.replace(".configuration_", ".modeling_")
    if importlib.util.find_spec(own):
        return importlib.import_module(own)
    return importlib.import_module(MODEL_MAPPING[type(config)].__module__)


def _model_class(module: ModuleType, config: Any) -> Any:
    """The class for this config, without a head, if there is one."""
    from transformers import MODEL_MAPPING, PreTrainedModel

    classes = [
        found
        for found in vars(module).values()
        if inspect.isclass(found)
        and issubclass(found, PreTrainedModel)
        and found.config_class is type(config)
        and "PreTrained" not in found.__name__
    ]
    if not classes:  # another family's, which reads this config as well
        return MODEL_MAPPING[type(config)]
    return min(classes, key=lambda found: (not found.__name__.endswith("Model"), len(found.__name__)))


def _number(config: Any, name: str) -> int:
    try:
        value = getattr(config, name, None)
    except Exception:  # a value that differs between layers
        value = config.to_dict().get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
