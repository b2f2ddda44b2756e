"""`09-beyond-text`: references against independent code and brute force, and answers that no list foresaw."""

import ast
import datetime
import math

import numpy as np
import pytest

from posenc_lib.biased import enformer_features
from posenc_lib.exercises import ch09_beyond_text as ch09
from posenc_lib.rotated import mrope_tables

SEEDS = (0, 1, 2)


def test_the_closed_boxes_keep_what_is_said_of_them():
    """Many shifts, turns and points, drawn; what is said to break a box does so by far more than rounding."""
    rng = np.random.default_rng(0)
    for kind, (verdict, _) in ch09._BOXES.items():
        scores, points = ch09.PlaneScores(kind), rng.uniform(-2, 2, size=(9, 2))
        moved = (
            [points + rng.uniform(-3, 3, size=2) for _ in range(6)],
            [ch09._turned(points, angle) for angle in rng.uniform(0.2, 6, size=6)],
            [points * [-1, 1]],
        )
        for holds, ways in zip(verdict, moved, strict=True):
            gaps = [np.abs(scores(way) - scores(points)).max() for way in ways]
            assert max(gaps) < 1e-10 if holds else max(gaps) > 0.05, kind


def test_a_learned_table_is_resized_as_torch_does():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    for old, new in (((3, 5), (6, 4)), ((7, 7), (3, 12)), ((1, 4), (2, 9))):
        table = rng.normal(size=(*old, 3))
        picture = torch.from_numpy(table).movedim(-1, 0)[None]
        right = torch.nn.functional.interpolate(picture, new, mode="bilinear", align_corners=False)
        found = ch09.RESIZED.reference(table, *new)
        assert found == pytest.approx(right[0].movedim(0, -1).numpy())


def test_the_pairs_are_dealt_as_the_library_turns_them():
    """`tests/conformance` compares it with Qwen3-VL."""
    time, height, width = 6, 5, 5
    positions = np.array([3, 17, 29])
    owner = ch09.DEALT.reference(time, height, width)
    rates = 10000.0 ** (-np.arange(16) / 16)
    tables = mrope_tables(positions, 32, (time, height, width), interleaved=True)
    assert tables.cos == pytest.approx(np.cos(positions[owner] * rates), abs=1e-6)
    assert np.bincount(owner).tolist() == [time, height, width]


@pytest.mark.parametrize("shape", [(2, 3), (4, 4), (1, 5)])
def test_patches_share_a_row_of_the_table_where_their_offset_is_the_same_and_nowhere_else(shape):
    places = ch09.PLACES.reference(*shape)
    offsets = (places[:, None] - places).reshape(-1, 2)
    index = ch09.WINDOW.reference(*shape).ravel()
    kinds = {(*offset, row) for offset, row in zip(offsets.tolist(), index.tolist(), strict=True)}
    assert len(kinds) == len(set(index)) == (2 * shape[0] - 1) * (2 * shape[1] - 1) == index.max() + 1


@pytest.mark.parametrize("zone_of_seconds", [0, 1_732_000_000, -86_401])
def test_a_time_stands_where_the_clock_and_the_calendar_put_it(zone_of_seconds):
    stamp = datetime.datetime.fromtimestamp(zone_of_seconds, datetime.UTC)
    day_sin, day_cos, week_sin, week_cos = ch09.CIRCLES.reference(np.array([zone_of_seconds]))[0]
    hours = stamp.hour + stamp.minute / 60 + stamp.second / 3600
    assert math.atan2(day_sin, day_cos) % math.tau == pytest.approx(hours / 24 * math.tau, abs=1e-9)
    day = math.atan2(week_sin, week_cos) % math.tau / math.tau * 7
    assert day == pytest.approx(stamp.weekday() + hours / 24, abs=1e-9)


def test_what_was_known_by_then_does_not_change_when_the_future_does():
    """Whatever is published later, a query sees the same: that is what no leak means."""
    rng = np.random.default_rng(3)
    about, published, now = rng.integers(0, 5, 30), rng.permutation(100)[:30], np.arange(0, 100, 7)
    seen = ch09.KNOWN.reference(now, about, published)
    for i, moment in enumerate(now):
        past = published <= moment
        alone = ch09.KNOWN.reference(now[i : i + 1], about[past], published[past])[0]
        assert np.array_equal(seen[i, past], alone)
        assert not seen[i, ~past].any()
        assert sorted(about[seen[i]]) == sorted(set(about[past]))  # one a day


def test_the_bases_are_enformers_but_for_its_bumps():
    offsets, count, length = np.array([-700, -9, -1, 0, 3, 40, 1000]), 4, 1536
    columns = enformer_features(offsets, 6 * count, length=length).reshape(len(offsets), 2, 3, count)
    right = columns[:, :, :2].reshape(len(offsets), -1)
    assert ch09.BASES.reference(offsets, count, length) == pytest.approx(right, abs=1e-6)


