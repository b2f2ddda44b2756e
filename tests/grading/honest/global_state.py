# Global state that each call sets up again.
# %% encode
row = None


def push(*numbers):
    row.extend(numbers)


def encode(position, dim):
    global row
    row = []
    for i in range(dim // 2):
        angle = position / 10000 ** (2 * i / dim)
        push(math.sin(angle), math.cos(angle))
    return row
