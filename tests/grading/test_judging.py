"""The judge outside: marks and feedback for whole notebooks, judged through real walls."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from posenc_course.checking.judge import right_outcomes
from posenc_course.exercises import Case, Exercise, Mistake, exercise
from posenc_course.grading.judging.attempts import PUBLIC_SEED, earned
from posenc_course.grading.judging.grader import Grader
from posenc_course.grading.judging.trial import MOST_ENDINGS, Trial
from posenc_course.grading.limits import Limits
from posenc_course.grading.sandbox import lending
from posenc_course.grading.sandbox.walls import NoWalls
from posenc_course.grading.untrusted import outcome_of
from posenc_course.grading.verdicts import SubmissionGrade, Verdict
from tests.grading.conftest import model_answers, submission
from tests.present import present

FORMULA = "02-the-formula"
FAST = Limits(wall_seconds=60, memory_bytes=192 * 2**20)


def graded(grader, submitted, assignment="toy", *, seed=7, limits=FAST) -> SubmissionGrade:
    return grader.grade(submitted, student="ada", assignment=assignment, seed=seed, limits=limits)


def one(grade: SubmissionGrade, function: str):
    return next(each for each in grade.exercises if each.exercise_id.endswith(f".{function}"))


# --- A small chapter: quick, and with what the real ones do not have yet ----------------------------


def _toy_cases(rng):
    yield Case("three", (np.arange(3.0),))
    yield Case("some", (rng.normal(size=5),))


def _guarded_cases(rng):
    yield Case("a positive number", (float(rng.integers(1, 100)),))
    yield Case("zero", (0.0,), group="edge")
    yield Case("a negative number", (-1.0,), group="refuses")


def _root(x):
    if x < 0:
        raise ValueError("negative")
    return x**0.5


def _gap_cases(rng):
    factor = float(rng.integers(2, 9))
    yield Case("a layer that multiplies", (lambda x: factor * np.asarray(x), np.ones(3)))


def toy(function, reference, cases, **more) -> Exercise:
    filled = {"title": f"The {function}", "signature": "", "points": 4, "minutes": 1, "difficulty": 1}
    return Exercise(
        id=f"toy.{function}",
        reference=reference,
        make_cases=cases,
        **{"mistakes": (), "hints": (), **filled, **more},
    )


TOY = (
    toy(
        "double",
        lambda x: 2 * x,
        _toy_cases,
        mistakes=(Mistake("half", lambda x: x / 2, "That is half of it."),),
    ),
    toy("root", _root, _guarded_cases, credit=(("", 0.5), ("edge", 0.25), ("refuses", 0.25))),
    toy("apply_twice", lambda layer, x: layer(layer(x)), _gap_cases),
    toy("answer", lambda: 42, lambda rng: [Case("your answer")], kind="value", points=1),
)
RIGHT = {
    "double": "def double(x): return x + x",
    "root": "def root(x):\n    if x < 0: raise ValueError('no')\n    return x ** 0.5",
    "apply_twice": "def apply_twice(layer, x): return layer(layer(x))",
    "answer": "answer = 42",
}


class LendsHere(lending.Lender):
    """The real answers, but in this process, which alone knows the toy chapter."""

    def start(self):
        pass

    def ask(self, question):
        return json.loads(json.dumps(lending.answer(json.loads(json.dumps(question)))))


def use(chapter: tuple[Exercise, ...], grader: Grader, monkeypatch: pytest.MonkeyPatch) -> Grader:
    in_grader = "posenc_course.grading.judging.grader."
    monkeypatch.setattr(in_grader + "assignments", lambda: ("toy",))
    monkeypatch.setattr(in_grader + "exercises_of", lambda name: chapter if name == "toy" else ())
    monkeypatch.setattr(lending, "exercise", lambda name: next(each for each in chapter if each.id == name))
    monkeypatch.setattr(grader, "_lender", LendsHere())
    return grader


@pytest.fixture
def toys(grader, monkeypatch) -> Grader:
    return use(TOY, grader, monkeypatch)


def answers(**changed: str):
    return submission("import numpy as np", *{**RIGHT, **changed}.values())


def test_right_answers_get_all_points(toys):
    grade = graded(toys, answers())
    assert (grade.verdict, grade.points, grade.max_points) == (Verdict.RIGHT, 13, 13)
    assert all(each.feedback.startswith("Passed") for each in grade.exercises)
    assert SubmissionGrade.from_json(json.loads(json.dumps(grade.to_json()))) == grade


def test_a_known_mistake_is_named(toys):
    grade = graded(toys, answers(double="def double(x): return x * 0.5"))
    assert grade.verdict is Verdict.PARTLY
    assert one(grade, "double").verdict is Verdict.WRONG
    assert one(grade, "double").mistake == "half"
    assert "That is half of it." in one(grade, "double").feedback
    assert "That is half of it." in one(grade, "double").feedback_html


def test_a_mistake_that_fits_only_the_public_inputs_is_not_named(toys):
    [_, some] = TOY[0].cases(PUBLIC_SEED)
    code = f"def double(x): return x / 2 if len(x) == 3 or abs(x[0] - {some.args[0][0]!r}) < 1e-9 else x + 1"
    found = one(graded(toys, answers(double=code)), "double")
    assert (found.verdict, found.mistake) == (Verdict.WRONG, None)
    assert "half of it" not in found.feedback


def test_another_mistake_shows_a_failing_example_and_no_name(toys):
    found = one(graded(toys, answers(double="def double(x): return x + 1")), "double")
    assert (found.verdict, found.points, found.mistake) == (Verdict.WRONG, 0, None)
    assert "got 1, expected 0" in found.feedback


def test_an_answer_that_knows_only_the_public_inputs_is_wrong_and_told_so(toys):
    [_, some] = TOY[0].cases(PUBLIC_SEED)
    code = f"def double(x): return 2 * x if len(x) == 3 or abs(x[0] - {some.args[0][0]!r}) < 1e-9 else x"
    found = one(graded(toys, answers(double=code)), "double")
    assert found.verdict is Verdict.WRONG
    assert "right on the inputs that check() uses" in found.feedback


def test_hidden_inputs_differ_by_seed_and_never_show(toys):
    told = "def double(x):\n    if len(x) == 3: return 2 * x\n    raise ValueError(', '.join(map(str, x)))"
    kept = """
    seen = []
    def double(x):
        seen.append(list(x))
        if len(x) == 3: return 2 * x
        raise ValueError(repr(seen))
    """
    noisy = "def double(x):\n    print(list(x))\n    open('/tmp/seen', 'a').write(str(list(x)))\n    return x"
    seeds = (11, 12)
    hidden = [TOY[0].cases(seed)[1].args[0] for seed in seeds]
    assert not np.allclose(*hidden)
    for code in (told, kept, noisy):
        for seed, values in zip(seeds, hidden, strict=True):
            text = json.dumps(graded(toys, answers(double=code), seed=seed).to_json())
            assert not any(str(round(float(value), 4))[:6] in text for value in values)


def test_partial_credit_by_group(toys):
    half = one(graded(toys, answers(root="def root(x): return x ** 0.5 if x > 0 else None")), "root")
    assert (half.verdict, half.points) == (Verdict.PARTLY, 2)
    assert "2 of 4 points" in half.feedback
    more = one(graded(toys, answers(root="def root(x): return abs(x) ** 0.5")), "root")
    assert (more.verdict, more.points) == (Verdict.PARTLY, 3)


def test_an_answer_that_refuses_everything_gains_nothing(toys):
    found = one(graded(toys, answers(root="def root(x): raise ValueError")), "root")
    assert (found.verdict, found.points) == (Verdict.ERROR, 0)


def test_credit_must_be_declared_in_full():
    with pytest.raises(ValueError, match="sum to 1"):
        replace(TOY[0], credit=(("", 0.5), ("edge", 0.2)))
    with pytest.raises(ValueError, match="basic group"):
        replace(TOY[0], credit=(("edge", 0.5), ("", 0.5)))
    cases = TOY[1].cases(1)
    assert earned(TOY[1], cases, [True, False, True]) == 0.75
    assert earned(TOY[1], cases, [False, True, True]) == 0


def test_a_callable_argument_is_answered_from_outside(toys):
    spy = """
    import inspect
    def apply_twice(layer, x):
        found = [c.cell_contents for c in (layer.__closure__ or ())]
        assert not any(isinstance(each, float) for each in found), found
        return layer(layer(x))
    """
    assert one(graded(toys, answers(apply_twice=spy)), "apply_twice").verdict is Verdict.RIGHT
    wrong = "def apply_twice(layer, x): return layer(x)"
    assert one(graded(toys, answers(apply_twice=wrong)), "apply_twice").verdict is Verdict.WRONG
    bad_call = "def apply_twice(layer, x): return layer(object())"
    found = one(graded(toys, answers(apply_twice=bad_call)), "apply_twice")
    assert found.verdict is Verdict.ERROR
    assert "not a number, text or an array" in found.feedback


def _cube_cases(rng):
    for number in rng.permutation(20)[:3].tolist():
        yield Case(f"at {number}", (lambda x: x**3, number))


def _sum_cases(rng):
    for number in rng.permutation(20)[:3].tolist():
        yield Case(f"of {number}", (lambda x: x + 1, number))


LENDING = (
    toy("ask", lambda cube, x: cube(x), _cube_cases),
    toy("cube", lambda add_one, x: (add_one(x) - 1) ** 3, _sum_cases),
)
KEEPS = """
import json, os, sys, numpy, pathlib
kept = []
CORNERS = [pathlib.Path(each) / "kept.json" for each in ("/tmp", "/dev/shm", os.path.expanduser("~"))]
def ask(cube, x):
    table = {str(number): cube(number) for number in range(20)}
    kept.append(cube)
    sys.table = numpy.table = table
    os.environ["TABLE"] = json.dumps(table)
    for corner in CORNERS:
        corner.write_text(json.dumps(table))
    return table[str(x)]
