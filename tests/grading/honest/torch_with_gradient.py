# A result that still knows its gradient.
# %% add_positions
def add_positions(embeddings):
    embeddings = embeddings.clone().requires_grad_()
    dim = embeddings.shape[-1]
    return embeddings * math.sqrt(dim) + posenc_lib.sinusoidal(torch.arange(embeddings.shape[-2]), dim)
