"""Answers that are alike beyond chance, and answers of improbable size: hints for a person to look, no proof.

Two answers are alike where their syntax trees are, up to names. Comments, layout, docstrings, type hints,
names of imports and the way a number is written do not count. What is like the released cell, like the model
answer, like one that the exercise knows, or like many of the class, is the natural way to write it.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import inspect
import json
import math
import re
import statistics
import textwrap
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

from posenc_course.exercises import Exercise
from posenc_course.grading.handed_in.submission import Cell

MOST_CHARACTERS = 10_000
"""Of an answer whose tree is looked at; a longer one is of improbable size anyway."""
MOST_NODES = 2_000
GIVEN = 15
"""Nodes of every tree that say nothing: the task itself asks for them."""
NODES_A_BIT = 4
"""So many nodes halve the chance that two learners write the same by themselves: a careful guess."""
MARGIN_BITS = 5
"""By chance alone, one class in 2 ** 5 has a pair that is listed."""
MANY = 0.2
"""Share of the class from which on a tree is the natural one."""
FEW = 3
"""So many are never the many, however small the class is."""
_IMPORT = re.compile(r"^[ \t]*((?:import|from)[ \t].{,200})$", re.MULTILINE)
TIMES = 10
"""How many times longer than usual an improbable answer is, and ..."""
LONG = 4_000
"""... how many characters it has at least: a hundred lines."""


@dataclass(frozen=True)
class Tree:
    """A syntax tree up to names."""

    digest: str
    nodes: int


@dataclass(frozen=True)
class Alike:
    """Learners some of whose answers are alike."""

    students: tuple[str, ...]
    exercises: tuple[str, ...]


@dataclass(frozen=True)
class Outsized:
    """An answer, or all other cells together, that is far longer than usual."""

    student: str
    exercise: str
    """Empty for the cells that are no answers."""
    lines: int
    characters: int
    usual: int
    """Characters."""


@dataclass(frozen=True)
class Answers:
    """What one learner wrote: trees and sizes, not the text."""

    student: str
    trees: Mapping[str, Tree]
    sizes: Mapping[str, tuple[int, int]]
    """Lines and characters by exercise; under "" of all other code cells together."""


def answers(student: str, cells: Iterable[Cell], exercises: Sequence[Exercise]) -> Answers:
    """The answers in a submission. An answer is looked for where it was released, and else by its name."""
    code = [each for each in cells if each.kind == "code"]
    aliases = imported(each.source for each in code)
    trees, sizes, own = {}, {}, set()
    for asked in exercises:
        defines = re.compile(rf"^(def {asked.function}\b|{asked.function} *=)", re.MULTILINE)
        found = [c for c in code if c.grade_id == asked.function] or [
            c for c in code if defines.search(c.source[:MOST_CHARACTERS])
        ]
        own |= {each.place for each in found}
        source = "\n".join(each.source for each in found)
        if found:
            sizes[asked.function] = _size(source)
        if (tree := tree_of(source, aliases)) is not None:
            trees[asked.function] = tree
    sizes[""] = _size("\n".join(each.source for each in code if each.place not in own))
    return Answers(student, trees, sizes)


def natural(exercises: Sequence[Exercise], *notebooks: Path) -> set[str]:
    """Digests of what nobody has to copy: cells of these notebooks, and answers that the exercises know."""
    sources = [source for path in notebooks for source in _cells_of(path)]
    aliases = imported(sources) | {"np": "numpy"}
    for asked in exercises:
        known = (asked.reference, *asked.alternatives, *(each.answer for each in asked.mistakes))
        sources += [source for each in known if (source := _source_of(each))]
    return {tree.digest for source in sources if (tree := tree_of(source, aliases))}


def alike(everyone: Sequence[Answers], known: set[str]) -> list[Alike]:
    """Groups of learners whose answers are alike beyond chance, those with most in common first."""
    groups: dict[tuple[str, Tree], list[int]] = defaultdict(list)
    for number, each in enumerate(everyone):
        for exercise, tree in each.trees.items():
            if tree.digest not in known and tree.nodes > GIVEN:
                groups[exercise, tree].append(number)
    evidence: dict[tuple[int, int], float] = defaultdict(float)
    shared: dict[tuple[int, int], list[str]] = defaultdict(list)
    for (exercise, tree), who in groups.items():
        if 2 <= len(who) <= max(FEW, MANY * len(everyone)):
            surprise = (tree.nodes - GIVEN) / math.cbrt(len(who) - 1)
            for pair in combinations(who, 2):
                evidence[pair] += surprise
                shared[pair].append(exercise)
    # The more pairs there are, the more of them are alike by chance.
    enough = NODES_A_BIT * (math.log2(len(everyone) ** 2 / 2) + MARGIN_BITS) if everyone else 0.0
    pairs = sorted((pair for pair in evidence if evidence[pair] >= enough), key=lambda p: -evidence[p])
    return [
        Alike(tuple(everyone[number].student for number in group), exercises)
        for group, exercises in _joined(pairs, shared)
    ]


def outsized(everyone: Sequence[Answers], model: Mapping[str, int]) -> list[Outsized]:
    """Answers that are far longer than the class's and the model's, the longest first.

    Args:
        model: characters of each released answer or model answer; under "" of the other cells.
    """
    lengths: dict[str, list[int]] = defaultdict(list)
    for each in everyone:
        for exercise, (_lines, characters) in each.sizes.items():
            lengths[exercise].append(characters)
    usual = {name: max(statistics.median(found), model.get(name, 0)) for name, found in lengths.items()}
    found = [
        Outsized(each.student, exercise, lines, characters, round(usual[exercise]))
        for each in everyone
        for exercise, (lines, characters) in each.sizes.items()
        if characters >= max(LONG, TIMES * usual[exercise])
    ]
    return sorted(found, key=lambda each: -each.characters)


# --- Trees -----------------------------------------------------------------------------------


def tree_of(source: str, aliases: Mapping[str, str]) -> Tree | None:
    """The tree of a cell; None where it is too long, or no Python."""
    if len(source) > MOST_CHARACTERS:
        return None
    plain = re.sub(r"^[ \t]*[%!].*$", "", source, flags=re.MULTILINE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(textwrap.dedent(plain))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    tokens = _tokens(module, aliases)
    if not 0 < len(tokens) <= MOST_NODES:
        return None
    digest = hashlib.sha256("\0".join(tokens).encode("utf-8", "replace"))
    return Tree(digest.hexdigest(), len(tokens))


def imported(sources: Iterable[str]) -> dict[str, str]:
    """From each imported name to what it stands for."""
    found: dict[str, str] = {}
    for source in sources:
        if len(source) <= MOST_CHARACTERS and "import" in source:
            for line in _IMPORT.findall(source):
                found |= _names_of(line)
    return found


@lru_cache(maxsize=10_000)
def _names_of(line: str) -> Mapping[str, str]:
    try:
        [statement] = ast.parse(line).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    if isinstance(statement, ast.Import):
        return {each.asname or each.name: each.name for each in statement.names}
    if isinstance(statement, ast.ImportFrom):
        return {each.asname or each.name: f"{statement.module}.{each.name}" for each in statement.names}
    return {}


def _tokens(module: ast.Module, aliases: Mapping[str, str]) -> list[str]:
    """One text a node, from the root down, without recursion: nobody chooses how deep this goes."""
    found: list[tuple[str, str]] = []
    bound: set[str] = set()
    waiting = _kept(module.body)[::-1]
    while waiting and len(found) <= MOST_NODES:
        node = _plain(waiting.pop())
        if isinstance(node, ast.Name | ast.Attribute) and (dotted := _dotted(node, aliases)):
            found.append((dotted, ""))
            continue
        kind, name = type(node).__name__, ""
        children: list[Any] = []
        for field in node._fields:
            value = getattr(node, field, None)
            if field in _IGNORED or value is None:
                continue
            if isinstance(value, str):
                name = value
            elif isinstance(value, list):
                kept = _kept(value)
                kind += f" {len(kept)}"
                children += sorted(kept, key=lambda each: each.arg or "") if field == "keywords" else kept
            elif isinstance(value, ast.AST):
                children.append(value)
        if isinstance(node, ast.Constant):
            kind += f" {_value(node.value)}"
            name = ""
        elif isinstance(node, ast.Attribute | ast.keyword):
            kind += f" {name}"
            name = ""
        elif name and not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)):
            bound.add(name)
        found.append((kind, name))
        waiting += reversed(children)
    # What a copy renames says nothing; Python's own names and those of libraries do.
    told = set(dir(builtins)) - bound
    return [f"{kind} {name}" if name in told else kind for kind, name in found]


_IGNORED = {"annotation", "returns", "ctx", "type_comment", "type_params", "kind"}


def _kept(nodes: list[Any]) -> list[Any]:
    """The nodes of a list without statements that do nothing to the answer."""
    return [each for each in nodes if isinstance(each, ast.AST) and not _is_trivial(each)]


def _dotted(node: ast.AST, aliases: Mapping[str, str]) -> str | None:
    """`numpy.arange`, however NumPy was imported."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name) and node.id in aliases:
        return ".".join([aliases[node.id], *reversed(parts)])
    return None


