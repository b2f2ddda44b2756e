"""How each family of models means its config: a table of facts, read from the code that runs the models.

A row says what no key of a config says: the layout, which layers rotate, how layers are told apart, and what
the family's own code takes where a key is left out. The first four numbers of a row are such defaults:
`hidden_size`, `num_attention_heads`, `num_hidden_layers` and `max_position_embeddings`.

Source of a row: the package of that name in transformers 5.24.0 (`models/<name>/configuration_*.py` and
`modeling_*.py`), or the package or paper that its `source` names. `tests/conformance/test_families.py`
compares every row with that code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from posenc_lib.rotated import layer_kinds as kinds
from posenc_lib.rotated.layer_kinds import FULL, SLIDING, Kinds, each


@dataclass(frozen=True)
class Local:
    """Where the base of layers of other kinds is, in configs that do not nest by kind.

    Attributes:
        key, base: the key, and what it is where it is left out.
        rule: whether these layers have the config's scaling rule, too.
        kinds: which layers these are.
    """

    key: str
    base: float
    rule: bool = False
    kinds: tuple[str, ...] = (SLIDING,)


@dataclass(frozen=True)
class Family:
    """One family: how to read its configs.

    Attributes:
        width, heads, layers, longest: defaults of `hidden_size` and the other sizes.
        head: the default of `head_dim`; None where it is width / heads.
        head_key: where the width of the part that carries the rotation is.
        heads_wider: how many times width / heads a head is wide. Its scores are scaled as for a narrow one.
        layout: "half" or "interleaved".
        base, base_key: the default of the base, and its key where that is not `rope_theta`: then
            `rope_theta` beside the rope parameters is not read.
        rope_ratio: whether the key of that name multiplies the base.
        share, share_key: the default of `partial_rotary_factor`, and an older key of it.
        original: the default of `original_max_position_embeddings` next to the rope parameters, which wins
            over the one among them.
        rule: what the family takes where a config has no rope parameters at all.
        by_kind: the same for families whose rope parameters are nested by kind of layer.
        labels: names of these nested parameters that are not kinds: {kind: label}.
        local: where other layers' base is in the old spelling.
        kinds: how the kinds of layers follow, where `layer_types` is missing.
        last: the kind of the last layer, whatever `layer_types` says (Gemma 4).
        turning: the kinds of layers that rotate; None for all that have attention.
        turning_unless: a key without which all layers rotate (EXAONE 4 without a window).
        still: "no_rope_layers" or "layer_rope_theta": lists that hold 0 for a layer that does not rotate.
            "flag=value" names a key with the value that it has where the model rotates.
        per_layer: whether its layers differ in sizes that are in `per_layer_config` alone.
        cross: the default of `cross_attention_layers`, which attend to an image and do not rotate.
        still_where_full: whether without `layer_rope_theta` layers with full attention do not rotate.
        position_embedding: the default of `position_embedding_type`.
        position_embedding_unread: whether published files have that key, and the code does not read it.
        window, window_key: the default of `sliding_window`, and its key where that has another name.
        window_counts: what its window counts, a name of WINDOW_COUNTS.
        both_ways_key: a key that, where it is true or "all", makes the window count keys on both sides.
        both_ways_counts: what the window then counts, a name of WINDOW_COUNTS.
        also: what layers do with positions that no entry of `LayerPositions` holds: {kind: in words}.
        scale: what scores are multiplied by: a number, or the name of a key; "key**-0.5" for its inverse
            root, "key**-1" for its inverse. None for 1/sqrt(head_dim).
        scale_default: what that key is where it is left out; None where the scale is then 1/sqrt(head_dim).
        mla: latent attention: a head is `qk_nope_head_dim` columns that stay and `qk_rope_head_dim` that
            turn, and with YaRN the scores get the square of 0.1 * mscale_all_dim * ln(factor) + 1.
        nope: the default of `qk_nope_head_dim`, the columns of a head that do not turn.
        full_head: the default of `global_head_dim`, the head_dim of layers with full attention (Gemma 4).
        rotary_dim: the default of `rotary_dim`, for families that say so how many columns turn.
        rotary_dim_unread: whether `rotary_dim` is in configs and is not read.
        temperature: "llama4", "ministral3", "beam" or "inkling": which queries grow with their position.
        floor: the default of `log_scaling_n_floor`, from which on Inkling's queries grow.
        sections: pairs per axis of M-RoPE where `mrope_section` is left out.
        dealt: how the pairs are dealt out: "in runs", "in turn", or "time last".
        mixed_sections: whether the two columns of a pair turn by different axes, so it is not a rotation.
        backwards: whether it turns the other way.
        scaled_layers: whether `rope_scaling_layers` names the layers that the rule is for (Molmo 2).
        extra: keys among the rope parameters that this family has beside those of its rule. They change no
            angle, but for `alpha`: with rope type "dynamic" it is an NTK factor.
        rule_names: rope types that this family means differently: {as it is written: as it is meant}.
        yarn_factor: YaRN's `attention_factor` where a config leaves it out; None for the paper's.
        disputed_base: a key of the base that the model's own code reads and transformers' does not.
        own_base: the base that the model's own code takes where it is left out; transformers' takes `base`.
        blocks_apart: whether files list the attention and the MLP of a layer as two blocks (Dory).
        source: where it is not transformers' package of that name.
    """

    width: int | None = None
    heads: int | None = None
    layers: int | None = None
    longest: int | None = None
    head: int | None = None
    head_key: str = "head_dim"
    heads_wider: int = 1
    layout: str = "half"
    base: float = 10000.0
    base_key: str = "rope_theta"
    rope_ratio: bool = False
    share: float = 1.0
    share_key: str = "partial_rotary_factor"
    original: int | None = None
    rule: Mapping[str, Any] = field(default_factory=dict)
    by_kind: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    local: Local | None = None
    kinds: Kinds = kinds.all_alike
    last: str = ""
    turning: tuple[str, ...] | None = None
    turning_unless: str = ""
    still: str = ""
    per_layer: bool = False
    cross: tuple[int, ...] = ()
    still_where_full: bool = False
    position_embedding: str | None = None
    position_embedding_unread: bool = False
    window: int | None = None
    window_key: str = "sliding_window"
    window_counts: str = "keys"
    both_ways_key: str = ""
    both_ways_counts: str = "both sides"
    also: Mapping[str, str] = field(default_factory=dict)
    scale: str | float | None = None
    scale_default: float | None = None
    mla: bool = False
    nope: int | None = None
    full_head: int | None = None
    rotary_dim: int | None = None
    rotary_dim_unread: bool = False
    temperature: str = ""
    floor: int | None = None
    sections: tuple[int, ...] | None = None
    dealt: str = "in runs"
    mixed_sections: bool = False
    backwards: bool = False
    scaled_layers: bool = False
    extra: tuple[str, ...] = ()
    rule_names: Mapping[str, str] = field(default_factory=dict)
    yarn_factor: float | None = None
    disputed_base: str = ""
    own_base: float | None = None
    blocks_apart: bool = False
    source: str = ""


WINDOW_COUNTS: dict[str, Callable[[int], int]] = {
    "keys": lambda window: window,
    "keys before": lambda window: window + 1,
    "each side": lambda window: window + 1,
    "both sides": lambda window: window // 2 + 1,
    "both sides, one more each": lambda window: window // 2 + 2,
    "both sides, for one": lambda window: window // 2,
    "both sides, one more ahead": lambda window: (window + 1) // 2,
}
"""From what a config's window counts to how many keys a query sees going back, itself among them."""

INKLING_BIAS = (
    "a bias that each token makes of learned profiles of distance, over the last keys of its window, or over "
    "rel_extent keys where it has none; a query's temperature multiplies this bias as well"
)
T5GEMMA_ENCODER = "in an encoder, whose layers look both ways, this window counts the keys on each side"
T5GEMMA_2_ENCODER = "a query sees sliding_window // 2 keys ahead, of an even number one more than back"
REFERENCE_WINDOW = "the tokens of the image stay in sight of every query, beyond the window"

