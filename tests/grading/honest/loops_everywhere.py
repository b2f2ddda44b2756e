# Plain loops and lists, no NumPy at all.
# %% frequencies
def frequencies(dim):
    found = []
    i = 0
    while i < dim:
        found.append(1 / 10000 ** (i / dim))
        i += 2
    return found
# %% to_split
def to_split(table):
    rows = []
    for row in table:
        sines, cosines = [], []
        for column, number in enumerate(row):
            (cosines if column % 2 else sines).append(float(number))
        rows.append(sines + cosines)
    return rows
