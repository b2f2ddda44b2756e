"""The reference names every public name, and the checkpoints page says what transformers' own code does."""

from __future__ import annotations

import doctest
import importlib
import inspect
import math
import pkgutil
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from posenc_lib.added import grid_sinusoidal, learned, sinusoidal
from posenc_lib.biased import (
    alibi_bias,
    alibi_slopes,
    shaw_bias,
    t5_bias,
    transformer_xl_bias,
)
from posenc_lib.catalogue import catalogue
from posenc_lib.rotated import (
    RopeSettings,
    axial_tables,
    dinov3_tables,
    patch_coordinates,
    rope_from_config,
    rotate,
)
from tests.conformance.peers import transformers
from tests.present import present

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "book" / "reference"
CHECKPOINTS = (PAGES / "checkpoints.md").read_text()
DOCUMENTED = re.compile(r"^\.\. (?:auto\w+|py:data):: (posenc_(?:lib|course)\S+?)(?:\(\))?$", re.MULTILINE)
PACKAGES = (
    "posenc_lib.added",
    "posenc_lib.rotated",
    "posenc_lib.biased",
    "posenc_lib.nn",
    "posenc_course.checking",
)
CONSTANTS = {"posenc_lib.nn.ENCODINGS"}


def documented() -> list[str]:
    return [name for page in sorted(PAGES.glob("*.md")) for name in DOCUMENTED.findall(page.read_text())]


def found(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


# --- the reference -----------------------------------------------------------------------------------


def test_every_public_name_is_documented_once() -> None:
    names = documented()
    assert len(set(names)) == len(names)
    public = {
        f"{package}.{name}" for package in PACKAGES for name in importlib.import_module(package).__all__
    }
    others = {"posenc_lib.angles.frequencies", "posenc_lib.attention.attention"}
    others |= {"posenc_lib.catalogue.catalogue", "posenc_lib.catalogue.Encoding"}
    others |= {"posenc_lib.packed.packed_mask", "posenc_lib.packed.packed_positions"}
    assert set(names) == public | others
    for name in names:
        found(name)


def test_the_names_of_the_package_itself_are_among_them() -> None:
    package = importlib.import_module("posenc_lib")
    where = {(each.__module__, each.__qualname__) for each in map(found, set(documented()) - CONSTANTS)}
    offered = [getattr(package, name) for name in package.__all__]
    assert [each for each in offered if (each.__module__, each.__qualname__) not in where] == []


RESULTS = ("Scaling", "Encoding", "AlibiColumns", "Report", "CheckFailed", "Outcome")
"""A protocol, and what functions give back: their examples are those of the functions."""


def public_callables() -> list[str]:
    """The functions and classes of the three doors, of what they share, and of checking."""
    return [
        name
        for name in documented()
        if not name.startswith("posenc_lib.nn") and name.rpartition(".")[2] not in RESULTS
    ]


@pytest.mark.parametrize("name", public_callables())
def test_every_docstring_has_an_example_that_runs(name: str) -> None:
    each = found(name)
    examples = doctest.DocTestParser().get_examples(present(inspect.getdoc(each)))
    assert any(example.want for example in examples), "an example shows what comes out"


@pytest.mark.parametrize("name", documented())
def test_who_pastes_an_example_needs_public_names_alone(name: str) -> None:
    public = {each.rpartition(".")[2]: found(each) for each in documented()}
    example = doctest.DocTestParser().get_doctest(inspect.getdoc(found(name)) or "", public, name, None, None)
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


def test_what_a_docstring_sends_its_reader_to_is_there() -> None:
    """A public name, or a term in bold on a page of the reference."""
    public = {each.rpartition(".")[2] for each in documented()}
    terms = {term for page in PAGES.glob("*.md") for term in re.findall(r"\*\*(\w+)\*\*", page.read_text())}
    sources = "".join(path.read_text() for path in (ROOT / "posenc_lib").rglob("*.py"))
    seen = {name.rpartition(".")[2] for name in re.findall(r"\bsee `([\w.]+)`", sources)}
    assert "Positions" in seen
    assert seen - public - terms == set()


SHOWN = re.compile(
    r"^```\{code-cell\} ipython3\n(?!:tags: \[remove-(?:input|cell))(?::tags:[^\n]*\n)?(.*?)^```",
    re.MULTILINE | re.DOTALL,
)


@pytest.mark.parametrize("page", ["start", "catalogue", "checkpoints"])
def test_who_pastes_the_cells_that_a_page_shows_needs_no_others(page: str) -> None:
    cells = SHOWN.findall((PAGES / f"{page}.md").read_text())
    assert len(cells) > 1
    names: dict[str, Any] = {}
    for cell in cells:
        exec(compile(cell, page, "exec"), names)


def test_what_the_reference_lists_of_a_class_has_words() -> None:
    listed = re.findall(
        r"^\.\. autoclass:: (\S+?)(?:\(\))?\n +:members: (\w.*)$",
        "".join(page.read_text() for page in sorted(PAGES.glob("*.md"))),
        re.MULTILINE,
    )
    assert listed
    for name, members in listed:
        for member in members.split(", "):
            assert inspect.getdoc(getattr(found(name), member)), f"{name}.{member}"


LISTING = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
WITH_LISTINGS = {page.name: page.read_text() for page in sorted(PAGES.glob("*.md"))} | {
    "README.md": (ROOT / "README.md").read_text().partition("## Use the library")[2],
    **{
        f"{wing}/README.md": (ROOT / wing / "README.md").read_text()
        for wing in ("posenc_lib", "posenc_course")
    },
}


@pytest.mark.parametrize("name", [name for name, text in WITH_LISTINGS.items() if LISTING.search(text)])
def test_the_listings_of_a_page_run_one_after_another(name: str) -> None:
    names: dict[str, Any] = {}
    for listing in LISTING.findall(WITH_LISTINGS[name]):
        exec(compile(listing, name, "exec"), names)


def modules() -> list[str]:
    ours = map(importlib.import_module, ("posenc_lib", "posenc_course"))
    return [
        each.name
        for package in ours
        for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]


@pytest.mark.parametrize("name", modules())
def test_the_examples_show_what_comes_out(name: str) -> None:
    # Not by pytest's own doctest option, which imports modules a second time, beside those under test.
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_catalogue_entry_leads_into_the_reference() -> None:
    listed = {name for entry in catalogue() for name in (*entry.functions, entry.module)}
    assert listed <= set(documented())


def test_what_the_catalogue_page_says_of_layers() -> None:
    page = (PAGES / "catalogue.md").read_text()
    own = {
        entry.title.partition("'")[0]
        for entry in catalogue()
        if found(entry.module).per_layer and entry.parameters != "0"
    }
    said = present(re.search(r"if every layer has its own\s+\(([^)]*)\)", page))[1]
    assert set(re.split(r",\s+", said)) == own


def extension() -> Any:
    """The module book/_ext/docstrings.py."""
    path = ROOT / "book" / "_ext" / "docstrings.py"
    spec = importlib.util.spec_from_file_location("docstrings", path)
    module = importlib.util.module_from_spec(present(spec))
    present(present(spec).loader).exec_module(module)
    return module


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("scores |i - j| * 2", r"scores \|i - j\| \* 2"),
        ("see `rotate`, `out`.", "see :py:obj:`rotate <posenc_lib.rotated.rotate>`, ``out``."),
        ("as `posenc_lib.sinusoidal`", "as :py:obj:`posenc_lib.sinusoidal <posenc_lib.added.sinusoidal>`"),
        ("never: **give `mask` too**.", "never: **give mask too**."),
        ("a `code\nspan` |x|", "a ``code\nspan`` \\|x\\|"),
        ("one\n- two\n- three", "one\n\n- two\n- three"),
        (">>> a | b\n1 * 2\n\nx | y", ">>> a | b\n1 * 2\n\nx \\| y"),
        ("    a, b,\n        c: text", "    a, b, c: text"),
        ("w_ and w_r", r"w\_ and w_r"),
        (
            "| a | b |\n|---|---|\n| `x` | 2 |",
            ".. list-table::\n   :header-rows: 1\n\n   * - a\n     - b\n   * - ``x``\n     - 2\n",
        ),
    ],
)
def test_docstrings_become_restructured_text(written: str, wanted: str) -> None:
    assert "\n".join(extension().to_rest(written.split("\n"))) == wanted


