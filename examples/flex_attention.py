"""FlexAttention with ALiBi, texts packed one after another, and a sliding window.

python examples/flex_attention.py          (compiled where there is a GPU; on a CPU, the plain version)
"""

import torch
from torch.nn.attention.flex_attention import and_masks, create_block_mask, flex_attention

from posenc_lib import alibi_bias, attention, packed_mask, window_mask
from posenc_lib.biased import alibi_score_mod, packed_mask_mod

HEADS, LENGTH, WINDOW = 4, 256, 48
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def within_the_window(batch, head, query, key):
    return query - key < WINDOW


def main() -> float:
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, HEADS, LENGTH, 16, device=DEVICE)
    ends = torch.tensor([0, 100, 180, LENGTH], device=DEVICE)  # three texts

    # A score_mod adds ALiBi, a mask_mod keeps texts apart and queries within their window; whole blocks that
    # no query may look at are left out.
    mask_mod = and_masks(packed_mask_mod(ends, LENGTH, causal=True), within_the_window)
    blocks = create_block_mask(mask_mod, None, None, LENGTH, LENGTH, device=DEVICE)
    flex = flex_attention if DEVICE == "cpu" else torch.compile(flex_attention)
    fast = flex(q, k, v, score_mod=alibi_score_mod(HEADS, LENGTH, LENGTH, device=DEVICE), block_mask=blocks)

    # The same by the plain attention, with the bias and the mask written out.
    positions = torch.arange(LENGTH, device=DEVICE)
    plain = attention(
        q,
        k,
        v,
        bias=alibi_bias(HEADS, positions, positions),
        mask=packed_mask(ends, LENGTH, causal=True) & window_mask(LENGTH, LENGTH, WINDOW, like=q),
    )
    return float((fast - plain).abs().max())


if __name__ == "__main__":
    print(f"largest difference from the plain attention: {main():.1e}")
