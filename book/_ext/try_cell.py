"""Cells of a chapter that can be run and changed in the page.

`book/web` puts "Try it" on each code cell that a page's Python can run, after all that stands above it,
hidden cells too. `in_page` says which those are: it follows what each statement imports and uses. A cell that
needs PyTorch, say, tells so, and offers the chapter as a notebook. With `make serve`, this machine's Python
is behind the page and runs it (`book/server.py`).
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import symtable
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from docutils import nodes
from live_exercise import python_of
from predict import REASON
from quiz import chapter_of, link
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from tags import Tag

from book.predictions import MARK, NUMBER
from posenc_course.translation import _

logger = logging.getLogger(__name__)

CHAPTER = re.compile(r"book/\d\d-")
FOLDERS = {"cells": "_static/cells", "notebooks": "_static/chapters"}
QUESTIONS = re.compile(
    r"^(?P<fence>`{3,})\{(?P<what>predict|quiz)\}[^\n]*\n(?P<body>.*?)^(?P=fence)$", re.M | re.S
)

OURS, PICTURES = {"posenc_lib", "posenc_course"}, "matplotlib"
HERE = {"numpy", *OURS, *sys.stdlib_module_names}
COMES_WITH_PICTURES = {"cycler"}
NOT_IN_THE_WHEEL = {
    "posenc_lib.nn": "torch",
    "posenc_course.grading": "torch",
    "posenc_course.experiments": "results",
}

Needs = frozenset[str]


# --- What a cell needs ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """A cell, and what of it can run in a page before another cell does."""

    source: str
    needs: Needs
    """What a page lacks, or loads only when asked: names of packages."""
    plain: str
    """Without assertions, and without all that needs something."""
    drawn: str
    """The same, and with what draws, but for the pictures themselves."""


@dataclass
class Name:
    """What is known of a name of the page."""

    needs: Needs = frozenset()
    reads: set[str] = field(default_factory=set)
    """Of a function or a class: other names that it looks up when it is used."""
    imported: bool = False


def in_page(sources: list[str]) -> list[Cell]:
    """The code cells of a page, in order, with what each needs."""
    known: dict[str, Name] = {}
    return [_cell(source, known) for source in sources]


def _cell(source: str, known: dict[str, Name]) -> Cell:
    everything: set[str] = set()
    plain, drawn = [], []
    for statement in _statements(source):
        needs = _needs(statement, known)
        everything |= needs
        shows_only = isinstance(statement, ast.Assert | ast.Expr)
        text = ast.unparse(statement)
        if not needs and not isinstance(statement, ast.Assert):
            plain.append(text)
            drawn.append(text)
        elif needs == {PICTURES} and not shows_only:
            drawn.append(text)
    return Cell(source, frozenset(everything), "\n".join(plain), "\n".join(drawn))


def _statements(source: str) -> Iterator[ast.stmt]:
    """Of a cell; an import of several names is several."""
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Import):
            yield from (ast.Import([alias]) for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            yield from (ast.ImportFrom(statement.module, [a], statement.level) for a in _brought(statement))
        else:
            yield statement


def _brought(statement: ast.ImportFrom) -> list[ast.alias]:
    """What an import brings; of our modules, `*` is spelt out."""
    module = statement.module or ""
    if statement.names[0].name != "*" or module.partition(".")[0] not in OURS:
        return statement.names
    return [ast.alias(name) for name in sorted(import_module(module).__all__)]


def _needs(statement: ast.stmt, known: dict[str, Name]) -> Needs:
    """Of one statement; notes what the names that it binds need from then on."""
    reads, binds = _names(statement)
    if isinstance(statement, ast.Import | ast.ImportFrom):
        needs = _of_import(statement)
        known.update({name: Name(needs, imported=True) for name in binds})
        return needs
    inside = {node for node in ast.walk(statement) if isinstance(node, ast.Import | ast.ImportFrom)}
    needs = frozenset().union(*(_of_name(name, known, set()) for name in reads), *map(_of_import, inside))
    later = isinstance(statement, ast.FunctionDef | ast.ClassDef)
    known.update({name: Name(needs, reads if later else set()) for name in binds})
    if needs:
        for name in _changed(statement) - binds:
            if name in known and not known[name].imported:
                known[name].needs |= needs
    return needs


def _of_name(name: str, known: dict[str, Name], seen: set[str]) -> Needs:
    if name in seen or name not in known:
        return frozenset()
    found = known[name]
    return found.needs.union(*(_of_name(each, known, seen | {name}) for each in found.reads))


def _names(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """The names of the page that a statement reads, and those that it binds."""
    copy = ast.parse(ast.unparse(statement))
    table = symtable.symtable(ast.unparse(_Generators().visit(copy)), "cell", "exec")
    reads = {s.get_name() for s in table.get_symbols() if s.is_referenced()}
    binds = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}
    inner = list(table.get_children())
    for each in inner:  # it grows while we walk it
        inner += each.get_children()
        reads |= {s.get_name() for s in each.get_symbols() if s.is_global() and s.is_referenced()}
    return reads, binds


class _Generators(ast.NodeTransformer):
    """Makes a generator of each comprehension: the names of that are always its own.

    From Python 3.12 on (PEP 709) those of a list, a set or a dict stand in the table of what is around it.
    """

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp) -> ast.GeneratorExp:
        self.generic_visit(node)
        return ast.GeneratorExp(node.elt, node.generators)

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> ast.GeneratorExp:
        self.generic_visit(node)
        return ast.GeneratorExp(ast.Tuple([node.key, node.value], ast.Load()), node.generators)


def _changed(statement: ast.stmt) -> set[str]:
    """Names of what a statement may change and does not bind: x[0] = ..., x.a = ..., x.append(...)."""
    found = set()
    for node in ast.walk(statement):
        root: ast.AST = node
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            root = node.value.func
        elif not (isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store)):
            continue
        while isinstance(root, ast.Subscript | ast.Attribute):
            root = root.value
            if isinstance(root, ast.Name):
                found.add(root.id)
    return found


def _of_import(statement: ast.Import | ast.ImportFrom) -> Needs:
    [alias] = statement.names if len(statement.names) == 1 else [None]
    if isinstance(statement, ast.Import):
        return frozenset().union(*(_of_module(each.name) for each in statement.names))
    module = statement.module or ""
    if module.partition(".")[0] not in OURS or alias is None:
        return _of_module(module)
    inner = f"{module}.{alias.name}"
    home = getattr(getattr(__import__(module, fromlist=[alias.name]), alias.name), "__module__", None)
    return _of_module(inner) if find_spec_of(inner) else _of_module(home or module) | _of_module(module)


@cache
def find_spec_of(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _of_module(module: str) -> Needs:
    root = module.partition(".")[0]
    if root not in OURS:
        return frozenset() if root in HERE | COMES_WITH_PICTURES else frozenset({root})
    return _of_ours(module)


@cache
def _of_ours(module: str) -> Needs:
    """What a module of the library imports at its top, and what that imports.

    What it imports inside a function it has use for only where somebody gives it a tensor.
    """
    found: set[str] = set()
    of_ours = [module]
    for each in of_ours:  # it grows while we walk it
        if lacking := _lacks(each):
            found.add(lacking)
            continue
        for imported in _imported_by(each):
            if imported.partition(".")[0] not in OURS:
                found |= _of_module(imported)
            elif imported not in of_ours:
                of_ours.append(imported)
    return frozenset(found)


def _lacks(module: str) -> str | None:
    """The package without which a part of the library is not in the wheel."""
    parts = (lacking for part, lacking in NOT_IN_THE_WHEEL.items() if f"{module}.".startswith(f"{part}."))
    return next(parts, None)


@cache
def _imported_by(module: str) -> list[str]:
    """The modules that a module of the library imports at its top; none of a package."""
    spec = find_spec(module)
    if spec is None or spec.origin is None or spec.origin.endswith("__init__.py"):
        return []
    found: list[str] = []
    for node in _imports(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))):
        names = [each.name for each in node.names]
        if isinstance(node, ast.Import):
            found += names
            continue
        home = node.module or ""
        inner = [f"{home}.{name}" for name in names] if home.partition(".")[0] in OURS else []
        found += [each if find_spec_of(each) else home for each in inner] or [home]
    return found


def _imports(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Those that run when a module is imported."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If | ast.Try) and "TYPE_CHECKING" not in ast.dump(node):
            yield from _imports(node)


# --- The page -------------------------------------------------------------------------------------


def digest(source: str) -> str:
    """What a reader's changes hang on: a cell that is another one in the next edition has none."""
    return hashlib.sha256(source.encode()).hexdigest()[:8]