def test_both_strands_say_the_same_of_the_same_place():
    model, bases = ch09.StrandModel(5), np.random.default_rng(0).integers(0, 4, size=20)
    other = 3 - bases[::-1]
    here, there = ch09.STRANDS.reference(model, bases), ch09.STRANDS.reference(model, other)
    assert there[::-1] == pytest.approx(here)
    assert np.abs(model(other)[::-1] - model(bases)).max() > 0.1


def test_a_walker_comes_back_as_often_as_the_chances_say():
    graph = np.array([[0, 1, 1, 0], [1, 0, 3, 0], [1, 3, 0, 1], [0, 0, 1, 0]])
    rng, at = np.random.default_rng(0), np.repeat(np.arange(4), 20_000)
    start, limits = at.copy(), np.cumsum(graph / graph.sum(axis=1, keepdims=True), axis=1)
    for back in ch09.RETURNS.reference(graph, 4).T:
        at = (rng.uniform(size=len(at))[:, None] > limits[at]).sum(axis=1)
        assert (at == start).reshape(4, -1).mean(axis=1) == pytest.approx(back, abs=0.015)


@pytest.mark.parametrize("samples", [7, 12])
def test_the_seen_frequency_is_where_the_spectrum_of_the_samples_peaks(samples):
    units = 20
    for frequency in np.arange(0.05, 30, 0.85):
        wave = np.cos(2 * np.pi * frequency * np.arange(units * samples) / samples)
        peak = np.abs(np.fft.rfft(wave, n=64 * len(wave))).argmax() / (64 * units)
        seen = ch09.SEEN.reference(np.array([frequency]), samples)[0]
        assert seen == pytest.approx(peak, abs=0.02)


def test_a_molecule_may_be_moved_and_turned_and_shows_its_hand():
    rng = np.random.default_rng(5)
    atoms, centres = rng.normal(size=(4, 3)), np.array([0.5, 1.0, 2.0])
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    bumps, volume = ch09.BUMPS.reference(atoms, centres, 0.4), ch09.VOLUME.reference(atoms)
    for moved, hand in ((atoms @ turn + 7, 1), (atoms @ turn * [1, -1, 1], -1)):
        assert ch09.BUMPS.reference(moved, centres, 0.4) == pytest.approx(bumps)
        assert ch09.VOLUME.reference(moved) == pytest.approx(hand * volume)


def test_the_waves_of_a_path_are_cosines():
    n = 17
    waves = ch09.GRAPH_WAVES.reference(ch09._path(n), 5)
    cosines = np.cos(np.pi * np.outer(np.arange(n) + 0.5, np.arange(1, 6)) / n)
    assert waves == pytest.approx(cosines * math.sqrt(2 / n), abs=1e-9)


def test_heat_is_the_exponential_and_hangs_on_no_choice_of_vectors():
    linalg = pytest.importorskip("scipy.linalg")
    ring = ch09._ring(6)
    assert ch09.HEAT.reference(ring, 0.7) == pytest.approx(linalg.expm(-0.7 * ch09.LAPLACIAN.reference(ring)))
    order = np.random.default_rng(0).permutation(6)
    shuffled = ring[np.ix_(order, order)]
    assert ch09.HEAT.reference(shuffled, 2.0) == pytest.approx(
        ch09.HEAT.reference(ring, 2.0)[np.ix_(order, order)]
    )


def test_parents_are_those_of_a_walk_by_source_places():
    """Every expression lies within its parent's text, and nothing between the two does."""
    for seed in SEEDS:
        for case in ch09.PARENTS.cases(seed):
            source = case.args[0]
            tree = ast.parse(source, mode="eval").body
            count = sum(isinstance(each, ast.expr) for each in ast.walk(tree))
            parents = ch09.PARENTS.reference(source)
            assert len(parents) == count
            below = np.bincount(parents[1:], minlength=count)
            kinds = [len(ch09._children(each)) for each in ast.walk(tree) if isinstance(each, ast.expr)]
            assert sorted(below) == sorted(kinds)


def test_a_frame_hears_what_changes_it():
    """Convolutions of ones over impulses: which sample reaches which frame."""
    for seed in SEEDS:
        for case in ch09.HEARD.cases(seed)[:3]:
            frame, kernels, strides = case.args
            first, last = ch09.HEARD.reference(*case.args)
            heard = []
            for sample in range(last + 40):
                x = np.zeros(last + 60)
                x[sample] = 1
                for kernel, stride in zip(kernels, strides, strict=True):
                    x = np.convolve(x, np.ones(kernel), "valid")[::stride]
                heard += [sample] if x[frame] else []
            assert (heard[0], heard[-1]) == (first, last)
    assert ch09.HEARD.reference(0, *ch09.WAV2VEC) == (0, 399)
    assert ch09.HEARD.reference(50, *ch09.WAV2VEC)[0] == 16_000


