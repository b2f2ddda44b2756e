# NaN and infinity, which some comparisons let pass.
# attacks: frequencies, sinusoidal, longest_wavelength
# verdict: wrong
# %% frequencies
def frequencies(dim):
    return np.full(dim // 2, np.nan)
# %% sinusoidal
def sinusoidal(positions, dim):
    return np.full((len(positions), dim), np.inf)
# %% longest_wavelength
longest_wavelength = float("nan")