# What families take where a config has no rope parameters.
APERTUS: dict[str, Any] = {
    "rope_type": "llama3",
    "factor": 8.0,
    "original_max_position_embeddings": 8192,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
}
COSMOS3_EDGE: dict[str, Any] = {
    "rope_type": "default",
    "rope_theta": 100000000.0,
    "mrope_section": [24, 20, 20],
}
DORY: dict[str, Any] = {
    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
    "full_attention": {"rope_type": "default", "rope_theta": 10000000.0},
}
BEAM: dict[str, Any] = {"sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}
CWM: dict[str, Any] = {
    "factor": 16.0,
    "high_freq_factor": 4.0,
    "low_freq_factor": 1.0,
    "original_max_position_embeddings": 8192,
    "rope_type": "llama3",
}
GEMMA_4: dict[str, Any] = {
    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
    "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1000000.0},
}
EMBEDDING_GEMMA_2: dict[str, Any] = {
    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
    "full_attention": {"rope_type": "default", "rope_theta": 1000000.0},
}
GPT_OSS_YARN: dict[str, Any] = {
    "rope_type": "yarn",
    "factor": 32.0,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "truncate": False,
    "original_max_position_embeddings": 4096,
}
HIGGS_AUDIO_V2: dict[str, Any] = {
    "factor": 32.0,
    "high_freq_factor": 0.5,
    "low_freq_factor": 0.125,
    "original_max_position_embeddings": 1024,
    "rope_type": "llama3",
    "rope_theta": 500000.0,
}
LAGUNA: dict[str, Any] = {
    "full_attention": {"rope_type": "default", "rope_theta": 500000.0, "partial_rotary_factor": 0.5},
    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 1.0},
}
LFM3: dict[str, Any] = {
    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
    "full_attention": {"rope_type": "proportional", "rope_theta": 1000000.0, "partial_rotary_factor": 0.5},
}
MELLUM: dict[str, Any] = {
    "full_attention": {"rope_type": "default", "rope_theta": 500000.0},
    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
}
MINISTRAL3: dict[str, Any] = {
    "rope_theta": 1000000.0,
    "factor": 16.0,
    "original_max_position_embeddings": 16384,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "mscale_all_dim": 1.0,
    "mscale": 1.0,
    "rope_type": "yarn",
    "llama_4_scaling_beta": 0.1,
}
MISTRAL4: dict[str, Any] = {
    "factor": 128.0,
    "original_max_position_embeddings": 8192,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "mscale_all_dim": 1.0,
    "mscale": 1.0,
    "rope_type": "yarn",
    "llama_4_scaling_beta": 0.1,
}
MISTRAL_LARGE4: dict[str, Any] = {
    "rope_type": "yarn",
    "factor": 2048.0,
    "original_max_position_embeddings": 512,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "attention_factor": 1.0,
}
MOONSHINE_STREAMING: dict[str, Any] = {
    "rope_type": "default",
    "rope_theta": 10000.0,
    "partial_rotary_factor": 0.8,
}
NEMOTRON3_5_TRANSCRIBE: dict[str, Any] = {
    "rope_type": "default",
    "rope_theta": 10000.0,
    "partial_rotary_factor": 0.5,
}
NEOMME: dict[str, Any] = {
    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 1.0},
    "full_attention": {"rope_type": "default", "rope_theta": 1000000.0, "partial_rotary_factor": 0.25},
}
ZAYA: dict[str, Any] = {
    "hybrid": {"rope_type": "default", "rope_theta": 5000000.0, "partial_rotary_factor": 0.5},
    "hybrid_sliding": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5},
}


