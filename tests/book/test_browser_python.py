"""The Python that the pages bring along: what was pinned, whole, and nothing else; or one sentence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from book import browser_python
from book.browser_python import PythonError, UnreachableError, compare_with_record, is_whole, own_copy
from tests.conftest import load_build

ROOT = Path(__file__).resolve().parents[2]
NOWHERE = "http://127.0.0.1:9/"
FETCH = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from book.browser_python import PythonError, UnreachableError, own_copy
try:
    print(own_copy(Path(sys.argv[1])))
except (PythonError, UnreachableError) as error:
    sys.exit(f"{{type(error).__name__}}: {{error}}")
"""


@pytest.fixture
def no_registry(monkeypatch, tmp_path):
    """Neither npm nor pip reaches one, and neither has kept anything."""
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", NOWHERE)
    monkeypatch.setenv("NPM_CONFIG_CACHE", str(tmp_path / "npm"))
    monkeypatch.setenv("PIP_INDEX_URL", NOWHERE)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")


def folders(cache: Path) -> list[str]:
    return [each.name for each in cache.iterdir() if each.is_dir()]


def test_the_copy_holds_what_its_lock_file_names_and_numpy_s_licence():
    copy = own_copy()
    packages = json.loads((copy / "pyodide-lock.json").read_text())["packages"]
    here = {name: each for name, each in packages.items() if "://" not in each["file_name"]}
    assert {"numpy", "micropip", "ipython", "jedi", "sqlite3"} <= here.keys()
    for each in here.values():
        assert browser_python._digest((copy / each["file_name"]).read_bytes()) == each["sha256"]
    assert "NumPy Developers" in (copy / "numpy-LICENSE.txt").read_text()
    with zipfile.ZipFile(copy / here["numpy"]["file_name"]) as wheel:
        compare_with_record(wheel)
        assert any(name.endswith("dist-info/LICENSE.txt") for name in wheel.namelist())


def test_what_no_registry_has_is_named_at_pyodide_s_network_with_its_digest():
    packages = json.loads((own_copy() / "pyodide-lock.json").read_text())["packages"]
    assert packages["matplotlib"]["file_name"].startswith(browser_python.NETWORK)
    for name in browser_python._with_needed("matplotlib", packages):
        assert len(packages[name]["sha256"]) == 64


def test_what_was_fetched_once_needs_no_network(no_registry):
    assert is_whole(own_copy())


def test_without_a_registry_one_line_says_so_and_nothing_half_is_left(
    no_registry, tmp_path, monkeypatch, capsys
):
    build = load_build()
    cache = tmp_path / "cache"
    monkeypatch.setattr(build, "own_copy", lambda: own_copy(cache))
    assert build._release("own") is None
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("note:")]
    assert len(told) == 1
    assert "the pages will load it from Pyodide's network" in told[0]
    assert folders(cache) == []


@pytest.mark.parametrize("pins", ["requirements.txt", "package-lock.json"])
def test_another_digest_than_the_pinned_one_is_refused(tmp_path, monkeypatch, pins):
    changed = shutil.copytree(browser_python.PINS, tmp_path / "pins")
    text = (changed / pins).read_text()
    before = "sha256:" if pins == "requirements.txt" else "sha512-"
    place = text.rindex(before) + len(before)
    (changed / pins).write_text(text[:place] + "0000" + text[place + 4 :])
    monkeypatch.setattr(browser_python, "PINS", changed)
    monkeypatch.setenv("NPM_CONFIG_CACHE", str(tmp_path / "npm"))
    with pytest.raises(PythonError, match="does not have the digest that is pinned"):
        own_copy(tmp_path / "cache")
    assert folders(tmp_path / "cache") == []


def test_a_copy_that_was_damaged_or_lacks_a_file_is_not_whole(tmp_path):
    copy = shutil.copytree(own_copy(), tmp_path / "copy")
    assert is_whole(copy)
    wheel = next(copy.glob("numpy-*.whl"))
    whole = wheel.read_bytes()
    wheel.write_bytes(whole[:-1])
    assert not is_whole(copy)
    wheel.unlink()
    assert not is_whole(copy)
    wheel.write_bytes(whole)
    assert is_whole(copy)
    (copy / browser_python.DIGESTS).unlink()
    assert not is_whole(copy)


def test_what_a_fetch_left_that_was_cut_off_does_not_pass_for_whole(tmp_path, no_registry):
    folder = tmp_path / "cache" / own_copy().name
    folder.mkdir(parents=True)
    shutil.copy(own_copy() / "pyodide.mjs", folder)
    with pytest.raises(UnreachableError):
        own_copy(tmp_path / "cache")
    assert folders(tmp_path / "cache") == []


def test_numpy_from_pypi_is_preferred_as_soon_as_it_is_named(tmp_path, monkeypatch):
    """PEP 783: `_from_pypi` gives what requirements.txt names, and there may be a newer NumPy among it."""
    wheels = [each for each in own_copy().glob("*.whl") if not each.name.startswith(("numpy-", "sqlite3-"))]
    newer = tmp_path / "numpy-9.8.7-cp313-cp313-pyemscripten_2025_0_wasm32.whl"
    newer.write_bytes(b"a newer NumPy")

    def from_pypi(to: Path) -> dict[str, Path]:
        copies = [Path(shutil.copy(each, to)) for each in (*wheels, newer)]
        return {browser_python._canonical(each.name.partition("-")[0]): each for each in copies}

    def from_npm(work: Path) -> Path:
        (work / "npm").mkdir()
        (work / "npm" / "pyodide").symlink_to(own_copy())
        return work / "npm"

    monkeypatch.setattr(browser_python, "_from_pypi", from_pypi)
    monkeypatch.setattr(browser_python, "_from_npm", from_npm)  # and npm's NumPy is not there to be unpacked
    made = browser_python.assemble(tmp_path)
    assert [each.name for each in made.glob("numpy*")] == [newer.name]
    entry = json.loads((made / "pyodide-lock.json").read_text())["packages"]["numpy"]
    assert (entry["version"], entry["file_name"]) == ("9.8.7", newer.name)
    assert entry["sha256"] == browser_python._digest(b"a newer NumPy")


@pytest.mark.parametrize("change", ["a file more", "a file less", "another byte"])
def test_a_wheel_that_differs_from_its_record_is_refused(tmp_path, change):
    wheel = tmp_path / "numpy.whl"
    with (
        zipfile.ZipFile(next(own_copy().glob("numpy-*.whl"))) as given,
        zipfile.ZipFile(wheel, "w") as made,
    ):
        for name in given.namelist():
            if name == "numpy/version.py" and change == "a file less":
                continue
            more = b"#" if name == "numpy/version.py" and change == "another byte" else b""
            made.writestr(name, given.read(name) + more)
        if change == "a file more":
            made.writestr("numpy/more.py", "")
    with zipfile.ZipFile(wheel) as changed, pytest.raises(PythonError, match=r"RECORD lists: numpy/\w+\.py"):
        compare_with_record(changed)


@pytest.mark.skipif(sys.platform != "linux", reason="a small disk is made by bubblewrap")
def test_a_full_disk_is_one_sentence(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    small = ["bwrap", "--bind", "/", "/", "--dev", "/dev", "--size", str(5 * 2**20), "--tmpfs", str(disk)]
    done = subprocess.run([*small, sys.executable, "-c", FETCH, disk], capture_output=True, text=True)
    assert done.stderr.strip().splitlines()[-1].startswith("PythonError: the disk is full: make room"), done
