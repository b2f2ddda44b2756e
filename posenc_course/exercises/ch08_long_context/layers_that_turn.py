"""Which layers have RoPE?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch08_long_context._shared import Generator
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _config_cases(rng: Generator) -> Iterator[Case]:
    def listed(layers: int) -> list[int]:
        numbers = [int(each) for each in rng.integers(0, 2, size=layers)]
        return [*numbers[:-2], 1, 0]

    kinds = ["sliding_attention", "full_attention"]
    yield Case("nothing said", ({"num_hidden_layers": 6},))
    yield Case("every fourth", ({"num_hidden_layers": 10, "no_rope_layer_interval": 4},))
    yield Case("a list", ({"num_hidden_layers": 5, "no_rope_layers": [1, 1, 1, 0, 1]},))
    yield Case(
        "a list and an interval that says otherwise",
        ({"num_hidden_layers": 6, "no_rope_layers": [0, 1, 1, 0, 1, 1], "no_rope_layer_interval": 4},),
    )
    yield Case(
        "an empty list and an interval",
        ({"num_hidden_layers": 7, "no_rope_layers": [], "no_rope_layer_interval": 3},),
    )
    yield Case("an empty list alone", ({"num_hidden_layers": 5, "no_rope_layers": []},))
    yield Case("kinds of layers", ({"num_hidden_layers": 4, "layer_types": [*kinds, kinds[0], kinds[0]]},))
    yield Case(
        "an empty list and kinds of layers",
        ({"num_hidden_layers": 4, "no_rope_layers": [], "layer_types": [kinds[1], *kinds, kinds[0]]},),
    )
    yield Case(
        "a list and kinds that say otherwise",
        ({"num_hidden_layers": 4, "no_rope_layers": [0, 1, 1, 0], "layer_types": [*kinds, *kinds]},),
    )
    yield Case(
        "an interval and kinds that say otherwise",
        ({"num_hidden_layers": 6, "no_rope_layer_interval": 3, "layer_types": [kinds[0]] * 6},),
    )
    for _ in range(3):
        layers = int(rng.integers(6, 14))
        yield Case("a list, drawn", ({"num_hidden_layers": layers, "no_rope_layers": listed(layers)},))
        interval = int(rng.integers(2, 6))
        yield Case("an interval, drawn", ({"num_hidden_layers": layers, "no_rope_layer_interval": interval},))
        drawn = [kinds[1 - each] for each in listed(layers)]
        yield Case("kinds, drawn", ({"num_hidden_layers": layers, "layer_types": drawn},))


Config = dict[str, Any]


def _ones(numbers: list[int]) -> list[bool]:
    return [each == 1 for each in numbers]


def _all_but_every(layers: int, interval: int) -> list[bool]:
    return [(layer + 1) % interval != 0 for layer in range(layers)]


def _with_window(names: list[str]) -> list[bool]:
    return [each == "sliding_attention" for each in names]


def _turning(
    config: Config,
    *,
    listed: Callable[[list[int]], list[bool]] = _ones,
    every: Callable[[int, int], list[bool]] = _all_but_every,
    kinds: Callable[[list[str]], list[bool]] = _with_window,
) -> Array:
    layers = config["num_hidden_layers"]
    if config.get("no_rope_layers"):
        return np.array(listed(config["no_rope_layers"]))
    if config.get("no_rope_layer_interval"):
        return np.array(every(layers, config["no_rope_layer_interval"]))
    if config.get("layer_types"):
        return np.array(kinds(config["layer_types"]))
    return np.ones(layers, dtype=bool)


def _turning_by_layer(config: Config) -> list[bool]:
    numbers = config.get("no_rope_layers") or []
    interval = config.get("no_rope_layer_interval", 0)
    names = config.get("layer_types") or []
    found = []
    for layer in range(config["num_hidden_layers"]):
        if numbers:
            found.append(bool(numbers[layer]))
        elif interval:
            found.append(layer % interval != interval - 1)
        elif names:
            found.append(names[layer].startswith("sliding"))
        else:
            found.append(True)
    return found


def _without(config: Config, key: str) -> Array:
    return _turning({name: value for name, value in config.items() if name != key})


LAYERS_THAT_TURN = Exercise(
    id="08-long-context.layers_that_turn",
    title="Which layers have RoPE?",
    signature="layers_that_turn(config: dict) -> array of shape (layers,) of booleans",
    points=3,
    minutes=15,
    difficulty=3,
    draws=Draws(
        lambda layers_that_turn, rows, columns: heat_map(
            [
                np.asarray(layers_that_turn({"num_hidden_layers": 24, "no_rope_layer_interval": every})) * 1
                for every in range(2, 9)
            ],
            rows=rows,
            columns=columns,
            starts=(2, 0),
        ),
        axes=("interval", "layer"),
        look="Each layer with RoPE is a full square, and the last of each group has none.",
    ),
    reference=_turning,
    make_cases=_config_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[0]["num_hidden_layers"],),
            "There must be one answer for each layer.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "as-the-name-says",
            lambda config: _turning(config, listed=lambda numbers: [each == 0 for each in numbers]),
            "You read the list as its name says. In these files it is the other way round: 1 means that "
            "the layer has RoPE.",
        ),
        Mistake(
            "counted-from-zero",
            lambda config: _turning(config, every=lambda layers, n: [i % n != 0 for i in range(layers)]),
            "With an interval, your first layer has no RoPE. It is the last one of each group that has "
            "none: layers 3, 7, 11 for an interval of 4.",
        ),
        Mistake(
            "interval-turned-round",
            lambda config: _turning(
                config, every=lambda layers, n: [(i + 1) % n == 0 for i in range(layers)]
            ),
            "With an interval of n, every n-th layer has no RoPE, and the others have it. Yours is the "
            "other way round.",
        ),
        Mistake(
            "interval-first",
            lambda config: (
                _without(config, "no_rope_layers") if "no_rope_layer_interval" in config else _turning(config)
            ),
            "Where a list is given too, the list counts. Your interval overrules it.",
        ),
        Mistake(
            "kinds-first",
            lambda config: (
                _turning({key: config[key] for key in ("num_hidden_layers", "layer_types")})
                if "layer_types" in config
                else _turning(config)
            ),
            "Where a list or an interval is given too, it counts. Your kinds overrule it.",
        ),
        Mistake(
            "interval-not-read",
            lambda config: _without(config, "no_rope_layer_interval"),
            "The interval is not read: every n-th layer has no RoPE.",
        ),
        Mistake(
            "list-not-read",
            lambda config: _without(config, "no_rope_layers"),
            "The list is not read. If it is not empty, it decides.",
        ),
        Mistake(
            "kinds-turned-round",
            lambda config: _turning(config, kinds=lambda names: [each == "full_attention" for each in names]),
            "The kinds are the other way round: layers with a sliding window have RoPE, and those that "
            "see everything do not.",
        ),
        Mistake(
            "kinds-not-read",
            lambda config: _without(config, "layer_types"),
            "The kinds of the layers are not read: those with full attention have no RoPE.",
        ),
        Mistake(
            "all-turn",
            lambda config: np.ones(config["num_hidden_layers"], dtype=bool),
            "All your layers have RoPE, whatever the configuration says.",
        ),
        Mistake(
            "which-do-not",
            lambda config: ~_turning(config),
            "All your answers are reversed: True is for a layer that has RoPE.",
        ),
        Mistake(
            "empty-list-means-all",
            lambda config: (
                np.ones(config["num_hidden_layers"], dtype=bool)
                if config.get("no_rope_layers") == []
                else _turning(config)
            ),
            "Where the list is empty, all your layers have RoPE. An empty list says nothing: look at the "
            "next case.",
        ),
        Mistake(
            "none-by-default",
            lambda config: _turning(config) if len(config) > 1 else ~_turning(config),
            "Where the configuration says nothing, no layer of yours has RoPE. All of them have it there.",
        ),
        Mistake(
            "one-layer-alone",
            lambda config: _turning(config, every=lambda layers, n: [i != n - 1 for i in range(layers)]),
            "With an interval, you leave RoPE out of only one layer. Every n-th layer has none: 3, 7, 11 "
            "for an interval of 4.",
        ),
        Mistake(
            "list-of-layer-numbers",
            lambda config: _turning(
                config, listed=lambda numbers: [i not in numbers for i in range(len(numbers))]
            ),
            "You read the list as the numbers of layers without RoPE. It has one entry for each layer: 1 "
            "with RoPE, 0 without it.",
        ),
    ),
    alternatives=(
        _turning_by_layer,
        lambda config: _turning(config).tolist(),
        lambda config: [bool(each) for each in _turning(config)],
    ),
    hints=(
        "Go through the four cases in order, and return at the first that applies. `config.get(key)` is "
        "None where the key is missing.",
        "An empty list says as little as a missing one: `if config.get(key):` skips both.",
        "With an interval of n, layer i has no RoPE where `(i + 1) % n == 0`.",
    ),
)
