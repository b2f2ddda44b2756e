"""Where the whole notebook of an exercise page can be opened, and the site's JupyterLite that opens it.

JupyterLite is Jupyter in the browser, with the same Pyodide and the same wheel of ours as the pages have. It
is made anew when something of it changed. `book/lite/` holds what is set in it.

`sphinx.config` of _config.yml says where else a notebook can be opened; what is not set has no button:

    posenc_repository: https://github.com/owner/name    Colab; it must be on GitHub
    posenc_branch: main                                 the branch to take the notebooks from
    posenc_binder: https://mybinder.org                 Binder, of the same repository; it opens chapters, too
    posenc_jupyterhub: https://hub.example.org          the class's own JupyterHub
    posenc_lite: false                                  to leave JupyterLite out
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import distribution, version
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, urlencode

import nbformat
from docutils import nodes
from jupyter_server import DEFAULT_STATIC_FILES_PATH
from nbformat import NotebookNode
from quiz import link
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError
from tags import Tag

from posenc_course.exercises import BESIDE, exercise
from posenc_course.grading.release import CHECK_CALL
from posenc_course.translation import N_, _

IMPORTS_TORCH = re.compile(r"^\s*(import|from) torch\b", re.MULTILINE)
CHAPTER = re.compile(r"book/\d\d-")
FOLDER = "_static/lite"
APPS = ("notebooks", "tree")
GITHUB = "https://github.com/"
NEEDS_TORCH = N_("# Needs PyTorch: passed over in a browser, which does not have it.")
"""The first line of such a cell; book/lite/first_cell.ipy looks for it."""
OF_FIRST_CELL = (
    NEEDS_TORCH,
    N_("# In a browser, this brings the course's library and passes over cells that need PyTorch."),
    N_("# Elsewhere it does nothing."),
    N_(
        "This cell needs PyTorch, which a browser does not have. Run it in Jupyter on your own machine. When "
        "it has passed there, mark it in its chapter as passed."
    ),
)
"""What book/lite/first_cell.ipy says."""


@dataclass(frozen=True)
class WayIn:
    """A way to open a notebook."""

    name: str
    uri: str
    about: str
    beside: bool = True
    """Whether it opens in a tab of its own, so that the page stays with what was written in it."""


def ways_in(config: Config, docname: str) -> Iterator[WayIn]:
    """Of one exercise page, the nearest first."""
    up = "../" * docname.count("/")
    file = f"{docname}.ipynb"
    at_hand = f"{up}{FOLDER}/notebooks/index.html?{urlencode({'path': PurePosixPath(file).name})}"
    if config.posenc_lite:
        about = _("Opens in a new tab of this browser, with nothing to install.")
        yield WayIn(_("Open the whole notebook"), at_hand, about)
    about = _("Saves the notebook for Jupyter on your machine.")
    yield WayIn(_("Download"), f"{up}_sources/{file}", about, beside=False)
    if repository := _name_of(config.posenc_repository):
        uri = (
            f"https://colab.research.google.com/github/{repository}/blob/{quote(config.posenc_branch)}/{file}"
        )
        yield WayIn(_("Open in Colab"), uri, _("Opens on a machine of Google's; you need an account there."))
    if config.posenc_binder:
        yield in_binder(config, file)
    if config.posenc_jupyterhub:
        uri = f"{config.posenc_jupyterhub.rstrip('/')}/hub/user-redirect/lab"
        about = _("Opens your class's server. Fetch the assignment there.")
        yield WayIn(_("Open your JupyterHub"), uri, about)


def in_binder(config: Config, file: str) -> WayIn:
    """A notebook of the repository, or a chapter: `.binder/` sees to it that this opens as a notebook."""
    repository, branch = _name_of(config.posenc_repository), quote(config.posenc_branch, safe="")
    query = urlencode({"urlpath": f"lab/tree/{file}"})
    uri = f"{config.posenc_binder.rstrip('/')}/v2/gh/{repository}/{branch}?{query}"
    return WayIn(_("Open in Binder"), uri, _("Opens on a borrowed machine; it takes minutes to start."))


def _name_of(repository: str) -> str:
    return repository.removeprefix(GITHUB).strip("/")


def _add_buttons(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """A row of links below the title of an exercise page."""
    title = next(doctree.findall(nodes.title), None)
    if app.builder.format != "html" or docname not in exercise_pages(app) or title is None:
        return
    row = Tag.make("p", {"class": "posenc-open"})
    for way in ways_in(app.config, docname):
        row += [_anchor(way), nodes.Text(" ")]
    read_only = _(
        "On this page you can read the exercises. Open the notebook or download it to write and check your "
        "answers; most of them can be answered in the chapter itself, too."
    )
    if docname.rpartition("/")[2] in BESIDE:
        read_only = _("On this page you can read what is asked. Open the notebook or download it to answer.")
    added = [row, Tag.make("p", {}, read_only)]
    if app.config.posenc_repository:
        added.append(_install_note(app.config.posenc_repository))
    title.parent[1:1] = added


def _add_binder(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """A link below the title of a chapter, whose cells can be run there."""
    title = next(doctree.findall(nodes.title), None)
    if app.builder.name == "html" and CHAPTER.match(docname) and app.config.posenc_binder and title:
        way = in_binder(app.config, f"{docname}.md")
        title.parent.insert(1, Tag.make("p", {"class": "posenc-elsewhere"}, _anchor(way)))


def _anchor(way: WayIn) -> Tag:
    anchor = link(way.uri, way.name)
    anchor["attributes"] |= {"title": way.about}
    if way.beside:
        anchor["attributes"] |= {"target": "_blank", "rel": "noopener"}
    return anchor


def _install_note(repository: str) -> Tag:
    """Colab has PyTorch, and not this library."""
    address = f"git+{repository.rstrip('/')}"
    course = f'"posenc_course @ {address}#subdirectory=posenc_course"'
    command = f'%pip install "posenc_lib[torch] @ {address}" {course}'
    sentence = _("In Colab, run this in a cell of its own first:")
    return Tag.make("p", {"class": "posenc-first"}, sentence + " ", Tag.make("code", {}, command))


def _pass_over(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Lead from chapter to chapter by "previous" and "next": the notebooks' pages are beside the way."""
    html: Any = app.builder
    for way, which in (("prev", 1), ("next", 2)):
        docname, pages = pagename, exercise_pages(app)
        while (docname := html.relations.get(docname, (None, None, None))[which]) in pages:
            pass
        if docname:
            title = html.render_partial(app.env.titles[docname])["title"]
            context[way] = {"link": app.builder.get_relative_uri(pagename, docname), "title": title}
        else:
            context[way] = None


