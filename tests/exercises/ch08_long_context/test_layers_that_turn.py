"""`08-long-context.layers_that_turn`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch08_long_context.layers_that_turn import LAYERS_THAT_TURN
from posenc_lib import layers_from_config


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "smollm3", "no_rope_layers": [1, 1, 0, 1, 0, 1]},
        {"model_type": "smollm3", "no_rope_layer_interval": 3},
        {"model_type": "llama4_text", "no_rope_layers": [1, 0, 1, 1, 1, 0]},
        {"model_type": "cohere2", "layer_types": ["sliding_attention", "full_attention"] * 3},
        {"model_type": "llama"},
    ],
)
def test_the_layers_that_turn_are_those_that_the_library_reads(config):
    config = config | {"num_hidden_layers": 6, "hidden_size": 64, "num_attention_heads": 4, "head_dim": 16}
    read = [bool(layer.rope) for layer in layers_from_config(config)]
    assert np.asarray(LAYERS_THAT_TURN.reference(config)).tolist() == read


def with_an_interval_after_every_empty_list(config):
    if config.get("no_rope_layers") == []:
        config = {"no_rope_layer_interval": 4, **config}
    return LAYERS_THAT_TURN.reference(config)


NOT_KNOWN = (
    ("layers_that_turn", lambda config: np.zeros(config["num_hidden_layers"], dtype=bool), None),
    ("layers_that_turn", with_an_interval_after_every_empty_list, "an empty list alone"),
    (
        "layers_that_turn",
        lambda config: (
            np.ones(config["num_hidden_layers"], dtype=bool)
            if config.get("no_rope_layers") == [] and "no_rope_layer_interval" not in config
            else LAYERS_THAT_TURN.reference(config)
        ),
        "an empty list and kinds of layers",
    ),
)
