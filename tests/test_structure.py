"""The library lies in layers: no circle of imports, and one place that knows array libraries."""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("", "added/", "rotated/", "biased/", "scaling/", "nn/")
FILES = [path for folder in FOLDERS for path in sorted((ROOT / "posenc_lib").glob(f"{folder}*.py"))]
FOR_PYTORCH_ALONE = ("_fused.py", "nn/*.py", "rotated/in_torch.py", "biased/alibi_*.py", "biased/flex.py")
"""As CONTRIBUTING says."""
LIBRARIES = {"torch", "jax", "cupy", "array_api_compat"}
SEAM = "_arrays.py"


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(path): path for path in FILES}


def statements(path: Path) -> Iterator[ast.AST]:
    """All of it, but for what a type checker alone reads."""
    todo: list[ast.AST] = [ast.parse(path.read_text())]
    while todo:
        node = todo.pop()
        yield node
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            todo += ast.iter_child_nodes(node)


def imported(path: Path) -> Iterator[str]:
    """The modules that a file loads, at once or later."""
    for node in statements(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else node.module


def test_no_circle_of_imports() -> None:
    graphlib.TopologicalSorter({name: set(imported(path)) for name, path in MODULES.items()}).prepare()


def test_array_libraries_are_named_in_one_place() -> None:
    own = {path for pattern in FOR_PYTORCH_ALONE for path in (ROOT / "posenc_lib").glob(pattern)}
    for path in set(FILES) - own:
        named = {name.partition(".")[0] for name in imported(path)} & LIBRARIES
        assert not named or path.name == SEAM, f"{module_of(path)} imports {named}"


def test_what_pytorch_keeps_private_is_asked_for_in_one_place() -> None:
    for path in FILES:
        for node in statements(path):
            if isinstance(node, ast.Attribute) and path.name != SEAM:
                chain = ast.unparse(node)
                private = chain.startswith(("torch._", "torch.compiler", "forward_ad"))
                assert not private, f"{module_of(path)}, line {node.lineno}: {chain}"
                assert node.attr != "_version", f"{module_of(path)}, line {node.lineno}: {chain}"
