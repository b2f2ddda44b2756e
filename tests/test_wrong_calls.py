"""Whatever is given for one argument of a right call, it works, or is refused in words of the library's own.

Each public name needs a right call here: a new one is then tried with everything that is wrong.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

import posenc_lib
from posenc_lib import added, biased, nn, rotated

warnings.filterwarnings("ignore", message=".*(nested tensors|Sparse CSR|quantize_per_tensor).*")

X, T = np.ones((2, 4, 6, 8)), torch.ones(2, 4, 6, 8)
HEADS, WEIGHTS = np.ones(4), (np.ones((5, 1)), np.ones(5), np.ones((4, 5)), np.ones(4))
TENSOR_WEIGHTS = tuple(torch.as_tensor(each) for each in WEIGHTS)
RING = np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0)
PACKAGES = (posenc_lib, added, rotated, biased, nn)
AT = {"queries": 6, "keys": 6}

RIGHT: dict[str, dict[str, Any]] = {
    "attention": {"q": X, "k": X, "v": X, "bias": X[..., :6], "mask": np.ones((6, 6), bool), "causal": True}
    | {"return_weights": False, "sink": np.ones(4), "scale": 0.3, "softcap": 5.0, "window": 3, "norm": None},
    "frequencies": {"dim": 8, "base": 1e4, "spacing": "paper", "scaling": None},
    # added
    "sinusoidal": {"positions": 6, "dim": 8, "base": 1e4, "layout": "split", "spacing": "paper"},
    "shift_matrix": {"offset": 3, "dim": 8, "base": 1e4},
    "similarity": {"offsets": np.arange(3), "dim": 8},
    "learned": {"table": X[0, 0], "positions": 6, "beyond": "raise"},
    "hybrid": {"table": X[0, 0], "positions": 6, "base": 1e4},
    "grid_sinusoidal": {"shape": (2, 3), "dim": 8},
    "fourier_features": {"coordinates": np.ones((6, 2)), "matrix": np.ones((4, 2))},
    "gaussian_frequencies": {"features": 3, "axes": 2, "scale": 1.0, "seed": 0},
    "power_of_two_frequencies": {"bands": 3, "axes": 2},
    "laplacian_eigenvectors": {"adjacency": RING, "count": 3, "normalization": "none", "dtype": None},
    "eigenspaces": {"values": np.arange(3.0), "tolerance": 1e-6},
    "flip_signs": {"vectors": X[0, 0], "generator": np.random.default_rng(0)},
    "sign_invariant": {"vectors": X[0, 0], "phi": lambda v: v * v},
    "return_probabilities": {"adjacency": RING, "steps": 3, "dtype": None},
    "tree_paths": {"parents": np.array([-1, 0, 1, 0]), "branching": 2, "depth": 2, "dtype": None},
    "tree_features": {"paths": X[0, 0], "decays": np.ones(3) / 2, "branching": 2},
    "calendar_phases": {"times": np.arange(6), "circles": ("day", "year"), "offset": 60, "dtype": None},
    "calendar_features": {"times": np.arange(6), "circles": ("month",), "offset": 60, "layout": "split"},
    "time2vec": {"times": np.arange(6), "rates": np.ones(3), "phases": np.ones(3), "dtype": None},
    "convolution_positions": {"x": X, "weight": np.ones((8, 2, 3)), "bias": np.ones(8), "causal": False},
    "convolution_weight": {"direction": np.ones((8, 2, 3)), "magnitude": np.ones(3)},
    "reverse_complement": {"bases": np.arange(4), "pairs": (3, 2, 1, 0)},
    "centred_positions": {"length": 6},
    # rotated
    "mixed_tables": {"positions": np.ones((2, 6)), "rates": np.ones((4, 2)), "dtype": None},
    "mixed_rates": {"head_dim": 8, "heads": 4, "base": 10.0, "seed": 0},
    "rotary_tables": {"positions": 6, "dim": 8, "base": 1e4, "scaling": None, "dtype": None},
    "rotate": {"x": X, "tables": rotated.rotary_tables(6, 8), "layout": "half"},
    "apply_rotary": {"x": X, "positions": 6, "base": 1e4, "layout": "half", "rotary_dim": 8},
    "axial_tables": {"positions": np.ones((2, 6)), "dim": 8, "sections": (2, 2), "base": 1e4},
    "mrope_tables": {"positions": np.ones((2, 6)), "dim": 8, "sections": (2, 2), "interleaved": False},
    "mrope_positions": {"parts": [2, (1, 2, 3)], "start": 1, "seconds_per_grid": 1.0} | {"after": "sides"},
    "xpos_tables": {"positions": 6, "dim": 8, "scale_base": 512.0, "gamma": 0.4, "center": 0.0},
    "convert_layout": {"weight": np.ones((16, 4)), "heads": 2, "source": "half", "target": "interleaved"},
    "RotaryTables": {"cos": X, "sin": X},
    "RopeSettings": {"head_dim": 8, "rotary_dim": 8, "base": 1e4, "scaling": None, "layout": "half"}
    | {"sections": (2, 1, 1), "sections_interleaved": False, "time_last": False, "backwards": False},
    "QueryTemperature": {"formula": "llama4", "beta": 0.1, "length": 64.0},
    "LinearScaling": {"factor": 2.0},
    "NTKScaling": {"factor": 2.0},
    "DynamicNTKScaling": {"factor": 2.0, "original_length": 64.0, "length": 128.0},
    "NTKByPartsScaling": {"factor": 2.0, "original_length": 64.0, "alpha": 1.0, "beta": 32.0},
    "YaRNScaling": {"factor": 2.0, "original_length": 64.0, "beta_fast": 32.0, "truncate": True},
    "Llama3Scaling": {"factor": 2.0, "original_length": 64.0, "low_freq_factor": 1.0},
    "LongRoPEScaling": {
        "short": (1.0,),
        "long": (2.0,),
        "original_length": 64.0,
        "factor": 2.0,
        "length": 128.0,
    },
    "ProportionalScaling": {"fraction": 0.5, "factor": 2.0},
    # biased
    "enformer_features": {"offsets": np.arange(3), "features": 6, "length": 64, "dtype": None},
    "relative_positions": AT,
    "alibi_slopes": {"heads": 4},
    "alibi_bias": {"heads": 4, **AT, "causal": False, "slopes": HEADS, "slopes_after": HEADS, "dtype": None},
    "alibi_attention": {"q": T, "k": T, "v": T, "slopes": torch.ones(4), "causal": True},
    "alibi_columns": {"q": T, "k": T, "slopes": torch.ones(4)},
    "cope_bias": {"q": X, "k": X, "table": X[0, 0], "causal": True, "scale": 1.0, "gate_scale": 1.0},
    "fire_bias": {"weights": WEIGHTS, **AT, "c": 0.1, "threshold": 3.0},
    "fire_distances": {**AT, "c": 0.1, "threshold": 3.0},
    "kerple_bias": {"r1": HEADS, "r2": HEADS, **AT, "kind": "log"},
    "sandwich_bias": {"heads": 4, **AT, "dim": 8, "base": 1e4, "first_pair": 0},
    "shaw_bias": {"q": X, "table": np.ones((5, 8)), **AT, "scale": 1.0},
    "shaw_values": {"weights": X[..., :6], "table": np.ones((5, 8)), **AT},
    "t5_bias": {"table": np.ones((32, 4)), **AT, "max_distance": 128, "bidirectional": True},
    "t5_buckets": {"relative_positions": np.arange(3), "buckets": 32, "max_distance": 128},
    "packed_positions": {"cu_seqlens": np.array([0, 2, 6]), "length": 6},
    "packed_mask": {"cu_seqlens": np.array([0, 2, 6]), "length": 6, "causal": True},
    "packed_mask_mod": {"cu_seqlens": torch.tensor([0, 2, 6]), "length": 6, "causal": True},
    "relative_shift": {"x": X[..., :6], "keys": 6},
    "transformer_xl_bias": {"q": X, "k": X, "relative_keys": X[0], "u": X[0, :, 0], "v": X[0, :, 0]},
    "alibi_score_mod": {"heads": 4, **AT},
    "kerple_score_mod": {"r1": torch.ones(4), "r2": torch.ones(4), **AT},
    "fire_score_mod": {"weights": TENSOR_WEIGHTS, **AT, "c": 0.1, "threshold": 3.0},
    "sandwich_score_mod": {"heads": 4, **AT, "dim": 8},
    "shaw_score_mod": {"q": T, "table": torch.ones(5, 8), **AT},
    "t5_score_mod": {"table": torch.ones(32, 4), **AT},
    "transformer_xl_score_mod": {"q": T, "k": T, "relative_keys": T[0], "u": T[0, :, 0], "v": T[0, :, 0]},
    "augment_coordinates": {"coordinates": np.ones((2, 6)), "generator": np.random.default_rng(0)}
    | {"shift": 0.5, "jitter": 2.0, "rescale": 2.0},
    "data_dependent_alibi": {"log_gates": -X[..., 0]},
    "fox_bias": {"logits": X[..., 0]},
    "path_bias": {"q": X, "k": X, "w": X, "beta": X[..., 0], "block": 4},
    "path_products": {"q": X, "k": X, "w": X, "beta": X[..., 0], "block": 4},
    "pope_bias": {"q": X, "k": X, **AT, "delta": np.ones(8), "base": 1e4},
    "pope_vectors": {"x": X, "positions": 6, "delta": np.ones(8), "base": 1e4},
    "self_extend_distances": {**AT, "group": 2, "window": 3},
    "self_extend_bias": {"q": X, "k": X, **AT, "group": 2, "window": 3, "base": 1e4, "layout": "half"}
    | {"scaling": None},
    "dual_chunk_distances": {**AT, "chunk": 3, "window": 2},
    "dual_chunk_bias": {"q": X, "k": X, **AT, "chunk": 3, "window": 2, "base": 1e4, "layout": "half"}
    | {"scaling": None},
    "streaming_distances": {**AT, "sinks": 2, "window": 3},
    "window_mask": {**AT, "window": 2, "sinks": 1, "causal": True},
    "deberta_bias": {"q": X, "k": X, "relative_keys": np.ones((4, 512, 8)), "relative_queries": None}
    | {**AT, "buckets": 256, "max_distance": 512, "scale": 1.0},
    "deberta_buckets": {"relative_positions": np.arange(3), "buckets": 256, "max_distance": 512},
    "dinov3_tables": {"coordinates": np.ones((2, 6)), "dim": 8, "base": 100.0},
    "patch_coordinates": {"shape": (2, 3), "normalize": "separate"},
    "per_row_alibi": {"log_gates": -X[..., 0]},
    "resample_grid": {"table": X[0, 0], "shape": (2, 3), "new_shape": (4, 6), "mode": "bilinear"}
    | {"antialias": False, "align_corners": False, "offset": 0.1, "first": 0, "last": 0},
    "swin_bias": {"table": np.ones((15, 4)), "shape": (2, 3), "class_token": False},
    "swin_index": {"shape": (2, 3), "class_token": False},
    "swin_v2_bias": {"weights": (np.ones((5, 2)), np.ones(5), np.ones((4, 5))), "shape": (2, 3)},
    "swin_v2_coordinates": {"shape": (2, 3)},
    "vjepa2_mix": {"x": X, "positions": np.ones((3, 6)), "base": 1e4},
    # modules
    "LaplacianEigenvectors": {"adjacency": RING, "dim": 32, "count": 3, "signs": "fixed", "hidden": 8}
    | {"normalization": "none"},
    "RandomWalk": {"adjacency": RING, "dim": 32, "steps": 3},
    "TreePaths": {"parents": np.array([-1, 0, 1, 0]), "dim": 32, "branching": 2, "depth": 3},
    "Calendar": {"dim": 32, "circles": ("day",), "unit": 1.0},
    "Time2Vec": {"dim": 32, "shortest": 1.0, "longest": 100.0},
    "ConvolutionPositions": {"dim": 32, "taps": 3, "groups": 4, "causal": False},
    "MixedRotary": {"head_dim": 8, "shape": (2, 3), "heads": 4, "base": 10.0, "layout": "half"},
    "Enformer": {"dim": 32, "heads": 4, "features": 12, "length": 64, "causal": False},
    "DINOv3Rotary": {"head_dim": 8, "shape": (2, 3), "first": 0, "base": 100.0, "normalize": "separate"}
    | {"shift": 0.5, "layout": "half"},
    "DataDependentALiBi": {"head_dim": 8, "heads": 4, "causal": True, "start": 5.0},
    "LogTemperature": {"formula": "log", "beta": 1.0, "length": 64.0},
    "ScalableSoftmax": {"heads": 4, "length": 64.0},
    "FoX": {"head_dim": 8, "heads": 4, "start": 5.0},
    "PaTH": {"head_dim": 8, "heads": 4, "start": 0.0},
    "PoPE": {"head_dim": 8, "heads": 4, "base": 1e4},
    "SelfExtend": {"head_dim": 8, "group": 2, "window": 3, "base": 1e4, "layout": "half", "scaling": None},
    "DualChunk": {"head_dim": 8, "chunk": 3, "window": 2, "base": 1e4, "layout": "half", "scaling": None},
    "DeBERTa": {"dim": 32, "heads": 4, "buckets": 256, "max_distance": 512},
    "LearnedGrid": {"shape": (2, 3), "dim": 8, "first": 0, "mode": "bicubic", "antialias": False}
    | {"align_corners": False, "offset": 0.1, "std": 0.02},
    "SwinBias": {"heads": 4, "shape": (2, 3), "class_token": False, "std": 0.02},
    "SwinV2Bias": {"heads": 4, "shape": (2, 3), "hidden": 8},
    "VJEPA2": {"head_dim": 8, "shape": (1, 2, 3), "base": 1e4},
    "FIRE": {"heads": 4, "hidden": 8, "c": 0.1, "threshold": 512.0},
    "KERPLE": {"heads": 4, "kind": "log"},
    "ALiBi": {"heads": 4, "direction": "causal", "slopes": torch.ones(4), "learned": False},
    "Attention": {"dim": 32, "heads": 4, "kv_heads": 2, "dropout": 0.0, "bias": True, "dtype": None}
    | {"window": 3, "scale": 0.3, "softcap": 5.0, "sinks": True, "qk_norm": 1e-6},
    "AxialRotary": {"head_dim": 8, "shape": (2, 3), "axes": 2, "base": 1e4, "layout": "half"},
    "Block": {"dim": 32, "heads": 4, "hidden": 8, "dropout": 0.0},
    "CoPE": {"head_dim": 8, "rows": 9},
    "EncoderLayer": {"d_model": 32, "nhead": 4, "dim_feedforward": 64, "dropout": 0.0, "activation": "relu"}
    | {"layer_norm_eps": 1e-5, "batch_first": True, "norm_first": True, "bias": True, "encoding": "rope"}
    | {"causal": True, "length": 9},
    "FourierFeatures": {"dim": 32, "axes": 1, "scale": 1.0, "seed": 0, "learned": True, "layout": "split"},
    "Grid": {"shape": (2, 3), "dim": 32, "base": 1e4, "layout": "split", "spacing": "paper"},
    "Hybrid": {"length": 6, "dim": 32, "beyond": "zero", "std": 0.02},
    "Learned": {"length": 6, "dim": 32, "beyond": "raise", "std": 0.02},
    "MultimodalRotary": {"head_dim": 8, "sections": (2, 2), "interleaved": False, "base": 1e4},
    "Rotary": {"head_dim": 8, "base": 1e4, "layout": "half", "rotary_dim": 8, "scaling": None},
    "Sandwich": {"heads": 4, "dim": 8, "base": 1e4, "first_pair": 0},
    "Shaw": {"head_dim": 8, "distance": 16, "heads": 4},
    "Sinusoidal": {"dim": 32, "base": 1e4, "layout": "split", "spacing": "paper", "scale": 1.0},
    "Sizes": {"dim": 32, "heads": 4, "causal": True, "length": 9},
    "T5Bias": {"heads": 4, "buckets": 32, "max_distance": 128, "bidirectional": True, "std": 0.02},
    "Transformer": {"vocabulary": 11, "dim": 32, "layers": 1, "heads": 4, "encoding": "rope"}
    | {"causal": True, "length": 9, "hidden": 8, "dropout": 0.0},
    "TransformerXL": {"dim": 32, "heads": 4, "causal": True, "base": 1e4},
    "XPos": {"head_dim": 8, "scale_base": 512.0, "gamma": 0.4, "center": 0.0, "layout": "half"},
    "make_encoding": {"encoding": "rope", "sizes": nn.Sizes(32, 4)},
}

TAKE_NOTHING_WRONG = {
    "AlibiColumns": "a result",
    "Cache": "takes no argument",
    "LayerCache": "takes no argument",
    "NoPE": "takes no argument",
    "PositionalEncoding": "takes no argument",
    "ENCODINGS": "a dict",
    "Scaling": "a protocol",
    "catalogue": "takes no argument",
    "LayerPositions": "a result",
    "layers_from_config": "tests/rotated/test_rope_config.py",
    "rope_from_config": "tests/rotated/test_rope_config.py",
    "scaling_from_config": "tests/rotated/test_rope_config.py",
}
"""Public names without a call here, and why."""


WRONG: dict[str, Callable[[], Any]] = {
    "text": lambda: "yes",
    "no text": lambda: "",
    "a number as text": lambda: "128",
    "bytes": lambda: b"half",
    "NaN": lambda: float("nan"),
    "a complex number": lambda: 1j,
    "a dict": lambda: {"a": 1},
    "a set": lambda: {1},
    "an object": object,
    "a class": lambda: int,
    "lists of different lengths": lambda: [[1, 2], [3]],
    "a list of text": lambda: ["a"],
    "complex numbers": lambda: X * 1j,
    "objects": lambda: np.array([object()]),
    "texts": lambda: np.array(["a"]),
    "dates": lambda: np.array(["2020-01-01"], "M8[D]"),
    "a masked array": lambda: np.ma.masked_array(np.eye(6), np.eye(6) > 0),
    "a matrix": lambda: np.matrix(np.eye(6)),
    "a sparse tensor": lambda: T.to_sparse(),
    "compressed rows": lambda: torch.eye(6).to_sparse_csr(),
    "a nested tensor": lambda: torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(3, 3)]),
    "a quantized tensor": lambda: torch.quantize_per_tensor(torch.ones(6, 6), 0.1, 0, torch.qint8),
}
"""Never right."""

NUMBERS: dict[str, Callable[[], Any]] = {
    "-8": lambda: -8,
    "0": lambda: 0,
    "1": lambda: 1,
    "7.5": lambda: 7.5,
    "infinity": lambda: float("inf"),
    "a number too large": lambda: 10**30,
    "True": lambda: True,
    "NumPy's 7.5": lambda: np.float64(7.5),
    "NumPy's -1": lambda: np.int64(-1),
    "NumPy's True": lambda: np.bool_(True),
    "a fraction": lambda: Fraction(17, 2),
    "a tuple": lambda: (),
    "None": lambda: None,
    "no numbers": lambda: np.zeros(0),
    "booleans": lambda: X > 0,
    "wider": lambda: np.ones((2, 4, 6, 16)),
    "longer": lambda: np.ones((2, 4, 7, 8)),
    "halves": lambda: T.half(),
    "nowhere": lambda: T.to("meta"),
}
"""Right for some arguments."""

RIGHT_HERE = {("grid_sinusoidal", "shape", "lists of different lengths")}  # the coordinates of each axis

BOOLEANS = {"True", "NumPy's True"}
WHOLE = {"-8", "0", "1", "NumPy's -1"}
REAL = {*WHOLE, "7.5", "NumPy's 7.5", "a fraction", "a number too large"}


def found(name: str) -> Any:
    return next(getattr(package, name) for package in PACKAGES if name in package.__all__)


def may_pass(argument: str, right: Any, given: str) -> bool:
    """Whether a value of this name can be right where `right` is."""
    if isinstance(right, bool):
        return given in BOOLEANS
    if isinstance(right, str):
        return False
    if argument in ("positions", "queries", "keys", "offset", "offsets", "relative_positions", "coordinates"):
        return given not in {*BOOLEANS, "booleans", "infinity", "None"}
    if isinstance(right, int):
        return given in WHOLE or given == "None" or argument == "seed"
    if isinstance(right, float):
        return given in REAL or given == "None"
    return given not in BOOLEANS or argument == "mask"  # arrays and what has no default but None


def test_every_public_name_has_a_right_call() -> None:
    names = {name for package in PACKAGES for name in package.__all__}
    assert names - set(RIGHT) - set(TAKE_NOTHING_WRONG) == set()
    assert set(RIGHT) | set(TAKE_NOTHING_WRONG) <= names


@pytest.mark.parametrize("name", RIGHT)
def test_whatever_is_wrong_is_refused_in_words(name: str) -> None:
    right = RIGHT[name]

    def passes(argument: str, given: str) -> bool:
        known = given not in WRONG or (name, argument, given) in RIGHT_HERE
        return known and may_pass(argument, right[argument], given)

    assert amiss_in(found(name), lambda: right, WRONG | NUMBERS, passes) == []


def amiss_in(
    function: Callable[..., Any],
    right: Callable[[], dict[str, Any]],
    values: dict[str, Callable[[], Any]],
    passes: Callable[[str, str], bool],
) -> list[str]:
    """What goes wrong where each argument of a right call is given each value in turn."""
    function(**right())
    amiss = []
    for argument in right():
        for given, make in values.items():
            what = f"{argument} = {given}"
            try:
                function(**{**right(), argument: make()})
            except (TypeError, ValueError) as error:
                [*_, last] = traceback.walk_tb(error.__traceback__)
                if "posenc_lib" not in last[0].f_code.co_filename:
                    amiss.append(f"{what} is refused by somebody else: {error}")
                elif not str(error).strip():
                    amiss.append(f"{what} is refused without words")
            except Exception as error:
                amiss.append(f"{what} fails: {type(error).__name__}: {error}")
            else:
                if not passes(argument, given):
                    amiss.append(f"{what} passes")
    return amiss


class Rule:
    """A scaling rule of somebody's own."""

    def __init__(self, gives: Any) -> None:
        self.gives = gives

    def scale(self, frequencies: np.ndarray, *, dim: int, base: float) -> Any:
        return self.gives(frequencies)


