"""Every exercise, whatever its subject: right answers pass, each known mistake is called by its name.

What is about one exercise's mathematics stands in a file of its own, with two tables of answers that are
judged here: `NOT_KNOWN` (function, wrong answer, words of its report or None), whose mistakes are not listed
and must not be called by a listed one's name, and `WRITTEN_IN_ANOTHER_WAY` (function, answer, the mistake).
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from itertools import combinations
from pathlib import Path

import jupytext
import numpy as np
import pytest

import posenc_lib
from posenc_course.checking import Outcome, judge, report_on, run
from posenc_course.checking.judge import right_outcomes
from posenc_course.checking.kinds import is_close
from posenc_course.checking.plain import decode, encode
from posenc_course.exercises import (
    Exercise,
    Mistake,
    all_exercises,
    assignments,
    exercises_of,
    steps_of,
    wholes,
)

ROOT = Path(__file__).resolve().parents[2]
EXERCISES = all_exercises()
CHAPTERS = sorted({each.chapter for each in EXERCISES})
SEEDS = (0, 1, 2026)


def file_of(asked: Exercise) -> Path:
    """The file of an exercise's own tests: it has the name of the exercise's module."""
    folder = f"ch{asked.chapter.replace('-', '_')}"
    return ROOT / "tests" / "exercises" / folder / f"test_{asked.function}.py"


def table_of(asked: Exercise, table: str) -> tuple[tuple[object, ...], ...]:
    """The table of that name of an exercise's own tests, or none."""
    file = file_of(asked)
    if not file.exists():
        return ()
    module = importlib.import_module(f"tests.exercises.{file.parent.name}.{file.stem}")
    return getattr(module, table, ())


def samples(table: str) -> list[object]:
    """Of all exercises' tables of that name: the exercise's id, the answer, and what is known of it."""
    return [
        pytest.param(asked.id, *rest, id=f"{asked.id}-{number}")
        for asked in EXERCISES
        for number, (_function, *rest) in enumerate(table_of(asked, table))
    ]


every_exercise = pytest.mark.parametrize("asked", EXERCISES, ids=lambda e: e.id)
every_mistake = pytest.mark.parametrize(
    ("asked", "mistake"), [pytest.param(e, m, id=f"{e.id}-{m.name}") for e in EXERCISES for m in e.mistakes]
)


def reports(asked, answer):
    """On an answer written as a function, which the answer to an exercise about a value is not."""
    return [judge(asked, run(answer, asked.cases(seed), asked.array_library), seed=seed) for seed in SEEDS]


@every_exercise
def test_the_reference_passes(asked):
    assert all(report.passed for report in reports(asked, asked.reference))


@every_exercise
def test_what_is_said_of_an_exercise_reads_well(asked):
    """One thing is not called by its plural, backticks come in pairs, each sentence is whole and plain."""
    labels = {case.label for seed in range(10) for case in asked.cases(seed)}
    assert [label for label in labels if re.search(r"\b(1|one) (?!times)\w+s\b", label)] == []
    for hint in asked.hints:
        assert hint.count("`") % 2 == 0, hint
        assert not set("<>$\n") & set(re.sub(r"`[^`]*`", "", hint)), hint
        assert hint.endswith((".", "?")), hint
    messages = [each.message for each in (*asked.mistakes, *asked.properties)]
    for message in filter(None, [*messages, asked.where_not_finite]):
        assert not set("<$\n`") & set(message), message
        assert message[0].isupper(), message
        assert message.endswith((".", "?", ".)")), message


@every_exercise
def test_every_property_holds_for_the_reference(asked):
    for seed in SEEDS:
        for case, outcome in zip(*right_outcomes(asked, seed), strict=True):
            if outcome.kind == "value":
                for prop in asked.properties:
                    assert prop.holds(case.args, outcome.value), f"{prop.message} {case.label}, seed {seed}"


@every_exercise
def test_right_answers_that_are_written_differently_pass(asked):
    for number, answer in enumerate(asked.alternatives):
        for report in reports(asked, answer):
            assert report.passed, f"alternative {number}: {report}"


@every_mistake
def test_a_known_mistake_fails_and_is_called_by_its_own_name(asked, mistake):
    others = [m.message for m in asked.mistakes if m is not mistake]
    for report in reports(asked, mistake.answer):
        assert not report.passed
        assert report.mistake is mistake
        assert mistake.message in str(report)
        assert not any(message in str(report) for message in others)
        # Of errors alone, it would be found in whatever breaks with an error of the same kind.
        assert any(result.got is not None for result in report.results)


