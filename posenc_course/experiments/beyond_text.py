"""Positions that are no word numbers: graphs, code, sound, calendars, genomes, images, points, fields.

Each case has runs without positions, with the plain index, and with what is made for it. All data are
simulated here, as each function says, but for the handwritten digits (scikit-learn) and for the code, which
is that of the running Python's own standard library (`source_text`).

* `cycle`: nodes of random graphs: which lie on a triangle?
* `side`: graphs of two clusters: which nodes are on the side of the one that is marked?
* `siblings`, `below`: nodes of syntax trees: which hang where the marked one hangs, which hang below it?
  Tested on larger trees, too;
* `sound`: does a tone rise or fall, somewhere in a noise? Tested at twice the length, too;
* `week`: values with a weekly effect at irregular times; tested a year later;
* `strands`: how far apart are two motifs? Tested on the other strand, too, where their order is turned
  around;
* `resolution`: digits as the brightness of 4 x 4 patches; tested with each patch cut in four, too;
* `points`: atoms in space: which of two is nearer to a third? Tested moved, and turned, too;
* `waves`: a network fits a sum of waves from a coordinate: which frequencies come first?
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from posenc_course.experiments import source_text
from posenc_course.experiments.training import Bench, thinned
from posenc_lib.added import (
    fourier_features,
    laplacian_eigenvectors,
    power_of_two_frequencies,
    return_probabilities,
    tree_paths,
)
from posenc_lib.nn import (
    AxialRotary,
    Calendar,
    Enformer,
    LaplacianEigenvectors,
    LearnedGrid,
    MixedRotary,
    PositionalEncoding,
    RandomWalk,
    Time2Vec,
    Transformer,
    TreePaths,
)
from posenc_lib.nn.positions import Positions

QUESTION = "What does an encoding that suits the data bring, beside none and the plain index?"

GATE = (
    "A run with the encoding that the case is about learns more than half of what there is between chance "
    "and all. Runs of the others are stored as they come out."
)
ABOUT = {
    "cycle": ("random-walk",),
    "side": ("laplacian",),
    "siblings": ("tree-paths",),
    "below": ("tree-paths",),
    "sound": ("convolution",),
    "week": ("calendar",),
    "strands": ("alibi", "enformer", "enformer-distance", "enformer-both"),
    "resolution": ("learned-grid", "axial", "mixed"),
    "points": ("axial", "distances"),
    "waves": ("fourier",),
}
"""Case -> the encodings that it is about; the gate asks something of these alone."""

VARIANTS = {
    "cycle": ("none", "sinusoidal", "laplacian", "laplacian-invariant", "random-walk"),
    "side": ("none", "sinusoidal", "laplacian", "laplacian-invariant", "random-walk"),
    "siblings": ("none", "sinusoidal", "depth", "tree-paths"),
    "below": ("none", "sinusoidal", "depth", "tree-paths"),
    "sound": ("none", "sinusoidal", "convolution"),
    "week": ("none", "index", "sinusoidal", "time2vec", "calendar"),
    "strands": ("none", "sinusoidal", "alibi", "enformer", "enformer-distance", "enformer-both"),
    "resolution": ("none", "sinusoidal", "learned-grid", "axial", "mixed"),
    "points": ("none", "sinusoidal", "coordinates", "axial", "distances"),
    "waves": ("none", "fourier"),
}
_STEPS = {
    "cycle": 200,
    "side": 300,
    "siblings": 400,
    "below": 400,
    "sound": 250,
    "week": 300,
    "strands": 300,
    "resolution": 400,
    "points": 400,
    "waves": 600,
}
_FAST_STEPS = 60


def runs(
    *, steps: int | None = None, seeds: int | None = None, fast: bool = False
) -> Iterator[dict[str, Any]]:
    """Every case with every encoding of its positions."""
    for case in ("week", "waves") if fast else VARIANTS:
        for encoding in (VARIANTS[case][-1],) if fast else VARIANTS[case]:
            for seed in range(seeds or (1 if fast else 3)):
                yield {
                    "case": case,
                    "encoding": encoding,
                    "seed": seed,
                    "steps": steps or (_FAST_STEPS if fast else _STEPS[case]),
                    "dim": 32,
                    "layers": 2,
                    "heads": 4,
                }


def measure(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Train and test one case.

    Returns:
        training: `thinned` curve of the loss;
        score: on unseen data, from 0 for what chance (or the mean) gives to 1 for all there is;
        elsewhere: the same on data of another kind, as the case says; None where there is none.
        moved: of `points`; left: of `waves`, see there.
    """
    return CASES[run["case"]](run, bench)