def _is_trivial(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        value = node.value
        prints = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print"
        return prints or isinstance(value, ast.Constant)
    if isinstance(node, ast.AnnAssign):
        return node.value is None
    return isinstance(node, ast.Pass | ast.Import | ast.ImportFrom)


def _plain(node: Any) -> Any:
    """`x: int = 1` as `x = 1`, and `x += 1` as `x = x + 1`."""
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return ast.Assign([node.target], node.value)
    if isinstance(node, ast.AugAssign):
        return ast.Assign([node.target], ast.BinOp(node.target, node.op, node.value))
    return node


def _value(value: object) -> str:
    """10000, 10_000 and 1e4 are one number."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = float(value) if abs(value) < 2**53 else hex(value)  # which has no limit of digits
    return repr(value)[:1000]


# --- The rest --------------------------------------------------------------------------------


def _joined(
    pairs: Sequence[tuple[int, int]], shared: Mapping[tuple[int, int], list[str]]
) -> Iterator[tuple[list[int], tuple[str, ...]]]:
    """Pairs that hang together, as one group each, with all that any two of it share."""
    leader: dict[int, int] = {}

    def lead(number: int) -> int:
        while leader.setdefault(number, number) != number:
            leader[number] = number = leader[leader[number]]
        return number

    for first, second in pairs:
        leader[lead(second)] = lead(first)
    groups: dict[int, tuple[set[int], dict[str, None]]] = {}
    for pair in pairs:
        members, exercises = groups.setdefault(lead(pair[0]), (set(), {}))
        members.update(pair)
        exercises.update(dict.fromkeys(shared[pair]))
    for members, exercises in groups.values():
        yield sorted(members), tuple(exercises)


def _size(source: str) -> tuple[int, int]:
    lines = [line for line in source.splitlines() if line.strip()]
    return len(lines), sum(map(len, lines))


def model_sizes(exercises: Sequence[Exercise], *notebooks: Path) -> dict[str, int]:
    """Characters of the longest of the released and the model answers; under "" of all other cells."""
    sizes: dict[str, int] = defaultdict(int)
    names = {asked.function for asked in exercises}
    for path in notebooks:
        rest = 0
        for name, source in _named_cells(path):
            characters = _size(source)[1]
            if name in names:
                sizes[name] = max(sizes[name], characters)
            else:
                rest += characters
        sizes[""] = max(sizes[""], rest)
    return sizes


def _cells_of(path: Path) -> list[str]:
    return [source for _name, source in _named_cells(path)]


def _named_cells(path: Path) -> Iterator[tuple[str, str]]:
    """The code cells of a notebook of the course; none where it is not there."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError, TypeError):
        return
    for cell in cells:
        if cell.get("cell_type") == "code":
            name = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id", "")
            yield name, "".join(cell["source"])


def _source_of(function: Callable[..., Any]) -> str:
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return ""
