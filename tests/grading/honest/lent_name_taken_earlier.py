# The lent function under its own name, taken from the library, and called as a keyword call.
# %% add_positions
from posenc_lib import sinusoidal as table_of


def add_positions(embeddings):
    _, seq_len, dim = embeddings.shape
    return embeddings * dim**0.5 + table_of(positions=torch.arange(seq_len), dim=dim)