"""


def test_what_one_exercise_is_answered_is_gone_in_the_next(grader, monkeypatch):
    finds = """
    def cube(add_one, x):
        for found in (
            lambda: kept[0](x), lambda: sys.table[str(x)], lambda: numpy.table[str(x)],
            lambda: json.loads(os.environ["TABLE"])[str(x)], *(
                lambda corner=corner: json.loads(corner.read_text())[str(x)] for corner in CORNERS
            ),
        ):
            try:
                return found()
            except Exception:
                pass
    """
    for chapter in (LENDING, LENDING[::-1]):
        grade = graded(use(chapter, grader, monkeypatch), submission(KEEPS, finds))
        assert (one(grade, "ask").verdict, one(grade, "cube").points) == (Verdict.RIGHT, 0)


def test_a_callable_that_was_kept_is_dead_in_the_next_call(grader, monkeypatch):
    first = """
    kept = []
    def ask(cube, x):
        kept.append(cube)
        return kept[0](x)
    """
    by_hand = """
    import itertools, types
    numbers = itertools.count()
    def ask(cube, x):
        ticket = next(numbers)
        cell = types.CellType(ticket)
        names = cube.__code__.co_freevars
        cells = tuple(cell if name == "ticket" else old for name, old in zip(names, cube.__closure__))
        return types.FunctionType(cube.__code__, cube.__globals__, closure=cells)(x)
    """
    right = "def cube(add_one, x): return (add_one(x) - 1) ** 3"
    use(LENDING, grader, monkeypatch)
    for code in (first, by_hand):
        found = one(graded(grader, submission(code, right)), "ask")
        assert (found.verdict, found.points) == (Verdict.ERROR, 0)
        assert "works only in the call that it was passed to" in found.feedback


def test_cases_are_called_in_an_order_drawn_from_the_seed_and_reported_in_theirs(toys, monkeypatch):
    many = toy("place", lambda n: -n, lambda rng: [Case(f"number {n}", (n,)) for n in range(6)], points=1)
    monkeypatch.setattr("posenc_course.grading.judging.grader.exercises_of", lambda name: (many,))
    counts = "from itertools import count\nnumbers = count()\ndef place(n): return -next(numbers)"
    found = one(graded(toys, submission(counts)), "place")
    assert found.points == 0
    wrong_from_3_on = "def place(n): return -n if n < 3 else None"
    assert "First wrong case: number 3" in one(graded(toys, submission(wrong_from_3_on)), "place").feedback
    right = "def place(n): return -n"
    assert one(graded(toys, submission(right)), "place").verdict is Verdict.RIGHT


def test_an_exception_in_one_exercise_does_not_spoil_the_next(toys):
    grade = graded(toys, answers(double="def double(x): return x['no']"))
    assert [each.verdict for each in grade.exercises] == [Verdict.ERROR, *[Verdict.RIGHT] * 3]
    assert "(line 1: def double(x): return x['no'])" in one(grade, "double").feedback


@pytest.mark.parametrize(
    "value",
    ["", "# answer =\nraise NotImplementedError", "answer = None", "raise NotImplementedError\nanswer = 41"],
)
def test_an_unwritten_answer_gets_one_verdict_whether_function_or_value(toys, value):
    double = "def double(x):\n    raise NotImplementedError"
    check = "check('toy.answer', answer)"  # fails too, for want of the name
    work = {**RIGHT, "double": double, "answer": value}.values()
    grade = graded(toys, submission("from posenc_course import check", *work, check))
    assert {name: one(grade, name).verdict for name in ("double", "answer")} == dict.fromkeys(
        ("double", "answer"), Verdict.UNWRITTEN
    )
    assert one(grade, "double").points == one(grade, "answer").points == 0
    assert "not written yet" in one(grade, "double").feedback
    assert "your answer" in one(grade, "answer").feedback or "no answer in" in one(grade, "answer").feedback


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        (
            {"double": "def double(x):\n    if x > 0: return 2 * x\n    raise NotImplementedError"},
            Verdict.ERROR,
        ),
        ({"double": "def double(x):\n    pass"}, Verdict.WRONG),
        ({"answer": "answer = no_such_name"}, Verdict.ERROR),
        ({"answer": "answer = = 2"}, Verdict.ERROR),
        ({"answer": "answer = 41"}, Verdict.WRONG),
    ],
)
def test_a_wrong_or_half_written_answer_is_not_unwritten(toys, changed, verdict):
    [name] = changed
    assert one(graded(toys, answers(**changed)), name).verdict is verdict


def test_a_wrong_value_is_not_told_the_answer(toys):
    found = one(graded(toys, answers(answer="answer = 41")), "answer")
    assert found.verdict is Verdict.WRONG
    assert "41 is not the answer" in found.feedback
    assert "42" not in found.feedback


def short(verdict: Verdict) -> Limits:
    """Little time where a test waits until it is over, and plenty where it does not."""
    return replace(FAST, wall_seconds=8) if verdict is Verdict.TIME_LIMIT else FAST


LOOPS = "    while True: pass"
ENDS = {
    Verdict.TIME_LIMIT: LOOPS,
    Verdict.MEMORY_LIMIT: "    return [bytearray(10**7) for _ in range(1000)]",
    Verdict.OUTPUT_LIMIT: "    while True: print('spam')",
    Verdict.CRASHED: "    import os; os._exit(0)",
    Verdict.TAMPERED: "    import os; os.write(3, b'forged')",
    Verdict.MALFORMED: "    return object()",
    Verdict.ERROR: "    raise SystemExit",
}


@pytest.mark.parametrize("verdict", ENDS)
def test_an_answer_that_ends_badly_costs_only_its_own_exercise(toys, verdict):
    grade = graded(toys, answers(root=f"def root(x):\n{ENDS[verdict]}"), limits=short(verdict))
    assert one(grade, "root").verdict is verdict
    assert one(grade, "root").points == 0
    assert one(grade, "root").feedback
    assert [one(grade, name).verdict for name in ("double", "apply_twice", "answer")] == [Verdict.RIGHT] * 3


@pytest.mark.parametrize(
    "verdict", [Verdict.TIME_LIMIT, Verdict.OUTPUT_LIMIT, Verdict.CRASHED, Verdict.TAMPERED]
)
def test_a_cell_that_ends_badly_is_left_out_and_the_rest_is_graded(toys, verdict):
    cell = f"def double(x): return 2 * x\ndef f():\n{ENDS[verdict]}\nf()"
    grade = graded(toys, answers(double=cell), limits=short(verdict))
    assert one(grade, "double").verdict is verdict
    assert [one(grade, name).verdict for name in ("root", "apply_twice", "answer")] == [Verdict.RIGHT] * 3
    assert any("Cell 2 was left out" in note for note in grade.notes)
    assert grade.outputs[1][0]["output_type"] == "stream"


def test_only_a_verdict_that_all_exercises_share_is_that_of_the_submission(toys):
    grade = graded(
        toys, submission("import os, threading", "os._exit(0)\ndouble = root = apply_twice = answer = 1")
    )
    assert grade.verdict is Verdict.CRASHED
    assert grade.points == 0


def test_slow_cells_leave_time_for_the_answers(toys):
    slow = submission("import time", "time.sleep(6)", "time.sleep(3)", *RIGHT.values())
    assert graded(toys, slow, limits=replace(FAST, wall_seconds=16)).verdict is Verdict.RIGHT


def test_cells_that_run_again_for_each_exercise_take_no_time_from_the_answers(grader, monkeypatch):
    chapter = tuple(toy(f"twice_{n}", lambda layer, x: layer(layer(x)), _gap_cases) for n in range(6))
    cells = [f"def {each.id[4:]}(layer, x): return layer(layer(x))" for each in chapter]
    slow = submission("import time", "time.sleep(2)", *cells)
    found = graded(use(chapter, grader, monkeypatch), slow, limits=replace(FAST, wall_seconds=10))
    assert [each.verdict for each in found.exercises] == [Verdict.RIGHT] * 6


def test_endless_endings_are_bounded(toys):
    grade = graded(toys, submission(*["import os; os._exit(0)"] * 100))
    assert grade.verdict is Verdict.CRASHED
    assert len(grade.notes) == MOST_ENDINGS + 1


def test_the_answer_given_to_check_and_the_name_at_the_end_both_count(toys):
    def verdict(*cells: str) -> Verdict:
        return one(graded(toys, submission("from posenc_course import check", *cells)), "double").verdict

    right, wrong = RIGHT["double"], "def double(x): return x"
    check = "check('toy.double', double)"
    assert verdict(right, check, wrong) is Verdict.RIGHT
    assert verdict(wrong, check, right) is Verdict.RIGHT
    assert verdict(check, right) is Verdict.RIGHT
    assert verdict(right, check, "from posenc_lib import sinusoidal as double") is Verdict.RIGHT
    assert verdict(wrong, check, check) is Verdict.WRONG


def test_answers_that_print_warn_or_ask_lose_nothing(toys):
    noisy = """
    import sys, warnings
    def double(x):
        print("hello"); print("hello", file=sys.stderr); warnings.warn("careful")
        return 2 * x
    """
    grade = graded(toys, submission("name = input()", *{**RIGHT, "double": noisy}.values()))
    assert grade.verdict is Verdict.RIGHT


def test_objects_that_lie_earn_nothing(toys):
    liar = """
    import numpy as np
    class Liar(np.ndarray):
        __eq__ = __le__ = __lt__ = lambda *_: True
        def __array__(self, *a, **k): return np.zeros(1)
    class Real(float):
        __eq__ = lambda *_: True
        __hash__ = float.__hash__
    def double(x): return np.zeros(len(x)).view(Liar)
    """
    grade = graded(toys, answers(double=liar, answer="answer = Real(1)"))
    assert one(grade, "double").verdict is Verdict.WRONG
    assert one(grade, "answer").verdict is Verdict.WRONG
    assert one(grade, "answer").points == 0


def test_a_forged_reply_is_worth_what_it_says_and_no_more(toys):
    forging = """
    import json, os, socket
    def double(x):
        forged = {"id": 1, "outcome": ["value", {"passed": True}, "", "", None], "points": 100}
        os.write(3, json.dumps(forged).encode() + b"\\n")
        return x
    """
    found = one(graded(toys, answers(double=forging)), "double")
    assert (found.verdict, found.points) == (Verdict.TAMPERED, 0)


@pytest.mark.parametrize(
    "reply",
    [
        None,
        [],
        ["value"],
        ["value", {"array": "AAAA", "dtype": "|O", "shape": [1]}, "", "", None],
        ["value", {"array": "", "dtype": "<f8", "shape": [0, 10**30]}, "", "", None],
        ["value", {"array": "", "dtype": "<f8", "shape": [-1]}, "", "", None],
        ["value", {"array": "", "dtype": "99999999f8", "shape": []}, "", "", None],
        ["value", {"array": "", "dtype": {"names": ["a"]}, "shape": 3}, "", "", None],
        ["value", {"complex": [1]}, "", "", None],
        ["value", {"tuple": 3}, "", "", None],
        ["value", {"dict": []}, "", "", None],
        ["value", "x" * 2000, "", "", None],
        ["raised", "x", "ValueError", "", None],
        ["raised", None, 3, "", None],
        ["passed", None, "", "", None],
    ],
)
def test_replies_that_are_no_outcome_are_malformed(reply):
    assert outcome_of(reply).kind == "malformed"


def test_replies_that_are_nested_too_deep_are_malformed():
    value: object = 1
    for _ in range(500):
        value = [value]
    assert outcome_of(["value", value, "", "", None]).kind == "malformed"


def test_outputs_are_cleaned_of_what_could_run_in_a_browser(toys):
    cell = """
    from IPython.display import HTML, Javascript, display
    display(HTML("<script>steal()</script>"), Javascript("steal()"))
    display({"image/png": "<script>"}, raw=True)
    print("kept")
    """
    outputs = graded(toys, submission(cell)).outputs[0]
    assert "steal" not in json.dumps(outputs)
    assert "<script" not in json.dumps(outputs)
    assert outputs[-1] == {"output_type": "stream", "name": "stdout", "text": "kept\n"}


def test_a_far_too_big_answer_is_not_looked_at(toys):
    found = one(graded(toys, answers(double="def double(x): return np.zeros(900_000)")), "double")
    assert found.verdict is Verdict.OUTPUT_LIMIT


def test_an_assignment_without_exercises_is_refused(toys):
    with pytest.raises(ValueError, match="the assignments are toy"):
        graded(toys, submission("1"), "09-nothing")


def test_without_walls_it_refuses_unless_told(monkeypatch):
    monkeypatch.setattr("posenc_course.grading.judging.grader.exercises_of", lambda name: TOY)
    monkeypatch.setenv("PATH", "/nonexistent")
    with Grader() as walled, pytest.raises(NoWalls, match="apt install bubblewrap"):
        graded(walled, answers())
    with Grader(unsafe=True) as open_:
        assert one(graded(open_, answers()), "double").verdict is Verdict.RIGHT


# --- Tensors ----------------------------------------------------------------------------------------

HALVES = {
    "with a gradient": "def halve(x): return x.clone().requires_grad_() / 2",
    "in float32": "def halve(x): return x.float() / 2",
    "in place, on a copy": "def halve(x):\n    x = x.clone()\n    x /= 2\n    return x",
    "an array": "def halve(x): return x.numpy() / 2",
    "a module": """
    class Halve(torch.nn.Module):
        def forward(self, x):
            self.register_buffer("factor", torch.tensor(0.5))
            return x.mul(self.factor)
    halve = Halve()
    """,
    "with what is lent": "import posenc_lib\ndef halve(x): return x - posenc_lib.similarity(0, 2) * x / 2",
}


@pytest.mark.parametrize("code", HALVES.values(), ids=HALVES)
def test_where_tensors_are_given_a_right_answer_loses_nothing(grader, monkeypatch, code):
    halve = toy("halve", lambda x: x / 2, _toy_cases, array_library="torch", lends=("similarity",))
    use((halve,), grader, monkeypatch)
    found = one(
        graded(grader, submission("import torch", code), limits=replace(FAST, memory_bytes=2**30)), "halve"
    )
    assert (found.verdict, found.points) == (Verdict.RIGHT, 4), found.feedback


# --- A real chapter --------------------------------------------------------------------------------


def test_the_model_answers_of_a_real_chapter_are_right(grader):
    for seed in (1, 2):
        grade = graded(grader, model_answers(FORMULA), FORMULA, seed=seed)
        assert (grade.verdict, grade.points) == (Verdict.RIGHT, grade.max_points), grade.exercises


def test_an_answer_that_changes_its_inputs_earns_nothing_and_is_told_so(grader):
    """Right values, each time that it is called, and a table that has grown."""
    embed = """
    def embed(tokens, embedding):
        embedding *= embedding.shape[1] ** 0.5
        return embedding[tokens]
    """
    found = one(graded(grader, model_answers(FORMULA, embed=embed), FORMULA), "embed")
    assert (found.verdict, found.points) == (Verdict.WRONG, 0)
    assert "Your function changes embedding itself" in found.feedback


GUESSABLE = (
    "01-why-order-matters.symmetry_left",
    "03-relative-position.symmetries",
    "04-extrapolation.forgets",
    "04-extrapolation.verdict",
    "05-pitfalls.adds_along_the_tokens",
    "05-pitfalls.diagnose",
    "05-pitfalls.padding_fault",
    "06-rotary.is_relative",
    "06-rotary.what_was_rounded",
    "07-alibi-and-biases.symmetry_seen",
)


@pytest.mark.parametrize("chapter", sorted({each.partition(".")[0] for each in GUESSABLE}))
def test_who_counts_calls_earns_nothing_and_the_others_keep_theirs(grader, chapter):
    """It knows what is right for the inputs of `check`, in the order in which they are called."""
    counting = {}
    for asked in (exercise(each) for each in GUESSABLE if each.startswith(f"{chapter}.")):
        _, expected = right_outcomes(asked, PUBLIC_SEED)
        known = [expected[place].value for place in asked.calling_order(PUBLIC_SEED)]
        counting[asked.function] = f"""
        import itertools
        calls_of_{asked.function} = itertools.cycle({known!r})
        def {asked.function}(*inputs):
            return next(calls_of_{asked.function})
        """
    grade = graded(grader, model_answers(chapter, **counting), chapter)
    lost = {each.exercise_id for each in grade.exercises if each.verdict is not Verdict.RIGHT}
    assert lost == {f"{chapter}.{name}" for name in counting}
    assert sum(one(grade, name).points for name in counting) == 0


def test_names_that_the_text_allows_are_lent_and_others_are_not():
    assert exercise(f"{FORMULA}.add_positions").lends == ("sinusoidal",)
    assert exercise(f"{FORMULA}.sinusoidal").lends == ()


@pytest.mark.parametrize(
    "code",
    [
        "import posenc_lib\ndef sinusoidal(positions, dim): return posenc_lib.sinusoidal(positions, dim)",
        "from posenc_lib import sinusoidal",
        "from posenc_lib.added import sinusoidal",
        "import posenc_lib.added.sinusoidal as m\nsinusoidal = m.sinusoidal",
        "import importlib\nsinusoidal = getattr(importlib.import_module('posenc_lib'), 'sinu' + 'soidal')",
        """
        import posenc_lib
        def sinusoidal(positions, dim):
            try:
                return posenc_lib.sinusoidal(positions, dim)
            except Exception:
                rates = 10000.0 ** (-np.arange(0, dim, 2) / dim)
                theta = positions[:, None] * rates
                return np.stack([np.sin(theta), np.cos(theta)], -1).reshape(len(positions), dim)
        """,
    ],
)
def test_the_librarys_own_implementation_earns_nothing_and_is_told_so(grader, code):
    grade = graded(grader, model_answers(FORMULA, sinusoidal=code), FORMULA)
    found = one(grade, "sinusoidal")
    assert (found.verdict, found.points) == (Verdict.TAMPERED, 0)
    assert "calls the library's own function" in found.feedback
    assert grade.points == grade.max_points - found.max_points


def test_what_was_lent_to_one_exercise_answers_no_other(grader):
    stash = """
    stash = {}
    def sinusoidal(positions, dim):
        return stash[dim][positions]
    """
    fills = """
    def add_positions(x, start):
        for dim in range(2, 20, 2):
            stash[dim] = posenc_lib.sinusoidal(np.arange(9), dim)
        n, dim = x.shape[-2:]
        return x + posenc_lib.sinusoidal(np.arange(start, start + n), dim)
    """
    grade = graded(grader, model_answers(FORMULA, sinusoidal=stash, add_positions=fills), FORMULA)
    assert one(grade, "add_positions").verdict is Verdict.RIGHT
    assert one(grade, "sinusoidal").points == 0


def test_a_lent_name_cannot_be_used_to_exhaust_the_judge(grader):
    bomb = "def add_positions(x, start): return posenc_lib.sinusoidal(10**9, 4096)"
    found = one(graded(grader, model_answers(FORMULA, add_positions=bomb), FORMULA), "add_positions")
    assert (found.verdict, found.points) == (Verdict.MEMORY_LIMIT, 0)


def test_a_trial_leaves_no_session_open(grader):
    warm = grader._warm_for([], submission("1"))
    with Trial(warm, grader._lender, submission("x = 1"), FAST) as trial:
        assert trial.find(TOY[0]) == 0
        session = trial._session
    assert present(session)._report is not None


def test_what_the_judge_computes_takes_no_time_from_the_learner(grader, monkeypatch):
    """A judge that trains models may take longer than the learner's code has left."""
    now = 0.0
    monkeypatch.setattr("posenc_course.grading.judging.trial.time.monotonic", lambda: now)
    trial = Trial(grader._warm_for([], submission("1")), grader._lender, submission("1"), FAST)
    left = trial._step() - now
    with trial.clock_stopped():
        now += 1000.0
    assert trial._step() - now == left
    now += left
    assert trial._step() - now == left / 2
