"""A loss that is too good: Find the leak."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_course.exercises.ch05_pitfalls._shared import TOO_GOOD, Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


@dataclass(frozen=True)
class Reader:
    """A model, (n,) tokens to (n, vocab): token t sees itself, the past, and `ahead` tokens more."""

    ahead: int
    seed: int
    volume: float = 1.0
    """How loud what it sees of the future is."""
    only_at: int = -1
    """The one place that looks ahead; -1: all do."""
    between: bool = True
    """Whether it sees the tokens up to there, too."""
    back: int = 99
    """How far it looks back."""

    def __call__(self, tokens: Array) -> Array:
        tokens = np.asarray(tokens)
        if ((tokens < 0) | (tokens > 7)).any():
            raise ValueError("give tokens from 0 to 7: this model knows no others")
        rng = np.random.default_rng(self.seed)
        words, mix = rng.normal(size=(64, 6)), rng.normal(size=(6, 64))
        n, vocab = len(tokens), 8
        place, other = np.arange(n)[:, None], np.arange(n)
        reach = np.where((place == self.only_at) | (self.only_at < 0), self.ahead, 0)
        past = (other <= place) & (other >= place - self.back)
        future = (other > place) & (other <= place + reach) & (self.between | (other == place + reach))
        share = np.where(past, 0.8 ** np.abs(place - other), np.where(future, self.volume, 0.0))
        return np.asarray(np.tanh(share @ words[tokens] / 3) @ mix[:, :vocab])


def _reader_cases(rng: Generator) -> Iterator[Case]:
    def model(n: int, ahead: int, **more: Any) -> tuple[Reader, int, int]:
        return Reader(ahead, int(rng.integers(2**32)), **more), n, 8

    yield Case("a model that sees the past alone", model(6, 0))
    yield Case("a model that sees the next token", model(6, 1))
    yield Case("a model that sees everything", model(7, 6))
    yield Case("what it sees of the future is faint", model(9, 4, volume=1e-4))
    yield Case("one place alone looks ahead", model(10, 3, only_at=5))
    yield Case("one place alone looks ahead, faintly", model(11, 2, volume=1e-3, only_at=6))
    yield Case("the first place alone looks ahead", model(9, 3, only_at=0))
    yield Case("one place alone sees the last token", model(9, 4, only_at=4))
    for seen in range(1, 8):  # to set each token to one and the same word must not pass for changing it
        yield Case(f"one place alone sees one token ahead, at {seen}", model(9, 1, only_at=seen - 1))
    yield Case("it looks three ahead, and no nearer", model(8, 3, between=False))
    yield Case("it looks farther ahead than back", model(8, 4, back=1))
    yield Case("a text of two tokens, and the past alone", model(2, 0))
    for number in range(8):
        n = int(rng.integers(5, 13))
        ahead = int(rng.integers(0, n - 1))
        yield Case(f"random model {number}", model(n, ahead, volume=float(rng.choice([1.0, 1e-2]))))


Model = Callable[[Array], Array]


def _changes(model: Model, n: int, vocab: int) -> Array:
    """(n, n): how much row t changes when token s does."""
    tokens = np.arange(n) % vocab
    before = np.asarray(model(tokens))
    table = np.zeros((n, n))
    for s in range(n):
        other = tokens.copy()
        other[s] = (other[s] + 1) % vocab
        table[:, s] = np.abs(np.asarray(model(other)) - before).max(axis=1)
    return table


def _set_to_0(model: Model, n: int, vocab: int) -> int:
    tokens = np.arange(n) % vocab
    before = np.asarray(model(tokens))
    changed = [np.asarray(model(np.where(np.arange(n) == s, 0, tokens))) for s in range(n)]
    return _ahead(np.stack([np.abs(each - before).max(axis=1) for each in changed], axis=1))


def _ahead(table: Array, least: float = 1e-9) -> int:
    t, s = np.nonzero(table > least)
    return int(max(0, (s - t).max(initial=0)))


def _how_far_ahead(model: Model, n: int, vocab: int) -> int:
    return _ahead(_changes(model, n, vocab))


def _by_shuffling(model: Model, n: int, vocab: int) -> int:
    """Changes everything from s on: the first row that reacts looks s - t ahead or more."""
    rng = np.random.default_rng(3)
    best = 0
    for _ in range(4):
        tokens = rng.integers(vocab, size=n)
        before = np.asarray(model(tokens))
        for s in range(1, n):
            other = tokens.copy()
            other[s:] = (other[s:] + rng.integers(1, vocab, size=n - s)) % vocab
            moved = np.abs(np.asarray(model(other)) - before).max(axis=1) > 1e-9
            first = int(np.argmax(moved)) if moved.any() else s
            best = max(best, s - first)
    return best


def _from_the_far_end(model: Model, n: int, vocab: int) -> int:
    table = _changes(model, n, vocab)
    return next((k for k in range(n - 1, 0, -1) if (np.diagonal(table, k) > 1e-10).any()), 0)


def _by_cutting(model: Model, n: int, vocab: int) -> int:
    """A row that sees k ahead changes when the text is cut right before what it sees."""
    tokens = np.arange(n)[::-1] % vocab
    rows, best = np.asarray(model(tokens)), 0
    for length in range(1, n):
        cut = np.asarray(model(tokens[:length]))
        longer = np.asarray(model(tokens[: length + 1]))
        moved = np.abs(longer[:length] - cut).max(axis=1) > 1e-10
        if moved.any():
            best = max(best, length - int(np.argmax(moved)))
    assert len(rows) == n
    return best


HOW_FAR_AHEAD = Exercise(
    id="05-pitfalls.how_far_ahead",
    title="Find the leak",
    step_of=TOO_GOOD,
    signature="how_far_ahead(model: function from whole numbers (n,) to an array (n, vocab), n: int, "
    "vocab: int) -> int",
    points=3,
    minutes=15,
    difficulty=4,
    reference=_how_far_ahead,
    make_cases=_reader_cases,
    properties=(
        Property(
            lambda args, value: 0 <= value < args[1],
            "In a text of n tokens nobody can look further ahead than n - 1, nor less far than 0.",
        ),
        Property(
            lambda args, value: args[0].volume > 0.05 or value >= _how_far_ahead(*args),
            "What this model sees of the future is faint. Compare the numbers themselves, and count any "
            "difference above 1e-9.",
        ),
        Property(
            lambda args, value: args[0].only_at < 0 or value >= _how_far_ahead(*args),
            "In this model only one row looks ahead. Change every token in turn, each to a different word, "
            "and watch every row.",
        ),
        Property(
            lambda args, value: args[0].between or value >= _how_far_ahead(*args),
            "In this model a row sees one token some way ahead, and none in between. Do not stop at the "
            "nearest, and do not count how many tokens it sees: take the distance to the farthest.",
        ),
        Property(
            lambda args, value: value <= _how_far_ahead(*args),
            "No row of this model reacts to a token so far ahead of it. Take the number of the token that "
            "you changed, minus the number of the row that reacted, and the largest of these.",
        ),
    ),
    mistakes=(
        Mistake(
            "yes-or-no",
            lambda model, n, vocab: int(_how_far_ahead(model, n, vocab) > 0),
            "You say whether there is a leak, 0 or 1. Say how many tokens ahead the farthest look goes.",
        ),
        Mistake(
            "by-the-largest-number",
            lambda model, n, vocab: _ahead_by_choice(model, n, vocab),
            "You only compare which word has the largest number. A faint leak does not change that, but "
            "training will make it louder: compare the numbers themselves.",
        ),
        Mistake(
            "loud-ones-alone",
            lambda model, n, vocab: _ahead(_changes(model, n, vocab), least=0.05),
            "You find the loud leaks and miss the faint ones. A row that does not look ahead does not change "
            "at all: any difference above rounding is a leak.",
        ),
        Mistake(
            "first-row-alone",
            lambda model, n, vocab: _ahead(_changes(model, n, vocab)[:1]),
            "You watch only the first row. A leak may be in one row alone: watch every row.",
        ),
        Mistake(
            "last-token-alone",
            lambda model, n, vocab: _ahead(np.pad(_changes(model, n, vocab)[:, -1:], ((0, 0), (n - 1, 0)))),
            "You change only the last token. A leak nearer to the beginning does not reach that far: change "
            "each token in turn.",
        ),
        Mistake(
            "middle-token-alone",
            lambda model, n, vocab: _ahead(np.where(np.arange(n) == n // 2, _changes(model, n, vocab), 0.0)),
            "You change one token in the middle. A look may go to another one: change each token in turn.",
        ),
        Mistake(
            "middle-row-alone",
            lambda model, n, vocab: _ahead(
                np.where(np.arange(n)[:, None] == n // 2, _changes(model, n, vocab), 0.0)
            ),
            "You watch one row in the middle. Another one may look ahead: watch every row.",
        ),
        Mistake(
            "set-to-word-0",
            _set_to_0,
            "You set each token to word 0. Where it is word 0 already, nothing changes, and that place is "
            "never tested. Change each token to a different word: (token + 1) % vocab.",
        ),
        Mistake(
            "all-the-way",
            lambda model, n, vocab: n - 1 if _how_far_ahead(model, n, vocab) else 0,
            "You find out whether there is a leak, and then give n - 1, the farthest look that is possible. "
            "Say how far the farthest look of this model goes.",
        ),
        Mistake(
            "number-of-the-token",
            lambda model, n, vocab: int(
                np.nonzero((np.triu(_changes(model, n, vocab), k=1) > 1e-9).any(axis=0))[0].max(initial=0)
            ),
            "This is the number of the last token that somebody before it sees. Subtract the number of the "
            "row: how far is it from the row to the token?",
        ),
        Mistake(
            "tokens-seen",
            lambda model, n, vocab: int((np.triu(_changes(model, n, vocab), k=1) > 1e-9).sum(axis=1).max()),
            "You count how many later tokens a row sees. A row may see a far one and leave out those in "
            "between: take the distance to the farthest.",
        ),
        Mistake(
            "next-token-alone",
            lambda model, n, vocab: int((np.diagonal(_changes(model, n, vocab), 1) > 1e-9).any()),
            "You only ask whether a row sees the very next token. A look may go farther, and may skip the "
            "next one.",
        ),
        Mistake(
            "shortest-look",
            lambda model, n, vocab: _nearest(_changes(model, n, vocab)),
            "This is the shortest look ahead. Give the farthest one. Do you return at the first leak that "
            "you find?",
        ),
        Mistake(
            "looks-back",
            lambda model, n, vocab: _ahead(_changes(model, n, vocab).T),
            "You measured how far the rows look back. Which one comes later, the row or the token that you "
            "changed?",
        ),
        Mistake(
            "either-way",
            lambda model, n, vocab: max(
                _ahead(_changes(model, n, vocab)), _ahead(_changes(model, n, vocab).T)
            ),
            "You count a look back as a look ahead. Only tokens after the row count.",
        ),
        Mistake(
            "itself-counted",
            lambda model, n, vocab: _how_far_ahead(model, n, vocab) + 1,
            "You count one too many. A look at the token itself is a look of 0, and at the next one a look "
            "of 1.",
        ),
        Mistake(
            "rows-counted",
            lambda model, n, vocab: int((np.triu(_changes(model, n, vocab), k=1) > 1e-9).any(axis=1).sum()),
            "You count the rows that look ahead. How far does the farthest look go?",
        ),
    ),
    alternatives=(_by_shuffling, _from_the_far_end, _by_cutting),
    hints=(
        "You need not look inside. Change one token, and see which rows change.",
        "If row t changes with token s, and s comes after t, then the model looks s - t ahead. The answer is "
        "the largest of these.",
        "Two loops or one table: `before = model(tokens)`; for each s, change `tokens[s]` to another word, "
        "and compare `np.abs(model(changed) - before).max(axis=1)` with a small number such as `1e-9`.",
    ),
)


def _ahead_by_choice(model: Model, n: int, vocab: int) -> int:
    tokens = np.arange(n) % vocab
    before, best = np.asarray(model(tokens)).argmax(axis=1), 0
    for s in range(1, n):
        other = tokens.copy()
        other[s] = (other[s] + 1) % vocab
        moved = np.flatnonzero(np.asarray(model(other)).argmax(axis=1)[:s] != before[:s])
        best = max(best, s - int(moved[0]) if len(moved) else 0)
    return best


def _nearest(table: Array) -> int:
    t, s = np.nonzero(np.triu(table, k=1) > 1e-9)
    return int((s - t).min()) if len(s) else 0
