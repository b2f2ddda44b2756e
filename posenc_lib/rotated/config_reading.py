"""A config and the facts of its family: together they say what neither says alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from posenc_lib import _require as require
from posenc_lib.rotated.axial import owners
from posenc_lib.rotated.families import (
    FAMILIES,
    IMAGES,
    KEYS_UNREAD,
    PART_DEFAULTS,
    UNROTATED,
    UNROTATED_KINDS,
    WHOLES,
    WINDOW_COUNTS,
    WITHOUT_LATENT_ATTENTION,
    Family,
)
from posenc_lib.rotated.layer_kinds import (
    FULL,
    KNOWN,
    OLDER_NAMES,
    SLIDING,
    WITHOUT_ATTENTION,
    by_no_rope_layers,
    of_layer,
)
from posenc_lib.rotated.settings import LayerPositions, QueryTemperature, RopeSettings
from posenc_lib.rotated.tables import Layout
from posenc_lib.rotated.turn import LAYOUTS
from posenc_lib.scaling.config import partial_rotary_dim, rope_type, scaling_from_config
from posenc_lib.scaling.rules import NTKScaling, Scaling

SIZES = {
    "width": ("hidden_size", "n_embd", "d_model", "dim"),
    "heads": ("num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_num_attention_heads"),
    "layers": (
        "num_hidden_layers",
        "n_layer",
        "n_layers",
        "num_layers",
        "encoder_layers",
        "depth",
        "decoder_num_hidden_layers",
    ),
    "longest": ("max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len"),
}
"""The keys under which configs write their sizes; the first is the usual one."""

ROTARY = frozenset({"rope", "rotary", "mrope", "rotary_embedding"})
"""Values of `position_embedding_type` that rotate."""

UNROTATED_BY = {
    "alibi": True,
    "mla_use_nope": True,
    "rope": False,
    "use_rope": False,
    "use_rotary": False,
    "use_rotary_emb": False,
    "use_rotary_embedding": False,
}
"""Keys and the value of each that says that a model of a family that may rotate does not."""

ANOTHER_DOOR = (
    "it does not rotate: its positions are a table that is added, or a bias, or it has none; its window and "
    "softmax scale may be missing here, too"
)
"""What is said of layers of a model that rotates nothing."""

ROTATING = ("rope_theta", "rope_scaling", "rope_parameters", "rotary_dim", "rotary_emb_base", "rotary_pct")
"""Keys that only models that rotate have, but for KEYS_UNREAD."""

OF_SOME_FAMILIES = frozenset(
    {
        "compress_rope_theta",
        "global_rope_theta",
        "layer_rope_theta",
        "local_rope_theta",
        "no_rope_layers",
        "rope_condense_ratio",
        "rope_embedding_base",
        "rope_local_base_freq",
        "rope_ratio",
        "rope_scaling_layers",
        "rotary_emb_base",
        "swa_rope_theta",
    }
)
"""Keys that decide about rotation in those families that read them."""

TEXT_PARTS = ("text_config", "llm_config", "language_config", "thinker_config", "decoder", "decoder_config")
"""Where a config of several parts keeps the one that reads text, in families that WHOLES does not know."""

WINDOWED = frozenset(
    {
        "sliding_attention",
        "chunked_attention",
        "hybrid_sliding",
        "reference_sliding_attention",
        "compressed_sparse_attention",
        "heavily_compressed_attention",
    }
)
SHARES = ("partial_rotary_factor", "partial_rotary_factors", "rotary_pct", "rope_pct")
"""Keys of the share of columns that turns."""

RULES_WITH_ORIGINAL = ("llama3", "yarn", "longrope", "su")


class Given:
    """A config with the facts of its family."""

    def __init__(self, config: Any, family: str | None) -> None:
        if family is not None:
            require.choice(family, "family", tuple(sorted(FAMILIES)))
        self.config, self.model_type, self.inside = _text_part(_as_dict(config), family)
        if self.model_type in IMAGES:
            raise ValueError(f"model_type {self.model_type!r} is not a text model: {IMAGES[self.model_type]}")
        if family is None and self.config.get("use_mla") is False:
            self.model_type = WITHOUT_LATENT_ATTENTION.get(self.model_type, self.model_type)
        self.family = FAMILIES.get(self.model_type, Family())
        if self.family.blocks_apart:
            self.config = _blocks_joined(self.config)
        self._require_known_keys()
        if self.model_type in UNROTATED - KEYS_UNREAD:
            self._require_no_rotation()

    def _require_known_keys(self) -> None:
        """Raise ValueError for a key about rotation that this family's code does not read."""
        local = self.family.local
        read = {self.family.base_key, self.family.still, *([local.key] if local else [])}
        read |= {"rope_ratio"} if self.family.rope_ratio else set()
        read |= {"rope_scaling_layers"} if self.family.scaled_layers else set()
        unread = sorted(key for key in OF_SOME_FAMILIES - read if self.config.get(key) is not None)
        if unread and self.model_type in FAMILIES:
            raise ValueError(
                f"the config has {', '.join(map(repr, unread))}, which models of model_type "
                f"{self.model_type!r} do not use; remove it, or say with family= which family's code you mean"
            )

    def _require_no_rotation(self) -> None:
        """Raise ValueError where a family that does not rotate has keys of one that does: it is another's."""
        keys = (*ROTATING, "position_embedding_type")
        said = [
            key for key in keys if self.config.get(key) and (key in ROTATING or self.config[key] in ROTARY)
        ]
        if said:
            raise ValueError(
                f"models of model_type {self.model_type!r} rotate nothing, but the config has "
                f"{', '.join(map(repr, said))}: another model's code must read it. Say with family= which "
                "family's, such as family='llama'"
            )

    # ---- sizes

    def size(self, name: str) -> int:
        """One of SIZES; ValueError where it is missing."""
        found = self.size_or_none(name)
        if found is None and name == "layers":
            written = self.written_kinds(1)
            found = len(written) if written else None
        if found is None:
            raise ValueError(f"the config has no {SIZES[name][0]!r}; add it")
        return found

    def size_or_none(self, name: str) -> int | None:
        """One of SIZES: written, or the family's own in a part of a larger config, which leaves it out."""
        for key in SIZES[name]:
            if self.config.get(key) is not None:
                return require.count(self.config[key], key)
        default: int | None = getattr(self.family, name)
        return default if self.inside or name == "longest" else None

    def head_dim(self, config: Mapping[str, Any]) -> int:
        """The width of the vectors that carry the rotation."""
        key = self.family.head_key
        if config.get(key) is not None:
            return require.count(config[key], key)
        if key not in config and self.family.head is not None:
            return self.family.head
        width, heads = self.size_or_none("width"), self.size_or_none("heads")
        if width is None or heads is None:
            raise ValueError(
                f"the config has no head_dim; it needs {key!r}, or 'hidden_size' and 'num_attention_heads'"
            )
        wide = self.family.heads_wider * width
        if wide % heads:
            raise ValueError(
                f"{SIZES['width'][0]}={width} is not divisible by {SIZES['heads'][0]}={heads}; correct one "
                f"of them, or add {key!r}"
            )
        return wide // heads

    def query_width(self, config: Mapping[str, Any]) -> int:
        """The width of a whole query, whose inverse root usually scales the scores."""
        if self.family.nope is None:
            return self.head_dim(config)
        if self.family.mla:
            rest = config.get("qk_nope_head_dim")
            return self.head_dim(config) + (
                self.family.nope if rest is None else require.count(rest, "qk_nope_head_dim")
            )
        whole = config.get("head_dim")
        return self.head_dim(config) + self.family.nope if whole is None else require.count(whole, "head_dim")

    # ---- whether it rotates

    def require_rotation(self) -> None:
        """Raise ValueError where the family or the config says that nothing rotates."""
        still = self.unrotated_by()
        if still is not None:
            raise ValueError(
                f"a model with {still} rotates nothing: its positions are a table that is added, or a bias, "
                "or it has none; use posenc_lib.added or posenc_lib.biased, or give the config of a model "
                "that rotates"
            )

    def unrotated_by(self) -> str | None:
        """What says that nothing rotates, the family or a key of the config; None where nothing does."""
        if self.model_type in UNROTATED:
            return f"model_type {self.model_type!r}"
        for key, value in UNROTATED_BY.items():
            if self.config.get(key) is value:
                return f"{key}: {str(value).lower()}"
        kind = self.position_embedding()
        return None if kind is None or kind in ROTARY else f"position_embedding_type {kind!r}"

    def position_embedding(self) -> str | None:
        """What the config, or else the family, calls the way in which positions come in."""
        if self.family.position_embedding_unread:
            return None
        for key in ("position_embedding_type", "position_embeddings_type"):
            if self.config.get(key) is not None:
                return str(self.config[key])
        return self.family.position_embedding

    def turns(self, index: int, kind: str) -> bool:
        """Whether this layer rotates."""
        family, config = self.family, self.config
        if kind in WITHOUT_ATTENTION or self.unrotated_by() is not None:
            return False
        if index in (config.get("cross_attention_layers") or family.cross):
            return False
        if self.nested_kinds() and self.written().get(self.family.labels.get(kind, kind), ...) is None:
            return False
        if family.turning is not None and kind not in family.turning:
            return bool(family.turning_unless) and self._with_window().get(family.turning_unless) is None
        if family.still == "no_rope_layers":
            return by_no_rope_layers(config, index)
        if family.still == "layer_rope_theta":
            written = config.get("layer_rope_theta")
            if written is None:
                return not family.still_where_full or kind != FULL
            return bool(of_layer(written, index, "layer_rope_theta"))
        if family.still:
            key, _, value = family.still.partition("=")
            return str(config.get(key)) == value
        return True

    # ---- layers

    def kinds(self, layers: int) -> list[str]:
        """The kind of each layer, by `layer_types` or by what the family has in its place."""
        found = self.written_kinds(layers)
        if found is None:
            kinds = UNROTATED_KINDS.get(self.model_type, self.family.kinds)
            found = kinds(self._with_window(), layers)
        if len(found) < layers:
            raise ValueError(
                f"the config gives the kinds of {len(found)} layers, but there are {layers}; give "
                "layer_types, one for each"
            )
        found = found[:layers]
        return [*found[:-1], self.family.last] if self.family.last and found else found

    def written_kinds(self, layers: int) -> list[str] | None:
        """`layer_types` and its older spellings; None where the config has none of them."""
        for key in ("layer_types", "layers_block_type", "block_types"):
            written = self.config.get(key)
            if written is None:
                continue
            if isinstance(written, str) or not all(isinstance(kind, str) for kind in written) or not written:
                raise TypeError(f"{key}={written!r}; give a list with the kind of each layer")
            if key == "block_types":  # RecurrentGemma's, over and over; its attention always has a window
                own = {"attention": SLIDING}
                written = [own.get(kind, kind) for kind in (written[i % len(written)] for i in range(layers))]
            found = [OLDER_NAMES.get(kind, kind) for kind in written]
            for kind in found:
                require.choice(kind, key, tuple(sorted(KNOWN)))
            return found
        return None

    def kinds_there_are(self) -> tuple[str, ...]:
        """The kinds of this config's layers, those first that it nests its parameters by."""
        labels = {label: kind for kind, label in self.family.labels.items()}
        nested = [labels.get(kind, kind) for kind in self.nested_kinds()]
        return tuple(dict.fromkeys([*nested, *self.kinds(self.some_layers())]))

    def some_layers(self) -> int:
        """The number of layers, or enough of them to see every kind."""
        written = self.written_kinds(1)
        return self.size_or_none("layers") or self.family.layers or (len(written) if written else 12)

    def layers(
        self, length: int | None, layout: str | None, *, count: int | None = None, only: str | None = None
    ) -> Iterator[LayerPositions]:
        """What each layer does, or each layer of one kind."""
        count = count or self.some_layers()
        kinds = self.kinds(count)
        if only is not None and only not in kinds:
            kinds = [only]  # named among the parameters, and held by no layer
        if self.family.per_layer and not self.config.get("per_layer_config"):
            raise ValueError(
                f"layers of model_type {self.model_type!r} differ in size; add per_layer_config, which lists "
                "the sizes"
            )
        per_layer = {int(index): more for index, more in (self.config.get("per_layer_config") or {}).items()}
        alike, read = self._alike(), dict[str, LayerPositions]()
        for index, kind in enumerate(kinds):
            if only in (None, kind):
                if not alike or kind not in read:
                    config = {**self.config, **per_layer.get(index, {})}
                    read[kind] = self._layer(config, index, kind, length, layout)
                yield replace(read[kind], index=index)

    def _alike(self) -> bool:
        """Whether all layers of one kind do the same: neither family nor config tells one by its number."""
        family = self.family
        told = ("per_layer_config", "cross_attention_layers", "rope_scaling_layers")
        local = family.local.key if family.local else "rope_theta"
        listed = (family.base_key, local, family.share_key, *SHARES)
        return (
            not (family.still or family.cross or family.per_layer)
            and not any(self.config.get(key) for key in told)
            and not any(isinstance(_follow(self.config, key), (list, tuple)) for key in listed)
        )

    def _layer(
        self, config: Mapping[str, Any], index: int, kind: str, length: int | None, layout: str | None
    ) -> LayerPositions:
        if kind not in WITHOUT_ATTENTION:
            self._require_groups(config)
        turns = self.turns(index, kind)
        rope = self._rope(config, index, kind, length, layout) if turns else None
        known, attends = self.model_type in FAMILIES, kind not in WITHOUT_ATTENTION
        scale = self._scale(config, kind) if known and attends else None
        width = self.query_width(self._of_kind(config, kind)) if scale is not None else 0
        return LayerPositions(
            index=index,
            kind=kind,
            rope=rope,
            window=self._window(config, kind),
            temperature=self._temperature(kind, turns) if known else None,
            softmax_scale=scale,
            softmax_factor=1.0 if scale is None else scale * math.sqrt(width),
            also=self.family.also.get(kind) or (ANOTHER_DOOR if attends and self.unrotated_by() else ""),
        )

    def _require_groups(self, config: Mapping[str, Any]) -> None:
        """Raise ValueError where heads of queries cannot share the heads of keys evenly."""
        heads: Any = config.get("num_attention_heads")
        kv_heads: Any = config.get("num_key_value_heads")
        if require.is_count(heads) and require.is_count(kv_heads) and not require.divides(kv_heads, heads):
            raise ValueError(
                f"num_key_value_heads={kv_heads} does not divide num_attention_heads={heads}; correct one of "
                "them"
            )

    # ---- one layer's rotation

    def _rope(
        self, config: Mapping[str, Any], index: int, kind: str, length: int | None, layout: str | None
    ) -> RopeSettings:
        family, parameters = self.family, self.parameters(index, kind, config)
        self._require_one_base(parameters["rope_theta"], index)
        head_dim = self.head_dim(self._of_kind(config, kind))
        rotary_dim = self._rotary_dim(parameters, head_dim)
        interleaved = family.layout == "interleaved" and self.config.get("rope_interleave", True)
        usual = "interleaved" if interleaved else "half"
        sections = self._sections(parameters, rotary_dim)
        return RopeSettings(
            head_dim=head_dim,
            rotary_dim=rotary_dim,
            base=require.positive(parameters["rope_theta"], "rope_theta") * self._ratio(),
            scaling=self._rule(parameters, length) if self._scaled(index) else None,
            layout=cast(Layout, require.choice(usual if layout is None else layout, "layout", LAYOUTS)),
            sections=sections,
            sections_interleaved=sections is not None and self._dealt(parameters) == "in turn",
            time_last=sections is not None and self._dealt(parameters) == "time last",
            backwards=family.backwards,
        )

    def _require_one_base(self, theta: Any, index: int) -> None:
        """Raise ValueError where a model's own code turns by another base than transformers."""
        default, told = self.family.own_base, self.written().get("rope_theta") or self._beside(index)
        if default is not None and told is None:
            raise ValueError(
                f"the config has no rope_theta: without it, the code of {self.family.source} uses "
                f"{default:g}, and transformers uses {theta:g}; add the one that you mean"
            )
        own = _follow(self.config, self.family.disputed_base)
        if own is not None and own != theta:
            raise ValueError(
                f"{self.family.disputed_base}={own!r} is the base that the code of {self.family.source} "
                f"uses, but transformers ignores it and uses {theta!r}; also write the base that you "
                f"mean, as 'rope_theta': {own!r}, which both read"
            )

    def _ratio(self) -> float:
        """By what GLM-4's first configs multiply the base."""
        ratio = self.config.get("rope_ratio")
        return 1.0 if ratio is None else require.positive(ratio, "rope_ratio")

    def written(self) -> Mapping[str, Any]:
        """The config's rope parameters as they are, in whichever spelling."""
        new, old = self.config.get("rope_parameters"), self.config.get("rope_scaling")
        for value in (new, old):
            if value is not None and not isinstance(value, Mapping):
                raise TypeError(f"the config's rope parameters are {value!r}; give a dict or null")
        if new and old:
            # Of two that differ, transformers reads the older one alone. Beside either, the config fills in.
            newer, older = ({**self.config, "rope_type": None, **_spelled_anew(each)} for each in (new, old))
            differing = sorted(key for key in newer | older if newer.get(key) != older.get(key))
            if differing:
                raise ValueError(
                    f"rope_parameters and rope_scaling contradict each other in {', '.join(differing)}; keep "
                    "the right one"
                )
        found: Mapping[str, Any] = new or old or {}
        return found

    def nested_kinds(self) -> tuple[str, ...]:
        """The kinds of layers (or the family's own names) by which the rope parameters are nested."""
        written = self.written()
        if not any(isinstance(value, Mapping) for value in written.values()):
            return ()
        names = KNOWN | set(self.family.labels.values())
        return tuple(key for key, value in written.items() if isinstance(value, Mapping) or key in names)

    def parameters(self, index: int, kind: str, config: Mapping[str, Any]) -> dict[str, Any]:
        """The rope parameters of a layer, with `rope_theta` and whatever else is written next to them."""
        family, nested = self.family, self.nested_kinds()
        label = family.labels.get(kind, kind)
        local = family.local if family.local is not None and kind in family.local.kinds else None
        written = self.written()
        if nested:
            if label not in nested:
                raise ValueError(
                    f"the rope parameters are nested by {', '.join(map(repr, nested))}, and this config has "
                    f"layers of the kind {kind!r}; add the parameters for {label!r}"
                )
            mine = dict(written[label])
            if "truncate" in mine or ("truncate" in written and rope_type(self._cleaned(mine)) == "yarn"):
                # transformers reads it outside of the dicts by kind
                mine["truncate"] = written.get("truncate", True)
        elif not written and label in family.by_kind and self._beside(index) is None:
            mine = dict(family.by_kind[label])
        elif family.by_kind:
            raise ValueError(
                f"the rope parameters of model_type {self.model_type!r} are nested by the kind of layer, "
                f"{', '.join(map(repr, family.by_kind))}; give a dict for each"
            )
        elif local is not None and not local.rule:
            mine = {key: written[key] for key in ("partial_rotary_factor", "mrope_section") if key in written}
        else:
            mine = dict(written) or self._rule_left_out()
        mine = {key: value for key, value in mine.items() if value is not None or key == "truncate"}
        if local is not None and (not nested or mine.get("rope_theta") is None):
            theta = self.config.get(local.key)
            mine["rope_theta"] = local.base if theta is None else of_layer(theta, index, local.key)
        elif mine.get("rope_theta") is None:
            beside = self._beside(index)
            mine["rope_theta"] = family.base if beside is None else beside
        if "partial_rotary_factor" not in mine:
            mine["partial_rotary_factor"] = self._share(index, config)
        original = self.config.get("original_max_position_embeddings", family.original)
        if original is not None and not nested and rope_type(self._cleaned(mine)) in RULES_WITH_ORIGINAL:
            mine["original_max_position_embeddings"] = original  # Phi-3; it wins in transformers too
        return mine

    def _rule_left_out(self) -> dict[str, Any]:
        """The rule of a family that has one of its own, where the config has no rope parameters."""
        if not self.family.rule:
            return {}
        beside = self._beside(0)
        scales = self.family.rule["rope_type"] != "default"
        if (scales and ("rope_scaling" in self.config or "rope_parameters" in self.config)) or (
            beside not in (None, self.family.rule.get("rope_theta", self.family.base))
        ):
            raise ValueError(
                f"the config has no rope parameters, so model_type {self.model_type!r} uses a rule of its "
                f"own, {dict(self.family.rule)!r}; say in rope_parameters which rule you "
                "mean" + (", 'default' for none" if scales else "")
            )
        return dict(self.family.rule)

    def _beside(self, index: int) -> Any:
        """The base that is written next to the rope parameters, or None."""
        if self.family.still == "layer_rope_theta" and self.config.get("layer_rope_theta"):
            return of_layer(self.config["layer_rope_theta"], index, "layer_rope_theta")
        return of_layer(_follow(self.config, self.family.base_key), index, self.family.base_key)

    def _share(self, index: int, config: Mapping[str, Any]) -> Any:
        """Which share of the columns turns, from beside the rope parameters or from the family."""
        for key in (self.family.share_key, *SHARES):
            if config.get(key) is not None:
                return of_layer(config[key], index, key)
        return self.family.share

    def _rotary_dim(self, parameters: Mapping[str, Any], head_dim: int) -> int:
        written = self.config.get("rotary_dim")
        if self.family.nope is not None:
            return require.even_dim(head_dim, self.family.head_key)
        if (
            written is not None
            and "partial_rotary_factor" not in self.written()
            and not self.family.rotary_dim_unread
        ):
            found = require.count(written, "rotary_dim")
        elif self.family.rotary_dim is not None and "rotary_dim" not in self.config:
            found = self.family.rotary_dim
        else:
            found = partial_rotary_dim(self._cleaned(parameters), head_dim)
        if found % 2 or found < 2 or found > head_dim:
            raise ValueError(
                f"{found} of the {head_dim} columns of a head would turn, but columns turn in pairs; correct "
                "head_dim, rotary_dim or partial_rotary_factor"
            )
        return found

    def _sections(self, parameters: Mapping[str, Any], rotary_dim: int) -> tuple[int, ...] | None:
        """Pairs per axis of M-RoPE, once they fit."""
        written = parameters.get("mrope_section", parameters.get("xdrope_section"))
        if written is not None and self.family.mixed_sections:
            raise ValueError(
                f"model_type {self.model_type!r} turns the two columns of a pair by different axes, which is "
                "not a rotation; for text alone, where all axes agree, leave out mrope_section"
            )
        if written is None and self.family.sections is None:
            return None
        sections = tuple(require.count(n, "mrope_section") for n in written or self.family.sections or ())
        if sum(sections) != rotary_dim // 2:
            raise ValueError(
                f"mrope_section={list(sections)} shares out {sum(sections)} pairs, but {rotary_dim // 2} "
                "turn; add mrope_section to the rope parameters, or correct it or partial_rotary_factor"
            )
        owners(sections, self._dealt(parameters))
        return sections

    def _dealt(self, parameters: Mapping[str, Any]) -> str:
        """How M-RoPE's pairs are dealt out."""
        told = parameters.get("mrope_interleaved")
        if self.family.sections is None:
            return "in turn" if told else "in runs"
        if told is not None and bool(told) != (self.family.dealt == "in turn"):
            raise ValueError(
                f"mrope_interleaved={told!r}, but model_type {self.model_type!r} deals its pairs "
                f"{self.family.dealt}; remove the key, or give the family= that you mean"
            )
        return self.family.dealt

    def _cleaned(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Without keys that change no angle in this family, and with the family's own names of rules."""
        found = {key: value for key, value in parameters.items() if key not in self.family.extra}
        for key in ("rope_type", "type"):
            if found.get(key) in self.family.rule_names:
                found[key] = self.family.rule_names[found[key]]
        return found

    def _scaled(self, index: int) -> bool:
        """Whether the config's rule holds for this layer."""
        layers = self.config.get("rope_scaling_layers")
        if layers is None:
            return True
        if not isinstance(layers, (list, tuple)) or not all(require.is_count(each) for each in layers):
            raise TypeError(f"rope_scaling_layers={layers!r}; give a list of the layers that the rule is for")
        return index in layers

    def _rule(self, parameters: Mapping[str, Any], length: int | None) -> Scaling | None:
        family = self.family
        found = self._cleaned(parameters)
        if parameters.get("alpha") is not None and "alpha" in family.extra and rope_type(found) == "dynamic":
            return NTKScaling(require.positive(parameters["alpha"], "alpha"))
        if family.yarn_factor is not None and rope_type(found) == "yarn":
            found.setdefault("attention_factor", family.yarn_factor)
        found.pop("xdrope_section", None)
        return scaling_from_config(found, max_length=self.size_or_none("longest"), length=length)

    # ---- what a layer does besides

    def _window(self, config: Mapping[str, Any], kind: str) -> int | None:
        if kind not in WINDOWED:
            return None
        key, counts = self.family.window_key, self.family.window_counts
        told = {**self._with_window(), **config}
        if counts == "keys before" and told.get("sliding_window_size") is None:
            counts = "keys"
        elif counts == "keys before":
            key = "sliding_window_size"
        elif counts == "both sides, for one" and told.get("sliding_window") is not None:
            key, counts = "sliding_window", "keys"  # halved already
        elif self.config.get(self.family.both_ways_key) in (True, "all"):
            counts = self.family.both_ways_counts
        by_layer = next(filter(None, told.get("attention_windows") or ()), None)  # UltraBERT's older spelling
        found = told.get(key, told.get("sliding_window")) if by_layer is None else by_layer
        return None if found is None else WINDOW_COUNTS[counts](require.count(found, key, 0))

    def _with_window(self) -> dict[str, Any]:
        """The config, with the family's window where the config is silent about it."""
        key = self.family.window_key
        default = {} if {key, "sliding_window"} & set(self.config) else {key: self.family.window}
        return {**default, **self.config}

    def _temperature(self, kind: str, turns: bool) -> QueryTemperature | None:
        get, family = self.config.get, self.family
        if family.temperature == "llama4" and not turns and get("attn_temperature_tuning", True):
            return QueryTemperature("llama4", float(get("attn_scale", 0.1)), float(get("floor_scale", 8192)))
        if family.temperature == "beam" and kind == FULL:
            return QueryTemperature("beam", 0.1, 2048.0)
        if family.temperature == "inkling" and kind == "hybrid":
            floor = get("log_scaling_n_floor", family.floor)
            return (
                None
                if floor is None
                else QueryTemperature("inkling", float(get("log_scaling_alpha", 0.1)), float(floor))
            )
        if family.temperature == "ministral3":
            written = self.written() or family.rule
            beta = written.get("llama_4_scaling_beta")
            original = written.get("original_max_position_embeddings") or get(
                "original_max_position_embeddings"
            )
            if beta is not None and original is None:
                raise ValueError("llama_4_scaling_beta also needs original_max_position_embeddings; add it")
            return None if beta is None else QueryTemperature("ministral3", float(beta), float(original or 0))
        return None

    def _scale(self, config: Mapping[str, Any], kind: str) -> float | None:
        """What scores are multiplied by before the softmax; None where the config does not say enough."""
        family = self.family
        if isinstance(family.scale, float):
            return family.scale
        if family.scale is not None:
            key, _, power = family.scale.partition("**")
            value = self._of_kind(config, kind).get(key)
            value = family.scale_default if value is None else value
            if value is not None:
                return math.pow(require.positive(value, key), float(power or 1.0))
        try:
            width = self.query_width(config) / self.family.heads_wider
        except ValueError:
            return None
        plain = math.pow(width, -0.5) if family.scale else 1 / math.sqrt(width)  # as their code writes it
        return plain * self._latent_softmax_factor(kind) if family.mla else plain

    def _latent_softmax_factor(self, kind: str) -> float:
        """The square of 0.1 * mscale_all_dim * ln(factor) + 1, by which MLA multiplies its scores."""
        found = self.written() or self.family.rule
        if self.nested_kinds():
            found = found.get(self.family.labels.get(kind, kind)) or {}
        weight, factor = found.get("mscale_all_dim"), found.get("factor")
        if rope_type(self._cleaned(found)) == "default" or not weight or factor is None or factor <= 1:
            return 1.0
        return float((0.1 * weight * math.log(factor) + 1) ** 2)

    def _of_kind(self, config: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
        """The config with what holds for layers of this kind alone: Gemma 4's `global_head_dim`."""
        wide = self.family.full_head
        if kind in (SLIDING, "hybrid_sliding") and config.get("swa_head_dim") is not None:
            return {**config, "head_dim": config["swa_head_dim"]}
        if wide is None or kind != FULL or "per_layer_config" in self.config:
            return config
        return {**config, "head_dim": config.get("global_head_dim") or wide}


def _as_dict(config: Any) -> Mapping[str, Any]:
    if not isinstance(config, Mapping):
        if not callable(getattr(config, "to_dict", None)):
            raise TypeError(
                f"config is of type {type(config).__name__}; give the content of config.json as a dict, or "
                "an object with to_dict()"
            )
        config = config.to_dict()
    found: Mapping[str, Any] = config
    return found


def _text_part(config: Mapping[str, Any], family: str | None) -> tuple[Mapping[str, Any], str, bool]:
    """The part that reads text, its family, and whether it is inside a larger config."""
    inside = False
    while True:
        name = config.get("model_type") or ""
        if not isinstance(name, str):
            raise TypeError(f"model_type={name!r}; give the name of a family")
        known = name in FAMILIES or name in UNROTATED or name in IMAGES
        path, default = WHOLES.get(name, ("", ""))
        keys = (path,) if path else () if known else TEXT_PARTS
        part = next((found for key in keys if isinstance(found := _follow(config, key), Mapping)), None)
        if part is None:
            break
        inside = True
        own = {**PART_DEFAULTS.get(name, {}), **part}
        config = own if part.get("model_type") or not default else {**own, "model_type": default}
    if family is not None:
        return config, family, inside
    images = "depth" in config or "patch_size" in config
    if name in WHOLES and images and "num_hidden_layers" not in config:
        raise ValueError(
            f"this is only the image part of a config of model_type {name!r}; give the whole config, or its "
            "text part"
        )
    if name in WHOLES and not known:  # a flat config of a model with several parts
        name, known = default, bool(default)
    if not known:
        given = (
            f"model_type {name!r} is not in this library's table of families"
            if name
            else "the config has no model_type"
        )
        raise ValueError(
            f"{given}, and a config does not say everything: the layout is missing, and the defaults of the "
            "keys that are left out. Say which family's code reads it, such as family='llama', or build "
            "RopeSettings from values that you know"
        )
    return config, name, inside


def _blocks_joined(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """A config whose files list attention and MLP as blocks of their own, with two of them as one layer."""
    blocks = config.get("layer_types") or ()
    if "mlp" not in blocks:
        return config
    return {**config, "layer_types": blocks[::2], "num_hidden_layers": len(blocks) // 2}


def _spelled_anew(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Rope parameters with the rule under its newer name, without keys that hold nothing."""
    found = {key: value for key, value in parameters.items() if value is not None}
    return {**({"rope_type": found.pop("type")} if "type" in found else {}), **found}


def _follow(config: Mapping[str, Any], path: str) -> Any:
    found: Any = config
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found