# fmt: off
FAMILIES: dict[str, Family] = {
    # ---- decoders, dense and MoE: what LLaMA does, with other numbers
    "arcee": Family(2560, 32, 32, 4096),
    "aria_text": Family(4096, 32, 32, 2048),
    "bitnet": Family(2560, 20, 30, 2048, base=500000.0),
    "chameleon": Family(4096, 32, 32, 4096),
    "csm": Family(2048, 32, 16, 2048, base=500000.0),
    "csm_depth_decoder_model": Family(1024, 8, 4, 33, base=500000.0),
    "deepseek_ocr2_text": Family(4096, 32, 32, 2048),
    "diffllama": Family(2048, 32, 16, 2048),
    "doge": Family(1024, 8, 32, 2048),
    "dots3_note_audio_encoder": Family(1280, 20, 32, 6000, share=0.5),
    "emu3_text_model": Family(4096, 32, 32, 9216, base=1000000.0),
    "esmc": Family(2560, 40, 80, 2048),
    "eurobert": Family(768, 12, 12, 8192),
    "evolla": Family(4096, 32, 32, 8192, base=500000.0),
    "falcon": Family(4544, 71, 32, 2048),
    "flex_olmo": Family(4096, 32, 32, 4096, base=500000.0),
    "gemma": Family(3072, 16, 28, 8192, head=256),
    "glm4_moe": Family(4096, 96, 46, 131072, share=0.5),
    "glmasr_encoder": Family(1280, 20, 32, 1500, share=0.5),
    "gradium_phonon_tts": Family(768, 12, 6, 8192),
    "gte": Family(768, 12, 12, 8192, base=160000.0),
    "hrm_text": Family(1536, 12, 128, 2048, head=128),
    "hy_v3": Family(4096, 64, 80, 131072, head=128, base=11158840.0),
    "idefics": Family(4096, 32, 32, 2048),
    "internlm3": Family(4096, 32, 48, 32768, head=128),
    "iquestcoder": Family(5120, 40, 80, 131072, head=128),
    "jais2": Family(3328, 26, 32, 8192),
    "jina_embeddings_v3": Family(1024, 16, 24, 8194, base=20000.0),
    "lasr_encoder": Family(512, 8, 17, 10000),
    "llama": Family(4096, 32, 32, 2048),
    "minimax_m2": Family(3072, 48, 62, 196608, head=128, base=5000000.0),
    "mixtral": Family(4096, 32, 32, 131072, base=1000000.0),
    "mllama_text_model": Family(4096, 32, 40, 131072, base=500000.0, cross=(3, 8, 13, 18, 23, 28, 33, 38)),
    "nemotron": Family(6144, 48, 32, 4096, share=0.5),
    "nemotron3_5_transcribe_asr_audio": Family(1280, 10, 32, 5000, rule=NEMOTRON3_5_TRANSCRIBE),
    "nemotron3_5_transcribe_word_timestamp": Family(1280, 16, 2, 5000, rule=NEMOTRON3_5_TRANSCRIBE),
    "nemotron3_diarization_audio": Family(512, 8, 31, 5000),
    "neucodec": Family(1024, 16, 12, 4096, head=64),
    "nomic_bert": Family(768, 12, 12, 2048, base=1000.0),
    "olmo": Family(4096, 32, 32, 2048),
    "olmo2": Family(4096, 32, 32, 2048),
    "olmoe": Family(2048, 16, 16, 4096),
    "persimmon": Family(4096, 64, 36, 16384, share=0.5),
    "phi": Family(2048, 32, 24, 2048, share=0.5),
    "phimoe": Family(4096, 32, 32, 131072, base=1000000.0),
    "pocket_tts": Family(1024, 16, 6, 8192),
    "qwen2_5_omni_dit": Family(1024, 16, 22, 32768, head=64),
    "sarvam_moe": Family(4096, 64, 19, 131072, head=64, base=8000000.0),
    "seed_oss": Family(4096, 80, 64, 524288, head=128),
    "solar_open": Family(4096, 64, 48, 131072, head=128, base=1000000.0),
    "stablelm": Family(2560, 32, 32, 4096, share=0.25),
    "starcoder2": Family(3072, 24, 30, 4096),
    "timesfm2_5": Family(1280, 16, 20, 16384, head=80),
    "xcodec2": Family(1024, 16, 12, 4096, head=64),
    # ---- the same with one thing of their own
    "apertus": Family(4096, 32, 32, 65536, base=12000000.0, rule=APERTUS),
    "apertus1p5_text": Family(4096, 32, 32, 65536, base=12000000.0, rule=APERTUS),
    "blt_global_transformer": Family(2048, 16, 25, 4096, layout="interleaved", base=500000.0),
    "blt_local_decoder": Family(1024, 16, 9, 24576, layout="interleaved", base=500000.0),
    "blt_local_encoder": Family(1024, 16, 1, 24576, layout="interleaved", base=500000.0),
    "blt_patcher": Family(768, 12, 14, 8192, layout="interleaved", window=512),
    "cohere": Family(8192, 64, 40, 8192, layout="interleaved", base=500000.0),
    "dia_decoder": Family(2048, 16, 18, 3072, head=128, scale=1.0),
    "dia_encoder": Family(1024, 16, 12, 1024, head=128, scale=1.0),
    "ernie4_5": Family(1024, 16, 18, 131072, head=128, layout="interleaved", base=500000.0),
    "ernie4_5_moe": Family(2560, 20, 28, 131072, layout="interleaved", base=500000.0),
    "glm": Family(4096, 32, 40, 131072, head=128, layout="interleaved", share=0.5),
    "glm4": Family(4096, 32, 40, 131072, head=128, layout="interleaved", share=0.5),
    "gpt_neox": Family(6144, 64, 44, 2048, share=0.25, base_key="rotary_emb_base", share_key="rotary_pct"),
    "gpt_neox_japanese": Family(2560, 32, 32, 2048, base_key="rotary_emb_base", share_key="rotary_pct"),
    "granite": Family(4096, 32, 32, 2048, scale="attention_multiplier", scale_default=1.0),
    "granite4_vision_text": Family(4096, 32, 32, 2048, scale="attention_multiplier", scale_default=1.0),
    "granite_docling_text": Family(1024, 16, 28, 32768, scale="attention_multiplier", scale_default=0.015625),
    "granitemoe": Family(4096, 32, 32, 2048, scale="attention_multiplier", scale_default=1.0),
    "granitemoeshared": Family(4096, 32, 32, 2048, scale="attention_multiplier", scale_default=1.0),
    "helium": Family(2560, 20, 24, 4096, head=128, layout="interleaved", base=100000.0),
    "higgs_audio_v2": Family(3072, 24, 28, 2048, head=128, rule=HIGGS_AUDIO_V2),
    "hunyuan_v1_dense": Family(4096, 32, 32, 2048, extra=("alpha", "beta_fast", "beta_slow", "mscale",
        "mscale_all_dim")),
    "hunyuan_v1_moe": Family(4096, 32, 32, 2048, extra=("alpha", "beta_fast", "beta_slow", "mscale",
        "mscale_all_dim")),
    "hunyuan_vl_text": Family(4096, 32, 32, 2048, mixed_sections=True, rule_names={"xdrope": "dynamic"},
        extra=("alpha", "beta_fast", "beta_slow", "mscale", "mscale_all_dim")),
    "hyperclovax": Family(4096, 32, 32, 2048, scale="attention_multiplier"),
    "jetmoe": Family(2048, 32, 12, 4096, head=128, head_key="kv_channels"),
    "kyutai_speech_to_text": Family(2048, 32, 48, 750, window=375),
    "mimi": Family(512, 8, 8, 8000, window=250),
    "mimi_decoder": Family(512, 8, 8, 8000, window=250),
    "mimi_encoder": Family(512, 8, 8, 8000, window=250),
    "ministral": Family(4096, 32, 32, 131072, window=4096),
    "ministral3": Family(4096, 32, 34, 262144, head=128, rule=MINISTRAL3,
        temperature="ministral3", extra=("llama_4_scaling_beta", "max_position_embeddings")),
    "mistral": Family(4096, 32, 32, 131072, window=4096),
    "molmo2_text": Family(4096, 32, 36, 36864, head=128, scaled_layers=True),
    "moonshine": Family(288, 8, 6, 512, layout="interleaved", share=0.9),
    "moonshine_streaming": Family(320, 8, 6, 4096, layout="interleaved", rule=MOONSHINE_STREAMING),
    "moshi": Family(4096, 32, 32, 3000, window=3000),
    "nanochat": Family(768, 6, 12, 2048, backwards=True),
    "openai_privacy_filter": Family(640, 14, 8, 131072, head=64, layout="interleaved", base=150000.0,
        rule=GPT_OSS_YARN, window=128, window_counts="each side"),
    "pe_audio_encoder": Family(1792, 14, 6, 10000, head=128, base=20000.0, layout="interleaved"),
    "pe_audio_video_encoder": Family(1792, 14, 6, 10000, head=128, base=20000.0, layout="interleaved"),
    "pe_video_encoder": Family(1792, 14, 6, 10000, head=128, base=20000.0, layout="interleaved"),
    "phi3": Family(3072, 32, 32, 4096, original=4096, rule_names={"su": "longrope", "yarn": "longrope"}),
    "phi4_multimodal": Family(
        3072, 32, 32, 131072, original=4096, rule_names={"su": "longrope", "yarn": "longrope"}
    ),
    "pocket_tts_audio_tokenizer": Family(512, 8, 2, 8000, window=250),
    "pocket_tts_audio_tokenizer_decoder": Family(512, 8, 2, 8000, window=250),
    "pocket_tts_audio_tokenizer_encoder": Family(512, 8, 2, 8000, window=250),
    "voxtral_realtime_encoder": Family(1280, 32, 32, 1500, head=64, window=750),
    "voxtral_realtime_text": Family(4096, 32, 32, 131072, head=128, window=4096),
    # ---- latent attention (MLA)
    "axk1": Family(7168, 64, 61, 32768, mla=True, head_key="qk_rope_head_dim", head=64, nope=128,
        layout="interleaved"),
    "axk2": Family(2048, 32, 48, 131072, mla=True, head_key="qk_rope_head_dim", head=32, nope=64,
        layout="interleaved", kinds=each("i")),
    "bailing_hybrid": Family(2560, 32, 42, 262144, mla=True, head_key="qk_rope_head_dim", head=64,
        nope=128, layout="interleaved", base=6000000.0, kinds=each("-----F", "layer_group_size")),
    "deepseek_v2": Family(4096, 32, 32, 2048, mla=True, head_key="qk_rope_head_dim", head=64, nope=128,
        layout="interleaved"),
    "deepseek_v3": Family(7168, 128, 61, 4096, mla=True, head_key="qk_rope_head_dim", head=64, nope=128,
        layout="interleaved"),
    "deepseek_v32": Family(7168, 128, 61, 163840, mla=True, head_key="qk_rope_head_dim", head=64,
        nope=128, layout="interleaved", kinds=each("i")),
    "dots3_note_text": Family(5120, 128, 46, 524288, mla=True, head_key="qk_rope_head_dim", head=64,
        nope=128, layout="interleaved", window=512, kinds=kinds.dots3, per_layer=True,
        local=Local("swa_rope_theta", 50000.0,
        rule=True), base=80000000.0),
    "glm4_moe_lite": Family(2048, 20, 47, 202752, mla=True, head_key="qk_rope_head_dim", head=64,
        nope=192, layout="interleaved"),
    "glm_moe_dsa": Family(6144, 64, 78, 202752, mla=True, head_key="qk_rope_head_dim", head=64, nope=192,
        layout="interleaved", kinds=each("i")),
    "hy_v4": Family(2816, 32, 34, 262144, mla=True, head_key="qk_rope_head_dim", head=64, nope=192,
        kinds=each("i")),
    "longcat_flash": Family(6144, 64, 28, 131072, mla=True, head_key="qk_rope_head_dim", head=64,
        nope=128, layout="interleaved", base=10000000.0),
    "minicpm3": Family(2560, 40, 62, 32768, mla=True, head_key="qk_rope_head_dim", head=32, nope=64),
    "mistral4": Family(4096, 32, 36, 1048576, mla=True, head_key="qk_rope_head_dim", head=64, nope=64,
        layout="interleaved", rule=MISTRAL4, temperature="ministral3", extra=("llama_4_scaling_beta",
        "max_position_embeddings")),
    "mistral_large4_text": Family(6144, 64, 72, 1048576, mla=True, head_key="qk_rope_head_dim", head=64,
        nope=64, layout="interleaved", rule=MISTRAL_LARGE4, kinds=each("i"), still="no_rope_layers"),
    "sarvam_mla": Family(4096, 64, 32, 4096, mla=True, head_key="qk_rope_head_dim", head=64, nope=128,
        layout="interleaved", rule_names={"deepseek_yarn": "yarn"}),
    "youtu": Family(2048, 16, 32, 131072, mla=True, head_key="qk_rope_head_dim", head=64, nope=128,
        layout="interleaved"),
    # ---- text beside images: M-RoPE
    "cohere_compass_text": Family(8192, 64, 40, 8192, window=4096, kinds=each("F"), sections=(24, 20, 20),
        dealt="in turn"),
    "cosmos3_edge_text": Family(2048, 16, 28, 131072, head=128, base=100000000.0, rule=COSMOS3_EDGE,
        sections=(24, 20, 20), dealt="in turn"),
    "ernie4_5_vl_moe_text": Family(2560, 20, 28, 131072, layout="interleaved", base=500000.0,
        sections=(22, 22, 20), dealt="time last"),
    "glm4v_moe_text": Family(4096, 96, 46, 65536, share=0.5, sections=(8, 12, 12)),
    "glm4v_text": Family(4096, 32, 40, 32768, layout="interleaved", sections=(8, 12, 12)),
    "glm_image_text": Family(4096, 32, 40, 131072, sections=(8, 12, 12)),
    "glm_ocr_text": Family(1024, 16, 16, 131072, layout="interleaved", sections=(8, 12, 12)),
    "hy_v4_vl_text": Family(6144, 64, 78, 262144, mla=True, head_key="qk_rope_head_dim", head=64, nope=192,
        layout="interleaved", kinds=each("i"), sections=(12, 10, 10), dealt="in turn"),
    "paddleocr_vl_text": Family(1024, 16, 18, 131072, head=128, base=500000.0, sections=(16, 24, 24)),
    "qwen2_5_omni_talker": Family(3584, 28, 28, 32768, head=128, base=1000000.0,
        kinds=kinds.from_max_window_layers(28), window=32768, sections=(16, 24, 24)),
    "qwen2_5_omni_text": Family(3584, 28, 28, 32768, base=1000000.0, kinds=kinds.from_max_window_layers(28),
        window=32768, sections=(16, 24, 24)),
    "qwen2_5_vl_text": Family(8192, 64, 80, 32768, base=1000000.0, kinds=kinds.from_max_window_layers(80),
        window=4096, sections=(16, 24, 24)),
    "qwen2_vl_text": Family(8192, 64, 80, 32768, base=1000000.0, kinds=kinds.from_max_window_layers(80),
        window=4096, sections=(16, 24, 24)),
    "qwen3_5_moe_text": Family(2048, 16, 40, 32768, head=256, share=0.25, kinds=each("---F",
        "full_attention_interval"), sections=(11, 11, 10), dealt="in turn"),
    "qwen3_5_text": Family(4096, 16, 32, 32768, head=256, share=0.25, kinds=each("---F",
        "full_attention_interval"), sections=(11, 11, 10), dealt="in turn"),
    "qwen3_omni_moe_talker_text": Family(1024, 16, 20, 32768, sections=(24, 20, 20), dealt="in turn"),
    "qwen3_omni_moe_text": Family(2048, 28, 28, 32768, base=1000000.0, sections=(24, 20, 20),
        dealt="in turn"),
    "qwen3_vl_moe_text": Family(2048, 16, 24, 128000, base=500000.0, sections=(24, 20, 20), dealt="in turn"),
    "qwen3_vl_text": Family(4096, 32, 32, 128000, head=128, base=500000.0, sections=(24, 20, 20),
        dealt="in turn"),
    "qwen4_exp_text": Family(2048, 16, 40, 32768, head=256, kinds=each("---i", "full_attention_interval"),
        sections=(11, 11, 10), dealt="in turn"),
    # ---- layers of several kinds
    "afmoe": Family(2048, 16, 32, 16384, head=128, window=1024, kinds=each("sssF",
        "global_attn_every_n_layers"), turning=(SLIDING,)),
    "bamba": Family(4096, 32, 32, 262144, share=0.5, kinds=kinds.listed_as_full("attn_layer_indices",
        others="-", default="-")),
    "beam": Family(5120, 48, 52, 8192, head=128, by_kind=BEAM, window=512, kinds=each("sssssF", last="F"),
        turning=(SLIDING,), temperature="beam"),
    "cohere2": Family(8192, 64, 40, 8192, layout="interleaved", window=4096, kinds=each("sssF",
        "sliding_window_pattern"), turning=(SLIDING,), position_embedding_unread=True),
    "cohere2_moe": Family(8192, 64, 40, 8192, head=128, layout="interleaved", window=4096,
        kinds=kinds.cohere2_moe, turning=(SLIDING,)),
    "cwm": Family(6144, 48, 64, 131072, head=128, base=1000000.0, rule=CWM, window=8192, kinds=each("Fsss")),
    "deepseek_ocr2_encoder": Family(4096, 32, 32, 32768, kinds=kinds.from_max_window_layers(28), window=4096),
    "deepseek_v4": Family(4096, 64, 43, 1048576, head=64, layout="interleaved", window=128,
        kinds=kinds.deepseek_v4, head_key="qk_rope_head_dim", base_key="compress_rope_theta", base=160000.0,
        local=Local("rope_theta", 10000.0), labels={SLIDING: "main", "compressed_sparse_attention":
        "compress", "heavily_compressed_attention": "compress"}, yarn_factor=1.0, nope=448),
    "diffusion_gemma_text": Family(2304, 8, 30, 131072, head=256, by_kind=GEMMA_4, window=512,
        both_ways_key="use_bidirectional_attention", both_ways_counts="both sides, one more each",
        kinds=each("sssssF"), last=FULL, scale=1.0, full_head=512),
    "dots1": Family(4608, 32, 62, 2048, window=4096, kinds=kinds.from_max_window_layers(62, always=True)),
    "embedding_gemma2_text": Family(512, 4, 24, 262144, head=256, by_kind=EMBEDDING_GEMMA_2, window=512,
        window_counts="each side", kinds=each("sssssF", "sliding_window_pattern"), last=FULL, scale=1.0,
        full_head=512),
    "dory": Family(2560, 16, 36, 8192, head=256, by_kind=DORY, window=1024, kinds=each("sssF"),
        blocks_apart=True),
    "exaone4": Family(4096, 32, 32, 2048, window=4096, kinds=each("sssF", "sliding_window_pattern"),
        turning=(SLIDING,), turning_unless="sliding_window"),
    "exaone4_5_text": Family(4096, 32, 32, 2048, window=4096, kinds=each("sssF",
        "sliding_window_pattern"), turning=(SLIDING,), turning_unless="sliding_window"),
    "exaone_moe": Family(4096, 32, 32, 2048, window=4096, kinds=each("sssF", "sliding_window_pattern"),
        turning=(SLIDING,), turning_unless="sliding_window"),
    "falcon_h1": Family(4096, 32, 32, 8192, kinds=each("H")),
    "flint": Family(2048, 32, 49, 262144, head=128, window=513,
        kinds=kinds.first_two_last_and_every_fourth, turning=(SLIDING,)),
    "gemma2": Family(2304, 8, 26, 8192, head=256, window=4096, kinds=each("sF"),
        scale="query_pre_attn_scalar**-0.5", scale_default=256),
    "gemma3_text": Family(2304, 8, 26, 131072, head=256, window=4096, kinds=each("sssssF",
        "sliding_window_pattern"), both_ways_key="use_bidirectional_attention",
        local=Local("rope_local_base_freq", 10000.0), scale="query_pre_attn_scalar**-0.5", scale_default=256,
        base=1000000.0),
    "gemma3n_text": Family(2048, 8, 35, 32768, head=256, window=512, kinds=each("ssssF"),
        local=Local("rope_local_base_freq", 10000.0), scale=1.0, base=1000000.0),
    "gemma4_text": Family(2304, 8, 30, 131072, head=256, by_kind=GEMMA_4, window=512,
        both_ways_key="use_bidirectional_attention", both_ways_counts="both sides, one more each",
        kinds=each("sssssF"), last=FULL, scale=1.0, full_head=512),
    "gemma4_unified_text": Family(2304, 8, 30, 262144, head=256, by_kind=GEMMA_4, window=1024,
        both_ways_key="use_bidirectional_attention", both_ways_counts="both sides, one more each",
        kinds=each("sssssF"), last=FULL, scale=1.0, full_head=512),
    "gpt_oss": Family(2880, 64, 36, 131072, head=64, base=150000.0, rule=GPT_OSS_YARN, window=128,
        kinds=each("sF")),
    "granite_swa": Family(2560, 20, 24, 8192, window=128, kinds=each("Fsss"), still="layer_rope_theta",
        scale="attention_multiplier", scale_default=1.0),
    "granitemoe_swa": Family(4096, 32, 32, 2048, window=128, kinds=each("Fsss"), still="layer_rope_theta",
        scale="attention_multiplier", scale_default=1.0),
    "granitemoehybrid": Family(4096, 32, 32, 2048, kinds=each("-"), still="position_embedding_type=rope",
        scale="attention_multiplier", scale_default=1.0),
    "kolibri1": Family(2560, 48, 50, 262144, head=128, window=513, kinds=each("ssssF"),
        turning=(SLIDING,), turning_unless="sliding_window"),
    "laguna": Family(2048, 48, 40, 131072, head=128, by_kind=LAGUNA, window=512, kinds=each("F")),
    "lara_mini": Family(1024, 16, 34, 131072, head=128, window=512, kinds=each("-s-Fs"), turning=(SLIDING,)),
    "lfm2": Family(2560, 32, 32, 128000, base=1000000.0, kinds=kinds.listed_as_full("full_attn_idxs",
        others="v", default="F")),
    "lfm2_moe": Family(2048, 32, 32, 128000, base=1000000.0, kinds=kinds.listed_as_full("full_attn_idxs",
        others="v", default="F")),
    "lfm3": Family(2048, 16, 24, 128000, head=128, by_kind=LFM3, window=256, kinds=kinds.lfm3),
    "llama4_text": Family(5120, 40, 48, 131072, head=128, layout="interleaved", base=500000.0,
        kinds=each("cccF"), still="no_rope_layers", temperature="llama4", window=8192,
        window_key="attention_chunk_size"),
    "mellum": Family(2304, 32, 28, 131072, head=128, by_kind=MELLUM, window=1024, kinds=each("F")),
    "mimo_v2_flash": Family(4096, 64, 48, 131072, head=192, window=129, kinds=kinds.mimo,
        window_counts="keys before", local=Local("swa_rope_theta", 10000.0), base=5000000.0, share=0.334),
    "minimax": Family(4096, 32, 32, 131072, base=1000000.0, kinds=each("F-")),
    "minimax_m3_vl_text": Family(6144, 64, 60, 524288, head=128, base=5000000.0, kinds=each("F"),
        rotary_dim_unread=True),
    "modernbert": Family(768, 12, 22, 8192, window=128, kinds=each("Fss", "global_attn_every_n_layers"),
        base_key="global_rope_theta", local=Local("local_rope_theta", 10000.0, rule=True),
        window_key="local_attention", window_counts="both sides", base=160000.0,
        position_embedding_unread=True),
    "modernbert-decoder": Family(768, 12, 22, 8192, window=128, kinds=each("Fss",
        "global_attn_every_n_layers"), base_key="global_rope_theta", local=Local("local_rope_theta", 10000.0,
        rule=True), window_key="local_attention", window_counts="both sides, for one", base=160000.0,
        position_embedding_unread=True),
    "muse_glimmer_assistant": Family(6656, 32, 5, 131072, head=128, base=500000.0, window=2048,
        kinds=each("s")),
    "muse_glimmer_text": Family(6656, 32, 52, 131072, head=128, window=2048, kinds=kinds.from_the_end,
        still="layer_rope_theta", still_where_full=True),
    "muse_spark_text": Family(8192, 128, 62, 1048576, head=64, base=500000.0, window=2048,
        kinds=kinds.from_the_end, still="layer_rope_theta", still_where_full=True),
    "neomme": Family(1024, 16, 17, 16384, head=64, per_layer=True, by_kind=NEOMME, window=256,
        window_counts="each side",
        kinds=each("sssssF", last="F")),
    "olmo3": Family(4096, 32, 32, 2048, window=4096, kinds=each("sssF"), local=Local("rope_theta",
        500000.0), base=500000.0),
    "olmo_hybrid": Family(3840, 30, 32, 65536, kinds=each("---F")),
    "qwen2": Family(4096, 32, 32, 32768, kinds=kinds.from_max_window_layers(28), window=4096),
    "qwen2_moe": Family(2048, 16, 24, 32768, kinds=kinds.qwen2_moe, window=4096),
    "qwen3": Family(4096, 32, 32, 32768, head=128, kinds=kinds.from_max_window_layers(28), window=4096),
    "qwen3_moe": Family(2048, 32, 24, 32768, kinds=kinds.only_where_used, window=4096),
    "qwen3_next": Family(2048, 16, 48, 32768, head=256, share=0.25, kinds=each("---F",
        "full_attention_interval")),
    "qwen3_omni_moe_talker_code_predictor": Family(1024, 16, 5, 32768, head=128,
        kinds=kinds.from_max_window_layers(28, always=True)),
    "recurrent_gemma": Family(2560, 10, 26, share=0.5, window=2048, kinds=each("--s"),
        window_key="attention_window_size"),
    "smollm3": Family(2048, 16, 36, 32768, base=2000000.0, kinds=kinds.smollm3,
        still="no_rope_layers"),
    "step3p5": Family(4096, 64, 45, 128000, head=128, kinds=each("F"),
        scale="query_pre_attn_scalar**-0.5", local=Local("rope_theta", 10000.0)),
    "t5_gemma_module": Family(2304, 8, 26, 8192, head=256, window=4096, kinds=each("sF"),
        also={SLIDING: T5GEMMA_ENCODER},
        scale="query_pre_attn_scalar**-0.5", scale_default=256),
    "t5gemma2_decoder": Family(2304, 8, 26, 131072, head=256, window=4096, kinds=each("sssssF",
        "sliding_window_pattern"), local=Local("rope_local_base_freq", 10000.0),
        scale="query_pre_attn_scalar**-0.5", scale_default=256, base=1000000.0),
    "t5gemma2_text": Family(2304, 8, 26, 131072, head=256, window=4096, kinds=each("sssssF",
        "sliding_window_pattern"), window_counts="both sides, one more ahead",
        also={SLIDING: T5GEMMA_2_ENCODER}, local=Local("rope_local_base_freq", 10000.0),
        scale="query_pre_attn_scalar**-0.5", scale_default=256, base=1000000.0),
    "ultrabert": Family(4096, 32, 32, 32768, window=128, window_counts="each side",
        kinds=kinds.ultrabert, base=2560000.0,
        local=Local("rope_theta", 10000.0)),
    "unlimited_ocr_text": Family(1280, 10, 12, 32768, window=128, kinds=each("r"),
        also={"reference_sliding_attention": REFERENCE_WINDOW}),
    "vaultgemma": Family(2304, 8, 26, 8192, head=256, window=4096, kinds=each("sF"),
        scale="query_pre_attn_scalar**-0.5", scale_default=256),
    "zamba2": Family(2560, 32, 54, 4096, kinds=kinds.zamba2, still="use_mem_rope=True",
        head_key="attention_head_dim", heads_wider=2),
    "zaya": Family(2048, 8, 40, 131072, head=128, by_kind=ZAYA, kinds=each("H")),
    # ---- no rotation, and the rest of it: windows, a temperature, a scale of their own
    "inkling2_loop_text": Family(2304, 24, 24, 1048576, head=128, window=1024,
        window_key="sliding_window_size", kinds=kinds.inkling, turning=(), temperature="inkling", floor=8192,
        also={"hybrid": INKLING_BIAS, "hybrid_sliding": INKLING_BIAS}),
    "inkling2_text": Family(4608, 48, 48, 1048576, head=128, window=1024, window_key="sliding_window_size",
        kinds=kinds.inkling, turning=(), temperature="inkling",
        floor=128000, also={"hybrid": INKLING_BIAS, "hybrid_sliding": INKLING_BIAS}),
    "inkling_text": Family(6144, 64, 66, 131072, head=128, window=512, window_key="sliding_window_size",
        kinds=kinds.inkling, turning=(), scale="head_dim**-1", scale_default=128, temperature="inkling",
        also={"hybrid": INKLING_BIAS, "hybrid_sliding": INKLING_BIAS}),
    # ---- older ones, whose configs say it in their own words
    "gptj": Family(4096, 16, 28, 2048, layout="interleaved", rotary_dim=64),
    "codegen": Family(4096, 16, 28, 2048, layout="interleaved", rotary_dim=64),
    "roformer": Family(768, 12, 12, 1536, layout="interleaved"),
    "esm": Family(768, 12, 12, 1026, position_embedding="absolute"),
    # ---- published with code of their own, not in transformers
    "chatglm": Family(4096, 32, 28, 8192, layout="interleaved", head_key="kv_channels", rope_ratio=True,
        share=0.5, source="THUDM/glm-4-9b"),
    "deepseek": Family(4096, 32, 30, 4096, source="deepseek-ai/deepseek-moe-16b-base"),
    "dbrx": Family(2048, 16, 24, 2048, disputed_base="attn_config.rope_theta",
        source="databricks/dbrx-base"),
    "exaone": Family(4096, 32, 32, 4096, base=500000.0, own_base=10000.0,
        source="LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct"),
    "internlm2": Family(4096, 32, 32, 32768, base=1000000.0, source="internlm/internlm2-7b"),
    "kimi_k2": Family(7168, 64, 61, 131072, mla=True, head_key="qk_rope_head_dim", head=64, nope=128,
        layout="interleaved", base=50000.0, source="moonshotai/Kimi-K2-Instruct"),
    "minimax_text_01": Family(6144, 64, 80, 10240000, head=128, base=10000000.0, rotary_dim=64,
        kinds=kinds.minimax_01, source="MiniMaxAI/MiniMax-Text-01"),
    "minimax_m1": Family(6144, 64, 80, 10240000, head=128, base=10000000.0, rotary_dim=64,
        kinds=kinds.minimax_01, source="MiniMaxAI/MiniMax-M1-80k"),
}
# fmt: on
"""Families whose text part rotates, or has windows and temperatures without it, by `model_type`."""

