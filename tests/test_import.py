"""`import posenc_lib` loads NumPy and nothing else, and NumPy is all that it needs."""

from __future__ import annotations

import subprocess
import sys

import posenc_lib

ABSENT = ("torch", "array_api_compat", "matplotlib", "scipy", "IPython", "nbformat", "nbgrader", "jupytext")

HIDE = f"""
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {ABSENT!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
"""


def run(code: str) -> str:
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.strip()


def test_it_loads_numpy_and_nothing_else() -> None:
    loaded = run(
        "import sys\n"
        "before = {name.partition('.')[0] for name in sys.modules}\n"
        "import posenc_lib\n"
        "after = {name.partition('.')[0] for name in sys.modules}\n"
        "print(*sorted(after - before - set(sys.stdlib_module_names)))\n"
    )
    assert loaded.split() == ["numpy", "posenc_lib"]


def test_numpy_is_all_that_it_needs() -> None:
    shown = run(
        HIDE + "import numpy as np\n"
        "import posenc_lib\n"
        "from posenc_lib.added import fourier_features, grid_sinusoidal, hybrid, learned\n"
        "table = posenc_lib.sinusoidal(3, 4)\n"
        "print(table.shape, posenc_lib.attention(table, table, table, causal=True).shape)\n"
        "print(learned(table, 2).shape, hybrid(table, 2).shape, grid_sinusoidal((2, 3), 8).shape)\n"
        "print(fourier_features(table, table).shape, posenc_lib.sinusoidal(8192, 64).shape)\n"
    )
    assert shown.splitlines() == ["(3, 4) (3, 4)", "(2, 4) (2, 4) (2, 3, 8)", "(3, 6) (8192, 64)"]


def test_what_is_no_array_is_named_without_any_other_package() -> None:
    shown = run(
        HIDE + "import posenc_lib\n"
        "try:\n"
        "    posenc_lib.sinusoidal('abc', 4)\n"
        "except TypeError as error:\n"
        "    print(error)\n"
    )
    assert shown.startswith("str is not an array; give an array of NumPy")


def test_tensors_without_array_api_compat_say_what_to_install() -> None:
    hide = HIDE.replace(repr(ABSENT), repr(("array_api_compat",)))
    shown = run(
        hide + "import torch, posenc_lib\n"
        "try:\n"
        "    posenc_lib.sinusoidal(torch.arange(3), 4)\n"
        "except ModuleNotFoundError as error:\n"
        "    print(error)\n"
    )
    assert "array-api-compat" in shown
    assert "pip install 'posenc_lib[torch]'" in shown


def test_torch_is_not_loaded_by_arrays_of_other_libraries() -> None:
    shown = run(
        "import array_api_strict, sys, posenc_lib\n"
        "posenc_lib.sinusoidal(array_api_strict.arange(3), 4)\n"
        "posenc_lib.sinusoidal(3, 4)\n"
        "print('torch' in sys.modules)\n"
    )
    assert shown == "False"


def test_a_star_gives_the_public_names_without_torch() -> None:
    shown = run(
        HIDE + "from posenc_lib import *\n"
        "print(rotate.__name__, alibi_bias.__name__, sinusoidal(2, 4).shape, 'np' in globals())"
    )
    assert shown == "rotate alibi_bias (2, 4) False"


def test_the_modules_come_when_they_are_asked_for() -> None:
    shown = run(
        "import sys, posenc_lib\n"
        "before = 'torch' in sys.modules\n"
        "print(before, posenc_lib.nn.Rotary.__name__, 'torch' in sys.modules)"
    )
    assert shown == "False Rotary True"


def test_dir_names_what_is_public_and_nothing_else() -> None:
    names = set(dir(posenc_lib))
    assert names == {*posenc_lib.__all__, "added", "rotated", "biased", "nn", "__doc__", "__version__"}
    assert {"rotate", "sinusoidal", "t5_bias", "attention"} <= names
    assert all(hasattr(posenc_lib, name) for name in names)