NOT_KNOWN = (
    ("moves_kept", lambda scores: (True, False, True), None),
    ("patch_places", lambda height, width: np.zeros((height * width, 2)), None),
    ("patch_places", lambda height, width: np.zeros((height, width)), "one line for each patch"),
    ("grid_encoding", lambda height, width, dim: np.zeros((height * width, dim)), None),
    ("grid_encoding", lambda height, width, dim: np.full((height * width, dim), 3.0), "between -1 and 1"),
    (
        "resized_table",
        lambda table, height, width: np.mean(table) * np.ones((height, width, table.shape[2])),
        None,
    ),
    (
        "window_index",
        lambda height, width: np.ones((height * width, height * width)),
        None,
    ),
    ("three_positions", lambda parts: np.zeros((3, 5)), None),
    ("dealt_pairs", lambda time, height, width: np.zeros(time + height + width), None),
    ("calendar_circles", lambda times: np.zeros((len(times), 4)), "squares must sum to 1"),
    ("known_by_then", lambda now, about, published: np.zeros((len(now), len(about)), dtype=bool), None),
    (
        "known_by_then",
        lambda now, about, published: np.ones((len(now), len(about)), dtype=bool),
        "the future",
    ),
    ("log_distance_bases", lambda offsets, count, length: np.ones((len(offsets), 4 * count)), None),
    ("both_strands", lambda model, bases: np.zeros(len(bases)), None),
    ("both_strands", lambda model, bases: np.minimum(model(bases), model(3 - bases[::-1])[::-1]), None),
    ("point_waves", lambda points, directions: np.ones((len(points), 2 * len(directions))), "sum to 1"),
    ("seen_frequency", lambda frequencies, samples: frequencies / samples, None),
    (
        "distance_bumps",
        lambda points, centres, width: np.ones((len(points), len(points), len(centres))),
        None,
    ),
    ("signed_volume", lambda corners: float(np.sum(corners)), None),
    ("graph_laplacian", lambda adjacency: np.zeros(adjacency.shape), None),
    ("graph_waves", lambda adjacency, count: np.ones((len(adjacency), count)), "length 1"),
    ("heat_between", lambda adjacency, time: np.eye(len(adjacency)) / 2, "each row must sum to 1"),
    ("return_chances", lambda adjacency, steps: np.ones((len(adjacency), steps)), None),
    ("return_chances", lambda adjacency, steps: 3 * np.ones((len(adjacency), steps)), "between 0 and 1"),
    ("expression_parents", lambda source: [-1] * len(source), None),
    ("step_paths", lambda parents, branching, depth: np.zeros((len(parents), depth * branching)), None),
    ("heard_samples", lambda frame, kernels, strides: (frame, frame), None),
    ("feels_the_edge", lambda length, taps, layers: np.arange(length) == 0, None),
)

WRITTEN_IN_ANOTHER_WAY = (
    (
        "patch_places",
        lambda height, width: np.stack(np.meshgrid(range(height), range(width)), axis=-1).reshape(-1, 2),
        "down-the-columns",
    ),
    (
        "window_index",
        lambda height, width: [
            [i - j + height * width - 1 for j in range(height * width)] for i in range(height * width)
        ],
        "times-the-width",
    ),
    (
        "known_by_then",
        lambda now, about, published: [[p <= moment for p in published] for moment in now],
        "all-revisions",
    ),
    (
        "graph_waves",
        lambda adjacency, count: (
            np.linalg.svd(ch09._laplacian(adjacency))[0][:, :count]
            * np.sign(np.linalg.svd(ch09._laplacian(adjacency))[0][0, :count])
        ),
        "fastest-first",
    ),
    (
        "expression_parents",
        lambda source: (
            lambda nodes: [
                next((n for n, each in enumerate(nodes) if node in ast.iter_child_nodes(each)), -1)
                for node in nodes
            ]
        )([each for each in ast.walk(ast.parse(source, mode="eval").body) if isinstance(each, ast.expr)]),
        "level-by-level",
    ),
    (
        "heard_samples",
        lambda frame, kernels, strides: (
            frame * math.prod(strides.tolist()),
            frame * math.prod(strides.tolist())
            + int((np.cumprod(strides) * kernels - np.cumprod(strides)).sum()),
        ),
        "own-stride-too",
    ),
)
