"""Does the judge notice a small change of a right answer? Mutation testing of the exercises.

    python -m tools.mutants            # those that changed since; each result is kept at once
    python -m tools.mutants 02         # those of one chapter, shown only

Every right answer that there is (the solution in the text, the reference, the alternatives) is changed by
cosmic-ray's operators, one at a time: another operator, a number one higher or lower, a comparison the other
way. A mutant that gives other results than the original must be rejected by the judge. One that gives the
same on the cases of `SEEDS` is equivalent, and does not count.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import inspect
import io
import json
import resource
import signal
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import jupytext
import numpy as np
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.provider import OperatorProvider
from tqdm import tqdm

from posenc_course.checking import Outcome, judge, run
from posenc_course.exercises import Exercise, all_exercises, exercise

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "tests" / "exercises" / "mutants.json"
GOAL = 0.95
SEEDS = range(8)
SECONDS = 5  # for all cases of one seed; a mutant that takes longer is rejected, as in grading
MEMORY = 8 * 2**30
SAME = 1e-7  # relative; results nearer to each other than this are the same
# They change no result, or need arguments.
PASSED_OVER = {
    "RemoveDecorator",
    "ExceptionReplacer",
    "VariableReplacer",
    "VariableInserter",
    "KeywordReplacer",
}
# Of posenc_course/checking: what decides whether an answer passes. The others say why it does not.
DECIDES = ("differences.py", "judge.py", "kinds.py", "plain.py", "run.py")
OPERATORS = OperatorProvider()


@dataclass
class Tally:
    """Of one exercise."""

    rejected: int = 0
    equivalent: int = 0
    survivors: list[str] = field(default_factory=list)
    """Accepted, though they give other results."""


def mutants(source: str) -> Iterator[str]:
    """Every code that is one small change away."""
    seen = {source}
    for name in OPERATORS:
        if name in PASSED_OVER:
            continue
        operator, occurrence = OPERATORS[name](), 0
        while (changed := mutate_code(source, operator, occurrence)) is not None:
            occurrence += 1
            if changed not in seen:
                seen.add(changed)
                yield changed


def right_answers(asked: Exercise) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Source, the names that it finds, and its own name."""
    notebook = jupytext.read(ROOT / "solutions" / f"{asked.chapter}.md")
    setup: dict[str, Any] = {}
    for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
        if cell.source.startswith("check("):
            continue
        if defines(cell.source, asked.function):
            yield cell.source, setup, asked.function
            break
        exec(cell.source, setup)
    for answer in (asked.reference, *asked.alternatives):
        source = textwrap.dedent(inspect.getsource(answer)) if inspect.isfunction(answer) else ""
        if source.startswith("def "):
            yield source, vars(sys.modules[answer.__module__]), answer.__name__


def defines(source: str, name: str) -> bool:
    """Whether a cell defines the function, or assigns the value."""
    return any(line.startswith((f"def {name}(", f"{name} =")) for line in source.splitlines())


def as_answer(asked: Exercise, source: str, names: dict[str, Any], name: str) -> Any:
    """What the learner would hand over: the function, or the value."""
    namespace = dict(names)
    exec(source, namespace)
    made = namespace[name]
    return made() if asked.kind == "value" and callable(made) else made


def outcomes(asked: Exercise, answer: Any, seed: int) -> tuple[Outcome, ...]:
    return run(answer, asked.cases(seed), asked.array_library)


def same(one: Outcome, other: Outcome) -> bool:
    """Whether two outcomes are, up to rounding."""
    if one.kind != other.kind:
        return False
    if one.kind != "value":
        return one.error_type == other.error_type
    return _same_values(one.value, other.value)


def _same_values(one: Any, other: Any) -> bool:
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(_same_values, one, other))
    try:
        a, b = np.asarray(one), np.asarray(other)
        if a.dtype.kind not in "biufc" or b.dtype.kind not in "biufc":
            return bool(one == other)
        return a.shape == b.shape and np.allclose(a, b, rtol=SAME, atol=SAME, equal_nan=True)
    except (TypeError, ValueError):
        return bool(one == other)


class TooSlow(BaseException):
    """No Exception: an answer must not catch it."""


def _ring(*_: Any) -> None:
    raise TooSlow


