"""What a run, or a trained model, is kept under: a key that differs wherever its numbers would."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any


def key_of(settings: dict[str, Any], parts: Iterable[ModuleType], *more: str) -> str:
    """16 hexadecimal digits of the settings, the code of these modules, and what else is told."""
    told = [json.dumps(settings, sort_keys=True), *more]
    told += [code_of(Path(str(part.__file__)).read_text(encoding="utf-8")) for part in parts]
    return hashlib.sha256("\0".join(told).encode()).hexdigest()[:16]


def code_of(source: str) -> str:
    """Python source without comments, the strings that only document it, and imports.

    Where a name comes from may change, as when files move; what a run depends on is among its parts.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.If)):
            node.body = [each for each in node.body if not _says_nothing(each)] or [ast.Pass()]
    return ast.unparse(tree)


def _says_nothing(node: ast.stmt) -> bool:
    documents = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return documents or isinstance(node, (ast.Import, ast.ImportFrom))
