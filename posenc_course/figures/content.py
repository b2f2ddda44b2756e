"""Pictures of `10-position-from-content`. What each draws is a function of its own, which a test can call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from matplotlib.axes import Axes

from posenc_course.colours import BLUE, GREEN, GREY, ORANGE, PURPLE
from posenc_course.figures.biases import SENTENCES
from posenc_course.figures.labels import label_at_curve
from posenc_course.figures.moves import At, Move, appear
from posenc_course.figures.picture import DIVERGING, GUIDE, SEED, Picture, canvas, finish
from posenc_course.figures.table import Table
from posenc_lib.biased.alibi import alibi_bias
from posenc_lib.biased.gates import fox_bias
from posenc_lib.biased.path import path_products
from posenc_lib.biased.pope import pope_vectors
from posenc_lib.rotated.rotary import apply_rotary

# --- Gates -----------------------------------------------------------------------------------------

OF_WORDS, OF_STOPS = 0.8, 0.2
"""Which share of what stood before a token lets through: a word, and a full stop."""


def logit(gate: np.ndarray) -> np.ndarray:
    """What a sigmoid has to be given for these gates."""
    return np.asarray(np.log(gate) - np.log1p(-gate))


def distances(text: str = SENTENCES) -> dict[str, np.ndarray]:
    """For the last word: how far back each word is, counted, and by what the gates take off its score."""
    stop = np.array([word == "." for word in text.split()])
    gates = np.where(stop, OF_STOPS, OF_WORDS)
    counted = np.arange(len(stop))[::-1]
    return {"counted": counted, "read": 0.0 - np.asarray(fox_bias(logit(gates)[None], 1))[0, 0]}


def ruler_of_words(text: str = SENTENCES) -> Picture:
    """The words of a text on two rulers: one counts them, the other reads them."""
    words, far = text.split(), distances(text)
    places = {name: 1 - values / values.max() for name, values in far.items()}
    with canvas(width=5.4, height=2.9) as figure:
        axes = figure.subplots()
        rows = {"counted": (1.0, BLUE, "o"), "read": (0.0, ORANGE, "s")}
        moves = []  # first both rulers count, then each word sets its step
        for place in zip(*places.values(), strict=True):
            to = axes.plot(place, [1, 0], color=GREY, linestyle=":", linewidth=GUIDE)
            moves.append(appear(*to, start=3.2, end=3.8))
        for name, (y, colour, marker) in rows.items():
            axes.plot([0, 1], [y, y], color=colour, linestyle="-")
            for x, counted, word in zip(places[name], places["counted"], words, strict=True):
                above = name == "counted"
                point = axes.plot(x, y, color=colour, marker=marker, linestyle="none")
                label = axes.text(
                    x,
                    1.12 if above else -0.12,
                    word,
                    rotation=90,
                    ha="center",
                    va="bottom" if above else "top",
                )
                if x != counted:
                    moves.append(Move([*point, label], (At(0.8, by=(counted - x, 0)), At(3.2))))
        axes.text(-0.04, 1, "count", ha="right", va="center", color=BLUE)
        axes.text(-0.04, 0, "read", ha="right", va="center", color=ORANGE)
        axes.set_xlim(-0.18, 1.03)
        axes.set_ylim(-0.75, 1.75)
        axes.axis("off")
        told = ", ".join(f"{word} {value:.1f}" for word, value in zip(words, far["read"], strict=True))
        return finish(
            figure,
            moves=moves,
            alt=f"The words of “{text}” on two rulers that end at the last word. On the upper one they are "
            "evenly spaced. On the lower one each sentence is a cluster, with a wide gap before each full "
            f"stop. By the lower ruler, the distances from the last word are: {told}.",
        )


# --- Near and far ----------------------------------------------------------------------------------

WIDTH, HEADS, NEAR = 64, 8, 16
LONGEST = 2**14


@cache
def score_by_distance(longest: int = LONGEST) -> dict[str, np.ndarray]:
    """The scores of one word that stands everywhere, by how far back it stands, (heads, longest).

    The word's vector is drawn anew for each head, and so are the reflections of PaTH, one for each token.
    """
    rng = np.random.default_rng(0)
    word = rng.normal(size=(HEADS, 1, WIDTH))
    word *= np.sqrt(WIDTH) / np.linalg.norm(word, axis=-1, keepdims=True)
    w = rng.normal(size=(HEADS, longest, WIDTH))
    w /= np.linalg.norm(w, axis=-1, keepdims=True)
    keys = np.broadcast_to(word, w.shape)
    last = np.array([longest - 1])
    products = {
        "RoPE": np.asarray(apply_rotary(word, last) @ np.swapaxes(apply_rotary(keys, longest), -1, -2)),
        "PaTH": np.asarray(path_products(word, keys, w, np.full((HEADS, longest), 2.0))),
    }
    found = {name: values[:, 0, ::-1] / np.sqrt(WIDTH) for name, values in products.items()}
    gates = np.asarray(fox_bias(np.full((1, longest), logit(np.array(0.95))), 1))[0, 0, ::-1]
    return found | {"FoX": np.sqrt(WIDTH) + np.broadcast_to(gates, (HEADS, longest))}


def weight_near(scores: np.ndarray, length: int, near: int = NEAR) -> np.ndarray:
    """Of each head: the weight on the nearest keys, in a text of that length."""
    raised = np.exp(scores[:, :length] - scores.max())
    return np.asarray(raised[:, :near].sum(axis=1) / raised.sum(axis=1))


LOOKS = {"RoPE": (BLUE, "--", "s"), "PaTH": (ORANGE, "-", "o"), "FoX": (GREEN, "-.", "^")}


def near_and_far() -> Picture:
    """What becomes of a score with the distance, and of the nearest keys in ever longer texts."""
    scores = score_by_distance()
    lengths = [2**power for power in range(4, 15)]
    shown = np.unique(np.geomspace(1, 1024, 60).astype(int))
    shares = {
        name: np.array([weight_near(each, length).mean() for length in lengths])
        for name, each in scores.items()
    }
    with canvas(width=7.4, height=3.5) as figure:
        left, right = figure.subplots(1, 2)
        for name, (colour, dash, marker) in LOOKS.items():
            left.plot(shown, scores[name][:, shown].mean(axis=0), color=colour, linestyle=dash)
            right.plot(
                lengths, shares[name], color=colour, linestyle=dash, marker=marker, markersize=4, label=name
            )
        left.axhline(0, color=GREY, linewidth=SEED, linestyle="-")
        left.set_xscale("log", base=2)
        left.set_ylim(-6, 9)
        left.set_xlabel("how far back (tokens)")
        left.set_ylabel("score (mean of the heads)")
        right.set_xscale("log", base=2)
        right.set_ylim(0, 1.04)
        right.set_xlabel("length of the text (tokens)")
        right.set_ylabel(f"weight on the nearest {NEAR}")
        label_at_curve(right)
        ends = "; ".join(
            f"{name} {values[2]:.2f} at {lengths[2]} and {values[-1]:.2f} at {lengths[-1]:,}"
            for name, values in shares.items()
        )
        return finish(
            figure,
            alt="Left: the score of one word that is everywhere in the text, against how far back it is. "
            "With PaTH it falls from 8 to about 0 within about 100 tokens and stays there. With RoPE it "
            "falls slowly and is still well above 0 at 1,024. With FoX it falls without end. Right: the "
            f"weight on the nearest {NEAR} tokens against the length of the text. {ends}. RoPE's keeps "
            "falling, PaTH's falls late, and FoX's falls early and is then level.",
        )


# --- Cups ------------------------------------------------------------------------------------------

CUPS = ("left", "middle", "right")
SHUFFLE = ("ball: left", "swap: left, middle", "cough", "swap: middle, right")


def ball_under(moves: Sequence[str] = SHUFFLE) -> list[int]:
    """The cup with the ball after each of these tokens."""
    place, places = 0, []
    for move in moves:
        kind, _, of = move.partition(": ")
        cups = [CUPS.index(name) for name in of.split(", ")] if of else []
        if kind == "ball":
            [place] = cups
        elif kind == "swap" and place in cups:
            place = sum(cups) - place
        places.append(place)
    return places


def cups(moves: Sequence[str] = SHUFFLE) -> Picture:
    """Three cups and a ball, after each token."""
    places = ball_under(moves)
    with canvas(width=4.7, height=2.5) as figure:
        axes = figure.subplots()
        for column, (move, place) in enumerate(zip(moves, places, strict=True)):
            swapped = (
                [CUPS.index(name) for name in move.partition(": ")[2].split(", ")] if "swap" in move else []
            )
            for cup in range(3):
                if column:
                    before = sum(swapped) - cup if cup in swapped else cup
                    colour, dash = (ORANGE, "-") if cup == place else (GREY, ":")
                    axes.plot([column - 0.72, column - 0.28], [-before, -cup], color=colour, linestyle=dash)
                axes.plot(
                    [column - 0.2, column - 0.13, column + 0.13, column + 0.2],
                    [-cup - 0.3, -cup + 0.3, -cup + 0.3, -cup - 0.3],
                    color=BLUE,
                    linestyle="-",
                )
            axes.plot([column], [-place - 0.12], color=ORANGE, marker="o", markersize=9)
            axes.text(column, -2.55, move.replace(": ", ":\n"), ha="center", va="top", fontsize=10)
        for cup, name in enumerate(CUPS):
            axes.text(-0.35, -cup, name, ha="right", va="center", fontsize=10)
        axes.set_xlim(-0.95, len(moves) - 0.6)
        axes.set_ylim(-3.5, 0.4)
        axes.axis("off")
        told = "; ".join(f"after “{move}”: {CUPS[place]}" for move, place in zip(moves, places, strict=True))
        return finish(figure, alt=f"Three cups and a ball, drawn after each of {len(moves)} tokens. {told}.")


# --- What and where --------------------------------------------------------------------------------

RATE = 0.1
"""Radians a position, of the one pair that is drawn."""
BACK = np.arange(41)
CONTENTS = {"dog": 0.0, "cat": 0.5, "it": 1.5}
"""The angle that a key's pair has before it is turned."""
LENGTHS = {"dog": 1.0, "cat": 2.0, "it": 0.0}
DELTA = 0.5 - 2 * np.pi


