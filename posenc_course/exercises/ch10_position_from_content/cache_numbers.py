"""What a model keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch10_position_from_content._shared import Generator
from posenc_course.exercises.drawing import Draws, curve
from posenc_course.exercises.exercise import Case, Exercise, Mistake

Layer = dict[str, Any]


KINDS = ("full", "window", "latent", "forgetting", "state")


def _drawn_layer(rng: Generator, kind: str) -> Layer:
    heads, dim = int(rng.integers(1, 33)), 8 * int(rng.integers(2, 17))
    sizes: dict[str, Layer] = {
        "full": {"kv_heads": heads, "head_dim": dim},
        "window": {"kv_heads": heads, "head_dim": dim, "window": int(rng.integers(100, 5000))},
        "latent": {"rank": 8 * int(rng.integers(8, 65)), "rope_dim": 8 * int(rng.integers(1, 9))},
        "forgetting": {"heads": heads, "head_dim": dim},
        "state": {"heads": heads, "key_dim": dim, "value_dim": 8 * int(rng.integers(2, 33))},
    }
    return {"kind": kind} | sizes[kind]


def _cache_cases(rng: Generator) -> Iterator[Case]:
    for kind in KINDS:
        yield Case(f"one layer of kind {kind}", ([_drawn_layer(rng, kind)], 6000))
    window = {"kind": "window", "kv_heads": 4, "head_dim": 64, "window": 1024}
    yield Case("a text shorter than the window", ([window], 300))
    yield Case("three tokens", ([_drawn_layer(rng, kind) for kind in KINDS], 3))
    yield Case("no token yet", ([_drawn_layer(rng, kind) for kind in KINDS], 0))
    for _ in range(4):
        kinds = [*KINDS, *(KINDS[int(n)] for n in rng.integers(0, 5, size=int(rng.integers(1, 6))))]
        drawn = [_drawn_layer(rng, kind) for kind in kinds]
        yield Case("layers, drawn", (drawn, int(rng.integers(1000, 100_000))))


def _full(layer: Layer, tokens: int) -> int:
    return int(2 * layer["kv_heads"] * layer["head_dim"] * tokens)


def _window(layer: Layer, tokens: int) -> int:
    return _full(layer, min(tokens, layer["window"]))


def _latent(layer: Layer, tokens: int) -> int:
    return int((layer["rank"] + layer["rope_dim"]) * tokens)


def _forgetting(layer: Layer, tokens: int) -> int:
    return int(layer["heads"] * (2 * layer["head_dim"] + 1) * tokens)


def _state(layer: Layer, tokens: int) -> int:
    return int(layer["heads"] * layer["key_dim"] * layer["value_dim"])


COUNTS: dict[str, Callable[[Layer, int], int]] = {
    "full": _full,
    "window": _window,
    "latent": _latent,
    "forgetting": _forgetting,
    "state": _state,
}


def _count_with(**counts: Callable[[Layer, int], int]) -> Callable[[list[Layer], int], int]:
    """Of each layer by its kind; those of the reference where nothing else is given."""
    ways = COUNTS | counts
    return lambda layers, tokens: sum(ways[layer["kind"]](layer, tokens) for layer in layers)


def _cache_numbers(layers: list[Layer], tokens: int) -> int:
    return _count_with()(layers, tokens)


def _count_by_token(layers: list[Layer], tokens: int) -> int:
    """How many each token adds, and what is there before the first."""
    total = 0
    for layer in layers:
        kind = layer["kind"]
        if kind == "state":
            total += np.zeros((layer["heads"], layer["value_dim"], layer["key_dim"]), dtype=bool).size
            continue
        kept = min(tokens, layer.get("window", tokens))
        one = layer["rank"] + layer["rope_dim"] if kind == "latent" else 0
        if kind in ("full", "window", "forgetting"):
            one = layer.get("kv_heads", layer.get("heads")) * layer["head_dim"] * 2
        if kind == "forgetting":
            one += layer["heads"]
        total += kept * one
    return total


def _layers_to_compare() -> Iterator[Layer]:
    yield {"kind": "full", "kv_heads": 8, "head_dim": 128}
    yield {"kind": "latent", "rank": 512, "rope_dim": 64}
    yield {"kind": "window", "kv_heads": 8, "head_dim": 128, "window": 2048}
    yield {"kind": "state", "heads": 16, "key_dim": 128, "value_dim": 128}


def _halved(layer: Layer, tokens: int) -> int:
    return _full(layer, tokens) // 2


CACHE_NUMBERS = Exercise(
    id="10-position-from-content.cache_numbers",
    title="What a model keeps",
    signature="cache_numbers(layers: list of dicts, tokens: int) -> int",
    points=3,
    minutes=12,
    difficulty=2,
    draws=Draws(
        lambda cache_numbers, across, up: curve(
            np.arange(0, 7001, 250),
            {
                layer["kind"]: [cache_numbers([layer], tokens) / 1e6 for tokens in range(0, 7001, 250)]
                for layer in _layers_to_compare()
            },
            across=across,
            up=up,
        ),
        axes=("tokens", "numbers kept, in millions"),
        look="A cache grows with the text, a latent one more slowly, a window until it is full, and a "
        "state not at all.",
    ),
    reference=_cache_numbers,
    make_cases=_cache_cases,
    relative_tolerance=1e-9,
    mistakes=(
        Mistake(
            "keys-alone",
            _count_with(
                full=_halved,
                window=lambda layer, tokens: _halved(layer, min(tokens, layer["window"])),
                forgetting=lambda layer, tokens: layer["heads"] * (layer["head_dim"] + 1) * tokens,
            ),
            "Where keys are kept, values are kept too, and they take as much room.",
        ),
        Mistake(
            "window-not-cut",
            _count_with(window=_full),
            "A layer with a window keeps no more tokens than fit into it.",
        ),
        Mistake(
            "window-always-full",
            _count_with(window=lambda layer, tokens: _full(layer, layer["window"])),
            "Your window is full from the beginning. With fewer tokens than it holds, count the tokens.",
        ),
        Mistake(
            "latent-twice",
            _count_with(latent=lambda layer, tokens: 2 * _latent(layer, tokens)),
            "In a latent layer keys and values are made from the same vector, so it is kept only once.",
        ),
        Mistake(
            "latent-vector-twice",
            _count_with(latent=lambda layer, tokens: (2 * layer["rank"] + layer["rope_dim"]) * tokens),
            "You count the latent vector twice. Keys and values are made from the same one.",
        ),
        Mistake(
            "turned-part-left-out",
            _count_with(latent=lambda layer, tokens: layer["rank"] * tokens),
            "A latent layer also keeps the rotated part of its keys: that cannot be made from the vector.",
        ),
        Mistake(
            "latent-vector-left-out",
            _count_with(latent=lambda layer, tokens: layer["rope_dim"] * tokens),
            "A latent layer keeps its vector, not only the rotated part.",
        ),
        Mistake(
            "sums-left-out",
            _count_with(forgetting=lambda layer, tokens: 2 * layer["heads"] * layer["head_dim"] * tokens),
            "A layer that forgets keeps the running sum of its gates as well.",
        ),
        Mistake(
            "one-sum-for-all-heads",
            _count_with(
                forgetting=lambda layer, tokens: (2 * layer["heads"] * layer["head_dim"] + 1) * tokens
            ),
            "You keep one running sum for a whole layer. Each head has its own gates.",
        ),
        Mistake(
            "state-for-each-token",
            _count_with(state=lambda layer, tokens: _state(layer, 0) * tokens),
            "You keep a state for each token. There is only one, and each token changes it.",
        ),
        Mistake(
            "state-of-one-head",
            _count_with(state=lambda layer, tokens: layer["key_dim"] * layer["value_dim"]),
            "You count the state of one head. Each head has its own.",
        ),
        Mistake(
            "state-as-vectors",
            _count_with(state=lambda layer, tokens: layer["heads"] * (layer["key_dim"] + layer["value_dim"])),
            "You add the two sizes. The state of a head is a matrix, so multiply them.",
        ),
        Mistake(
            "state-as-cache",
            _count_with(
                state=lambda layer, tokens: layer["heads"] * (layer["key_dim"] + layer["value_dim"]) * tokens
            ),
            "You keep keys and values in a layer with a state. The state takes their place.",
        ),
        Mistake(
            "for-one-token",
            lambda layers, tokens: _cache_numbers(layers, 1),
            "This is what one token leaves. How many numbers are kept after all the tokens?",
        ),
        Mistake(
            "turned-part-twice",
            _count_with(latent=lambda layer, tokens: (layer["rank"] + 2 * layer["rope_dim"]) * tokens),
            "You count the rotated part twice. Keys have one; values are not rotated.",
        ),
        Mistake(
            "one-sum-for-all-tokens",
            _count_with(
                forgetting=lambda layer, tokens: (
                    (2 * layer["head_dim"] * tokens + (1 if tokens else 0)) * layer["heads"]
                )
            ),
            "You keep one sum in each head. Each key needs the sum at its own token: its bias is the "
            "newest sum minus that one.",
        ),
        Mistake(
            "one-head-of-keys",
            _count_with(
                full=lambda layer, tokens: 2 * layer["head_dim"] * tokens,
                window=lambda layer, tokens: 2 * layer["head_dim"] * min(tokens, layer["window"]),
            ),
            "You count one head of keys. Each of the kv_heads keeps a key and a value.",
        ),
        Mistake(
            "first-layer-alone",
            lambda layers, tokens: _cache_numbers(layers[:1], tokens),
            "You return after the first layer. Add up all layers, and return after the loop.",
        ),
        Mistake(
            "last-layer-alone",
            lambda layers, tokens: _cache_numbers(layers[-1:], tokens),
            "You return what the last layer keeps. Add up all layers.",
        ),
        Mistake(
            "bytes",
            lambda layers, tokens: 2 * _cache_numbers(layers, tokens),
            "You count everything twice. Count numbers, not bytes.",
        ),
        Mistake(
            "square-state",
            _count_with(state=lambda layer, tokens: layer["heads"] * layer["key_dim"] ** 2),
            "Your states are square. They have as many rows as the values have numbers: value_dim times "
            "key_dim.",
        ),
        Mistake(
            "latent-multiplied",
            _count_with(latent=lambda layer, tokens: layer["rank"] * layer["rope_dim"] * tokens),
            "You multiply rank and rope_dim. They are two vectors next to each other: add.",
        ),
        Mistake(
            "state-after-the-first-token",
            _count_with(state=lambda layer, tokens: _state(layer, tokens) if tokens else 0),
            "With no token yet, your states are not counted. A state is there from the beginning.",
        ),
        Mistake(
            "keys-alone-where-all-is-seen",
            _count_with(full=_halved),
            "In full layers you count only keys. Each key has a value, which takes as much room.",
        ),
        Mistake(
            "keys-alone-where-it-forgets",
            _count_with(forgetting=lambda layer, tokens: layer["heads"] * (layer["head_dim"] + 1) * tokens),
            "In layers that forget you count only keys and sums. Each key has a value, which takes as "
            "much room.",
        ),
        Mistake(
            "what-left-the-window",
            _count_with(window=lambda layer, tokens: _full(layer, max(tokens - layer["window"], 0))),
            "In a window you count the tokens that have left it. Count those that are in it.",
        ),
    ),
    alternatives=(
        _count_by_token,
        lambda layers, tokens: float(_cache_numbers(layers, tokens)),
        lambda layers, tokens: sum(_cache_numbers([layer], tokens) for layer in reversed(layers)),
    ),
    hints=(
        "First write down what a single token leaves, for each of the five kinds. Which kind keeps the "
        "same however long the text is?",
        "A full layer keeps a key and a value in each of its heads of keys: `2 * kv_heads * head_dim` "
        "numbers for each token.",
        "A window keeps `min(tokens, window)` tokens. A head that forgets keeps one more number for each "
        "token. A state has `heads * value_dim * key_dim` numbers from the beginning.",
    ),
)
