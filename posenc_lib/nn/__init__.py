"""The encodings and a small Transformer as PyTorch modules.

    from posenc_lib.nn import Transformer

    model = Transformer(vocabulary=256, dim=128, layers=4, heads=4, encoding="rope")
    logits = model(tokens)  # (batch, length) -> (batch, length, 256)

`PositionalEncoding` is the base of them all: three doors, `add`, `rotate` and `bias`, of which each encoding
opens its own. `Attention` calls `rotate` and `bias`, `Transformer` all three. `ENCODINGS` has them by name.
The maths is that of the pure functions in `posenc_lib`: here is what modules need besides, parameters,
kept tables, padding and caches of keys.

Importing `posenc_lib` does not import this package, nor torch.
"""

from posenc_lib.nn.added import FourierFeatures, Grid, Hybrid, Learned, Sinusoidal
from posenc_lib.nn.attention import Attention, Cache, LayerCache
from posenc_lib.nn.base import NoPE, PositionalEncoding
from posenc_lib.nn.biased import FIRE, KERPLE, ALiBi, CoPE, Sandwich, Shaw, T5Bias, TransformerXL
from posenc_lib.nn.convolution import ConvolutionPositions
from posenc_lib.nn.data_dependent_alibi import DataDependentALiBi, FoX
from posenc_lib.nn.deberta import DeBERTa
from posenc_lib.nn.dinov3 import DINOv3Rotary
from posenc_lib.nn.encoder_layer import EncoderLayer
from posenc_lib.nn.encodings import ENCODINGS, Sizes, make_encoding
from posenc_lib.nn.enformer import Enformer
from posenc_lib.nn.graphs import LaplacianEigenvectors, RandomWalk, TreePaths
from posenc_lib.nn.learned_grid import LearnedGrid
from posenc_lib.nn.mixed import MixedRotary
from posenc_lib.nn.path import PaTH
from posenc_lib.nn.pope import PoPE
from posenc_lib.nn.position_maps import DualChunk, SelfExtend
from posenc_lib.nn.rotated import AxialRotary, MultimodalRotary, Rotary, XPos
from posenc_lib.nn.temperature import LogTemperature, ScalableSoftmax
from posenc_lib.nn.times import Calendar, Time2Vec
from posenc_lib.nn.transformer import Block, Transformer
from posenc_lib.nn.vjepa2 import VJEPA2
from posenc_lib.nn.windows import SwinBias, SwinV2Bias

__all__ = [
    "ENCODINGS",
    "FIRE",
    "KERPLE",
    "VJEPA2",
    "ALiBi",
    "Attention",
    "AxialRotary",
    "Block",
    "Cache",
    "Calendar",
    "CoPE",
    "ConvolutionPositions",
    "DINOv3Rotary",
    "DataDependentALiBi",
    "DeBERTa",
    "DualChunk",
    "EncoderLayer",
    "Enformer",
    "FoX",
    "FourierFeatures",
    "Grid",
    "Hybrid",
    "LaplacianEigenvectors",
    "LayerCache",
    "Learned",
    "LearnedGrid",
    "LogTemperature",
    "MixedRotary",
    "MultimodalRotary",
    "NoPE",
    "PaTH",
    "PoPE",
    "PositionalEncoding",
    "RandomWalk",
    "Rotary",
    "Sandwich",
    "ScalableSoftmax",
    "SelfExtend",
    "Shaw",
    "Sinusoidal",
    "Sizes",
    "SwinBias",
    "SwinV2Bias",
    "T5Bias",
    "Time2Vec",
    "Transformer",
    "TransformerXL",
    "TreePaths",
    "XPos",
    "make_encoding",
]