def exercise_pages(app: Sphinx) -> list[str]:
    """Their names, in order: `exercises/02-the-formula/02-the-formula`."""
    return sorted(name for name in app.env.found_docs if name.startswith("exercises/"))


# JupyterLite


def for_browser(notebook: NotebookNode, first: str) -> NotebookNode:
    """A learner's notebook with `first` as its first cell, and what needs PyTorch marked.

    The cells are all there, so that a notebook that is saved in the browser can be handed in.
    """
    for section in sections(notebook.cells):
        if any(map(_needs_torch, section)):
            for cell in section:
                if cell.cell_type == "code":
                    cell.source = f"{_(NEEDS_TORCH)}\n{cell.source}"
    notebook.metadata.language_info = {"name": "python"}  # by it, the kernel is found without asking
    notebook.cells.insert(0, nbformat.v4.new_code_cell(first, id="browser"))
    return notebook


def sections(cells: list[NotebookNode]) -> list[list[NotebookNode]]:
    """The cells under each heading, with it."""
    found: list[list[NotebookNode]] = [[]]
    for cell in cells:
        if cell.cell_type == "markdown" and cell.source.startswith("#"):
            found.append([])
        found[-1].append(cell)
    return found


def _needs_torch(cell: NotebookNode) -> bool:
    asked = CHECK_CALL.search(cell.source)
    if cell.cell_type == "code" and asked and exercise(asked["id"]).array_library == "torch":
        return True
    return cell.cell_type == "code" and IMPORTS_TORCH.search(cell.source) is not None