def rope_terms() -> dict[str, np.ndarray]:
    """What one pair of RoPE gives to a score, for three keys, by how far back they stand."""
    query = apply_rotary(np.tile([1.0, 0.0], (1, 1)), np.zeros(1))
    return {
        word: (query @ apply_rotary(np.tile([np.cos(a), np.sin(a)], (len(BACK), 1)), -RATE * BACK).T)[0]
        for word, a in CONTENTS.items()
    }


def pope_terms() -> dict[str, np.ndarray]:
    """The same of one column of PoPE."""
    query = pope_vectors(np.ones((1, 1)), np.zeros(1))
    delta = np.array([DELTA])
    return {
        word: np.asarray(query @ pope_vectors(np.full((len(BACK), 1), x), -RATE * BACK, delta=delta).T)[0]
        for word, x in LENGTHS.items()
    }


def what_and_where() -> Picture:
    """One pair of RoPE and one column of PoPE: which distance does each word seem to like best?"""
    panels = {"RoPE: a pair": rope_terms(), "PoPE: a column": pope_terms()}
    with canvas(width=7.4, height=3.3) as figure:
        every = figure.subplots(1, 2)
        for axes, (title, terms) in zip(every, panels.items(), strict=True):
            looks = zip(terms.items(), (BLUE, ORANGE, GREEN), ("-", "--", "-."), strict=True)
            for (word, values), colour, dash in looks:
                crest = int(values.argmax())
                axes.plot(BACK, values, color=colour, linestyle=dash, label=f"{word}: {crest} back")
                axes.plot([crest], [values[crest]], color=colour, marker="D", markersize=7)
            axes.set_title(title)
            axes.set_xlabel("how far back (tokens)")
            axes.set_ylabel("part of the score")
            label_at_curve(axes)
        rope, pope = (
            ", ".join(f"{word} {values.argmax()}" for word, values in terms.items())
            for terms in panels.values()
        )
        return finish(
            figure,
            alt="Two panels of waves against how far back a key is, a wave for each of three words, with "
            f"a mark at its crest. With RoPE the crests are at different distances: {rope}. With PoPE the "
            f"waves differ in height, and all crests are at the same distance: {pope}.",
        )


