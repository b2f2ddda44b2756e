# Bytes that are no number of their type: garbage as long doubles, booleans that are neither true nor false.
# attacks: frequencies, wrong_columns
# verdict: wrong
# %% frequencies
def frequencies(dim):
    return np.frombuffer(b"\xff" * 16 * (dim // 2), dtype=np.longdouble)
# %% wrong_columns
wrong_columns = np.frombuffer(b"\x02\xff", dtype=bool)