# --- the checkpoints page: rotated -------------------------------------------------------------------


def run_page(page: str) -> dict[str, Any]:
    """The names that the page's cells define."""
    names: dict[str, Any] = {}
    for cell in re.findall(r"```\{code-cell\} ipython3\n(.*?)```", page, re.DOTALL):
        exec(re.sub(r"^:tags:.*\n", "", cell), names)
    return names


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    return run_page(CHECKPOINTS)


CONFIGS = run_page(CHECKPOINTS)


def modelling(model_type: str) -> Any:
    folder = model_type.removesuffix("_text")
    return importlib.import_module(f"transformers.models.{folder}.modeling_{folder}")


def rotary_class(module: Any) -> type:
    """The class that makes the angles of the text model."""
    names = [name for name in vars(module) if name.endswith("RotaryEmbedding") and "Vision" not in name]
    names = [name for name in names if getattr(module, name).__module__ == module.__name__]
    return getattr(module, min(names, key=len))


Pair = tuple[torch.Tensor, torch.Tensor]


def in_transformers(
    config: Any, q: torch.Tensor, k: torch.Tensor, at: torch.Tensor, layer: str | None
) -> Pair:
    """q and k of (1, heads, seq, head_dim), rotated by the model's own code at these positions."""
    kind = config.model_type
    module = modelling(kind)
    if kind == "gptj":
        table = module.create_sinusoidal_positions(int(at.max()) + 1, config.rotary_dim)[at][None]
        sin, cos = table.chunk(2, dim=-1)
        rotated = [
            torch.cat(
                [
                    module.apply_rotary_pos_emb(x[..., : config.rotary_dim].transpose(1, 2), sin, cos),
                    x[..., config.rotary_dim :].transpose(1, 2),
                ],
                dim=-1,
            )
            for x in (q, k)
        ]
        return rotated[0].transpose(1, 2), rotated[1].transpose(1, 2)
    if kind == "roformer":
        table = module.RoFormerSinusoidalPositionalEmbedding(int(at.max()) + 1, q.shape[-1])
        table.weight.data = table.create_weight()
        rotated = module.RoFormerSelfAttention.apply_rotary_position_embeddings(table.weight[at], q, k)
        return rotated[0], rotated[1]
    rotary = rotary_class(module)(config)
    position_ids = at[None]
    if kind.startswith(("qwen2_vl", "qwen3_vl")):
        position_ids = position_ids.expand(3, 1, -1)
    arguments = () if layer is None else (layer,)
    made = rotary(q, position_ids, *arguments)
    if kind == "llama4_text":
        turned = module.apply_rotary_emb(q.transpose(1, 2), k.transpose(1, 2), made)
        return turned[0].transpose(1, 2), turned[1].transpose(1, 2)
    cos, sin = made
    if kind == "gpt_oss":
        return module.apply_rotary_pos_emb(q, k, cos, sin)
    if kind == "deepseek_v3":
        return module.apply_rotary_pos_emb_interleave(q, k, cos, sin)
    dim = cos.shape[-1]
    turned = module.apply_rotary_pos_emb(q[..., :dim], k[..., :dim], cos, sin)
    q, k = (torch.cat([t, x[..., dim:]], dim=-1) for t, x in zip(turned, (q, k), strict=True))
    return q, k


