# A module of torch, with a buffer.
# %% add_positions
class AddPositions(torch.nn.Module):
    def forward(self, embeddings):
        _, seq_len, dim = embeddings.shape
        self.register_buffer("table", posenc_lib.sinusoidal(torch.arange(seq_len, dtype=torch.float32), dim))
        return embeddings.mul(dim**0.5).add(self.table[None])


add_positions = AddPositions()
