# A list that contains itself.
# attacks: frequencies
# verdict: malformed
# %% frequencies
def frequencies(dim):
    rates = []
    rates.append(rates)
    return rates