@pytest.mark.parametrize(("exercise_id", "answer", "name"), samples("WRITTEN_IN_ANOTHER_WAY"))
def test_a_mistake_written_in_another_way_is_named(exercise_id, answer, name):
    for seed in SEEDS:
        report = report_on(exercise_id, answer, seed=seed)
        assert report.mistake is not None, report
        assert report.mistake.name == name


@pytest.mark.parametrize(("exercise_id", "answer", "words"), samples("NOT_KNOWN"))
def test_a_mistake_that_is_not_known_gets_no_diagnosis(exercise_id, answer, words):
    with np.errstate(all="ignore"):
        report = report_on(exercise_id, answer)
    assert not report.passed
    assert report.mistake is None
    assert (words or "First wrong case: ") in str(report)


@every_exercise
def test_every_exercise_is_tried_with_a_mistake_that_is_not_known(asked):
    rows = table_of(asked, "NOT_KNOWN")
    assert rows, f"give it a wrong answer in NOT_KNOWN of {file_of(asked).relative_to(ROOT)}"
    assert {function for function, *_ in (*rows, *table_of(asked, "WRITTEN_IN_ANOTHER_WAY"))} == {
        asked.function
    }


@every_exercise
def test_every_exercise_stands_in_a_file_of_its_name(asked):
    module = f"posenc_course.exercises.ch{asked.chapter.replace('-', '_')}.{asked.function}"
    assert getattr(importlib.import_module(module), asked.function.upper()) is asked


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_file_of_an_exercise_is_left_out_of_the_order(chapter):
    """Nor does one hold what has to be scrolled through."""
    folder = ROOT / "posenc_course" / "exercises" / f"ch{chapter.replace('-', '_')}"
    files = {path.stem: path for path in folder.glob("*.py") if not path.stem.startswith("_")}
    assert files.keys() == {each.function for each in EXERCISES if each.chapter == chapter}
    assert [name for name, path in files.items() if len(path.read_text().splitlines()) > 350] == []


@every_exercise
def test_mistakes_have_names_and_words_of_their_own(asked):
    for one, other in combinations(asked.mistakes, 2):
        assert one.name != other.name
        assert one.message != other.message


@every_exercise
def test_an_answer_with_no_known_mistake_is_wrong_and_gets_no_guess(asked):
    for report in reports(asked, lambda *args: "something else entirely"):
        assert not report.passed
        assert report.mistake is None


@every_exercise
def test_an_empty_answer_is_wrong_and_is_told_so(asked):
    report = report_on(asked.id, (lambda *args: None) if asked.kind == "function" else None)
    assert not report.passed
    assert report.mistake is None
    assert "None" in str(report)


@every_exercise
def test_what_it_is_worth_and_takes_is_stated(asked):
    assert asked.points > 0
    assert asked.minutes > 0
    assert asked.function.isidentifier()


@every_exercise
def test_what_a_hint_calls_is_lent_and_nothing_else(asked):
    """What an answer may call in grading is a permission of its own; the hints must not promise another."""
    called = re.findall(r"\bposenc_lib\.([\w.]+)\(", " ".join(asked.hints))
    assert set(asked.lends) == set(called)
    assert set(asked.lends) <= set(dir(posenc_lib))


@every_exercise
def test_cases_and_outcomes_are_plain_data_that_survive_the_way_to_another_process(asked):
    for case, outcome in zip(*right_outcomes(asked, 0), strict=True):
        for value in (*case.args, outcome.value):
            assert_same(decode(encode(value)), value)


@every_exercise
def test_the_same_seed_gives_the_same_cases(asked):
    for one, other in zip(asked.cases(7), asked.cases(7), strict=True):
        assert one.label == other.label
        assert_same(one.args, other.args)


def test_ids_are_unique_and_every_chapter_has_five_to_fourteen():
    ids = [each.id for each in EXERCISES]
    assert len(ids) == len(set(ids))
    assert sorted(path.stem for path in (ROOT / "solutions").glob("*.md")) == sorted(assignments())
    for chapter in CHAPTERS:
        assert 5 <= len(wholes(exercises_of(chapter))) <= 14