def _named(cells: list[Cell]) -> list[str]:
    """A name for each; of two that say the same, the later ones are numbered."""
    digests = [digest(cell.source) for cell in cells]
    earlier = [digests[:place].count(each) for place, each in enumerate(digests)]
    return [f"{each}-{count}" if count else each for each, count in zip(digests, earlier, strict=True)]


class OfferCells(SphinxPostTransform):
    default_priority = (
        197  # before MyST-NB folds cells, and before code is folded until an exercise has passed
    )

    def run(self, **kwargs: object) -> None:
        page = self.env.docname
        if self.app.builder.name != "html" or not CHAPTER.match(page):
            return
        notebook = jupytext.read(self.env.doc2path(page))
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        cells = in_page([cell.source for cell in code])
        names = _named(cells)
        notebook_uri = self._write(
            "notebooks", f"{chapter_of(page)}.ipynb", nbformat.writes(_for_jupyter(notebook))
        )
        self._mark(cells, names, notebook_uri)
        listed = [
            {"id": name, "whole": cell.source, "plain": cell.plain, "drawn": cell.drawn}
            | {"packages": sorted(cell.needs)}
            for name, cell in zip(names, cells, strict=True)
        ]
        uri = self._write("cells", f"{chapter_of(page)}.json", json.dumps(listed))
        data = python_of(self.app) | {
            "data-cells": f"{uri}?v={digest(json.dumps(listed))}",
            "data-chapter": chapter_of(page),
            "data-notebook": notebook_uri,
            "data-pictures": "yes" if self.app.config.posenc_pictures else "no",
        }
        self.document += Tag.make("div", {"class": "posenc-trials", "hidden": "", **data})

    def _write(self, what: str, name: str, text: str) -> str:
        """Beside the page; returns its address from there."""
        folder = Path(self.app.outdir) / FOLDERS[what]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
        return f"{'../' * self.env.docname.count('/')}{FOLDERS[what]}/{name}"

    def _mark(self, cells: list[Cell], names: list[str], notebook: str) -> None:
        """Each cell whose code is seen: as one to try, or as one for the notebook."""
        at = 0
        for place in list(self.document.findall(nodes.container)):
            if place.get("nb_element") != "cell_code" or not place.children:
                continue
            source = place[0]
            if source.get("nb_element") != "cell_code_source":
                continue
            text = source.astext().strip()
            at = next(i for i in range(at, len(cells)) if cells[i].source.strip() == text)
            source["ids"].append(f"cell-{names[at]}")
            source["classes"] += ["posenc-draws"] if PICTURES in cells[at].needs else []
            if lacking := cells[at].needs - {PICTURES}:
                source["classes"].append("posenc-elsewhere-cell")
                source += _not_here(lacking, notebook)
            else:
                source["classes"].append("posenc-tryable")
            at += 1