def limited(what: Callable[[], Any]) -> Any:
    """The result, or None where it took too long or broke."""
    signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return what()
    except (Exception, SystemExit, TooSlow):
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def examine(exercise_id: str) -> tuple[str, Tally]:
    """Judge all mutants of an exercise, as a class's submissions are judged: once, with one seed."""
    asked, tally = exercise(exercise_id), Tally()
    for source, names, name in right_answers(asked):
        make = functools.partial(as_answer, asked, names=names, name=name)
        original = make(source)
        expected = {seed: outcomes(asked, original, seed) for seed in SEEDS}
        for mutant in mutants(source):
            answer = limited(functools.partial(make, mutant))
            got = None if answer is None else limited(functools.partial(outcomes, asked, answer, SEEDS[0]))
            if got is None or not judge(asked, got, seed=SEEDS[0]).passed:
                tally.rejected += 1
            elif all(_agrees(asked, answer, seed, expected[seed]) for seed in SEEDS):
                tally.equivalent += 1
            else:
                tally.survivors.append(mutant)
    return exercise_id, tally


def _agrees(asked: Exercise, answer: Any, seed: int, expected: Sequence[Outcome]) -> bool:
    got = limited(functools.partial(outcomes, asked, answer, seed))
    return got is not None and len(got) == len(expected) and all(map(same, got, expected))


def examine_all(exercises: list[Exercise], jobs: int) -> Iterator[tuple[str, Tally]]:
    ids = [each.id for each in exercises]
    spawn = get_context("spawn")
    with ProcessPoolExecutor(jobs, spawn, _limit_memory, max_tasks_per_child=1) as pool:
        yield from tqdm(pool.map(examine, ids), total=len(ids), unit="exercise")


def _limit_memory() -> None:
    """Of a worker: a mutant may ask for any amount."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def fingerprint(asked: Exercise) -> str:
    """Of all that the result of an exercise depends on: what decides, and all exercises of its chapter."""
    judging = [ROOT / "posenc_course" / "checking" / name for name in DECIDES]
    frame = ROOT / "posenc_course" / "exercises" / "exercise.py"
    chapter = sorted((frame.parent / f"ch{asked.chapter.replace('-', '_')}").glob("*.py"))
    solutions = ROOT / "solutions" / f"{asked.chapter}.md"
    digest = hashlib.sha256()
    for file in (*judging, frame, *chapter, solutions, Path(__file__)):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def stored() -> dict[str, dict[str, Any]]:
    """The results by exercise that are kept."""
    found: dict[str, dict[str, Any]] = (
        json.loads(RESULT.read_text(encoding="utf-8"))["exercises"] if RESULT.exists() else {}
    )
    return found


def keep(found: dict[str, dict[str, Any]]) -> None:
    """Write them in the order of the book, with their sums."""
    exercises = {each.id: found[each.id] for each in all_exercises() if each.id in found}
    rejected = sum(each["rejected"] for each in exercises.values())
    survived = sum(len(each["survivors"]) for each in exercises.values())
    result = {
        "rejected": rejected,
        "survived": survived,
        "equivalent": sum(each["equivalent"] for each in exercises.values()),
        "share_rejected": round(rejected / max(1, rejected + survived), 4),
        "goal": GOAL,
        "exercises": exercises,
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("chapter", nargs="?", default="", help="the beginning of an exercise's id")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    chosen = [each for each in all_exercises() if each.id.startswith(options.chapter)]
    if not chosen:
        sys.exit(f"error: no exercise begins with {options.chapter!r}")
    found = stored()
    if not options.chapter:
        chosen = [each for each in chosen if found.get(each.id, {}).get("fingerprint") != fingerprint(each)]
    for name, each in examine_all(chosen, options.jobs):
        found[name] = {
            "rejected": each.rejected,
            "equivalent": each.equivalent,
            "survivors": each.survivors,
            "fingerprint": fingerprint(exercise(name)),
        }
        print(
            f"{name:48} {each.rejected:5} rejected {len(each.survivors):3} survived {each.equivalent:4} same"
        )
        for survivor in each.survivors if options.chapter else ():
            print(textwrap.indent(survivor, "    "))
        if not options.chapter:
            keep(found)
    if not options.chapter:
        keep(found)  # without those that are no exercises any more
        share = json.loads(RESULT.read_text(encoding="utf-8"))["share_rejected"]
        print(f"rejected, of those that give other results: {share:.1%}")


if __name__ == "__main__":
    main()