# --- One family ------------------------------------------------------------------------------------


def family(tokens: int = 24) -> dict[str, np.ndarray]:
    """The scores of one word that stands everywhere, with four encodings, (tokens, tokens)."""
    rng = np.random.default_rng(3)
    word = np.tile(rng.normal(size=8) / 2, (tokens, 1))
    w = rng.normal(size=(tokens, 8))
    w /= np.linalg.norm(w, axis=-1, keepdims=True)
    content = word @ word.T
    turned = apply_rotary(word, tokens, base=100.0)
    gates = np.where(np.arange(tokens) % 7 == 4, OF_STOPS, 0.97)
    return {
        "RoPE": np.asarray(turned @ turned.T),
        "ALiBi": content + np.asarray(alibi_bias(4, tokens, tokens))[1],
        "PaTH": np.asarray(path_products(word, word, w, np.full(tokens, 2.0))),
        "FoX": content + np.asarray(fox_bias(logit(gates)[None]))[0],
    }


def knows_offset_alone(scores: np.ndarray) -> bool:
    """Whether the scores of past keys are the same along each diagonal."""
    return all(np.allclose(np.diag(scores, -back), np.diag(scores, -back)[0]) for back in range(len(scores)))


def one_family(tokens: int = 24) -> Picture:
    """Four encodings as one table: does a step rotate or subtract, and is it the same for all tokens?"""
    every = family(tokens)
    words = {"RoPE": "rotates", "ALiBi": "subtracts", "PaTH": "reflects", "FoX": "subtracts"}
    with canvas(width=5.4, height=5.6) as figure:
        panels = figure.subplots(2, 2, sharex=True, sharey=True)
        for axes, (name, scores) in zip(panels.flat, every.items(), strict=True):
            shown = np.ma.masked_array(scores, np.triu(np.ones_like(scores), 1))
            span = np.abs(scores - scores[0, 0])[np.tril_indices(tokens)].max()
            axes.imshow(shown, cmap=DIVERGING, vmin=scores[0, 0] - span, vmax=scores[0, 0] + span)
            axes.set_title(f"{name}: {words[name]}")
        for axes, label in zip(
            panels[:, 0], ("the same step for all", "each token has its own"), strict=True
        ):
            axes.set_ylabel(f"{label}\nquery")
        for axes in panels[1]:
            axes.set_xlabel("key")
        striped = " and ".join(name for name, scores in every.items() if knows_offset_alone(scores))
        return finish(
            figure,
            alt=f"Four triangles of scores of {tokens} queries and keys, all with the same content: RoPE, "
            f"ALiBi, PaTH, FoX. Those of {striped} are the same along each diagonal. The two others are not: "
            "FoX's has steps where a gate closes, PaTH's has no pattern.",
        )


