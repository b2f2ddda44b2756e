"""The catalogue lists every encoding, and what it says of each is true of the code and of the references."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import inspect
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import torch

import posenc_lib
from posenc_lib.catalogue import DOORS, SYMBOLS, Catalogue, Encoding, catalogue
from posenc_lib.nn import ENCODINGS, PositionalEncoding, Sizes, make_encoding
from posenc_lib.nn.transformer import Transformer
from tests.present import present
from tests.rotated.published import PUBLISHED

ROOT = Path(__file__).resolve().parents[1]
EVERY = pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)

# Public, but no encoding: what these do is the same for several of them.
HELPERS = {
    "added": {"centred_positions", "reverse_complement"},
    "rotated": {
        "LayerPositions",
        "RopeSettings",
        "RotaryTables",
        "Scaling",
        "convert_layout",
        "layers_from_config",
        "rope_from_config",
        "scaling_from_config",
    },
    "biased": {"AlibiColumns", "packed_mask_mod", "relative_positions", "window_mask"},
}
SIZES = Sizes(dim=32, heads=4, causal=True, length=16)
SCALINGS = {
    "rope-linear": {"rope_type": "linear", "factor": 4.0},
    "rope-ntk": None,  # no config names these three rules
    "rope-dynamic-ntk": None,
    "rope-ntk-by-parts": None,
    "rope-yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64},
    "rope-llama3": {
        "rope_type": "llama3",
        "factor": 4.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
    },
    "rope-longrope": None,
    "rope-proportional": {"rope_type": "proportional", "partial_rotary_factor": 0.5},
}


def found(name: str) -> Any:
    """The object of that dotted name."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def made(entry: Encoding) -> PositionalEncoding:
    """The encoding as a module of SIZES, with random parameters."""
    module = make_encoding(entry.name.partition("-")[0] if entry.name in SCALINGS else entry.name, SIZES)
    if entry.name in SCALINGS:
        module.scaling = scaling_rule(entry)
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            parameter.copy_(
                torch.rand(parameter.shape, generator=torch.Generator().manual_seed(number)) + 0.5
            )
    return module


def scaling_rule(entry: Encoding) -> Any:
    """The rule that the entry names first, with numbers for heads of 8 columns."""
    rule = found(entry.functions[0])
    numbers = {
        "factor": 4.0,
        "original_length": 64,
        "length": 256,
        "fraction": 0.5,
        "short": (1.0,) * 4,
        "long": (1.0, 2.0, 3.0, 4.0),
    }
    return rule(**{f.name: numbers[f.name] for f in dataclasses.fields(rule) if f.name in numbers})


@pytest.mark.parametrize("door", DOORS)
def test_every_public_name_of_every_door_is_in_the_catalogue_or_known_to_be_no_encoding(door: str) -> None:
    package = importlib.import_module(f"posenc_lib.{door}")
    listed = {name for entry in catalogue() for name in entry.functions}
    public = set(package.__all__)
    assert public >= HELPERS[door]
    assert {name for name in public if f"posenc_lib.{door}.{name}" not in listed} == HELPERS[door]


def test_every_encoding_that_a_model_takes_by_name_is_listed_and_the_others_are_rules_for_rope() -> None:
    names = [entry.name for entry in catalogue()]
    assert len(set(names)) == len(names)
    assert set(ENCODINGS) <= set(names)
    assert set(names) - set(ENCODINGS) == set(SCALINGS)


def test_every_encoding_module_is_listed() -> None:
    package = importlib.import_module("posenc_lib.nn")
    modules = {
        f"posenc_lib.nn.{name}"
        for name, each in inspect.getmembers(package, inspect.isclass)
        if issubclass(each, PositionalEncoding) and each is not PositionalEncoding
    }
    assert {entry.module for entry in catalogue()} == modules


@EVERY
def test_functions_and_module_are_real(entry: Encoding) -> None:
    assert entry.functions
    assert all(callable(found(name)) for name in entry.functions)
    assert type(made(entry)) is found(entry.module)


@EVERY
def test_the_doors_are_those_through_which_it_acts(entry: Encoding) -> None:
    module = made(entry)
    heads, length, head_dim = SIZES.heads, SIZES.length, SIZES.head_dim
    x = torch.randn(2, present(length), SIZES.dim)
    q, k = torch.randn(2, 2, heads, present(length), head_dim)
    acting = []

    added = module.add(x, present(length))
    assert added.shape == x.shape
    if not torch.equal(added, x):
        acting.append("added")

    rotated = module.rotate(q, k, present(length), present(length))
    assert [each.shape for each in rotated] == [q.shape, k.shape]
    if not torch.equal(rotated[0], q):
        acting.append("rotated")

    bias = module.bias(q, k, present(length), present(length))
    if bias is not None:
        assert torch.broadcast_shapes(bias.shape, (2, heads, length, length)) == (2, heads, length, length)
        assert bias.shape[-2:] == (length, length)
        acting.append("biased")

    assert tuple(acting) == entry.doors
    homes = {name.split(".")[1] for name in entry.functions}
    assert homes == (set(entry.doors) or {"attention"})


