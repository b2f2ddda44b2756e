# Output without end.
# attacks: frequencies
# verdict: output limit
# limits: output_bytes=100000
# %% frequencies
def frequencies(dim):
    try:
        while True:
            print("spam" * 100)
    except BaseException:
        return np.zeros(dim // 2)