def shortfall(run: dict[str, Any], result: dict[str, Any]) -> str | None:
    """What a run lacks to be spoken of."""
    if run["encoding"] in ABOUT[run["case"]] and result["score"] <= 0.5:
        return f"it learnt {result['score']:.0%} of what there is between chance and all"
    return None


class VectorModel(nn.Module):
    """A Transformer from vectors to vectors, with a linear map before and after it."""

    def __init__(self, run: dict[str, Any], inputs: int, outputs: int, length: int) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, run["dim"])
        self.between = Transformer(
            None,
            run["dim"],
            run["layers"],
            run["heads"],
            encoding=run["encoding"],
            causal=False,
            length=length,
        )
        self.last = nn.Linear(run["dim"], outputs)

    def forward(self, x: Tensor, positions: Tensor | None = None, padding: Tensor | None = None) -> Tensor:
        """(batch, length, inputs) to (batch, length, outputs); padding is True where there is no token."""
        y: Tensor = self.last(self.between(self.first(x), positions=positions, padding_mask=padding))
        return y


def learned(
    run: dict[str, Any],
    bench: Bench,
    model: nn.Module,
    loss: Callable[[torch.Generator], Tensor],
    score: Callable[[], float],
    elsewhere: Callable[[], float] | None = None,
) -> dict[str, Any]:
    """Train, then test."""
    losses = bench.train(model.to(bench.device), loss, run["steps"], seed=run["seed"])
    with torch.no_grad():
        found, other = score(), None if elsewhere is None else elsewhere()
    return {
        "training": thinned(losses),
        "score": round(found, 4),
        "elsewhere": None if other is None else round(other, 4),
    }


def above_chance(right: Tensor, chance: float) -> float:
    """The share that is right, from 0 at chance to 1."""
    return float((right.double().mean() - chance) / (1 - chance))


def explained(said: Tensor, truth: Tensor) -> float:
    """The share of the variance that is explained."""
    return float(1 - F.mse_loss(said, truth) / truth.var(correction=0))


def unseen(run: dict[str, Any]) -> torch.Generator:
    """Of the test, which is the same for all encodings."""
    return torch.Generator().manual_seed(10_000 + run["seed"])


# Graphs: the model is told nothing of the edges but through the encoding.

NODES, WAVES, WALK = 14, 8, 8


Graphs = tuple[Tensor, Tensor, Tensor, Tensor]