def require_same_scores(
    excerpt: dict[str, Any], settings: RopeSettings, layer: str | None = None, furthest: int = 900
) -> None:
    """Rotated by transformers and by us, queries and keys have the same scores."""
    config = transformers.CONFIG_MAPPING[excerpt["model_type"]](**excerpt)
    at = torch.tensor([0, 1, 2, 3, 17, 64, 250, furthest])
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 1, 2, len(at), settings.head_dim, generator=generator)
    theirs = in_transformers(config, q, k, at, layer)
    tables = settings.tables(at)
    ours = settings.rotate(q, tables), settings.rotate(k, tables)
    expected, got = theirs[0] @ theirs[1].mT, ours[0] @ ours[1].mT
    scale = float(expected.std())
    assert scale > 1
    assert float((got - expected).abs().max()) < 2e-3 * scale

    wrong = settings.rotate(q, settings.tables(at * 1.1)) @ settings.rotate(k, settings.tables(at * 1.1)).mT
    assert float((wrong - expected).abs().max()) > 0.1 * scale


@pytest.mark.parametrize("name", CONFIGS["CONFIGS"])
def test_the_settings_of_a_config_are_those_of_transformers(name: str) -> None:
    excerpt = CONFIGS["CONFIGS"][name]
    require_same_scores(excerpt, rope_from_config(excerpt))


# Checkpoints whose numbers are the defaults of their config class, too.
AS_THE_CLASS = {
    "LLaMA 7B, Llama 2 7B",
    "Mixtral 8x7B",
    "Gemma 2 9B",
    "Phi-3 mini 4k",
    "GPT-NeoX 20B",
    "GPT-J 6B",
    "Falcon 7B",
    "GLM-4 9B 0414",
    "gpt-oss 20B",
}


@pytest.mark.parametrize("name", sorted(AS_THE_CLASS))
def test_the_config_class_agrees_with_the_excerpt(name: str) -> None:
    excerpt = CONFIGS["CONFIGS"][name]
    assert rope_from_config(transformers.CONFIG_MAPPING[excerpt["model_type"]]()) == rope_from_config(excerpt)


@pytest.mark.parametrize("name", CONFIGS["BY_LAYER"])
def test_the_config_class_has_both_bases(name: str) -> None:
    excerpt = CONFIGS["BY_LAYER"][name]
    bare = transformers.CONFIG_MAPPING[excerpt["model_type"]]()
    for layer in ("full_attention", "sliding_attention"):
        expected = rope_from_config(bare, layer_type=layer).base
        assert rope_from_config(excerpt, layer_type=layer).base == expected


@pytest.mark.parametrize("layer", ["full_attention", "sliding_attention"])
@pytest.mark.parametrize("name", CONFIGS["BY_LAYER"])
def test_the_settings_of_each_kind_of_layer(name: str, layer: str) -> None:
    excerpt = CONFIGS["BY_LAYER"][name]
    require_same_scores(excerpt, rope_from_config(excerpt, layer_type=layer), layer)


def test_olmo3_stretches_its_full_layers_alone() -> None:
    bare = transformers.CONFIG_MAPPING["olmo3"]()
    assert rope_from_config(bare).scaling is None
    yarn = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 8192}
    stretched = transformers.CONFIG_MAPPING["olmo3"](rope_scaling=yarn)
    with pytest.raises(ValueError, match="layers of this config rotate in different ways"):
        rope_from_config(stretched)
    assert rope_from_config(stretched, layer_type="sliding_attention") == rope_from_config(bare)
    assert rope_from_config(stretched, layer_type="full_attention").scaling is not None


@pytest.mark.parametrize("furthest", [4000, 5000])
def test_longrope_on_either_side_of_its_switch(furthest: int) -> None:
    excerpt = CONFIGS["phi3"]
    require_same_scores(excerpt, rope_from_config(excerpt, length=furthest + 1), furthest=furthest)


