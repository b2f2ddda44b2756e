"""Encodings of graphs in one batch, as PyTorch Geometric has it: all nodes in a row, and `batch` says whose.

python examples/graphs_in_a_batch.py
"""

import networkx
import numpy as np
import torch
from torch import nn

from posenc_lib import attention, laplacian_eigenvectors, return_probabilities
from posenc_lib.added import flip_signs

COUNT, STEPS, DIM = 4, 6, 32


def encode(graph: networkx.Graph) -> tuple[torch.Tensor, torch.Tensor]:
    """(nodes, COUNT) eigenvectors, with columns of zeros where a graph is too small, and (nodes, STEPS)."""
    adjacency = torch.from_numpy(networkx.to_numpy_array(graph)).float()
    _, vectors = laplacian_eigenvectors(adjacency, min(COUNT, len(graph) - 1))
    vectors = nn.functional.pad(vectors, (0, COUNT - vectors.shape[1]))
    return vectors, return_probabilities(adjacency, STEPS)


def collate(graphs: list[networkx.Graph]) -> dict[str, torch.Tensor]:
    """What a loader hands over: (all nodes, ...)."""
    waves, walks = zip(*map(encode, graphs), strict=True)
    sizes = torch.tensor([len(graph) for graph in graphs])
    batch = torch.repeat_interleave(torch.arange(len(graphs)), sizes)
    return {"waves": torch.cat(waves), "walks": torch.cat(walks), "batch": batch}


class Model(nn.Module):
    """One layer of attention among the nodes of each graph, and a mean over them."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.qkv = nn.Linear(COUNT + STEPS, DIM), nn.Linear(DIM, 3 * DIM)

    def forward(self, waves, walks, batch):
        x = self.embed(torch.cat([waves, walks], dim=-1))
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        x = x + attention(q, k, v, mask=batch[:, None] == batch)  # no node sees another graph
        means = torch.zeros(int(batch.max()) + 1, DIM).index_add(0, batch, x)
        return means / torch.bincount(batch)[:, None]


def main() -> float:
    """How much the first graph's vector changes when others share its batch."""
    torch.manual_seed(0)
    graphs = [networkx.cycle_graph(6), networkx.path_graph(3), networkx.petersen_graph()]
    model, together, alone = Model(), collate(graphs), collate(graphs[:1])
    augmented = flip_signs(together["waves"], np.random.default_rng(0))  # in training: one coin a column
    assert augmented.shape == together["waves"].shape
    return (model(**together)[0] - model(**alone)[0]).abs().max().item()


if __name__ == "__main__":
    print(f"in a batch with others, a graph differs from itself alone by {main():.0e}")