WHOLES: dict[str, tuple[str, str]] = {
    "aimv2": ("text_config", "aimv2_text_model"),
    "align": ("text_config", "align_text_model"),
    "altclip": ("text_config", "altclip_text_model"),
    "apertus1p5": ("text_config", "apertus1p5_text"),
    "aria": ("text_config", "aria_text"),
    "audioflamingo3": ("text_config", "qwen2"),
    "aya_vision": ("text_config", "cohere2"),
    "blip": ("text_config", "blip_text_model"),
    "blip-2": ("text_config", "opt"),
    "bridgetower": ("text_config", "bridgetower_text_model"),
    "canary": ("decoder_config", "canary_decoder"),
    "chinese_clip": ("text_config", "chinese_clip_text_model"),
    "clap": ("text_config", "clap_text_model"),
    "clip": ("text_config", "clip_text_model"),
    "clipseg": ("text_config", "clipseg_text_model"),
    "clvp": ("text_config", "clvp_encoder"),
    "cohere2_vision": ("text_config", "cohere2"),
    "cohere_compass": ("text_config", "cohere_compass_text"),
    "colmodernvbert": ("vlm_config.text_config", "modernbert"),
    "colpali": ("vlm_config.text_config", "gemma"),
    "colqwen2": ("vlm_config.text_config", "qwen2_vl_text"),
    "cosmos3_edge": ("text_config", "cosmos3_edge_text"),
    "cosmos3_omni": ("text_config", "qwen3_vl_text"),
    "deepseek_ocr2": ("text_config", "deepseek_ocr2_text"),
    "deepseek_vl": ("text_config", "llama"),
    "deepseek_vl_hybrid": ("text_config", "llama"),
    "deepseek_vl_v2": ("language_config", "deepseek_v2"),
    "dia": ("decoder_config", "dia_decoder"),
    "diffusion_gemma": ("text_config", "diffusion_gemma_text"),
    "dots3_note": ("text_config", "dots3_note_text"),
    "embedding_gemma2": ("text_config", "embedding_gemma2_text"),
    "emu3": ("text_config", "emu3_text_model"),
    "encoder-decoder": ("decoder", ""),
    "ernie4_5_vl_moe": ("text_config", "ernie4_5_vl_moe_text"),
    "exaone4_5": ("text_config", "exaone4"),
    "fast_vlm": ("text_config", "qwen2"),
    "flava": ("text_config", "flava_text_model"),
    "florence2": ("text_config", "bart"),
    "fun_asr_nano": ("text_config", "qwen3"),
    "fuyu": ("text_config", "persimmon"),
    "gemma3": ("text_config", "gemma3_text"),
    "gemma3n": ("text_config", "gemma3n_text"),
    "gemma4": ("text_config", "gemma4_text"),
    "gemma4_assistant": ("text_config", "gemma4_text"),
    "gemma4_unified": ("text_config", "gemma4_unified_text"),
    "gemma4_unified_assistant": ("text_config", "gemma4_unified_text"),
    "glm46v": ("text_config", "glm4v_text"),
    "glm4v": ("text_config", "glm4v_text"),
    "glm4v_moe": ("text_config", "glm4v_moe_text"),
    "glm5_next": ("text_config", "glm5_next_text"),
    "glm_image": ("text_config", "glm_image_text"),
    "glm_ocr": ("text_config", "glm_ocr_text"),
    "glmasr": ("text_config", "llama"),
    "glmga": ("text_config", "glm4v_text"),
    "got_ocr2": ("text_config", "qwen2"),
    "granite4_vision": ("text_config", "granite4_vision_text"),
    "granite_docling": ("text_config", "granite_docling_text"),
    "granite_speech": ("text_config", "granite"),
    "granite_speech_plus": ("text_config", "granite"),
    "grounding-dino": ("text_config", "bert"),
    "groupvit": ("text_config", "groupvit_text_model"),
    "hunyuan_vl": ("text_config", "hunyuan_vl_text"),
    "hy_v4_vl": ("text_config", "hy_v4_vl_text"),
    "hyperclovax_vision_v2": ("text_config", "hyperclovax"),
    "idefics2": ("text_config", "mistral"),
    "idefics3": ("text_config", "llama"),
    "inkling2": ("text_config", "inkling2_text"),
    "inkling2_loop": ("text_config", "inkling2_loop_text"),
    "inkling_mm_model": ("text_config", "inkling_text"),
    "instructblip": ("text_config", "opt"),
    "instructblipvideo": ("text_config", "opt"),
    "internvl": ("text_config", "qwen2"),
    "internvl_chat": ("llm_config", ""),
    "janus": ("text_config", "llama"),
    "jev": ("text_config", "qwen3_5_text"),
    "kimi_k25": ("text_config", "deepseek_v3"),
    "kimi_vl": ("text_config", "deepseek_v3"),
    "kosmos-2": ("text_config", "kosmos_2_text_model"),
    "kosmos-2.5": ("text_config", "kosmos_2_5_text_model"),
    "lfm2_vl": ("text_config", "lfm2"),
    "lfm3_vl": ("text_config", "lfm3"),
    "lighton_ocr": ("text_config", "qwen3"),
    "llama4": ("text_config", "llama4_text"),
    "llava": ("text_config", "llama"),
    "llava_next": ("text_config", "llama"),
    "llava_next_video": ("text_config", "llama"),
    "llava_onevision": ("text_config", "qwen2"),
    "metaclip_2": ("text_config", "metaclip_2_text_model"),
    "minicpm_ocr": ("text_config", "qwen3_5_text"),
    "minicpmv4_6": ("text_config", "qwen3_5_text"),
    "minicpmv4_7": ("text_config", "qwen3_5_text"),
    "minimax_m3_vl": ("text_config", "minimax_m3_vl_text"),
    "mistral3": ("text_config", "mistral"),
    "mistral_large4": ("text_config", "mistral_large4_text"),
    "mllama": ("text_config", "mllama_text_model"),
    "mm-grounding-dino": ("text_config", "bert"),
    "modernvbert": ("text_config", "modernbert"),
    "molmo2": ("text_config", "molmo2_text"),
    "moss_transcribe_diarize": ("text_config", "qwen3"),
    "muse_glimmer": ("text_config", "muse_glimmer_text"),
    "muse_spark": ("text_config", "muse_spark_text"),
    "musicgen": ("decoder", "musicgen_decoder"),
    "musicgen_melody": ("decoder", "musicgen_melody_decoder"),
    "nemo_speechlm": ("text_config", "nemotron_h"),
    "nemotron_h_omni": ("text_config", "nemotron_h"),
    "omdet-turbo": ("text_config", "clip_text_model"),
    "omniasr": ("text_config", "llama"),
    "ovis2": ("text_config", "qwen2"),
    "owlv2": ("text_config", "owlv2_text_model"),
    "owlvit": ("text_config", "owlvit_text_model"),
    "paddleocr_vl": ("text_config", "paddleocr_vl_text"),
    "paligemma": ("text_config", "gemma"),
    "pe_audio": ("text_config", "modernbert"),
    "pe_audio_video": ("text_config", "modernbert"),
    "pe_video": ("text_config", "modernbert"),
    "perception_lm": ("text_config", "llama"),
    "pix2struct": ("text_config", "pix2struct_text_model"),
    "pp_chart2table": ("text_config", "qwen2"),
    "pp_formulanet": ("text_config", "pp_formulanet_text"),
    "qianfan_ocr": ("text_config", "qwen3"),
    "qwen2_5_omni": ("thinker_config.text_config", "qwen2_5_omni_text"),
    "qwen2_5_omni_thinker": ("text_config", "qwen2_5_omni_text"),
    "qwen2_5_vl": ("text_config", "qwen2_5_vl_text"),
    "qwen2_audio": ("text_config", "qwen2"),
    "qwen2_vl": ("text_config", "qwen2_vl_text"),
    "qwen3_5": ("text_config", "qwen3_5_text"),
    "qwen3_5_moe": ("text_config", "qwen3_5_moe_text"),
    "qwen3_asr": ("text_config", "qwen3"),
    "qwen3_omni_moe": ("thinker_config.text_config", "qwen3_omni_moe_text"),
    "qwen3_omni_moe_thinker": ("text_config", "qwen3_omni_moe_text"),
    "qwen3_vl": ("text_config", "qwen3_vl_text"),
    "qwen3_vl_moe": ("text_config", "qwen3_vl_moe_text"),
    "qwen4_exp": ("text_config", "qwen4_exp_text"),
    "rag": ("generator", ""),
    "sam3": ("text_config", "clip_text_model"),
    "sam3_lite_text": ("text_config", "sam3_lite_text_text_model"),
    "shieldgemma2": ("text_config", "gemma3_text"),
    "siglip": ("text_config", "siglip_text_model"),
    "siglip2": ("text_config", "siglip2_text_model"),
    "smolvlm": ("text_config", "llama"),
    "speech-encoder-decoder": ("decoder", ""),
    "step3p7": ("text_config", "step3p5"),
    "t5gemma": ("decoder", "t5_gemma_module"),
    "t5gemma2": ("decoder", "t5gemma2_decoder"),
    "t5gemma2_encoder": ("text_config", "t5gemma2_text"),
    "tipsv2": ("text_config", "tipsv2_text_model"),
    "ultravbert": ("text_config", "ultrabert"),
    "unlimited_ocr": ("text_config", "unlimited_ocr_text"),
    "vibevoice": ("text_config", "qwen2"),
    "vibevoice_asr": ("text_config", "qwen2"),
    "video_llama_3": ("text_config", "qwen2"),
    "video_llava": ("text_config", "llama"),
    "videoprism": ("text_config", "videoprism_text_model"),
    "vipllava": ("text_config", "llama"),
    "vision-encoder-decoder": ("decoder", ""),
    "vision-text-dual-encoder": ("text_config", ""),
    "voxtral": ("text_config", "llama"),
    "voxtral_realtime": ("text_config", "voxtral_realtime_text"),
    "xclip": ("text_config", "xclip_text_model"),
}
"""Models of several parts: where the part that reads text is, and its family if that part names none."""