@pytest.mark.parametrize(
    ("gives", "error"),
    [
        (lambda w: w[:-1], ValueError),
        (lambda w: w * np.nan, ValueError),
        (lambda w: w * np.inf, ValueError),
        (lambda w: w > 0, TypeError),
        (lambda w: w[None], ValueError),
        (lambda w: list(w), TypeError),
        (lambda w: w * 1j, TypeError),
        (lambda w: None, TypeError),
    ],
)
def test_a_rule_must_give_one_finite_frequency_per_pair(gives, error) -> None:
    for call in (
        lambda: posenc_lib.frequencies(8, scaling=Rule(gives)),
        lambda: posenc_lib.apply_rotary(X, 6, scaling=Rule(gives)),
        lambda: nn.Rotary(8, scaling=Rule(gives)),
    ):
        with pytest.raises(error, match="must return 4 finite frequencies"):
            call()


CAUSAL = [
    *("xpos", "cope", "log-temperature", "ssmax", nn.XPos(8), nn.CoPE(8), nn.LogTemperature()),
    *(nn.ALiBi(4), nn.T5Bias(4, bidirectional=False), nn.DataDependentALiBi(8, 4), nn.TransformerXL(32, 4)),
    nn.Enformer(32, 4, causal=True),
]
BOTH_WAYS = [
    *(nn.ALiBi(4, direction="symmetric"), nn.ALiBi(4, direction="asymmetric", learned=True), nn.T5Bias(4)),
    *(nn.DataDependentALiBi(8, 4, causal=False), nn.TransformerXL(32, 4, causal=False), nn.Enformer(32, 4)),
]


