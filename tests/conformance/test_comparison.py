"""The page that compares libraries: what each cell says is so in the version that the page names."""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import posenc_lib as p
from posenc_lib.rotated.families import FAMILIES
from tests.conformance.peers import Peer, modeling, timm_file, transformers, x_transformers

PAGE = (Path(__file__).parents[2] / "book" / "reference" / "comparison.md").read_text()
HEAD, _, *LINES = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("|")
]
TABLE = {line[0]: dict(zip((name.split()[0] for name in HEAD[1:]), line[1:], strict=True)) for line in LINES}

BY_READING = {"torchtune"}
FAR = torch.arange(1_000_000, 1_000_100)
RATES = 10000.0 ** -(torch.arange(32, dtype=torch.float64) / 32)

rotary_embedding_torch = Peer("rotary_embedding_torch")
X = torch.ones(1, 2, 4, 8)


def timm() -> Any:
    return timm_file("pos_embed_sincos")


def ret(dim: int = 8, **more: Any) -> Any:
    return rotary_embedding_torch.RotaryEmbedding(dim, **more)


def xt(dim: int = 8, **more: Any) -> Any:
    return x_transformers.RotaryEmbedding(dim, **more)


def llama(**more: Any) -> Any:
    return transformers.LlamaConfig(hidden_size=64, num_attention_heads=1, num_key_value_heads=1, **more)


def rotary_of_llama(**more: Any) -> Any:
    return modeling("llama").LlamaRotaryEmbedding(llama(**more))


# ---- arrays of


def refuses_numpy(call: Callable[[], Any]) -> str:
    with pytest.raises((TypeError, AttributeError)):
        call()
    return "PyTorch"


def takes_many() -> str:
    import jax.numpy as jnp

    for to in (np.asarray, torch.as_tensor, jnp.asarray):
        assert type(p.apply_rotary(to(X.numpy()), 4)) is type(to(X.numpy()))
    return "NumPy, PyTorch, JAX and others"


# ---- layouts: which columns a first column is mixed with


def partner(rotate: Callable[[torch.Tensor], torch.Tensor]) -> str:
    x = torch.zeros(1, 1, 2, 8)
    x[..., 0] = 1.0
    other = int(rotate(x)[0, 0, 1, 1:].abs().argmax()) + 1
    return {1: "interleaved", 4: "half"}[other]


def of_transformers() -> str:
    code, angles = modeling("llama"), torch.arange(2.0)[None, :, None] * torch.ones(1, 2, 8)
    assert partner(lambda x: code.apply_rotary_pos_emb(x, x, angles.cos(), angles.sin())[0]) == "half"
    own = modeling("cohere")
    assert partner(lambda x: own.apply_rotary_pos_emb(x, x, angles.cos(), angles.sin())[0]) == "interleaved"
    return "that of each model"


def of_timm() -> str:
    angles = torch.arange(2.0)[:, None] * torch.ones(2, 8)
    table = torch.cat([angles.sin(), angles.cos()], -1)
    found = {partner(lambda x, half=half: timm().apply_rot_embed_cat(x, table, half=half)) for half in (0, 1)}
    assert found == {"half", "interleaved"}
    return "both"


def of_ours() -> str:
    for layout in ("half", "interleaved"):
        assert partner(lambda x, layout=layout: p.apply_rotary(x, 2, layout=layout)) == layout
    return "both"


# ---- far out


def far(cosines: Any) -> str:
    error = float((torch.as_tensor(cosines) - torch.cos(FAR[:, None] * RATES)).abs().max())
    if error < 1e-7:
        return "exact"
    assert 0.01 < error < 0.1, error
    return "off by 0.01 to 0.1"


# ---- rules

NAMES = {
    "linear": "linear",
    "dynamic": "dynamic",
    "yarn": "YaRN",
    "llama3": "Llama 3",
    "longrope": "LongRoPE",
}
NAMES |= {"proportional": "proportional"}


def rules_of_timm() -> str:
    """A grid of 8 by 8 as if it were 4 by 4; no rule by name."""
    assert has(timm(), "yarn", "ntk", "scaling") == "no"
    made = {"in_pixels": False, "feat_shape": [8, 8]}
    slower, plain = (
        timm().RotaryEmbedding(16, **made, **more).get_embed()[0].asin()[1, :8]
        for more in ({"ref_feat_shape": [4, 4]}, {})
    )
    torch.testing.assert_close(slower, plain / 2)
    return "linear, for images"