_PERCEPTION_ENCODER = {"hidden_size": 1024, "num_hidden_layers": 22, "num_attention_heads": 16}
PART_DEFAULTS: dict[str, dict[str, Any]] = {
    "glmasr": {
        "hidden_size": 2048,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "max_position_embeddings": 8192,
    },
    "pe_audio": _PERCEPTION_ENCODER,
    "pe_audio_video": _PERCEPTION_ENCODER,
    "pe_video": _PERCEPTION_ENCODER,
    "voxtral": {
        "hidden_size": 3072,
        "num_hidden_layers": 30,
        "max_position_embeddings": 131072,
        "rope_theta": 100000000.0,
        "head_dim": 128,
    },
    "voxtral_realtime": {
        "hidden_size": 3072,
        "num_hidden_layers": 26,
        "num_attention_heads": 32,
        "max_position_embeddings": 131072,
        "rope_theta": 1000000.0,
        "head_dim": 128,
        "sliding_window": 8192,
    },
}
"""What the text part of these has where it leaves it out, in place of its family's own."""

# fmt: off
UNROTATED = frozenset({
    "aimv2_text_model", "aimv2_vision_model", "albert", "align_text_model", "align_vision_model",
    "altclip_text_model", "altclip_vision_model", "apertus1p5_vision_tokenizer",
    "audio-spectrogram-transformer", "audioflamingo3_encoder", "autoformer", "bark", "bart", "beit", "bert",
    "bert-generation", "big_bird", "bigbird_pegasus", "biogpt", "bit", "blenderbot", "blenderbot-small",
    "blip_2_qformer", "blip_2_vision_model", "blip_text_model", "blip_vision_model", "bloom",
    "bridgetower_text_model", "bridgetower_vision_model", "bros", "camembert", "canary_decoder", "canine",
    "chameleon_vqgan", "chinese_clip_text_model", "chinese_clip_vision_model", "clap_audio_model",
    "clap_text_model", "clip_text_model", "clip_vision_model", "clipseg_text_model", "clipseg_vision_model",
    "coarse_acoustics", "cohere_asr", "conditional_detr", "convbert", "convnext", "convnextv2", "cpmant",
    "ctrl", "cvt", "d_fine", "dab-detr", "dac", "data2vec-audio", "data2vec-text", "data2vec-vision",
    "deberta", "deberta-v2", "decision_transformer", "deepseek_ocr2_sam_vision_model",
    "deepseek_ocr2_vision", "deformable_detr", "deimv2", "deit", "depth_anything", "depth_pro", "detr",
    "dinat", "dinov2", "dinov2_with_registers", "dinov3_convnext", "distilbert", "donut-swin", "dpr", "dpt",
    "edgetam", "edgetam_mask_decoder", "edgetam_prompt_encoder", "edgetam_video_mask_decoder",
    "edgetam_video_prompt_encoder", "edgetam_vision_model", "efficientnet", "electra", "emu3_vqgan",
    "encodec", "eomt", "ernie", "falcon_mamba", "fastspeech2_conformer", "fastspeech2_conformer_hifigan",
    "fastspeech2_conformer_with_hifigan", "fine_acoustics", "flaubert", "flava_image_codebook",
    "flava_image_model", "flava_multimodal_model", "flava_text_model", "florence_vision", "fnet", "focalnet",
    "fsmt", "fun_asr_nano_encoder", "funnel", "gemma3n_audio", "gemma3n_vision", "gemma4_audio",
    "gemma4_unified_audio", "gemma4_unified_vision", "git", "git_vision_model", "glm5_next_text",
    "glm_image_vision", "glm_image_vqmodel", "glpn", "got_ocr2_vision", "gpt-sw3", "gpt2", "gpt_bigcode",
    "gpt_neo", "granite_docling_vision", "granite_speech5_ctc", "granite_speech5_encoder",
    "granite_speech_encoder", "granite_speech_plus_encoder", "groupvit_text_model", "groupvit_vision_model",
    "hgnet_v2", "hiera", "higgs_audio_v2_tokenizer", "hubert", "hy_v4_vl_vision", "ibert",
    "idefics2_perceiver", "idefics2_vision", "idefics3_vision", "idefics_perciever", "idefics_vision",
    "ijepa", "imagegpt", "informer", "inkling_audio", "inkling_vision", "instructblip_qformer",
    "instructblip_vision_model", "instructblipvideo_qformer", "instructblipvideo_vision_model",
    "internvl_vision", "jamba", "janus_vision_model", "janus_vqgan", "kimi_linear", "kosmos_2_5_text_model",
    "kosmos_2_5_vision_model", "kosmos_2_text_model", "kosmos_2_vision_model", "layoutlm", "layoutlmv2",
    "layoutlmv3", "layoutxlm", "led", "levit", "lilt", "longformer", "longt5", "luke", "lw_detr",
    "lw_detr_vit", "lxmert", "m2m_100", "mamba", "mamba2", "marian", "markuplm", "mask2former", "maskformer",
    "maskformer-swin", "mbart", "megatron-bert", "metaclip_2_text_model", "metaclip_2_vision_model",
    "mgp-str", "minicpm_ocr_vision", "minicpmv4_6_vision", "minicpmv4_7_vision", "mllama_vision_model",
    "mobilebert", "mobilenet_v1", "mobilenet_v2", "mobilevit", "mobilevitv2", "molmo2_adapter",
    "molmo2_vision", "moonshine_streaming_encoder", "moshi_depth", "moss_transcribe_diarize_audio", "mpnet",
    "mpt", "mra", "mt5", "muse_spark_audio", "musicgen_decoder", "musicgen_melody_decoder", "mvp",
    "nemotron3_5_asr", "nemotron_asr_streaming", "nemotron_asr_streaming_encoder", "nemotron_h", "nllb-moe",
    "nystromformer", "omniasr_audio", "omniasr_ctc", "oneformer", "openai-gpt", "opt", "ovis2_vision",
    "owlv2_text_model", "owlv2_vision_model", "owlvit_text_model", "owlvit_vision_model", "parakeet_ctc",
    "parakeet_encoder", "parakeet_rnnt", "parakeet_tdt", "patchtsmixer", "patchtst", "pegasus", "pegasus_x",
    "perceiver", "phi4_multimodal_audio", "phi4_multimodal_vision", "pix2struct_text_model",
    "pix2struct_vision_model", "pixio", "plbart", "poolformer", "pop2piano", "pp_chart2table_vision",
    "pp_doclayout_v2", "pp_doclayout_v3", "pp_doclayout_v4", "pp_formulanet_text", "pp_formulanet_vision",
    "pp_lcnet", "pp_lcnet_v3", "pp_lcnet_v4", "pp_ocrv5_mobile_det", "pp_ocrv5_mobile_rec",
    "pp_ocrv5_server_det", "pp_ocrv5_server_rec", "pp_ocrv6_medium_det", "pp_ocrv6_small_det",
    "pp_ocrv6_small_rec", "pp_ocrv6_tiny_rec", "prompt_depth_anything", "prophetnet", "pvt", "pvt_v2",
    "qianfan_ocr_vision", "qwen2_5_omni_audio_encoder", "qwen2_5_omni_bigvgan", "qwen2_audio_encoder",
    "qwen3_asr_encoder", "qwen3_omni_moe_audio_encoder", "radio", "reformer", "regnet", "rembert", "resnet",
    "rf_detr", "rf_detr_dinov2", "roberta", "roberta-prelayernorm", "roc_bert", "rt_detr", "rt_detr_resnet",
    "rt_detr_v2", "rwkv", "sam", "sam2", "sam2_hiera_det_model", "sam2_mask_decoder", "sam2_prompt_encoder",
    "sam2_video_mask_decoder", "sam2_video_prompt_encoder", "sam2_vision_model", "sam3_detr_decoder",
    "sam3_detr_encoder", "sam3_geometry_encoder", "sam3_lite_text_detr_decoder",
    "sam3_lite_text_detr_encoder", "sam3_lite_text_geometry_encoder", "sam3_lite_text_mask_decoder",
    "sam3_lite_text_text_model", "sam3_mask_decoder", "sam3_tracker", "sam3_tracker_mask_decoder",
    "sam3_tracker_prompt_encoder", "sam3_tracker_video_mask_decoder", "sam3_tracker_video_prompt_encoder",
    "sam_hq", "sam_hq_mask_decoder", "sam_hq_prompt_encoder", "sam_hq_vision_model", "sam_mask_decoder",
    "sam_prompt_encoder", "sam_vision_model", "seamless_m4t_v2", "segformer", "seggpt", "semantic", "sew",
    "sew-d", "siglip2_text_model", "siglip2_vision_model", "siglip_text_model", "siglip_vision_model",
    "slanet", "slanext", "slanext_vision", "smolvlm_vision", "speech_to_text", "speecht5",
    "speecht5_hifigan", "splinter", "squeezebert", "superglue", "superpoint", "swiftformer", "swin",
    "swin2sr", "swinv2", "switch_transformers", "t5", "table-transformer", "tapas", "textnet",
    "time_series_transformer", "timesfm", "timesformer", "timm_backbone", "tipsv2_dpt", "tipsv2_text_model",
    "tipsv2_vision_model", "trocr", "tvp", "udop", "umt5", "unispeech", "unispeech-sat", "univnet",
    "unlimited_ocr_sam_vision_model", "unlimited_ocr_vision", "unlimited_ocr_vision_encoder", "upernet",
    "uvdoc", "uvdoc_backbone", "vibevoice_acoustic_tokenizer", "vibevoice_acoustic_tokenizer_decoder",
    "vibevoice_acoustic_tokenizer_encoder", "vibevoice_diffusion", "videomae", "videomt",
    "videoprism_text_model", "videoprism_vision_model", "vilt", "visual_bert", "vit", "vit_mae", "vit_msn",
    "vitdet", "vitmatte", "vitpose", "vitpose_backbone", "vits", "vivit", "voxtral_encoder", "wav2vec2",
    "wavlm", "wavtokenizer", "wavtokenizer_encoder", "whisper", "xclip_text_model", "xclip_vision_model",
    "xcodec", "xglm", "xlm", "xlm-roberta", "xlm-roberta-xl", "xlnet", "xlstm", "xmod", "yolos", "yoso",
    "zamba", "zoedepth",
})
# fmt: on
"""Values of `model_type` whose positions come in through another door (a table, a bias), or not at all."""