@pytest.mark.parametrize("encoding", CAUSAL, ids=str)
def test_what_is_for_causal_attention_alone_is_refused_elsewhere(encoding: Any) -> None:
    for make in (
        lambda: nn.Transformer(11, 32, 1, 4, encoding=encoding, causal=False),
        lambda: nn.EncoderLayer(32, 4, encoding=encoding),
    ):
        with pytest.raises(ValueError, match="give causal=True"):
            make()
    nn.Transformer(11, 32, 1, 4, encoding=encoding)
    nn.EncoderLayer(32, 4, encoding=encoding, causal=True)


@pytest.mark.parametrize("encoding", BOTH_WAYS, ids=str)
def test_what_is_for_both_directions_is_taken_by_all(encoding: nn.PositionalEncoding) -> None:
    for causal in (True, False):
        nn.Transformer(11, 32, 1, 4, encoding=encoding, causal=causal)
        nn.EncoderLayer(32, 4, encoding=encoding, causal=causal)


def test_what_tells_tokens_about_later_ones_is_refused_by_a_causal_model() -> None:
    ahead = nn.ConvolutionPositions(32)
    with pytest.raises(ValueError, match=r"later ones, .* causal=True, or give the model causal=False"):
        nn.Transformer(11, 32, 1, 4, encoding=ahead)
    nn.Transformer(11, 32, 1, 4, encoding=ahead, causal=False)
    nn.Transformer(11, 32, 1, 4, encoding=nn.ConvolutionPositions(32, causal=True))
