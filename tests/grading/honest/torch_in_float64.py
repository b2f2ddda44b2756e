# Everything in float64.
# %% add_positions
def add_positions(embeddings):
    _, seq_len, dim = embeddings.shape
    return embeddings.double() * dim**0.5 + posenc_lib.sinusoidal(torch.arange(seq_len).double(), dim)