def test_a_config_built_by_transformers_says_the_same_as_the_file() -> None:
    for excerpt in CONFIGS["CONFIGS"].values():
        whole = transformers.CONFIG_MAPPING[excerpt["model_type"]](**excerpt)
        assert rope_from_config(whole) == rope_from_config(excerpt)


def test_the_page_shows_every_family_it_has() -> None:
    shown = CHECKPOINTS.lower()
    for name in (
        "bert",
        "gpt-2",
        "opt",
        "gpt-j",
        "pythia",
        "mistral",
        "gemma",
        "falcon",
        "mpt",
        "bloom",
        "t5",
    ):
        assert name in shown
    for name in ("deberta", "whisper", "vit", "mae", "detr", "qwen2-vl", "phi-3", "llama 3.1"):
        assert name in shown


def test_the_version_of_transformers_is_the_one_that_was_read() -> None:
    assert f"transformers {transformers.__version__}" in CHECKPOINTS


def test_a_bare_config_is_no_checkpoint() -> None:
    settings = rope_from_config(transformers.CONFIG_MAPPING["smollm3"]())
    assert settings.base == 2_000_000
    assert rope_from_config(CONFIGS["CONFIGS"]["SmolLM3 3B"]).base == 5_000_000
    assert "`SmolLM3Config()` has base 2,000,000, and the checkpoint's file says 5,000,000" in " ".join(
        CHECKPOINTS.split()
    )


@pytest.mark.parametrize(
    "model_type", ["codegen", "cohere", "glm", "glm4", "deepseek_v2", "deepseek_v3", "gptj"]
)
def test_the_interleaved_models_that_the_page_names(model_type: str) -> None:
    assert rope_from_config(transformers.CONFIG_MAPPING[model_type]()).layout == "interleaved"


@pytest.mark.parametrize("model_type", ["llama4_text", "smollm3"])
def test_every_fourth_layer_does_not_rotate(model_type: str) -> None:
    layers = transformers.CONFIG_MAPPING[model_type](num_hidden_layers=8).no_rope_layers
    assert layers == [1, 1, 1, 0, 1, 1, 1, 0]
    attention = inspect.getsource(modelling(model_type))
    assert "self.use_rope = config.no_rope_layers[layer_idx]" in attention


def test_cohere2_rotates_in_its_sliding_layers_alone() -> None:
    source = inspect.getsource(modelling("cohere2").Cohere2Attention.forward)
    assert re.search(
        r"if self\.sliding_window is not None:\s+query_states, key_states = apply_rotary", source
    )


@pytest.mark.parametrize("kind", ["deepseek_v2", "deepseek_v3"])
def test_deepseek_multiplies_its_scores(kind: str) -> None:
    found = modelling(kind).yarn_apply_mscale({"rope_type": "yarn", "factor": 40, "mscale_all_dim": 1.0}, 1.0)
    assert found == pytest.approx((0.1 * math.log(40) + 1) ** 2)


