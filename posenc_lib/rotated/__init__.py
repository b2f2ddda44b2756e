"""Door 2, rotated into queries and keys: R(position) q, R(position) k."""

from posenc_lib.rotated.axial import axial_tables, mrope_positions, mrope_tables
from posenc_lib.rotated.checkpoints import convert_layout, layers_from_config, rope_from_config
from posenc_lib.rotated.dinov3 import augment_coordinates, dinov3_tables, patch_coordinates
from posenc_lib.rotated.mixed import mixed_rates, mixed_tables
from posenc_lib.rotated.rotary import apply_rotary, rotary_tables, rotate
from posenc_lib.rotated.settings import LayerPositions, QueryTemperature, RopeSettings
from posenc_lib.rotated.tables import RotaryTables
from posenc_lib.rotated.vjepa2 import vjepa2_mix
from posenc_lib.rotated.xpos import xpos_tables
from posenc_lib.scaling.config import scaling_from_config
from posenc_lib.scaling.rules import (
    DynamicNTKScaling,
    LinearScaling,
    Llama3Scaling,
    LongRoPEScaling,
    NTKByPartsScaling,
    NTKScaling,
    ProportionalScaling,
    Scaling,
    YaRNScaling,
)

__all__ = [
    "DynamicNTKScaling",
    "LayerPositions",
    "LinearScaling",
    "Llama3Scaling",
    "LongRoPEScaling",
    "NTKByPartsScaling",
    "NTKScaling",
    "ProportionalScaling",
    "QueryTemperature",
    "RopeSettings",
    "RotaryTables",
    "Scaling",
    "YaRNScaling",
    "apply_rotary",
    "augment_coordinates",
    "axial_tables",
    "convert_layout",
    "dinov3_tables",
    "layers_from_config",
    "mixed_rates",
    "mixed_tables",
    "mrope_positions",
    "mrope_tables",
    "patch_coordinates",
    "rope_from_config",
    "rotary_tables",
    "rotate",
    "scaling_from_config",
    "vjepa2_mix",
    "xpos_tables",
]