def test_the_steps_of_an_exercise_stand_together_under_its_title():
    titles = [(steps[0].chapter, steps[0].step_of) for steps in wholes(EXERCISES) if steps[0].step_of]
    assert len(titles) == len(set(titles)), "steps of one exercise stand apart in EXERCISES"
    for steps in (each for each in wholes(EXERCISES) if each[0].step_of):
        assert len(steps) > 1, f"{steps[0].id} is the only step of {steps[0].step_of}"
        text = (ROOT / "solutions" / f"{steps[0].chapter}.md").read_text()
        headings = [f"## {steps[0].step_of}", *(f"### {each.title}" for each in steps)]
        places = [text.index(f"\n{heading}\n") for heading in headings]
        assert places == sorted(places), headings
        assert {each.array_library for each in steps} == {steps[0].array_library}


@every_exercise
def test_a_right_step_can_stand_in_for_the_learners(asked):
    """It is called by the names of the starter's parameters, and gets plain data only."""
    later = steps_of(asked, exercises_of(asked.chapter))
    if asked.kind == "function" and asked is not later[-1]:
        notebook = jupytext.read(ROOT / "solutions" / f"{asked.chapter}.md")
        [definition] = [
            node
            for cell in notebook.cells
            if cell.cell_type == "code" and "### BEGIN SOLUTION" in cell.source
            for node in ast.parse(cell.source).body
            if isinstance(node, ast.FunctionDef) and node.name == asked.function
        ]
        written = [each.arg for each in definition.args.args]
        assert list(inspect.signature(asked.reference).parameters) == written
        assert not any(callable(arg) for case in asked.cases() for arg in case.args)


@every_exercise
def test_what_an_answer_of_several_values_holds_has_names(asked):
    for outcome in right_outcomes(asked, 0)[1]:
        if isinstance(outcome.value, tuple | dict):
            assert len(asked.parts) == len(outcome.value)
            assert len(set(asked.parts)) == len(asked.parts)


@every_exercise
def test_what_is_added_to_the_decoder_is_one_sentence(asked):
    assert not asked.adds or re.fullmatch(r"[A-Z][^.]*\.", asked.adds)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_text_asks_every_exercise_once_and_its_solutions_pass(chapter, monkeypatch):
    """Runs the cells of the text notebook, which call `check` and raise where an answer is wrong."""
    notebook = jupytext.read(ROOT / "solutions" / f"{chapter}.md")
    text = "\n".join(cell.source for cell in notebook.cells)
    for each in (e for e in EXERCISES if e.chapter == chapter):
        assert text.count(f'check("{each.id}"') == 1
        assert text.count(f"<!-- card: {each.function} -->") == 1
    namespace: dict[str, object] = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            exec(cell.source, namespace)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_code_fits_into_its_card(chapter):
    """In the page a card is narrower than a notebook: longer lines are cut off on a laptop."""
    notebook = jupytext.read(ROOT / "solutions" / f"{chapter}.md")
    lines = [line for cell in notebook.cells if cell.cell_type == "code" for line in cell.source.splitlines()]
    assert [line for line in lines if len(line) > 76] == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_untouched_starter_fails_everywhere(chapter):
    starter = jupytext.read(ROOT / "exercises" / chapter / f"{chapter}.ipynb")
    namespace: dict[str, object] = {}
    failed = 0
    for cell in starter.cells:
        if cell.cell_type != "code":
            continue
        try:
            exec(cell.source, namespace)
        except (AssertionError, NotImplementedError, NameError, TypeError):
            failed += cell.source.startswith("check(")
    assert failed == sum(each.chapter == chapter for each in EXERCISES)


def assert_same(one, other):
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    else:
        assert one == other


def test_the_test_above_would_notice_a_mistake_without_effect():
    """Guards the guard: a 'mistake' that is right must not pass for one."""
    asked = EXERCISES[0]
    harmless = Mistake("harmless", asked.reference, "This is no mistake at all.")
    assert report_on(asked.id, harmless.answer).passed
    assert Outcome("value", 1.0) != Outcome("value", 2.0)


FREE = "06-rotary.checkpoint_facts"
"""Of a base, three digits are enough."""


def leaves(value):
    """What stands in tuples and dicts, one by one."""
    if isinstance(value, tuple | dict):
        inside = value.values() if isinstance(value, dict) else value
        return [leaf for each in inside for leaf in leaves(each)]
    return [value]


@every_exercise
def test_whole_numbers_are_whole_however_large(asked):
    """The tolerance is for what rounding does to real ones."""
    values = [
        leaf for each in right_outcomes(asked, 0)[1] if each.kind == "value" for leaf in leaves(each.value)
    ]
    arrays = [np.asarray(each) for each in values if not isinstance(each, bool | str) and each is not None]
    whole = [each for each in arrays if each.dtype.kind in "iu"]
    if asked.id != FREE:
        assert not any(is_close(asked, each, each + 1).any() for each in whole)
