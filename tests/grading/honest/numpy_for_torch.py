# An array where the exercise speaks of tensors, and an own table.
# %% add_positions
def add_positions(embeddings):
    array = embeddings.numpy()
    _, seq_len, dim = array.shape
    return array * np.sqrt(dim) + sinusoidal(np.arange(seq_len), dim)