KEYS_UNREAD = frozenset({"glm5_next_text", "jamba", "kimi_linear", "nemotron_h", "zamba"})
"""Of these, the ones whose configs have keys about rotation all the same, which their code does not read."""

WITHOUT_LATENT_ATTENTION = {"deepseek_v2": "deepseek"}
"""Whose code reads a config of a family with latent attention that says `use_mla: false` (DeepSeek-OCR)."""

UNROTATED_KINDS: dict[str, Kinds] = {
    **dict.fromkeys(("falcon_mamba", "mamba", "mamba2", "rwkv", "xlstm"), each("-")),
    "glm5_next_text": each("---i"),
    "jamba": kinds.jamba,
    "kimi_linear": kinds.kimi_linear,
    "nemotron_h": kinds.nemotron_h,
    "zamba": kinds.zamba,
}
"""Of these, the ones with layers of other kinds than full attention."""

# What model types do that turn by coordinates, in a sentence that names the function here.
ROWS_THEN_COLUMNS = (
    "it turns by rows and columns of an image; axial_tables(positions, head_dim, base=rope_theta) with "
    "positions of shape (2, patches), rows first, gives its tables, for layout 'half'"
)
ROWS_THEN_COLUMNS_INTERLEAVED = (
    "it turns by rows and columns of an image; axial_tables(positions, head_dim, base=rope_theta) with "
    "positions of shape (2, patches) gives such tables, for layout 'interleaved'. Look into its code for "
    "which axis is first"
)
COLUMNS_THEN_ROWS = (
    "it turns by columns and rows of an image, in an order of its own; axial_tables(positions, head_dim, "
    "base=rope_theta) makes such tables once the coordinates are in its order: look into its code"
)
THREE_AXES = (
    "it turns by time, row and column; axial_tables(positions, 6 * (head_dim // 6), base=rope_theta) with "
    "positions of shape (3, patches) gives its tables, for layout 'half'. What is left of the columns passes"
)
CENTRES = (
    "it turns by the centres of patches in [-1, 1]; dinov3_tables makes its tables, for layout 'half'. Class "
    "and register tokens stay as they are"
)
PIXTRAL = (
    "it turns by rows and columns of an image with one frequency series, every other pair of it for each "
    "axis: the pairs 0, 2, 4, ... of rotary_tables(rows, head_dim), then 1, 3, 5, ... of "
    "rotary_tables(columns, head_dim), for layout 'half'"
)
MOONVIT = (
    "it turns by columns and rows of an image in turn: the first pair of rotary_tables(columns, head_dim // "
    "2), the first of rotary_tables(rows, head_dim // 2), the second of each, and so on, for layout 'half' "
    "in Hugging Face's weights"
)
GEMMA_4_VISION = (
    "the first half of a head turns by the column of an image and the second by the row, each as "
    "apply_rotary with layout 'half' does it"
)
V_JEPA_2 = (
    "what it does to queries and keys is not a rotation: the angles of the two columns of a pair differ; "
    "vjepa2_mix does it"
)
OF_ITS_OWN = (
    "it turns by coordinates or frequencies of its own code; apply_rotary and axial_tables take any positions"
)
SPEECH = (
    "its speech encoder has position_embeddings_type 'relative' as a rule, a bias; where it is 'rotary', "
    "apply_rotary(x, positions, base=rotary_embedding_base, layout='half') does the same"
)