# --- How to choose ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Leaf:
    """Advice, and what it rests on: a stored experiment, or a key of references.bib, or neither is known."""

    name: str
    advice: str
    experiment: str = ""
    literature: str = ""

    @property
    def sign(self) -> str:
        return "●" if self.experiment else "○" if self.literature else "?"


@dataclass(frozen=True)
class Question:
    """What to ask, and where each answer leads."""

    words: str
    answers: tuple[tuple[str, Leaf | Question], ...]


LATER = "byte-models-beyond-counting"
"""The byte models that know more than counting does."""

IN_A_ROW = Question(
    "Can tokens see ahead?",
    (
        ("yes", Leaf("both-ways", "any that can tell left from right", "bags")),
        (
            "no",
            Question(
                "Longer texts than in training?",
                (
                    ("no", Leaf("as-trained", "RoPE, perhaps not in every layer", LATER)),
                    ("yes, near", Leaf("bear", "ALiBi", LATER)),
                    ("yes, far", Leaf("find", "RoPE in windows, the rest see all", "needle-beyond-counting")),
                ),
            ),
        ),
    ),
)

NEW_MODEL = Question(
    "What is a position?",
    (
        ("a place in a row", IN_A_ROW),
        ("a time", Leaf("times", "the time, on circles", "beyond-text")),
        ("row and column", Leaf("grid", "axial RoPE, or a table resized", "beyond-text")),
        ("a frame of sound", Leaf("sound", "a convolution", "beyond-text")),
        ("a point of a field", Leaf("field", "Fourier features", "beyond-text")),
        ("an atom", Leaf("atom", "distances to the others", "beyond-text")),
        (
            "a node",
            Question(
                "What counts?",
                (
                    ("what lies around it", Leaf("around", "random walks", "beyond-text")),
                    ("the whole", Leaf("whole", "Laplacian eigenvectors", "beyond-text")),
                ),
            ),
        ),
        ("a node of a tree", Leaf("tree", "paths from the root", "beyond-text")),
    ),
)

