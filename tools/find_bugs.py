"""Bugs for "find the bug in three minutes": one slip in a right solution, which the judge names.

    python -m tools.find_bugs         # for every chapter that has too few
    python -m tools.find_bugs 08      # anew for the chapters that begin so

A slip changes a few words of one line, as people do who are in a hurry: another operator, a number one
higher, a part left out, two names mixed up. It is kept where the judge rejects it and knows the mistake by
name. The result, posenc_course/challenges/bugs.json, is committed.
"""

from __future__ import annotations

import argparse
import ast
import json
import warnings
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import jupytext

from posenc_course.challenges import bugs
from posenc_course.checking import judge, run
from posenc_course.exercises import Exercise, all_exercises, exercise
from tools.mutants import defines, limited

ROOT = Path(__file__).resolve().parents[1]
RESULT = Path(bugs.__file__).with_suffix(".json")
ENOUGH = 20
"""Bugs of a chapter."""
PER_EXERCISE = 7
PER_MISTAKE = 2
"""Of an exercise: the same mistake can be made in several ways."""

OPERATORS = {
    ast.Add: ("-",),
    ast.Sub: ("+",),
    ast.Mult: ("/",),
    ast.Div: ("*", "//"),
    ast.FloorDiv: ("/", "%"),
    ast.Mod: ("//",),
    ast.Pow: ("*",),
    ast.BitOr: ("&",),
    ast.BitAnd: ("|",),
}
COMPARISONS = {
    ast.Lt: ("<=", ">"),
    ast.LtE: ("<", ">="),
    ast.Gt: (">=", "<"),
    ast.GtE: (">", "<="),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
}
NAMES = [
    *(("cos", "sin"), ("minimum", "maximum"), ("argmin", "argmax"), ("min", "max"), ("any", "all")),
    *(("floor", "ceil"), ("floor", "rint"), ("log", "log2"), ("log", "log10"), ("tril", "triu")),
    *(("zeros", "ones"), ("sum", "mean"), ("exp", "exp2"), ("real", "imag"), ("argsort", "sort")),
]
LOOK_ALIKES: dict[str, list[str]] = {}
for one, other in NAMES:
    LOOK_ALIKES.setdefault(one, []).append(other)
    LOOK_ALIKES.setdefault(other, []).append(one)


# --- The solutions ---------------------------------------------------------------------------------


@cache
def cells(chapter: str) -> list[str]:
    notebook = jupytext.read(ROOT / "solutions" / f"{chapter}.md")
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return [each for each in code if not each.startswith("check(")]


@cache
def solution(exercise_id: str) -> tuple[str, int]:
    """The cell with the answer, without nbgrader's marks, and its place."""
    asked = exercise(exercise_id)
    place, cell = next((n, c) for n, c in enumerate(cells(asked.chapter)) if defines(c, asked.function))
    return "\n".join(line for line in cell.split("\n") if "### " not in line), place


