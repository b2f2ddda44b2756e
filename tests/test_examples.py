"""The recipes in examples/: each runs as it is, is short, and gives what it says."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.peers]

EXAMPLES = Path(__file__).parents[1] / "examples"


def learns(losses: tuple[float, float]) -> bool:
    return losses[1] < losses[0] / 2


EXPECTED: dict[str, Callable[[Any], bool]] = {
    "flax_transformer": learns,
    "flex_attention": lambda difference: difference < 1e-5,
    "graphs_in_a_batch": lambda difference: difference < 1e-5,
    "jax_transformer": learns,
    "llama_with_our_rope": lambda difference: difference < 1e-5,
    "longer_context_by_yarn": lambda difference: difference < 1e-5,
    "nanogpt_with_any_encoding": learns,
    "onnx_export": lambda difference: difference < 1e-5,
    "vit_with_axial_rope": lambda told: (
        (*map(tuple, told[:2]), told[2] < 1e-5) == ((2, 16, 64), (1, 60, 64), True)
    ),
}


def main_of(name: str) -> Callable[..., Any]:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # a compiler looks for it there
    spec.loader.exec_module(module)
    main: Callable[..., Any] = module.main
    return main


def test_every_example_is_tried_here_and_is_short() -> None:
    lines = {path.stem: len(path.read_text().splitlines()) for path in EXAMPLES.glob("*.py")}
    assert set(lines) == set(EXPECTED)
    assert max(lines.values()) <= 60, lines


def test_every_example_is_shown_among_the_recipes() -> None:
    page = (EXAMPLES.parent / "book" / "reference" / "recipes.md").read_text()
    for name in EXPECTED:
        assert page.count(f"literalinclude}} ../../examples/{name}.py") == 1, name


@pytest.mark.parametrize("name", EXPECTED)
def test_it_gives_what_it_says(name: str) -> None:
    assert EXPECTED[name](main_of(name)())


# fmt: off
FOR_TEXT = (
    "none", "sinusoidal", "learned", "hybrid", "rope", "xpos", "log-temperature", "ssmax", "alibi", "t5",
    "shaw", "transformer-xl", "kerple", "fire", "sandwich", "cope", "data-dependent-alibi", "fox", "path",
    "pope",    "self-extend", "dual-chunk", "deberta",
)
# fmt: on


def test_the_small_gpt_takes_every_encoding_for_text() -> None:
    main = main_of("nanogpt_with_any_encoding")
    for name in FOR_TEXT:
        first, last = main(name, 4)
        assert last < first, name


@pytest.mark.parametrize("name", ["flax_transformer", "jax_transformer", "onnx_export"])
def test_it_takes_alibi_as_well(name: str) -> None:
    assert EXPECTED[name](main_of(name)("alibi"))
