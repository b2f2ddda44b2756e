"""Does order matter: what a bag cannot know, what the causal mask tells, and what the probe reads."""

from __future__ import annotations

import pytest
import torch

from posenc_lib.experiments import order
from posenc_lib.experiments.lab import perform
from posenc_lib.nn import Transformer


def test_a_mirror_image_changes_the_order_and_keeps_the_bag():
    letters = order.sequences(300, torch.Generator().manual_seed(1))
    assert torch.all((letters == order.A).sum(dim=1) == 1)
    assert torch.all((letters == order.B).sum(dim=1) == 1)
    mirrored = letters.flip(1)
    assert torch.equal(order.more_c_than_d(letters), order.more_c_than_d(mirrored))
    assert torch.equal(order.a_before_b(letters), ~order.a_before_b(mirrored))
    assert torch.equal(order.a_in_first_half(letters), ~order.a_in_first_half(mirrored))


def test_hidden_states_are_what_the_blocks_read_and_the_last_one_gives():
    model = Transformer(4, 32, 2, 4, encoding="sinusoidal").eval()
    letters = order.sequences(3, torch.Generator().manual_seed(1))
    states = order.hidden_states(model, letters)
    assert [state.shape for state in states] == [(3, order.LENGTH, 32)] * 3
    embedded = model.embedding(letters)
    torch.testing.assert_close(states[0], model.encoding.add(embedded, order.LENGTH))
    torch.testing.assert_close(model.head(model.norm(states[-1])), model(letters))


@pytest.mark.parametrize(("encoding", "least", "most"), [("sinusoidal", 0.98, 1.0), ("none", -0.05, 0.05)])
def test_the_probe_finds_positions_where_they_were_added_and_none_elsewhere(encoding, least, most):
    torch.manual_seed(0)
    model = Transformer(4, 32, 2, 4, encoding=encoding, causal=False)
    for found in order.position_read_out(model, seed=0):
        assert least <= found <= most


def test_fast_form(tmp_path):
    found = perform("does-order-matter", fast=True, work=tmp_path)["runs"]
    by_case = {(each["run"]["task"], each["run"]["causal"]): each["result"] for each in found}
    assert by_case["bag", False]["accuracy"] > 0.9
    # Mirror images get the same score, up to rounding near 0: right exactly once.
    assert by_case["order", False]["accuracy"] == pytest.approx(0.5, abs=0.01)
    assert by_case["order", True]["accuracy"] > 0.95
    for (_, causal), result in by_case.items():
        for key in ("probe", "probe_untrained"):
            assert abs(result[key][0]) < 0.05  # one letter does not know where it stands
            assert result[key][-1] > 0.4 if causal else abs(result[key][-1]) < 0.05