OLD_MODEL = Question(
    "Longer texts than in training?",
    (
        ("no", Leaf("keep", "its own encoding, exactly", "mistakes-beyond-counting")),
        ("yes, near", Leaf("slide", "a window that slides", LATER)),
        ("yes, far", Leaf("stretch", "its family's rule, or YaRN", "", "peng2023")),
    ),
)

TREE = Question(
    "Does position matter?",
    (
        ("no", Leaf("bag", "no encoding", "bags")),
        (
            "yes",
            Question("Are there trained weights?", (("yes", OLD_MODEL), ("no", NEW_MODEL))),
        ),
    ),
)


def leaves(node: Leaf | Question = TREE) -> Iterator[Leaf]:
    """All advice below a question, from top to bottom."""
    if isinstance(node, Leaf):
        yield node
    else:
        for _, below in node.answers:
            yield from leaves(below)


def _rows(node: Leaf | Question, depth: int, answer: str) -> Iterator[tuple[int, str, Leaf | Question]]:
    """Each node with how deep it stands and the answer that leads to it."""
    yield depth, answer, node
    if isinstance(node, Question):
        for each, below in node.answers:
            yield from _rows(below, depth + 1, each)


def _told(node: Leaf | Question) -> str:
    """A node and all below it in words."""
    if isinstance(node, Leaf):
        return node.advice
    return f"{node.words} " + " ".join(f"[{answer}: {_told(below)}]" for answer, below in node.answers)


def tree() -> Picture:
    """The questions, each answer one step to the right, and what to take at the end of each way."""
    rows = list(_rows(TREE, 0, ""))
    with canvas(width=4.7, height=0.34 * len(rows) + 0.5) as figure:
        axes = figure.subplots()
        for row, (depth, answer, node) in enumerate(rows):
            x = 0.3 * depth
            if depth:
                parent = max(r for r in range(row) if rows[r][0] == depth - 1)
                axes.plot(
                    [x - 0.2, x - 0.2, x - 0.04],
                    [-parent - 0.3, -row, -row],
                    color=GREY,
                    linestyle="-",
                    linewidth=GUIDE,
                )
            _draw_node(axes, x, -row, answer, node)
        signs = "●  a stored run      ○  from the literature"
        axes.text(0, -len(rows) - 0.2, signs, va="center", fontsize=10)
        axes.set_xlim(-0.05, 4.5)
        axes.set_ylim(-len(rows) - 0.6, 0.6)
        axes.axis("off")
        return finish(figure, alt=f"A tree of questions. {_told(TREE)}.")


def _draw_node(axes: Axes, x: float, y: float, answer: str, node: Leaf | Question) -> None:
    lead = f"{answer}: " if answer else ""
    if isinstance(node, Question):
        axes.text(x, y, f"{lead}{node.words}", va="center", fontsize=10.5, fontweight="bold")
    else:
        colour = ORANGE if node.experiment else PURPLE
        axes.text(x, y, node.sign, va="center", fontsize=10.5, color=colour)
        axes.text(x + 0.24, y, f"{lead}{node.advice}", va="center", fontsize=10.5)


def leaves_table(evidence: dict[str, str]) -> Table:
    """Each leaf with what it rests on, in the tree's order.

    Args:
        evidence: a sentence for each leaf, by its name.

    Raises:
        ValueError: a leaf has no sentence, or a sentence no leaf.
    """
    names = [leaf.name for leaf in leaves()]
    if sorted(names) != sorted(evidence):
        raise ValueError(f"the leaves are {', '.join(names)}; give one sentence for each")
    return Table(
        "Each leaf of the tree, and what it rests on",
        ["take", "rests on", "because"],
        [[leaf.advice, leaf.experiment or "literature", evidence[leaf.name]] for leaf in leaves()],
    )
