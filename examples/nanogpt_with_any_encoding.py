"""A small GPT in the manner of nanoGPT, with any encoding of posenc_lib by its name.

python examples/nanogpt_with_any_encoding.py rope     (or alibi, t5, learned, none, ...)
"""

import sys

import torch
from torch import nn
from torch.nn import functional as F

from posenc_lib.nn import Attention, Sizes, make_encoding


class Block(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = Attention(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x, encoding):
        x = x + self.attn(self.ln_1(x), encoding=encoding, causal=True)
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, encoding: str, *, vocab: int, block_size: int, dim: int = 64, heads: int = 4) -> None:
        super().__init__()
        self.wte = nn.Embedding(vocab, dim)
        self.wpe = make_encoding(encoding, Sizes(dim, heads, length=block_size))  # in place of a table
        self.h = nn.ModuleList(Block(dim, heads) for _ in range(2))
        self.ln_f, self.lm_head = nn.LayerNorm(dim), nn.Linear(dim, vocab, bias=False)

    def forward(self, tokens):
        x = self.wpe.add(self.wte(tokens), tokens.shape[1])  # each encoding opens the doors that it has:
        for block in self.h:  # it is added here, or it rotates or biases in every layer
            x = block(x, self.wpe)
        return self.lm_head(self.ln_f(x))


def main(encoding: str = "rope", steps: int = 60) -> tuple[float, float]:
    torch.manual_seed(0)
    text = torch.tensor(list(b"the cat sat on the mat. " * 40))
    model = GPT(encoding, vocab=128, block_size=32)
    optimizer, losses = torch.optim.AdamW(model.parameters(), lr=3e-3), []
    for _ in range(steps):
        rows = torch.stack([text[i : i + 33] for i in torch.randint(len(text) - 33, (8,))])
        loss = F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses[0], losses[-1]


if __name__ == "__main__":
    print("loss, before and after: {:.2f} {:.2f}".format(*main(*sys.argv[1:2])))
