# New syntax.
# %% smallest_dim
def smallest_dim(length, dims):
    match dims:
        case []:
            return 0
        case [dim, *rest]:
            return dim if (wave := 2 * math.pi * 1e4 ** (1 - 2 / dim)) >= length else smallest_dim(length, rest)
