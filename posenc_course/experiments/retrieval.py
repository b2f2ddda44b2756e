"""A needle in a haystack: a trained byte model learns to find a value, and looks for it in longer texts.

Into a passage of source a line is put, a key of four letters and a value of four digits; at the end of the
text the key comes again, and the model is to say the value:

    ... passage ...
    qzvd = 4821
    ... passage ...
    qzvd = 4821

Key and value are drawn anew each time, so there is nothing to learn by heart. The model learns it in texts
of the length of its training and in shorter ones, wherever in the text the line stands, until it can do it
at the whole length or the steps are used up.

Then it may learn two harder kinds as well. Among needles that look alike, three more lines stand in the text,
whose keys differ from the right one in one letter: in miniature, what RULER has (Hsieh et al. 2024,
arXiv:2404.06654). And asked in capitals, question and needle share no byte of the key: as far as bytes allow,
what NoLiMa has (Modarressi et al. 2025, arXiv:2502.05167), whose questions share no word with the needle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from posenc_course.experiments import byte_model, source_text
from posenc_course.experiments.byte_model import as_tensor, cut
from posenc_course.experiments.decoder import Decoder
from posenc_course.experiments.rescaling import base_of, encoding_for
from posenc_course.experiments.training import Bench, level_then_down, thinned
from posenc_course.experiments.wrapped import change_encodings

LETTERS = as_tensor(b"abcdefghijklmnopqrstuvwxyz")
DIGITS = as_tensor(b"0123456789")
NEW_LINE, EQUALS = as_tensor(b"\n"), as_tensor(b" = ")
LONG = 4
"""Letters of a key, and digits of a value."""
EXTRA = 2 * (1 + LONG + 3 + LONG) + 1
"""Bytes of the needle, its two ends of line included, and of the question with its answer."""

KINDS = ("word for word", "alike", "capitals")
ALIKE = 3
"""Other needles that look like the right one."""

PARTS = (4, 2, 1)
"""The texts of a tuning have a quarter of the length of the training, a half, or all of it, as often each:
with all of it alone, a RoPE model had not begun to learn after 800 steps."""

ENOUGH = 0.995
"""Share of values right at which a tuning ends. The gate, on other files, asks for less."""
LOOK_EVERY = 50
TO_LOOK_AT = 300


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Tune the trained model of a run to retrieve, and look for needles by length and depth.

    Returns:
        base: of the model before all this, `byte_model.at_the_trained_length`;
        steps: how many the tuning took; solved: whether the model could do it then; curve: of the loss;
        before, trained: the share of values right at the length of training, before the tuning and after it;
        lengths, depths: of the map, depth as the share of the passage that stands before the needle;
        exact: the map, a row for each length: the share of values of which every digit is the likeliest;
        harder: where the run has "harder_steps", the same after a second tuning, on all kinds: "steps",
            "solved", "curve", and of each kind "trained" and "exact".
    """
    text = source_text.require(run["text"])
    model, _ = byte_model.trained(run, bench)
    base = base_of(model, run)
    if run["rule"] != "plain":
        rescaled = encoding_for(run, run["factor"], run["longest_map"], run["k"])
        change_encodings(model, lambda _: rescaled)
    content = source_text.joined(text.learn, run["learn"])

    def at_the_trained_length(kind: str, files: tuple[source_text.File, ...], count: int, seed: int) -> float:
        places = source_text.windows(files, run["length"] + 1 - EXTRA, most=16)[:count]
        passages = cut(files, places, run["length"] + 1 - EXTRA)
        depths = torch.linspace(0, 1, len(passages))
        return exact(model, planted(passages, depths, torch.Generator().manual_seed(seed), kind))

    def learned(kinds: tuple[str, ...]) -> bool:
        shares = [
            at_the_trained_length(kind, text.choose, TO_LOOK_AT, 20_000 + run["seed"]) for kind in kinds
        ]
        return min(shares) >= ENOUGH

    def trained(kind: str) -> float:
        return at_the_trained_length(kind, text.held_out, run["test_rows"], 30_000)

    def tuned(name: str, kinds: tuple[str, ...], steps: int) -> dict[str, Any]:
        losses = _tune(model, run, content, bench, name, kinds, steps, lambda: learned(kinds))
        return {"steps": len(losses), "solved": learned(kinds), "curve": thinned(losses)}

    def map_of(kind: str) -> list[list[float]]:
        return [
            [_cell(model, text.held_out, run, n, at, kind) for at in depths_of(run)] for n in lengths_of(run)
        ]

    easiest = KINDS[0]
    found: dict[str, Any] = {"base": base, "before": trained(easiest)} | tuned(
        "tuning", KINDS[:1], run["tuning_steps"]
    )
    found |= {"trained": trained(easiest), "lengths": lengths_of(run), "depths": depths_of(run)}
    found |= {"exact": map_of(easiest)}
    if run["harder_steps"]:
        found["harder"] = tuned("harder", KINDS, run["harder_steps"])
        found["harder"] |= {"trained": {kind: trained(kind) for kind in KINDS}}
        found["harder"] |= {"exact": {kind: map_of(kind) for kind in KINDS}}
    return found