def _build(app: Sphinx, exception: Exception | None) -> None:
    pages = exercise_pages(app)
    if exception or app.builder.name != "html" or not pages or not app.config.posenc_lite:
        return
    root, to = Path(app.srcdir), Path(app.outdir) / FOLDER
    [library] = (root / "_build" / "wheel").glob("*.whl")
    texts = [root / f"{page}.ipynb" for page in pages]
    inputs = [library, *sorted((root / "book" / "lite").iterdir()), *texts, Path(__file__)]
    settings = _settings(app.config)
    said = "".join(map(_, OF_FIRST_CELL))
    digest = hashlib.sha256(f"{settings}{said}{version('jupyterlite-core')}".encode())
    for file in inputs:
        digest.update(file.read_bytes())
    stamp = to / "made-from.sha256"
    if stamp.exists() and stamp.read_text() == digest.hexdigest():
        return
    shutil.rmtree(to, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        contents = Path(work) / "contents"
        contents.mkdir()
        first = (root / "book" / "lite" / "first_cell.ipy").read_text().rstrip()
        for each in OF_FIRST_CELL:
            first = first.replace(each, _(each))
        for page in pages:
            notebook = for_browser(nbformat.read(root / f"{page}.ipynb", as_version=4), first)
            nbformat.write(notebook, contents / f"{PurePosixPath(page).name}.ipynb")
        (Path(work) / "jupyter-lite.json").write_text(settings)
        shutil.copy(root / "book" / "lite" / "overrides.json", work)
        _run_lite(Path(work), contents, [library, installed_wheel("comm", Path(work))], to)
        _place_icons(to)
    stamp.write_text(digest.hexdigest())


def _run_lite(work: Path, contents: Path, wheels: list[Path], to: Path) -> None:
    kernel = Path(sys.prefix) / "share/jupyter/labextensions/@jupyterlite/pyodide-kernel-extension"
    command = [sys.executable, "-m", "jupyterlite_core", "build", "--lite-dir", work, "--contents", contents]
    command += ["--output-dir", to, "--no-sourcemaps", "--no-unused-shared-packages"]
    # Of all extensions that are installed, the kernel alone.
    command += ["--ignore-sys-prefix", f"--LiteBuildConfig.federated_extensions={[str(kernel)]}"]
    command += [part for app in APPS for part in ("--apps", app)]
    command += [part for wheel in wheels for part in ("--piplite-wheels", wheel)]
    done = subprocess.run(list(map(str, command)), cwd=work, capture_output=True, text=True)
    if done.returncode:
        raise ConfigError(f"JupyterLite could not be built:\n{done.stdout}\n{done.stderr}")


def _place_icons(to: Path) -> None:
    """What a notebook shows in its tab, idle and busy: it asks for these, and JupyterLite lacks them."""
    icons = to / "static" / "favicons"
    icons.mkdir(parents=True)
    for name in ("favicon-notebook.ico", "favicon-busy-1.ico"):
        shutil.copy(Path(DEFAULT_STATIC_FILES_PATH) / "favicons" / name, icons)
    for app in APPS:
        page = to / app / "index.html"
        named = page.read_text().replace("<head>", '<head><link rel="icon" href="favicon.ico">', 1)
        page.write_text(named)


def installed_wheel(name: str, to: Path) -> Path:
    """An installed package of plain Python as a wheel again. The kernel needs one that no Pyodide has."""
    found = distribution(name)
    wheel = to / f"{name}-{found.version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in found.files or []:
            if file.suffix != ".pyc" and file.name not in ("INSTALLER", "REQUESTED", "direct_url.json"):
                archive.writestr(zipfile.ZipInfo(str(file)), file.read_binary())
    return wheel


def _settings(config: Config) -> str:
    """jupyter-lite.json, with the Pyodide that the pages have."""
    settings = json.loads((Path(__file__).parent.parent / "lite" / "jupyter-lite.json").read_text())
    beside = "./../../../_static/" if config.posenc_english else "./../"  # the editions share one Pyodide
    folder = re.sub("^_static/", beside, config.posenc_pyodide)
    data = settings["jupyter-config-data"]
    data["appName"] = config.project
    plugin = data["litePluginSettings"]["@jupyterlite/pyodide-kernel-extension:kernel"]
    plugin["pyodideUrl"] = f"{folder}pyodide.js"  # its worker cannot import modules
    return json.dumps(settings)


def _check_settings(app: Sphinx, config: Config) -> None:
    given = config.posenc_repository
    if given and not (given.startswith(GITHUB) and given.removeprefix(GITHUB).strip("/").count("/") == 1):
        raise ConfigError(
            f"posenc_repository is {given!r}; give the address of a repository on GitHub, as "
            f"{GITHUB}owner/name, or leave it out"
        )
    if config.posenc_binder and not given:
        raise ConfigError("posenc_binder needs posenc_repository, the repository that Binder is to open")


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("live_exercise")  # it says where Pyodide is
    app.setup_extension("quiz")  # it has taught Sphinx the tags
    for name, default in {"repository": "", "branch": "main", "binder": "", "jupyterhub": ""}.items():
        app.add_config_value(f"posenc_{name}", default, "html", [str])
    app.add_config_value("posenc_lite", True, "html", [bool])
    app.add_css_file("whole_notebook.css")
    app.connect("config-inited", _check_settings)
    app.connect("doctree-resolved", _add_buttons)
    app.connect("doctree-resolved", _add_binder)
    app.connect("html-page-context", _pass_over)
    app.connect("build-finished", _build)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