AUDIO_BY_TIME = (
    "its own rope parameters turn what it hears by the seconds at which it is heard, on the way into the "
    "language model, and no queries or keys; give its text_config, for those of the language model"
)
FRAMES_ALONE = "it reads frames of sound, and its encoder rotates; give its encoder_config"
TWO_MODELS = (
    "two models rotate in it, each by a config of its own; give vlm_config['text_config'], for the one that "
    "reads text, or dit_config, for the one that moves"
)

IMAGES: dict[str, str] = {
    "clvp_decoder": OF_ITS_OWN,
    "clvp_encoder": OF_ITS_OWN,
    "cohere_compass_vision": ROWS_THEN_COLUMNS,
    "cosmos3_edge_vision": ROWS_THEN_COLUMNS,
    "dinov3_vit": CENTRES,
    "dots3_note_vision_encoder": ROWS_THEN_COLUMNS,
    "edgetam_video": ROWS_THEN_COLUMNS_INTERLEAVED,
    "efficientloftr": OF_ITS_OWN,
    "eomt_dinov3": CENTRES,
    "ernie4_5_vl_moe_vision": ROWS_THEN_COLUMNS,
    "exaone4_5_vision": ROWS_THEN_COLUMNS,
    "gemma4_vision": GEMMA_4_VISION,
    "glm4v_moe_vision": ROWS_THEN_COLUMNS,
    "glm4v_vision": ROWS_THEN_COLUMNS,
    "glm5_next_vision": ROWS_THEN_COLUMNS,
    "glm_ocr_vision": ROWS_THEN_COLUMNS,
    "hunyuan_vl_vision": OF_ITS_OWN,
    "inkling2_vision": COLUMNS_THEN_ROWS,
    "kimi_k25_vision": MOONVIT,
    "lfm3_vl_vision": ROWS_THEN_COLUMNS,
    "lasr_ctc": FRAMES_ALONE,
    "lightglue": OF_ITS_OWN,
    "llama4_vision_model": COLUMNS_THEN_ROWS,
    "minimax_m3_vl_vision": THREE_AXES,
    "mlcd": ROWS_THEN_COLUMNS,
    "mlcd_vision_model": ROWS_THEN_COLUMNS,
    "muse_glimmer_vision": ROWS_THEN_COLUMNS,
    "muse_spark_vision": ROWS_THEN_COLUMNS,
    "musicflamingo": AUDIO_BY_TIME,
    "paddleocr_vl_vision": ROWS_THEN_COLUMNS,
    "pi0": TWO_MODELS,
    "pixtral": PIXTRAL,
    "qwen2_5_omni_vision_encoder": ROWS_THEN_COLUMNS,
    "qwen2_5_vl_vision": ROWS_THEN_COLUMNS,
    "qwen2_vl_vision": ROWS_THEN_COLUMNS,
    "qwen3_5_moe_vision": ROWS_THEN_COLUMNS,
    "qwen3_5_vision": ROWS_THEN_COLUMNS,
    "qwen3_omni_moe_vision_encoder": ROWS_THEN_COLUMNS,
    "qwen3_vl_moe_vision": ROWS_THEN_COLUMNS,
    "qwen3_vl_vision": ROWS_THEN_COLUMNS,
    "qwen4_exp_vision": ROWS_THEN_COLUMNS,
    "sam2_video": ROWS_THEN_COLUMNS_INTERLEAVED,
    "sam3_tracker_video": ROWS_THEN_COLUMNS_INTERLEAVED,
    "sam3_vit_model": ROWS_THEN_COLUMNS_INTERLEAVED,
    "sapiens2": CENTRES,
    "seamless_m4t": SPEECH,
    "step3p5_vision": COLUMNS_THEN_ROWS,
    "video_llama_3_vision": ROWS_THEN_COLUMNS,
    "vjepa2": V_JEPA_2,
    "wav2vec2-bert": SPEECH,
    "wav2vec2-conformer": SPEECH,
}
"""Values of `model_type` that turn by coordinates, or whose parts are no model that reads."""
