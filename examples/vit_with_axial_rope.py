"""A vision Transformer with axial RoPE, on images of two sizes.

python examples/vit_with_axial_rope.py
"""

import torch
from torch import nn

from posenc_lib.nn import Attention, AxialRotary

PATCH, DIM, HEADS = 4, 64, 4


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.attention = Attention(DIM, HEADS)
        self.mlp = nn.Sequential(nn.Linear(DIM, 2 * DIM), nn.GELU(), nn.Linear(2 * DIM, DIM))

    def forward(self, x, places, rope):
        x = x + self.attention(self.norm_1(x), places, rope)
        return x + self.mlp(self.norm_2(x))


class ViT(nn.Module):
    """Patches in, one vector out. Nothing in it knows how large an image is."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, DIM, PATCH, PATCH)
        self.rope = AxialRotary(DIM // HEADS, axes=2)
        self.blocks = nn.ModuleList(Block() for _ in range(2))

    def forward(self, images):
        grid = self.patches(images)  # (batch, dim, rows, columns)
        rows, columns = grid.shape[-2:]
        places = torch.cartesian_prod(torch.arange(rows), torch.arange(columns)).T[:, None]  # (2, 1, patches)
        x = grid.flatten(2).mT
        for block in self.blocks:
            x = block(x, places, self.rope)
        return x


def main() -> tuple[torch.Size, torch.Size, float]:
    """The outputs' shapes, and how much an image that is moved within a grid of its own changes them."""
    torch.manual_seed(0)
    model = ViT().eval()
    with torch.no_grad():
        small, large = model(torch.randn(2, 3, 16, 16)), model(torch.randn(1, 3, 24, 40))
        grid = model.patches(torch.randn(1, 3, 16, 16)).flatten(2).mT
        at = torch.cartesian_prod(torch.arange(4), torch.arange(4)).T[:, None]
        here, there = (model.blocks[0](grid, places, model.rope) for places in (at, at + 1000))
    return small.shape, large.shape, float((here - there).abs().max())


if __name__ == "__main__":
    small, large, moved = main()
    print(f"16 x 16 pixels: {tuple(small)}, 24 x 40: {tuple(large)}; moved by 1,000 patches: {moved:.0e}")
