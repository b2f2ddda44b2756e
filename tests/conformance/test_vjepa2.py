"""V-JEPA 2's queries and keys as transformers mixes them, whole frames and some patches alone."""

from __future__ import annotations

import pytest
import torch

from posenc_lib.nn import VJEPA2
from posenc_lib.rotated import vjepa2_mix
from tests.conformance.peers import modeling, transformers

SHAPE = (3, 4, 4)
CELLS = 48


@pytest.mark.parametrize("head_dim", [64, 32, 24, 16])
def test_the_attention_of_transformers(head_dim):
    torch.manual_seed(0)
    config = transformers.VJEPA2Config(crop_size=16, patch_size=4, frames_per_clip=6, tubelet_size=2)
    theirs = modeling("vjepa2").VJEPA2RopeAttention(config, 2 * head_dim, 2)
    q = torch.randn(2, 2, CELLS, head_dim)
    ids = theirs.get_position_ids(torch.zeros(2, CELLS, 2 * head_dim))
    wanted = theirs.apply_rotary_embeddings(q, ids)
    torch.testing.assert_close(vjepa2_mix(q, torch.stack(ids)), wanted, rtol=0, atol=5e-6)
    ours = VJEPA2(head_dim, SHAPE)
    torch.testing.assert_close(ours.rotate(q, q, CELLS, CELLS)[0], wanted, rtol=0, atol=5e-6)

    some = torch.tensor([[40, 3, 17], [0, 1, 47]])
    ids = theirs.get_position_ids(torch.zeros(2, 3, 2 * head_dim), masks=some)
    wanted = theirs.apply_rotary_embeddings(q[:, :, :3], ids)
    got = ours.rotate(q[:, :, :3], q[:, :, :3], some, some)[1]
    torch.testing.assert_close(got, wanted, rtol=0, atol=5e-6)