def rules_of_ours() -> str:
    rules = [
        p.LinearScaling,
        p.NTKScaling,
        p.DynamicNTKScaling,
        p.YaRNScaling,
        p.Llama3Scaling,
        p.LongRoPEScaling,
    ]
    assert all(map(callable, rules))
    config = {
        "model_type": "gemma4_text",
        "hidden_size": 64,
        "num_attention_heads": 4,
        "num_hidden_layers": 6,
    }
    assert any(layer.rope and layer.rope.scaling for layer in p.layers_from_config(config))  # proportional
    return "linear, NTK, dynamic, YaRN, Llama 3, LongRoPE, proportional"


def rules_of_transformers() -> str:
    known = Peer("transformers.modeling_rope_utils").ROPE_INIT_FUNCTIONS
    assert set(known) == set(NAMES)
    return ", ".join(NAMES.values())


def linear_and_ntk(made: Callable[..., Any], linear: str, ntk: str) -> str:
    factors = {name for name in inspect.signature(made.__init__).parameters if "factor" in name}
    assert factors == {linear, ntk}
    return "linear, NTK"


# ---- which encodings there are


def has(module: Any, *names: str, yes: str = "yes") -> str:
    if isinstance(module, str):
        module = importlib.import_module(module)
    found = " ".join(dir(module)).lower()
    return yes if any(name in found for name in names) else "no"


IN_MODELS = "in models that have it"

# ---- wrong calls


def error(call: Callable[[], Any]) -> str:
    try:
        call()
    except Exception as raised:
        told = str(raised)
        if not told:
            return "an error without words"
        return "an error about shapes" if "must match" in told else "refused in words"
    return "accepted"


def negative_factor_in_transformers() -> str:
    parameters = {"rope_type": "linear", "factor": -2.0, "rope_theta": 1e4}
    assert rotary_of_llama(rope_parameters=parameters)(X, torch.arange(4)[None])[0].isfinite().all()
    return "a warning"