@cache
def names_before(exercise_id: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells(exercise(exercise_id).chapter)[: solution(exercise_id)[1]]:
        exec(cell, names)
    return names


def report(exercise_id: str, code: str) -> Any:
    """What the judge says of this code."""
    asked, names = exercise(exercise_id), dict(names_before(exercise_id))
    exec(code, names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return judge(asked, run(names[asked.function], asked.cases(0), asked.array_library), seed=0)


# --- Slips -----------------------------------------------------------------------------------------


def slips(source: str) -> Iterator[tuple[str, str]]:
    """Pairs of words: those that stand once in the source, and what stands there instead."""
    seen = {source}
    # Names mixed up come last: the same mistake made in another way is better.
    for node in sorted(ast.walk(ast.parse(source)), key=lambda node: isinstance(node, ast.FunctionDef)):
        for start, end, new in _changes(node, source):
            changed = source[:start] + new + source[end:]
            if "\n" not in source[start:end] + new and changed not in seen:
                seen.add(changed)
                yield _unique_words(source, start, end, new)


def _changes(node: ast.AST, source: str) -> Iterator[tuple[int, int, str]]:
    """Where the text changes, and to what."""

    def place(part: Any) -> tuple[int, int]:
        return _at(source, part.lineno, part.col_offset), _at(source, part.end_lineno, part.end_col_offset)

    def text(part: Any) -> str:
        return source[slice(*place(part))]

    match node:
        case ast.BinOp(left=left, op=op, right=right):
            between = place(left)[1], place(right)[0]
            for sign in OPERATORS.get(type(op), ()):
                gap = source[slice(*between)]
                spaced = gap.strip(" ()")
                yield *between, gap.replace(spaced, sign, 1)
            for part in (left, right):
                yield *place(node), text(part)
            if isinstance(op, ast.Sub):
                yield *place(node), f"{text(right)} - {text(left)}"
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            between = place(left)[1], place(right)[0]
            for sign in COMPARISONS.get(type(op), ()):
                gap = source[slice(*between)]
                yield *between, gap.replace(gap.strip(" ()"), sign, 1)
        case ast.Call(func=func, args=args, keywords=keywords):
            if len(args) == 1 and not keywords:
                yield *place(node), text(args[0])
            if len(args) == 3 and text(func).endswith("where"):
                _, chosen, other = args
                yield place(chosen)[0], place(other)[1], f"{text(other)}, {text(chosen)}"
                yield *place(node), text(chosen)
                yield *place(node), text(other)
            for keyword in keywords:
                if isinstance(keyword.value, ast.Name | ast.Attribute | ast.Constant) and args:
                    yield place(args[-1])[1], place(keywords[-1])[1], ""
        case ast.Attribute(value=value, attr=name):
            for alike in LOOK_ALIKES.get(name, ()):
                yield place(node)[1] - len(name), place(node)[1], alike
            if name in {"T", "mT", "real", "conj"}:
                yield place(value)[1], place(node)[1], ""
        case ast.IfExp(body=chosen, orelse=other):
            yield *place(node), text(chosen)
            yield *place(node), text(other)
        case ast.UnaryOp(operand=operand):
            yield *place(node), text(operand)
        case ast.Constant(value=bool(truth)):
            yield *place(node), str(not truth)
        case ast.Constant(value=int(number)):
            yield *place(node), str(number + 1)
            yield *place(node), str(number - 1)
        case ast.FunctionDef(args=ast.arguments(args=parameters)):
            names = [each.arg for each in parameters]
            for used in ast.walk(node):
                if isinstance(used, ast.Name) and isinstance(used.ctx, ast.Load) and used.id in names:
                    for mixed_up in names:
                        yield *place(used), mixed_up


def _at(source: str, line: int, column: int) -> int:
    """Of a place as Python counts it, in bytes of a line, the place in the text."""
    lines = source.split("\n")
    before = lines[line - 1].encode()[:column].decode()
    return sum(len(each) + 1 for each in lines[: line - 1]) + len(before)


def _unique_words(source: str, start: int, end: int, new: str) -> tuple[str, str]:
    """The change with as many neighbours as make its words stand once: whole words, not beyond their line."""
    first, last = source.rfind("\n", 0, start) + 1, source.find("\n", end) % (len(source) + 1)
    left, right = start, end
    while left > first and _in_word(source, left):
        left -= 1
    while right < last and _in_word(source, right):
        right += 1
    while source.count(source[left:right]) > 1 or not source[left:right].strip():
        if right < last:
            right += 1
            while right < last and _in_word(source, right):
                right += 1
        elif left > first:
            left -= 1
        else:
            break  # the line stands twice
    return source[left:right], source[left:start] + new + source[end:right]


def _in_word(source: str, at: int) -> bool:
    return all(each.isidentifier() or each.isdigit() or each == "." for each in source[at - 1 : at + 1])


# --- Those that are named --------------------------------------------------------------------------


def named(asked: Exercise) -> Iterator[tuple[str, str]]:
    """Slips of the solution whose mistake the judge names, one of each mistake before a second one."""
    right, _ = solution(asked.id)
    found: dict[str, list[tuple[str, str]]] = {}
    for words, instead in slips(right):
        if right.count(words) != 1:
            continue
        told = limited(partial(report, asked.id, right.replace(words, instead)))
        if told is not None and not told.passed and told.mistake is not None:
            found.setdefault(told.mistake.name, []).append((words, instead))
    for turn in range(PER_MISTAKE):
        yield from (ways[turn] for ways in found.values() if len(ways) > turn)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("chapter", nargs="?", help="the beginning of a chapter's name")
    wanted = parser.parse_args().chapter
    kept: dict[str, list[Any]] = json.loads(RESULT.read_text(encoding="utf-8"))
    counts = {each.chapter: 0 for each in all_exercises()}
    for name, pairs in kept.items():
        counts[name.split(".")[0]] += len(pairs)
    for chapter, count in counts.items():
        if chapter.startswith(wanted) if wanted else count < ENOUGH:
            for asked in (each for each in all_exercises() if each.chapter == chapter):
                if asked.in_page and asked.kind == "function":
                    kept[asked.id] = list(named(asked))[:PER_EXERCISE]
                    print(f"{asked.id:48} {len(kept[asked.id])}")
    lines = []
    for each in all_exercises():
        if bugs_of := kept.get(each.id):
            listed = ",\n".join("  " + json.dumps(pair, ensure_ascii=False) for pair in bugs_of)
            lines.append(f" {json.dumps(each.id)}: [\n{listed}\n ]")
    RESULT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