def _not_here(lacking: Needs, notebook: str) -> Tag:
    if "torch" in lacking:
        said = _("This cell needs PyTorch, which a browser does not have.")
    else:
        said = _("This cell needs more than a page has.")
    get = link(notebook, _("Run it in the chapter's notebook"))
    get["attributes"] |= {"download": ""}
    return Tag.make("p", {"class": "posenc-not-here"}, f"{said} ", get)


def _for_jupyter(notebook: Any) -> Any:
    """Without what steers the build of the page, and without the answers to its questions."""
    for cell in notebook.cells:
        cell.metadata.pop("tags", None)
        if cell.cell_type == "markdown":
            cell.source = QUESTIONS.sub(_question_alone, cell.source)
    return notebook


def _question_alone(found: re.Match[str]) -> str:
    """Jupyter shows a directive as it is written: what is asked, and neither mark, nor reason, nor number."""
    if found["what"] == "quiz":
        return _("The chapter's page has this quiz, and marks your answers.")
    lines = [MARK.sub("", line, count=1) for line in found["body"].splitlines()]
    asked = [each for each in lines if not NUMBER.fullmatch(each) and not each.strip().startswith(REASON)]
    return "\n\n".join(["**" + _("Predict") + "**", "\n".join(asked).strip()])


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("live_exercise")
    app.add_post_transform(OfferCells)
    app.add_css_file("try-cell.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