@EVERY
def test_the_learned_numbers_are_as_many_as_the_formula_says(entry: Encoding) -> None:
    module = made(entry)
    table = getattr(module, "table", None)
    rows = 0 if table is None else table.shape[0]
    first = getattr(module, "first", None)  # the first layer of a network, where there is one
    numbers = {
        "d": SIZES.dim,
        "D": SIZES.head_dim,
        "H": SIZES.heads,
        "N": rows,
        "B": 32,
        "k": 16,
        "U": getattr(first, "out_features", 0),
        "m": getattr(module, "features", 0),
        "K": getattr(module, "taps", 0),
        "G": getattr(module, "groups", 1),
    }
    assert set(numbers) == set(SYMBOLS)
    formula = entry.parameters.replace("·", "*")
    assert set(re.findall("[A-Za-z]", formula)) <= set(SYMBOLS)
    expected = eval(formula, {"__builtins__": {}}, numbers)
    assert sum(parameter.numel() for parameter in module.parameters()) == expected


@EVERY
def test_a_transformer_runs_with_it(entry: Encoding) -> None:
    encoding = made(entry) if entry.name in SCALINGS else entry.name
    model = Transformer(vocabulary=11, dim=32, layers=1, heads=4, encoding=encoding, length=16)
    assert model(torch.zeros(1, 16, dtype=torch.long)).shape == (1, 16, 11)


@EVERY
def test_a_model_takes_it_by_name_or_says_what_to_give(entry: Encoding) -> None:
    if entry.name in ENCODINGS:
        assert type(make_encoding(entry.name, SIZES)) is found(entry.module)
    else:
        rule = entry.functions[0].rpartition(".")[2]
        with pytest.raises(ValueError, match=rf"nn\.Rotary\(8, scaling=posenc_lib\.{rule}"):
            Transformer(vocabulary=11, dim=32, layers=1, heads=4, encoding=entry.name)


@pytest.mark.parametrize("name", sorted(name for name, config in SCALINGS.items() if config))
def test_a_rule_that_configs_name_is_what_the_config_builds(name: str) -> None:
    from posenc_lib.rotated import scaling_from_config

    assert type(scaling_from_config(SCALINGS[name])) is found(catalogue().named(name).functions[0])


def test_a_rule_of_a_published_config_has_a_model_that_uses_it() -> None:
    from posenc_lib.rotated import layers_from_config

    entries = {
        entry.functions[0].rpartition(".")[2]: entry for entry in catalogue() if entry.name in SCALINGS
    }
    for name, case in PUBLISHED.items():
        for layer in layers_from_config(case["config"], length=100_000, family=case.get("family")):
            rule = layer.rope.scaling if layer.rope else None
            if type(rule).__name__ in entries:
                assert entries[type(rule).__name__].used_by, f"{name} has {rule}"


def references() -> dict[str, str]:
    """Key -> the text of its entry."""
    text = (ROOT / "book" / "references.bib").read_text()
    entries = re.split(r"\n(?=@)", text)
    return {match[1]: entry for entry in entries if (match := re.match(r"@\w+\{([^,]+),", entry))}


@EVERY
def test_the_paper_is_in_the_list_of_references(entry: Encoding) -> None:
    if entry.key is None:
        assert entry.arxiv is None
        return
    reference = references()[entry.key]
    surname = present(re.search(r"author\s*=\s*\{([^,]+),", reference))[1]
    assert surname in entry.paper
    if entry.arxiv is not None:
        assert re.fullmatch(r"\d{4}\.\d{5}", entry.arxiv)
        assert 1 <= int(entry.arxiv[2:4]) <= 12
        assert entry.url == f"https://arxiv.org/abs/{entry.arxiv}"
        assert entry.url in reference
    else:
        assert entry.url is None


# Where the first publication is not the paper of the identifier.
NOT_FIRST = {"axial": 2021}  # Su's article; arXiv has a later study


@EVERY
def test_the_year_is_that_of_the_arxiv_identifier(entry: Encoding) -> None:
    if entry.name in NOT_FIRST:
        assert entry.year == NOT_FIRST[entry.name] < 2000 + int(present(entry.arxiv)[:2])
    elif entry.arxiv is not None:
        assert entry.year == 2000 + int(entry.arxiv[:2])
    assert 2017 <= entry.year <= 2026


