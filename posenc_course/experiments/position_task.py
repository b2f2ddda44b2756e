"""Tasks that ask for positions: a small model learns one until it can do it, and is tested on longer ones.

A task gives rows of tokens and, below some of them, the token that the model is to say there. "Distance" is
how far back the token stands that has to be found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from posenc_course.experiments.decoder import Decoder, layers_with
from posenc_course.experiments.training import Bench, level_then_down, thinned

SYMBOLS = 16
NAMES = 224
"""The hints of the places of a number. The first few of them are also the keys to recall by."""
KEYS = 64
FIRST_NAME = SYMBOLS
MARK, PLUS = FIRST_NAME + NAMES, FIRST_NAME + NAMES + 1
BACK = {k: PLUS + 1 + number for number, k in enumerate((1, 2, 3, 5, 8, 13))}
"""How many back -> the token that says so."""
VOCABULARY = 256

NOTHING = -1
"""Stands where nothing is to be said, and where nothing has to be found."""

ENOUGH = 0.995
"""Share of rows right from end to end at which a training ends. The gate, on other rows, asks for less."""
LOOK_EVERY = 50


class Rows(NamedTuple):
    """(rows, length) each: what is read; what is to be said after each token; how far back that stands."""

    read: Tensor
    said: Tensor
    distance: Tensor


Task = Callable[[torch.Generator, int, int], Rows]
"""From a generator, the number of rows, and the size n of the task."""


def induction(generator: torch.Generator, rows: int, n: int) -> Rows:
    """n symbols; at each that was there before, what came after it the latest time.

    The last one's latest time is as often near as far.
    """
    symbols = _symbols(generator, rows, n)
    back = torch.randint(2, n, (rows, 1), generator=generator)
    place = torch.arange(n)
    last = symbols[:, -1:]
    other = (last + torch.randint(1, SYMBOLS, (rows, n), generator=generator)) % SYMBOLS
    between = (place > n - 1 - back) & (place < n - 1)
    symbols = torch.where(between & (symbols == last), other, symbols)
    symbols = torch.where(place == n - 1 - back, last, symbols)
    found = _silent(symbols)
    same = (symbols[:, :, None] == symbols[:, None, :]) & (place < place[:, None])
    after = torch.where(same, place + 1, 0).amax(dim=-1)  # 0 where it was not there before
    found.said[:] = torch.where(after > 0, symbols.gather(1, after), NOTHING)
    found.distance[:] = torch.where(after > 0, place - after, NOTHING)
    return found


def recall(generator: torch.Generator, rows: int, n: int) -> Rows:
    """n pairs of a key and a value; then all of the keys in another order, each followed by its value."""
    keys = FIRST_NAME + torch.rand(rows, KEYS, generator=generator).argsort(dim=1)[:, :n]
    values = _symbols(generator, rows, n)
    asked = torch.rand(rows, n, generator=generator).argsort(dim=1)
    mark = torch.full((rows, 1), MARK)
    answers = values.gather(1, asked)
    read = torch.cat([_woven(keys, values), mark, _woven(keys.gather(1, asked), answers)], dim=1)
    found = _silent(read)
    places = torch.arange(2 * n + 1, read.shape[1], 2)
    found.said[:, places] = answers
    found.distance[:, places] = places - (2 * asked + 1)
    return found


def copy(generator: torch.Generator, rows: int, n: int) -> Rows:
    """n symbols and a mark; the same symbols again."""
    symbols = _symbols(generator, rows, n)
    return _answered(symbols, symbols, n)


def addition(generator: torch.Generator, rows: int, n: int) -> Rows:
    """Two numbers of n digits, lowest first, and their sum; before each digit a hint that names its place.

    The hints begin anywhere in a fixed list, as in Zhou et al. 2024, "Transformers Can Achieve Length
    Generalization But Not Robustly", and are part of the answer: digits of one place have one hint.
    """
    digits = torch.randint(10, (2, rows, n), generator=generator)
    total = F.pad(digits.sum(dim=0), (0, 1))
    for place in range(n):
        total[:, place + 1] += total[:, place] // 10
        total[:, place] %= 10
    first = torch.randint(NAMES - n, (rows, 1), generator=generator)
    hints = FIRST_NAME + first + torch.arange(n + 1)
    plus = torch.full((rows, 1), PLUS)
    one, other = (_woven(hints[:, :n], each) for each in digits)
    return _answered(torch.cat([one, plus, other], dim=1), _woven(hints, total), 2 * n)


def back(generator: torch.Generator, rows: int, n: int) -> Rows:
    """A token that says k, and n symbols: at each of them, the one k before it."""
    symbols = _symbols(generator, rows, n)
    k = torch.tensor(list(BACK))[torch.randint(len(BACK), (rows, 1), generator=generator)]
    told = torch.tensor([BACK[each] for each in k.flatten().tolist()])[:, None]
    found = _silent(torch.cat([told, symbols], dim=1))
    place = torch.arange(n) - k
    found.said[:, 1:] = torch.where(place >= 0, symbols.gather(1, place.clamp(min=0)), NOTHING)
    found.distance[:, 1:] = torch.where(place >= 0, k, NOTHING)
    return found


def parity(generator: torch.Generator, rows: int, n: int) -> Rows:
    """n bits and a mark; whether the number of ones is odd. There is no single place to look at."""
    bits = torch.randint(2, (rows, n), generator=generator)
    found = _silent(torch.cat([bits, torch.full((rows, 1), MARK)], dim=1))
    found.said[:, -1] = bits.sum(dim=1) % 2
    return found


TASKS: dict[str, Task] = {
    "induction": induction,
    "recall": recall,
    "copy": copy,
    "addition": addition,
    "back": back,
    "parity": parity,
}
SIZES = {
    "induction": (8, 32),
    "recall": (2, 8),
    "copy": (2, 16),
    "addition": (1, 3),
    "back": (14, 32),
    "parity": (2, 8),
}
"""The smallest and the largest n of the training."""

TIMES = (1, 2, 4, 8)


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train until the task is solved or the steps are used up; then test, longer and longer.

    Returns:
        steps: how many it took; solved: whether it was;
        sizes: those of the tests, the trained ones (all together, "trained") first;
        exact, tokens: of each size, the share of rows right from end to end, and of tokens right;
        by_distance: of each size, [farthest, how many, share right] in each of up to eight bands of distance.
    """
    task, (least, most) = TASKS[run["task"]], SIZES[run["task"]]
    longest = task(torch.Generator(), 1, most).read.shape[1]
    encodings, windows = layers_with(
        run["encoding"],
        dim=run["dim"],
        heads=run["heads"],
        layers=run["layers"],
        length=longest,
        base=run["base"],
    )
    model = Decoder(VOCABULARY, run["dim"], run["heads"], encodings, windows).to(bench.device)

    def drawn(generator: torch.Generator) -> int:
        return int(torch.randint(least, most + 1, (), generator=generator))

    def loss(generator: torch.Generator) -> Tensor:
        rows = task(generator, run["rows"], drawn(generator))
        logits = model(rows.read.to(bench.device))
        said = rows.said.to(bench.device)
        return F.cross_entropy(logits.flatten(0, 1), said.flatten(), ignore_index=NOTHING)

    def trained(seed: int) -> list[Rows]:
        """Rows of all trained sizes."""
        generator = torch.Generator().manual_seed(seed)
        sizes = range(least, most + 1)
        return [task(generator, -(-run["test_rows"] // len(sizes)), n) for n in sizes]

    def solved() -> bool:
        return _exact(model, trained(20_000 + run["seed"])) >= ENOUGH

    optimizers = model.optimizers(run["rate"])
    losses = bench.descend(
        model,
        loss,
        run["steps"],
        optimizers,
        level_then_down(optimizers, run["steps"]),
        seed=run["seed"],
        solved=solved,
        look_every=LOOK_EVERY,
    )
    unseen = torch.Generator().manual_seed(10_000 + run["seed"])
    tests = [trained(30_000 + run["seed"])]
    tests += [[task(unseen, run["test_rows"], times * most)] for times in TIMES]
    right = [[_right(model, rows) for rows in test] for test in tests]
    return {
        "steps": len(losses),
        "solved": solved(),
        "curve": thinned(losses),
        "sizes": ["trained", *(times * most for times in TIMES)],
        "exact": [_exact(model, test) for test in tests],
        "tokens": [round(float(torch.cat(each).double().mean()), 5) for each in right],
        "by_distance": [
            _by_distance(torch.cat(each), torch.cat([rows.distance[rows.said >= 0] for rows in test]))
            for each, test in zip(right, tests, strict=True)
        ],
    }


@torch.no_grad()
def _right(model: Decoder, rows: Rows) -> Tensor:
    """Of each token that is to be said, whether it is the likeliest. The answer so far is given."""
    device = next(model.parameters()).device
    likeliest = torch.cat([model(some.to(device)).argmax(-1).cpu() for some in torch.split(rows.read, 50)])
    return (likeliest == rows.said)[rows.said >= 0]


def _exact(model: Decoder, test: list[Rows]) -> float:
    """The share of rows in which every token is right."""
    wrong = []
    for rows in test:
        missed = torch.zeros_like(rows.said, dtype=torch.bool)
        missed[rows.said >= 0] = ~_right(model, rows)
        wrong.append(missed.any(dim=1))
    return round(1 - float(torch.cat(wrong).double().mean()), 5)


def _by_distance(right: Tensor, distance: Tensor, bands: int = 8) -> list[list[float]]:
    """In bands of distances, from near to far: [farthest, how many tokens, share right]."""
    known = distance >= 0
    if not known.any():
        return []
    right, distance = right[known], distance[known]
    distinct = torch.unique(distance)
    found = []
    for band in torch.tensor_split(distinct, min(bands, len(distinct))):
        within = torch.isin(distance, band)
        share = float(right[within].double().mean())
        found.append([int(band.max()), int(within.sum()), round(share, 4)])
    return found


def _symbols(generator: torch.Generator, rows: int, n: int) -> Tensor:
    return torch.randint(SYMBOLS, (rows, n), generator=generator)


def _silent(read: Tensor) -> Rows:
    """Rows in which nothing is to be said yet."""
    return Rows(read, torch.full_like(read, NOTHING), torch.full_like(read, NOTHING))


def _answered(question: Tensor, answer: Tensor, distance: int) -> Rows:
    """Question, mark and answer; each token of the answer is said after the one before it."""
    mark = torch.full((len(question), 1), MARK)
    found = _silent(torch.cat([question, mark, answer[:, :-1]], dim=1))
    found.said[:, question.shape[1] :] = answer
    found.distance[:, question.shape[1] :] = distance
    return found


def _woven(one: Tensor, other: Tensor) -> Tensor:
    """a b a b ..."""
    return torch.stack([one, other], dim=-1).flatten(1)
