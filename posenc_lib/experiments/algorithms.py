"""Length generalisation: five tasks with exact answers, learned short and tested longer.

The tasks are those of Kazemnejad et al. 2023 in small. The model reads a question and a mark, then says the
answer, token by token, and is told how long the answer is: when to stop is not what is measured here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from posenc_lib.experiments.training import Bench, thinned
from posenc_lib.nn import Learned, Transformer

QUESTION = "Which encodings solve a task at lengths that no training sequence had?"

ENCODINGS = ("none", "learned", "sinusoidal", "rope", "alibi", "t5")
SYMBOLS = 16
MARK, PLUS = SYMBOLS, SYMBOLS + 1
VOCABULARY = SYMBOLS + 2

Task = Callable[[torch.Generator, int, int], tuple[Tensor, Tensor]]
"""From a generator, the number of rows and the length n to questions and answers, (rows, ...) each."""


def copy(generator: torch.Generator, rows: int, n: int) -> tuple[Tensor, Tensor]:
    """n symbols; the same again."""
    symbols = torch.randint(SYMBOLS, (rows, n), generator=generator)
    return symbols, symbols


def reverse(generator: torch.Generator, rows: int, n: int) -> tuple[Tensor, Tensor]:
    """n symbols; the same from the last to the first."""
    symbols, _ = copy(generator, rows, n)
    return symbols, symbols.flip(1)


def sort(generator: torch.Generator, rows: int, n: int) -> tuple[Tensor, Tensor]:
    """n symbols; the same from the lowest to the highest."""
    symbols, _ = copy(generator, rows, n)
    return symbols, symbols.sort(dim=1).values


def addition(generator: torch.Generator, rows: int, n: int) -> tuple[Tensor, Tensor]:
    """Two numbers of n digits with a plus between them; the n + 1 digits of their sum. Lowest digit first."""
    digits = torch.randint(10, (2, rows, n), generator=generator)
    total = F.pad(digits.sum(dim=0), (0, 1))
    for place in range(n):
        total[:, place + 1] += total[:, place] // 10
        total[:, place] %= 10
    plus = torch.full((rows, 1), PLUS)
    return torch.cat([digits[0], plus, digits[1]], dim=1), total


def which_came_first(generator: torch.Generator, rows: int, n: int) -> tuple[Tensor, Tensor]:
    """n symbols with two markers (8 to 15) among them, then the two in any order; the earlier one."""
    markers = SYMBOLS // 2 + torch.rand(rows, SYMBOLS // 2, generator=generator).argsort(dim=1)[:, :2]
    places = torch.rand(rows, n, generator=generator).argsort(dim=1)[:, :2].sort(dim=1).values
    sequence = torch.randint(SYMBOLS // 2, (rows, n), generator=generator).scatter(1, places, markers)
    swap = torch.rand(rows, 1, generator=generator) < 0.5
    return torch.cat([sequence, torch.where(swap, markers.flip(1), markers)], dim=1), markers[:, :1]


TASKS: dict[str, Task] = {
    "which-came-first": which_came_first,
    "copy": copy,
    "sort": sort,
    "reverse": reverse,
    "addition": addition,
}
STEPS = {"which-came-first": 200, "copy": 600, "sort": 500, "reverse": 700, "addition": 900}


def runs(
    *, steps: int | None = None, seeds: int | None = None, fast: bool = False
) -> Iterator[dict[str, Any]]:
    """Every task with every encoding."""
    for task in ["which-came-first"] if fast else TASKS:
        for encoding in ["none", "learned", "alibi"] if fast else ENCODINGS:
            for seed in range(seeds or (1 if fast else 3)):
                yield {
                    "task": task,
                    "encoding": encoding,
                    "seed": seed,
                    "steps": steps or (200 if fast else STEPS[task]),
                    "trained_to": 8,
                    "tested_at": [8, 16] if fast else [4, 8, 10, 12, 16, 24],
                    "rows": 32,
                    "test_rows": 200 if fast else 500,
                    "dim": 32 if fast else 64,
                    "layers": 2,
                    "heads": 4,
                }


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train at lengths 2 to `trained_to`, one length a batch; test at each of `tested_at`.

    Returns:
        training: `thinned` curve of the loss, nats a token of the answer;
        exact, tokens: shares, one a length, of answers right from end to end, and of their tokens. The model
            is given the right answer so far; an answer right from end to end is one that it gives alone too.
    """
    task = TASKS[run["task"]]
    longest = sum(part.shape[1] for part in task(torch.Generator(), 1, run["trained_to"]))
    model = Transformer(
        VOCABULARY,
        run["dim"],
        run["layers"],
        run["heads"],
        encoding=Learned(longest, run["dim"], beyond="clamp", std=1.0)
        if run["encoding"] == "learned"
        else run["encoding"],
    ).to(bench.device)

    def answers(generator: torch.Generator, rows: int, n: int) -> tuple[Tensor, Tensor]:
        """Logits at the places of the answer, (rows, m, vocabulary), and the answer, (rows, m)."""
        question, answer = (part.to(bench.device) for part in task(generator, rows, n))
        mark = torch.full((rows, 1), MARK, device=bench.device)
        read = torch.cat([question, mark, answer[:, :-1]], dim=1)
        return model(read)[:, -answer.shape[1] :], answer

    def loss(generator: torch.Generator) -> Tensor:
        n = int(torch.randint(2, run["trained_to"] + 1, (), generator=generator))
        logits, answer = answers(generator, run["rows"], n)
        return F.cross_entropy(logits.flatten(0, 1), answer.flatten())

    losses = bench.train(model, loss, run["steps"], seed=run["seed"])
    unseen = torch.Generator().manual_seed(10_000 + run["seed"])
    exact, tokens = [], []
    with torch.no_grad():
        for n in run["tested_at"]:
            logits, answer = answers(unseen, run["test_rows"], n)
            right = logits.argmax(-1) == answer
            exact.append(right.all(dim=1).double().mean().item())
            tokens.append(right.double().mean().item())
    return {"training": thinned(losses), "exact": exact, "tokens": tokens}