def test_what_was_published_about_length() -> None:
    """ALiBi and xPos are made for length; the sinusoidal encoding, tables and plain RoPE do not reach it
    (Press et al. 2022, table 2 and figure 1); position interpolation needs tuning (Chen et al. 2023)."""
    made_for_length = {entry.name for entry in catalogue() if entry.extrapolates_by_design}
    assert {"alibi", "xpos", "kerple", "fire", "sandwich", "rope-yarn"} <= made_for_length
    assert not made_for_length & {"sinusoidal", "learned", "hybrid", "rope", "rope-linear", "t5", "none"}


@EVERY
def test_every_field_is_filled_in_and_short_enough_to_read(entry: Encoding) -> None:
    for name in ("name", "title", "formula", "latex", "parameters", "paper", "because"):
        text = getattr(entry, name)
        assert text == text.strip()
        assert 0 < len(text) <= 110, name
        assert "\n" not in text
    assert entry.latex.count("{") == entry.latex.count("}")
    assert entry.formula.count("(") == entry.formula.count(")")
    assert len(set(entry.used_by)) == len(entry.used_by)
    assert set(entry.doors) <= set(DOORS)
    with pytest.raises(dataclasses.FrozenInstanceError):
        entry.year = 1999


def test_it_prints_as_a_table_that_fits_a_screen() -> None:
    lines = str(catalogue()).splitlines()
    assert repr(catalogue()) == str(catalogue())
    assert len(lines) == 1 + len(catalogue())
    assert max(map(len, lines)) <= 110
    for line, entry in zip(lines[1:], catalogue(), strict=True):
        assert line.split()[0] == entry.name
        assert str(entry.year) in line
        assert entry.parameters in line


@EVERY
def test_an_entry_prints_whole(entry: Encoding) -> None:
    shown = str(entry)
    for text in (entry.title, entry.formula, entry.because, entry.paper, *entry.used_by, *entry.functions):
        assert text in shown


class Outline(HTMLParser):
    """The tags of a page, and whether they close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def outline(html: str) -> Outline:
    parsed = Outline()
    parsed.feed(html)
    parsed.close()
    assert parsed.open == []
    return parsed


def test_it_renders_as_one_html_table() -> None:
    parsed = outline(catalogue()._repr_html_())
    assert parsed.seen.count("table") == 1
    assert parsed.seen.count("tbody") == 1 + len(DOORS)
    assert parsed.seen.count("tr") == 1 + len(DOORS) + len(catalogue())
    assert parsed.seen.count("td") == len(catalogue())
    for entry in catalogue():
        assert entry.title in parsed.text
        assert entry.because in parsed.text
        assert all(rf"\({part}\)" in parsed.text for part in entry.latex.split(r",\ "))
    assert len(outline(catalogue().through("added")._repr_html_()).seen) < len(parsed.seen)


@pytest.mark.parametrize(
    "field", ["title", "name", "paper", "latex", "formula", "parameters", "because", "arxiv", "used_by"]
)
def test_html_is_escaped(field: str) -> None:
    nasty = "<script>alert('1')</script>\" onclick=\"x & y"
    value = (nasty,) if field == "used_by" else nasty
    changed: dict[str, Any] = {field: value}
    entry = dataclasses.replace(catalogue()[0], **changed)
    parsed = outline(Catalogue([entry])._repr_html_())
    assert "script" not in parsed.seen
    assert parsed.seen.count("td") == 1
    if field not in ("arxiv", "formula"):
        assert nasty in parsed.text


def test_picking() -> None:
    assert catalogue().named("rope-yarn").title == "RoPE, YaRN"
    assert sum(len(catalogue().through(door)) for door in DOORS) == len(catalogue()) - 1
    assert str(catalogue().through("biased")).splitlines()[1].startswith("alibi")
    assert isinstance(catalogue(), tuple)
    with pytest.raises(ValueError, match="there is no encoding 'alibbi'; did you mean 'alibi'"):
        catalogue().named("alibbi")
    with pytest.raises(ValueError, match="'added to' is unknown; choose one of 'added', 'rotated', 'biased'"):
        catalogue().through("added to")


def test_it_is_one_of_the_names_that_the_package_offers() -> None:
    assert posenc_lib.catalogue() is catalogue()
    assert "catalogue" in posenc_lib.__all__


def test_the_list_needs_neither_numpy_nor_torch() -> None:
    file = ROOT / "posenc_lib" / "catalogue.py"
    code = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('listed', {str(file)!r})\n"
        "sys.modules['listed'] = module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        "assert len(module.catalogue()) > 20 and module.catalogue()._repr_html_()\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "print(*sorted(loaded & {'numpy', 'torch', 'posenc_lib'}))\n"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.strip() == ""
