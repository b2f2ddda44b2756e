"""`08-long-context`: the references against shipped code and brute force, and answers that no list "
"foresaw."""

import math

import numpy as np
import pytest

from posenc_lib import apply_rotary, frequencies, layers_from_config
from posenc_lib.biased import dual_chunk_distances, self_extend_distances, streaming_distances
from posenc_lib.exercises import ch08_long_context as ch08

SEEDS = (0, 1, 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_new_arcs_are_those_that_a_walk_over_all_offsets_finds(seed):
    """A circle of 720 fields: which of them does a pair come by, in steps of a thousandth of an offset?"""
    rates, fields = np.array([0.9, 0.021, 0.0044, 0.0007]), 720
    for trained, longer in ((40, 160), (300, 1200)):
        met = []
        for length in (trained, longer):
            angles = np.outer(np.linspace(0, length - 1, 60_000), rates)
            met.append(
                [len(np.unique((column % ch08.TURN / ch08.TURN * fields).astype(int))) for column in angles.T]
            )
        expected = (np.array(met[1]) - met[0]) / fields
        assert ch08.NEW_ARC.reference(rates, trained, longer) == pytest.approx(expected, abs=2 / fields)


def test_llama3_is_what_transformers_computes():
    torch = pytest.importorskip("torch")
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    config = LlamaConfig(
        hidden_size=4096,
        num_attention_heads=32,
        max_position_embeddings=131_072,
        rope_parameters={
            "rope_type": "llama3",
            "rope_theta": 500_000.0,
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        },
    )
    shipped, _ = ROPE_INIT_FUNCTIONS["llama3"](config, torch.device("cpu"))
    ours = ch08.LLAMA3.reference(frequencies(128, base=500_000.0), 8.0, 8192, 1.0, 4.0)
    assert ours == pytest.approx(shipped.double().numpy(), rel=1e-5)


def test_queries_grow_as_those_of_llama_4():
    temperature = layers_from_config({"model_type": "llama4_text", "num_hidden_layers": 48})[3].temperature
    positions = np.array([0, 8190, 8191, 100_000, 10_000_000])
    assert ch08.QUERY_SCALE.reference(positions, 0.1, 8192) == pytest.approx(temperature(positions))


def test_maps_are_those_of_the_library():
    for case in (*ch08.GROUPED.cases(1), *ch08.GROUPED.cases(2)):
        tokens, group, window = case.args
        expected = np.tril(self_extend_distances(tokens, tokens, group=group, window=window))
        assert np.array_equal(ch08.GROUPED.reference(*case.args), expected)
    for case in (*ch08.CHUNKS.cases(1), *ch08.CHUNKS.cases(2)):
        tokens, chunk, window = case.args
        expected = np.tril(dual_chunk_distances(tokens, tokens, chunk=chunk, window=window))
        assert np.array_equal(ch08.CHUNKS.reference(*case.args), expected)
    for case in ch08.KEPT.cases(0):
        tokens, sinks, window = case.args
        kept = ch08.KEPT.reference(*case.args)
        assert len(kept) - 1 == streaming_distances(1, tokens, sinks=sinks, window=window)[0, kept[0]]


def test_maps_never_reach_further_than_they_say():
    for tokens, group, window in ((200, 3, 20), (131, 5, 7)):
        found = ch08.GROUPED.reference(tokens, group, window)
        assert found.max() == (tokens - 1) // group + window - window // group
        near = np.tril(np.subtract.outer(range(tokens), range(tokens)))
        assert np.array_equal(found[near < window], near[near < window])
        assert (np.diff(found, axis=1)[np.tril_indices(tokens, -1, tokens - 1)] <= 0).all()
    for tokens, chunk, window in ((200, 12, 5), (97, 8, 8)):
        found = ch08.CHUNKS.reference(tokens, chunk, window)
        assert found.max() == chunk + window - 1
        near = np.tril(np.subtract.outer(range(tokens), range(tokens)))
        assert np.array_equal(found[near < window], near[near < window])


@pytest.mark.parametrize("seed", SEEDS)
def test_scores_at_true_distances_are_those_of_rope(seed):
    rng = np.random.default_rng(seed)
    q, k = rng.normal(size=(2, 7, 8))
    true = np.subtract.outer(range(7), range(7))
    plain = apply_rotary(q, 7, base=700.0) @ apply_rotary(k, 7, base=700.0).T / math.sqrt(8)
    assert ch08.MAPPED.reference(q, k, true, 700.0) == pytest.approx(plain)


def test_moved_keys_are_keys_that_were_turned_there_at_first():
    rng = np.random.default_rng(0)
    x, old, new = rng.normal(size=(2, 5, 8)), np.array([0, 1, 7, 8, 9]), np.arange(5)
    stored = apply_rotary(x, old, base=300.0)
    assert ch08.MOVED.reference(stored, old, new, 300.0) == pytest.approx(apply_rotary(x, new, base=300.0))


def test_a_stream_keeps_its_size_and_its_sinks():
    for tokens in range(1, 40):
        kept = ch08.KEPT.reference(tokens, 4, 9)
        assert len(kept) == min(tokens, 13)
        assert kept[-1] == tokens - 1
        assert (kept[:4] == np.arange(min(tokens, 4))).all()


def test_the_five_largest_offsets_are_those_of_the_maps():
    a, b, c, d, e = ch08.OFFSETS.reference()
    mapped = self_extend_distances(np.array([19_999]), np.array([0]), group=16, window=1024)
    assert mapped.item() == d
    assert a == 131_072 - 1
    layers = layers_from_config({"model_type": "llama4_text", "num_hidden_layers": 48})
    assert c == max(layer.window for layer in layers if layer.rope) - 1
    last = 20_000 - 1
    assert d == last // 16 + 1024 - 1024 // 16
    assert e == len(ch08.KEPT.reference(131_072, 4, 2044)) - 1
    assert b == 4096 - 1


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
    assert np.asarray(ch08.TURNING.reference(config)).tolist() == read


NOT_KNOWN = (
    ("new_arc", lambda rates, trained, longer: np.zeros(len(rates)), None),
    ("new_arc", lambda rates, trained, longer: 1 - trained / longer + 0 * rates, None),
    ("llama3_rates", lambda rates, factor, length, low, high: rates, None),
    ("llama3_rates", lambda rates, factor, length, low, high: rates / math.sqrt(factor), None),
    ("query_scale", lambda positions, beta, length: np.ones(len(positions)), None),
    ("grouped_distances", lambda tokens, group, window: np.zeros((tokens, tokens)), None),
    (
        "grouped_distances",
        lambda tokens, group, window: np.ones((tokens, tokens)),
        "A key after the query must get 0",
    ),
    ("mapped_scores", lambda q, k, distances, base: distances * 1.0, None),
    ("chunk_distances", lambda tokens, chunk, window: np.zeros((tokens, tokens)), None),
    ("largest_offsets", (131_071, 4095, 8191, 2000, 2047), "model D"),
    ("kept_positions", lambda tokens, sinks, window: np.arange(min(tokens, sinks)), None),
    ("moved_keys", lambda keys, old, new, base: keys[:, ::-1], None),
    ("effective_length", lambda lengths, scores, mark: int(np.min(lengths)), None),
    ("layers_that_turn", lambda config: np.zeros(config["num_hidden_layers"], dtype=bool), None),
)

WRITTEN_IN_ANOTHER_WAY = (
    (
        "08-long-context.new_arc".partition(".")[2],
        lambda rates, trained, longer: [
            min(1, (longer - 1) * r / math.tau) - min(1, (trained - 1) * r / math.tau) * 0 for r in rates
        ],
        "nothing-taken-off",
    ),
    (
        "kept_positions",
        lambda tokens, sinks, window: [*range(max(0, tokens - window), tokens)],
        "no-sinks",
    ),
    (
        "effective_length",
        lambda lengths, scores, mark: int(
            max((n for n, s in zip(lengths, scores, strict=True) if s >= mark), default=0)
        ),
        "longest-that-passes",
    ),
)