def planted(passages: Tensor, depths: Tensor, generator: torch.Generator, kind: str = KINDS[0]) -> Tensor:
    """(rows, bytes of a passage + EXTRA): a needle in each passage so deep, and the question at its end.

    Args:
        passages: (rows, bytes). Needles that look alike take the place of the passage's last bytes; where it
            is too short, there are fewer of them.
        depths: (rows,) between 0, at the beginning, and 1, at the end.
        generator: draws keys and values.
        kind: one of `KINDS`.
    """
    found = []
    for passage, depth in zip(passages, depths.tolist(), strict=True):
        key, value = _drawn(LETTERS, generator), _drawn(DIGITS, generator)
        others = [_line(each, _drawn(DIGITS, generator)) for each in _alike(key, generator)]
        others = others[: len(passage) // (2 * len(_line(key, value)))] if kind == "alike" else []
        kept = len(passage) - sum(len(each) + 1 for each in others)
        lines = [(round(depth * kept), _line(key, value))]
        lines += [(int(torch.randint(kept + 1, (), generator=generator)), each) for each in others]
        row = passage[:kept]
        for at, line in sorted(lines, key=lambda each: each[0], reverse=True):
            row = torch.cat([row[:at], line, NEW_LINE, row[at:]])
        asked = key - ord("a") + ord("A") if kind == "capitals" else key
        found.append(torch.cat([row, _line(asked, value)]))
    return torch.stack(found)


def _line(key: Tensor, value: Tensor) -> Tensor:
    return torch.cat([NEW_LINE, key, EQUALS, value])


def _alike(key: Tensor, generator: torch.Generator) -> list[Tensor]:
    """Other keys: each differs in one letter, every one in another place."""
    found = []
    for place in torch.randperm(LONG, generator=generator)[:ALIKE].tolist():
        other = key.clone()
        step = int(torch.randint(1, len(LETTERS), (), generator=generator))
        other[place] = LETTERS[(int(key[place]) - int(LETTERS[0]) + step) % len(LETTERS)]
        found.append(other)
    return found


def _drawn(signs: Tensor, generator: torch.Generator) -> Tensor:
    return signs[torch.randint(len(signs), (LONG,), generator=generator)]


@torch.no_grad()
def exact(model: Decoder, rows: Tensor) -> float:
    """The share of rows whose value the model would write: each digit the likeliest after those before it."""
    device, length = next(model.parameters()).device, rows.shape[1] - 1
    right = []
    for some in torch.split(rows.to(device), max(1, 8192 // length)):
        said = model(some[:, :-1])[:, -LONG:].argmax(-1)
        right.append((said == some[:, -LONG:]).all(dim=1))
    return round(float(torch.cat(right).double().mean()), 5)


def _cell(
    model: Decoder,
    files: tuple[source_text.File, ...],
    run: dict[str, Any],
    length: int,
    depth: float,
    kind: str = KINDS[0],
) -> float:
    """Of one length and depth. The passages begin at the same bytes for all, and the needles are the same."""
    places = source_text.windows(files, run["longest_map"] + 1, most=1)[: run["cases"]]
    passages = cut(files, places, length + 1 - EXTRA)
    generator = torch.Generator().manual_seed(10_000 + run["seed"])
    return exact(model, planted(passages, torch.full((len(passages),), depth), generator, kind))


def lengths_of(run: dict[str, Any]) -> list[int]:
    """Bytes that a model reads before its last digit, the length of training first."""
    return [run["length"] * times for times in run["times"]]


def depths_of(run: dict[str, Any]) -> list[float]:
    """From the beginning to the end, in even steps."""
    return [round(number / (run["depths"] - 1), 4) for number in range(run["depths"])]


def _tune(
    model: Decoder,
    run: dict[str, Any],
    content: bytes,
    bench: Bench,
    name: str,
    kinds: tuple[str, ...],
    steps: int,
    solved: Callable[[], bool],
) -> list[float]:
    """On passages with needles: the loss of all bytes, and that of the answers once more by itself."""
    text = as_tensor(content)
    parts = [part for part in PARTS if run["length"] // part > EXTRA]
    optimizers = model.optimizers(run["tuning_rate"] * run["rate"])

    def loss(generator: torch.Generator) -> Tensor:
        part = parts[int(torch.randint(len(parts), (), generator=generator))]
        count, size = part * run["batch"], run["length"] // part + 1 - EXTRA
        first = torch.randint(len(text) - size, (count, 1), generator=generator)
        depths = torch.rand(count, generator=generator)
        passages = text[first + torch.arange(size)]
        rows = torch.cat(
            [
                planted(passages[row : row + 1], depths[row : row + 1], generator, kinds[row % len(kinds)])
                for row in range(count)
            ]
        ).to(bench.device)
        logits, said = model(rows[:, :-1]), rows[:, 1:]
        answers = F.cross_entropy(logits[:, -LONG:].flatten(0, 1), said[:, -LONG:].flatten())
        return F.cross_entropy(logits.flatten(0, 1), said.flatten()) + answers

    return bench.descend(
        model,
        loss,
        steps,
        optimizers,
        level_then_down(optimizers, steps),
        name=name,
        seed=5000 + run["seed"],
        solved=solved,
        look_every=LOOK_EVERY,
    )