def test_nanochat_turns_the_other_way() -> None:
    excerpt = {"model_type": "nanochat", "hidden_size": 128, "num_attention_heads": 2}
    config = transformers.CONFIG_MAPPING["nanochat"](**excerpt)
    settings = rope_from_config(excerpt)
    at = torch.arange(20)
    q, k = torch.randn(2, 1, 2, 20, 64)
    theirs = in_transformers(config, q, k, at, None)
    tables = settings.tables(at)
    torch.testing.assert_close(settings.rotate(q, tables), theirs[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(settings.rotate(k, tables), theirs[1], atol=1e-5, rtol=1e-5)


def test_multimodal_positions() -> None:
    for name in ("Qwen2-VL 7B", "Qwen3-VL 8B"):
        excerpt = CONFIGS["CONFIGS"][name]
        config = transformers.CONFIG_MAPPING[excerpt["model_type"]](**excerpt)
        module = modelling(config.model_type)
        settings = rope_from_config(excerpt)
        positions = torch.randint(0, 200, (3, 2, 9), generator=torch.Generator().manual_seed(0))
        q, k = torch.randn(2, 2, 4, 9, 128)
        cos, sin = rotary_class(module)(config)(q, positions)
        expected, _ = module.apply_rotary_pos_emb(q, k, cos, sin)
        tables = settings.section_tables(positions[:, :, None])
        torch.testing.assert_close(settings.rotate(q, tables), expected, atol=1e-3, rtol=1e-3)


def test_the_image_side_of_qwen2_vl() -> None:
    module = modelling("qwen2_vl")
    grid = np.indices((4, 6)).reshape(2, -1)
    config = transformers.CONFIG_MAPPING["qwen2_vl"]().vision_config
    head_dim = config.embed_dim // config.num_heads
    q, k = torch.randn(2, 24, 3, head_dim)
    cos, sin = module.Qwen2VLVisionRotaryEmbedding(config)(q, torch.from_numpy(grid.T.copy()))
    expected, _ = module.apply_rotary_pos_emb_vision(q, k, cos, sin)
    tables = axial_tables(torch.from_numpy(grid), head_dim)
    found = rotate(q.transpose(0, 1), tables, layout="half").transpose(0, 1)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_dinov3() -> None:
    module = importlib.import_module("transformers.models.dinov3_vit.modeling_dinov3_vit")
    config = transformers.CONFIG_MAPPING["dinov3_vit"](image_size=64, patch_size=16)
    assert config.rope_theta == 100.0
    head_dim = config.hidden_size // config.num_attention_heads
    cos, sin = module.DINOv3ViTRopePositionEmbedding(config).eval()(torch.zeros(1, 3, 64, 96))
    q, k = torch.randn(2, 1, 2, 5 + 24, head_dim)  # class and four registers first
    expected, _ = module.apply_rotary_pos_emb(q, k, cos, sin)
    centers = torch.from_numpy(patch_coordinates((4, 6)))
    tables = dinov3_tables(centers, head_dim, dtype=torch.float32)
    torch.testing.assert_close(
        rotate(q[:, :, 5:], tables, layout="half"), expected[:, :, 5:], atol=1e-5, rtol=1e-5
    )
    assert torch.equal(q[:, :, :5], expected[:, :, :5])


# --- the checkpoints page: added ---------------------------------------------------------------------

TINY = {
    "vocab_size": 50,
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "intermediate_size": 32,
    "max_position_embeddings": 40,
}
ENCODER_DECODER = {
    "vocab_size": 50,
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "max_position_embeddings": 40,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
}
GPT = {"vocab_size": 50, "n_embd": 32, "n_layer": 1, "n_head": 4, "n_positions": 40}
# Family -> (model_type, sizes, the position module, rows start at, whether padding is counted)
TABLES: dict[str, tuple[str, dict[str, Any], str, int, bool]] = {
    "BERT": ("bert", TINY, "embeddings.position_embeddings", 0, True),
    "ELECTRA": ("electra", {**TINY, "embedding_size": 32}, "embeddings.position_embeddings", 0, True),
    "DistilBERT": (
        "distilbert",
        {
            "vocab_size": 50,
            "dim": 32,
            "n_layers": 1,
            "n_heads": 4,
            "hidden_dim": 32,
            "max_position_embeddings": 40,
        },
        "embeddings.position_embeddings",
        0,
        True,
    ),
    "ALBERT": ("albert", {**TINY, "embedding_size": 32}, "embeddings.position_embeddings", 0, True),
    "GPT-2": ("gpt2", GPT, "wpe", 0, True),
    "GPT-Neo": (
        "gpt_neo",
        {
            "vocab_size": 50,
            "hidden_size": 32,
            "num_layers": 1,
            "num_heads": 4,
            "max_position_embeddings": 40,
            "attention_types": [[["global"], 1]],
        },
        "wpe",
        0,
        True,
    ),
    "GPT-BigCode (StarCoder)": ("gpt_bigcode", GPT, "wpe", 0, True),
    "RoBERTa": ("roberta", {**TINY, "pad_token_id": 1}, "embeddings.position_embeddings", 2, False),
    "XLM-R": ("xlm-roberta", {**TINY, "pad_token_id": 1}, "embeddings.position_embeddings", 2, False),
    "MPNet": ("mpnet", {**TINY, "pad_token_id": 1}, "embeddings.position_embeddings", 2, False),
    "OPT": (
        "opt",
        {**TINY, "ffn_dim": 32, "word_embed_proj_dim": 32, "pad_token_id": 1},
        "decoder.embed_positions",
        2,
        False,
    ),
    "BioGPT": ("biogpt", {**TINY, "pad_token_id": 1}, "embed_positions", 2, True),
    "BART": ("bart", ENCODER_DECODER, "encoder.embed_positions", 2, True),
    "mBART": ("mbart", ENCODER_DECODER, "encoder.embed_positions", 2, True),
    "CLIP": ("clip_text_model", {**TINY, "pad_token_id": 1}, "embeddings.position_embedding", 0, True),
    "SigLIP": ("siglip_text_model", {**TINY, "pad_token_id": 1}, "embeddings.position_embedding", 0, True),
}


def captured(model: torch.nn.Module, path: str, **inputs: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """What the position module gave, and its table."""
    module = model.get_submodule(path) if path in dict(model.named_modules()) else None
    if module is None:
        name = next(n for n, _ in model.named_modules() if n.endswith(path))
        module = model.get_submodule(name)
    kept: list[torch.Tensor] = []
    handle = module.register_forward_hook(lambda _module, _inputs, output: kept.append(output))
    with torch.no_grad():
        model.eval()(**inputs)
    handle.remove()
    return kept[0], module.get_parameter("weight").detach()


@pytest.mark.parametrize("family", TABLES)
def test_the_row_of_the_first_token(family: str) -> None:
    kind, sizes, path, start, counts_padding = TABLES[family]
    config = transformers.CONFIG_MAPPING[kind](**sizes)
    model = (
        transformers.SiglipTextModel(config)
        if family == "SigLIP"
        else transformers.AutoModel.from_config(config)
    )
    tokens = torch.tensor([[5, 6, 7, 8, 9, 10]])
    mask = torch.ones_like(tokens)
    rows, table = captured(model, path, input_ids=tokens, attention_mask=mask)
    expected = learned(table, torch.arange(6) + start)
    torch.testing.assert_close(rows.reshape(-1, rows.shape[-1])[-6:], expected)
    wrong = learned(table, torch.arange(6) + start + 1)
    assert not torch.allclose(rows.reshape(-1, rows.shape[-1])[-6:], wrong)

    padded, padded_mask = tokens.clone(), mask.clone()
    padded[:, :2], padded_mask[:, :2] = 1, 0
    rows, _ = captured(model, path, input_ids=padded, attention_mask=padded_mask)
    first = start + (2 if counts_padding else 0)
    torch.testing.assert_close(rows.reshape(-1, rows.shape[-1])[-4:], learned(table, torch.arange(4) + first))

    line = next(row for row in CHECKPOINTS.splitlines() if row.startswith("|") and family in row)
    assert ("positions + 2" in line) == (start == 2)
    assert line.rsplit("|", 2)[1].strip().startswith("yes" if counts_padding else "no")


def test_whispers_two_sides() -> None:
    config = transformers.CONFIG_MAPPING["whisper"](
        **{**ENCODER_DECODER, "max_source_positions": 30, "max_target_positions": 40, "num_mel_bins": 8}
    )
    model = transformers.AutoModel.from_config(config)
    expected = sinusoidal(torch.arange(30), 32, layout="split", spacing="tensor2tensor")
    torch.testing.assert_close(model.encoder.embed_positions.weight.detach(), expected, atol=1e-5, rtol=0)
    table = model.decoder.embed_positions
    torch.testing.assert_close(
        table(torch.zeros(1, 4, dtype=torch.long)).detach(), learned(table.weight.detach(), 4)
    )


@pytest.mark.parametrize("kind", ["vit", "dinov2", "clip_vision_model", "siglip_vision_model"])
def test_the_rows_of_images(kind: str) -> None:
    config = transformers.CONFIG_MAPPING[kind](**TINY, image_size=32, patch_size=8)
    embeddings = transformers.AutoModel.from_config(config).eval().embeddings
    kept = getattr(embeddings, "position_embeddings", None)
    kept = embeddings.position_embedding.weight if kept is None else kept
    with torch.no_grad():
        table = kept.normal_().clone().reshape(-1, 32)
        with_table = embeddings(torch.zeros(1, 3, 32, 32))[0]
        kept.zero_()
        without = embeddings(torch.zeros(1, 3, 32, 32))[0]
    rows = 16 if kind.startswith("siglip") else 17
    assert table.shape[0] == rows
    torch.testing.assert_close(with_table - without, learned(table, rows), atol=1e-5, rtol=0)


def ids(length: int) -> torch.Tensor:
    return torch.arange(5, 5 + length)[None]


FIXED: dict[str, Callable[[], tuple[torch.Tensor, torch.Tensor]]] = {}


def fixed(check: Callable[[], tuple[torch.Tensor, torch.Tensor]]) -> Any:
    FIXED[check.__name__] = check
    return check


@fixed
def m2m100() -> tuple[torch.Tensor, torch.Tensor]:
    module = importlib.import_module("transformers.models.m2m_100.modeling_m2m_100")
    table = module.M2M100SinusoidalPositionalEmbedding(30, 32, padding_idx=1)
    return table(ids(9))[0], sinusoidal(torch.arange(9) + 2, 32, layout="split", spacing="tensor2tensor")


@fixed
def xglm() -> tuple[torch.Tensor, torch.Tensor]:
    module = importlib.import_module("transformers.models.xglm.modeling_xglm")
    table = module.XGLMSinusoidalPositionalEmbedding(30, 32, padding_idx=1)
    found = table(position_ids=torch.arange(9)[None])[0]
    return found, sinusoidal(torch.arange(9) + 2, 32, layout="split", spacing="tensor2tensor")


@fixed
def musicgen() -> tuple[torch.Tensor, torch.Tensor]:
    module = importlib.import_module("transformers.models.musicgen.modeling_musicgen")
    table = module.MusicgenSinusoidalPositionalEmbedding(30, 32)
    found = table(torch.zeros(1, 4, 9, dtype=torch.long))
    return found, sinusoidal(torch.arange(9), 32, layout="split-cos-first", spacing="tensor2tensor")


@fixed
def marian() -> tuple[torch.Tensor, torch.Tensor]:
    module = importlib.import_module("transformers.models.marian.modeling_marian")
    table = module.MarianSinusoidalPositionalEmbedding(30, 32)
    table.weight.data = table.create_weight()
    return table(torch.Size([1, 9])), sinusoidal(torch.arange(9), 32, layout="split")


@fixed
def pegasus() -> tuple[torch.Tensor, torch.Tensor]:
    module = importlib.import_module("transformers.models.pegasus.modeling_pegasus")
    table = module.PegasusSinusoidalPositionalEmbedding(30, 32)
    table.weight.data = table.create_weight()
    return table(torch.Size([1, 9])), sinusoidal(torch.arange(9), 32, layout="split")


@fixed
def speecht5() -> tuple[torch.Tensor, torch.Tensor]:
    module = importlib.import_module("transformers.models.speecht5.modeling_speecht5")
    scaled = module.SpeechT5ScaledPositionalEncoding(0.0, 32, 40).eval()
    scaled.alpha.data.fill_(2.0)
    return scaled(torch.zeros(1, 9, 32))[0].detach(), 2.0 * sinusoidal(torch.arange(9), 32)


@fixed
def vit_mae() -> tuple[torch.Tensor, torch.Tensor]:
    module = importlib.import_module("transformers.models.vit_mae.modeling_vit_mae")
    embeddings = module.ViTMAEEmbeddings(
        transformers.CONFIG_MAPPING["vit_mae"](**TINY, image_size=32, patch_size=8)
    )
    embeddings.initialize_weights()
    found = embeddings.position_embeddings.detach()[0]
    assert float(found[0].abs().max()) == 0.0
    along = [torch.arange(4), torch.arange(4)]
    return found[1:], grid_sinusoidal(along, 32).reshape(-1, 32)


@fixed
def detr() -> tuple[torch.Tensor, torch.Tensor]:
    module = importlib.import_module("transformers.models.detr.modeling_detr")
    maker = module.DetrSinePositionEmbedding(num_position_features=16, normalize=True)
    found = maker(torch.Size([1, 8, 4, 6]), torch.device("cpu"), torch.float32)
    y, x = (2 * np.pi * torch.arange(1, n + 1) / n for n in (4, 6))
    return found[0].permute(1, 2, 0), grid_sinusoidal((y, x), 32, axes="yx", layout="interleaved")


@pytest.mark.parametrize("family", FIXED)
def test_fixed_encodings(family: str) -> None:
    found, expected = FIXED[family]()
    torch.testing.assert_close(found, expected.to(found.dtype), atol=2e-5, rtol=0)


def test_detr_normalises() -> None:
    source = inspect.getsource(importlib.import_module("transformers.models.detr.modeling_detr"))
    assert "DetrSinePositionEmbedding(config.d_model // 2, normalize=True)" in " ".join(source.split())


# --- the checkpoints page: biased --------------------------------------------------------------------

T5_SIZES = {
    "vocab_size": 50,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 32,
    "num_layers": 2,
    "num_decoder_layers": 2,
    "num_heads": 4,
}


@pytest.mark.parametrize("kind", ["t5", "mt5", "umt5", "longt5"])
def test_t5s_bias_scale_and_tables(kind: str) -> None:
    config = transformers.CONFIG_MAPPING[kind](**T5_SIZES)
    assert config.relative_attention_num_buckets == 32
    assert config.relative_attention_max_distance == 128
    model = transformers.AutoModel.from_config(config)
    for stack, bidirectional in ((model.encoder, True), (model.decoder, False)):
        attentions = [each for each in stack.modules() if hasattr(each, "relative_attention_bias")]
        assert len(attentions) == (2 if kind == "umt5" else 1)
        attention = attentions[0]
        table = attention.relative_attention_bias.weight.detach()
        if kind == "longt5" and bidirectional:  # by blocks: each looks at itself and both neighbours
            expected = attention.compute_bias(50).detach()[0, 0]
            ours = t5_bias(table, torch.arange(50, 100), torch.arange(150))
        else:
            expected = attention.compute_bias(200, 200).detach()[0]
            ours = t5_bias(table, 200, 200, bidirectional=bidirectional)
        assert torch.equal(ours, expected)
    source = inspect.getsource(type(attention))
    assert "self.scaling = 1.0" in source or "sqrt" not in source


def test_mpnet() -> None:
    module = importlib.import_module("transformers.models.mpnet.modeling_mpnet")
    encoder = module.MPNetEncoder(transformers.CONFIG_MAPPING["mpnet"](**TINY))
    expected = encoder.compute_position_bias(torch.zeros(1, 200, 32)).detach()[0]
    table = encoder.relative_attention_bias.weight.detach()
    assert torch.equal(t5_bias(table, 200, 200), expected)
    assert "attention_scores / math.sqrt(self.attention_head_size)" in inspect.getsource(module)


def row_by_row(bias: torch.Tensor) -> torch.Tensor:
    """Less its mean over the past of each row, which the softmax does not see."""
    past = torch.tril(torch.ones(bias.shape[-2:], dtype=torch.bool))
    mean = torch.where(past, bias, 0.0).sum(-1, keepdim=True) / past.sum(-1, keepdim=True)
    return torch.where(past, bias - mean, 0.0)


@pytest.mark.parametrize("heads", [8, 12, 32])
def test_bloom(heads: int) -> None:
    module = importlib.import_module("transformers.models.bloom.modeling_bloom")
    mask = torch.tensor([[0, 0, 1, 1, 1, 1]])
    theirs = module.build_alibi_tensor(mask, heads, torch.float32).reshape(heads, 1, 6).expand(-1, 6, -1)
    ours = alibi_bias(heads, torch.arange(4), torch.arange(4))  # positions counted by the mask
    torch.testing.assert_close(row_by_row(ours.to(torch.float32)), row_by_row(theirs[:, 2:, 2:]))


@pytest.mark.parametrize("heads", [8, 12, 40])
@pytest.mark.parametrize("max_bias", [8, 16])
def test_mpt(heads: int, max_bias: int) -> None:
    module = importlib.import_module("transformers.models.mpt.modeling_mpt")
    theirs = module.build_mpt_alibi_tensor(heads, 9, max_bias).expand(heads, 9, 9)
    slopes = torch.from_numpy(alibi_slopes(heads, max_bias=max_bias))
    ours = alibi_bias(heads, 9, 9, slopes=slopes).to(torch.float32)
    torch.testing.assert_close(row_by_row(ours), row_by_row(theirs), atol=1e-5, rtol=1e-5)
    assert transformers.CONFIG_MAPPING["mpt"]().attn_config.alibi_bias_max == 8


@pytest.mark.parametrize("heads", [12, 32])
def test_falcon_with_alibi(heads: int) -> None:
    module = importlib.import_module("transformers.models.falcon.modeling_falcon")
    theirs = module.build_alibi_tensor(torch.ones(1, 9, dtype=torch.long), heads, torch.float32)
    theirs = theirs.reshape(heads, 1, 9).expand(-1, 9, -1) / math.sqrt(64)
    slopes = torch.from_numpy(alibi_slopes(heads)).to(torch.bfloat16).to(torch.float32) / math.sqrt(64)
    ours = alibi_bias(heads, 9, 9, slopes=slopes)
    # Products are rounded to bfloat16 too, by up to 1/256 of the largest, slope * 8.
    torch.testing.assert_close(row_by_row(ours), row_by_row(theirs), atol=8 / 256 / 8, rtol=0)
    source = inspect.getsource(module.FalconModel)
    assert "alibi / math.sqrt(self.config.hidden_size // self.num_heads)" in " ".join(source.split())


def test_xlnet() -> None:
    module = importlib.import_module("transformers.models.xlnet.modeling_xlnet")
    config = transformers.CONFIG_MAPPING["xlnet"](d_model=32, n_head=4, d_inner=32, n_layer=1, vocab_size=50)
    layer = module.XLNetRelativeAttention(config).eval()
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    queries = keys = 7
    whole = module.XLNetModel(config)
    around = whole.relative_positional_encoding(queries, keys)[:, 0]
    q, k, v = torch.randn(3, queries, 1, 4, 8)
    relative = torch.einsum("ih,hnd->ind", around, layer.r)
    kept: list[torch.Tensor] = []
    original = torch.nn.functional.softmax

    def watch(scores: torch.Tensor, *args: Any, **options: Any) -> torch.Tensor:
        kept.append(scores)
        return original(scores, *args, **options)

    torch.nn.functional.softmax = watch  # type: ignore[assignment]  # one overload is enough here
    try:
        layer.rel_attn_core(q, k, v, relative[:, None])
    finally:
        torch.nn.functional.softmax = original
    ours_q, ours_k = (x[:, 0].transpose(0, 1) for x in (q, k))
    bias = transformer_xl_bias(ours_q, ours_k, relative[1:].transpose(0, 1), layer.r_w_bias, layer.r_r_bias)
    expected = kept[0][0]
    found = ours_q @ ours_k.mT / math.sqrt(8) + bias
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_wav2vec2_bert() -> None:
    module = importlib.import_module("transformers.models.wav2vec2_bert.modeling_wav2vec2_bert")
    config = transformers.CONFIG_MAPPING["wav2vec2-bert"](hidden_size=32, num_attention_heads=4)
    attention = module.Wav2Vec2BertSelfAttention(config)
    q = torch.randn(1, 4, 100, 8)
    _, expected = module._apply_relative_key_position_encoding(attention, q, q)
    table = attention.distance_embedding.weight.detach()
    rows = torch.clip(torch.arange(-64, 65), -64, 8) + 64
    found = shaw_bias(q, table[rows], 100, 100)
    torch.testing.assert_close(found, expected.detach(), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("| DeBERTa | `deberta_bias(", "give `attention` q / √3"),
        ("| DeBERTa-v2, v3 |", "through a layer norm first"),
        ("| Swin | `swin_bias(", "every layer"),
        ("| Swin V2 | `swin_v2_bias(", "cosines times a learned number"),
        ("| SigLIP 2 |", '`mode="bilinear", antialias=True`'),
        ("V-JEPA 2 has no tables", "two different angles"),
    ],
)
def test_the_page_names_what_the_tests_of_conformance_compare(row: str, said: str) -> None:
    """tests/conformance/test_deberta.py, test_windows.py, test_resample.py and test_vjepa2.py."""
    [line] = [line for line in CHECKPOINTS.splitlines() if line.startswith(row)]
    at = CHECKPOINTS.index(line)
    assert said in CHECKPOINTS[at : at + 300]


def test_what_is_said_of_the_scale_and_the_norm_of_deberta() -> None:
    source = inspect.getsource(importlib.import_module("transformers.models.deberta.modeling_deberta"))
    assert "scale_factor = 1 + len(self.pos_att_type)" in source
    source = inspect.getsource(importlib.import_module("transformers.models.deberta_v2.modeling_deberta_v2"))
    assert "rel_embeddings = self.LayerNorm(rel_embeddings)" in source
    assert "self.query_proj(rel_embeddings)" in source
