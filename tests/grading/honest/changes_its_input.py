# It works in place, on the copy that it was given.
# %% to_split
def to_split(table):
    half = table.shape[1] // 2
    sines, cosines = table[:, 0::2].copy(), table[:, 1::2].copy()
    table[:, :half] = sines
    table[:, half:] = cosines
    return table
# %% add_positions
def add_positions(embeddings):
    _, seq_len, dim = embeddings.shape
    embeddings *= dim**0.5
    embeddings += posenc_lib.sinusoidal(torch.arange(seq_len), dim)
    return embeddings
