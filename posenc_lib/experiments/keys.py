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
    """Python source without comments and the strings that only document it."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            node.body = [each for each in node.body if not _documents(each)] or [ast.Pass()]
    return ast.unparse(tree)


def _documents(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
