"""Door 3, a bias on the scores: s + b(query, key)."""

from posenc_lib.biased.alibi import alibi_bias, alibi_slopes
from posenc_lib.biased.alibi_in_torch import AlibiColumns, alibi_attention, alibi_columns
from posenc_lib.biased.cope import cope_bias
from posenc_lib.biased.deberta import deberta_bias, deberta_buckets
from posenc_lib.biased.enformer import enformer_features
from posenc_lib.biased.fire import fire_bias, fire_distances
from posenc_lib.biased.flex import (
    alibi_score_mod,
    fire_score_mod,
    kerple_score_mod,
    packed_mask_mod,
    sandwich_score_mod,
    shaw_score_mod,
    t5_score_mod,
    transformer_xl_score_mod,
)
from posenc_lib.biased.gates import data_dependent_alibi, fox_bias, per_row_alibi
from posenc_lib.biased.kerple import kerple_bias
from posenc_lib.biased.path import path_bias, path_products
from posenc_lib.biased.pope import pope_bias, pope_vectors
from posenc_lib.biased.position_maps import (
    dual_chunk_bias,
    dual_chunk_distances,
    self_extend_bias,
    self_extend_distances,
    streaming_distances,
)
from posenc_lib.biased.relative import relative_positions
from posenc_lib.biased.sandwich import sandwich_bias
from posenc_lib.biased.shaw import shaw_bias, shaw_values
from posenc_lib.biased.swin import swin_bias, swin_index
from posenc_lib.biased.swin_v2 import swin_v2_bias, swin_v2_coordinates
from posenc_lib.biased.t5 import t5_bias, t5_buckets
from posenc_lib.biased.transformer_xl import relative_shift, transformer_xl_bias
from posenc_lib.biased.window import window_mask

__all__ = [
    "AlibiColumns",
    "alibi_attention",
    "alibi_bias",
    "alibi_columns",
    "alibi_score_mod",
    "alibi_slopes",
    "cope_bias",
    "data_dependent_alibi",
    "deberta_bias",
    "deberta_buckets",
    "dual_chunk_bias",
    "dual_chunk_distances",
    "enformer_features",
    "fire_bias",
    "fire_distances",
    "fire_score_mod",
    "fox_bias",
    "kerple_bias",
    "kerple_score_mod",
    "packed_mask_mod",
    "path_bias",
    "path_products",
    "per_row_alibi",
    "pope_bias",
    "pope_vectors",
    "relative_positions",
    "relative_shift",
    "sandwich_bias",
    "sandwich_score_mod",
    "self_extend_bias",
    "self_extend_distances",
    "shaw_bias",
    "shaw_score_mod",
    "shaw_values",
    "streaming_distances",
    "swin_bias",
    "swin_index",
    "swin_v2_bias",
    "swin_v2_coordinates",
    "t5_bias",
    "t5_buckets",
    "t5_score_mod",
    "transformer_xl_bias",
    "transformer_xl_score_mod",
    "window_mask",
]
