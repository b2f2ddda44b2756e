"""The tasks that ask for positions: what is to be said is right, and stands where the distance says."""

from __future__ import annotations

import pytest
import torch

from posenc_course.experiments import position_task, position_tasks, results
from posenc_course.experiments.decoder import Decoder, layers_with
from posenc_course.experiments.lab import perform
from posenc_course.experiments.position_task import BACK, MARK, NOTHING, PLUS, SIZES, TASKS, Rows


def rows_of(task, n, count=40, seed=0):
    """(tokens read, what is to be said after which of them, how far back it stands) of each row, as lists."""
    rows = TASKS[task](torch.Generator().manual_seed(seed), count, n)
    for read, said, distance in zip(*(each.tolist() for each in rows), strict=True):
        yield read, {at: what for at, what in enumerate(said) if what != NOTHING}, distance


@pytest.mark.parametrize("task", TASKS)
def test_a_distance_leads_to_the_token_that_is_to_be_said(task):
    """Where there is one place to look at: parity has none, and sums are in no place."""
    if task in ("parity", "addition"):
        return
    for n in SIZES[task]:
        for read, said, distance in rows_of(task, n):
            assert said
            for at, what in said.items():
                assert read[at - distance[at]] == what
            assert all(far == NOTHING for at, far in enumerate(distance) if at not in said)


def test_induction_asks_for_the_latest_time():
    distances = set()
    for read, said, distance in rows_of("induction", 32, count=200):
        for at, token in enumerate(read):
            earlier = [place for place, other in enumerate(read[:at]) if other == token]
            assert said.get(at) == (read[earlier[-1] + 1] if earlier else None)
        distances.add(distance[-1])
    assert distances == set(range(1, 31))


def test_recall_asks_for_values_of_keys_that_differ():
    for read, said, _ in rows_of("recall", 8):
        split = read.index(MARK)
        keys, values = read[:split:2], read[1:split:2]
        assert len(set(keys)) == len(keys) == len(values) == 8
        known = dict(zip(keys, values, strict=True))
        assert [known[read[at]] for at in said] == list(said.values())
        assert sorted(read[at] for at in said) == sorted(keys)


def test_copy_says_the_same_again():
    for read, said, _ in rows_of("copy", 5):
        assert list(said.values()) == read[:5]
        assert read[5:] == [MARK, *read[:4]]


def test_addition_is_right_and_its_hints_name_the_places():
    carried = 0
    for read, said, _ in rows_of("addition", 8):
        plus, mark = read.index(PLUS), read.index(MARK)
        one, other, total = read[:plus], read[plus + 1 : mark], list(said.values())
        assert one[::2] == other[::2] == total[: 2 * 8 : 2]
        assert total[::2] == list(range(total[0], total[0] + 9))
        a, b, c = (
            sum(digit * 10**place for place, digit in enumerate(each[1::2])) for each in (one, other, total)
        )
        assert a + b == c
        carried += total[-1]
        assert read[mark + 1 :] == total[:-1]
    assert 0 < carried < 40
    assert len({read[0] for read, _, _ in rows_of("addition", 8)}) > 20  # they begin anywhere


def test_back_says_what_stands_so_many_tokens_before():
    asked = set()
    for read, said, _ in rows_of("back", 20):
        k = {token: k for k, token in BACK.items()}[read[0]]
        assert said == {at: read[at - k] for at in range(1 + k, 21)}
        asked.add(k)
    assert asked == set(BACK)


def test_parity_is_that_of_the_bits():
    for read, said, _ in rows_of("parity", 9):
        assert said == {9: sum(read[:9]) % 2}


def test_the_longest_test_fits_into_the_names():
    for task, (_, most) in SIZES.items():
        rows = TASKS[task](torch.Generator(), 2, 8 * most)
        assert int(rows.read.max()) < position_task.VOCABULARY
        assert int(rows.said.max()) < MARK


def test_exact_counts_rows_and_distances_count_tokens(monkeypatch):
    """With a model that always says 3."""
    torch.manual_seed(0)
    model = Decoder(
        position_task.VOCABULARY, 16, 2, *layers_with("none", dim=16, heads=2, layers=1, length=8, base=100)
    )
    monkeypatch.setattr(
        model, "forward", lambda tokens: torch.eye(256)[3].expand(*tokens.shape, 256), raising=False
    )
    said = torch.tensor([[3, 3, NOTHING], [3, 4, NOTHING], [NOTHING, 3, NOTHING]])
    rows = Rows(
        torch.zeros(3, 3, dtype=torch.long), said, torch.tensor([[1, 2, -1], [1, 9, -1], [-1, 9, -1]])
    )
    assert position_task._exact(model, [rows]) == pytest.approx(2 / 3, abs=1e-5)
    right = position_task._right(model, rows)
    assert right.tolist() == [True, True, True, False, True]
    bands = position_task._by_distance(right, rows.distance[rows.said >= 0])
    assert bands == [[1, 2, 1.0], [2, 1, 1.0], [9, 2, 0.5]]
    many = position_task._by_distance(torch.ones(100, dtype=torch.bool), torch.arange(100))
    assert len(many) == 8
    assert sum(count for _, count, _ in many) == 100


def test_a_training_ends_when_the_task_is_solved_and_passes_its_gate(tmp_path, monkeypatch):
    """Copying one symbol is learnt at once; the cap is far away."""
    monkeypatch.setitem(SIZES, "copy", (1, 1))
    monkeypatch.setattr(position_tasks, "FAST", position_tasks.FAST | {"steps": 2000, "layers": 2})
    every = position_tasks.runs(fast=True)
    monkeypatch.setattr(
        position_tasks, "runs", lambda **form: [run for run in every if run["task"] == "copy"]
    )
    (found,) = perform("position-tasks", fast=True, work=tmp_path)["runs"]
    assert found["verdict"] == "admitted"
    assert found["result"]["solved"]
    assert 50 <= found["result"]["steps"] < 2000
    assert found["result"]["steps"] % position_task.LOOK_EVERY == 0
    assert found["result"]["sizes"] == ["trained", 1, 2, 4, 8]
    assert found["result"]["exact"][0] >= 0.99


def test_a_task_that_was_not_solved_does_not_pass():
    lacking = position_tasks.GATE.shortfall({}, {"exact": [0.9899, 1.0], "steps": 1500})
    assert lacking == "98.99% of the answers right at the trained sizes, after 1,500 steps"
    assert position_tasks.GATE.shortfall({}, {"exact": [0.99, 0.0], "steps": 10}) is None


def test_the_rate_is_the_one_that_solves_soonest(monkeypatch):
    def tried(rate, task, solved, steps, tokens):
        result = {"solved": solved, "steps": steps, "tokens": [tokens]}
        return {"run": {"encoding": "rope", "rate": rate, "task": task, "steps": 100}, "result": result}

    runs = [
        tried(0.01, "copy", True, 90, 1.0),
        tried(0.01, "recall", True, 90, 1.0),
        tried(0.02, "copy", True, 20, 1.0),
        tried(0.02, "recall", False, 100, 0.7),
    ]
    monkeypatch.setattr(results, "stored_so_far", lambda name, full: runs)
    assert position_tasks.best_rates() == {"rope": 0.02}  # 0.2 + 1.3 is less than 0.9 + 0.9
    runs[3] = tried(0.02, "recall", False, 100, 0.2)
    assert position_tasks.best_rates() == {"rope": 0.01}