CHECKS: dict[str, dict[str, Callable[[], str]]] = {
    "arrays of": {
        "posenc_lib": takes_many,
        "transformers": lambda: refuses_numpy(
            lambda: modeling("llama").apply_rotary_pos_emb(*[X.numpy()] * 2, *[X[0].numpy()] * 2)
        ),
        "rotary-embedding-torch": lambda: refuses_numpy(lambda: ret().rotate_queries_or_keys(X.numpy())),
        "x-transformers": lambda: refuses_numpy(
            lambda: x_transformers.apply_rotary_pos_emb(X.numpy(), xt().forward_from_seq_len(4)[0])
        ),
        "timm": lambda: refuses_numpy(lambda: timm().apply_rot_embed_cat(X.numpy(), torch.ones(4, 16))),
    },
    "layout of RoPE": {
        "posenc_lib": of_ours,
        "transformers": of_transformers,
        "rotary-embedding-torch": lambda: partner(ret().rotate_queries_or_keys),
        "x-transformers": lambda: partner(
            lambda x: x_transformers.apply_rotary_pos_emb(x, xt().forward_from_seq_len(2)[0])
        ),
        "timm": of_timm,
    },
    "RoPE at position 1,000,000": {
        "posenc_lib": lambda: far(p.rotary_tables(FAR, 64, dtype=torch.float32).cos),
        "transformers": lambda: far(rotary_of_llama(head_dim=64)(torch.zeros(1), FAR[None])[0][0, :, :32]),
        "rotary-embedding-torch": lambda: far(ret(64)(FAR.float()).detach()[:, ::2].cos()),
        "x-transformers": lambda: far(xt(64)(FAR.float())[0].reshape(100, 64)[:, ::2].cos()),
    },
    "rules for long contexts": {
        "posenc_lib": rules_of_ours,
        "transformers": rules_of_transformers,
        "rotary-embedding-torch": lambda: linear_and_ntk(
            rotary_embedding_torch.RotaryEmbedding, "interpolate_factor", "theta_rescale_factor"
        ),
        "x-transformers": lambda: linear_and_ntk(
            x_transformers.RotaryEmbedding, "interpolation_factor", "base_rescale_factor"
        ),
        "timm": rules_of_timm,
    },
    "ALiBi": {
        "posenc_lib": lambda: has(p, "alibi"),
        "transformers": lambda: has("transformers.models.bloom.modeling_bloom", "alibi", yes=IN_MODELS),
        "rotary-embedding-torch": lambda: has("rotary_embedding_torch", "alibi"),
        "x-transformers": lambda: has("x_transformers.x_transformers", "alibi"),
        "timm": lambda: has(timm(), "alibi"),
    },
    "T5's bias": {
        "posenc_lib": lambda: has(p, "t5"),
        "transformers": lambda: has(modeling("t5").T5Attention, "relative_position_bucket", yes=IN_MODELS),
        "rotary-embedding-torch": lambda: has("rotary_embedding_torch", "relative"),
        "x-transformers": lambda: has(x_transformers.RelativePositionBias, "relative_position_bucket"),
        "timm": lambda: has(timm(), "bucket", "t5"),
    },
    "RoPE by rows and columns": {
        "posenc_lib": lambda: has(p, "axial_tables"),
        "transformers": lambda: has("transformers.models.pixtral.modeling_pixtral", "rotary", yes=IN_MODELS),
        "rotary-embedding-torch": lambda: has(rotary_embedding_torch.RotaryEmbedding, "axial"),
        "x-transformers": lambda: has(x_transformers.RotaryEmbedding, "axial", "2d"),
        "timm": lambda: has(timm(), "rotaryembeddingcat"),
    },
    "an odd width": {
        "posenc_lib": lambda: error(lambda: p.apply_rotary(X[..., :7], 4)),
        "transformers": lambda: error(lambda: llama(head_dim=7)),
        "rotary-embedding-torch": lambda: error(lambda: ret(7).rotate_queries_or_keys(X[..., :7])),
        "x-transformers": lambda: error(
            lambda: x_transformers.apply_rotary_pos_emb(X[..., :7], xt(7).forward_from_seq_len(4)[0])
        ),
        "timm": lambda: error(lambda: timm().RotaryEmbeddingCat(7, feat_shape=[2, 2])),
    },
    "a rule's factor below 0": {
        "posenc_lib": lambda: error(lambda: p.LinearScaling(-2.0)),
        "transformers": negative_factor_in_transformers,
        "rotary-embedding-torch": lambda: error(lambda: ret(interpolate_factor=-2.0)),
        "x-transformers": lambda: error(lambda: xt(interpolation_factor=-2.0)),
    },
}
UNTESTED = {("RoPE at position 1,000,000", "timm"), ("a rule's factor below 0", "timm")}
"""Cells that say that there is nothing of the kind."""


@pytest.mark.parametrize("library", [name for name in TABLE["ALiBi"] if name not in BY_READING])
def test_each_cell_is_so(library: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for feature, checks in CHECKS.items():
            if (feature, library) not in UNTESTED:
                assert checks[library]() == TABLE[feature][library], feature


def test_every_row_is_checked() -> None:
    assert set(TABLE) == {
        *CHECKS,
        "what a config.json means",
    }  # which tests/conformance/test_families.py does
    assert len(FAMILIES) > 200


def test_the_versions_are_those_that_were_tried() -> None:
    for name in HEAD[2:]:
        library, number = name.split()
        if library not in BY_READING:
            assert version(library) == number


def test_a_cast_rounds_the_frequencies_of_transformers() -> None:
    whole = rotary_of_llama()
    assert not torch.equal(whole.to(torch.bfloat16).inv_freq.float(), rotary_of_llama().inv_freq)


def test_dynamic_depends_on_the_past_in_transformers() -> None:
    rule = {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 1e4}

    def told(*lengths: int) -> torch.Tensor:
        rotary = rotary_of_llama(rope_parameters=rule, max_position_embeddings=100)
        return [rotary(torch.zeros(1), torch.arange(length)[None])[0] for length in lengths][-1]

    assert float((told(150) - told(400, 150)).abs().max()) > 0.1