@cache
def graphs(case: str, count: int, seed: int) -> Graphs:
    """Graphs of 14 nodes in any order, without loops: trees with three more edges, or two clusters of seven.

    Returns:
        (count, 14, 14) adjacencies; (count, 14) the cluster of each node, 0 in trees; (8, count, 14)
        eigenvectors times the root of 14; (8, count, 14) chances of a walk to come back.
    """
    generator = np.random.default_rng(seed)
    found, cluster = np.zeros((count, NODES, NODES)), np.zeros((count, NODES), dtype=np.int64)
    for edges, sides in zip(found, cluster, strict=True):
        names = generator.permutation(NODES)
        if case == "side":
            sides[names[NODES // 2 :]] = 1
            edges[:] = (generator.random((NODES, NODES)) < 0.5) & (sides[:, None] == sides)
        for node in range(1, NODES):  # a tree, which keeps all together
            nearest = node - 1 if case == "side" else max(0, node - 4)
            edges[names[node], names[generator.integers(nearest, node)]] = 1
        if case == "cycle":
            for _ in range(3):
                edges[tuple(generator.choice(NODES, 2, replace=False))] = 1
        edges[:] = np.maximum(edges, edges.T) * (1 - np.eye(NODES))
    waves = np.stack([laplacian_eigenvectors(each, WAVES)[1] for each in found]) * math.sqrt(NODES)
    walks = return_probabilities(found, WALK)
    positions = [torch.from_numpy(np.moveaxis(each, -1, 0).astype(np.float32)) for each in (waves, walks)]
    return torch.from_numpy(found).float(), torch.from_numpy(cluster), positions[0], positions[1]


def _of_graphs(run: dict[str, Any]) -> str | PositionalEncoding:
    dim, name = run["dim"], run["encoding"]
    if name == "random-walk":
        return RandomWalk(None, dim, steps=WALK)
    if name.startswith("laplacian"):
        signs = "invariant" if name.endswith("invariant") else "fixed"  # else they are flipped in the data
        return LaplacianEigenvectors(None, dim, count=WAVES, signs=signs)  # type: ignore[arg-type]
    chosen: str = name
    return chosen


def of_graphs(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Of each node: does it lie on a triangle; or is it on the side of the node that is marked?"""
    model = VectorModel({**run, "encoding": _of_graphs(run)}, inputs=1, outputs=2, length=NODES)
    learnt, tested = graphs(run["case"], 800, run["seed"]), graphs(run["case"], 300, 10_000 + run["seed"])

    def asked(which: Graphs, rows: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Marks, positions and answers of these graphs."""
        adjacency, sides, waves, walks = which
        positions = (walks if run["encoding"] == "random-walk" else waves)[:, rows]
        if run["encoding"] == "laplacian":
            coins = torch.randint(2, (WAVES, len(rows), 1), generator=generator)
            positions = positions * (2 * coins - 1)
        marks = torch.zeros(len(rows), NODES, 1)
        if run["case"] == "side":
            marks[:, 0] = 1  # any node: they are numbered at random
            return marks, positions, (sides[rows] == sides[rows, :1]).long()
        edges = adjacency[rows]
        triangles = torch.diagonal(edges @ edges @ edges, dim1=-2, dim2=-1) > 0
        return marks, positions, triangles.long()

    def said(marks: Tensor, positions: Tensor) -> Tensor:
        with_index = run["encoding"] in ("none", "sinusoidal")
        logits: Tensor = model(marks, None if with_index else positions)
        return logits

    def loss(generator: torch.Generator) -> Tensor:
        rows = torch.randint(len(learnt[0]), (32,), generator=generator)
        marks, positions, answers = asked(learnt, rows, generator)
        return F.cross_entropy(said(marks, positions).flatten(0, -2), answers.flatten())

    def score() -> float:
        marks, positions, answers = asked(tested, torch.arange(len(tested[0])), unseen(run))
        answers = answers[:, 1:]  # node 0 may be the marked one, which is on its own side
        usual = answers.flatten().bincount().max() / answers.numel()  # of who always says the commonest
        return above_chance(said(marks, positions).argmax(-1)[:, 1:] == answers, float(usual))

    return learned(run, bench, model, loss, score)


# Code: syntax trees, whose nodes are read in the order of the source.

BRANCHING, DEPTH = 4, 8
SMALL, LARGE = (8, 24), (25, 48)
"""Nodes of a tree: in training, and elsewhere."""
KINDS = ("Name", "Attribute", "Call", "Constant", "Assign", "Expr", "Return", "If", "Compare", "arg")
"""Kinds of node that have a column of their own; the others share one."""

Tree = tuple[list[int], list[str]]
Trees = tuple[Tensor, Tensor, Tensor]


def tree_of(statement: ast.stmt) -> Tree | None:
    """The parent of each node, -1 for the first, and the kind of each; None for a tree too wide or deep."""
    parents: list[int] = []
    kinds: list[str] = []

    def visit(node: ast.AST, parent: int, depth: int) -> bool:
        children = [each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.expr_context)]
        if depth > DEPTH or len(children) > BRANCHING or len(parents) > LARGE[1]:
            return False
        here = len(parents)
        parents.append(parent)
        kinds.append(type(node).__name__)
        return all(visit(child, here, depth + 1) for child in children)

    return (parents, kinds) if visit(statement, -1, 0) else None


@cache
def statements(part: str, sizes: tuple[int, int], count: int = 1500, files: int = 60) -> Trees:
    """Statements of the standard library, of so many nodes, from one part of `source_text.split`.

    Returns:
        (count, nodes, 11) the kind of each node; (32, count, nodes) `tree_paths`; (count, nodes) parents, -1
        for the first node and -2 where there is none.
    """
    found = [
        tree
        for file in getattr(source_text.split(), part)[:files]
        for node in ast.walk(ast.parse(file.content))
        if isinstance(node, ast.stmt) and (tree := tree_of(node)) and sizes[0] <= len(tree[0]) <= sizes[1]
    ]
    chosen = np.random.default_rng(0).permutation(len(found))[:count]
    kinds = torch.zeros(len(chosen), sizes[1], len(KINDS) + 1)
    paths = torch.zeros(BRANCHING * DEPTH, len(chosen), sizes[1])
    parents = torch.full((len(chosen), sizes[1]), -2)
    for row, which in enumerate(chosen):
        above, names = found[which]
        parents[row, : len(above)] = torch.tensor(above)
        paths[:, row, : len(above)] = torch.from_numpy(tree_paths(np.array(above), BRANCHING, DEPTH)).T
        for node, name in enumerate(names):
            kinds[row, node, KINDS.index(name) if name in KINDS else -1] = 1
    return kinds, paths, parents


def under(parents: Tensor, marked: Tensor) -> Tensor:
    """Which nodes hang below the marked one: (rows, nodes) and (rows,) to (rows, nodes)."""
    found = torch.zeros_like(parents, dtype=torch.bool)
    for node in range(1, parents.shape[1]):
        above = parents[:, node, None].clamp(min=0)
        found[:, node] = ((above == marked[:, None]) | found.gather(1, above))[:, 0] & (parents[:, node] >= 0)
    return found


def one_of(which: Tensor, generator: torch.Generator) -> Tensor:
    """The number of one that is True in each row, at random: (rows, nodes) to (rows,). 0 where none is."""
    return (which * torch.rand(which.shape, generator=generator)).argmax(dim=1)


def of_trees(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Of a node: does it hang at the same parent as the marked one; or anywhere below the marked one?

    Two nodes of each tree are asked, one of which does; chance is a half. Elsewhere: in larger trees.
    """
    name, dim = run["encoding"], run["dim"]
    made: dict[str, Callable[[], Any]] = {
        "tree-paths": lambda: TreePaths(None, dim, branching=BRANCHING, depth=DEPTH),
        "depth": lambda: "sinusoidal",
    }
    encoding = made[name]() if name in made else name
    model = VectorModel({**run, "encoding": encoding}, len(KINDS) + 2, outputs=2, length=LARGE[1])

    def right(which: Trees, rows: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Logits of the nodes that are asked, and what is true."""
        kinds, paths, parents = (part[..., rows, :] if part.ndim == 2 else part for part in which)
        kinds, paths = kinds[rows], paths[:, rows]
        nodes = torch.arange(parents.shape[1])
        siblings = (parents[:, :, None] == parents[:, None]) & (nodes[:, None] != nodes)
        has_some = (siblings & (parents >= 0)[:, None]).any(dim=2) & (parents >= 0)
        inner = torch.zeros_like(has_some).scatter(1, parents.clamp(min=0), True) & (parents >= 0)
        marked = one_of(has_some if run["case"] == "siblings" else inner, generator)
        mark = F.one_hot(marked, len(nodes))
        true = under(parents, marked)
        if run["case"] == "siblings":
            true = siblings[torch.arange(len(rows)), marked] & (parents >= 0)
        false = ~true & (parents > -2) & (mark == 0)
        asked = torch.stack([one_of(true, generator), one_of(false, generator)], dim=1)
        depth = paths.sum(dim=0)  # one step of each path is one 1
        at = {"tree-paths": paths, "depth": depth}.get(name)
        said = model(torch.cat([kinds, mark[..., None]], dim=-1), at, parents == -2)
        return said.gather(1, asked[..., None].expand(-1, -1, 2)), true.gather(1, asked).long()

    learnt, tested = statements("learn", SMALL), statements("held_out", SMALL)

    def loss(generator: torch.Generator) -> Tensor:
        logits, true = right(learnt, torch.randint(len(learnt[0]), (32,), generator=generator), generator)
        return F.cross_entropy(logits.flatten(0, 1), true.flatten())

    def score(which: Trees = tested) -> float:
        logits, true = right(which, torch.arange(min(500, len(which[0]))), unseen(run))
        return above_chance(logits.argmax(-1) == true, 0.5)

    return learned(run, bench, model, loss, score, lambda: score(statements("held_out", LARGE)))


# Sound: a tone that rises or falls within four frames, in noise.

FRAMES, BANDS = 24, 4


def sounds(rows: int, frames: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """(rows, frames, 4 bands) of noise in which a tone rises or falls by a band a frame; and which."""
    rises = torch.randint(2, (rows,), generator=generator)
    start = torch.randint(frames - BANDS, (rows, 1), generator=generator)
    step = torch.arange(BANDS)
    band = torch.where(rises[:, None] == 1, step, BANDS - 1 - step)
    heard = 0.5 * torch.randn(rows, frames, BANDS, generator=generator)
    heard[torch.arange(rows)[:, None], start + step, band] += 3
    return heard, rises


def sound(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Whether the tone rises. Elsewhere: in twice as many frames."""
    model = VectorModel(run, inputs=BANDS, outputs=2, length=2 * FRAMES)

    def loss(generator: torch.Generator) -> Tensor:
        heard, rises = sounds(32, FRAMES, generator)
        return F.cross_entropy(model(heard).mean(dim=1), rises)

    def score(frames: int = FRAMES) -> float:
        heard, rises = sounds(1000, frames, unseen(run))
        return above_chance(model(heard).mean(dim=1).argmax(-1) == rises, 0.5)

    return learned(run, bench, model, loss, score, lambda: score(2 * FRAMES))


# A market-like series: a level that is its own, noise, and an effect of the weekday.

STAMPS, DAY = 16, 86_400
EFFECT = torch.tensor([-1.0, -0.3, 0.0, 0.4, 1.4, 0.0, -0.5])
"""Of Monday to Sunday."""
NOISE = 0.4


def prices(rows: int, year: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Times, seconds since 2023-01-01, rising, 16 in six weeks of that year; and values. (rows, 16) each."""
    begins = DAY * (365 * year + torch.randint(365 - 42, (rows, 1), generator=generator))
    times = begins + torch.randint(42 * DAY, (rows, STAMPS), generator=generator).sort(dim=1).values
    weekday = (times // DAY + 6) % 7  # 2023-01-01 is a Sunday
    level = torch.randn(rows, 1, generator=generator)
    return times, level + EFFECT[weekday] + NOISE * torch.randn(rows, STAMPS, generator=generator)


def week(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """The last value, from those before it and all times: nothing that comes later is seen. Elsewhere: a year
    on.

    A score of 1 is that of who knows the effect and the level; that of 0 knows the level alone.
    """
    name, since_1970 = run["encoding"], 1_672_531_200
    made: dict[str, Callable[[], Any]] = {
        "time2vec": lambda: Time2Vec(run["dim"], shortest=1.0, longest=42.0),
        "calendar": lambda: Calendar(run["dim"], circles=("day", "week", "year")),
        "index": lambda: "sinusoidal",
    }
    encoding = made[name]() if name in made else name
    model = VectorModel({**run, "encoding": encoding}, inputs=2, outputs=1, length=STAMPS)

    def said(times: Tensor, values: Tensor) -> Tensor:
        hidden = torch.zeros_like(values)
        hidden[:, -1] = 1
        at: Tensor | None = times + since_1970 if name == "calendar" else times.double() / DAY
        answer: Tensor = model(
            torch.stack([values * (1 - hidden), hidden], dim=-1), None if name in ("none", "index") else at
        )
        return answer[:, -1, 0]

    def loss(generator: torch.Generator) -> Tensor:
        times, values = prices(32, 0, generator)
        return F.mse_loss(said(times, values), values[:, -1])

    def score(year: int = 0) -> float:
        times, values = prices(2000, year, unseen(run))
        error = F.mse_loss(said(times, values), values[:, -1])
        best, level_alone = NOISE**2, NOISE**2 + EFFECT.var(correction=0)
        return float((level_alone - error) / (level_alone - best))

    return learned(run, bench, model, loss, score, lambda: score(1))


# Two strands: motifs P and E among bases; in training P stands first.

BASES, P, E = 32, 4, 5


def motifs(rows: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """(rows, 32) of bases 0 to 3 with one P and, after it, one E; and whether they are less than 8 apart."""
    letters = torch.randint(4, (rows, BASES), generator=generator)
    near = torch.randint(2, (rows,), generator=generator)
    apart = torch.where(
        near == 1,
        torch.randint(1, 8, (rows,), generator=generator),
        torch.randint(8, 24, (rows,), generator=generator),
    )
    first = (torch.rand(rows, generator=generator) * (BASES - apart)).long()
    row = torch.arange(rows)
    letters[row, first], letters[row, first + apart] = P, E
    return letters, near


def other_strand(letters: Tensor) -> Tensor:
    """From its end, A for T and C for G; each motif is its own partner."""
    return torch.tensor([3, 2, 1, 0, P, E])[letters.flip(1)]


class DistanceAlone(Enformer):
    """Enformer without the half of its bases that knows before from after."""

    def _encoded(self, first: int, last: int, like: Tensor) -> Tensor:
        found = super()._encoded(first, last, like)
        return found * (torch.arange(self.features, device=found.device) < self.features // 2)


def strands(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Whether the motifs are near each other. Elsewhere: read on the other strand, where E stands first.

    "enformer-both" reads each sequence of its training from either strand, as a coin says.
    """
    made: dict[str, Callable[[], Any]] = {
        "enformer-distance": lambda: DistanceAlone(run["dim"], run["heads"]),
        "enformer-both": lambda: "enformer",
    }
    encoding = made[run["encoding"]]() if run["encoding"] in made else run["encoding"]
    model = VectorModel({**run, "encoding": encoding}, inputs=6, outputs=2, length=BASES)

    def said(letters: Tensor) -> Tensor:
        logits: Tensor = model(F.one_hot(letters, 6).float())
        return logits.mean(dim=1)

    def loss(generator: torch.Generator) -> Tensor:
        letters, near = motifs(32, generator)
        if run["encoding"] == "enformer-both":
            coins = torch.randint(2, (32, 1), generator=generator)
            letters = torch.where(coins == 1, other_strand(letters), letters)
        return F.cross_entropy(said(letters), near)

    def score(other: bool = False) -> float:
        letters, near = motifs(1000, unseen(run))
        return above_chance(said(other_strand(letters) if other else letters).argmax(-1) == near, 0.5)

    return learned(run, bench, model, loss, score, lambda: score(True))


# Images of another resolution.


@cache
def digits() -> tuple[Tensor, Tensor]:
    """1,797 images of 8 x 8 pixels, from -1 to 1, and what each shows."""
    from sklearn.datasets import load_digits

    found = load_digits()
    return torch.tensor(found.images / 8 - 1, dtype=torch.float32), torch.tensor(found.target)


def brightness() -> tuple[Tensor, Tensor, Tensor]:
    """Means of 4 x 4 patches, (1797, 16, 1); the same in 8 x 8, (1797, 64, 1); and what each image shows.

    The fine ones show nothing new: each patch is cut in four of its own brightness, so that places alone
    differ.
    """
    images, shown = digits()
    coarse = F.avg_pool2d(images[:, None], 2)
    fine = F.interpolate(coarse, scale_factor=2, mode="nearest")
    return coarse.reshape(-1, 16, 1), fine.reshape(-1, 64, 1), shown


def resolution(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Which digit it is. Elsewhere: each patch cut in four, whose places lie around that of the old one."""
    name, head_dim = run["encoding"], run["dim"] // run["heads"]
    made: dict[str, Callable[[], Any]] = {
        "learned-grid": lambda: LearnedGrid((4, 4), run["dim"], mode="bilinear", std=0.5),
        "axial": lambda: AxialRotary(head_dim, axes=2, base=100.0),
        "mixed": lambda: MixedRotary(head_dim),
    }
    encoding = made[name]() if name in made else name
    model = VectorModel({**run, "encoding": encoding}, inputs=1, outputs=10, length=64)
    coarse, fine, shown = brightness()

    def said(some: Tensor) -> Tensor:
        side = math.isqrt(some.shape[1])
        places = torch.stack(torch.meshgrid(*2 * [(torch.arange(side) + 0.5) * 4 / side], indexing="ij"))
        if isinstance(encoding, LearnedGrid):
            encoding.stretch_to = (side, side)
        between = places.reshape(2, 1, -1) if name in ("axial", "mixed") else None
        logits: Tensor = model(some, between)
        return logits.mean(dim=1)

    def loss(generator: torch.Generator) -> Tensor:
        which = torch.randint(1200, (32,), generator=generator)
        return F.cross_entropy(said(coarse[which]), shown[which])

    def score(larger: bool = False) -> float:
        some = (fine if larger else coarse)[1200:]
        return above_chance(said(some).argmax(-1) == shown[1200:], 0.1)

    return learned(run, bench, model, loss, score, lambda: score(True))


# Atoms in space.

ATOMS, POSE = 8, (3.0, 0.4, 0.4)
"""How far a cloud reaches along each axis. All lie along the first, as in files that were put in order."""


class Distances(PositionalEncoding):
    """A bias of each head: a learned sum of bumps of the distance between two points.

    Positions are coordinates, (axes, batch, points).

    Source: the bumps are those of Schütt et al. 2017, "SchNet".
    """

    def __init__(self, heads: int, *, furthest: float = 8.0, bumps: int = 16) -> None:
        super().__init__()
        self.register_buffer("tops", torch.linspace(0, furthest, bumps), persistent=False)
        self.heights = nn.Linear(bumps, heads, bias=False)

    def bias(
        self,
        q: Tensor,
        k: Tensor,
        q_positions: Positions,
        k_positions: Positions,
        mask: Tensor | None = None,
        *,
        seq_axis: int = -2,
    ) -> Tensor:
        """(batch, heads, queries, keys)."""
        assert isinstance(q_positions, Tensor)
        assert isinstance(k_positions, Tensor)
        assert isinstance(self.tops, Tensor)
        apart = (q_positions[..., :, None] - k_positions[..., None, :]).norm(dim=0)
        bumps = torch.exp(-0.5 * ((apart[..., None] - self.tops) / self.tops[1]) ** 2)
        found: Tensor = self.heights(bumps).movedim(-1, 1)
        return found


def clouds(rows: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Kinds of 8 atoms, (rows, 8, 4), one each of the first three; places (rows, 8, 3); and whether the
    first is nearer to the second than to the third."""
    places = torch.randn(rows, ATOMS, 3, generator=generator) * torch.tensor(POSE)
    kinds = F.one_hot(torch.arange(ATOMS).clamp(max=3), 4).float().expand(rows, -1, -1)
    apart = (places[:, :1] - places[:, 1:3]).norm(dim=-1)
    order = torch.rand(rows, ATOMS, 1, generator=generator).argsort(dim=1)
    kinds, places = (part.gather(1, order.expand(-1, -1, part.shape[-1])) for part in (kinds, places))
    return kinds, places, (apart[:, 0] < apart[:, 1]).long()


def rotations(rows: int, generator: torch.Generator) -> Tensor:
    """(rows, 3, 3), every direction as likely as any, none of them a mirror image."""
    q, r = torch.linalg.qr(torch.randn(rows, 3, 3, generator=generator))
    q = q * torch.diagonal(r, dim1=-2, dim2=-1).sign()[:, None]
    found: Tensor = torch.where(torch.linalg.det(q)[:, None, None] < 0, q.flip(-1), q)
    return found


def points(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Which of two atoms is nearer to a third. Elsewhere: the same clouds turned at random.

    Returns:
        as `measure`, and moved: the score where each cloud is moved somewhere else, and not turned.
    """
    name, head_dim = run["encoding"], run["dim"] // run["heads"]
    made: dict[str, Callable[[], Any]] = {
        "axial": lambda: AxialRotary(head_dim, axes=3, sections=(2, 1, 1), base=10.0),
        "distances": lambda: Distances(run["heads"]),
        "coordinates": lambda: "none",  # they are part of what the atom says of itself
    }
    encoding = made[name]() if name in made else name
    inputs = 4 + 3 * (name == "coordinates")
    model = VectorModel({**run, "encoding": encoding}, inputs, outputs=2, length=ATOMS)

    def said(kinds: Tensor, places: Tensor) -> Tensor:
        at = places.movedim(-1, 0) if name in ("axial", "distances") else None
        logits: Tensor = model(torch.cat([kinds, places], dim=-1)[..., :inputs], at)
        return logits.mean(dim=1)

    def loss(generator: torch.Generator) -> Tensor:
        kinds, places, nearer = clouds(32, generator)
        return F.cross_entropy(said(kinds, places), nearer)

    def score(turned: bool = False, moved: bool = False) -> float:
        generator = unseen(run)
        kinds, places, nearer = clouds(1000, generator)
        if turned:
            places = places @ rotations(1000, generator)
        if moved:
            places = places + 3 * torch.randn(1000, 1, 3, generator=generator)
        return above_chance(said(kinds, places).argmax(-1) == nearer, 0.5)

    found = learned(run, bench, model, loss, score, lambda: score(turned=True))
    with torch.no_grad():
        return found | {"moved": round(score(moved=True), 4)}


# A field in one dimension: which waves come first?

FREQUENCIES = (1, 2, 4, 8, 16)


def waves(run: dict[str, Any], bench: Bench) -> dict[str, Any]:
    """Five waves of equal height from a coordinate, or from its Fourier features.

    Returns:
        as `measure`, and left: of each wave, what share of its height is left in the error, after 1/8, 1/4,
        1/2 and all of the steps.
    """
    x = torch.linspace(-1, 1, 257)[:-1, None]
    turns = math.pi * x * torch.tensor(FREQUENCIES)
    truth = torch.sin(turns).sum(dim=1)
    inputs = fourier_features(x, power_of_two_frequencies(6, 1)) if run["encoding"] == "fourier" else x
    width = 64
    network = nn.Sequential(
        nn.Linear(inputs.shape[1], width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
    )
    looks = {max(1, run["steps"] * share // 8) for share in (1, 2, 4)}
    left: list[list[float]] = []
    made = 0

    def heights() -> list[float]:
        with torch.no_grad():
            error = truth - network(inputs)[:, 0]
        both = torch.stack([(2 * error[:, None] * f(turns)).mean(dim=0) for f in (torch.sin, torch.cos)])
        return [round(each, 4) for each in both.norm(dim=0).tolist()]

    def loss(generator: torch.Generator) -> Tensor:
        nonlocal made
        if made in looks:
            left.append(heights())
        made += 1
        return F.mse_loss(network(inputs)[:, 0], truth)

    found = learned(run, bench, network, loss, lambda: explained(network(inputs)[:, 0], truth))
    return found | {"left": [*left, heights()], "frequencies": list(FREQUENCIES)}


CASES: dict[str, Callable[[dict[str, Any], Bench], dict[str, Any]]] = {
    "cycle": of_graphs,
    "side": of_graphs,
    "siblings": of_trees,
    "below": of_trees,
    "sound": sound,
    "week": week,
    "strands": strands,
    "resolution": resolution,
    "points": points,
    "waves": waves,
}
