# Lambdas in lambdas.
# %% smallest_dim
smallest_dim = lambda length, dims: (lambda fits: min(filter(fits, dims), default=0))(
    lambda dim: 2 * math.pi * 1e4 ** ((dim - 2) / dim) >= length
)
