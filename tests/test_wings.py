"""The house has two wings: the library knows nothing of the course that stands on it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = sorted((ROOT / "posenc_lib").rglob("*.py"))


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_library_names_no_course(path: Path) -> None:
    """Nor a command line: neither as an import, nor as text that could become one."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        named: list[str] = []
        if isinstance(node, ast.Import):
            named = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: name the module in full"
            named = [node.module or ""]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = [node.value]
        elif isinstance(node, ast.Attribute):
            assert node.attr not in ("argv", "orig_argv"), f"line {node.lineno}: {ast.unparse(node)}"
        assert not any("posenc_course" in name for name in named), f"{ast.dump(node)}: {named}"


def test_the_library_works_where_there_is_no_course() -> None:
    code = """
import importlib, pkgutil, sys
sys.modules["posenc_course"] = None
import posenc_lib
for each in pkgutil.walk_packages(posenc_lib.__path__, "posenc_lib."):
    importlib.import_module(each.name)
from posenc_lib import *
assert sinusoidal(3, 4).shape == attention(*[sinusoidal(3, 4)] * 3).shape
assert not hasattr(posenc_lib, "check")
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_face_of_the_course_loads_nothing_else() -> None:
    code = """
import sys
before = {name.partition(".")[0] for name in sys.modules}
import posenc_course
after = {name.partition(".")[0] for name in sys.modules}
print(*sorted(after - before - set(sys.stdlib_module_names)))
from posenc_course import *
print(check is posenc_course.checking.check)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["posenc_course", "True"]


def test_one_version_of_the_library_is_asked_for_and_this_is_one() -> None:
    import posenc_lib

    about = (ROOT / "posenc_course" / "pyproject.toml").read_text(encoding="utf-8")
    asked = re.search(r'"posenc_lib==(\d+\.\d+)\.\*"', about)
    assert asked is not None
    assert posenc_lib.__version__.startswith(f"{asked[1]}.")


def test_both_wings_have_the_same_licence() -> None:
    assert (ROOT / "posenc_course" / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
