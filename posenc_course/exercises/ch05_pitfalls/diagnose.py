"""Read the traces."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch05_pitfalls._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each
from posenc_lib._arrays import Array

_TRACES = ("right", "columns counted", "starts again", "one too far", "one row for all")


def _trace(rng: Generator, fault: str) -> Case:
    batch, n, steps = int(rng.integers(2, 5)), int(rng.integers(5, 9)), int(rng.integers(2, 5))
    pads = np.append(rng.integers(1, n - 2, size=batch - 1), 0)
    pads[0] = max(1, pads[0])
    mask = (np.arange(n) >= pads[:, None]).astype(np.int64)
    prompt = np.where(mask == 1, np.cumsum(mask, axis=1) - 1, int(rng.integers(2)))
    lengths = mask.sum(axis=1, keepdims=True)
    written = lengths + np.arange(steps)
    if fault == "columns counted":
        prompt, written = np.tile(np.arange(n), (batch, 1)), np.tile(n + np.arange(steps), (batch, 1))
    elif fault == "starts again":
        written = np.tile(np.arange(steps) * int(rng.integers(2)), (batch, 1))
    elif fault == "one too far":
        written = written + 1
    elif fault == "one row for all":
        prompt, written = np.tile(prompt[:1], (batch, 1)), np.tile(written[:1], (batch, 1))
    return Case(
        f"{batch} sentences of up to {n} tokens, and {steps} more", (mask, prompt.astype(np.int64), written)
    )


def _trace_cases(rng: Generator) -> Iterator[Case]:
    for fault in enough_of_each(rng, *([each] for each in _TRACES)):
        yield _trace(rng, fault)


def _real_positions(mask: Array) -> Array:
    return np.cumsum(mask, axis=1) - 1


def _prompt_is(mask: Array, prompt: Array, expected: Array) -> bool:
    return bool((np.where(mask == 1, prompt - expected, 0) == 0).all())


def _diagnose(mask: Array, prompt: Array, written: Array) -> str:
    lengths = mask.sum(axis=1)
    if _prompt_is(mask, prompt, _real_positions(mask)):
        first = written[:, 0] - lengths
        if (first == 0).all():
            return "right"
        return "one too far" if (first == 1).all() else "starts again"
    if _prompt_is(mask, prompt, np.broadcast_to(np.arange(mask.shape[1]), mask.shape)):
        return "columns counted"
    return "one row for all"


def _diagnose_by_the_new(mask: Array, prompt: Array, written: Array) -> str:
    start, lengths = written[:, 0], mask.sum(axis=1)
    counted = np.where(mask == 1, np.cumsum(mask, axis=1) - 1, prompt)
    if np.array_equal(counted, prompt):
        found = {0: "right", 1: "one too far"}
        return found.get(int((start - lengths)[0]), "starts again")
    return "columns counted" if start[0] == mask.shape[1] else "one row for all"


def _diagnose_token_by_token(mask: Array, prompt: Array, written: Array) -> str:
    verdicts = set()
    for real, row, new in zip(mask.astype(bool), prompt, written, strict=True):
        n = int(real.sum())
        if row[real].tolist() == list(range(n)):
            verdicts.add({n: "right", n + 1: "one too far"}.get(int(new[0]), "starts again"))
    wrong_rows = [
        row[real].tolist() != list(range(int(real.sum())))
        for real, row in zip(mask == 1, prompt, strict=True)
    ]
    if not any(wrong_rows):
        return next(iter(verdicts))
    return "columns counted" if (prompt == np.arange(mask.shape[1])).all() else "one row for all"


def _diagnose_by_expectation(mask: Array, prompt: Array, written: Array) -> str:
    steps, n = written.shape[1], mask.shape[1]
    right = mask.sum(axis=1, keepdims=True) + np.arange(steps)
    if (prompt[mask == 1] == _real_positions(mask)[mask == 1]).all():
        for name, expected in (("right", right), ("one too far", right + 1)):
            if np.array_equal(written, expected):
                return name
        return "starts again"
    return (
        "columns counted"
        if np.array_equal(written, np.tile(n + np.arange(steps), (len(mask), 1)))
        else "one row for all"
    )


def _right_about(fault: str) -> Callable[[tuple[Array, Array, Array], str], bool]:
    """Whether this fault is not taken for another one."""
    return lambda args, value: _diagnose(*args) != fault or value == fault or value not in _TRACES


DIAGNOSE = Exercise(
    id="05-pitfalls.diagnose",
    title="Read the traces",
    signature="diagnose(mask: (batch, n), prompt: (batch, n), written: (batch, steps)) -> "
    '"right", "columns counted", "starts again", "one too far" or "one row for all"',
    points=3,
    minutes=15,
    difficulty=3,
    reference=_diagnose,
    make_cases=_trace_cases,
    properties=(
        Property(
            lambda args, value: value in _TRACES,
            "Return one of the five texts, letter for letter.",
            about="form",
        ),
        Property(
            _right_about("right"),
            "This trace is right: in each row the tokens are at 0, 1, 2, ..., and the first new token is at "
            "the number of tokens. Do you judge the positions of padding, or compare with the number of "
            "columns?",
        ),
        Property(
            _right_about("columns counted"),
            "In this trace every row of the prompt is 0, 1, 2, ... by columns, and padding is in the count.",
        ),
        Property(
            _right_about("starts again"),
            "In this trace the prompt is right, and in some rows the first new token is neither at the "
            "number of tokens nor one further. Compare row by row: rows have different numbers of tokens.",
        ),
        Property(
            _right_about("one too far"),
            "In this trace the prompt is right, and in every row the first new token is at the number of "
            "tokens plus 1.",
        ),
        Property(
            _right_about("one row for all"),
            "In this trace all rows have the same positions, and these are not the numbers of the columns.",
        ),
    ),
    mistakes=(
        Mistake(
            "padding-judged",
            lambda mask, prompt, written: (
                _diagnose(mask, prompt, written)
                if _diagnose(mask, prompt, written) == "columns counted"
                or np.array_equal(prompt, _real_positions(mask) * mask)
                else "one row for all"
            ),
            "You expect padding at position 0. It is masked, so any filler will do there: look only at the "
            "tokens.",
        ),
        Mistake(
            "padding-judged-as-1",
            lambda mask, prompt, written: (
                _diagnose(mask, prompt, written)
                if _diagnose(mask, prompt, written) == "columns counted"
                or np.array_equal(prompt, np.where(mask == 1, _real_positions(mask), 1))
                else "one row for all"
            ),
            "You expect padding at position 1. It is masked, so any filler will do there: look only at the "
            "tokens.",
        ),
        Mistake(
            "first-sentence-by-columns",
            lambda mask, prompt, written: (
                _diagnose(mask, prompt, written)
                if _diagnose(mask, prompt, written) in ("columns counted", "one row for all")
                else {0: "right", 1: "one too far"}.get(int(written[0, 0]) - mask.shape[1], "starts again")
            ),
            "You tell the prompts apart correctly. But you compare the first new token with the number of "
            "columns, and the first sentence is padded. Compare with the number of its tokens.",
        ),
        Mistake(
            "new-tokens-of-the-last-sentence",
            lambda mask, prompt, written: {0: "right", 1: "one too far"}.get(
                int(written[-1, 0] - mask[-1].sum()), "starts again"
            ),
            "You look only at the last sentence, which is not padded: there, counted columns are right. Look "
            "at all rows, and at the prompts.",
        ),
        Mistake(
            "prompt-alone",
            lambda mask, prompt, written: _only(mask, prompt, written, "columns counted", "one row for all"),
            "You look only at the prompt. Where it is right, the new tokens may still be at wrong positions.",
        ),
        Mistake(
            "new-tokens-alone",
            lambda mask, prompt, written: _new_alone(mask, written),
            "You look only at the new tokens, and take the columns of the prompt for its length. The length "
            "of a sentence is the number of its tokens.",
        ),
        Mistake(
            "one-too-far-not-noticed",
            lambda mask, prompt, written: _rather(mask, prompt, written, "one too far", "right"),
            "You accept a first new token that is one too far. The sentence has positions 0 to "
            "length - 1: which one comes next?",
        ),
        Mistake(
            "one-early-expected",
            lambda mask, prompt, written: {"right": "one too far", "one too far": "starts again"}.get(
                _diagnose(mask, prompt, written), _diagnose(mask, prompt, written)
            ),
            "You expect the first new token at length - 1. That is the position of the last token of the "
            "prompt.",
        ),
        Mistake(
            "columns-not-noticed",
            lambda mask, prompt, written: _rather(mask, prompt, written, "columns counted", "right"),
            "You accept counted columns. With padding on the left, the first token of a sentence is not "
            "in column 0, but its position is 0 all the same.",
        ),
        Mistake(
            "columns-for-one-row",
            lambda mask, prompt, written: _rather(
                mask, prompt, written, "columns counted", "one row for all"
            ),
            "Counted columns are the same for all sentences too, but they count from column 0. The row of "
            "the first sentence counts its tokens.",
        ),
        Mistake(
            "one-row-for-columns",
            lambda mask, prompt, written: _rather(
                mask, prompt, written, "one row for all", "columns counted"
            ),
            "Here all sentences got the positions of the first one, and you say that columns were counted. "
            "Look at a row in which the prompt does not begin with 0, 1, 2.",
        ),
        Mistake(
            "starts-again-not-noticed",
            lambda mask, prompt, written: _rather(mask, prompt, written, "starts again", "right"),
            "You accept new tokens that start again at 0. They come after the prompt.",
        ),
    ),
    alternatives=(_diagnose_by_the_new, _diagnose_token_by_token, _diagnose_by_expectation),
    hints=(
        "Write down what is right: in each sentence the tokens are at 0, 1, 2, ..., and the first new token "
        "is at the number of tokens in its prompt.",
        "Is the prompt wrong? Then every row holds the numbers of the columns, or every row holds the "
        "positions of the first sentence. Compare only where the mask is 1.",
        "Is the prompt right? Then take `written[:, 0] - mask.sum(axis=1)`: 0 is right, 1 is one too far.",
    ),
)


def _rather(mask: Array, prompt: Array, written: Array, found: str, said: str) -> str:
    right = _diagnose(mask, prompt, written)
    return said if right == found else right


def _only(mask: Array, prompt: Array, written: Array, *known: str) -> str:
    right = _diagnose(mask, prompt, written)
    return right if right in known else "right"


def _new_alone(mask: Array, written: Array) -> str:
    first = written[:, 0] - mask.shape[1]
    if (first == 0).all():
        return "right"
    return "one too far" if (first == 1).all() else "starts again"
